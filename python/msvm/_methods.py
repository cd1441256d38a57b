"""Methods and operators of tensors, from one table: those of ``Tensor`` outside programs and of what stands for tensors inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core, ops
from ._errors import InputError
from .frontend.values import Symbolic, SymTensor, read

_OPERANDS = (int, float, Symbolic, _core.Tensor, np.ndarray, np.generic, _core.Mutable, list, tuple)

_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
_COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_UNARY = {"neg": "neg", "pos": "identity", "abs": "abs", "invert": "bitwise_not"}
_RENAMED = {"view": "reshape", "view_as": "reshape_as", "repeat": "tile", "copy": "deepcopy", "clone": "deepcopy"}

_SAME = """
abs absolute acos acosh add addcdiv addcmul addmm all amax amin any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
argsort argwhere asin asinh atan atan2 atanh baddbmm bernoulli bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor bmm broadcast_to cbrt ceil celu chunk clamp clip copysign cos cosh count_nonzero cross cummax cummin
cumprod cumsum det diag diagonal diff div divide dot elu eq equal erf erfc exp exp2 expand expand_as expand_dims expm1 flatten flip floor
floor_div floor_divide fmax fmin fmod frac gather gather_elements gather_nd ge gelu greater greater_equal gt hardshrink hypot index_add
index_select inner inv isclose isfinite isin isinf isnan kron le leaky_relu lerp less less_equal log log10 log1p log2 log_softmax
logaddexp logcumsumexp logical_and logical_not logical_or logical_xor logsigmoid logsumexp lt masked_fill masked_select matmul
matrix_transpose maximum mean median minimum mm mode moveaxis movedim mul multiply mv nan_to_num ne neg negative nonzero norm not_equal
outer permute pow prod ravel reciprocal relu relu6 remainder repeat_interleave reshape reshape_as roll rot90 round rsqrt scatter selu
sigmoid sign signbit silu sin sinh softmax softplus sort split sqrt square squeeze std sub subtract sum swapaxes swapdims t take
take_along_axis tan tanh tensor_scatter_add tensor_scatter_max tensor_scatter_min tensor_scatter_mul tensor_scatter_sub
tensor_scatter_update tensor_split tile topk trace transpose tril triu true_divide trunc unbind unflatten unique unique_consecutive
unsqueeze unstack var vecdot xlogy
"""
"""Methods that are the function of that name with the tensor as first argument."""


class _Later:
    """An operator that is imported at its first call."""

    __slots__ = ("call", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.call: Callable[..., Any] = self._find

    def _find(self, *args: Any, **kwargs: Any) -> Any:
        self.call = getattr(ops, self.name)
        return self.call(*args, **kwargs)


def _operator(name: str) -> Callable[..., Any]:
    later = _Later(name)

    def method(self: Any, other: Any) -> Any:
        return later.call(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    return method


def _reflected(name: str) -> Callable[..., Any]:
    later = _Later(name)

    def method(self: Any, other: Any) -> Any:
        return later.call(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    return method


def _first(name: str) -> Callable[..., Any]:
    """A method of the function of that name; both take the same arguments."""
    later = _Later(name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return later.call(self, *args, **kwargs)

    method.__doc__ = f"``msvm.ops.{name}`` with this tensor as its first argument."
    return method


def _extreme(values: str, both: str) -> Callable[..., Any]:
    def method(
        self: Any, axis: Any = None, keepdims: bool = False, *, return_indices: bool = False, dim: Any = None, keepdim: bool = False
    ) -> Any:
        function = getattr(ops, both if return_indices else values)
        return function(self, axis, keepdims, dim=dim, keepdim=keepdim)

    return method


def _to(name: str) -> Callable[..., Any]:
    def method(self: Any) -> Any:
        return ops.cast(self, name)

    method.__doc__ = f"The tensor cast to {name}."
    return method


def _astype(self: Any, dtype: Any, copy: bool = True) -> Any:
    """The tensor cast to a dtype. ``copy`` is there for numpy's sake: tensors don't change."""
    return ops.cast(self, dtype)


def _to_dtype(self: Any, dtype: Any) -> Any:
    """The tensor cast to a dtype; a tensor stands for its own."""
    return ops.cast(self, dtype.dtype if isinstance(dtype, (_core.Tensor, SymTensor)) else dtype)


def _where(self: Any, condition: Any, other: Any) -> Any:
    """The tensor where the condition is true, else ``other``."""
    return ops.where(condition, self, other)


def _itself(self: Any) -> Any:
    """The tensor."""
    return self


def _dim(self: Any) -> int:
    """The number of axes."""
    return self.ndim  # type: ignore[no-any-return]


def _to_device(self: Any, device: Any, /, *, stream: None = None) -> Any:
    """The tensor: there is one device."""
    if device != "cpu":
        raise InputError(f"there is one device, 'cpu'; found {device!r}")
    return self


def _numel(self: Any) -> Any:
    """The number of elements."""
    return self.size


def _new(name: str) -> Callable[..., Any]:
    def method(self: Any, *size: Any, dtype: Any = None) -> Any:
        return getattr(ops, name)(*size, dtype=self.dtype if dtype is None else dtype)

    return method


def _new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """A tensor of one repeated value, of the tensor's dtype unless ``dtype`` is given."""
    return ops.full(size, fill_value, dtype=self.dtype if dtype is None else dtype)


