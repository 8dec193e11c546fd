"""judge.py RESULTS: outside the guest, with other people's decoders: do the files that the service left hold its promises?

Every JPEG decodes; every clip decodes from first to last frame; the tone of snd-aloop is in each clip at its frequency;
press offsets and first-frame offsets hold, measured in frame intervals of that boot.
"""

import array
import json
import math
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import RATE, TONE_HZ, Checks


def decode(path):
    """What FFmpeg says against a file; empty when it decodes whole."""
    run = subprocess.run(
        # Pictures keep their own times: a rate imposed on them would find two in one place.
        ["ffmpeg", "-v", "error", "-xerror", "-nostdin", "-i", path, "-vsync", "passthrough", "-enc_time_base", "-1"]
        + ["-f", "null", "-"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    return run.stderr.strip() or ("" if run.returncode == 0 else f"ffmpeg ended with {run.returncode}")


def picture_times(path):
    """The presentation times of a clip's pictures, in seconds."""
    run = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path],
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    return sorted(float(word.strip(",")) for word in run.stdout.split() if word.strip(",") not in ("", "N/A"))


def sound(path):
    """A clip's sound as one channel of 48 kHz samples."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-vn", "-ac", "1", "-ar", str(RATE), "-f", "s16le", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    samples = array.array("h")
    samples.frombytes(run.stdout[: len(run.stdout) // 2 * 2])
    return samples


def strongest(samples):
    """The frequency of the loudest second, by its zero crossings, and how much of its energy stands at the tone."""
    best, window = (0.0, 0.0, 0.0), RATE // 2
    for start in range(0, len(samples) - window + 1, window):
        part = samples[start : start + window]
        energy = sum(s * s for s in part)
        if energy <= best[2]:
            continue
        crossings = sum(1 for a, b in zip(part, part[1:]) if a < 0 <= b)
        # Goertzel's filter at the tone.
        turn = 2 * math.cos(2 * math.pi * TONE_HZ / RATE)
        one = two = 0.0
        for s in part:
            one, two = s + turn * one - two, one
        power = one * one + two * two - turn * one * two
        best = (crossings * RATE / window, 2 * power / (window * energy), energy)
    return best[0], best[1]


def main():
    results = sys.argv[1]
    checks = Checks()
    try:
        with open(os.path.join(results, "facts.json")) as file:
            facts = json.load(file)
    except OSError:
        checks.that(False, "the guest left no facts")
        checks.end()
    media = os.path.join(results, "media")

    def here(event):
        """Where an event's file lies now: the guest's media folder was copied whole."""
        return os.path.join(media, os.path.relpath(event["path"], facts["media"]))

    photos, clips, started = facts.get("photos", []), facts.get("clips", []), facts.get("started", [])

    for event in photos:
        if checks.that(os.path.exists(here(event)), f"the file of {event} is there"):
            fault = decode(here(event))
            checks.that(not fault, f"{event['path']} decodes: {fault}")

    played = [(here(event), "clip") for event in clips]
    played += [(os.path.join(media, name), "clip stopped by SIGTERM") for name in facts.get("terminated", [])]
    played += [(os.path.join(media, name), "clip recovered after SIGKILL") for name in facts.get("recovered", [])]
    intervals = []
    for path, kind in played:
        if not checks.that(os.path.exists(path), f"the {kind} {path} is there"):
            continue
        fault = decode(path)
        checks.that(not fault, f"the {kind} {path} decodes from first to last frame: {fault}")
        times = picture_times(path)
        checks.that(len(times) > 1, f"the {kind} {path} has pictures")
        if kind == "clip":
            intervals += [b - a for a, b in zip(times, times[1:])]
        length = times[-1] - times[0] if times else 0
        print(f"figure: {kind} {os.path.basename(path)}: {len(times)} pictures over {length:.2f} s")
    for event in clips:
        checks.that(event.get("audio") == "ok", f"the sound of {event.get('path')} is ok: {event}")
        samples = sound(here(event))
        hertz, share = strongest(samples)
        checks.that(
            abs(hertz - TONE_HZ) <= 10 and share > 0.8,
            f"{event['path']} has the tone: {hertz:.0f} Hz, {share:.2f} of the energy at {TONE_HZ} Hz",
        )
        print(f"figure: {os.path.basename(event['path'])}: tone {hertz:.0f} Hz, {share:.3f} of the energy at it")

    # The frame intervals of this boot, as the service's own camera had them. The host may hold up the emulator at any
    # moment, so nine of ten offsets are held to the longest interval, the usual offset to the usual one.
    alone = facts.get("interval_ns", 0)
    gaps = sorted(gap * 1e9 for gap in intervals) or [0]
    usual, longest = max(statistics.median(gaps), alone), max(gaps[-1], alone)
    print(f"figure: frame interval: cam alone {alone / 1e6:.1f} ms, clips median {usual / 1e6:.1f}, longest {longest / 1e6:.1f}")

    def milliseconds(values):
        return f"{min(values) / 1e6:.1f} to {max(values) / 1e6:.1f} ms, median {statistics.median(values) / 1e6:.1f}"

    # Neither test pipeline reports an exposure: the frame's instant is its whole exposure.
    offsets = [event["press_offset_ns"] for event in photos]
    if offsets:
        print(f"figure: middle of the photo's exposure minus the press: {milliseconds(offsets)}")
        away = sorted(abs(offset) for offset in offsets)
        most, middle = away[int(len(away) * 0.9) - 1], statistics.median(away)
        checks.that(most <= longest / 2, f"nine of ten photos show the press: {most / 1e6:.1f} ms, at most {longest / 2e6:.1f}")
        checks.that(middle <= usual / 2, f"a photo usually shows the press: {middle / 1e6:.1f} ms, at most {usual / 2e6:.1f}")
    first = [event.get("first_frame_offset_ns", -1) for event in started]
    if first:
        print(f"figure: first frame of the clip minus the press: {milliseconds(first)}")
        checks.that(min(first) >= 0, f"no clip begins before its press: {min(first) / 1e6:.1f} ms")
        checks.that(max(first) <= longest, f"a clip begins with the press: {max(first) / 1e6:.1f} ms, at most {longest / 1e6:.1f}")
    checks.end()


main()
