"""figures.py PROGRAMS: in the guest of `figures`, prints one line a figure and checks each against its promise."""

import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Button, Checks, Service, copy_tree, median, now, tail

MS = 10**6
SECOND = 10**9
CLIP = 10 * SECOND


def process_clock(pid):
    """The clock of a process's CPU time, to the nanosecond."""
    return (~pid << 3) | 2


def cpu_of(command, stdin=None):
    """CPU time in nanoseconds, user and system, of a program's whole run."""
    child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # It has ended but is still known, with its clock.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    spent = time.clock_gettime_ns(process_clock(child.pid))
    status = child.wait()
    if status != 0:
        raise RuntimeError(f"{command[0]} ended with {status}")
    return spent


def per_frame(run, long, short):
    """What a frame costs: a long run less a short one, each after a warm one."""
    run(short)
    return (run(long) - run(short)) / (long - short)


def settings(name, text):
    path = f"/tmp/{name}.toml"
    with open(path, "w") as file:
        file.write(text)
    return path


def milliseconds(values):
    return f"median {median(values) / MS:.1f} ms [{min(values) / MS:.1f} .. {max(values) / MS:.1f}]"


def main():
    programs = "/tmp/programs"
    copy_tree(sys.argv[1], programs)
    checks = Checks()
    button = Button()
    common = '[button]\ndouble_press_action = "none"\n[audio]\nenabled = false\n'

    def photo_time():
        """photo.requested to the durable file, at 1280x720 and quality 92, against the encoder alone."""
        frame = "/tmp/frame.nv12"
        subprocess.run(
            ["cam", "-c1", "-C5", "-s", "width=1280,height=720", "-F/tmp/frame-#.bin"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
        )
        names = sorted(name for name in os.listdir("/tmp") if name.startswith("frame-"))
        os.rename("/tmp/" + names[-1], frame)
        for name in names[:-1]:
            os.unlink("/tmp/" + name)
        alone = json.loads(subprocess.run(
            [programs + "/Budget", "still-alone", frame, "1280", "720", "92", "20"],
            stdout=subprocess.PIPE, text=True, check=True,
        ).stdout)["median_ns"]
        service = Service(programs, "/tmp/photos", settings=settings(
            "photos", common + '[photo]\nsize = "1280x720"\nquality = 92\n[video]\nquality = "1280x720"\n'))
        if not checks.that(service.start(120), "the service's camera comes up at 1280x720"):
            tail("/tmp/photos/log")
            return
        dice = random.Random(3)
        for index in range(21):
            button.press(dice.randrange(60, 200) * MS, 2 * MS)
            service.wait(lambda: service.count("photo.saved", "photo.failed") > index, 30)
            button._wait(now() + dice.randrange(400, 600) * MS)
        requested = {event["id"]: event["mono_ns"] for event in service.of("photo.requested")}
        saved = service.of("photo.saved")
        # The first photo warms every path.
        took = [event["mono_ns"] - requested[event["id"]] for event in saved][1:]
        service.end()
        checks.that(len(saved) == 21, f"21 taps give 21 photos, not {len(saved)}")
        checks.that(all(event["width"] == 1280 and event["height"] == 720 for event in saved), "photos are 1280x720")
        ratio = median(took) / alone
        print(f"figure: photo.requested to file {milliseconds(took)}; the encoder alone {alone / MS:.1f} ms; {ratio:.2f} times")
        checks.that(ratio <= 1.5, f"a photo takes at most 1.5 times the encoder alone, not {ratio:.2f}")

    small = common + '[photo]\nsize = "640x480"\n[video]\nquality = "640x480"\n'

    def taps_and_holds():
        """Which moment a photo shows, and that each press counts once, at 640x480."""
        service = Service(programs, "/tmp/taps", settings=settings("taps", small))
        if not checks.that(service.start(120), "the service's camera comes up at 640x480"):
            tail("/tmp/taps/log")
            return
        dice = random.Random(4)
        for count, low, high, period in ((50, 25, 150, 200), (50, 150, 300, 500)):
            due = now()
            for _ in range(count):
                due += period * MS
                button._wait(due + dice.randrange(0, 20) * MS)
                button.press(dice.randrange(low, high) * MS, dice.randrange(0, 5 * MS))
        service.wait(lambda: service.count("photo.saved", "photo.failed", "rejected") >= 100, 60)
        time.sleep(2)
        saved = service.of("photo.saved")
        lost = 100 - len(saved)
        print(f"figure: 100 taps, {len(saved)} photos, {service.count('rejected')} rejected, {service.count('photo.failed')} failed")
        checks.that(lost == 0, f"100 taps give 100 photos, not {len(saved)}")
        offsets = [event["press_offset_ns"] for event in saved] or [SECOND]
        print(f"figure: press offset {milliseconds(offsets)}")
        checks.that(max(abs(o) for o in offsets) <= 17 * MS, "each photo's frame is at most 17 ms from its press")
        for index in range(10):
            button.press(dice.randrange(700, 1100) * MS, 2 * MS)
            service.wait(lambda: service.count("clip.saved", "clip.failed", "clip.discarded") > index, 60)
            button._wait(now() + dice.randrange(400, 600) * MS)
        first = [event.get("first_frame_offset_ns", SECOND) for event in service.of("recording.started")] or [SECOND]
        print(f"figure: first frame of a clip after the press {milliseconds(first)}")
        checks.that(0 <= min(first) and max(first) <= 34 * MS, "a clip's first frame is at most 34 ms after the press")
        checks.that(service.count("clip.saved") == 10, f"10 holds give 10 clips, not {service.count('clip.saved')}")
        service.end()

    def clip_cost():
        """CPU of a clip's frame against camera and encoder alone, and the memory held."""
        raw = "/tmp/clip.nv12"

        def cam(frames, *more):
            return cpu_of(["cam", "-c1", f"-C{frames}", "-s", "width=640,height=480", *more])

        camera = per_frame(cam, 300, 30)
        cam(120, "-F/tmp/clip-#.bin")
        with open(raw, "wb") as whole:
            for name in sorted(n for n in os.listdir("/tmp") if n.startswith("clip-")):
                with open("/tmp/" + name, "rb") as part:
                    whole.write(part.read())
                os.unlink("/tmp/" + name)

        def x264(frames):
            return cpu_of([
                "ffmpeg", "-v", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "nv12", "-s", "640x480", "-r", "30",
                "-i", raw, "-frames:v", str(frames), "-c:v", "libx264", "-preset", "superfast", "-tune", "zerolatency",
                "-crf", "23", "-threads", "1", "-y", "-f", "mp4", "/tmp/floor.mp4",
            ])

        encoder = per_frame(x264, 120, 20)
        os.unlink(raw)
        service = Service(programs, "/tmp/clips", settings=settings("clips", small))
        if not checks.that(service.start(120), "the service's camera comes up for clips"):
            tail("/tmp/clips/log")
            return
        button.press(2 * SECOND)
        service.wait(lambda: service.count("clip.saved", "clip.failed") > 0, 60)
        clock = process_clock(service.process.pid)
        # A long clip less a short one, as for the others: starting and finishing cancel out.
        spent, frames = [], []
        for index, length in enumerate((CLIP, 2 * SECOND)):
            before = time.clock_gettime_ns(clock)
            begun = now()
            button.press(length)
            service.wait(lambda: service.count("clip.saved", "clip.failed") > index + 1, 120)
            spent.append(time.clock_gettime_ns(clock) - before)
            frames.append(service.of("clip.saved")[-1].get("frames", 0))
            print(f"figure: clip of {(now() - begun) / 1e9:.1f} s: {frames[-1]} frames, {spent[-1] / MS:.0f} ms of CPU")
        cost = (spent[0] - spent[1]) / max(frames[0] - frames[1], 1)
        ratio = cost / (camera + encoder)
        print(
            f"figure: clip CPU {cost / MS:.2f} ms a frame; camera {camera / MS:.2f} and encoder {encoder / MS:.2f} alone; {ratio:.3f} times"
        )
        checks.that(ratio <= 1.05, f"a clip's frame costs at most 1.05 times camera and encoder alone, not {ratio:.3f}")
        resident = service.resident_bytes() / 2**20
        print(f"figure: resident memory {resident:.1f} MiB")
        checks.that(resident < 58, f"resident memory stays below 58 MiB, not {resident:.1f}")
        dropped = sum(event.get("dropped", 0) for event in service.of("clip.saved"))
        checks.that(dropped == 0, f"no frame of a clip is dropped, not {dropped}")
        service.end()

    for part in (taps_and_holds, clip_cost, photo_time):
        try:
            part()
        except (OSError, RuntimeError, subprocess.SubprocessError, LookupError, ValueError) as fault:
            checks.that(False, f"{part.__name__}: {fault!r}")
    checks.end()


main()
