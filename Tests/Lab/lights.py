"""lights.py PROGRAMS: in the guest, the light through the whole service: on a line of gpio-sim, then on an LED of uleds.

Flash shots, a torch during a clip, a torch by hand with levels, the end at max_torch, SIGTERM and SIGKILL under light. The
guest's own eye (lamp.py) tells when the light changed; `light.changed` must tell the same, and each change before what the
contract puts after it. The order of an event and a change is judged by looks that surely lie before or after, so that a
slow emulator can't spoil it; durations are judged where the eye wasn't blind.
"""

import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lamp import Lamp
from rig import Button, Checks, Service, copy_tree, lab_board, median, now, remove_tree, tail

MS = 10**6
SECOND = 10**9
FLASHES = 3
MAX_FLASH = 4 * SECOND
MAX_TORCH = 6 * SECOND
# What a timer's thread may be late on an emulated processor.
LATE = 150 * MS
SETTINGS = """[button]
double_press_action = "none"
[photo]
size = "352x288"
[video]
quality = "352x288"
[audio]
enabled = false
"""


class Story:
    """One light's story: what was seen beside what was told, from one start of the service to the next."""

    def __init__(self, programs, name, light, lamp, checks, button):
        self.name = name
        self.lamp = lamp
        self.checks = checks
        self.button = button
        self.seen_before = 0
        self.stood = False
        settings = f"/tmp/lights-{name}.toml"
        with open(settings, "w") as file:
            file.write(SETTINGS)
        self.service = Service(programs, f"/tmp/lights-{name}", board=lab_board(
            f"/tmp/board-{name}", light=f'[light]\n{light}\nmax_flash = "4s"\nmax_torch = "6s"\n'), settings=settings)

    def that(self, condition, sentence):
        return self.checks.that(condition, f"{self.name}: {sentence}")

    def say(self, sentence):
        print(f"figure: {self.name}: {sentence}", flush=True)

    def start(self):
        self.stood |= self.service.count("camera.down") > 0
        # What a part that broke off has left running.
        if self.service.process and self.service.process.poll() is None:
            self.service.end(signal.SIGKILL)
        self.seen_before = len(self.lamp.changes)
        self.service.events = []
        return self.that(self.service.start(120), "the service's camera comes up")

    def told(self):
        return self.service.of("light.changed")

    def command(self, *words):
        answer = self.service.client(*words)
        said = "no answer" if answer is None else f"{answer.returncode}: {answer.stdout.strip()} {answer.stderr.strip()}"
        self.that(answer is not None and answer.returncode == 0, f"{' '.join(words)} is done: {said}")
        return answer.stdout.strip() if answer else ""

    def changes(self):
        """What was seen since the start, without the instant of dark in which an LED takes another level."""
        seen = self.lamp.changes[self.seen_before :]
        kept = []
        for index, change in enumerate(seen):
            following = seen[index + 1] if index + 1 < len(seen) else None
            if change.value == 0 and following and following.after - change.by < 20 * MS:
                continue
            if kept and kept[-1].value == change.value:
                continue
            kept.append(change)
        return kept

    def compare(self):
        """Pairs each event with the change that was seen; none may be without the other."""
        pairs, told, seen = [], [], self.changes()
        for event in self.told():
            value = round(event["level"] * self.lamp.maximum)
            # A line has no levels: what stays on is one change.
            if value != (told[-1][1] if told else 0):
                told.append((event, value))
        left = list(seen)
        for event, value in told:
            at = event["mono_ns"]
            if left and left[0].value == value:
                pairs.append((event, left.pop(0)))
            else:
                self.that(self.lamp.was_blind(at - SECOND, at + SECOND), f"the light shows {value} as told by {event}")
        values = [change.value for change in seen]
        self.that(not left, f"each change of the light is told: seen {values}, told {[value for _, value in told]}")
        self.that(
            all(change.after <= event["mono_ns"] for event, change in pairs),
            "no event comes before its change: " + str([(event["mono_ns"], change.after) for event, change in pairs]),
        )
        lags = sorted(event["mono_ns"] - change.by for event, change in pairs)
        if lags:
            self.say(
                f"{len(pairs)} changes of the light, each told; the event {lags[0] / MS:.1f} to {lags[-1] / MS:.1f} ms after"
                f" it was seen, median {median(lags) / MS:.1f}"
            )
            self.that(median(lags) <= 100 * MS, f"the events follow the light at once, not {median(lags) / MS:.1f} ms later")
        return pairs

    def lasted(self, pairs, owner, limit, name):
        """No light of an owner lasts longer than its limit, wherever the eye could tell."""
        times = []
        for (event, on), (_, off) in zip(pairs, pairs[1:]):
            if event["owner"] == owner and event["level"] > 0 and off.value == 0:
                if not self.lamp.was_blind(on.after, off.by):
                    times.append(off.after - on.by)
        if times:
            self.say(f"light of the {owner}: {', '.join(f'{time / MS:.0f}' for time in times)} ms")
            self.that(max(times) <= limit + LATE, f"it never shines longer than {name}: {max(times) / MS:.0f} ms")

    def flash(self):
        """Flash shots, then a torch during a clip, a torch by hand with levels, and the end at max_torch."""
        service = self.service
        self.that(self.lamp.value == 0, "the light is dark at the start")
        self.command("flash", "on")
        for index in range(FLASHES):
            before = len(service.events)
            while True:
                self.button.press(120 * MS)
                ends = service.quiet(before, 120)
                if self.button.is_true:
                    break
                self.say("a tap was spoilt by the emulator")
            saved = [end for end in ends if end["event"] == "photo.saved"]
            self.that(len(saved) >= 1, f"flash shot {index + 1} is saved: {ends}")
            # No lamp lights up a test pattern: a flash that isn't in the picture isn't claimed.
            self.that(all(not end["flash_fired"] for end in saved), f"no flash is claimed that no picture shows: {saved}")
            shone = [e for e in service.events[before:] if e.get("event") == "light.changed" and e["level"] > 0]
            self.that(len(shone) >= 1, f"flash shot {index + 1} had its light")
        self.that(self.lamp.wait(0, 20), "the light is dark after the flash")
        self.command("flash", "off")

        # The clip's own torch: on while it records, off before its end is told.
        self.command("set", "torch.mode", "on")
        before = len(service.events)
        self.button.press(2500 * MS)
        ends = service.quiet(before, 120)
        self.that([end["event"] for end in ends] == ["clip.saved"], f"a hold under the torch gives a clip: {ends}")
        events = service.events[before:]
        stops = [event for event in events if event.get("event") == "recording.stopped"]
        lit = [event for event in events if event.get("event") == "light.changed"]
        # Its level may fall between, the more the longer the light has been on.
        self.that(
            len(lit) >= 2
            and {event["owner"] for event in lit} == {"clip"}
            and all(event["level"] > 0 for event in lit[:-1])
            and lit[-1]["level"] == 0,
            f"the clip's torch goes on and off once: {lit}",
        )
        self.that(len(stops) == 1 and bool(lit), f"the clip is stopped once: {stops}")
        if stops and lit:
            self.that(lit[-1]["seq"] < stops[0]["seq"], "the torch's end is told before recording.stopped")
            last_lit = max((c.after for c in self.changes() if c.value == 0), default=0)
            self.that(
                last_lit < stops[0]["mono_ns"],
                f"the light is off before recording.stopped, not {(last_lit - stops[0]['mono_ns']) / MS:.1f} ms after it",
            )
        self.command("set", "torch.mode", "off")

        # By hand, with a level where the driver has levels; what is answered is what shines.
        answer = self.command("torch", "0.5")
        half = round(0.5 * self.lamp.maximum) if self.lamp.kind == "led" else 1
        self.that(self.lamp.wait(half, 20), f"torch 0.5 shows {half} of {self.lamp.maximum}, not {self.lamp.value}")
        self.that(
            abs(float(answer) - half / self.lamp.maximum) < 0.01 if answer else False, f"torch 0.5 answers {answer}"
        )
        status = service.status() or {}
        self.that(
            status.get("light", {}).get("on") is True and status["light"]["owner"] == "hand",
            f"the status tells the torch: {status.get('light')}",
        )
        self.command("torch", "off")
        self.that(self.lamp.wait(0, 20), "torch off is dark")
        for wrong in ("0", "1.5", "-1"):
            answer = service.client("torch", wrong)
            self.that(
                answer is not None and answer.returncode != 0 and self.lamp.value == 0,
                f"torch {wrong} is refused and nothing shines: {answer and (answer.returncode, answer.stdout, answer.stderr)}",
            )

        # Nobody switches it off: it ends by itself.
        time.sleep(2)
        self.command("torch", "on")
        self.that(self.lamp.wait(True, 20), "torch on shines")
        self.that(self.lamp.wait(0, 20), "a torch that nobody ends, ends")
        service.wait(lambda: self.told()[-1:] and self.told()[-1]["level"] == 0, 20)
        pairs = self.compare()
        self.lasted(pairs, "shot", MAX_FLASH, "max_flash")
        self.lasted(pairs, "hand", MAX_TORCH, "max_torch")
        # It must cool a little before it may shine again.
        time.sleep(3)

    def terminated(self):
        """SIGTERM under the torch: dark when the process is gone."""
        self.command("torch", "on")
        if not self.that(self.lamp.wait(True, 20), "torch on shines before SIGTERM"):
            return
        status = self.service.end(signal.SIGTERM)
        gone = now()
        self.that(status == 0, f"SIGTERM under the torch ends the service with 0, not {status}")
        self.that(self.lamp.wait(0, 20), "the light is dark after SIGTERM")
        last = self.lamp.changes[-1]
        self.that(last.after <= gone, f"it was dark by the end of the process, not {(last.after - gone) / MS:.1f} ms after it")

    def killed(self, level):
        """SIGKILL under the torch, at a level."""
        if not self.start():
            return
        self.command("torch", level)
        if not self.that(self.lamp.wait(True, 20), f"torch {level} shines before SIGKILL"):
            return
        lit = self.lamp.changes[-1]
        at = now()
        self.service.end(signal.SIGKILL)
        if self.lamp.kind == "gpio":
            # gpio-sim gives a line that nobody holds its pull, which is down here; a board's line may keep its level. So how
            # soon is the kernel's figure, not the service's.
            self.that(self.lamp.wait(0, 20), "the kernel takes the line back after SIGKILL")
            off = self.lamp.changes[-1]
            self.say(f"off by {(off.by - at) / MS:.1f} ms after SIGKILL, since gpio-sim takes its line back")
        elif level == "on":
            # A full light is a shot of the kernel's own trigger, whose long timers may fire an eighth of their time late.
            self.that(self.lamp.wait(0, 20), "the kernel ends a killed program's torch")
            off = self.lamp.changes[-1]
            self.say(f"the kernel ended a torch of at most 6 s {(off.by - lit.by) / MS:.0f} ms after it was lit")
            self.that(off.by > at, "it shone on after SIGKILL, until the kernel ended it")
            self.that(off.after - lit.by <= MAX_TORCH * 9 // 8 + LATE, "it shone no longer than max_torch and an eighth")
        else:
            time.sleep(1)
            self.that(self.lamp.value > 0, "a dimmed LED stays on after SIGKILL: the kernel has no levels that end")
            if self.start():
                self.that(self.lamp.wait(0, 20), "the next start puts it out")
            self.service.end(signal.SIGTERM)
        self.that(self.lamp.value == 0, "the light is dark at the end")

    def run(self):
        try:
            if self.that(self.lamp.looks, "the eye looks") and self.start():
                self.flash()
                self.terminated()
                self.killed("on")
                if self.lamp.maximum > 1:
                    self.killed("0.5")
        except (OSError, LookupError, ValueError) as fault:
            self.that(False, f"the story ends: {fault!r}")
        if self.service.process and self.service.process.poll() is None:
            self.service.end(signal.SIGKILL)
        if self.checks.failed:
            tail(f"/tmp/lights-{self.name}/log", 30)
        self.lamp.close()
        self.stood |= self.service.count("camera.down") > 0
        copy_tree(f"/tmp/lights-{self.name}/log", os.path.join(os.environ["LAB_RESULTS"], f"lights-{self.name}.log"))


def main():
    checks, button = Checks(), Button()
    line = os.path.join(os.environ["LAB_LINES"], "sim_gpio27", "value")
    lights = {
        "gpio": ('chip = "pinctrl-lab"\nline = "LIGHT"', ("gpio", line)),
        "led": ('driver = "led"\nname = "lab-torch"', ("led", "lab-torch", "255")),
    }
    for name, (light, seen_as) in lights.items():

        def story(own):
            remove_tree(f"/tmp/lights-{name}")
            one = Story(sys.argv[1], name, light, Lamp(*seen_as), own, button)
            one.run()
            return one.stood

        checks.tell(name, story)
    checks.end()


main()
