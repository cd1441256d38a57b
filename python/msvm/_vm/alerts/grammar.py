"""From the text of a rule to its condition::

rule       = condition ["for" number unit]          hit_rate < 85% and runs_per_s > 5 for 60 s
condition  = all {"or" all}
all        = one {"and" one}
one        = "(" condition ")" | metric operator number [unit]
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from typing import NoReturn

from ..._errors import InputError
from .metrics import METRICS, Metric
from .rule import OPERATORS, Comparison, Condition, Joined, Rule
from .units import RATIO, SECONDS, SUFFIXES

_TOKEN = re.compile(r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z_]\w*)|(?P<sign>[<>=!]=|[<>()%]))")
_MOST = 1000  # characters, so that nesting stays shallow, too
_DEEPEST = 50


class _Parser:
    def __init__(self, text: str, place: str) -> None:
        self.text, self.place = text, place
        self.tokens: list[tuple[str, str, int]] = []  # kind, text, column from 0
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                self.fail(at, f"there is no {text[at]!r} in rules; operators are {' '.join(OPERATORS)}, and, or, for")
            kind = found.lastgroup or ""
            self.tokens.append((kind, found[kind], found.start(kind)))
            at = found.end()
        self.tokens.append(("end", "", end))
        self.at = 0
        self.depth = 0

    def fail(self, column: int, what: str) -> NoReturn:
        raise InputError(f"{self.place}: column {column + 1}: {what}\n  {self.text}\n  {' ' * column}^")

    def expected(self, what: str) -> NoReturn:
        _, text, column = self.tokens[self.at]
        self.fail(column, f"expected {what}, found {text!r}" if text else f"expected {what}, found the end")

    def take(self, *texts: str) -> bool:
        """Whether the next token is one of these, which is gone then."""
        if self.tokens[self.at][1] not in texts:
            return False
        self.at += 1
        return True

    def rule(self) -> Rule:
        condition = self.condition()
        seconds = None
        if self.take("for"):
            seconds = self.duration()
        if self.tokens[self.at][0] != "end":
            self.expected("and, or, for, or the end" if seconds is None else "the end")
        return Rule(self.text.strip(), condition, seconds)

    def condition(self) -> Condition:
        return self.joined("or", lambda: self.joined("and", self.one))

    def joined(self, word: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self.take(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def one(self) -> Condition:
        if not self.take("("):
            return self.comparison()
        self.depth += 1
        if self.depth > _DEEPEST:
            self.expected(f"at most {_DEEPEST} brackets in each other")
        inside = self.condition()
        if not self.take(")"):
            self.expected("and, or, or )")
        self.depth -= 1
        return inside

    def comparison(self) -> Comparison:
        metric = self.metric()
        sign = self.tokens[self.at][1]
        if not self.take(*OPERATORS):
            self.expected(f"one of {' '.join(OPERATORS)}")
        number_at = self.tokens[self.at][2]
        number = self.number(SUFFIXES[metric.unit], f"a number ({metric.name} is {metric.unit})")
        if metric.unit == RATIO and not 0 <= number <= 1:
            self.fail(number_at, f"{metric.name} is 0 to 1: it is never beyond {number:g}; 85 % is written 0.85 or 85%")
        if not math.isfinite(number) or number < 0:
            self.fail(number_at, f"{metric.name} is neither below 0 nor endless")
        return Comparison(metric.name, sign, number)

    def metric(self) -> Metric:
        kind, name, column = self.tokens[self.at]
        if kind != "word" or name in ("and", "or", "for"):
            self.expected("a metric or (")
        if name not in METRICS:
            near = difflib.get_close_matches(name, METRICS, 1)
            meant = f"; is {near[0]} meant?" if near else ""
            self.fail(column, f"there is no metric {name}{meant} Metrics: {', '.join(METRICS)}")
        self.at += 1
        return METRICS[name]

    def number(self, suffixes: dict[str, float], what: str) -> float:
        """With one of the suffixes, or none."""
        kind, text, _ = self.tokens[self.at]
        if kind != "number":
            self.expected(what)
        self.at += 1
        suffix = self.tokens[self.at][1]
        if suffix in suffixes:
            self.at += 1
            return float(text) * suffixes[suffix]
        if suffix and suffix not in ("and", "or", "for", ")"):
            after = f"{', '.join(suffixes)}, " if suffixes else ""
            self.expected(f"{after}and, or, for, or the end")
        return float(text)

    def duration(self) -> float:
        column = self.tokens[self.at][2]
        kind, text, _ = self.tokens[self.at]
        if kind != "number":
            self.expected("a time such as 60 s or 5 m")
        self.at += 1
        unit = self.tokens[self.at][1]
        if not self.take(*SECONDS):
            self.expected(f"one of {', '.join(SECONDS)}")
        seconds = float(text) * SECONDS[unit]
        if not 0 <= seconds <= 7 * 86400:
            self.fail(column, "a time is at most a week")
        return seconds


def parse(text: str, place: str = "alert rule") -> Rule:
    """The rule. Raises ``InputError`` that names the column and what is possible there."""
    if not isinstance(text, str):
        raise InputError(f"{place}: expected text such as 'hit_rate < 0.85 for 60s', found {type(text).__name__}")
    if len(text) > _MOST or not text.isprintable():
        raise InputError(f"{place}: expected one line of at most {_MOST} characters")
    return _Parser(text, place).rule()


def duration(given: object, name: str) -> float:
    """Seconds: a number of them, or text such as "60s". Raises ``InputError`` that names the argument."""
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        raise InputError(f"{name}: expected seconds or text such as '60s', found {given!r}")
    if isinstance(given, str):
        parser = _Parser(given, name)
        seconds = parser.duration()
        if parser.tokens[parser.at][0] != "end":
            parser.expected("the end")
        return seconds
    if not 0 <= given <= 7 * 86400:
        raise InputError(f"{name}: expected 0 seconds to a week, found {given!r}")
    return float(given)
