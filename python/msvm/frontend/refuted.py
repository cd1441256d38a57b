"""Statements on ways that a program rarely takes may be sure to fail there: the program ends with the error if it ever comes to them.

The verifier refuses what can't hold; Python only minds where it runs. So the function is made again with an error in the place of the
statement, if that is on a way of its own.
"""

from __future__ import annotations

import re
from typing import Any

Places = dict[tuple[str, int, int], str]
"""Messages by file, line and column."""

_DIAGNOSTIC = re.compile(
    r"Error at instruction \d+ \([^)]*\), offset 0x[0-9a-f]+, ([^\n]+):(\d+):(\d+), in @main \[(MSV\d+)\]\n((?:  [^\n]*\n?)*)"
)
_MARKED = re.compile(r"\[\[python \d+\]\][^\n]*")
_REFUTED = "MSV04"


def places_of(text: str) -> Places:
    """Of a verifier's findings: what is sure to fail."""
    found: Places = {}
    for file, line, column, code, details in _DIAGNOSTIC.findall(text):
        if not code.startswith(_REFUTED):
            continue
        marked = _MARKED.search(details)
        message = marked[0] if marked else details.strip().split("\n")[-1].strip()
        found.setdefault((file, int(line), int(column)), message)
    return found


def within(places: Places, file: str, node: Any) -> str | None:
    """The message of a place that lies in the node."""
    for (name, line, column), message in places.items():
        if name == file and (node.lineno, node.col_offset + 1) <= (line, column) <= (node.end_lineno, node.end_col_offset):
            return message
    return None
