"""service.py PROGRAMS: in the guest, the whole way of a press on real drivers; leaves media and facts in $LAB_RESULTS.

20 taps and 3 holds of 4 s with bounce, then SIGTERM during a hold, then SIGKILL during one and the start after it. What
needs a decoder (do the files play, is the tone in them, do the offsets hold) is judged by judge.py outside.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Button, Checks, Service, Tone, copy_tree, now, tail

MS = 10**6
SECOND = 10**9
TAPS = 20
HOLDS = 3
BOUNCE = 3 * MS


def camera_interval_ns():
    """The frame interval of this boot's camera, told by libcamera's own program."""
    try:
        out = subprocess.run(
            ["cam", "-c1", "-C12", "-s", "width=640,height=480"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=90
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    rates = [float(rate) for rate in re.findall(r"\(([0-9.]+) fps\)", out)][2:]
    return int(SECOND / sorted(rates)[len(rates) // 2]) if rates else 0


def main():
    results = os.environ["LAB_RESULTS"]
    checks = Checks()
    facts = {"camera": os.environ["LAB_CAMERA"], "interval_ns": camera_interval_ns()}
    settings = "/tmp/lab.toml"
    with open(settings, "w") as file:
        # The size at which the test drivers, whose pictures are computed under emulation, come nearest to a frame rate.
        file.write('[button]\ndouble_press_action = "none"\n')
        file.write('[photo]\nsize = "640x480"\n[video]\nquality = "640x480"\n')
    button = Button()
    tone = Tone()
    service = Service(sys.argv[1], "/tmp/service", settings=settings)

    def story():
        if not checks.that(service.start(120), "the service's camera comes up"):
            return
        print(f"figure: cam alone has a frame interval of {facts['interval_ns'] / 1e6:.1f} ms", flush=True)

        def presses(count, what, event, duration):
            """Presses until `count` were what was asked for; each of those must end in one event of that name.

            A press that a busy host made another one (a longer tap, bounce of 15 ms and more, a camera that stood still)
            is told and pressed again; more of them than good ones is a failure.
            """
            good, spoilt = [], 0
            while len(good) < count and spoilt <= count:
                button._wait(now() + dice.randrange(0, 200) * MS)
                before = len(service.events)
                down, up = button.press(duration(), BOUNCE)
                ends = service.quiet(before, 120)
                stood = any(said.get("event") == "camera.down" for said in service.events[before:])
                if not button.is_true or stood:
                    spoilt += 1
                    print(f"figure: a {what} was spoilt by the emulator ({'its camera stood' if stood else 'stretched'})")
                    continue
                if not checks.that(
                    [end["event"] for end in ends] == [event],
                    f"{what} {len(good) + 1} ends in {event}, not {ends}; the service says {service.status()}",
                ):
                    return good
                good.append((down, up, ends[0]))
            checks.that(len(good) == count, f"{count} of {count + spoilt} presses are not spoilt by the emulator")
            print(f"figure: {count} times a {what}: {len(good)} times {event}; {spoilt} others spoilt by the emulator")
            return good

        # Taps at random phases of the frame clock, 60 to 300 ms long.
        dice = random.Random(2)
        taps = presses(TAPS, "tap", "photo.saved", lambda: dice.randrange(60, 300) * MS)
        facts["taps"] = [[down, up] for down, up, _ in taps]
        facts["photos"] = [event for _, _, event in taps]
        length = max(4 * SECOND, 4 * facts["interval_ns"])
        holds = presses(HOLDS, "hold", "clip.saved", lambda: length)
        facts["holds"] = [[down, up] for down, up, _ in holds]
        facts["clips"] = [event for _, _, event in holds]
        names = {event["id"] for event in facts["clips"]}
        facts["started"] = [event for event in service.of("recording.started") if event["id"] in names]
        for name in names:
            stops = [event for event in service.of("recording.stopped") if event["id"] == name]
            checks.that(len(stops) == 1, f"clip {name} is stopped exactly once, not {stops}")
        facts["status"] = service.status()
        print(f"figure: resident memory after taps and holds {service.resident_bytes() / 2**20:.1f} MiB", flush=True)

        # A service stop during a hold leaves a finished clip.
        before = clips_of(service.media)
        before_hold = len(service.events)
        down = button.edge(True)
        checks.that(
            service.wait(lambda: any(e.get("event") == "recording.started" for e in service.events[before_hold:]), 60),
            "a hold starts a clip before the stop",
        )
        button._wait(down + 2 * SECOND)
        checks.that(fragments_come(service.media, 1), "a clip's first fragment is written within a minute")
        status = service.end(signal.SIGTERM)
        checks.that(status == 0, f"SIGTERM ends the service with 0, not {status}")
        finished = clips_of(service.media) - before
        checks.that(len(finished) == 1, f"SIGTERM during a hold leaves one finished clip, not {len(finished)}")
        facts["terminated"] = sorted(finished)
        checks.that(not os.listdir(os.path.join(service.media, ".partial")), "nothing is left in .partial after SIGTERM")
        button.edge(False)

        # A kill during a hold leaves a clip that the next start finishes.
        service.events = []
        if not checks.that(service.start(120), "the service starts again after SIGTERM"):
            return
        before = clips_of(service.media)
        down = button.edge(True)
        checks.that(service.wait(lambda: service.count("recording.started") > 0, 60), "a hold starts a clip before the kill")
        # One whole fragment at the least, and a second that the kill cuts: where frames are slow, the hold is longer.
        button._wait(down + 3 * SECOND)
        checks.that(fragments_come(service.media, 2), "a clip's second fragment is written within a minute")
        service.end(signal.SIGKILL)
        button.edge(False)
        checks.that(clips_of(service.media) == before, "a killed service leaves nothing under a final name")
        service.events = []
        if not checks.that(service.start(120), "the service starts again after SIGKILL"):
            return
        end = now() + 60 * SECOND
        while clips_of(service.media) == before and now() < end:
            time.sleep(0.25)
        recovered = clips_of(service.media) - before
        checks.that(len(recovered) == 1, f"the start after SIGKILL recovers one clip, not {len(recovered)}")
        facts["recovered"] = sorted(recovered)
        status = service.end(signal.SIGTERM)
        checks.that(status == 0, f"the last SIGTERM ends the service with 0, not {status}")

    story()
    if service.process.poll() is None:
        service.end(signal.SIGKILL)
    tone.stop()
    facts["media"] = service.media
    with open(os.path.join(results, "facts.json"), "w") as file:
        json.dump(facts, file)
    copy_tree(service.media, results)
    copy_tree("/tmp/service/log", results)
    if checks.failed:
        tail("/tmp/service/log", 30)
    checks.end()


def fragments_come(media, count):
    """Waits until a clip that is being written has so many fragments; False if it hasn't within a minute."""
    folder = os.path.join(media, ".partial")
    end = now() + 60 * SECOND
    while now() < end:
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                if file.read().count(b"moof") >= count:
                    return True
        time.sleep(0.1)
    return False


def clips_of(media):
    """The finished clips of a media folder, counted from it."""
    found = set()
    for folder, _, files in os.walk(media):
        if not folder.endswith("/.partial"):
            found.update(os.path.relpath(os.path.join(folder, f), media) for f in files if f.endswith(".mp4"))
    return found


main()
