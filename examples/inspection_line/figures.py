"""What a run comes to."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from inspection_line.line import Judged


def quantile(values: Sequence[float], q: float) -> float:
    """The smallest value that at least `q` of them don't exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


@dataclass(frozen=True)
class Switch:
    """The first frame after the camera's resolution changed."""

    number: int
    begin: float
    mode: str
    first_ms: float
    settled_ms: float
    """Median of that resolution's frames in the second half of the run."""


def switches(judged: Sequence[Judged]) -> list[Switch]:
    """In order; the very first frame is the first of them."""
    half = judged[len(judged) // 2].number
    settled: dict[str, list[float]] = {}
    for j in judged:
        if j.number >= half:
            settled.setdefault(j.mode, []).append(j.ms)
    found = []
    for before, j in zip([None, *judged[:-1]], judged, strict=True):
        if (before is None or before.mode != j.mode) and j.mode in settled:
            found.append(Switch(j.number, j.begin, j.mode, j.ms, statistics.median(settled[j.mode])))
    return found


@dataclass(frozen=True)
class Figures:
    frames: int
    """That the camera gave."""
    judged: int
    dropped: int
    right: int
    seconds: float
    per_second: float
    settled_per_second: float
    """1 / the mean of the resolutions' settled times: what the line would reach without a camera that it waits for."""
    busy: float
    """Share of the time in which the detector ran."""
    cores: float
    """Processor time of the process / time."""
    settled_cpu_ms: float
    """Mean over the resolutions of the median processor time of a frame in the second half of the run."""
    p50_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float


def figures(judged: Sequence[Judged], frames: int, cpu_seconds: float) -> Figures:
    """Of a run of `frames` camera frames."""
    ms = [j.ms for j in judged]
    seconds = judged[-1].begin + judged[-1].ms / 1e3
    settled = {s.mode: s.settled_ms for s in switches(judged)}
    return Figures(
        frames,
        len(judged),
        frames - len(judged),
        sum(j.right for j in judged),
        seconds,
        len(judged) / seconds,
        1e3 / statistics.mean(settled.values()),
        sum(ms) / 1e3 / seconds,
        cpu_seconds / seconds,
        statistics.mean(statistics.median(j.cpu_ms for j in judged[len(judged) // 2 :] if j.mode == mode) for mode in settled),
        quantile(ms, 0.5),
        quantile(ms, 0.99),
        quantile(ms, 0.999),
        max(ms),
    )


def as_json(engine: str, factor: int, judged: Sequence[Judged], of: Figures) -> dict[str, Any]:
    """For the plot."""
    about = {"engine": engine, "factor": factor, "figures": asdict(of)}
    return about | {"switches": [asdict(s) for s in switches(judged)], "frames": [asdict(j) for j in judged]}
