"""What the programs had counted at a moment, and the difference of two such moments."""

from __future__ import annotations

import bisect
import itertools
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ... import _core

View = dict[str, Any]


@dataclass(frozen=True)
class Counted:
    """Of one program, since it was loaded."""

    view: View
    counters: dict[str, int]
    name: str = ""
    engine: int = 0
    latency: _core.Latencies | None = None
    """Of runs; None: nobody asks."""


_numbers: weakref.WeakKeyDictionary[_core.Executable, int] = weakref.WeakKeyDictionary()
_next = itertools.count()


def number(e: _core.Executable) -> int:
    """That no other program of the process has or had."""
    found = _numbers.get(e)
    return _numbers.setdefault(e, next(_next)) if found is None else found


@dataclass(frozen=True)
class Sample:
    """Everything at one moment. Holds no program alive: they go by their ``number``."""

    time: float
    """Seconds of a clock that only goes forward."""
    programs: dict[int, Counted]
    queued: dict[int, int]
    """Jobs that wait for the compiler or are with it, by engine."""
    memory: dict[str, Any]


_EMPTY = Counted({"seconds": -1.0, "regions": []}, {})


@dataclass(frozen=True)
class Window:
    """From one sample to a later one, for some of the programs."""

    before: Sample
    after: Sample
    numbers: tuple[int, ...]

    @property
    def seconds(self) -> float:
        return self.after.time - self.before.time

    @property
    def programs(self) -> list[tuple[Counted, Counted]]:
        """Before and after; programs that came in between begin with nothing counted."""
        return [(self.before.programs.get(i, _EMPTY), self.after.programs[i]) for i in self.numbers if i in self.after.programs]

    def view(self, name: str) -> float:
        """By how much a count of ``jit_view()`` rose, over all programs."""
        return float(sum(after.view[name] - before.view.get(name, 0) for before, after in self.programs))

    def counter(self, name: str) -> float:
        """The same of ``counters()``."""
        return float(sum(after.counters[name] - before.counters.get(name, 0) for before, after in self.programs))

    def slow_path(self) -> list[dict[str, Any]]:
        """The records that are new."""
        return [s for before, after in self.programs for s in after.view["slow_path"] if s["seconds"] > before.view["seconds"]]

    def percentile(self, p: float) -> float | None:
        """Milliseconds that a share ``p`` of the runs didn't exceed; None without runs."""
        all_ = _core.Latencies()
        for before, after in self.programs:
            if after.latency is not None:
                all_.add(after.latency if before.latency is None else after.latency.since(before.latency))
        return 1e3 * all_.percentile(p) if all_.count() > 0 else None

    def queued(self) -> int:
        """At its end, over the engines of these programs."""
        return sum(self.after.queued[engine] for engine in {after.engine for _, after in self.programs})


def take(executables: Iterable[_core.Executable], now: float, latency: bool) -> Sample:
    """A sample of these programs, and of the process's memory. ``latency``: whether that of runs is asked for."""
    programs: dict[int, Counted] = {}
    queued: dict[int, int] = {}
    for e in executables:
        queue = e.jit_queue()
        view = e.jit_view()
        name = view["program"] or e.options()["name"] or "program"
        programs[number(e)] = Counted(view, e.counters(), name, queue["engine"], e.latency() if latency else None)
        queued[queue["engine"]] = queue["queued"] + queue["work"] + (queue["running"] is not None)
    return Sample(now, programs, queued, _core.memory_stats())


@dataclass
class History:
    """The samples of the latest seconds, oldest first."""

    samples: list[Sample] = field(default_factory=list)
    _time: Callable[[Sample], float] = field(default=lambda s: s.time, repr=False)

    def add(self, sample: Sample, keep: float) -> None:
        """Those older than ``keep`` seconds go, but for the youngest of them: windows begin there."""
        self.samples.append(sample)
        first = bisect.bisect_right(self.samples, sample.time - keep, key=self._time) - 1
        del self.samples[: max(0, first)]

    def window(self, seconds: float, numbers: Iterable[int]) -> Window | None:
        """The latest ``seconds``, or what there is of them; None before the second sample."""
        if len(self.samples) < 2:
            return None
        last = self.samples[-1]
        first = bisect.bisect_right(self.samples, last.time - seconds, key=self._time) - 1
        return Window(self.samples[min(max(0, first), len(self.samples) - 2)], last, tuple(numbers))
