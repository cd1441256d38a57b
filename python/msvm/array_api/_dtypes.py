"""Dtypes of the standard and what is asked about them."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._errors import InputError
from ..frontend.values import DTYPE, SymTensor
from ..ops._promote import as_dtype, common_dtype, result_dtype

bool = DTYPE["bool"]
int8, int16, int32, int64 = (DTYPE[f"int{n}"] for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DTYPE[f"uint{n}"] for n in (8, 16, 32, 64))
float32, float64 = DTYPE["float32"], DTYPE["float64"]

KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "",
    "numeric": "iuf",
}
STANDARD = {d.name: d for d in (bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64)}


def of_kind(kind: Any) -> dict[str, _core.DType]:
    """The standard's dtypes of a kind, by name; all for None."""
    return {name: d for name, d in STANDARD.items() if kind is None or isdtype(d, kind)}


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is another, or of a kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
    "complex floating", "numeric"; or of one of several in a tuple. Errors: InputError for an unknown kind.
    """
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise InputError(f"isdtype: a kind is one of {', '.join(KINDS)}; found {kind!r}")
        return as_dtype(dtype).kind in KINDS[kind]
    return as_dtype(dtype) is as_dtype(kind)


def _dtype_of(x: Any) -> Any:
    return x.dtype if isinstance(x, (_core.Tensor, SymTensor, np.ndarray)) else x


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether values of a dtype (or tensor) fit another by promotion."""
    a, b = as_dtype(_dtype_of(from_)), as_dtype(to)
    try:
        return common_dtype(a, b) is b
    except InputError:
        return False


def result_type(*arrays_and_dtypes: Any) -> _core.DType:
    """The dtype in which tensors, dtypes and Python numbers meet."""
    values = []
    for x in arrays_and_dtypes:
        if isinstance(x, (_core.DType, str, type, np.dtype)):
            values.append(np.empty(0, as_dtype(x).numpy))
        elif isinstance(x, _core.Tensor):
            values.append(np.empty(0, x.dtype.numpy))
        else:
            values.append(x)
    if not values:
        raise InputError("result_type: expected at least one argument")
    return result_dtype(*values)


class FloatInfo(NamedTuple):
    """What ``finfo`` says."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: _core.DType


class IntegerInfo(NamedTuple):
    """What ``iinfo`` says."""

    bits: int
    max: int
    min: int
    dtype: _core.DType


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a float dtype (or that of a tensor). Errors: InputError for other dtypes."""
    d = as_dtype(_dtype_of(type))
    if d.name == "bfloat16":
        return FloatInfo(16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, -(2 - 2.0**-7) * 2.0**127, 2.0**-126, d)
    if d.kind != "f":
        raise InputError(f"finfo: expected a float dtype, found {d.name}")
    i = np.finfo(d.numpy)
    return FloatInfo(i.bits, float(i.eps), float(i.max), float(i.min), float(i.smallest_normal), d)


def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of an integer dtype (or that of a tensor). Errors: InputError for other dtypes."""
    d = as_dtype(_dtype_of(type))
    if d.kind not in "iu":
        raise InputError(f"iinfo: expected an integer dtype, found {d.name}")
    i = np.iinfo(d.numpy)
    return IntegerInfo(i.bits, int(i.max), int(i.min), d)
