"""judge.py RESULTS: outside the guest, with other people's decoders: do the files that the service left hold its promises?

Every JPEG decodes; every clip decodes from first to last frame; the tone of snd-aloop is in each clip at its frequency;
press offsets and first-frame offsets hold, measured in frame intervals of that boot.
"""

import array
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import TONE_HZ, Checks
from tone import hear

# Enough for the tone, its neighbours and its first overtones.
HEARING_RATE = 8000


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
    """A clip's sound as one channel of 16-bit samples."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-vn", "-ac", "1", "-ar", str(HEARING_RATE), "-f", "s16le", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    samples = array.array("h")
    samples.frombytes(run.stdout[: len(run.stdout) // 2 * 2])
    return samples


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
        # What was cut by a signal may have one, where frames are slow.
        least = 2 if kind == "clip" else 1
        checks.that(len(times) >= least, f"the {kind} {path} has {least} pictures or more, not {len(times)}")
        if kind == "clip":
            intervals += [b - a for a, b in zip(times, times[1:])]
        length = times[-1] - times[0] if times else 0
        print(f"figure: {kind} {os.path.basename(path)}: {len(times)} pictures over {length:.2f} s")
    # A host that holds up the emulator can cut the sound card's stream, which rightly ends that clip's sound: of three
    # clips two must have theirs, and what is told to be whole must be the tone.
    whole = [event for event in clips if event.get("audio") == "ok"]
    told = [(event.get("audio"), event.get("audio_reason")) for event in clips]
    checks.that(len(whole) * 3 >= len(clips) * 2, f"the sound of two of three clips is ok: {told}")
    for event in whole:
        silence = event.get("silence_ms", 0) * HEARING_RATE // 1000
        heard = hear(sound(here(event))[silence:], TONE_HZ, HEARING_RATE)
        checks.that(heard.has(TONE_HZ), f"{event['path']} has the tone: {heard}")
        print(f"figure: {os.path.basename(event['path'])}: {heard}")

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
        middle = statistics.median(first)
        checks.that(middle <= longest, f"a clip usually begins with the press: {middle / 1e6:.1f} ms, at most {longest / 1e6:.1f}")
    checks.end()


main()
