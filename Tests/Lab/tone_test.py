"""tone_test.py: the judge of the lab's sound hears a tone through the gaps of a busy host, and nothing else as one."""

import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import TONE_HZ, Checks
from tone import hear

RATE = 8000
SECONDS = 3


def sine(hertz, level=12000, seconds=SECONDS):
    return [int(level * math.sin(2 * math.pi * hertz * i / RATE)) for i in range(int(seconds * RATE))]


def with_gaps(samples, count, longest_ms, dice, fill):
    """Some milliseconds missing here and there, by fill: cut out, silent, or a crackle in their place."""
    samples = list(samples)
    for _ in range(count):
        gap = dice.randrange(1, longest_ms + 1) * RATE // 1000
        start = dice.randrange(len(samples) - gap)
        samples[start : start + gap] = [int(dice.gauss(0, fill)) for _ in range(gap)] if fill is not None else []
    return samples


def main():
    checks = Checks()
    dice = random.Random(5)
    tone = sine(TONE_HZ)
    noise = [int(dice.gauss(0, 4000)) for _ in range(SECONDS * RATE)]
    narrow = [int(6000 * math.sin(2 * math.pi * (900 + i / 120) * i / RATE)) for i in range(SECONDS * RATE)]

    heard = {
        "a pure tone": tone,
        "a quiet tone": sine(TONE_HZ, 1000),
        "a tone a hundredth off, as two clocks may be": sine(TONE_HZ * 1.002),
        "a tone with a second of silence before it": [0] * RATE + tone,
        "a tone with ten gaps of silence": with_gaps(tone, 10, 30, dice, 0),
        "a tone with ten cuts": with_gaps(tone, 10, 30, dice, None),
        "a tone with ten crackles": with_gaps(tone, 10, 30, dice, 4000),
        "a tone in a little noise": [t + n // 8 for t, n in zip(tone, noise)],
    }
    refused = {
        "nothing": [],
        "silence": [0] * (SECONDS * RATE),
        "hiss": [n // 100 for n in noise],
        "noise": noise,
        "noise of many tones around the tone": narrow,
        "44.1 kHz taken as 48 kHz": sine(TONE_HZ * 48000 / 44100),
        "48 kHz taken as 44.1 kHz": sine(TONE_HZ * 44100 / 48000),
        "one channel read as two": sine(TONE_HZ * 2),
        "two channels read as one": sine(TONE_HZ / 2),
        "a tone 2 % off": sine(TONE_HZ * 1.02),
        "a tone under as much noise": [t // 2 + n for t, n in zip(tone, noise)],
        "a short tone in a long silence": sine(TONE_HZ, seconds=0.5) + [0] * (SECONDS * RATE),
        "a square wave": [12000 if t > 0 else -12000 for t in sine(TONE_HZ / 3)],
        "clicks": [20000 if i % 400 == 0 else 0 for i in range(SECONDS * RATE)],
    }
    for name, samples in heard.items():
        said = hear(samples, TONE_HZ, RATE)
        checks.that(said.has(TONE_HZ), f"the tone is heard in {name}: {said}")
    for name, samples in refused.items():
        said = hear(samples, TONE_HZ, RATE)
        checks.that(not said.has(TONE_HZ), f"no tone is heard in {name}: {said}")
    checks.end()


main()
