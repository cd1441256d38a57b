"""What helps whoever gets a notice: the last shapes, the misses by reason, hints. Of the programs in a window."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .samples import Counted, Window

_SHAPES, _REASONS, _HINTS = 8, 10, 3  # that are told


@dataclass(frozen=True)
class Evidence:
    programs: list[str] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    misses: list[dict[str, Any]] = field(default_factory=list)
    """``count``, ``where``, ``reason``, the most frequent first."""
    hints: list[str] = field(default_factory=list)


def _regions(counted: Counted) -> dict[tuple[int, int], dict[str, Any]]:
    return {(r["function"], r["region"]): r for r in counted.view["regions"]}


def _sizes(symbols: list[str], values: list[int]) -> str:
    return ", ".join(f"{s}={v}" for s, v in zip(symbols, values, strict=False))


def _shapes(name: str, region: dict[str, Any], before: dict[str, Any] | None) -> list[tuple[int, str]]:
    """Sizes that ran, with how often: those that were observed, else the boxes that served them."""
    if observed := region.get("shapes"):
        return [(s["runs"], f"{name} {region['name']}: {_sizes(region['symbols'], s['values'])}") for s in observed]
    had = {e["name"]: e["hits"] for e in before["entries"]} if before else {}
    rose = [(e["hits"] - had.get(e["name"], 0), e) for e in region["entries"]]
    return [(hits, f"{name} {region['name']}: {e['alias'] or e['box']} (tier {e['tier']})") for hits, e in rose if hits > 0]


def evidence(w: Window) -> Evidence:
    """From the difference between the window's ends."""
    programs: list[str] = []
    shapes: list[tuple[int, str]] = []
    misses: Counter[tuple[str, str]] = Counter()
    hints: list[str] = []
    for before, after in w.programs:
        name = after.name
        programs.append(name)
        earlier = _regions(before)
        for key, r in _regions(after).items():
            old = earlier.get(key)
            shapes += _shapes(name, r, old)
            missed = (r["runs"] - r["native"]) - (old["runs"] - old["native"] if old else 0)
            if missed > 0:
                misses[f"{name} {r['name']}", _why(r)] += missed
        for s in after.view["slow_path"]:
            if s["seconds"] > before.view["seconds"]:
                misses[f"{name} {s['region']} {s['place']}".rstrip(), s["reason"]] += 1
        if after.view["hint"]:
            hints.append(f"{name}: {after.view['hint']}")
    shapes.sort(key=lambda s: -s[0])
    counted = [{"count": n, "where": where, "reason": reason} for (where, reason), n in misses.most_common(_REASONS)]
    return Evidence(programs, [f"{text}, {runs} runs" for runs, text in shapes[:_SHAPES]], counted, hints[:_HINTS])


def _why(region: dict[str, Any]) -> str:
    state = region["state"] or "its sizes weren't looked at yet"
    return state if region["entries"] else f"it has no native code yet; {state}"
