"""Functions whose arguments or results the standard has otherwise than ``msvm.ops``."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from .. import _core, ops
from .._errors import InputError
from ..frontend.values import Symbolic, SymTensor, building
from ._dtypes import bool as bool_
from ._dtypes import float32, int64

DEVICE = "cpu"


def _device(device: Any) -> None:
    if device not in (None, DEVICE):
        raise InputError(f"there is one device, {DEVICE!r}; found {device!r}")


def _shape(shape: Any) -> tuple[Any, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def _is_tensor(x: Any) -> builtins.bool:
    return isinstance(x, (_core.Tensor, SymTensor))


# --- creation ------------------------------------------------------------------------------------------------------------


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: builtins.bool | None = None) -> Any:
    """A tensor from numbers, nested sequences, arrays or tensors; Python floats become float32, ints int64.

    ``copy``: True always copies; False never does, and is an error where that can't be.
    """
    _device(device)
    if building():
        return ops.as_array(obj, dtype)
    if copy is False and not (_is_tensor(obj) or isinstance(obj, np.ndarray)):
        raise ValueError("asarray: a tensor can't be made of this without a copy")
    if not _is_tensor(obj) and not isinstance(obj, np.ndarray):
        return _core.Tensor(obj) if dtype is None else _core.Tensor(obj, _dtype(dtype))
    t = obj if _is_tensor(obj) else _core.Tensor(obj)
    if dtype is not None and t.dtype is not _dtype(dtype):
        if copy is False:
            raise ValueError(f"asarray: {t.dtype.name} can't become {_dtype(dtype).name} without a copy")
        return ops.cast(t, dtype)
    return ops.deepcopy(t) if copy else t


def _dtype(dtype: Any) -> _core.DType:
    from ..ops._promote import as_dtype

    return as_dtype(dtype)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """start, start + step, ... up to but without stop."""
    _device(device)
    return ops.arange(start, stop, step, dtype=dtype)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor whose values aren't meant to be read."""
    return zeros(shape, dtype=dtype, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor in the shape and dtype of another, whose values aren't meant to be read."""
    return zeros_like(x, dtype=dtype, device=device)


def eye(n_rows: Any, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Any:
    """Ones on a diagonal and zeros elsewhere."""
    _device(device)
    return ops.eye(n_rows, n_cols, dtype=dtype, k=k)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of one repeated value."""
    _device(device)
    return ops.full(_shape(shape), fill_value, dtype=dtype)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of one repeated value in the shape and dtype of another."""
    _device(device)
    return ops.full_like(x, fill_value, dtype=dtype)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros, float32 unless ``dtype`` is given."""
    _device(device)
    return ops.full(_shape(shape), 0, dtype=dtype or float32)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones, float32 unless ``dtype`` is given."""
    _device(device)
    return ops.full(_shape(shape), 1, dtype=dtype or float32)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros in the shape and dtype of another tensor."""
    _device(device)
    return ops.zeros_like(x, dtype=dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones in the shape and dtype of another tensor."""
    _device(device)
    return ops.ones_like(x, dtype=dtype)


def linspace(start: Any, stop: Any, /, num: Any, *, dtype: Any = None, device: Any = None, endpoint: builtins.bool = True) -> Any:
    """Evenly spaced values from start to stop, which is one of them with ``endpoint``."""
    _device(device)
    if endpoint:
        return ops.linspace(start, stop, num, dtype=dtype)
    return ops.getitem(ops.linspace(start, stop, num + 1, dtype=dtype), slice(0, num))


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """Vectors as coordinates of a grid."""
    return list(ops.meshgrid(*arrays, indexing=indexing)) if arrays else []


def tril(x: Any, /, *, k: Any = 0) -> Any:
    """The lower triangle of each matrix."""
    return ops.tril(x, k)


def triu(x: Any, /, *, k: Any = 0) -> Any:
    """The upper triangle of each matrix."""
    return ops.triu(x, k)


def from_dlpack(x: Any, /, *, device: Any = None, copy: builtins.bool | None = None) -> Any:
    """A tensor from one of another library, without a copy where possible."""
    if device not in (None, DEVICE, (1, 0)):
        raise InputError(f"there is one device, {DEVICE!r}; found {device!r}")
    return _core.from_dlpack(x, copy=copy)


def astype(x: Any, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Any:
    """The tensor cast to a dtype."""
    _device(device)
    if x.dtype is _dtype(dtype):
        return ops.deepcopy(x) if copy and not isinstance(x, Symbolic) else x
    return ops.cast(x, dtype)


# --- reductions ----------------------------------------------------------------------------------------------------------


def _reduced(function: Any, x: Any, axis: Any, keepdims: builtins.bool, **more: Any) -> Any:
    if isinstance(axis, tuple) and not axis:  # no axes: each element by itself
        return function(ops.expand_dims(x, 0), 0, **more)
    return function(x, axis, keepdims=keepdims, **more)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False) -> Any:
    """Sum over axes; integers become int64 or uint64 unless ``dtype`` is given."""
    return _reduced(ops.sum, x, axis, keepdims, dtype=dtype)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False) -> Any:
    """Product over axes; integers become int64 or uint64 unless ``dtype`` is given."""
    return _reduced(ops.prod, x, axis, keepdims, dtype=dtype)


def mean(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """Mean over axes."""
    return _reduced(ops.mean, x, axis, keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """The greatest element over axes."""
    return _reduced(ops.amax, x, axis, keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """The least element over axes."""
    return _reduced(ops.amin, x, axis, keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Any:
    """Variance over axes, divided by n - correction."""
    return _reduced(ops.var, x, axis, keepdims, correction=correction)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Any:
    """Square root of ``var``."""
    return _reduced(ops.std, x, axis, keepdims, correction=correction)


def all(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """Whether every element over axes isn't zero."""
    return _reduced(ops.all, x, axis, keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """Whether some element over axes isn't zero."""
    return _reduced(ops.any, x, axis, keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """How many elements over axes aren't zero."""
    return _reduced(ops.count_nonzero, x, axis, keepdims)


def argmax(x: Any, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Any:
    """Position of the greatest element."""
    return ops.argmax(x, axis, keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Any:
    """Position of the least element."""
    return ops.argmin(x, axis, keepdims)


def _cumulative(function: Any, x: Any, axis: int | None, dtype: Any, include_initial: builtins.bool, initial: int) -> Any:
    if axis is None:
        if x.ndim != 1:
            raise InputError(f"axis must be given for rank {x.ndim}")
        axis = 0
    y = function(x, axis, dtype)
    if include_initial:
        shape = list(x.shape)
        shape[axis] = 1
        y = ops.cat([ops.full(tuple(shape), initial, dtype=y.dtype), y], axis)
    return y


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False) -> Any:
    """Sum of the elements up to each one along an axis; with ``include_initial`` a 0 first."""
    return _cumulative(ops.cumsum, x, axis, dtype, include_initial, 0)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False) -> Any:
    """Product of the elements up to each one along an axis; with ``include_initial`` a 1 first."""
    return _cumulative(ops.cumprod, x, axis, dtype, include_initial, 1)


# --- manipulation --------------------------------------------------------------------------------------------------------


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """The tensors broadcast to each other."""
    return list(ops.broadcast_tensors(*arrays))


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """The tensor broadcast to a shape."""
    return ops.broadcast_to(x, _shape(shape))


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Tensors joined along an axis; flattened first where it is None."""
    if axis is None:
        return ops.cat([ops.ravel(a) for a in arrays], 0)
    return ops.cat(list(arrays), axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Tensors of one shape joined along a new axis."""
    return ops.stack(list(arrays), axis)


def expand_dims(x: Any, /, *, axis: Any = 0) -> Any:
    """Axes of size 1 added. Errors: IndexError for a place that isn't there."""
    places = axis if isinstance(axis, tuple) else (axis,)
    rank = x.ndim + len(places)
    for a in places:
        if not -rank <= a < rank:
            raise IndexError(f"expand_dims: axis {a} of a result of rank {rank}")
    return ops.expand_dims(x, axis)


def squeeze(x: Any, /, axis: Any) -> Any:
    """Axes of size 1 dropped."""
    return ops.squeeze(x, axis) if axis != () else x


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """The order of the elements reversed along axes."""
    return ops.flip(x, axis) if x.ndim and axis != () else x


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Elements moved along axes, from one end to the other."""
    if isinstance(shift, tuple) and isinstance(axis, int):
        axis = (axis,) * len(shift)
    if isinstance(axis, tuple) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    return ops.roll(x, shift, axis)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Axes moved to other places."""
    return ops.movedim(x, source, destination)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """The axes in another order."""
    return ops.permute(x, tuple(axes)) if x.ndim else x


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged."""
    return ops.matrix_transpose(x)


def reshape(x: Any, /, shape: Any, *, copy: builtins.bool | None = None) -> Any:
    """The same elements under another shape."""
    y = ops.reshape(x, _shape(shape))
    return ops.deepcopy(y) if copy and not isinstance(y, Symbolic) else y


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Each element repeated in place."""
    return ops.repeat_interleave(x, repeats, axis)


def tile(x: Any, repetitions: Any, /) -> Any:
    """The tensor repeated along its axes."""
    return ops.tile(x, tuple(repetitions))


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices along an axis."""
    return tuple(ops.unstack(x, axis))


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along an axis, n times. Of bools, whether they differ."""
    parts = [p for p in (prepend, x, append) if p is not None]
    y = ops.cat(parts, axis) if len(parts) > 1 else x
    axis %= y.ndim
    before = (slice(None),) * axis
    for _ in range(n):
        high, low = ops.getitem(y, (*before, slice(1, None))), ops.getitem(y, (*before, slice(None, -1)))
        y = ops.not_equal(high, low) if y.dtype is bool_ else ops.sub(high, low)
    return y


# --- search, order, sets -------------------------------------------------------------------------------------------------


def sort(x: Any, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> Any:
    """Elements along an axis in order."""
    return ops.sort(x, axis, descending, stable)[0]


def argsort(x: Any, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> Any:
    """Positions that put the elements along an axis in order."""
    return ops.argsort(x, axis, descending, stable)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where each value would be inserted into a sorted vector."""
    if side not in ("left", "right"):
        raise InputError(f"searchsorted: side is 'left' or 'right', found {side!r}")
    return ops.searchsorted(x1 if sorter is None else ops.take(x1, sorter, 0), x2, right=side == "right")


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """Positions of the elements that aren't zero, one vector per axis."""
    if x.ndim == 0:
        raise InputError("nonzero: expected rank 1 or more")
    return tuple(ops.nonzero(x, as_tuple=True))


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Slices along an axis at the positions in a vector."""
    if axis is None and x.ndim > 1:
        raise InputError(f"take: axis must be given for rank {x.ndim}")
    return ops.take(x, indices, axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Elements whose position along an axis stands in ``indices``."""
    return ops.take_along_axis(x, indices, axis)


class UniqueAll(NamedTuple):
    """What ``unique_all`` gives."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What ``unique_counts`` gives."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What ``unique_inverse`` gives."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /) -> UniqueAll:
    """The different elements, where each occurs first, which of them each element is, how often each occurs."""
    return UniqueAll(*ops.unique(x, True, True, True, return_index=True))


def unique_counts(x: Any, /) -> UniqueCounts:
    """The different elements, and how often each occurs."""
    return UniqueCounts(*ops.unique(x, True, False, True))


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The different elements, and which of them each element is."""
    return UniqueInverse(*ops.unique(x, True, True, False))


def unique_values(x: Any, /) -> Any:
    """The different elements."""
    return ops.unique(x)


# --- others --------------------------------------------------------------------------------------------------------------


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """The elements limited to min..max, in the tensor's dtype."""
    if min is None and max is None:
        return ops.deepcopy(x)
    y = ops.clip(x, min, max)
    return y if y.dtype is x.dtype else ops.cast(y, x.dtype)


def round(x: Any, /) -> Any:
    """The nearest whole number, halves to the even one."""
    return ops.round(x)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sum of products over axes of both."""
    return ops.tensordot(x1, x2, axes if isinstance(axes, int) else (tuple(axes[0]), tuple(axes[1])))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of products along an axis of both."""
    return ops.vecdot(x1, x2, axis=axis)


class Info:
    """What ``__array_namespace_info__`` gives: the standard's inspection of a namespace."""

    def capabilities(self) -> dict[str, Any]:
        """What depends on the data is there; ranks go up to 8."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> str:
        """The one device."""
        return DEVICE

    def devices(self) -> list[str]:
        """All devices."""
        return [DEVICE]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Dtypes of what is made without one; there are no complex numbers."""
        _device(device)
        return {"real floating": float32, "complex floating": None, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The standard's dtypes that are there, by name."""
        from ._dtypes import of_kind

        _device(device)
        return dict(of_kind(kind))
