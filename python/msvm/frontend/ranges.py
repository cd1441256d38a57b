"""``range`` over sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .values import maximum, require, select


class SymSequence:
    """What ``zip``, ``enumerate`` and ``reversed`` give for a loop whose number of turns is known only when the program runs."""

    def __init__(self, count: Any, at: Callable[[Any], Any]) -> None:
        self.count = count
        self.at = at


class SymRange:
    """``count`` may be known although the bounds aren't."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step
        if isinstance(step, int):
            if step == 0:
                raise ValueError("range() arg 3 must not be zero")
            n = (stop - start + (step - 1)) // step if step > 0 else (start - stop + (-step - 1)) // -step
        else:
            require(step != 0, "range() arg 3 must not be zero")
            up = step > 0
            size = select(up, step, -step)
            n = (select(up, stop - start, start - stop) + size - 1) // size
        self.count = maximum(n, 0)
