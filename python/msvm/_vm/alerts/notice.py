"""What recipients are told: of one alert that fires or is resolved, and how several become one message."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .evidence import Evidence
from .incident import Change
from .metrics import METRICS
from .units import shown, shown_seconds


@dataclass(frozen=True)
class Notice:
    change: Change
    rule: str
    message: str
    values: dict[str, float | None]
    window: float
    since: float
    """When the condition began to hold; seconds since 1970, as ``time``."""
    time: float
    evidence: Evidence
    monitor: str | None
    limit: int
    """Messages an hour that its recipient may get."""


def iso(seconds: float) -> str:
    """UTC with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def process() -> dict[str, Any]:
    """Who speaks. Without arguments of the command line: they may hold secrets."""
    return {"host": platform.node(), "pid": os.getpid(), "command": Path(sys.argv[0] if sys.argv else "").name or "python"}


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def subject(notices: Sequence[Notice]) -> str:
    """One line."""
    if len(notices) == 1:
        n = notices[0]
        what = f"{n.change}: {n.message or n.rule}"
    else:
        firing = sum(n.change == "firing" for n in notices)
        parts = [f"{firing} firing"] * bool(firing) + [f"{len(notices) - firing} resolved"] * (firing < len(notices))
        what = f"{len(notices)} alerts, {', '.join(parts)}"
    return f"[msvm] {_one_line(what)[:120]} ({process()['host']})"


def _block(title: str, lines: Sequence[str]) -> list[str]:
    return [f"  {title}", *(f"    {_one_line(line)}" for line in lines)] if lines else []


def _values(n: Notice) -> str:
    return ", ".join(f"{name} {shown(value, METRICS[name].unit)}" for name, value in n.values.items())


def _lines(n: Notice) -> list[str]:
    lines = [f"{n.change.upper()}: {n.rule}"]
    if n.message:
        lines.append(f"  {_one_line(n.message)}")
    lines.append(f"  value   {_values(n)}, over the last {shown_seconds(n.window)}")
    lasted = shown_seconds(n.time - n.since)
    lines.append(f"  since   {iso(n.since)}" + (f"; it lasted {lasted}" if n.change == "resolved" else f", for {lasted}"))
    if n.change == "resolved":
        return lines
    e = n.evidence
    lines += _block("programs", [", ".join(e.programs)] if e.programs else [])
    lines += _block("last shapes", e.shapes)
    lines += _block("misses by reason", [f"{m['count']} x {m['where']}: {m['reason']}" for m in e.misses])
    lines += _block("hint", e.hints)
    where = n.monitor or "in the process: ms.vm.explain(), ms.vm.jit_info(); ms.vm.memory_stats()"
    return [*lines, f"  look at {where}"]


def text(notices: Sequence[Notice], held_back: int = 0) -> str:
    """For people. ``held_back``: notices before these that nobody was told of."""
    who = process()
    out = [f"{who['command']}, process {who['pid']} on {who['host']}, {iso(notices[-1].time)}"]
    for n in notices:
        out += ["", *_lines(n)]
    if held_back:
        out += ["", f"{held_back} earlier notices were dropped: there were more than the limit of messages an hour lets through."]
    return "\n".join(out) + "\n"


def _json(n: Notice) -> dict[str, Any]:
    return {
        "rule": n.rule,
        "state": n.change,
        "message": n.message,
        "value": next(iter(n.values.values()), None),
        "values": n.values,
        "window_s": n.window,
        "since": iso(n.since),
        "time": iso(n.time),
        "programs": n.evidence.programs,
        "last_shapes": n.evidence.shapes,
        "misses": n.evidence.misses,
        "hints": n.evidence.hints,
        "monitor": n.monitor,
    }


def payload(notices: Sequence[Notice], held_back: int = 0) -> dict[str, Any]:
    """For programs; ``text`` is what chat services show."""
    about = {"version": 1, "time": iso(notices[-1].time), **process(), "held_back": held_back}
    return about | {"text": subject(notices) + "\n" + text(notices, held_back), "alerts": [_json(n) for n in notices]}
