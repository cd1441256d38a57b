"""Conditions over metrics. A metric without a value leaves a condition open, unless the rest decides it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Values = Mapping[str, float | None]

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Comparison:
    metric: str
    operator: str
    number: float
    """In the metric's unit."""

    def holds(self, values: Values) -> bool | None:
        """None: it has no value."""
        value = values[self.metric]
        return None if value is None else OPERATORS[self.operator](value, self.number)

    def metrics(self) -> Iterator[str]:
        """Those it needs."""
        yield self.metric


@dataclass(frozen=True)
class Joined:
    word: str
    """``and``, ``or``."""
    parts: tuple[Condition, ...]

    def holds(self, values: Values) -> bool | None:
        """False and True win over no value where they decide alone."""
        deciding = self.word == "or"
        found = [p.holds(values) for p in self.parts]
        if deciding in found:
            return deciding
        return None if None in found else not deciding

    def metrics(self) -> Iterator[str]:
        """Those it needs, in the order of the text."""
        for p in self.parts:
            yield from p.metrics()


Condition = Comparison | Joined


@dataclass(frozen=True)
class Rule:
    text: str
    condition: Condition
    seconds: float | None
    """How long the condition has to hold; None: the text doesn't say."""

    def metrics(self) -> list[str]:
        """Those it compares, each once, in the order of the text."""
        return list(dict.fromkeys(self.condition.metrics()))
