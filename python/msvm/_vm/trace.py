"""What programs did, as rows of a CSV file."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from .. import _core

COLUMNS: Final = (
    *("program", "kind", "instruction", "mnemonic", "operator", "kernel"),
    *("runs", "nanoseconds", "seconds", "region", "what", "place"),
)
"""``kind``: instruction (a profiled one: runs and nanoseconds in all), event (of the JIT, ``seconds`` after the program was loaded: what),
slow_path (why a region ran, or stayed, on a slower path), region (its runs, and nanoseconds interpreted and native in all)."""


def rows(executables: Iterable[_core.Executable]) -> Iterator[dict[str, Any]]:
    """A dict for each row, with some of ``COLUMNS``."""
    for number, e in enumerate(executables):
        view = e.jit_view()
        name = view["program"] or e.options()["name"] or f"program {number}"
        for p in e.profile():
            yield {"program": name, "kind": "instruction", **p}
        for r in view["regions"]:
            spent = round((r["interpreted_ms"] + r["native_ms"]) * 1e6)
            what = f"{r['native']} native, {r['specialised']} specialised"
            yield {"program": name, "kind": "region", "region": r["name"], "runs": r["runs"], "nanoseconds": spent, "what": what}
        for event in view["events"]:
            yield {"program": name, "kind": "event", "seconds": f"{event['seconds']:.6f}", "what": f"{event['kind']}: {event['what']}"}
        for slow in view["slow_path"]:
            at = {"seconds": f"{slow['seconds']:.6f}", "region": slow["region"], "place": slow["place"]}
            yield {"program": name, "kind": "slow_path", "what": slow["reason"], **at}


def write_csv(executables: Iterable[_core.Executable], out: str | os.PathLike[str]) -> str:
    """Write all rows; the path."""
    with Path(out).open("w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows(executables))
    return os.fspath(out)
