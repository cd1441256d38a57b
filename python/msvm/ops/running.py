"""What runs along an axis: the best and the sum up to each element, differences of neighbours."""

from __future__ import annotations

from typing import Any

from .._errors import InputError
from ..frontend.values import SymTensor, broadcast_to, emit, reshape, slice_view
from ._op import Op, op
from ._promote import floating, promoted
from ._shape import axis_of, clamp


def _best(name: str, operator: str, what: str) -> Op:
    def body(input: Any, axis: int) -> Any:
        (x,) = promoted(input)
        if x.ndim == 0:
            axis_of(axis, 1)
            values, at = emit(operator, [reshape(x, [1])], outputs=2, axis=0)
            return reshape(values, []), reshape(at, [])
        return emit(operator, [x], outputs=2, axis=axis_of(axis, x.ndim))

    return op(
        name=name,
        doc=f"""The {what} of the elements up to each one along an axis, and its position as int64: (values, indices).

    Of equal ones the last; NaN from the first one on. ``input``: any shape, numbers or bools; shape and dtype stay.
    """,
        static=("axis",),
    )(body)


cummax = _best("cummax", "msvm.CumMax", "greatest")
cummin = _best("cummin", "msvm.CumMin", "least")


@op(static=("axis",))
def logcumsumexp(input: Any, axis: int) -> Any:
    """Logarithm of the sum of exponentials of the elements up to each one along an axis, computed so that it doesn't overflow.

    ``input``: any shape; integers and bools become float32. The shape stays.
    """
    (x,) = floating(input)
    return x if x.ndim == 0 else emit("msvm.CumLogSumExp", [x], axis=axis_of(axis, x.ndim))


def _from(x: SymTensor, axis: int, start: Any, stop: Any) -> SymTensor:
    return slice_view(x, [axis], [start], [stop], [1])


@op(static=("n", "axis"))
def diff(input: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along an axis, ``n`` times over; of bools, whether they differ.

    ``input``: rank 1 or more. ``prepend``, ``append``: put before and behind it first; numbers, or tensors of its shape but for the axis.
    The axis becomes shorter by ``n``, to 0 at least.
    """
    parts = [p for p in (prepend, input, append) if p is not None]
    whole = promoted(*parts)
    x = whole[0 if prepend is None else 1]
    if x.ndim == 0:
        raise InputError("diff: expected rank 1 or more, found 0")
    if n < 0:
        raise InputError(f"diff: n is {n}; 0 or more is possible")
    axis = axis_of(axis, x.ndim)
    if len(whole) > 1:
        edge = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        x = emit("Concat", [broadcast_to(t, edge) if t.ndim == 0 else t for t in whole], axis=axis)
    for _ in range(n):
        size = x.shape[axis]
        one = clamp(size, 0, 1)  # an empty axis stays as it is
        x = emit("Xor" if x.dtype.kind == "b" else "Sub", [_from(x, axis, one, size), _from(x, axis, 0, size - one)])
    return x
