"""judge_switches.py RESULTS: outside the guest, tells from each photo's picture which camera took it.

Of the virtual pipeline's test patterns the rear camera shows upright bars, whose columns are of one colour, the front camera
slanted lines, whose columns change from row to row.
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Checks

COLUMNS, ROWS = 80, 60


def camera_of(path):
    """`rear`, `front`, or what is wrong with the picture."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-vf", f"scale={COLUMNS}:{ROWS}:flags=neighbor,format=gray"]
        + ["-f", "rawvideo", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
    )
    picture = run.stdout
    if len(picture) != COLUMNS * ROWS:
        return run.stderr.decode(errors="replace").strip() or "no picture"

    def steps(pairs):
        values = [abs(picture[a] - picture[b]) for a, b in pairs]
        return sum(values) / len(values)

    down = steps((row * COLUMNS + x, (row + 1) * COLUMNS + x) for row in range(ROWS - 1) for x in range(COLUMNS))
    across = steps((row * COLUMNS + x, row * COLUMNS + x + 1) for row in range(ROWS) for x in range(COLUMNS - 1))
    if down < 0.5 and across > 1:
        return "rear"
    return "front" if down > 2 else f"neither pattern: {down:.2f} down, {across:.2f} across"


def main():
    results = sys.argv[1]
    checks = Checks()
    try:
        with open(os.path.join(results, "switches.json")) as file:
            facts = json.load(file)
    except OSError:
        checks.that(False, "the guest left no facts of its switches")
        checks.end()
    kinds = ("before", "asked", "new")
    photos, wrong = {kind: 0 for kind in kinds}, {kind: [] for kind in kinds}
    for photo in facts["photos"]:
        path = os.path.join(results, "switches", os.path.relpath(photo["path"], facts["media"]))
        camera = camera_of(path) if os.path.exists(path) else "no file"
        photos[photo["kind"]] += 1
        right = ("rear", "front") if photo["kind"] == "asked" else (photo["camera"],)
        if camera not in right:
            wrong[photo["kind"]].append(f"{os.path.basename(path)}: {camera}, not {photo['camera']}")
    found = ", ".join(f"{photos[kind]} {words}" for kind, words in (
        ("before", "before a switch"), ("asked", "as it was asked for"), ("new", "while it switched or just after")))
    print(f"figure: photos by their picture's camera: {found}; of a wrong camera {[len(wrong[kind]) for kind in kinds]}")
    checks.that(photos["new"] > 0, "there are photos to judge")
    checks.that(not wrong["new"], f"a tap during a switch or after it shows the new camera: {wrong['new']}")
    checks.that(not wrong["asked"], f"a tap while a switch is asked for shows one of the cameras: {wrong['asked']}")
    # Where the emulator is held up the old camera may be gone before the picture of the press came.
    checks.that(
        len(wrong["before"]) * 10 <= photos["before"], f"a tap before a switch shows the old camera: {wrong['before']}"
    )
    checks.end()


main()
