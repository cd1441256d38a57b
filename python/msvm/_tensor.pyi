# Written by tools/gen_python_stubs.py from the tables of operators.
import builtins
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from ._core import Mutable, Tensor

Operand: TypeAlias = Tensor | Mutable | np.ndarray[Any, Any] | np.generic | builtins.float | list[Any] | tuple[Any, ...]

class TensorMethods:
    # Only here: at run time the methods are Tensor's own.
    @property
    def T(self) -> Tensor: ...  # noqa: N802
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Operand, /) -> Tensor: ...
    def __and__(self, other: Operand, /) -> Tensor: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
    def __divmod__(self, other: Operand, /) -> tuple[Tensor, Tensor]: ...
    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __floordiv__(self, other: Operand, /) -> Tensor: ...
    def __ge__(self, other: Operand, /) -> Tensor: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __gt__(self, other: Operand, /) -> Tensor: ...
    def __hash__(self) -> builtins.int: ...
    def __invert__(self) -> Tensor: ...
    def __le__(self, other: Operand, /) -> Tensor: ...
    def __lshift__(self, other: Operand, /) -> Tensor: ...
    def __lt__(self, other: Operand, /) -> Tensor: ...
    def __matmul__(self, other: Operand, /) -> Tensor: ...
    def __mod__(self, other: Operand, /) -> Tensor: ...
    def __mul__(self, other: Operand, /) -> Tensor: ...
    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Operand, /) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Operand, /) -> Tensor: ...
    def __radd__(self, other: Operand, /) -> Tensor: ...
    def __rand__(self, other: Operand, /) -> Tensor: ...
    def __rfloordiv__(self, other: Operand, /) -> Tensor: ...
    def __rlshift__(self, other: Operand, /) -> Tensor: ...
    def __rmatmul__(self, other: Operand, /) -> Tensor: ...
    def __rmod__(self, other: Operand, /) -> Tensor: ...
    def __rmul__(self, other: Operand, /) -> Tensor: ...
    def __ror__(self, other: Operand, /) -> Tensor: ...
    def __rpow__(self, other: Operand, /) -> Tensor: ...
    def __rrshift__(self, other: Operand, /) -> Tensor: ...
    def __rshift__(self, other: Operand, /) -> Tensor: ...
    def __rsub__(self, other: Operand, /) -> Tensor: ...
    def __rtruediv__(self, other: Operand, /) -> Tensor: ...
    def __rxor__(self, other: Operand, /) -> Tensor: ...
    def __sub__(self, other: Operand, /) -> Tensor: ...
    def __truediv__(self, other: Operand, /) -> Tensor: ...
    def __xor__(self, other: Operand, /) -> Tensor: ...
    def abs(self) -> Tensor:
        """Distance from zero; the least value of a signed integer dtype stays itself."""
    def absolute(self) -> Tensor:
        """Distance from zero; the least value of a signed integer dtype stays itself."""
    def acos(self) -> Tensor:
        """Angle in radians whose cosine is the value; NaN outside [-1, 1]."""
    def acosh(self) -> Tensor:
        """Inverse of the hyperbolic cosine; NaN below 1."""
    def add(self, other: Any) -> Tensor:
        """Sum; integers wrap. Of bools, logical or."""
    def addcdiv(self, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
        """``input + value * tensor1 / tensor2``. Operands that broadcast."""
    def addcmul(self, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
        """``input + value * tensor1 * tensor2``. Operands that broadcast."""
    def addmm(self, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """beta * input + alpha * mat1 mat2, of matrices."""
    def all(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor:
        """Whether every element over axes isn't zero or false; true of nothing. The result is bool."""
    def amax(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor:
        """The greatest element over axes; NaN if one is NaN. Of nothing: the infinity or the dtype's limit at the other end."""
    def amin(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor:
        """The least element over axes; NaN if one is NaN. Of nothing: the infinity or the dtype's limit at the other end."""
    def any(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor:
        """Whether some element over axes isn't zero or false; false of nothing. The result is bool."""
    def arccos(self) -> Tensor:
        """Angle in radians whose cosine is the value; NaN outside [-1, 1]."""
    def arccosh(self) -> Tensor:
        """Inverse of the hyperbolic cosine; NaN below 1."""
    def arcsin(self) -> Tensor:
        """Angle in radians whose sine is the value; NaN outside [-1, 1]."""
    def arcsinh(self) -> Tensor:
        """Inverse of the hyperbolic sine."""
    def arctan(self) -> Tensor:
        """Angle in radians whose tangent is the value."""
    def arctan2(self, other: Any) -> Tensor: ...
    def arctanh(self) -> Tensor:
        """Inverse of the hyperbolic tangent; NaN outside [-1, 1]."""
    def argmax(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor: ...
    def argmin(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor: ...
    def argsort(self, axis: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
        """Positions, as int64, that put the elements along an axis in order. Equal ones keep their order. ONNX ``TopK``."""
    @overload
    def argwhere(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    @overload
    def argwhere(self, *, as_tuple: Literal[False] = False) -> Tensor: ...
    @overload
    def argwhere(self, *, as_tuple: builtins.bool = False) -> Any: ...
    def asin(self) -> Tensor:
        """Angle in radians whose sine is the value; NaN outside [-1, 1]."""
    def asinh(self) -> Tensor:
        """Inverse of the hyperbolic sine."""
    def astype(self, dtype: Any, copy: builtins.bool = True) -> Tensor:
        """The tensor cast to a dtype. ``copy`` is there for numpy's sake: tensors don't change."""
    def atan(self) -> Tensor:
        """Angle in radians whose tangent is the value."""
    def atan2(self, other: Any) -> Tensor: ...
    def atanh(self) -> Tensor:
        """Inverse of the hyperbolic tangent; NaN outside [-1, 1]."""
    def baddbmm(self, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """beta * input + alpha * batch1 batch2, of stacks of matrices."""
    def bernoulli(self, *, seed: builtins.int | None = None, dtype: Any = None) -> Tensor:
        """1 with the probability that each element gives, else 0. Not inside a program: see the module."""
    def bfloat16(self) -> Tensor:
        """The tensor cast to bfloat16."""
    def bincount(self, weights: Any = None, minlength: Any = 0) -> Tensor:
        """How often each value 0, 1, ... occurs in a vector of integers that aren't negative, or the sum of its weights."""
    def bitwise_and(self, other: Any) -> Tensor:
        """Bits that are set in both. Of bools, logical and."""
    def bitwise_left_shift(self, other: Any) -> Tensor: ...
    def bitwise_not(self) -> Tensor:
        """All bits turned; of bools the other one. Integers or bools of any shape. ONNX ``BitwiseNot``."""
    def bitwise_or(self, other: Any) -> Tensor:
        """Bits that are set in one or both. Of bools, logical or."""
    def bitwise_right_shift(self, other: Any) -> Tensor: ...
    def bitwise_xor(self, other: Any) -> Tensor:
        """Bits that are set in exactly one. Of bools, logical xor."""
    def bmm(self, mat2: Any) -> Tensor:
        """Matrix product of tensors of ranks 3 and 3. ONNX ``MatMul``. Errors: InputError for other ranks."""
    def bool(self) -> Tensor:
        """The tensor cast to bool."""
    def broadcast_to(self, *shape: Any) -> Tensor:
        """The tensor repeated along axes of size 1, and along new leading axes; -1 keeps a size. A view. ONNX ``Expand``."""
    def byte(self) -> Tensor:
        """The tensor cast to uint8."""
    def cast(self, dtype: Any) -> Tensor:
        """The tensor cast to a dtype; a tensor stands for its own."""
    def cbrt(self) -> Tensor:
        """Cube root, negative for negative values. Any shape; integers become float32."""
    def ceil(self) -> Tensor:
        """The nearest whole number that is not less. Integers stay as they are."""
    def celu(self, alpha: builtins.float = 1.0) -> Tensor:
        """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)). ONNX ``Celu``. Errors: InputError where alpha is 0."""
    def char(self) -> Tensor:
        """The tensor cast to int8."""
    def chunk(self, chunks: builtins.int, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """The tensor cut along an axis into at most ``chunks`` parts of ceil(size / chunks), the last smaller; a tuple."""
    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """min(max(x, min), max); absent bounds don't limit, and ``max`` wins where they cross."""
    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """min(max(x, min), max); absent bounds don't limit, and ``max`` wins where they cross."""
    def clone(self) -> Tensor:
        """A dense copy. Any shape and dtype. ONNX ``Identity``."""
    def contiguous(self) -> Tensor:
        """The tensor."""
    def copy(self) -> Tensor:
        """A dense copy. Any shape and dtype. ONNX ``Identity``."""
    def copysign(self, other: Any) -> Tensor:
        """The size of ``x`` with the sign of ``other``. Two operands that broadcast; integers become float32."""
    def cos(self) -> Tensor:
        """Cosine of an angle in radians."""
    def cosh(self) -> Tensor:
        """Hyperbolic cosine."""
    def count_nonzero(
        self, axis: Any = None, keepdims: builtins.bool = False, *, dtype: Any = None, dim: Any = None, keep_dims: builtins.bool = False
    ) -> Tensor:
        """Number of elements over axes that aren't zero or false, as int64 unless ``dtype`` is given. Any shape."""
    def cpu(self) -> Tensor:
        """The tensor."""
    def cross(self, other: Any, dim: builtins.int = -1) -> Tensor:
        """The cross product of vectors of 3 along an axis; the other axes broadcast. Errors: another size of the axis."""
    def cummax(self, axis: builtins.int) -> tuple[Tensor, Tensor]:
        """The greatest of the elements up to each one along an axis, and its position as int64: (values, indices)."""
    def cummin(self, axis: builtins.int) -> tuple[Tensor, Tensor]:
        """The least of the elements up to each one along an axis, and its position as int64: (values, indices)."""
    def cumprod(self, axis: builtins.int, dtype: Any = None) -> Tensor: ...
    def cumsum(self, axis: builtins.int, dtype: Any = None) -> Tensor: ...
    def det(self) -> Tensor:
        """Determinant of the square matrices in the last two axes. ONNX ``Det``."""
    def detach(self) -> Tensor:
        """The tensor."""
    @property
    def device(self) -> str: ...
    def diag(self, offset: builtins.int = 0) -> Tensor:
        """A vector as the diagonal of a square matrix of zeros; or the diagonal of a matrix."""
    def diagonal(self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
        """The diagonals of the matrices in two axes, as the last axis of the result; positive offsets lie above the main one."""
    def diff(self, n: builtins.int = 1, axis: builtins.int = -1, prepend: Any = None, append: Any = None) -> Tensor:
        """Differences of neighbours along an axis, ``n`` times over; of bools, whether they differ."""
    def dim(self) -> builtins.int:
        """The number of axes."""
    def div(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """Quotient. Integers divide to float32; ``rounding_mode`` "floor" or "trunc" rounds, and keeps integers."""
    def divide(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """Quotient. Integers divide to float32; ``rounding_mode`` "floor" or "trunc" rounds, and keeps integers."""
    def dot(self, other: Any) -> Tensor:
        """numpy's dot: the sum of products of the last axis and the other's second to last (its only one if a vector)."""
    def double(self) -> Tensor:
        """The tensor cast to float64."""
    def elu(self, alpha: builtins.float = 1.0) -> Tensor:
        """x where x >= 0, else alpha * (exp(x) - 1). ONNX ``Elu``."""
    def eq(self, other: Any) -> Tensor:
        """Whether both are equal; NaN equals nothing."""
    def equal(self, other: Any) -> Tensor:
        """Whether both are equal; NaN equals nothing."""
    def erf(self) -> Tensor:
        """Gauss's error function."""
    def erfc(self) -> Tensor:
        """1 - erf(x). Any shape; integers become float32."""
    def exp(self) -> Tensor:
        """e to the power of the value."""
    def exp2(self) -> Tensor:
        """2 to the power of the value. Any shape; integers become float32."""
    def expand(self, *shape: Any) -> Tensor:
        """The tensor repeated along axes of size 1, and along new leading axes; -1 keeps a size. A view. ONNX ``Expand``."""
    def expand_as(self, other: Any) -> Tensor:
        """The tensor broadcast to the shape of ``other``."""
    def expand_dims(self, axis: Any = None, *, dim: Any = None) -> Tensor:
        """Axes of size 1 added, at the places ``axis`` (int or several) of the result. ONNX ``Unsqueeze``."""
    def expm1(self) -> Tensor:
        """exp(x) - 1 without the loss of digits near 0: tanh(x / 2) * (exp(x) + 1). Any shape; integers become float32."""
    def flatten(self, order: str = "C", *, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """The axes start_dim..end_dim merged into one; a tensor of rank 0 becomes one of rank 1. ONNX ``Flatten``."""
    def flip(self, dims: Any = None, *, axis: Any = None) -> Tensor:
        """The order of the elements reversed along axes (all if none are given). ONNX ``Slice`` with steps of -1."""
    def float(self) -> Tensor:
        """The tensor cast to float32."""
    def floor(self) -> Tensor:
        """The nearest whole number that is not greater. Integers stay as they are."""
    def floor_div(self, other: Any) -> Tensor:
        """Python's ``//``: the quotient rounded down, in the promoted dtype."""
    def floor_divide(self, other: Any) -> Tensor:
        """Python's ``//``: the quotient rounded down, in the promoted dtype."""
    def fmax(self, other: Any) -> Tensor:
        """The greater one; the other where one is NaN. Two operands that broadcast."""
    def fmin(self, other: Any) -> Tensor:
        """The lesser one; the other where one is NaN. Two operands that broadcast."""
    def fmod(self, other: Any) -> Tensor:
        """What division towards zero leaves, with the sign of ``input``, as C's ``fmod``."""
    def frac(self) -> Tensor:
        """What follows the point: ``input - trunc(input)``. Floats of any shape; the result has its shape and dtype."""
    def gather(self, input_indices: Any, axis: builtins.int, batch_dims: builtins.int = 0) -> Tensor:
        """Slices along an axis at the positions in ``input_indices`` (integers of any shape); negative ones count from the end."""
    def gather_elements(self, dim: builtins.int, index: Any) -> Tensor: ...
    def gather_nd(self, indices: Any, batch_dims: builtins.int = 0) -> Tensor:
        """Slices at the positions that the tuples along the last axis of ``indices`` give. ONNX ``GatherND``."""
    def ge(self, other: Any) -> Tensor:
        """Whether the first is greater or equal."""
    def gelu(self, approximate: str = "none") -> Tensor: ...
    def greater(self, other: Any) -> Tensor:
        """Whether the first is greater."""
    def greater_equal(self, other: Any) -> Tensor:
        """Whether the first is greater or equal."""
    def gt(self, other: Any) -> Tensor:
        """Whether the first is greater."""
    def half(self) -> Tensor:
        """The tensor cast to float16."""
    def hardshrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """0 where |x| <= lambd, else x. ONNX ``Shrink``."""
    def hypot(self, other: Any) -> Tensor:
        """Length of the hypotenuse, without overflow of the squares. Two operands that broadcast."""
    def index_add(self, axis: builtins.int, index: Any, source: Any) -> Tensor:
        """``input`` with the slices of ``source`` added at the positions along an axis in a vector of integers."""
    def index_select(self, axis: builtins.int, index: Any) -> Tensor:
        """Slices along an axis at the positions in a vector of integers. ONNX ``Gather``."""
    def inner(self, other: Any) -> Tensor:
        """The sum of products over the last axes of both."""
    def int(self) -> Tensor:
        """The tensor cast to int32."""
    def inv(self) -> Tensor:
        """1 divided by the value."""
    def isclose(self, other: Any, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
        """Whether |a - b| <= atol + rtol * |b|, or both are the same infinity. Two operands that broadcast. The result is bool."""
    def isfinite(self) -> Tensor:
        """Whether the value is neither infinite nor NaN. Any shape; the result is bool."""
    def isin(self, test_elements: Any) -> Tensor:
        """Whether each element is one of the test elements. The result is bool in the shape of ``elements``."""
    def isinf(self, *, detect_positive: builtins.bool = True, detect_negative: builtins.bool = True) -> Tensor:
        """Whether the value is infinite; never for integers. Any shape; the result is bool. ONNX ``IsInf``."""
    def isnan(self) -> Tensor:
        """Whether the value is NaN; never for integers. Any shape; the result is bool. ONNX ``IsNaN``."""
    def kron(self, other: Any) -> Tensor:
        """Kronecker's product: each element of the first times the whole second."""
    def le(self, other: Any) -> Tensor:
        """Whether the first is less or equal."""
    def leaky_relu(self, alpha: builtins.float = 0.2) -> Tensor:
        """x where x >= 0, else alpha * x. ONNX ``LeakyRelu``."""
    def lerp(self, end: Any, weight: Any) -> Tensor:
        """``input + weight * (end - input)``. Operands that broadcast; integers become float32."""
    def less(self, other: Any) -> Tensor:
        """Whether the first is less."""
    def less_equal(self, other: Any) -> Tensor:
        """Whether the first is less or equal."""
    def log(self) -> Tensor:
        """Natural logarithm; -inf for 0, NaN for negative values."""
    def log10(self) -> Tensor:
        """Logarithm to base 10. -inf for 0, NaN for negative values. Any shape; integers become float32."""
    def log1p(self) -> Tensor:
        """log(1 + x) without the loss of digits near 0. Any shape; integers become float32."""
    def log2(self) -> Tensor:
        """Logarithm to base 2. -inf for 0, NaN for negative values. Any shape; integers become float32."""
    def log_softmax(self, axis: builtins.int = -1, *, dtype: Any = None, dim: builtins.int | None = None) -> Tensor:
        """Logarithm of softmax, computed without its loss of digits."""
    def logaddexp(self, other: Any) -> Tensor:
        """log(exp(a) + exp(b)) without overflow. Two operands that broadcast."""
    def logcumsumexp(self, axis: builtins.int) -> Tensor: ...
    def logical_and(self, other: Any) -> Tensor:
        """Whether both are true."""
    def logical_not(self) -> Tensor:
        """Whether the value is zero or false. Any shape; the result is bool. ONNX ``Not``."""
    def logical_or(self, other: Any) -> Tensor:
        """Whether one or both are true."""
    def logical_xor(self, other: Any) -> Tensor:
        """Whether exactly one is true."""
    def logsigmoid(self) -> Tensor:
        """log(sigmoid(x)), computed as -softplus(-x)."""
    def logsumexp(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dtype: Any = None,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor:
        """Logarithm of the sum of exponentials over axes, computed so that it doesn't overflow."""
    def long(self) -> Tensor:
        """The tensor cast to int64."""
    def lt(self, other: Any) -> Tensor:
        """Whether the first is less."""
    @property
    def mT(self) -> Tensor: ...  # noqa: N802
    def masked_fill(self, mask: Any, value: Any) -> Tensor: ...
    def masked_select(self, mask: Any) -> Tensor:
        """The elements where the mask is true, as a vector; both broadcast. ONNX ``Compress``."""
    def matmul(self, other: Any) -> Tensor:
        """Matrix product of the last two axes, the others broadcast; vectors as numpy.matmul takes them. ONNX ``MatMul``."""
    def matrix_transpose(self) -> Tensor:
        """The last two axes exchanged. Errors: InputError below rank 2."""
    @overload
    def max(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        return_indices: Literal[True],
        dim: Any = None,
        keepdim: builtins.bool = False,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def max(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        return_indices: Literal[False] = False,
        dim: Any = None,
        keepdim: builtins.bool = False,
    ) -> Tensor: ...
    @overload
    def max(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        return_indices: builtins.bool = False,
        dim: Any = None,
        keepdim: builtins.bool = False,
    ) -> Any: ...
    def maximum(self, other: Any) -> Tensor:
        """The greater one; NaN if either is NaN. Of bools, logical or."""
    def mean(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dtype: Any = None,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor:
        """Mean over axes; NaN of nothing."""
    def median(self, axis: builtins.int = -1, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The lower median along an axis and its position: (values, indices)."""
    @overload
    def min(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        return_indices: Literal[True],
        dim: Any = None,
        keepdim: builtins.bool = False,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def min(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        return_indices: Literal[False] = False,
        dim: Any = None,
        keepdim: builtins.bool = False,
    ) -> Tensor: ...
    @overload
    def min(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        return_indices: builtins.bool = False,
        dim: Any = None,
        keepdim: builtins.bool = False,
    ) -> Any: ...
    def minimum(self, other: Any) -> Tensor:
        """The lesser one; NaN if either is NaN. Of bools, logical and."""
    def mm(self, mat2: Any) -> Tensor:
        """Matrix product of tensors of ranks 2 and 2. ONNX ``MatMul``. Errors: InputError for other ranks."""
    def mode(self, axis: builtins.int = -1, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The most frequent element along an axis, of several the least, and its last position as int64: (values, indices)."""
    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """The axes ``source`` moved to the places ``destination``; the others keep their order."""
    def movedim(self, source: Any, destination: Any) -> Tensor:
        """The axes ``source`` moved to the places ``destination``; the others keep their order."""
    def mul(self, other: Any) -> Tensor:
        """Product; integers wrap. Of bools, logical and."""
    def multiply(self, other: Any) -> Tensor:
        """Product; integers wrap. Of bools, logical and."""
    def mv(self, mat2: Any) -> Tensor:
        """Matrix product of tensors of ranks 2 and 1. ONNX ``MatMul``. Errors: InputError for other ranks."""
    def nan_to_num(
        self, nan: builtins.float | None = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None
    ) -> Tensor:
        """NaN and the infinities replaced, by 0 and the dtype's greatest and least number unless given."""
    def ne(self, other: Any) -> Tensor:
        """Whether both differ; NaN differs from all. Two operands that broadcast. The result is bool."""
    def neg(self) -> Tensor:
        """The value with its sign turned; integers wrap. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Neg``."""
    def negative(self) -> Tensor:
        """The value with its sign turned; integers wrap. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Neg``."""
    def nelement(self) -> builtins.int:
        """The number of elements."""
    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
        """A tensor of one repeated value, of the tensor's dtype unless ``dtype`` is given."""
    def new_ones(self, *size: Any, dtype: Any = None) -> Tensor: ...
    def new_zeros(self, *size: Any, dtype: Any = None) -> Tensor: ...
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor: ...
    @overload
    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any: ...
    def norm(
        self,
        ord: Any = None,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: Any = None,
        axis: Any = None,
        keepdims: builtins.bool = False,
    ) -> Tensor: ...
    def not_equal(self, other: Any) -> Tensor:
        """Whether both differ; NaN differs from all. Two operands that broadcast. The result is bool."""
    def numel(self) -> builtins.int:
        """The number of elements."""
    def outer(self, vec2: Any) -> Tensor:
        """The products of all elements of one flattened tensor with all of another."""
    def permute(self, *axes: Any) -> Tensor:
        """The axes in another order: axis i of the result is axis ``axes[i]``; reversed if none are given. ONNX ``Transpose``."""
    def pow(self, exponent: Any) -> Tensor: ...
    def prod(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dtype: Any = None,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor: ...
    def ravel(self) -> Tensor:
        """All elements in row-major order as a tensor of rank 1."""
    def reciprocal(self) -> Tensor:
        """1 divided by the value."""
    def relu(self) -> Tensor:
        """max(x, 0); NaN stays NaN. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Relu``."""
    def relu6(self) -> Tensor:
        """min(max(x, 0), 6). Any shape; shape and dtype stay. ONNX ``Clip``."""
    def remainder(self, other: Any) -> Tensor:
        """Python's ``%``: what floor division leaves, with the sign of ``other``."""
    def repeat(self, *multiples: Any) -> Tensor: ...
    def repeat_interleave(self, repeats: Any, axis: builtins.int | None = None) -> Tensor:
        """Each element (slice along an axis) repeated in place; over the flattened tensor where ``axis`` is None."""
    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in row-major order under another shape; one size may be -1: what is left."""
    def reshape_as(self, other: Any) -> Tensor:
        """The same elements under the shape of ``other``."""
    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """Elements moved along axes by ``shifts``, from one end to the other; over the flattened tensor where ``dims`` is None."""
    def rot90(self, k: builtins.int = 1, dims: Any = (0, 1)) -> Tensor:
        """The tensor turned by 90 degrees k times in the plane of two axes, from the first towards the second."""
    def round(self, *, decimals: builtins.int = 0) -> Tensor:
        """The nearest whole number, halves to the even one; or the nearest multiple of 10 ** -decimals."""
    def rsqrt(self) -> Tensor:
        """1 over the square root. Any shape; integers become float32."""
    def scatter(self, axis: builtins.int, index: Any, src: Any, *, reduce: str | None = None) -> Tensor:
        """``input`` with the elements of ``src`` written at positions along an axis. ONNX ``ScatterElements``."""
    def selu(self, alpha: builtins.float = 1.6732631921768188, gamma: builtins.float = 1.0507010221481323) -> Tensor:
        """gamma * x where x > 0, else gamma * alpha * (exp(x) - 1). ONNX ``Selu``."""
    def short(self) -> Tensor:
        """The tensor cast to int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x)), computed so that neither end overflows."""
    def sign(self) -> Tensor:
        """-1, 0 or 1 by the sign; NaN stays NaN. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Sign``."""
    def signbit(self) -> Tensor:
        """Whether the sign is minus, for -0.0 and NaN too. Any shape; the result is bool."""
    def silu(self, alpha: builtins.float = 1.0) -> Tensor:
        """x * sigmoid(alpha * x). ONNX ``Swish``."""
    def sin(self) -> Tensor:
        """Sine of an angle in radians."""
    def sinh(self) -> Tensor:
        """Hyperbolic sine."""
    def softmax(self, axis: builtins.int = -1, *, dtype: Any = None, dim: builtins.int | None = None) -> Tensor:
        """exp(x) over the sum of exp(x) along an axis."""
    def softplus(self) -> Tensor:
        """log(1 + exp(x)), computed so that large values don't overflow."""
    def sort(self, axis: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """Elements along an axis in order, and where each came from as int64: (values, indices), as in MindSpore."""
    def split(self, split_size_or_sections: Any, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """The tensor cut along an axis into a tuple of parts: of one size each (the last may be smaller), or of the given sizes."""
    def sqrt(self) -> Tensor:
        """Square root; NaN for negative values."""
    def square(self) -> Tensor:
        """The value times itself. Any shape, numbers; shape and dtype stay."""
    def squeeze(self, axis: Any = None, *, dim: Any = None) -> Tensor:
        """Axes of size 1 dropped: those of ``axis`` (int or several), or all."""
    def std(
        self,
        axis: Any = None,
        ddof: builtins.float = 0,
        keepdims: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor:
        """Square root of ``var``, whose parameters it has."""
    def sub(self, other: Any) -> Tensor:
        """Difference; integers wrap."""
    def subtract(self, other: Any) -> Tensor:
        """Difference; integers wrap."""
    def sum(
        self,
        axis: Any = None,
        keepdims: builtins.bool = False,
        *,
        dtype: Any = None,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor:
        """Sum over axes; 0 of nothing. Signed integers and bools become int64, unsigned ones uint64, unless ``dtype`` is given."""
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Two axes exchanged."""
    def swapdims(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Two axes exchanged."""
    def t(self) -> Tensor:
        """The matrix transposed; vectors and scalars stay. Errors: InputError above rank 2."""
    def take(self, indices: Any, axis: builtins.int | None = None, mode: str = "raise") -> Tensor:
        """Elements at positions of the flattened tensor, or slices along an axis, at integers of any shape. ONNX ``Gather``."""
    def take_along_axis(self, indices: Any, axis: builtins.int | None = -1) -> Tensor:
        """As ``gather_elements``, where the other axes of both broadcast; of the flattened tensor where ``axis`` is None."""
    def tan(self) -> Tensor:
        """Tangent of an angle in radians."""
    def tanh(self) -> Tensor:
        """Hyperbolic tangent."""
    def tensor_scatter_add(self, indices: Any, updates: Any) -> Tensor: ...
    def tensor_scatter_max(self, indices: Any, updates: Any) -> Tensor: ...
    def tensor_scatter_min(self, indices: Any, updates: Any) -> Tensor: ...
    def tensor_scatter_mul(self, indices: Any, updates: Any) -> Tensor: ...
    def tensor_scatter_sub(self, indices: Any, updates: Any) -> Tensor:
        """``input_x`` with slices decreased by ``updates``; as ``tensor_scatter_add``."""
    def tensor_scatter_update(self, indices: Any, updates: Any) -> Tensor: ...
    def tensor_split(self, indices_or_sections: Any, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """The tensor cut along an axis into that many parts, the first ones larger by 1, or at the given positions; a tuple."""
    def tile(self, *multiples: Any) -> Tensor: ...
    def to(self, dtype: Any) -> Tensor:
        """The tensor cast to a dtype; a tensor stands for its own."""
    def to_device(self, device: Any, /, *, stream: None = None) -> Tensor:
        """The tensor: there is one device."""
    def topk(
        self, k: Any, dim: builtins.int | None = None, largest: builtins.bool = True, sorted: builtins.bool = True
    ) -> tuple[Tensor, Tensor]: ...
    def trace(self, offset: builtins.int = 0) -> Tensor:
        """The sum of the diagonal of the first two axes."""
    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order: axis i of the result is axis ``axes[i]``; reversed if none are given. ONNX ``Transpose``."""
    def tril(self, diagonal: Any = 0) -> Tensor:
        """The lower triangle of each matrix (last two axes), up to a diagonal above the main one; the rest is 0. ONNX ``Trilu``."""
    def triu(self, diagonal: Any = 0) -> Tensor: ...
    def true_divide(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """Quotient. Integers divide to float32; ``rounding_mode`` "floor" or "trunc" rounds, and keeps integers."""
    def trunc(self) -> Tensor:
        """The value without what follows the point. Integers stay. Any shape; the result has its shape and dtype."""
    def unbind(self, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """The slices along an axis, without it, as a tuple. In a program its size must be known before it runs."""
    def unflatten(self, axis: builtins.int, sizes: Any) -> Tensor:
        """One axis split into several of the given sizes; one may be -1."""
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        *,
        return_inverse: Literal[True],
        return_counts: builtins.bool = False,
        axis: builtins.int | None = None,
        return_index: builtins.bool = False,
    ) -> tuple[Tensor, ...]: ...
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        *,
        return_counts: Literal[True],
        axis: builtins.int | None = None,
        return_index: builtins.bool = False,
    ) -> tuple[Tensor, ...]: ...
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        *,
        axis: builtins.int | None = None,
        return_index: Literal[True],
    ) -> tuple[Tensor, ...]: ...
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        *,
        axis: builtins.int | None = None,
        return_index: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        *,
        axis: builtins.int | None = None,
        return_index: builtins.bool = False,
    ) -> Any: ...
    @overload
    def unique_consecutive(
        self, *, return_idx: Literal[True], return_counts: builtins.bool = False, axis: builtins.int | None = None
    ) -> tuple[Tensor, ...]:
        """The elements that differ from the one before, of the flattened tensor."""
    @overload
    def unique_consecutive(
        self, return_idx: builtins.bool = False, *, return_counts: Literal[True], axis: builtins.int | None = None
    ) -> tuple[Tensor, ...]:
        """The elements that differ from the one before, of the flattened tensor."""
    @overload
    def unique_consecutive(
        self, return_idx: Literal[False] = False, return_counts: Literal[False] = False, axis: builtins.int | None = None
    ) -> Tensor:
        """The elements that differ from the one before, of the flattened tensor."""
    @overload
    def unique_consecutive(
        self, return_idx: builtins.bool = False, return_counts: builtins.bool = False, axis: builtins.int | None = None
    ) -> Any:
        """The elements that differ from the one before, of the flattened tensor."""
    def unsqueeze(self, axis: Any = None, *, dim: Any = None) -> Tensor:
        """Axes of size 1 added, at the places ``axis`` (int or several) of the result. ONNX ``Unsqueeze``."""
    def unstack(self, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """The slices along an axis, without it, as a tuple. In a program its size must be known before it runs."""
    def var(
        self,
        axis: Any = None,
        ddof: builtins.float = 0,
        keepdims: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
        dim: Any = None,
        keepdim: builtins.bool = False,
        keep_dims: builtins.bool = False,
    ) -> Tensor: ...
    def vecdot(self, y: Any, *, axis: builtins.int = -1) -> Tensor:
        """The sum of products along one axis of both, the others broadcast."""
    def view(self, *shape: Any) -> Tensor:
        """The same elements in row-major order under another shape; one size may be -1: what is left."""
    def view_as(self, other: Any) -> Tensor:
        """The same elements under the shape of ``other``."""
    def where(self, condition: Any, other: Any) -> Tensor:
        """The tensor where the condition is true, else ``other``."""
    def xlogy(self, other: Any) -> Tensor:
        """``input * log(other)``, 0 where ``input`` is 0 and ``other`` isn't NaN. Two operands that broadcast."""
    def __iter__(self) -> Iterator[Tensor]: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
