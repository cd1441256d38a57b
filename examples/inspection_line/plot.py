"""A picture of runs of the line on several engines, from what `--json` wrote. Needs matplotlib."""

import argparse
import itertools
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

COLOURS = ("#d6285a", "#5b6b8c", "#9aa7bf")
MODES = {"1920x1080": "#eef1f6", "3840x2160": "#dfe5ee"}


def per_second(frames: list[dict[str, Any]], seconds: int) -> list[int]:
    """Frames judged in each second."""
    counts = [0] * seconds
    for f in frames:
        counts[min(seconds - 1, int(f["begin"] + f["ms"] / 1e3))] += 1
    return counts


def draw(runs: list[dict[str, Any]], path: Path) -> None:
    """Above: frames a second. Below: time of each frame. Bands are the camera's resolutions."""
    seconds = max(int(r["figures"]["seconds"]) + 1 for r in runs)
    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 5.4), sharex=True, layout="constrained")
    for axis in (above, below):
        switches = [*runs[0]["switches"], {"begin": seconds}]
        for s, end in itertools.pairwise(switches):
            axis.axvspan(s["begin"], end["begin"], color=MODES.get(s["mode"], "#ffffff"), linewidth=0)
        axis.spines[["top", "right"]].set_visible(False)
    for s in runs[0]["switches"]:
        above.annotate(s["mode"], (s["begin"], 1), (4, 2), xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=7)
    for run, colour in zip(runs, COLOURS, strict=False):
        counts = per_second(run["frames"], seconds)
        of = run["figures"]
        label = f"{run['engine']}: {of['judged']} of {of['frames']} frames"
        above.step(range(seconds), counts, where="post", color=colour, linewidth=1.6, label=label)
        ends = [f["begin"] + f["ms"] / 1e3 for f in run["frames"]]
        below.plot(ends, [f["ms"] for f in run["frames"]], ".", color=colour, markersize=2.5)
    above.set_ylabel("frames judged a second")
    above.set_ylim(bottom=0)
    above.legend(frameon=False, fontsize=8, loc="lower right")
    below.set_yscale("log")
    below.set_ylabel("time of a frame, ms")
    below.set_xlabel("seconds of the stream")
    below.set_xlim(0, seconds)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="files of --json")
    parser.add_argument("-o", "--out", type=Path, default=Path("inspection_line.png"))
    args = parser.parse_args()
    draw([json.loads(path.read_text(encoding="utf-8")) for path in args.runs], args.out)


if __name__ == "__main__":
    main()
