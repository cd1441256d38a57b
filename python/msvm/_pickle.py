"""What pickled objects of the compiled part are made anew by: functions that pickle can name."""

from __future__ import annotations

from typing import Any

from . import _core


def dtype(code: str) -> _core.DType:
    """The dtype of this code."""
    return _core.dtype_of_code(code)


def tensor(cls: type[_core.Tensor], array: Any, code: str) -> _core.Tensor:
    """A tensor from an array of numpy that holds its elements, or their bits."""
    return _core.rebuild_tensor(cls, array, code)


def declared(shape: tuple[Any, ...], code: str) -> _core.Tensor:
    """A tensor that only declares a shape."""
    return _core.Tensor(None, code, shape=shape)
