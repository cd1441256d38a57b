"""Sizes and numbers that are inputs of compiled functions, not constants of them."""

from __future__ import annotations

import operator
from typing import Any

from ._core import Mutable


def mutable(value: Any, name: str | None = None) -> Mutable:
    """An int, float, bool, or tuple of them, that is an input of jitted functions: another value compiles nothing.

    It works wherever the number does; arithmetic with ints keeps the expression, so that results stay bound to it.
    An int must fit 64 bits (``InputError``). ``name`` is what reports call it.
    """
    return Mutable(value, name)


_OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv}


def _symbolic(op: str, a: Any, b: Any) -> Any:
    if hasattr(a, "dim") or hasattr(b, "dim"):  # sizes of a program that is being made
        return _OPERATORS[op](a, b)
    x = a if isinstance(a, Mutable) else Mutable(operator.index(a))
    y = b if isinstance(b, Mutable) else operator.index(b)
    result = _OPERATORS[op](x, y)
    assert isinstance(result, Mutable)
    return result


def symbolic_add(a: Any, b: Any) -> Any:
    """``a + b`` of sizes, kept as an expression, for plain ints too."""
    return _symbolic("add", a, b)


def symbolic_sub(a: Any, b: Any) -> Any:
    """``a - b`` of sizes, kept as an expression, for plain ints too."""
    return _symbolic("sub", a, b)


def symbolic_mul(a: Any, b: Any) -> Any:
    """``a * b`` of sizes, kept as an expression, for plain ints too."""
    return _symbolic("mul", a, b)


def symbolic_floordiv(a: Any, b: Any) -> Any:
    """``a // b`` of sizes, kept as an expression, for plain ints too. ``ZeroDivisionError`` if ``b`` is 0."""
    return _symbolic("floordiv", a, b)


class Symbol:
    """A named size of an ``input_signature``: ``min <= size <= max`` and ``size % divisor == remainder``.

    The same Symbol, or one of the same name, at several axes says that they are equal; ``unique`` that no other axis shares it.
    """

    __slots__ = ("divisor", "max", "min", "name", "remainder", "unique")

    def __init__(
        self,
        name: str | None = None,
        max: int | None = None,
        min: int | None = None,
        divisor: int = 1,
        remainder: int = 0,
        unique: bool = False,
    ) -> None:
        if name is not None and (not isinstance(name, str) or not name.isidentifier()):
            raise ValueError(f"Symbol: expected a name like an identifier, found {name!r}")
        for what, value in (("max", max), ("min", min), ("divisor", divisor), ("remainder", remainder)):
            if value is None and what in ("max", "min"):
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"Symbol: {what} is an int, found {value!r}")
            if value < 0 or value >= 2**63:
                raise ValueError(f"Symbol: {what} is a size from 0 to 2**63 - 1, found {value}")
        if divisor < 1:
            raise ValueError(f"Symbol: divisor is at least 1, found {divisor}")
        if remainder >= divisor:
            raise ValueError(f"Symbol: remainder is below divisor {divisor}, found {remainder}")
        low = min or 0
        if max is not None:
            first = low + (remainder - low) % divisor
            if first > max:
                raise ValueError(f"Symbol: no size from min {low} to max {max} has size % {divisor} == {remainder}")
        self.name, self.max, self.min = name, max, min
        self.divisor, self.remainder, self.unique = divisor, remainder, bool(unique)

    def __repr__(self) -> str:
        fields = {"max": None, "min": None, "divisor": 1, "remainder": 0, "unique": False}
        parts = [repr(self.name)] * (self.name is not None)
        parts += [f"{k}={getattr(self, k)!r}" for k, plain in fields.items() if getattr(self, k) != plain]
        return f"Symbol({', '.join(parts)})"
