"""Declared Shape Convergence Degree, as a table and as lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .tables import Table


def number(scd: float) -> str:
    """Two digits at most, one at least: 0.5, 0.67, 1.0."""
    text = f"{scd:.2f}"
    return text[:-1] if text.endswith("0") else text


def line(row: Mapping[str, Any]) -> str:
    """What is said of one tensor; a mend stands on a line of its own."""
    head = f"Tensor {row['name']}: "
    if not row["counted"]:
        return f"{head}not counted ({row['reason']}; {row['mend']})"
    head += f"SCD={number(row['scd'])} ("
    if row["reason"] == "input":
        return f"{head}dims: [{', '.join(row['dims'])}])"
    if not row["mend"]:
        return f"{head}{row['reason']})"
    return f"{head}{row['reason']};\n{' ' * len(head)}{row['mend']})"


class ScdTable(Table):
    """A row for each tensor; as text, the lines of ``print_scd_analysis``."""

    empty = "no tensors"
    columns = ("name", "scd", "dims", "reason", "mend", "place")

    def __repr__(self) -> str:
        return "\n".join(map(line, self)) or self.empty


def scd_table(rows: Iterable[Mapping[str, Any]]) -> ScdTable:
    """From what ``_core.declared_scd`` gives."""
    return ScdTable(map(dict, rows))
