"""switches.py PROGRAMS [COUNT]: in the guest, switches between the two cameras of libcamera's virtual pipeline.

COUNT times (20 if not said): a tap, at once a switch, and a tap while it switches. Each tap gives one photo; those while
it switches are the new camera's, those just before it the old one's; memory, descriptors and threads stay what they were. Which
camera took a photo is read from its picture by judge_switches.py, outside: the cameras show different test patterns.
"""

import json
import os
import random
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Button, Checks, Service, copy_tree, lab_board, median, now, tail

MS = 10**6
SWITCHED = ("camera.switched", "camera.switch_failed")
CAMERAS = """[[camera]]
role = "rear"
match = "location:back"
[[camera]]
role = "front"
match = "location:front"
"""
SETTINGS = """[button]
double_press_action = "none"
[photo]
size = "640x480"
[video]
quality = "640x480"
[audio]
enabled = false
"""


def edges_lost(service):
    """How many edges of the button the service has missed so far."""
    return service.ask("GET", "/v1/status")[1]["counters"]["edges_lost"]


def main():
    results = os.environ["LAB_RESULTS"]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with open("/tmp/switches.toml", "w") as file:
        file.write(SETTINGS)
    checks, button, dice = Checks(), Button(), random.Random(6)
    service = Service(
        sys.argv[1], "/tmp/switches", board=lab_board("/tmp/board-switches", camera=CAMERAS), settings="/tmp/switches.toml")
    facts = {"photos": []}

    def story():
        if not checks.that(service.start(120), "the service's cameras come up"):
            return
        took, memory, descriptors, threads = [], [], [], []
        presses = spoilt = during = 0
        lost_before = edges_lost(service)
        for index in range(count):
            source, target = ("rear", "front") if index % 2 == 0 else ("front", "rear")
            before = len(service.events)
            true = []
            down = [button.press(60 * MS)[0]]
            released = button.settled
            true.append(button.is_true)
            # Nearer to the last release the next press would be its bounce, or one edge with it where the emulator is held up.
            button._wait(released + 60 * MS)
            # Another thread waits for the answer, so that this one can press meanwhile.
            asked, answer = now(), []
            request = threading.Thread(
                target=lambda: answer.append(service.ask("POST", "/v1/camera/switch", {"role": target})), daemon=True
            )
            request.start()
            # By turns soon after the asking, and as soon as the service says that it switches.
            if index % 4 < 2:
                button._wait(now() + dice.randrange(0, 15) * MS)
            else:
                while request.is_alive() and service.ask("GET", "/v1/status")[1]["camera"]["state"] != "switching":
                    pass
            down.append(button.press(60 * MS)[0])
            true.append(button.is_true)
            request.join(60)
            service.wait(lambda: any(e.get("event") in SWITCHED for e in service.events[before:]), 60)
            told = [e for e in service.events[before:] if e.get("event") in SWITCHED]
            if not checks.that(
                [(e["event"], e["role"]) for e in told] == [("camera.switched", target)] and answer[0][0] == 200,
                f"switch {index + 1} to {target} succeeds: {answer}, {told}; the service says {service.status()}",
            ):
                return
            took.append(told[0]["mono_ns"] - asked)
            is_during = down[1] < told[0]["mono_ns"]
            during += is_during
            # A tap soon after the asking may still come before the service heard of it.
            kinds = ("before", "asked" if is_during and index % 4 < 2 else "new")
            presses += 2
            ends = service.quiet(before, 120)
            lost = edges_lost(service)
            # Where the emulator is held up the kernel makes one edge of two; the service counts what it misses.
            if not all(true) or (lost > lost_before and [end["event"] for end in ends] != ["photo.saved"] * 2):
                spoilt += 1
                print(f"figure: a tap of switch {index + 1} was spoilt by the emulator ({lost - lost_before} edges lost)")
                lost_before = lost
                continue
            lost_before = lost
            if not checks.that(
                [end["event"] for end in ends] == ["photo.saved"] * 2, f"both taps of switch {index + 1} give a photo: {ends}"
            ):
                return
            facts["photos"] += [
                {"path": end["path"], "camera": role, "kind": kind}
                for end, role, kind in zip(sorted(ends, key=lambda end: end["id"]), (source, target), kinds)
            ]
            memory.append(service.resident_bytes())
            descriptors.append(service.descriptors())
            threads.append(len(os.listdir(f"/proc/{service.process.pid}/task")))
        service.quiet()
        saved = service.count("photo.saved")
        print(f"figure: {count} switches, {presses} taps, {saved} photos, {spoilt} switches with a tap spoilt by the emulator")
        print(f"figure: {during} of {count} taps came while the cameras switched")
        print(f"figure: a switch took {min(took) / MS:.0f} to {max(took) / MS:.0f} ms, median {median(took) / MS:.0f}")
        missing = presses - saved - service.count("rejected", "clip.saved", "clip.discarded", "photo.failed")
        checks.that(spoilt * 4 <= count, f"at most a quarter of the switches is spoilt by the emulator, not {spoilt}")
        checks.that(spoilt > 0 or missing == 0, f"no press is lost and none counts twice: {presses} presses, {saved} photos")
        checks.that(service.count("rejected", "photo.failed") == 0, "no press is refused")
        checks.that(during > 0, "a tap at least came during its switch")
        part = max(2, min(20, len(memory) // 3))
        first, last = memory[:part], memory[-part:]
        growth = median(last) - median(first)
        print(
            f"figure: resident memory, median of the first {part} {median(first) / 2**20:.2f} MiB, of the last {part}"
            f" {median(last) / 2**20:.2f}; highest {max(memory) / 2**20:.2f}"
        )
        print(f"figure: descriptors {median(descriptors[:part])}, then {median(descriptors[-part:])}; threads {median(threads[:part])}, then {median(threads[-part:])}")
        # The first switches fill the allocator's pools; what grows on shows in a hundred.
        most = 1 if count >= 60 else 4
        checks.that(growth <= most * 2**20, f"memory stays flat: {growth / 2**20:.2f} MiB more after {count} switches")
        # A connection that is just being closed isn't one that stays.
        checks.that(min(descriptors[-part:]) <= min(descriptors[:part]), f"descriptors stay: {descriptors}")
        checks.that(median(threads[-part:]) <= median(threads[:part]), f"threads stay: {threads}")
        status = service.end()
        checks.that(status == 0, f"SIGTERM ends the service with 0, not {status}")

    try:
        story()
    except (OSError, LookupError, ValueError) as fault:
        checks.that(False, f"the story ends: {fault!r}")
    if service.process and service.process.poll() is None:
        service.end(9)
    facts["media"] = service.media
    with open(os.path.join(results, "switches.json"), "w") as file:
        json.dump(facts, file)
    copy_tree(service.media, os.path.join(results, "switches"))
    copy_tree("/tmp/switches/log", os.path.join(results, "switches.log"))
    if checks.failed:
        tail("/tmp/switches/log", 40)
    checks.end()


main()
