"""The guest's eye: sees a light on a line of gpio-sim, or on an LED of the kernel's uleds, whatever the service says of it.

`lamp.py gpio FILE` or `lamp.py led NAME MAXIMUM` is the eye itself, a process of its own that looks every other millisecond
and writes what changed, until its input ends; the LED is there as long as it is.
"""

import json
import os
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import now

# A look that came so late says nothing about the time between.
BLIND_NS = 50_000_000


class Change:
    """A new value, which came between two looks: `after` the last that saw the old one, `by` the first that saw it."""

    def __init__(self, value, after, by):
        self.value = value
        self.after = after
        self.by = by


class Lamp:
    """What the eye saw: values from 0 to `maximum`, 0 at the beginning."""

    def __init__(self, kind, *arguments):
        self.kind = kind
        self.maximum = int(arguments[1]) if kind == "led" else 1
        self.changes = []
        self.blind = []
        self.changed = threading.Condition()
        self.eye = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), kind, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        self.looks = json.loads(self.eye.stdout.readline() or "{}").get("looks", False)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.eye.stdout:
            said = json.loads(line)
            with self.changed:
                if "value" in said:
                    self.changes.append(Change(said["value"], said["after"], said["by"]))
                else:
                    self.blind.append((said["after"], said["by"]))
                self.changed.notify_all()

    @property
    def value(self):
        with self.changed:
            return self.changes[-1].value if self.changes else 0

    def wait(self, value, seconds):
        """Until it was last seen with a value (True: any but 0); whether it was in time."""
        def holds():
            seen = self.changes[-1].value if self.changes else 0
            return seen > 0 if value is True else seen == value

        with self.changed:
            return self.changed.wait_for(holds, seconds)

    def was_blind(self, start, end):
        """Whether the eye missed a part of the time between two instants: the emulator stood still."""
        with self.changed:
            return any(after < end and by > start for after, by in self.blind)

    def close(self):
        self.eye.stdin.close()
        self.eye.wait(20)


def look(value_of):
    """The eye's life: looks until its input ends."""
    import select

    print(json.dumps({"looks": True}), flush=True)
    last, after = 0, now()
    while not select.select([0], [], [], 0.002)[0]:
        before = now()
        value = value_of()
        by = now()
        if value != last:
            print(json.dumps({"value": value, "after": after, "by": by}), flush=True)
            last = value
        if by - after > BLIND_NS:
            print(json.dumps({"after": after, "by": by}), flush=True)
        after = before


def main():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))
    except OSError:
        pass
    if sys.argv[1] == "gpio":
        line = os.open(sys.argv[2], os.O_RDONLY)
        look(lambda: int(os.pread(line, 8, 0)))
        return
    name, maximum = sys.argv[2], int(sys.argv[3])
    device = os.open("/dev/uleds", os.O_RDWR | os.O_NONBLOCK)
    os.write(device, struct.pack("64si", name.encode(), maximum))
    last = 0

    def brightness():
        nonlocal last
        try:
            last = struct.unpack("i", os.read(device, 4))[0]
        except BlockingIOError:
            # Unchanged since the last look.
            pass
        return last

    look(brightness)


if __name__ == "__main__":
    main()