def _divmod(self: Any, other: Any) -> Any:
    return (ops.floor_divide(self, other), ops.remainder(self, other)) if isinstance(other, _OPERANDS) else NotImplemented


def _iterate(self: Any) -> Any:
    if self.ndim == 0:
        raise TypeError("iteration over a tensor of rank 0")
    return iter(ops.unstack(self))


def _getitem(self: Any, index: Any) -> Any:
    return ops.getitem(self, index)


def _item(self: Any, *index: Any) -> Any:
    """One element as a number of the program."""
    element: Any = ops.getitem(self, index) if index else ops.reshape(self, ())
    return read(element)


def _namespace(self: Any, /, *, api_version: str | None = None) -> Any:
    import importlib

    return importlib.import_module("msvm.array_api").namespace(api_version)


def _methods() -> dict[str, Any]:
    """All of them, by name."""
    table: dict[str, Any] = {name: _first(name) for name in _SAME.split()}
    table.update((f"__{name}__", _operator(f)) for name, f in {**_BINARY, **_COMPARISONS}.items())
    table.update((f"__r{name}__", _reflected(f)) for name, f in _BINARY.items())
    table.update((f"__{name}__", _first(f)) for name, f in _UNARY.items())
    table.update((name, _first(f)) for name, f in _RENAMED.items())
    table.update((name, _to(dtype)) for name, dtype in _CASTS.items())
    table.update(
        max=_extreme("amax", "max"),
        min=_extreme("amin", "min"),
        astype=_astype,
        to=_to_dtype,
        cast=_to_dtype,
        where=_where,
        contiguous=_itself,
        detach=_itself,
        cpu=_itself,
        dim=_dim,
        device=property(lambda self: "cpu"),
        to_device=_to_device,
        numel=_numel,
        nelement=_numel,
        new_zeros=_new("zeros"),
        new_ones=_new("ones"),
        new_full=_new_full,
        T=property(_first("permute")),
        mT=property(_first("matrix_transpose")),
        __getitem__=_getitem,
        __divmod__=_divmod,
        __hash__=object.__hash__,
        __array_namespace__=_namespace,
    )
    return table


_CASTS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
}


def _set_item(self: Any, index: Any, value: Any) -> None:
    """The tensor gets new elements, in memory of its own: arrays and tensors that were made from it before keep the old ones."""
    self._assign(ops.setitem(self, index, value))


def install(cls: type) -> None:
    """Sets the methods on a class of tensors."""
    for name, method in _methods().items():
        if callable(method) and not name.startswith("__"):
            method.__name__ = method.__qualname__ = name
        setattr(cls, name, method)
    more: dict[str, Any] = (
        {"item": _item} if issubclass(cls, Symbolic) else {"__iter__": _iterate, "__setitem__": _set_item, "__array_priority__": 1000}
    )
    for name, value in more.items():
        setattr(cls, name, value)
