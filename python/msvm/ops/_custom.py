"""Operators of the user: a Python callable or a C function within programs."""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._errors import InputError
from ..frontend.build import current
from ..frontend.values import DTYPE, SymInt, SymTensor, as_tensor, dim_of
from ._op import Op

_C_FUNCTION: Any = type(ctypes.CFUNCTYPE(None)()).__mro__[1]


class TensorSpec(NamedTuple):
    """What a shape function is told of a tensor, and what it gives for an output."""

    shape: tuple[Any, ...]
    """Sizes: ints, or symbolic sizes, which know arithmetic and comparisons. None of an output: known only when the kernel ran."""
    dtype: _core.DType


Specs = TensorSpec | tuple[Sequence[Any], Any] | Sequence[Any]

_known: dict[str, tuple[Any, Any, bool, Op]] = {}
_lock = threading.Lock()


def custom(name: str, shape_fn: Callable[..., Specs], kernel: Any, *, pure: bool = True, replace: bool = False) -> Op:
    """Makes an operator from a kernel of your own and returns it: called like any other, eagerly or in a function under ``@msvm.jit``.

    Arguments of the operator: tensors (None: absent), then sizes (ints), then attributes by keyword (int, float, str, dtype, or lists of
    them, known when a program is made).

    ``name``: under which programs call it; files that hold the program need it registered before they are loaded. Without a dot it is in
    ``custom.``. ``shape_fn(*inputs, **attributes)`` gets a ``TensorSpec`` per tensor and the sizes, symbolic while a program is made, and
    returns ``(shape, dtype)`` of the output, or a list of these. A size of None is whatever the kernel gives.

    ``kernel(*inputs, **attributes)`` gets read-only numpy arrays that last as long as the call (bfloat16 as its bits in uint16) and returns
    an array, or a tuple of arrays, of just the declared dtypes and sizes: they are copied. If it has a parameter ``out``, it gets the
    output's array there (a tuple of them, if there are several) and fills it. It runs on the thread that runs the program, with the GIL.
    What it raises ends the run and reaches the caller. A C function of type ``msvm_kernel`` (operator_c.h) comes as a ctypes function or
    a capsule; it runs without the GIL.

    ``pure=False`` says that calls have effects: they run as often and in the order that the program says; else a call whose result nobody
    needs goes, and equal ones may become one. Registering a name twice with another definition is an error unless ``replace``; programs
    that were loaded keep what they had.

    Errors: ``InputError`` for names, shapes and dtypes that don't fit.
    """
    full = name if "." in name else f"custom.{name}"
    with _lock:
        known = _known.get(full)
        if known is not None and known[:3] == (shape_fn, kernel, pure):
            return known[3]
        address = _address(kernel)
        if address is not None:
            _core.register_c_operator(full, address, 0, kernel, pure, replace)
        elif callable(kernel):
            _core.register_operator(full, _runner(full, kernel), pure, replace)
        else:
            raise InputError(f"{full}: the kernel is a callable, a ctypes function or a capsule, found {type(kernel).__name__}")
        op = Op(_body(full, shape_fn, pure), ("inputs",), ("attributes",))
        _known[full] = (shape_fn, kernel, pure, op)
    return op


def _address(kernel: Any) -> int | None:
    """Of a C function."""
    if isinstance(kernel, _C_FUNCTION):
        return ctypes.cast(kernel, ctypes.c_void_p).value or 0
    if type(kernel).__name__ == "PyCapsule":
        api = ctypes.pythonapi
        api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
        api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        return api.PyCapsule_GetPointer(kernel, api.PyCapsule_GetName(kernel)) or 0
    return None


def _fills(kernel: Callable[..., Any]) -> bool:
    try:
        return "out" in inspect.signature(kernel).parameters
    except (TypeError, ValueError):  # a builtin that says nothing
        return False


def _runner(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    fills = _fills(kernel)

    def run(
        inputs: list[Any], sizes: list[int], attributes: dict[str, Any], outs: list[Any], dtypes: list[_core.DType]
    ) -> list[Any] | None:
        if fills:
            if any(o is None for o in outs):
                raise InputError(
                    f"{name}: no kernel can fill an output whose size it decides itself: let it return the array, without a parameter out"
                )
            kernel(*inputs, *sizes, out=outs[0] if len(outs) == 1 else tuple(outs), **attributes)
            return None
        found = kernel(*inputs, *sizes, **attributes)
        if len(outs) == 1 and not isinstance(found, tuple):
            found = (found,)
        if not outs:
            return None
        if not isinstance(found, (tuple, list)) or len(found) != len(outs):
            count = f" of {len(found)}" if isinstance(found, (tuple, list)) else ""
            raise InputError(f"{name}: expected {len(outs)} arrays from the kernel, found {type(found).__name__}{count}")
        return [_array(v, dtype) for v, dtype in zip(found, dtypes, strict=True)]

    return run


def _array(v: Any, dtype: _core.DType) -> Any:
    if isinstance(v, (bool, int, float)) and not isinstance(v, np.generic):
        return np.asarray(v, dtype.numpy)
    return np.asarray(v, order="C")


def _body(name: str, shape_fn: Callable[..., Specs], pure: bool) -> Callable[..., Any]:
    def body(*inputs: Any, **attributes: Any) -> Any:
        tensors: list[SymTensor | None] = []
        sizes: list[Any] = []
        told: list[Any] = []
        for x in inputs:
            if isinstance(x, (int, SymInt)) and not isinstance(x, bool):
                sizes.append(x)
                told.append(x)
                continue
            if sizes:
                raise InputError(f"{name}: sizes come after tensors, found {type(x).__name__} after a size")
            t = None if x is None else as_tensor(x)
            tensors.append(t)
            told.append(None if t is None else TensorSpec(t.shape, t.dtype))
        types = _types(name, shape_fn(*told, **attributes))
        if not types and pure:
            raise InputError(f"{name}: an operator without outputs is there for its effect: register it with pure=False")
        outs = [(dtype, [None if d is None else dim_of(d) for d in shape]) for shape, dtype in types]
        in_regs = [-1 if t is None else t.reg for t in tensors]
        regs = current().core.call_declared(name, in_regs, [dim_of(s) for s in sizes], attributes, outs)
        results = tuple(SymTensor(r) for r in regs)
        return results[0] if len(results) == 1 else results or None

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"The registered operator {name}."
    return body


def _types(name: str, given: Any) -> list[TensorSpec]:
    if given is None:
        return []
    single = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], (_core.DType, str, type, np.dtype))
    return [_spec(name, g) for g in ([given] if single else given)]


def _spec(name: str, given: Any) -> TensorSpec:
    if not isinstance(given, tuple) or len(given) != 2:
        raise InputError(f"{name}: its shape function returns (shape, dtype) or a list of such pairs, found {given!r}")
    shape, dtype = given
    if not isinstance(dtype, _core.DType):
        found = DTYPE.get(np.dtype(dtype).name)
        if found is None:
            raise InputError(f"{name}: its shape function gave the dtype {dtype!r}, which tensors can't have")
        dtype = found
    return TensorSpec(tuple(shape), dtype)
