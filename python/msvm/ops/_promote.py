"""Which dtype an operator works in.

Between tensors as in the Array API: the smallest dtype of the table that holds both; an integer with a float gives that float, but at
least float32 where the integer is of 32 bits or the floats differ in kind. Python numbers, sizes and numpy scalars are weak: they
take the tensor's dtype, unless their kind (bool < int < float) is higher, which gives int64 or float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._errors import InputError
from ..frontend.values import BOOL, DTYPE, F32, F64, I64, SymBool, SymFloat, SymInt, SymTensor, as_tensor, emit

_BITS = {d: d.itemsize * 8 for d in _core.DTYPES}
_FLOAT_ORDER = [DTYPE[n] for n in ("float16", "float32", "float64")]
_PYTHON = {bool: BOOL, int: I64, float: F32}
_WEAK = {SymTensor: None, np.ndarray: None, bool: "b", SymBool: "b", int: "i", SymInt: "i", float: "f", SymFloat: "f"}


def as_dtype(v: Any) -> _core.DType:
    """A dtype from ``msvm.float32``, ``"float32"``, ``np.float32``, ``np.dtype(...)``, or ``bool``, ``int``, ``float``.

    Errors: InputError where there is no such dtype.
    """
    if isinstance(v, _core.DType):
        return v
    if isinstance(v, str):
        found = DTYPE.get(v)
    elif isinstance(v, type) and v in _PYTHON:
        found = _PYTHON[v]
    else:
        try:
            found = DTYPE.get(np.dtype(v).name)
        except TypeError:
            found = None
    if found is None:
        raise InputError(f"expected a dtype, as msvm.float32 or 'float32', found {v!r}")
    return found


def common_dtype(a: _core.DType, b: _core.DType) -> _core.DType:
    """The dtype that holds the values of both; see the module.

    Errors: InputError for strings with numbers, and for uint64 with a signed integer: no integer dtype holds both.
    """
    if a is b:
        return a
    if a.kind == "b":
        a, b = b, a
    if "s" in (a.kind, b.kind):
        raise InputError(f"{a.name} and {b.name} have no common dtype")
    if b.kind == "b":
        return a
    if a.kind == "f" and b.kind == "f":
        if "bfloat16" in (a.name, b.name):
            return F64 if F64 in (a, b) else F32
        return max(a, b, key=_FLOAT_ORDER.index)
    if a.kind == "f" or b.kind == "f":
        real = a if a.kind == "f" else b
        return F64 if real is F64 else F32
    if a.kind == b.kind:
        return a if _BITS[a] > _BITS[b] else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if _BITS[signed] > _BITS[unsigned]:
        return signed
    if _BITS[unsigned] == 64:
        raise InputError(f"{signed.name} and uint64 have no common dtype; cast one of them")
    return DTYPE[f"int{2 * _BITS[unsigned]}"]


def weak_kind(v: Any) -> str | None:
    """``b``, ``i`` or ``f`` for a number that takes the dtype of the tensors beside it; None for a tensor."""
    t = type(v)
    if t in _WEAK:
        return _WEAK[t]
    if isinstance(v, np.bool_):
        return "b"
    if isinstance(v, (int, np.integer)):
        return "i"
    return "f" if isinstance(v, (float, np.floating)) else None


def dtype_of(v: Any) -> _core.DType | None:
    """The dtype of a tensor or array (of nested lists: the one they become); None for weak numbers."""
    if isinstance(v, SymTensor):
        return v.dtype
    if weak_kind(v) is not None:
        return None
    if isinstance(v, np.ndarray):
        return as_dtype(v.dtype)
    dtype = getattr(v, "dtype", None)
    return dtype if isinstance(dtype, _core.DType) else as_tensor(v).dtype


def result_dtype(*values: Any) -> _core.DType:
    """The dtype in which tensors and numbers meet."""
    dtype: _core.DType | None = None
    weak = ""
    for v in values:
        kind = weak_kind(v)
        if kind is not None:
            weak = max(weak, kind, key=" bif".find)
            continue
        d = dtype_of(v)
        assert d is not None
        dtype = d if dtype is None else common_dtype(dtype, d)
    if dtype is None:
        return {"b": BOOL, "i": I64, "f": F32}[weak]
    if weak == "f" and dtype.kind != "f":
        return F32
    if weak == "i" and dtype.kind == "b":
        return I64
    return dtype


def cast(t: SymTensor, dtype: _core.DType) -> SymTensor:
    """As `dtype`; the same tensor if it has it."""
    return t if t.dtype is dtype else emit("Cast", [t], to=dtype)


def tensor(v: Any, dtype: _core.DType) -> SymTensor:
    """A number, array or tensor as a tensor of `dtype`."""
    if isinstance(v, np.generic):
        v = v.item()
    return cast(as_tensor(v, dtype if weak_kind(v) else None), dtype)


def promoted(*values: Any) -> list[SymTensor]:
    """The values as tensors of one dtype."""
    if type(values[0]) is SymTensor:
        dtype = values[0].dtype
        for v in values:
            if type(v) is not SymTensor or v.dtype is not dtype:
                break
        else:
            return list(values)
    dtype = result_dtype(*values)
    return [tensor(v, dtype) for v in values]


def floating(*values: Any) -> list[SymTensor]:
    """The values as tensors of one float dtype; integers and bools become float32."""
    dtype = result_dtype(*values)
    if dtype.kind == "s":
        raise InputError("expected numbers, found strings")
    dtype = dtype if dtype.kind == "f" else F32
    return [tensor(v, dtype) for v in values]


def integers(v: Any, what: str) -> SymTensor:
    """Positions as int64. Errors: InputError unless they are integers."""
    t = as_tensor(v)
    if t.dtype.kind not in "iu":
        if isinstance(v, Sequence) and len(v) == 0:
            return cast(t, I64)
        raise InputError(f"{what}: expected integers, found {t.dtype.name}")
    return cast(t, I64)
