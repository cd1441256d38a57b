"""Draws the comparison: settled latency of each engine relative to the base, model by model."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"msvm": "#d6285a", "ort": "#5b6b8c", "openvino": "#9aa7bf"}


def draw(rows: list[dict[str, Any]], base: str, path: Path) -> None:
    """One panel per stream; bars above 1 are slower than the base."""
    streams = list(dict.fromkeys(r["stream"] for r in rows))
    names = list(dict.fromkeys(r["engine"] for r in rows))
    figure, axes = plt.subplots(len(streams), 1, figsize=(9, 3.2 * len(streams)), squeeze=False, layout="constrained")
    for axis, stream in zip(axes[:, 0], streams, strict=True):
        models = list(dict.fromkeys(r["model"] for r in rows if r["stream"] == stream))
        width = 0.8 / len(names)
        for i, engine in enumerate(names):
            ratios = {r["model"]: r.get("settled_ms_ratio") for r in rows if (r["stream"], r["engine"]) == (stream, engine)}
            places = [k + (i - (len(names) - 1) / 2) * width for k in range(len(models))]
            bars = axis.bar(places, [ratios.get(m) or 0 for m in models], width, label=engine, color=COLOURS[engine])
            axis.bar_label(bars, [f"{ratios[m]:.2f}" if ratios.get(m) else "" for m in models], fontsize=7)
        axis.axhline(1, color="#22262e", linewidth=0.8)
        axis.set_xticks(range(len(models)), models)
        axis.set_ylabel(f"latency / {base}")
        axis.set_title(f"settled latency, {stream} stream (geometric mean over shapes)", fontsize=10, loc="left")
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, fontsize=8, ncols=len(names), loc="lower right", bbox_to_anchor=(1, 1))
    figure.savefig(path, dpi=150)
