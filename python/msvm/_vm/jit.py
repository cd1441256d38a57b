"""Native code: entries and rates over programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _core
from .._errors import InputError
from .tables import Table

View = dict[str, Any]


class JitTable(Table):
    """A row for each entry of native code, and one for each region that has none."""

    empty = "no regions were looked for yet: that happens at a program's second run"
    columns = ("program", "region", "runs", "native", "entry", "alias", "tier", "hits", "code_bytes", "came", "compile_ms", "state")


class SlowPaths(Table):
    """A row for each time that something ran, or stayed, on a slower path."""

    empty = "nothing ran on a slower path than it should"
    columns = ("program", "seconds", "region", "place", "reason", "instead")


_OF_REGION = ("symbols", "runs", "native", "specialised", "scd", "state", "fused", "not_fused")
_OF_ENTRY = ("alias", "box", "tier", "hits", "code_bytes", "compile_ms")
_NO_ENTRY: dict[str, Any] = {
    "name": "",
    "alias": "",
    "box": "",
    "tier": 0,
    "hits": 0,
    "code_bytes": 0,
    "shared": False,
    "outcome": "",
    "compile_ms": 0.0,
}


def jit_table(executables: Iterable[_core.Executable]) -> JitTable:
    """Of these programs, in order."""
    rows = JitTable()
    for e in executables:
        view = e.jit_view()
        for r in view["regions"]:
            of_region = {"program": view["program"], "region": r["name"]} | {k: r[k] for k in _OF_REGION}
            for entry in r["entries"] or [_NO_ENTRY]:
                came = "shared" if entry["shared"] else entry["outcome"]
                rows.append(of_region | {"entry": entry["name"], "came": came} | {k: entry[k] for k in _OF_ENTRY})
    return rows


def _rate(hits: int, runs: int) -> float:
    return hits / runs if runs else 0.0


def hit_rate(views: list[View], window: bool, per: str | None, specialised: bool) -> float | dict[str, float]:
    """Hits / runs of regions; see ``msvm.vm.get_jit_hit_rate``."""
    hits, runs = ("specialised" if specialised else "native"), "runs"
    if window:
        hits, runs = f"window_{hits}", f"window_{runs}"
    if per is None:
        return _rate(sum(v[hits] for v in views), sum(v[runs] for v in views))
    if per not in ("program", "region"):
        raise InputError(f"per is {per!r}: program or region is possible")
    if per == "region" and window:
        raise InputError("per='region' has no window: rates of regions are since the program was loaded")
    sums: dict[str, tuple[int, int]] = {}
    for v in views:
        parts = [(v["program"], v)] if per == "program" else [(f"{v['program']} {r['name']}".strip(), r) for r in v["regions"]]
        for name, part in parts:
            had = sums.get(name, (0, 0))
            sums[name] = had[0] + part[hits], had[1] + part[runs]
    return {name: _rate(*sum_) for name, sum_ in sums.items()}
