"""Products of matrices and vectors. Dtypes are promoted."""

from __future__ import annotations

import builtins
from typing import Any

from .._errors import InputError
from ..frontend import values as v
from ..frontend.values import DTYPE, I64, SymTensor, emit
from . import elementwise as e
from ._op import op
from ._promote import floating, promoted, tensor
from ._shape import axes_of, axis_of, check, product, same
from .reduce import norm

_PRODUCTS = ["float64", "float32", "float16", "bfloat16", "int32", "int64", "uint32", "uint64"]


def _in_product_dtype(operator: str, tensors: list[SymTensor], **attrs: Any) -> SymTensor:
    """The call in the tensors' dtype, or for small integers in a wide one, wrapped back; of bools, whether a sum isn't 0."""
    dtype = tensors[0].dtype
    if dtype.name in _PRODUCTS:
        return emit(operator, tensors, **attrs)  # type: ignore[no-any-return]
    if dtype.kind == "s":
        raise InputError(f"{operator}: expected numbers, found strings")
    wide = DTYPE["int32"] if dtype.kind != "b" else I64
    result = emit(operator, [tensor(t, wide) for t in tensors], **attrs)
    return e.truth(result) if dtype.kind == "b" else tensor(result, dtype)


@op
def matmul(input: Any, other: Any) -> Any:
    """Matrix product of the last two axes, the others broadcast; vectors as numpy.matmul takes them. ONNX ``MatMul``.

    Errors: InputError for rank 0; inner sizes that differ.
    """
    a, b = promoted(input, other)
    if a.ndim == 0 or b.ndim == 0:
        raise InputError("matmul: expected rank 1 or more, found 0; use mul")
    return _in_product_dtype("MatMul", [a, b])


def _of_rank(name: str, *ranks: int) -> Any:
    def body(input: Any, mat2: Any) -> Any:
        a, b = promoted(input, mat2)
        if (a.ndim, b.ndim) != ranks:
            raise InputError(f"{name}: expected ranks {ranks[0]} and {ranks[1]}, found {a.ndim} and {b.ndim}")
        if name == "bmm" and not same(a.shape[0], b.shape[0]):
            check(a.shape[0] == b.shape[0], "bmm: the batch sizes differ")
        return _in_product_dtype("MatMul", [a, b])

    return op(
        name=name, doc=f"Matrix product of tensors of ranks {ranks[0]} and {ranks[1]}. ONNX ``MatMul``. Errors: InputError for other ranks."
    )(body)


mm, mv, bmm = _of_rank("mm", 2, 2), _of_rank("mv", 2, 1), _of_rank("bmm", 3, 3)


@op(static=("p",))
def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """Distances between rows: [..., P, M] and [..., R, M] -> [..., P, R], the p-norm of each difference.

    ``p``: 0 counts elements that differ, inf takes the largest difference. Integers become float32; leading sizes broadcast.
    """
    a, b = floating(x1, x2)
    if a.ndim < 2 or b.ndim < 2:
        raise InputError(f"cdist: expected rank 2 or more, found {a.ndim} and {b.ndim}")
    if isinstance(p, bool) or not isinstance(p, (int, float)) or p < 0:
        raise InputError(f"cdist: p is a number that isn't negative, found {p!r}")
    difference = emit("Sub", [v.unsqueeze(a, [a.ndim - 1]), v.unsqueeze(b, [b.ndim - 2])])
    return norm(difference, p, -1)


@op(static=("alpha", "beta", "transpose_a", "transpose_b"))
def gemm(
    a: Any, b: Any, c: Any = None, *, alpha: float = 1.0, beta: float = 1.0, transpose_a: bool = False, transpose_b: bool = False
) -> Any:
    """alpha * A B + beta * C of matrices, with C broadcast to the result. ONNX ``Gemm``."""
    tensors = promoted(*(t for t in (a, b, c) if t is not None))
    return _in_product_dtype("Gemm", tensors, alpha=float(alpha), beta=float(beta), transA=int(transpose_a), transB=int(transpose_b))


@op
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat1 mat2, of matrices."""
    return e.add(e.mul(input, beta), e.mul(mm(mat1, mat2), alpha))


@op
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * batch1 batch2, of stacks of matrices."""
    return e.add(e.mul(input, beta), e.mul(bmm(batch1, batch2), alpha))


@op
def dense(input: Any, weight: Any, bias: Any = None) -> Any:
    """input W^T + bias on the last axis. ``weight`` [out, in], ``bias`` [out]. ONNX ``MatMul``, ``Add``."""
    x, w = promoted(input, weight)
    if w.ndim not in (1, 2):
        raise InputError(f"dense: weight has rank {w.ndim}; expected [out, in]")
    y = _in_product_dtype("MatMul", [x, v.transpose(w, [1, 0]) if w.ndim == 2 else w])
    return y if bias is None else e.add(y, bias)


linear = dense


@op
def bias_add(input_x: Any, bias: Any) -> Any:
    """A vector added along axis 1 (the channels)."""
    x, b = promoted(input_x, bias)
    return emit("Add", [x, v.unsqueeze(b, list(range(1, x.ndim - 1))) if x.ndim > 2 else b])


@op
def dot(input: Any, other: Any) -> Any:
    """numpy's dot: the sum of products of the last axis and the other's second to last (its only one if a vector)."""
    a, b = promoted(input, other)
    if a.ndim == 0 or b.ndim == 0:
        return e.mul(a, b)
    if b.ndim <= 2:
        return _in_product_dtype("MatMul", [a, b])
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))


