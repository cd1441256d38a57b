"""What a function takes from outside its arguments: implicit inputs, and values that were burned in under a guard.

Paths, as the dispatcher reads them: ``("global", dict, name)``, ``("cell", cell)``, ``("attr", object, name)``, ``("value", object)``.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import _core
from .build import Build, current, shorten
from .declared import Declared
from .join import Restart
from .program import Kind, input_value
from .values import DTYPE, CapturedInt, SymTensor, as_tensor

Source = tuple[Any, ...]

TENSOR = _core.Tensor
MUTABLE = _core.Mutable

_TRUSTED = ("msvm", "numpy", "math", "builtins", "torch", "typing", "operator", "functools", "itertools")


@functools.lru_cache(maxsize=1024)
def trusted(module: str | None) -> bool:
    """Modules whose names nobody rebinds."""
    return module is not None and module.split(".")[0] in _TRUSTED


class Captures:
    """Over all tries of one compilation. Inputs that a try finds late are there from the start in the next one."""

    late = False
    """This try has found such an input: it goes on, to find others, but its program means nothing."""

    def __init__(self, declared: Declared | None = None, burn: bool = False) -> None:
        self.burn = burn
        """Tensors and mutables from outside are constants with the values that they have."""
        self.declared = declared
        """For the report of shapes: sizes are as callers declared them."""
        self.sources: dict[Any, tuple[Source, Kind, str]] = {}
        self.guards: dict[Any, tuple[Source, Any]] = {}
        self._values: dict[Any, Any] = {}
        self._parameters: dict[int, Any] = {}
        self._arrays: dict[Any, Any] = {}
        self._shapes: dict[Any, Any] = {}

    def begin(self, build: Build) -> None:
        """Makes the implicit inputs known so far."""
        if self.declared:
            self._shapes = {key: self.declared.shape_of(v) for key, v in self._arrays.items()}
        self._parameters = {}
        self.late = False
        self._values = {key: input_value(build, kind, name, self._shapes.get(key)) for key, (_, kind, name) in self.sources.items()}

    def mark(self) -> Any:
        """What stands for the values so far, in the program that is being made."""
        return len(self._values), len(self._parameters)

    def rollback(self, mark: Any) -> None:
        shorten(self._values, mark[0])
        shorten(self._parameters, mark[1])

    def names(self) -> list[str]:
        return [name for _, _, name in self.sources.values()]

    def tensors(self) -> list[Any]:
        """What stands for the implicit inputs in the program that is being made."""
        return list(self._values.values())

    def inputs(self) -> list[Source]:
        return [source for source, _, _ in self.sources.values()]

    def take(self, v: Any, source: Source, name: str) -> Any:
        """The value as the program sees it."""
        if self.burn and isinstance(v, MUTABLE):
            return v.value
        if self.burn and isinstance(v, (np.ndarray, TENSOR)):
            return as_tensor(v)
        if isinstance(v, MUTABLE):
            return self._mutable(v, source, name)
        if isinstance(v, np.ndarray) or (isinstance(v, TENSOR) and not is_parameter(v)):
            if self.declared:
                self._arrays[_key(source)] = v
            return self._input(source, _tensor_kind(v), name)
        if is_parameter(v):
            return self._parameter(v, source)
        self.guard(source, v)
        if type(v) in (list, tuple, dict, set):
            return self._container(v, name)
        return CapturedInt(v, name) if self.declared and type(v) is int else v

    def watch(self, v: Any) -> None:
        """A sequence of cells is looked into: other cells make another program."""
        if type(v).__module__ == "msvm.nn.container":
            self.guard(("attr", v, "items"), v.items)

    def guard(self, source: Source, expected: Any) -> None:
        if source[0] == "value" or (source[0] == "global" and trusted(source[1].get("__name__"))):
            return
        self.guards.setdefault(_key(source), (source, _copied(expected)))

    def _input(self, source: Source, kind: Kind, name: str) -> Any:
        key = _key(source)
        if key not in self.sources:
            self.sources[key] = (source, kind, name)
        if key not in self._values:
            if self.declared:
                raise Restart
            self.late = True
            self._values[key] = input_value(current(), kind, name)
        return self._values[key]

    def _mutable(self, v: Any, source: Source, name: str) -> Any:
        value = v.value
        if isinstance(value, tuple):
            self.guard(source, v)
            return tuple(self._mutable(x, ("value", x), f"{name}_{k}") if isinstance(x, MUTABLE) else x for k, x in enumerate(v))
        if self.declared and isinstance(value, int) and not isinstance(value, bool):
            return self.declared.value(v)
        kind = "bool" if isinstance(value, bool) else "i64" if isinstance(value, int) else "f64"
        return self._input(source, (kind,), name)

    def _parameter(self, v: Any, source: Source) -> SymTensor:
        self.guard(source, v)
        self.guard(("attr", v, "_version"), v._version)
        found = self._parameters.get(id(v))
        if found is None:
            found = self._parameters[id(v)] = (as_tensor(v), v)
        tensor: SymTensor = found[0]
        return tensor

    def _container(self, v: Any, name: str) -> Any:
        """Tensors inside are inputs. The copy stands for the original, and can't be changed."""

        def inside(x: Any, at: str) -> Any:
            if isinstance(x, (np.ndarray, TENSOR, MUTABLE)) or is_parameter(x):
                return self.take(x, ("value", x), at)
            if type(x) in (list, tuple, dict, set):
                return self._container(x, at)
            return CapturedInt(x, at) if self.declared and type(x) is int else x

        new: Any
        if type(v) is dict:
            new = {k: inside(x, f"{name}_{k}") for k, x in v.items()}
        elif type(v) is set:
            new = set(v)
        else:
            new = type(v)(inside(x, f"{name}_{k}") for k, x in enumerate(v))
        return new


def _copied(v: Any) -> Any:
    """For guards: containers that the caller may change later, as they are now."""
    if type(v) in (list, tuple):
        return type(v)(map(_copied, v))
    if type(v) is dict:
        return {k: _copied(x) for k, x in v.items()}
    return set(v) if type(v) is set else v


def is_parameter(v: Any) -> bool:
    return hasattr(type(v), "set_data") and hasattr(v, "_version")


def _key(source: Source) -> Any:
    return (source[0], *(x if isinstance(x, str) else id(x) for x in source[1:]))


def _tensor_kind(v: Any) -> Kind:
    if isinstance(v, np.ndarray):
        return ("tensor", DTYPE[v.dtype.name], v.ndim)
    return ("tensor", v.dtype, v.ndim)
