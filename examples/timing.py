"""Latencies by shape: what the first run at a shape took, and what it takes once it has settled."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Feed = dict[str, np.ndarray]


def shape_name(feed: Feed) -> str:
    """The shape of the feed's first input, such as `1×3×320×320`."""
    return "×".join(map(str, next(iter(feed.values())).shape))


@dataclass
class Stopwatch:
    """Wraps a model's `run`; keeps the times of each shape and the last input of that shape."""

    model: Callable[[Feed], list[np.ndarray]]
    times: dict[str, list[float]] = field(default_factory=dict)  # milliseconds, by shape, in the order in which the shapes came
    feeds: dict[str, Feed] = field(default_factory=dict)

    def __call__(self, feed: Feed) -> list[np.ndarray]:
        """Run, timed."""
        begin = time.perf_counter()
        outputs = self.model(feed)
        ms = 1e3 * (time.perf_counter() - begin)
        shape = shape_name(feed)
        self.times.setdefault(shape, []).append(ms)
        self.feeds[shape] = feed
        return outputs

    def settle(self, shapes: int, runs: int) -> list[str]:
        """Run `shapes` of the shapes (from the smallest input to the largest) `runs` times more; returns their names."""
        by_size = sorted(self.feeds, key=lambda shape: next(iter(self.feeds[shape].values())).size)
        picked = [by_size[i * (len(by_size) - 1) // max(1, shapes - 1)] for i in range(shapes)] if len(by_size) > shapes else by_size
        for _ in range(runs):
            for shape in picked:  # in turn, so that every run has another shape than the one before
                self(self.feeds[shape])
        return picked

    def rows(self, shapes: list[str]) -> list[tuple[str, str, str]]:
        """For each shape: its name, the first run's time, the median of the others."""
        return [(shape, f"{self.times[shape][0]:.1f}", f"{statistics.median(self.times[shape][1:]):.1f}") for shape in shapes]


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as need be; the first one to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, tuple("-" * w for w in widths), *rows):
        cells = [cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        print("   " + "   ".join(cells))
