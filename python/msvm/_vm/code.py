"""Machine code of entries, for people."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any

from .. import _core
from .._errors import InputError


class Disassembly:
    """An entry's machine code beside what it comes from; prints as a listing. docs/disassembly.md describes the fields.

    ``findings``: what stands out, dicts with ``kind``, ``kernel``, ``line``, ``text`` and ``mend``. ``kernels``: dicts with ``name``,
    ``size``, ``ir`` and ``lines``. ``calls``: calls of the region that no kernel of the entry does. ``entry``, ``alias``, ``box``,
    ``region``, ``tier``, ``shared`` and ``isa`` name it.
    """

    entry: str
    alias: str
    box: str
    region: str
    tier: int
    shared: bool
    isa: str
    findings: list[dict[str, Any]]
    kernels: list[dict[str, Any]]
    calls: list[dict[str, Any]]

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.text = text
        self.__dict__.update(data)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def disassembly(executables: Iterable[_core.Executable], entry: str | None) -> Disassembly:
    """Of the entry of that name, alias or box; without one, of those with code that which was hit most often."""
    rows = [(e, r, x) for e in executables for r in e.jit_view()["regions"] for x in r["entries"]]
    if not rows:
        raise InputError("disassemble: there is no native code yet; run the function more often, or have it made: ms.vm.warmup(f)")
    meant = [row for row in rows if entry is None or entry in (row[2]["name"], row[2]["alias"], row[2]["box"])]
    if not meant:
        names = ", ".join(dict.fromkeys(x["name"] for _, _, x in rows))
        raise InputError(f"disassemble: there is no entry {entry!r}; there are: {names}")
    best = meant[0]
    if entry is None:
        best = max(meant, key=lambda row: (row[2]["code_bytes"] > 0, row[2]["hits"]))
    e, r, x = best
    text, data = e.disassembly(r["function"], r["region"], x["name"])
    return Disassembly(text, json.loads(data))
