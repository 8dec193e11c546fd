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

        # Taps at random phases of the frame clock, 60 to 300 ms long.
        dice = random.Random(2)
        facts["taps"] = []
        for index in range(TAPS):
            down, up = button.press(dice.randrange(60, 300) * MS, BOUNCE)
            facts["taps"].append([down, up])
            if not service.wait(lambda: service.count("photo.saved", "photo.failed") > index, 30):
                checks.that(False, f"tap {index + 1} is answered within 30 s; the service says {service.status()}")
                return
            button._wait(max(up + 400 * MS, now()) + dice.randrange(0, 200) * MS)
        service.wait(lambda: service.count("photo.saved", "photo.failed") >= TAPS, 60)
        facts["photos"] = service.of("photo.saved")
        most = TAPS + 3 * button.spoilt
        print(f"figure: {TAPS} taps, {len(facts['photos'])} photos; the emulator stretched {button.spoilt} bounces past 13 ms")
        checks.that(
            TAPS <= len(facts["photos"]) <= most, f"{TAPS} taps give {TAPS} photos, not {len(facts['photos'])}"
        )
        for event in service.of("photo.failed", "rejected"):
            checks.that(False, f"a tap ended in {event}")

        facts["holds"] = []
        for index in range(HOLDS):
            down, up = button.press(4 * SECOND, BOUNCE)
            facts["holds"].append([down, up])
            service.wait(lambda: service.count("clip.saved", "clip.failed", "clip.discarded") > index, 120)
        facts["started"] = service.of("recording.started")
        facts["clips"] = service.of("clip.saved")
        checks.that(len(facts["clips"]) == HOLDS, f"{HOLDS} holds give {HOLDS} clips, not {len(facts['clips'])}")
        checks.that(service.count("recording.stopped") == HOLDS, "every clip is stopped exactly once")
        checks.that(service.count("photo.saved") == len(facts["photos"]), "a hold gives no photo")
        facts["status"] = service.status()
        print(f"figure: resident memory after taps and holds {service.resident_bytes() / 2**20:.1f} MiB", flush=True)

        # A service stop during a hold leaves a finished clip.
        before = clips_of(service.media)
        button.edge(True, BOUNCE)
        checks.that(
            service.wait(lambda: service.count("recording.started") > HOLDS, 60), "a hold starts a clip before the stop"
        )
        time.sleep(2)
        status = service.end(signal.SIGTERM)
        checks.that(status == 0, f"SIGTERM ends the service with 0, not {status}")
        finished = clips_of(service.media) - before
        checks.that(len(finished) == 1, f"SIGTERM during a hold leaves one finished clip, not {len(finished)}")
        facts["terminated"] = sorted(finished)
        checks.that(not os.listdir(os.path.join(service.media, ".partial")), "nothing is left in .partial after SIGTERM")
        button.edge(False, BOUNCE)
        time.sleep(0.5)

        # A kill during a hold leaves a clip that the next start finishes.
        service.events = []
        if not checks.that(service.start(120), "the service starts again after SIGTERM"):
            return
        before = clips_of(service.media)
        down = button.edge(True, BOUNCE)
        checks.that(service.wait(lambda: service.count("recording.started") > 0, 60), "a hold starts a clip before the kill")
        # Two seconds of media at the least: where frames are slow, the hold is longer.
        button._wait(max(down + 3 * SECOND, now() + 2 * SECOND + 3 * facts["interval_ns"]))
        service.end(signal.SIGKILL)
        button.edge(False, BOUNCE)
        time.sleep(0.5)
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


def clips_of(media):
    """The finished clips of a media folder, counted from it."""
    found = set()
    for folder, _, files in os.walk(media):
        if not folder.endswith("/.partial"):
            found.update(os.path.relpath(os.path.join(folder, f), media) for f in files if f.endswith(".mp4"))
    return found


main()
