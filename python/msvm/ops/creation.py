"""Tensors from sizes and values. Sizes may be known only when the program runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from .._errors import InputError
from ..frontend import values as v
from ..frontend.build import current
from ..frontend.values import F32, F64, I64, SymTensor, as_tensor, emit
from ._op import op
from ._promote import as_dtype, promoted, result_dtype, tensor
from ._shape import as_size, as_sizes, check, is_size

FAR = 1 << 62
"""Beyond any diagonal."""


def filled(shape: Any, value: Any, dtype: _core.DType) -> SymTensor:
    """A tensor of one repeated value: a Python number, or a tensor of rank 0."""
    sizes = as_sizes(shape, "size")
    for d in sizes:
        if isinstance(d, int) and d < 0:
            raise InputError(f"a size is {d}")
    if isinstance(value, (int, float)) and dtype.kind != "s" and not (dtype.kind in "iu" and isinstance(value, float)):
        if dtype.kind in "iu":
            limits = np.iinfo(dtype.numpy)
            if not limits.min <= value <= limits.max:
                raise InputError(f"{value} doesn't fit dtype {dtype.name}")
        if dtype.kind == "b":
            value = int(bool(value))
        if -(1 << 63) <= value < (1 << 63) or isinstance(value, float):
            return emit("msvm.Fill", [], sizes, dtype=dtype, value=value)
    return v.broadcast_to(tensor(value, dtype), sizes)


@op(sizes=("size",), static=("dtype",))
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """A tensor of one repeated value; without ``dtype``, that of the value (ints int64, floats float32)."""
    return filled(size, fill_value, result_dtype(fill_value) if dtype is None else as_dtype(dtype))


def _sizes_of(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 else size


@op(sizes=("size",), static=("dtype",))
def zeros(*size: Any, dtype: Any = None) -> Any:
    """A tensor of zeros, float32 unless ``dtype`` is given."""
    return filled(_sizes_of(_without_dtype(size)[0]), 0, as_dtype(_without_dtype(size)[1] or dtype or F32))


@op(sizes=("size",), static=("dtype",))
def ones(*size: Any, dtype: Any = None) -> Any:
    """A tensor of ones, float32 unless ``dtype`` is given."""
    return filled(_sizes_of(_without_dtype(size)[0]), 1, as_dtype(_without_dtype(size)[1] or dtype or F32))


def _without_dtype(size: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """MindSpore takes the dtype as second positional argument too."""
    return (size[:-1], size[-1]) if len(size) > 1 and (isinstance(size[-1], _core.DType) or size[-1] is None) else (size, None)


@op(sizes=("size",), static=("dtype",))
def empty(*size: Any, dtype: Any = None) -> Any:
    """A tensor whose values aren't meant to be read; zeros here. float32 unless ``dtype`` is given."""
    return filled(_sizes_of(size), 0, as_dtype(dtype or F32))


@op(static=("dtype",))
def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """A tensor of one repeated value in the shape, and unless given the dtype, of ``input``."""
    x = as_tensor(input)
    return filled(x.shape, fill_value, x.dtype if dtype is None else as_dtype(dtype))


@op(static=("dtype",))
def zeros_like(input: Any, *, dtype: Any = None) -> Any:
    """Zeros in the shape, and unless given the dtype, of ``input``."""
    x = as_tensor(input)
    return filled(x.shape, 0, x.dtype if dtype is None else as_dtype(dtype))


@op(static=("dtype",))
def ones_like(input: Any, *, dtype: Any = None) -> Any:
    """Ones in the shape, and unless given the dtype, of ``input``."""
    x = as_tensor(input)
    return filled(x.shape, 1, x.dtype if dtype is None else as_dtype(dtype))


