"""What rules can compare: one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .samples import Window
from .units import BYTES, COUNT, MILLISECONDS, PER_SECOND, RATIO

Value = Callable[[Window], float | None]


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    doc: str
    value: Value
    """Over a window; None where there is nothing to say, as no run ended in it."""


def _share(part: str) -> Value:
    def value(w: Window) -> float | None:
        runs = w.view("runs")
        return w.view(part) / runs if runs > 0 else None

    return value


def _if_run(value: Callable[[Window], float]) -> Value:
    return lambda w: value(w) if w.counter("runs") > 0 else None


def _runs_per_second(w: Window) -> float | None:
    started = any(after.counters["runs"] for _, after in w.programs)
    return w.counter("runs") / w.seconds if started else None


def _mean_ms(w: Window) -> float:
    def spent(view: dict[str, object]) -> float:
        regions: list[dict[str, float]] = view["regions"]  # type: ignore[assignment]
        return sum(r["interpreted_ms"] + r["native_ms"] for r in regions)

    return sum(spent(after.view) - spent(before.view) for before, after in w.programs) / w.counter("runs")


def _compile_ms(w: Window) -> float | None:
    compiled = w.view("compiled")
    return w.view("compile_ms") / compiled if compiled > 0 else None


def _of_programs(value: Callable[[Window], float]) -> Value:
    return lambda w: value(w) if w.programs else None


_fallbacks = _of_programs(lambda w: float(len(w.slow_path())))


def _memory(name: str) -> Value:
    return lambda w: float(w.after.memory[name])


LATENCIES = frozenset(("p50_ms", "p99_ms", "p999_ms"))
"""Those that need ``Counted.latency``."""

METRICS: dict[str, Metric] = {
    m.name: m
    for m in (
        Metric("hit_rate", RATIO, "runs of regions in native code / runs of regions", _share("native")),
        Metric("specialised_hit_rate", RATIO, "runs of regions by code for settled sizes / runs of regions", _share("specialised")),
        Metric("misses", COUNT, "runs of regions that were interpreted", _if_run(lambda w: w.view("runs") - w.view("native"))),
        Metric("fallbacks", COUNT, "new records of the slow path; at most 256 a program", _fallbacks),
        Metric("runs", COUNT, "runs of programs that ended", _of_programs(lambda w: w.counter("runs"))),
        Metric("runs_per_s", PER_SECOND, "the same for each second; 0 when what ran before has stopped", _runs_per_second),
        Metric("failed_runs", COUNT, "runs that ended with an error", _of_programs(lambda w: w.counter("failed_runs"))),
        Metric("mean_ms", MILLISECONDS, "time in regions for each run", _if_run(_mean_ms)),
        Metric("p50_ms", MILLISECONDS, "that half of the runs didn't exceed, to 3 %", lambda w: w.percentile(0.5)),
        Metric("p99_ms", MILLISECONDS, "that 99 % of the runs didn't exceed", lambda w: w.percentile(0.99)),
        Metric("p999_ms", MILLISECONDS, "that 99.9 % of the runs didn't exceed", lambda w: w.percentile(0.999)),
        Metric("compile_ms", MILLISECONDS, "time for each compilation that ended", _compile_ms),
        Metric("compiled", COUNT, "compilations that succeeded", _of_programs(lambda w: w.view("compiled"))),
        Metric("failed_compiles", COUNT, "compilations that failed", _of_programs(lambda w: w.view("failed"))),
        Metric("evicted", COUNT, "entries of native code that went to make room", _of_programs(lambda w: w.view("evicted"))),
        Metric("queued", COUNT, "jobs that wait for the compiler or are with it, now", _of_programs(lambda w: float(w.queued()))),
        Metric("code_bytes", BYTES, "native code, now", _of_programs(lambda w: float(sum(a.view["code_bytes"] for _, a in w.programs)))),
        Metric("in_use", BYTES, "tensors of the process, now", _memory("in_use")),
        Metric("reserved", BYTES, "memory that the process holds for tensors, now", _memory("reserved")),
        Metric("peak", BYTES, "the most that tensors of the process took", _memory("peak")),
        Metric("fragmentation", RATIO, "1 - in_use / reserved, now", _memory("fragmentation")),
    )
}
