"""Reductions: over all axes (``axis=None``), one, or several; reduced axes go, or stay with size 1 (``keepdims``).

``dim`` is another name of ``axis``, ``keepdim`` and ``keep_dims`` are others of ``keepdims``.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .. import _core
from .._errors import InputError
from ..frontend.values import DTYPE, I64, SymTensor, emit, reshape
from . import elementwise as e
from ._op import Op, op
from ._promote import as_dtype, floating, promoted, tensor
from ._shape import axes_of, axis_of, product

UINT8, UINT64 = DTYPE["uint8"], DTYPE["uint64"]
STATIC = ("axis", "keepdims", "dtype", "dim", "keepdim", "keep_dims")


def _axis(axis: Any, dim: Any) -> Any:
    if axis is not None and dim is not None:
        raise InputError("axis and dim are two names of one parameter; give one")
    axis = dim if axis is None else axis
    return None if isinstance(axis, (tuple, list)) and len(axis) == 0 else axis


def _keep(*flags: Any) -> bool:
    return builtins.any(flags)


def _reduce(operator: str, x: SymTensor, axes: tuple[int, ...], keepdims: bool) -> SymTensor:
    return x if x.ndim == 0 else emit(operator, [x], axes=list(axes), keepdims=int(keepdims))


def _sum_dtype(d: _core.DType) -> _core.DType:
    return d if d.kind == "f" else UINT64 if d.kind == "u" else I64


def _sum_like(name: str, operator: str, what: str, nothing: int) -> Op:
    def body(
        input: Any,
        axis: Any = None,
        keepdims: bool = False,
        *,
        dtype: Any = None,
        dim: Any = None,
        keepdim: bool = False,
        keep_dims: bool = False,
    ) -> Any:
        (x,) = promoted(input)
        x = tensor(x, _sum_dtype(x.dtype) if dtype is None else as_dtype(dtype))
        if x.dtype.kind == "b":
            return _reduce(
                "ReduceMax" if operator == "ReduceSum" else "ReduceMin",
                x,
                axes_of(_axis(axis, dim), x.ndim),
                _keep(keepdims, keepdim, keep_dims),
            )
        return _reduce(operator, x, axes_of(_axis(axis, dim), x.ndim), _keep(keepdims, keepdim, keep_dims))

    return op(
        name=name,
        doc=f"""{what} over axes; {nothing} of nothing. Signed integers and bools become int64, unsigned ones uint64, unless
    ``dtype`` is given.

    ``input``: any shape, numbers. ``axis``: int, several, or None for all. ONNX ``{operator}``.
    """,
        static=STATIC,
    )(body)


sum = _sum_like("sum", "ReduceSum", "Sum", 0)
prod = _sum_like("prod", "ReduceProd", "Product", 1)


def _float_reduction(name: str, operator: str, what: str) -> Op:
    def body(
        input: Any,
        axis: Any = None,
        keepdims: bool = False,
        *,
        dtype: Any = None,
        dim: Any = None,
        keepdim: bool = False,
        keep_dims: bool = False,
    ) -> Any:
        (x,) = floating(input)
        if dtype is not None:
            x = tensor(x, as_dtype(dtype))
        axes = axes_of(_axis(axis, dim), x.ndim)
        if x.ndim == 0:
            return reshape(emit(operator, [reshape(x, [1])], axes=[0], keepdims=0), [])
        return _reduce(operator, x, axes, _keep(keepdims, keepdim, keep_dims))

    return op(
        name=name,
        doc=f"""{what}

    ``input``: any shape; integers and bools become float32. ``axis``: int, several, or None for all. ONNX ``{operator}``.
    """,
        static=STATIC,
    )(body)


mean = _float_reduction("mean", "ReduceMean", "Mean over axes; NaN of nothing.")
logsumexp = _float_reduction(
    "logsumexp", "ReduceLogSumExp", "Logarithm of the sum of exponentials over axes, computed so that it doesn't overflow."
)
reduce_log_sum = _float_reduction("reduce_log_sum", "ReduceLogSum", "Logarithm of the sum over axes.")
reduce_sum_square = _float_reduction("reduce_sum_square", "ReduceSumSquare", "Sum of squares over axes.")
reduce_l1 = _float_reduction("reduce_l1", "ReduceL1", "Sum of the absolute values over axes.")
reduce_l2 = _float_reduction("reduce_l2", "ReduceL2", "Square root of the sum of squares over axes.")


def _extreme(name: str, operator: str, what: str) -> Op:
    def body(
        input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
    ) -> Any:
        (x,) = promoted(input)
        return _reduce(operator, x, axes_of(_axis(axis, dim), x.ndim), _keep(keepdims, keepdim, keep_dims))

    return op(
        name=name,
        doc=f"""{what} over axes; NaN if one is NaN. Of nothing: the infinity or the dtype's limit at the other end.

    ``input``: any shape, numbers or bools; the dtype stays. ``axis``: int, several, or None for all. ONNX ``{operator}``.
    """,
        static=STATIC,
    )(body)


amax = _extreme("amax", "ReduceMax", "The greatest element")
amin = _extreme("amin", "ReduceMin", "The least element")


def _argument(name: str, operator: str, what: str) -> Op:
    def body(
        input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
    ) -> Any:
        (x,) = promoted(input)
        keep = _keep(keepdims, keepdim, keep_dims)
        axis = _axis(axis, dim)
        if x.dtype.kind == "b":
            x = tensor(x, UINT8)
        if axis is None or x.ndim == 0:
            if axis is not None:
                axis_of(axis, 1)
            flat = reshape(x, [product(x.shape)])
            found = _arg(operator, flat, 0, False)
            return reshape(found, [1] * x.ndim) if keep else found
        return _arg(operator, x, axis_of(axis, x.ndim), keep)

    return op(
        name=name,
        doc=f"""Position of the {what} element along an axis (of the flattened tensor if None), as int64; of equal ones the first,
    NaN before all.

    ``input``: any shape, numbers. ONNX ``{operator}``. Errors: an empty axis, when it runs.
    """,
        static=STATIC,
    )(body)


def _arg(operator: str, x: SymTensor, axis: int, keep: bool) -> SymTensor:
    return emit(operator, [x], axis=axis, keepdims=int(keep))


argmax = _argument("argmax", "ArgMax", "greatest")
argmin = _argument("argmin", "ArgMin", "least")


@op(static=STATIC)
def max(input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False) -> Any:
    """The greatest elements along an axis (of all if None), and their positions as int64: (values, indices), as in MindSpore.

    ``amax`` gives values only.

    ``input``: any shape, numbers. ONNX ``ReduceMax``, ``ArgMax``. Errors: an empty axis, when it runs.
    """
    return _values_and_positions("ReduceMax", argmax, input, _axis(axis, dim), _keep(keepdims, keepdim, keep_dims))


@op(static=STATIC)
def min(input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False) -> Any:
    """The least elements along an axis (of all if None), and their positions as int64: (values, indices), as in MindSpore.

    ``amin`` gives values only.

    ``input``: any shape, numbers. ONNX ``ReduceMin``, ``ArgMin``. Errors: an empty axis, when it runs.
    """
    return _values_and_positions("ReduceMin", argmin, input, _axis(axis, dim), _keep(keepdims, keepdim, keep_dims))


def _values_and_positions(operator: str, position: Any, input: Any, axis: Any, keep: bool) -> tuple[Any, Any]:
    (x,) = promoted(input)
    axes = axes_of(None if axis is None else axis_of(axis, x.ndim or 1), x.ndim) if x.ndim else ()
    return _reduce(operator, x, axes, keep), position(x, axis, keep)


def _truth_reduction(name: str, operator: str, what: str, nothing: str) -> Op:
    def body(
        input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
    ) -> Any:
        x = e.truth(input)
        return _reduce(operator, x, axes_of(_axis(axis, dim), x.ndim), _keep(keepdims, keepdim, keep_dims))

    return op(
        name=name,
        doc=f"""Whether {what} over axes isn't zero or false; {nothing} of nothing. The result is bool.

    ``input``: any shape. ``axis``: int, several, or None for all. ONNX ``{operator}`` of bools.
    """,
        static=STATIC,
    )(body)


all = _truth_reduction("all", "ReduceMin", "every element", "true")
any = _truth_reduction("any", "ReduceMax", "some element", "false")


def _variance(input: Any, axis: Any, ddof: Any, keep: bool) -> tuple[SymTensor, SymTensor]:
    (x,) = floating(input)
    axes = axes_of(axis, x.ndim)
    centre = _reduce("ReduceMean", x, axes, True)
    difference = emit("Sub", [x, centre])
    squares = _reduce("ReduceSum", emit("Mul", [difference, difference]), axes, keep)
    count = product(x.shape[a] for a in axes)
    freedom = tensor(float(count - ddof), x.dtype) if isinstance(count, int) else tensor(count - ddof, x.dtype)
    freedom = emit("Max", [freedom, tensor(0.0, x.dtype)])
    if not keep:
        centre = _reduce("ReduceMean", x, axes, False)
    return emit("Div", [squares, freedom]), centre


def _ddof(ddof: float, correction: float | None, unbiased: bool | None) -> float:
    if correction is not None:
        return correction
    return ddof if unbiased is None else int(unbiased)


VARIANCE = (*STATIC, "ddof", "correction", "unbiased")


@op(static=VARIANCE)
def var(
    input: Any,
    axis: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Any:
    """Variance over axes: the sum of squared distances from the mean, over n - ddof. ``correction`` is another name of ``ddof``.

    ``input``: any shape; integers become float32. ``axis``: int, several, or None for all.
    """
    return _variance(input, _axis(axis, dim), _ddof(ddof, correction, None), _keep(keepdims, keepdim, keep_dims))[0]


@op(static=VARIANCE)
def std(
    input: Any,
    axis: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Any:
    """Square root of ``var``, whose parameters it has."""
    return emit("Sqrt", [_variance(input, _axis(axis, dim), _ddof(ddof, correction, None), _keep(keepdims, keepdim, keep_dims))[0]])


@op(static=VARIANCE)
def var_mean(input: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Variance and mean over axes; the parameters are those of ``var``."""
    return _variance(input, axis, ddof, keepdims)


