"""Tensors that cells own."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from .._errors import InputError
from ..ops import setitem

_versions = itertools.count(1)


class Parameter(_core.Tensor):
    """A tensor that a cell owns. Compiled functions hold its elements as constants, and are made anew after ``set_data``.

    ``data``: what a Tensor is made from. ``name``: where it stands in its cell; cells give it when they are asked for their parameters.
    ``requires_grad``: whether it counts among ``trainable_params``.
    """

    def __init__(self, data: Any, name: str | None = None, requires_grad: bool = True) -> None:
        super().__init__(data)
        self.name = name
        self.requires_grad = requires_grad
        self._version = next(_versions)
        """Another number after every change; compiled functions compare it."""

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Takes other elements, of the same shape and dtype; with ``slice_shape`` of any shape. Returns the parameter.

        Errors: InputError for another shape or dtype.
        """
        new = data if isinstance(data, _core.Tensor) else _core.Tensor(data)
        where = f"parameter {self.name}" if self.name else "a parameter"
        if new.dtype is not self.dtype:
            raise InputError(f"{where} has dtype {self.dtype.name}, found {new.dtype.name}; cast it first")
        if new.shape != self.shape and not slice_shape:
            raise InputError(f"{where} has shape {self.shape}, found {new.shape}")
        self._assign(new)
        self._version = next(_versions)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        """Replaces elements; compiled functions notice."""
        self.set_data(setitem(self, index, value))

    def clone(self) -> Parameter:
        """Another parameter with elements of its own."""
        return Parameter(_core.Tensor(self, copy=True), self.name, self.requires_grad)

    def __copy__(self) -> Parameter:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """``clone``, as the protocol of ``copy`` asks for."""
        return self.clone()

    def __repr__(self) -> str:
        return f"Parameter ({self.name}, {super().__repr__()})" if self.name else f"Parameter ({super().__repr__()})"

    def __reduce__(self) -> Any:
        """For pickles: elements, dtype and name."""
        array: np.ndarray[Any, Any] = np.array(self.asnumpy())
        return (_rebuild, (array, self.dtype.code, self.name, self.requires_grad))


def _rebuild(array: np.ndarray[Any, Any], code: str, name: str | None, requires_grad: bool) -> Parameter:
    return Parameter(_core.Tensor(array, _core.dtype_of_code(code)), name, requires_grad)


class ParameterTuple(tuple[Parameter, ...]):
    """Several parameters. Errors: InputError for what isn't a parameter."""

    def __new__(cls, parameters: Iterable[Parameter]) -> ParameterTuple:
        """Checks that all are parameters."""
        found = tuple(parameters)
        for p in found:
            if not isinstance(p, Parameter):
                raise InputError(f"ParameterTuple: expected parameters, found {type(p).__name__}")
        return super().__new__(cls, found)
