"""Whether a recording holds a pure tone: its pitch and purity over the whole of it, whatever short gaps it has.

A busy host makes the emulated player or recorder miss some milliseconds now and then, so no single stretch is judged: the
recording is cut into windows of a tenth of a second, each has its own spectrum around the tone, and the middle one counts.
"""

import math
import statistics

# Windows of a tenth of a second hold whole periods of every tenth hertz.
WINDOWS_PER_SECOND = 10
REACH_HZ = 150


class Hearing:
    """What was heard: pitch in hertz, the tone's share of the energy (0..1), and how much of the recording sounds (0..1)."""

    def __init__(self, hertz, share, sounding):
        self.hertz = hertz
        self.share = share
        self.sounding = sounding

    def has(self, tone):
        """True for the tone alone: its pitch within 10 Hz, 4/5 of the energy, half of the recording sounding."""
        return abs(self.hertz - tone) <= 10 and self.share > 0.8 and self.sounding >= 0.5

    def __str__(self):
        return f"{self.hertz:.0f} Hz, {self.share:.3f} of the energy at the tone, {self.sounding:.2f} of the clip sounds"


def power(samples, hertz, rate):
    """Goertzel's filter: the share of the samples' energy at a frequency, 1 for a pure tone of whole periods."""
    turn = 2 * math.cos(2 * math.pi * hertz / rate)
    one = two = 0.0
    for sample in samples:
        one, two = sample + turn * one - two, one
    energy = sum(sample * sample for sample in samples)
    return 2 * (one * one + two * two - turn * one * two) / (len(samples) * energy) if energy else 0.0


def hear(samples, tone, rate):
    """Listens to 16-bit samples for a tone. Windows below a hundredth of full scale are silent and have no pitch."""
    length = rate // WINDOWS_PER_SECOND
    windows = [samples[start : start + length] for start in range(0, len(samples) - length + 1, length)]
    loud = [part for part in windows if sum(s * s for s in part) > length * (32768 / 100) ** 2]
    if not loud:
        return Hearing(0.0, 0.0, 0.0)
    pitches = range(tone - REACH_HZ, tone + REACH_HZ + 1, WINDOWS_PER_SECOND)
    hertz = statistics.median(max(pitches, key=lambda pitch: power(part, pitch, rate)) for part in loud)
    share = statistics.median(power(part, tone, rate) for part in loud)
    return Hearing(hertz, share, len(loud) / len(windows))
