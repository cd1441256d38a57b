"""print() inside a compiled function: an effect of the program, in order, at every call."""

from __future__ import annotations

from typing import Any


def emit_print(it: Any, args: tuple[Any, ...], sep: str, end: str) -> None:
    it.unsupported("print() in a compiled function")