@op
def inner(input: Any, other: Any) -> Any:
    """The sum of products over the last axes of both."""
    a, b = promoted(input, other)
    if a.ndim == 0 or b.ndim == 0:
        return e.mul(a, b)
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


@op
def outer(input: Any, vec2: Any) -> Any:
    """The products of all elements of one flattened tensor with all of another."""
    a, b = promoted(input, vec2)
    return e.mul(v.reshape(a, [product(a.shape), 1]), v.reshape(b, [1, product(b.shape)]))


@op(static=("axes",))
def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """The sum of products over axes of both: the last ``axes`` of the first with the first of the second, or two lists of axes."""
    a, b = promoted(x1, x2)
    if isinstance(axes, int):
        if not 0 <= axes <= builtins.min(a.ndim, b.ndim):
            raise InputError(f"tensordot: axes is {axes} for ranks {a.ndim} and {b.ndim}")
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        left, right = axes_of(axes[0], a.ndim), axes_of(axes[1], b.ndim)
    if len(left) != len(right):
        raise InputError(f"tensordot: {len(left)} axes of the first, but {len(right)} of the second")
    for i, j in zip(left, right, strict=True):
        if not same(a.shape[i], b.shape[j]):
            check(a.shape[i] == b.shape[j], f"tensordot: axes {i} and {j} differ in size")
    rest_a, rest_b = ([i for i in range(t.ndim) if i not in used] for t, used in ((a, left), (b, right)))
    n = product(a.shape[i] for i in left)
    shape = [a.shape[i] for i in rest_a] + [b.shape[j] for j in rest_b]
    flat_a = v.reshape(_permuted(a, [*rest_a, *left]), [product(a.shape[i] for i in rest_a), n])
    flat_b = v.reshape(_permuted(b, [*right, *rest_b]), [n, product(b.shape[j] for j in rest_b)])
    return v.reshape(_in_product_dtype("MatMul", [flat_a, flat_b]), shape)


def _permuted(t: SymTensor, order: list[int]) -> SymTensor:
    return t if order == list(range(t.ndim)) else v.transpose(t, order)


@op(static=("axis",))
def vecdot(x: Any, y: Any, *, axis: int = -1) -> Any:
    """The sum of products along one axis of both, the others broadcast."""
    a, b = promoted(x, y)
    ax, bx = axis_of(axis, a.ndim), axis_of(axis, b.ndim)
    rows = v.unsqueeze(_permuted(a, [*(i for i in range(a.ndim) if i != ax), ax]), [a.ndim - 1])
    columns = v.unsqueeze(_permuted(b, [*(i for i in range(b.ndim) if i != bx), bx]), [b.ndim])
    y = _in_product_dtype("MatMul", [rows, columns])
    return v.squeeze(y, [y.ndim - 2, y.ndim - 1])


@op(static=("equation",))
def einsum(equation: str, *operands: Any) -> Any:
    """Sum of products over the labels that the result doesn't have, as numpy.einsum. ONNX ``Einsum``.

    Errors: InputError for an equation that doesn't fit the ranks; sizes of one label that differ.
    """
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    tensors = promoted(*operands)
    dtype = tensors[0].dtype
    if dtype.kind == "b":
        return e.truth(emit("Einsum", [tensor(t, I64) for t in tensors], equation=equation))
    return emit("Einsum", tensors, equation=equation)


@op
def kron(input: Any, other: Any) -> Any:
    """Kronecker's product: each element of the first times the whole second."""
    a, b = promoted(input, other)
    rank = builtins.max(a.ndim, b.ndim)
    a = v.unsqueeze(a, list(range(rank - a.ndim))) if a.ndim < rank else a
    b = v.unsqueeze(b, list(range(rank - b.ndim))) if b.ndim < rank else b
    if rank == 0:
        return e.mul(a, b)
    shape = [x * y for x, y in zip(a.shape, b.shape, strict=True)]
    if 2 * rank <= 8:
        wide = e.mul(v.unsqueeze(a, range(1, 2 * rank, 2)), v.unsqueeze(b, range(0, 2 * rank, 2)))
        return v.reshape(wide, shape)
    raise InputError(f"kron: rank {rank}; at most 4 is possible")


@op(static=("dim",))
def cross(input: Any, other: Any, dim: int = -1) -> Any:
    """The cross product of vectors of 3 along an axis; the other axes broadcast. Errors: another size of the axis."""
    a, b = promoted(input, other)
    axis_a, axis_b = axis_of(dim, a.ndim), axis_of(dim, b.ndim)
    for t, axis in ((a, axis_a), (b, axis_b)):
        check(t.shape[axis] == 3, f"cross: axis {dim} hasn't the size 3")
    turned = [
        emit("Gather", [t, tensor(order, I64)], axis=axis) for t, axis in ((a, axis_a), (b, axis_b)) for order in ([1, 2, 0], [2, 0, 1])
    ]
    return emit("Sub", [emit("Mul", [turned[0], turned[3]]), emit("Mul", [turned[1], turned[2]])])


@op(static=("offset",))
def trace(input: Any, offset: int = 0) -> Any:
    """The sum of the diagonal of the first two axes."""
    from .movement import diagonal
    from .reduce import sum as total

    return total(diagonal(input, offset), -1)


@op
def det(input: Any) -> Any:
    """Determinant of the square matrices in the last two axes. ONNX ``Det``."""
    return emit("Det", floating(input))
