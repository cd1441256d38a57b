"""Sizes and axes that operators are given: checked, normalised, and computed with where they are known only at run time."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._errors import InputError
from ..frontend.build import current
from ..frontend.values import Symbolic, SymInt, SymTensor, as_tensor, dim_of, integer, maximum, minimum, read, require, select

MAX_RANK = 8

_PLAIN: dict[str, Any] = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


def is_size(v: Any) -> bool:
    """Whether it is an integer: plain, numpy's, symbolic, or one with ``__index__`` that isn't an array."""
    if isinstance(v, (bool, np.bool_)):
        return False
    return isinstance(v, (int, SymInt, np.integer)) or (hasattr(v, "__index__") and not isinstance(v, Symbolic) and not hasattr(v, "shape"))


def as_size(v: Any, what: str) -> Any:
    """An int or SymInt; a tensor of rank 0 is read.

    Errors: InputError for anything else.
    """
    if isinstance(v, SymInt):
        return v
    if isinstance(v, (SymTensor, np.ndarray)) or hasattr(v, "asnumpy"):
        t = as_tensor(v)
        if t.dtype.kind not in "iu" or t.ndim != 0:
            raise InputError(f"{what}: expected an integer, found {t!r}")
        return read(t)
    if isinstance(v, int) and not isinstance(v, bool):
        return v
    if is_size(v):
        return v.__index__()
    raise InputError(f"{what}: expected an integer, found {type(v).__name__} {v!r}")


def as_sizes(values: Any, what: str) -> tuple[Any, ...]:
    """A tuple of sizes from one size, or a sequence, or a tensor of rank 1 whose length is known."""
    if isinstance(values, (SymTensor, np.ndarray)) or hasattr(values, "asnumpy"):
        t = as_tensor(values)
        if t.ndim == 0:
            return (as_size(t, what),)
        if t.ndim != 1 or not isinstance(t.shape[0], int) or t.dtype.kind not in "iu":
            raise InputError(f"{what}: expected integers of rank 1 in a tensor of known length, found {t!r}")
        return tuple(read(t, i) for i in range(t.shape[0]))
    if isinstance(values, Iterable):
        return tuple(as_size(v, what) for v in values)
    return (as_size(values, what),)


def axis_of(axis: Any, rank: int, what: str = "axis") -> int:
    """0 <= axis < rank. Errors: InputError where -rank <= axis < rank doesn't hold."""
    if isinstance(axis, bool) or not is_size(axis) or isinstance(axis, SymInt):
        raise InputError(f"{what}: expected an int that is known before the program runs, found {axis!r}")
    axis = axis.__index__()
    if not -rank <= axis < rank:
        raise InputError(f"{what} is {axis}, but the tensor has rank {rank}")
    return int(axis % rank)


def axes_of(axes: Any, rank: int, what: str = "axis") -> tuple[int, ...]:
    """Axes of a tensor, in the order given; None means all. Errors: InputError for those that don't exist or come twice."""
    if axes is None:
        return tuple(range(rank))
    found = tuple(axis_of(a, rank, what) for a in (axes if isinstance(axes, Iterable) else (axes,)))
    if len(set(found)) != len(found):
        raise InputError(f"{what} {axes} names one axis twice")
    return found


def known(op: str, a: Any, b: Any) -> bool:
    """Whether the comparison is sure to hold, whatever sizes come."""
    if type(a) is int and type(b) is int:
        return _PLAIN[op](a, b)  # type: ignore[no-any-return]
    return current().core.compare_known(op, dim_of(a), dim_of(b)) is True


def product(sizes: Iterable[Any]) -> Any:
    """The number of elements; 1 of nothing."""
    n: Any = 1
    for d in sizes:
        n = n * d
    return n


def same(a: Any, b: Any) -> bool:
    """Whether two sizes are equal, whatever sizes come."""
    return a is b or known("eq", a, b)


def same_shape(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two shapes are equal, whatever sizes come."""
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))


def quotient(all_sizes: Sequence[Any], others: Sequence[Any]) -> Any:
    """The size that -1 stands for. What occurs on both sides is cancelled before anything is multiplied, so that a 0 among it does no
    harm; where one divides by a size that may be 0, the result is 0 then. That it divides is checked where the view is made.
    """
    rest = [dim_of(d) for d in all_sizes]
    left = []
    for d in map(dim_of, others):
        if d in rest:
            rest.remove(d)
        else:
            left.append(d)
    top, bottom = product(map(integer, rest)), product(map(integer, left))
    if isinstance(bottom, int) and bottom == 0:
        raise InputError("-1 can't be told where another size is 0")
    if known("le", bottom, 0) or not known("gt", bottom, 0):
        bottom = maximum(bottom, 1)
    return top // bottom


def resolve_shape(shape: Sequence[Any], target: Sequence[Any]) -> tuple[Any, ...]:
    """The target with its one -1 replaced. Errors: InputError for two of them and for other negative sizes."""
    if len(target) > MAX_RANK:
        raise InputError(f"rank {len(target)}: at most {MAX_RANK} is possible")
    open_axes = [i for i, d in enumerate(target) if isinstance(d, int) and d == -1]
    if len(open_axes) > 1:
        raise InputError("two sizes are -1")
    for d in target:
        if isinstance(d, int) and d < -1:
            raise InputError(f"a size is {d}")
    out = list(target)
    for i in open_axes:
        out[i] = quotient(shape, [d for k, d in enumerate(target) if k != i])
    if all(isinstance(d, int) for d in (*shape, *out)) and product(shape) != product(out):
        raise InputError(f"a tensor of shape {tuple(shape)} can't have the shape {tuple(target)}")
    return tuple(out)


def broadcast_size(a: Any, b: Any) -> Any:
    """The size of an axis where ``a`` meets ``b``. Errors: InputError where neither is 1 and they are known to differ."""
    if same(a, b) or same(b, 1):
        return a
    if same(a, 1):
        return b
    if isinstance(a, int) and isinstance(b, int):
        raise InputError(f"sizes {a} and {b} don't broadcast")
    if known("gt", a, 1) or known("gt", b, 1):
        return a if known("gt", a, 1) else b
    return select(a == 1, b, a)


def broadcast_shape(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    """The shape in which the given ones meet, by numpy's rules."""
    rank = max((len(s) for s in shapes), default=0)
    out: list[Any] = [1] * rank
    for s in shapes:
        for k, d in enumerate(s):
            at = rank - len(s) + k
            out[at] = broadcast_size(out[at], d)
    return tuple(out)


def pair(v: Any, n: int, what: str) -> list[int]:
    """One int for each of ``n`` spatial axes, from one for all or a sequence. Errors: InputError for another number or type."""
    values = list(v) if isinstance(v, Iterable) else [v] * n
    if len(values) != n or any(isinstance(x, (SymInt, bool)) or not is_size(x) for x in values):
        raise InputError(f"{what}: expected an int or {n} ints that are known before the program runs, found {v!r}")
    return [x.__index__() for x in values]


def check(condition: Any, message: str) -> None:
    """An InputError now where the condition is known not to hold, else when the program runs."""
    if condition is not True:
        require(condition, message)


def clamp(v: Any, low: Any, high: Any) -> Any:
    """``v`` limited to ``low``..``high``, with as little arithmetic as is provable."""
    if not known("ge", v, low):
        v = maximum(v, low)
    return v if known("le", v, high) else minimum(v, high)