@op(static=VARIANCE)
def std_mean(input: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Standard deviation and mean over axes; the parameters are those of ``var``."""
    variance, centre = _variance(input, axis, ddof, keepdims)
    return emit("Sqrt", [variance]), centre


@op(static=STATIC)
def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None, dim: Any = None, keep_dims: bool = False
) -> Any:
    """Number of elements over axes that aren't zero or false, as int64 unless ``dtype`` is given. Any shape."""
    x = tensor(e.truth(input), I64 if dtype is None else as_dtype(dtype))
    return _reduce("ReduceSum", x, axes_of(_axis(axis, dim), x.ndim), _keep(keepdims, keep_dims))


@op(static=("ord", *STATIC))
def norm(
    input: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """Norm of vectors, along an axis (of all elements if None): 2 unless ``ord`` says 1, 0, inf, -inf or another p; "fro" over two axes.

    ``input``: any shape; integers become float32. ONNX ``ReduceL1``, ``ReduceL2``.
    Errors: InputError for another ``ord``; the matrix norms other than "fro" aren't there.
    """
    (x,) = floating(input)
    if dtype is not None:
        x = tensor(x, as_dtype(dtype))
    axis = _axis(axis, dim)
    axes = axes_of(axis, x.ndim)
    keep = _keep(keepdim, keepdims)
    if ord in (None, 2, "fro"):
        return _reduce("ReduceL2", x, axes, keep) if x.ndim else emit("Abs", [x])
    if not isinstance(ord, (int, float)):
        raise InputError(f"norm: ord is a number, inf, -inf or 'fro', found {ord!r}")
    if axis is not None and len(axes) == 2:
        raise InputError("norm: matrix norms other than 'fro' aren't there; reshape for a norm of vectors")
    size = emit("Abs", [x])
    if ord == np.inf:
        return _reduce("ReduceMax", size, axes, keep)
    if ord == -np.inf:
        return _reduce("ReduceMin", size, axes, keep)
    if ord == 1:
        return _reduce("ReduceSum", size, axes, keep)
    if ord == 0:
        return _reduce("ReduceSum", tensor(e.truth(x), x.dtype), axes, keep)
    total = _reduce("ReduceSum", emit("Pow", [size, tensor(float(ord), x.dtype)]), axes, keep)
    return emit("Pow", [total, tensor(1.0 / ord, x.dtype)])


reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min = sum, mean, prod, amax, amin
reduce_all, reduce_any, reduce_logsumexp = all, any, logsumexp
