"""The guest's finger, ear and voice: presses the simulated line, reads the service's events, plays a tone.

Only what Debian's python3-minimal carries is used.
"""

import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time

TONE_HZ = 1000
RATE = 48000
# The settings' default for button.hold: what is shorter is a tap.
HOLD_NS = 400_000_000


def now():
    """The monotonic clock, in nanoseconds: the clock of the kernel's edges."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def median(values):
    """The middle value; Debian's minimal Python has no statistics."""
    return sorted(values)[len(values) // 2]


class Checks:
    """Counts what held and what did not; a failed check is printed where it happens, or held back."""

    def __init__(self, held_back=None):
        self.passed = 0
        self.failed = 0
        # Sentences that are printed once it is known whether they count; None: at once.
        self.held_back = held_back

    def that(self, condition, sentence):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            if self.held_back is None:
                print("FAILED: " + sentence, flush=True)
            else:
                self.held_back.append(sentence)
        return bool(condition)

    def tell(self, name, story, times=3):
        """Tells a story, whose argument is its checks and whose result says whether its camera stood still.

        On a busy host an emulated camera may give no frame for so long that it counts as lost. A story that fails thereby is
        told again, twice at the most; what failed without that counts at once.
        """
        for attempt in range(times):
            own = Checks(held_back=[])
            stood = story(own)
            if not own.failed or not stood or attempt == times - 1:
                break
            print(f"figure: {name}: its camera stood still in the emulator, so it is told again: {own.held_back}", flush=True)
        self.passed += own.passed
        self.failed += own.failed
        for sentence in own.held_back:
            print("FAILED: " + sentence, flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        raise SystemExit(1 if self.failed else 0)


class Button:
    """The button on line 17 of the simulated chip, as boards/lab has it: pulled down at rest, up when pressed."""

    # Beyond this the bounce is a press of its own: fifteen milliseconds, less what an edge may take to arrive.
    LONGEST_BOUNCE_NS = 13_000_000

    def __init__(self, seed=1):
        self.pull = os.open(os.path.join(os.environ["LAB_LINES"], "sim_gpio17", "pull"), os.O_WRONLY)
        self.random = random.Random(seed)
        # Whether the last press was the one asked for: a host that holds up the emulator makes a tap a hold, and bounce
        # a press of its own.
        self.is_true = True
        # A finger isn't held up by a busy processor.
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(90))

    def _level(self, pressed):
        os.pwrite(self.pull, b"pull-up" if pressed else b"pull-down", 0)

    def _wait(self, instant):
        """Until an instant: asleep while it is far, awake for the last half millisecond."""
        while True:
            left = instant - now()
            if left <= 0:
                return
            if left > 1_500_000:
                time.sleep((left - 1_000_000) / 1e9)

    def edge(self, pressed, bounce_ns=0, pulses=3):
        """One change with its bounce: pulses within bounce_ns; the time just before the first edge comes back."""
        times = sorted(self.random.randrange(bounce_ns) for _ in range(2 * pulses)) if bounce_ns > 0 else []
        first = now()
        self._level(pressed)
        for away, back in zip(times[::2], times[1::2]):
            self._wait(first + away)
            if now() - first > bounce_ns:
                break
            self._level(not pressed)
            self._wait(first + back)
            self._level(pressed)
        self.settled = now()
        if times and self.settled - first > self.LONGEST_BOUNCE_NS:
            self.is_true = False
        return first

    def press(self, duration_ns, bounce_ns=0):
        """Down for a time, with bounce at both edges; the instants of both first edges come back."""
        self.is_true = True
        down = self.edge(True, bounce_ns)
        self._wait(down + duration_ns)
        up = self.edge(False, bounce_ns)
        if duration_ns < HOLD_NS < self.settled - down + 5_000_000:
            self.is_true = False
        return down, up


class Tone:
    """A sine played into the loop-back card until it is stopped."""

    def __init__(self, channels=2):
        self.player = subprocess.Popen(
            ["aplay", "-q", "-D", "hw:Loopback,0,0", "-t", "raw", "-f", "S16_LE", "-c", str(channels), "-r", str(RATE)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.thread = threading.Thread(target=self._feed, args=(channels,), daemon=True)
        self.thread.start()

    def _feed(self, channels):
        import math
        import struct

        # A tenth of a second holds whole periods, so that it repeats without a seam.
        block = b"".join(
            struct.pack("<h", int(12000 * math.sin(2 * math.pi * TONE_HZ * i / RATE))) * channels
            for i in range(RATE // 10)
        )
        try:
            while True:
                self.player.stdin.write(block)
        except (BrokenPipeError, ValueError):
            pass

    def stop(self):
        self.player.kill()
        self.player.wait()
        self.thread.join(5)
        try:
            self.player.stdin.close()
        except BrokenPipeError:
            pass


def lab_board(folder, **sections):
    """boards/lab with other sections in place of its own, each given as its whole text; the folder comes back."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(os.environ["LAB_PROJECT"], "boards/lab/board.toml")) as file:
        text = file.read()
    for name, section in sections.items():
        text = re.sub(rf"\[+{name}\]+\n(.+\n)+", "", text) + "\n" + section
    with open(os.path.join(folder, "board.toml"), "w") as file:
        file.write(text)
    return folder


class Service:
    """The program under test, started as its user would, with its events read as they come."""

    def __init__(self, programs, folder, board="lab", settings=None):
        self.program = os.path.join(os.path.abspath(programs), "fieldcam")
        self.folder = folder
        self.board = board
        self.settings = settings
        self.socket = os.path.join(folder, "socket")
        self.media = os.path.join(folder, "media")
        self.events = []
        self.changed = threading.Condition()
        self.process = None
        os.makedirs(folder, exist_ok=True)

    def start(self, seconds=60):
        """Starts it and waits until its camera runs; False if that did not happen in time."""
        command = [self.program, "serve", "--board", self.board, "--state", os.path.join(self.folder, "state")]
        command += ["--media", self.media, "--socket", self.socket]
        if self.settings:
            command += ["--settings", self.settings]
        self.log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(command, stderr=self.log, stdin=subprocess.DEVNULL)
        end = now() + seconds * 10**9
        while now() < end:
            if self.process.poll() is not None:
                return False
            status = self.status()
            if status and status.get("camera", {}).get("state") == "up" and status["camera"].get("running", True):
                self._listen()
                return True
            time.sleep(0.25)
        return False

    def status(self):
        answer = self.client("status", "--json", seconds=20)
        try:
            return json.loads(answer.stdout) if answer and answer.returncode == 0 else None
        except ValueError:
            return None

    def client(self, *arguments, seconds=60):
        try:
            return subprocess.run(
                [self.program, arguments[0], "--socket", self.socket, *arguments[1:]],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return None

    def ask(self, method, path, body=None, seconds=60):
        """A request over the service's socket, without the cost of starting the client: its status and JSON body."""
        text = json.dumps(body or {}) if method != "GET" else ""
        words = f"{method} {path} HTTP/1.1\r\nHost: lab\r\nConnection: close\r\n"
        words += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(seconds)
            connection.connect(self.socket)
            connection.sendall(words.encode())
            answer = b""
            while part := connection.recv(65536):
                answer += part
        head, _, rest = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(rest) if rest.strip() else None

    def _listen(self):
        reader = subprocess.Popen(
            [self.program, "events", "--json", "--socket", self.socket],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.reader = reader

        def read():
            for line in reader.stdout:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                with self.changed:
                    self.events.append(event)
                    self.changed.notify_all()

        threading.Thread(target=read, daemon=True).start()
        self._prove_listening()

    def _prove_listening(self):
        """Events count only from when the listener is in: until it hears a stop refused, with no clip to be stopped."""
        end = now() + 60 * 10**9
        while now() < end and not self.of("rejected"):
            self.client("stop", seconds=20)
            self.wait(lambda: self.count("rejected") > 0, 1)
        # Each stop asked for has been heard before what comes next.
        self.quiet()
        with self.changed:
            self.events.clear()

    ENDS = ("photo.saved", "photo.failed", "clip.saved", "clip.failed", "clip.discarded", "rejected")

    def quiet(self, after=0, seconds=60):
        """Until nothing is under way and nothing was said for a time; every end told from the event `after` on."""
        end = now() + seconds * 10**9
        with self.changed:
            said, since = -1, now()
            while now() < end:
                recent = self.events[after:]
                begun = sum(event.get("event") in ("photo.requested", "recording.requested") for event in recent)
                ends = [event for event in recent if event.get("event") in self.ENDS]
                if len(recent) != said:
                    said, since = len(recent), now()
                under_way = begun > sum(event.get("event") != "rejected" for event in ends)
                if not under_way and (ends or after == 0) and now() - since > 500_000_000:
                    break
                self.changed.wait(0.1)
            return [event for event in self.events[after:] if event.get("event") in self.ENDS]

    def of(self, *names):
        with self.changed:
            return [event for event in self.events if event.get("event") in names]

    def wait(self, condition, seconds):
        """Until the condition holds, told by events; whether it does."""
        end = time.monotonic() + seconds
        with self.changed:
            while not condition():
                left = end - time.monotonic()
                if left <= 0 or not self.changed.wait(min(left, 1.0)) and self.process.poll() is not None:
                    return condition()
        return True

    def count(self, *names):
        return sum(1 for event in self.events if event.get("event") in names)

    def end(self, number=signal.SIGTERM, seconds=60):
        """Sends a signal and waits; the exit status, or None if it does not end."""
        self.process.send_signal(number)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        if getattr(self, "reader", None):
            self.reader.kill()
            self.reader.wait()
        return status

    def descriptors(self):
        """How many files the process has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        return 0

    def cpu_ns(self):
        """User and system time of the whole process so far."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


def remove_tree(path):
    subprocess.run(["rm", "-rf", path], check=False)


def tail(path, lines=15):
    try:
        with open(path, errors="replace") as file:
            print("".join(file.readlines()[-lines:]), flush=True)
    except OSError:
        pass


def copy_tree(source, target):
    subprocess.run(["cp", "-r", source, target], check=False)
