"""Lists of dicts that read as tables, in consoles and notebooks."""

from __future__ import annotations

import html
from typing import Any


def shown(value: Any) -> str:
    """A cell: floats with three significant digits, nothing for None and False."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


class Table(list[dict[str, Any]]):
    """Rows as dicts of the same keys."""

    empty = "nothing to show"
    columns: tuple[str, ...] = ()
    """What the table shows, in order; dicts may hold more."""

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        names = list(self.columns) or list(self[0])
        return names, [[shown(row.get(n)) for n in names] for row in self]

    def __repr__(self) -> str:
        if not self:
            return self.empty
        names, rows = self._cells()
        number = [all(isinstance(r.get(n), (int, float)) for r in self) for n in names]
        width = [max(len(n), *(len(r[k]) for r in rows)) for k, n in enumerate(names)]

        def line(cells: list[str]) -> str:
            return "  ".join(c.rjust(w) if num else c.ljust(w) for c, w, num in zip(cells, width, number, strict=True)).rstrip()

        return "\n".join([line(names), *map(line, rows)])

    def _repr_html_(self) -> str:
        if not self:
            return f"<p>{html.escape(self.empty)}</p>"
        names, rows = self._cells()
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
