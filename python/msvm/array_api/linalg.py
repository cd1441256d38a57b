"""What there is of the standard's extension for linear algebra."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..ops import matmul, matrix_transpose, outer
from ._functions import tensordot, vecdot

__all__ = ["cross", "det", "diagonal", "matmul", "matrix_norm", "matrix_transpose", "outer", "tensordot", "trace", "vecdot", "vector_norm"]


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross product of vectors of 3."""
    return ops.cross(x1, x2, axis)


def det(x: Any, /) -> Any:
    """Determinants."""
    return ops.det(x)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of the last two axes."""
    return ops.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sums of the diagonals of the last two axes."""
    return ops.sum(diagonal(x, offset=offset), -1, dtype=dtype)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The p-norm over axes."""
    if isinstance(axis, tuple) and len(axis) > 1 and ord not in (2,):
        rest = [a for a in range(x.ndim) if a not in {b % x.ndim for b in axis}]
        flat = ops.permute(x, (*rest, *(b % x.ndim for b in axis)))
        y = ops.norm(ops.flatten(flat, start_dim=len(rest)), ord, -1)
        return ops.expand_dims(y, tuple(b % x.ndim for b in axis)) if keepdims else y
    return ops.norm(x, ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Frobenius's norm of the last two axes."""
    return ops.norm(x, ord, (-2, -1), keepdims)