@op(sizes=("start", "end"), static=("step", "dtype"))
def _arange_sizes(start: Any, end: Any, step: Any, dtype: Any) -> Any:
    if isinstance(step, int) and step == 0:
        raise InputError("arange: the step is 0")
    if isinstance(step, int):
        distance, size = (end - start, step) if step > 0 else (start - end, -step)
        count = v.maximum(v.integer(current().core.calc("ceildiv", v.dim_of(distance), v.dim_of(size))), 0)
    else:
        check(step != 0, "arange: the step is 0")
        count = v.maximum(-((start - end) // step), 0)
    return emit("msvm.Iota", [], [start, count, step], dtype=as_dtype(dtype))


@op(static=("dtype",))
def _arange_values(start: Any, end: Any, step: Any, dtype: Any) -> Any:
    operands = (start, end, step)
    if all(isinstance(x, (int, float)) for x in operands):
        if step == 0:
            raise InputError("arange: the step is 0")
        to = F32 if dtype is None else as_dtype(dtype)
        count = max(math.ceil((end - start) / step), 0)
        if all(isinstance(x, int) or x.is_integer() for x in operands):
            return emit("msvm.Iota", [], [int(start), count, int(step)], dtype=to)
        places = emit("msvm.Iota", [], [0, count, 1], dtype=F64)
        steps = emit("Mul", [places, tensor(float(step), F64)])
        return tensor(emit("Add", [steps, tensor(float(start), F64)]), to)
    wanted = result_dtype(*operands) if dtype is None else as_dtype(dtype)
    wide = F64 if wanted.kind == "f" else I64
    return tensor(emit("Range", [tensor(x, wide) for x in operands]), wanted)


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    """start, start + step, ... up to but without end; from 0 where one bound is given.

    int64 of integers, else float32, unless ``dtype`` is given.

    Bounds may be ints, floats, values known only when the program runs, or tensors of rank 0. ONNX ``Range``. Errors: a step of 0.
    """
    if end is None:
        start, end = 0, start
    if all(is_size(x) for x in (start, end, step)):
        return _arange_sizes(start, end, step, I64 if dtype is None else dtype)
    return _arange_values(start, end, step, dtype)


@op
def range_of(start: Any, limit: Any, delta: Any) -> Any:
    """start, start + delta, ... up to but without limit, of tensors of rank 0 and one dtype. ONNX ``Range``. Errors: a delta of 0."""
    return emit("Range", promoted(start, limit, delta))


@op(sizes=("steps",), static=("dtype",))
def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Any:
    """``steps`` values evenly spaced from start to end, both included; float32 unless ``dtype`` is given."""
    count = as_size(steps, "steps")
    if isinstance(count, int) and count < 0:
        raise InputError(f"linspace: steps is {count}")
    to = F32 if dtype is None else as_dtype(dtype)
    first, last = tensor(start, F64), tensor(end, F64)
    places = emit("msvm.Iota", [], [0, count, 1], dtype=F64)
    gaps = tensor(v.maximum(count - 1, 1), F64)
    values = emit("Add", [first, emit("Mul", [places, emit("Div", [emit("Sub", [last, first]), gaps])])])
    at_end = emit("And", [emit("Equal", [places, gaps]), emit("Greater", [gaps, tensor(0.0, F64)])])
    return tensor(emit("Where", [at_end, last, values]), to)


@op(sizes=("steps",), static=("dtype", "base"))
def logspace(start: Any, end: Any, steps: Any, base: float = 10.0, *, dtype: Any = None) -> Any:
    """base to the power of ``steps`` values evenly spaced from start to end; float32 unless ``dtype`` is given."""
    exponents = linspace(start, end, steps, dtype=F64)
    return tensor(emit("Pow", [tensor(float(base), F64), exponents]), F32 if dtype is None else as_dtype(dtype))


@op(sizes=("n", "m"), static=("dtype", "k"))
def eye(n: Any, m: Any = None, *, dtype: Any = None, k: int = 0) -> Any:
    """A matrix of n rows and m columns (n if None) with ones on a diagonal, ``k`` above the main one.

    float32 unless ``dtype`` is given. ONNX ``EyeLike``.
    """
    rows = as_size(n, "n")
    shape = filled([rows, rows if m is None else as_size(m, "m")], 0, F32 if dtype is None else as_dtype(dtype))
    return emit("EyeLike", [shape], k=max(min(k, FAR), -FAR))


@op(static=("dtype", "k"))
def eye_like(input: Any, *, dtype: Any = None, k: int = 0) -> Any:
    """Ones on a diagonal and zeros elsewhere in the shape of a matrix. ONNX ``EyeLike``."""
    return emit("EyeLike", [as_tensor(input)], dtype=None if dtype is None else as_dtype(dtype), k=k)


@op(static=("dtype",))
def as_array(obj: Any, dtype: Any = None) -> Any:
    """A number, nested list, array or tensor as a tensor; cast if ``dtype`` is given."""
    return as_tensor(obj) if dtype is None else tensor(obj, as_dtype(dtype))


@op(static=("indexing",))
def meshgrid(*inputs: Any, indexing: str = "xy") -> Any:
    """Vectors as coordinates of a grid: one tensor for each, of the grid's shape; "xy" exchanges the first two axes. A tuple.

    Errors: InputError unless all have rank 0 or 1.
    """
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    if indexing not in ("xy", "ij"):
        raise InputError(f"meshgrid: indexing is 'xy' or 'ij', found {indexing!r}")
    found = []
    for x in inputs:
        t = as_tensor(x)
        if t.ndim > 1:
            raise InputError(f"meshgrid: expected rank 0 or 1, found {t.ndim}")
        found.append(v.reshape(t, [1]) if t.ndim == 0 else t)
    n = len(found)
    places = list(range(n))
    if indexing == "xy" and n >= 2:
        places[:2] = [1, 0]
    shape: list[Any] = [1] * n
    for t, place in zip(found, places, strict=True):
        shape[place] = t.shape[0]
    return tuple(v.broadcast_to(v.unsqueeze(t, [k for k in range(n) if k != place]), shape) for t, place in zip(found, places, strict=True))


def _window(name: str, operator: str, what: str) -> Any:
    def body(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Any:
        return emit(
            operator,
            [],
            [as_size(window_length, "window_length")],
            periodic=int(periodic),
            output_datatype=F32 if dtype is None else as_dtype(dtype),
        )

    return op(
        name=name,
        doc=f"{what} Rank 1; N is the length, or without ``periodic`` the length - 1; float32 unless ``dtype`` is given. "
        f"ONNX ``{operator}``.",
        sizes=("window_length",),
        static=("periodic", "dtype"),
    )(body)


hann_window = _window("hann_window", "HannWindow", "Hann's window: 0.5 - 0.5 cos(2 pi n / N).")
hamming_window = _window("hamming_window", "HammingWindow", "Hamming's window: 25/46 - 21/46 cos(2 pi n / N).")
blackman_window = _window("blackman_window", "BlackmanWindow", "Blackman's window: 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).")
