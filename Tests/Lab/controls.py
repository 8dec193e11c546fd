"""controls.py PROGRAMS: in the guest, live control of a real libcamera camera that has hardly any controls.

What the camera lacks is refused by name and changes nothing; what is out of range is refused with the range; sizes and rates
change while the service runs; standby and release do what they say, and another program can use a released camera. After all
of it the service still takes photos, and its camera was never lost.
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Checks, Service, copy_tree, now, remove_tree, tail

SECOND = 10**9
SETTINGS = """[button]
double_press_action = "none"
[photo]
size = "352x288"
[video]
quality = "352x288"
[audio]
enabled = false
"""
# Neither vimc nor the virtual pipeline has a control for these.
LACKING = [
    ("exposure.compensation", "1.0"),
    ("exposure.metering", "spot"),
    ("exposure.shutter", "1/250"),
    ("exposure.gain", "2.0"),
    ("focus.mode", "manual"),
    ("zoom.maximum", "4.0"),
]
OUT_OF_RANGE = [
    ("set", "exposure.compensation", "9.0"),
    ("set", "torch.level", "0.0"),
    ("set", "zoom.maximum", "0.5"),
    ("focus", "0.5,1.5"),
    ("zoom", "0.5"),
    ("torch", "1.5"),
    ("switch", "sideways"),
]


def another_program():
    """Whether libcamera's own program gets frames of the camera."""
    try:
        run = subprocess.run(["cam", "-c1", "-C3"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=90)
    except subprocess.TimeoutExpired:
        return "nothing within 90 s"
    return "frames" if run.returncode == 0 and run.stdout.count(" fps)") >= 2 else run.stdout[-300:]


def main():
    with open("/tmp/controls.toml", "w") as file:
        file.write(SETTINGS)
    total = Checks()
    total.tell("controls", controls)
    total.end()


def controls(checks):
    """The story; whether its camera stood still."""
    remove_tree("/tmp/controls")
    service = Service(sys.argv[1], "/tmp/controls", settings="/tmp/controls.toml")

    def does(*words):
        answer = service.client(*words)
        said = "no answer" if answer is None else f"{answer.returncode}: {answer.stdout.strip()} {answer.stderr.strip()}"
        checks.that(answer is not None and answer.returncode == 0, f"{' '.join(words)} is done: {said}")
        return answer.stdout.strip() if answer else ""

    def refuses(*words, naming):
        answer = service.client(*words)
        said = "no answer" if answer is None else f"{answer.returncode}: {answer.stdout.strip()} {answer.stderr.strip()}"
        good = answer is not None and answer.returncode in (1, 64, 75, 78) and not answer.stdout.strip()
        checks.that(
            good and all(name in answer.stderr for name in naming), f"{' '.join(words)} is refused, naming {naming}: {said}"
        )

    def photo(when):
        """A photo's saved event, by command."""
        before = len(service.events)
        path = does("photo")
        service.wait(lambda: any(e.get("event") == "photo.saved" for e in service.events[before:]), 60)
        saved = [e for e in service.events[before:] if e.get("event") == "photo.saved"]
        checks.that(len(saved) == 1 and saved[0]["path"] == path and os.path.exists(path), f"a photo {when}: {saved}, {path}")
        return saved[0] if saved else {"width": 0, "height": 0}

    def effective(key):
        return service.ask("GET", "/v1/settings")[1][key]["effective"]

    def story():
        if not checks.that(service.start(120), "the service's camera comes up"):
            return
        before = json.dumps(service.ask("GET", "/v1/settings")[1])
        for key, value in LACKING:
            refuses("set", key, value, naming=[key, "unsupported"])
        refuses("zoom", "2", naming=["zoom"])
        refuses("focus", "2.5", naming=["focus"])
        for words in OUT_OF_RANGE:
            refuses(*words, naming=[])
        checks.that(json.dumps(service.ask("GET", "/v1/settings")[1]) == before, "what was refused changed no setting")
        photo("after all refusals")

        # A camera without a lens drive says so, and exposes at the point as far as it can.
        from_here = len(service.events)
        service.client("focus", "0.25,0.75")
        service.wait(lambda: any(e.get("event") == "focus.ended" for e in service.events[from_here:]), 20)
        told = [e for e in service.events[from_here:] if e.get("event") == "focus.ended"]
        checks.that([e["result"] for e in told] == ["unsupported"], f"focus at a point is told as unsupported: {told}")
        checks.that(does("zoom", "1") == "1", "zoom 1 is what every camera has")
        does("focus", "auto")

        # Sizes and rates change between two photos. A camera of one stream has one size for photos and clips.
        first = photo("at 352x288")
        does("set", "photo.size", "640x480")
        does("set", "video.quality", "640x480")
        does("set", "video.framerate", "15")
        service.wait(lambda: effective("photo.size") == "640x480", 60)
        # The virtual pipeline has 640x480; vimc's sizes are multiples of its own, which its releases choose differently.
        near = range(630, 641)
        end = now() + 60 * SECOND
        second = photo("at another size")
        while second["width"] not in near and now() < end:
            second = photo("at another size")
        checks.that(second["width"] in near, f"photo.size counts while the service runs: {second}")
        if os.environ["LAB_CAMERA"] == "vimc":
            checks.that(first["width"] not in near, f"the size before was another one: {first}")
        for key in ("photo.size", "video.quality", "video.framerate"):
            does("set", key, "default")

        # Stopped but kept, given up, and back.
        # The virtual pipeline has no device that a program could hold.
        if os.environ["LAB_CAMERA"] == "vimc":
            checks.that(another_program() != "frames", "a camera in use is nobody else's")
        checks.that(does("standby") == "standby", "standby is told")
        photo("from standby")
        checks.that(does("release") == "released", "release is told")
        # A slow camera may still end its last frame.
        end = now() + 60 * SECOND
        seen = another_program()
        while seen != "frames" and now() < end:
            print("figure: a released camera was not free at once")
            seen = another_program()
        checks.that(seen == "frames", f"another program can use a released camera: {seen}")
        refused = service.client("photo")
        checks.that(
            refused is not None and refused.returncode == 1 and "the camera is released" in refused.stderr,
            f"a photo of a released camera fails as that: {refused and (refused.returncode, refused.stderr)}",
        )
        does("start")
        service.wait(lambda: (service.status() or {}).get("camera", {}).get("state") == "up", 60)
        photo("after release and start")
        status = service.end()
        checks.that(status == 0, f"SIGTERM ends the service with 0, not {status}")

    try:
        story()
    except (OSError, LookupError, ValueError) as fault:
        checks.that(False, f"the story ends: {fault!r}")
    if service.process and service.process.poll() is None:
        checks.that(bool(service.status()), "the service lives")
        service.end(9)
    copy_tree("/tmp/controls/log", os.path.join(os.environ["LAB_RESULTS"], "controls.log"))
    if checks.failed:
        tail("/tmp/controls/log", 40)
    losses = [event for event in service.of("camera.down") if event.get("reason") != "camera_released"]
    # Given up on purpose is not lost.
    checks.that(not losses, f"the camera was not lost by all this: {losses}")
    return bool(losses)


main()
