"""Why a program is slow, or not compiled, now: causes with their mends, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import _core
from .tables import Table


@dataclass(frozen=True)
class Cause:
    """One finding. ``weight`` is about the share of the time, or of the runs, that it concerns: 0 to 1, above 1 where nothing works."""

    weight: float
    where: str
    cause: str
    mend: str


class Explanation(Table):
    """A row for each cause, the worst first; empty if nothing is wrong."""

    empty = "nothing is slow that is known of: every run of a region is native code"
    columns = ("where", "cause", "mend")

    def __repr__(self) -> str:
        lines = [f"{k}. {row['where']}: {row['cause']}\n   mend: {row['mend']}" for k, row in enumerate(self, 1)]
        return "\n".join(lines) or self.empty


# What the trigger says of the last run's sizes, and what would help.
_STATES = (
    ("of the", "are needed", "run more often with these sizes, or ms.vm.warmup(f, shapes); a lower jit_threshold decides sooner"),
    ("it fixes nothing", "", 'sizes change from run to run: cache_mode="bucket" or "adaptive" lets ranges share code'),
    ("beyond the last boundary", "", "add a larger value to bucket_boundaries"),
    ("SCD", "is below", 'ms.vm.print_scd_analysis(f) shows which sizes are open; a lower scd_threshold, or cache_mode="bucket"'),
    ("save less than it costs", "", 'nothing: code for these sizes isn\'t worth it; cache_mode="bucket" lets more sizes share it'),
)

_FAILURES = (
    ("no compiler", "install the package with its compiler msvm-cc, or set MSVM_CC to its path"),
    ("timed out", "a longer compile_timeout"),
    ("out of memory", "a machine or container with more memory; the region stays interpreted"),
    ("crashed", "report it with the program: f.save(path); the region stays interpreted"),
    ("nonsense", "MSVM_CC must name the msvm-cc of this build"),
)


def _mend_of_failure(reason: str) -> str:
    for word, mend in _FAILURES:
        if word in reason:
            return mend
    return "ms.vm.clear_cache(f) tries again; the region stays interpreted meanwhile"


def _mend_of_state(state: str) -> str:
    for first, second, mend in _STATES:
        if first in state and second in state:
            return mend
    return ""


def _of_jit(options: dict[str, Any], view: dict[str, Any], queue: dict[str, Any], runs: int) -> Iterator[Cause]:
    program = view["program"] or "program"
    if options["jit_level"] == "O0":
        yield Cause(2.0, program, "no native code is made: jit_level is O0", 'jit_level="O1" or "O2"')
        return
    if not options["enable_graph_kernel"]:
        yield Cause(0.7, program, "calls aren't fused: enable_graph_kernel is False", "enable_graph_kernel=True")
    if runs == 0:
        yield Cause(1.5, program, "it has not run yet: code is made from the second run on", "call it, or ms.vm.warmup(f, shapes)")
    elif not view["regions"] and not queue["work"]:
        few = runs < 2
        cause = "it has run once: regions are looked for at the second run" if few else "native code can take over no part of it"
        again, borders = "run it again, or ms.vm.warmup(f, shapes)", "`msvm scd FILE --all` on what f.save(FILE) wrote names each border"
        mend = again if few else borders
        yield Cause(1.4, program, cause, mend)
    if waiting := queue["queued"] + queue["work"] + (queue["running"] is not None):
        yield Cause(1.2, program, f"{waiting} job{'s' if waiting > 1 else ''} of the compiler aren't done yet", "ms.vm.wait_compiled(f)")
    for (region, reason, place), times in Counter((s["region"], s["reason"], s["place"]) for s in view["slow_path"]).items():
        at = f" ({place})" if place else ""
        yield Cause(1.0, f"{region or program}{at}", reason + (f", {times} times" if times > 1 else ""), _mend_of_failure(reason))


def _of_regions(view: dict[str, Any]) -> Iterator[Cause]:
    whole = sum(r["interpreted_ms"] + r["native_ms"] for r in view["regions"]) or 1.0
    for r in view["regions"]:
        if not r["runs"]:
            continue
        share = (r["interpreted_ms"] + r["native_ms"]) / whole
        if not r["entries"]:
            cause = f"no native code yet: all of its {r['runs']} runs were interpreted"
            yield Cause(0.9 * share, r["name"], cause, "ms.vm.wait_compiled(f), then ms.vm.explain(f) again")
        mend = _mend_of_state(r["state"])
        if mend and r["specialised"] < r["runs"]:
            missed = (r["runs"] - r["specialised"]) / r["runs"]
            yield Cause(0.3 * share * missed, r["name"], f"no code for the last sizes alone: {r['state']}", mend)
        # What is fused at all decides how much native code can win.
        for reason, calls in Counter(text.partition("): ")[2] for text in r["not_fused"]).items():
            of_calls = calls / max(1, r["calls"])
            example = next(text.partition("): ")[0] + ")" for text in r["not_fused"] if text.endswith(f"): {reason}"))
            cause = f"{calls} of {r['calls']} calls keep kernels of their own, such as {example}: {reason}"
            mend = "nothing: a prebuilt kernel does them; elementwise neighbours of one shape fuse best"
            yield Cause(0.1 * share * of_calls, r["name"], cause, mend)


def _of_kernels(calls: list[dict[str, Any]]) -> Iterator[Cause]:
    chosen = [(c, choice, k) for c in calls for choice in c["choices"] for k in choice["kernels"] if k["chosen"]]
    whole = sum(k["cost_ns"] for _, _, k in chosen) or 1.0
    for call, choice, kernel in chosen:
        where = f"instruction {call['instruction']} ({call['op']}{', ' + call['origins'][0] if call['origins'] else ''})"
        share = kernel["cost_ns"] / whole
        sizes = ", ".join(i.removesuffix(" strided") for i in choice["inputs"] if i != "_")
        if kernel["through_copy"]:
            cause = f"its inputs {sizes} are strided and become dense at each run"
            yield Cause(0.6 * share, where, cause, "make them contiguous before, or slice later")
        if "reference" in kernel["kernel"]:
            others = "; ".join(f"{k['kernel']}: {k['reason']}" for k in choice["kernels"] if k["reason"])
            cause = f"the reference kernel serves {sizes}: {others or 'there is no tuned one for it'}"
            yield Cause(0.6 * share, where, cause, "another dtype or layout, where a tuned kernel has one")


def explanation(executables: Iterable[_core.Executable], most: int = 20) -> Explanation:
    """Of these programs; the ``most`` worst causes."""
    causes: list[Cause] = []
    for e in executables:
        view = e.jit_view()
        causes += _of_jit(e.options(), view, e.jit_queue(), e.counters()["runs"])
        causes += _of_regions(view)
        causes += _of_kernels(e.explain())
    causes.sort(key=lambda c: -c.weight)
    return Explanation({"where": c.where, "cause": c.cause, "mend": c.mend, "weight": c.weight} for c in causes[:most])
