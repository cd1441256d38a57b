# Written by tools/gen_python_stubs.py from the tables of operators.
from typing import Any, Literal, overload

import numpy as np

from .._core import Tensor
from ._custom import TensorSpec as TensorSpec
from ._custom import custom as custom
from .classes import Form

__all__: list[str]

def abs(input: Any) -> Tensor:
    """Distance from zero; the least value of a signed integer dtype stays itself."""

def absolute(input: Any) -> Tensor:
    """Distance from zero; the least value of a signed integer dtype stays itself."""

def acos(input: Any) -> Tensor:
    """Angle in radians whose cosine is the value; NaN outside [-1, 1]."""

def acosh(input: Any) -> Tensor:
    """Inverse of the hyperbolic cosine; NaN below 1."""

def adaptive_avg_pool1d(input: Any, output_size: Any) -> Tensor: ...
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor: ...
def adaptive_avg_pool3d(input: Any, output_size: Any) -> Tensor: ...
def adaptive_max_pool1d(input: Any, output_size: Any) -> Tensor: ...
def adaptive_max_pool2d(input: Any, output_size: Any) -> Tensor: ...
def add(input: Any, other: Any) -> Tensor:
    """Sum; integers wrap. Of bools, logical or."""

def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``. Operands that broadcast."""

def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """``input + value * tensor1 * tensor2``. Operands that broadcast."""

def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * mat1 mat2, of matrices."""

def addn(inputs: Any) -> Tensor:
    """Sum of all tensors, from the first to the last, in a float dtype."""

def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Tensor: ...
def all(input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False) -> Tensor:
    """Whether every element over axes isn't zero or false; true of nothing. The result is bool."""

def amax(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> Tensor:
    """The greatest element over axes; NaN if one is NaN. Of nothing: the infinity or the dtype's limit at the other end."""

def amin(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> Tensor:
    """The least element over axes; NaN if one is NaN. Of nothing: the infinity or the dtype's limit at the other end."""

def any(input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False) -> Tensor:
    """Whether some element over axes isn't zero or false; false of nothing. The result is bool."""

def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """start, start + step, ... up to but without end; from 0 where one bound is given."""

def arccos(input: Any) -> Tensor:
    """Angle in radians whose cosine is the value; NaN outside [-1, 1]."""

def arccosh(input: Any) -> Tensor:
    """Inverse of the hyperbolic cosine; NaN below 1."""

def arcsin(input: Any) -> Tensor:
    """Angle in radians whose sine is the value; NaN outside [-1, 1]."""

def arcsinh(input: Any) -> Tensor:
    """Inverse of the hyperbolic sine."""

def arctan(input: Any) -> Tensor:
    """Angle in radians whose tangent is the value."""

def arctan2(input: Any, other: Any) -> Tensor: ...
def arctanh(input: Any) -> Tensor:
    """Inverse of the hyperbolic tangent; NaN outside [-1, 1]."""

def argmax(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> Tensor: ...
def argmin(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> Tensor: ...
def argsort(input: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Positions, as int64, that put the elements along an axis in order. Equal ones keep their order. ONNX ``TopK``."""

@overload
def argwhere(input: Any, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
@overload
def argwhere(input: Any, *, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def argwhere(input: Any, *, as_tuple: bool = False) -> Any: ...
def as_array(obj: Any, dtype: Any = None) -> Tensor:
    """A number, nested list, array or tensor as a tensor; cast if ``dtype`` is given."""

def asin(input: Any) -> Tensor:
    """Angle in radians whose sine is the value; NaN outside [-1, 1]."""

def asinh(input: Any) -> Tensor:
    """Inverse of the hyperbolic sine."""

def atan(input: Any) -> Tensor:
    """Angle in radians whose tangent is the value."""

def atan2(input: Any, other: Any) -> Tensor: ...
def atanh(input: Any) -> Tensor:
    """Inverse of the hyperbolic tangent; NaN outside [-1, 1]."""

def attention(
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    nonpad_kv_seqlen: Any = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float = 0.0,
    q_num_heads: int | None = None,
    kv_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    softmax_precision: Any = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
    outputs: int = 1,
) -> Any: ...
def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str | None = None,
) -> Tensor:
    """The mean of each window over 1 spatial axes. ONNX ``AveragePool``."""

def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str | None = None,
) -> Tensor:
    """The mean of each window over 2 spatial axes. ONNX ``AveragePool``."""

def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str | None = None,
) -> Tensor:
    """The mean of each window over 3 spatial axes. ONNX ``AveragePool``."""

def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * batch1 batch2, of stacks of matrices."""

@overload
def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    training: Literal[True],
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel (axis 1), with the given mean and variance."""

@overload
def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: Literal[False] = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel (axis 1), with the given mean and variance."""

@overload
def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel (axis 1), with the given mean and variance."""

def bernoulli(input: Any, *, seed: int | None = None, dtype: Any = None) -> Tensor:
    """1 with the probability that each element gives, else 0. Not inside a program: see the module."""

def bias_add(input_x: Any, bias: Any) -> Tensor:
    """A vector added along axis 1 (the channels)."""

def bincount(input: Any, weights: Any = None, minlength: Any = 0) -> Tensor:
    """How often each value 0, 1, ... occurs in a vector of integers that aren't negative, or the sum of its weights."""

def bit_cast(input: Any, dtype: Any) -> Tensor:
    """The same bits read as another dtype of the same size. Any shape. ONNX ``BitCast``."""

def bitwise_and(input: Any, other: Any) -> Tensor:
    """Bits that are set in both. Of bools, logical and."""

def bitwise_left_shift(input: Any, other: Any) -> Tensor: ...
def bitwise_not(input: Any) -> Tensor:
    """All bits turned; of bools the other one. Integers or bools of any shape. ONNX ``BitwiseNot``."""

def bitwise_or(input: Any, other: Any) -> Tensor:
    """Bits that are set in one or both. Of bools, logical or."""

def bitwise_right_shift(input: Any, other: Any) -> Tensor: ...
def bitwise_xor(input: Any, other: Any) -> Tensor:
    """Bits that are set in exactly one. Of bools, logical xor."""

def blackman_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor: ...
def bmm(input: Any, mat2: Any) -> Tensor:
    """Matrix product of tensors of ranks 3 and 3. ONNX ``MatMul``. Errors: InputError for other ranks."""

def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors broadcast to each other, as a tuple."""

def broadcast_to(input: Any, *shape: Any) -> Tensor:
    """The tensor repeated along axes of size 1, and along new leading axes; -1 keeps a size. A view. ONNX ``Expand``."""

def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Tensor:
    """In which of the intervals between sorted boundaries each element lies, as int64."""

def cast(input: Any, dtype: Any) -> Tensor:
    """Each element converted. Any shape and dtype. ONNX ``Cast``."""

def cat(tensors: Any, axis: int = 0) -> Tensor:
    """Tensors joined one after the other along an axis; dtypes are promoted. ONNX ``Concat``."""

@overload
def causal_conv_with_state(
    input: Any, weight: Any, bias: Any = None, past_state: Any = None, *, activation: str = "none", return_state: Literal[True] = True
) -> tuple[Tensor, Tensor]: ...
@overload
def causal_conv_with_state(
    input: Any, weight: Any, bias: Any = None, past_state: Any = None, *, activation: str = "none", return_state: Literal[False]
) -> Tensor: ...
@overload
def causal_conv_with_state(
    input: Any, weight: Any, bias: Any = None, past_state: Any = None, *, activation: str = "none", return_state: bool = True
) -> Any: ...
def cbrt(input: Any) -> Tensor:
    """Cube root, negative for negative values. Any shape; integers become float32."""

def cdist(x1: Any, x2: Any, p: float = 2.0) -> Tensor:
    """Distances between rows: [..., P, M] and [..., R, M] -> [..., P, R], the p-norm of each difference."""

def ceil(input: Any) -> Tensor:
    """The nearest whole number that is not less. Integers stay as they are."""

def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)). ONNX ``Celu``. Errors: InputError where alpha is 0."""

def center_crop_pad(input: Any, size: Any, axes: Any = None) -> Tensor:
    """Cropped or padded with 0 around the centre to the given sizes of some axes (all if None). ONNX ``CenterCropPad``."""

def channel_shuffle(x: Any, groups: int) -> Tensor: ...
def chunk(input: Any, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """The tensor cut along an axis into at most ``chunks`` parts of ceil(size / chunks), the last smaller; a tuple."""

def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """min(max(x, min), max); absent bounds don't limit, and ``max`` wins where they cross."""

def clip(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """min(max(x, min), max); absent bounds don't limit, and ``max`` wins where they cross."""

def col2im(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns [N, C kh kw, L] summed into the image [N, C, H, W] they were cut from. ONNX ``Col2Im``."""

def column_stack(tensors: Any) -> Tensor:
    """Tensors joined along axis 1; vectors are columns."""

def compress(condition: Any, input: Any, axis: int | None = None) -> Tensor: ...
def concat(tensors: Any, axis: int = 0) -> Tensor:
    """Tensors joined one after the other along an axis; dtypes are promoted. ONNX ``Concat``."""

def concatenate(tensors: Any, axis: int = 0) -> Tensor:
    """Tensors joined one after the other along an axis; dtypes are promoted. ONNX ``Concat``."""

def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor: ...
def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor: ...
def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor: ...
def conv_integer(
    x: Any,
    w: Any,
    x_zero_point: Any = None,
    w_zero_point: Any = None,
    *,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """``conv2d`` of int8 or uint8 less their zero points, as int32; also over one or three axes. ONNX ``ConvInteger``."""

def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "pad",
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor: ...
def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "pad",
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor: ...
def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "pad",
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor: ...
def copysign(x: Any, other: Any) -> Tensor:
    """The size of ``x`` with the sign of ``other``. Two operands that broadcast; integers become float32."""

def cos(input: Any) -> Tensor:
    """Cosine of an angle in radians."""

def cosh(input: Any) -> Tensor:
    """Hyperbolic cosine."""

def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None, dim: Any = None, keep_dims: bool = False
) -> Tensor:
    """Number of elements over axes that aren't zero or false, as int64 unless ``dtype`` is given. Any shape."""

def crop_and_resize(image: Any, boxes: Any, box_indices: Any, crop_size: Any) -> Tensor:
    """Regions of images [N, H, W, C], each at the size (height, width) by linear interpolation: [K, height, width, C]."""

def cross(input: Any, other: Any, dim: int = -1) -> Tensor:
    """The cross product of vectors of 3 along an axis; the other axes broadcast. Errors: another size of the axis."""

def cummax(input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """The greatest of the elements up to each one along an axis, and its position as int64: (values, indices)."""

def cummin(input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """The least of the elements up to each one along an axis, and its position as int64: (values, indices)."""

def cumprod(input: Any, axis: int, dtype: Any = None) -> Tensor: ...
def cumsum(input: Any, axis: int, dtype: Any = None) -> Tensor: ...
def deepcopy(input: Any) -> Tensor:
    """A dense copy. Any shape and dtype. ONNX ``Identity``."""

def deform_conv2d(
    input: Any,
    weight: Any,
    offset: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    offset_groups: int = 1,
) -> Tensor: ...
def dense(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """input W^T + bias on the last axis. ``weight`` [out, in], ``bias`` [out]. ONNX ``MatMul``, ``Add``."""

def depth_to_space(input: Any, block_size: int, mode: str = "DCR") -> Tensor: ...
def dequantize_linear(x: Any, x_scale: Any, x_zero_point: Any = None, *, axis: int = 1, block_size: int = 0, dtype: Any = None) -> Tensor:
    """(x - x_zero_point) * x_scale. ``x``: int8, uint8, int16, uint16 or int32. ONNX ``DequantizeLinear``."""

def det(input: Any) -> Tensor:
    """Determinant of the square matrices in the last two axes. ONNX ``Det``."""

def dft(input: Any, dft_length: Any = None, *, axis: int = -2, inverse: bool = False, onesided: bool = False) -> Tensor: ...
def diag(input: Any, offset: int = 0) -> Tensor:
    """A vector as the diagonal of a square matrix of zeros; or the diagonal of a matrix."""

def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonals of the matrices in two axes, as the last axis of the result; positive offsets lie above the main one."""

def diff(input: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along an axis, ``n`` times over; of bools, whether they differ."""

def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Quotient. Integers divide to float32; ``rounding_mode`` "floor" or "trunc" rounds, and keeps integers."""

def divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Quotient. Integers divide to float32; ``rounding_mode`` "floor" or "trunc" rounds, and keeps integers."""

def dot(input: Any, other: Any) -> Tensor:
    """numpy's dot: the sum of products of the last axis and the other's second to last (its only one if a vector)."""

def dropout(input: Any, p: float = 0.5, training: bool = False, seed: int | None = None) -> Tensor:
    """The tensor itself: elements are dropped only in training, which isn't there. Errors: InputError with ``training``."""

def dstack(tensors: Any) -> Tensor:
    """Tensors joined along axis 2; vectors are rows, matrices get a last axis."""

def dynamic_quantize_linear(x: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Quantizes float32 to uint8 over its range widened to hold 0: (y, scale, zero point). ONNX ``DynamicQuantizeLinear``."""

def einsum(equation: str, *operands: Any) -> Tensor:
    """Sum of products over the labels that the result doesn't have, as numpy.einsum. ONNX ``Einsum``."""

def elu(input_x: Any, alpha: float = 1.0) -> Tensor:
    """x where x >= 0, else alpha * (exp(x) - 1). ONNX ``Elu``."""

def empty(*size: Any, dtype: Any = None) -> Tensor:
    """A tensor whose values aren't meant to be read; zeros here. float32 unless ``dtype`` is given."""

def eq(input: Any, other: Any) -> Tensor:
    """Whether both are equal; NaN equals nothing."""

def equal(input: Any, other: Any) -> Tensor:
    """Whether both are equal; NaN equals nothing."""

def erf(input: Any) -> Tensor:
    """Gauss's error function."""

def erfc(input: Any) -> Tensor:
    """1 - erf(x). Any shape; integers become float32."""

def exp(input: Any) -> Tensor:
    """e to the power of the value."""

def exp2(input: Any) -> Tensor:
    """2 to the power of the value. Any shape; integers become float32."""

def expand(input: Any, *shape: Any) -> Tensor:
    """The tensor repeated along axes of size 1, and along new leading axes; -1 keeps a size. A view. ONNX ``Expand``."""

def expand_as(input: Any, other: Any) -> Tensor:
    """The tensor broadcast to the shape of ``other``."""

def expand_dims(input: Any, axis: Any = None, *, dim: Any = None) -> Tensor:
    """Axes of size 1 added, at the places ``axis`` (int or several) of the result. ONNX ``Unsqueeze``."""

def expm1(input: Any) -> Tensor:
    """exp(x) - 1 without the loss of digits near 0: tanh(x / 2) * (exp(x) + 1). Any shape; integers become float32."""

def eye(n: Any, m: Any = None, *, dtype: Any = None, k: int = 0) -> Tensor:
    """A matrix of n rows and m columns (n if None) with ones on a diagonal, ``k`` above the main one."""

def eye_like(input: Any, *, dtype: Any = None, k: int = 0) -> Tensor:
    """Ones on a diagonal and zeros elsewhere in the shape of a matrix. ONNX ``EyeLike``."""

def fix(input: Any) -> Tensor:
    """The value without what follows the point. Integers stay. Any shape; the result has its shape and dtype."""

def flash_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    softcap: float = 0.0,
) -> Tensor:
    """softmax(Q K^T * scale + mask) V for each head. ONNX ``Attention``."""

def flatten(input: Any, order: str = "C", *, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes start_dim..end_dim merged into one; a tensor of rank 0 becomes one of rank 1. ONNX ``Flatten``."""

def flip(input: Any, dims: Any = None, *, axis: Any = None) -> Tensor:
    """The order of the elements reversed along axes (all if none are given). ONNX ``Slice`` with steps of -1."""

def floor(input: Any) -> Tensor:
    """The nearest whole number that is not greater. Integers stay as they are."""

def floor_div(input: Any, other: Any) -> Tensor:
    """Python's ``//``: the quotient rounded down, in the promoted dtype."""

def floor_divide(input: Any, other: Any) -> Tensor:
    """Python's ``//``: the quotient rounded down, in the promoted dtype."""

def fmax(input: Any, other: Any) -> Tensor:
    """The greater one; the other where one is NaN. Two operands that broadcast."""

def fmin(input: Any, other: Any) -> Tensor:
    """The lesser one; the other where one is NaN. Two operands that broadcast."""

def fmod(input: Any, other: Any) -> Tensor:
    """What division towards zero leaves, with the sign of ``input``, as C's ``fmod``."""

def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns [N, C kh kw, L] summed into the image [N, C, H, W] they were cut from. ONNX ``Col2Im``."""

def frac(input: Any) -> Tensor:
    """What follows the point: ``input - trunc(input)``. Floats of any shape; the result has its shape and dtype."""

def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of one repeated value; without ``dtype``, that of the value (ints int64, floats float32)."""

def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of one repeated value in the shape, and unless given the dtype, of ``input``."""

def gather(input_params: Any, input_indices: Any, axis: int, batch_dims: int = 0) -> Tensor:
    """Slices along an axis at the positions in ``input_indices`` (integers of any shape); negative ones count from the end."""

def gather_elements(input: Any, dim: int, index: Any) -> Tensor: ...
def gather_nd(input_x: Any, indices: Any, batch_dims: int = 0) -> Tensor:
    """Slices at the positions that the tuples along the last axis of ``indices`` give. ONNX ``GatherND``."""

def ge(input: Any, other: Any) -> Tensor:
    """Whether the first is greater or equal."""

def gelu(input: Any, approximate: str = "none") -> Tensor: ...
def gemm(
    a: Any, b: Any, c: Any = None, *, alpha: float = 1.0, beta: float = 1.0, transpose_a: bool = False, transpose_b: bool = False
) -> Tensor:
    """alpha * A B + beta * C of matrices, with C broadcast to the result. ONNX ``Gemm``."""

def getitem(input: Any, index: Any) -> Tensor:
    """``input[index]`` with numpy's meaning."""

def global_avg_pool(input: Any) -> Tensor:
    """The mean over all positions of each channel: [N, C, ...] to [N, C, 1...]. ONNX ``GlobalAveragePool``."""

def global_lp_pool(input: Any, p: int = 2) -> Tensor:
    """The p-norm over all positions of each channel: [N, C, ...] to [N, C, 1...]. ONNX ``GlobalLpPool``."""

def global_max_pool(input: Any) -> Tensor:
    """The greatest element over all positions of each channel: [N, C, ...] to [N, C, 1...]. ONNX ``GlobalMaxPool``."""

def glu(x: Any, axis: int = -1) -> Tensor:
    """The first half along an axis times the sigmoid of the second. Errors: a size that isn't even."""

def greater(input: Any, other: Any) -> Tensor:
    """Whether the first is greater."""

def greater_equal(input: Any, other: Any) -> Tensor:
    """Whether the first is greater or equal."""

def grid_sample(input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False) -> Tensor: ...
def group_norm(x: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-05) -> Tensor:
    """Normalises [N, C, ...] over each group of channels and all positions, then weight and bias per channel."""

def gru(
    input: Any,
    hx: Any = None,
    weight_ih: Any = None,
    weight_hh: Any = None,
    bias_ih: Any = None,
    bias_hh: Any = None,
    *,
    sequence_lens: Any = None,
    batch_first: bool = False,
    reverse: bool = False,
    linear_before_reset: bool = True,
) -> tuple[Tensor, Tensor]: ...
def gt(input: Any, other: Any) -> Tensor:
    """Whether the first is greater."""

def hamming_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor: ...
def hann_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor: ...
def hard_sigmoid(input: Any, alpha: float = 0.16666666666666666, beta: float = 0.5) -> Tensor:
    """max(0, min(1, alpha * x + beta)); alpha is 1/6 here as in MindSpore, 0.2 by ONNX's default. ONNX ``HardSigmoid``."""

def hard_swish(input: Any) -> Tensor:
    """x * max(0, min(1, x / 6 + 0.5))."""

def hardmax(input: Any, axis: int = -1, *, dtype: Any = None, dim: int | None = None) -> Tensor:
    """1 at the first greatest element along an axis, 0 elsewhere."""

def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """0 where |x| <= lambd, else x. ONNX ``Shrink``."""

def hardsigmoid(input: Any, alpha: float = 0.16666666666666666, beta: float = 0.5) -> Tensor:
    """max(0, min(1, alpha * x + beta)); alpha is 1/6 here as in MindSpore, 0.2 by ONNX's default. ONNX ``HardSigmoid``."""

def hardswish(input: Any) -> Tensor:
    """x * max(0, min(1, x / 6 + 0.5))."""

def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x limited to min_val..max_val. Any shape; shape stays. ONNX ``Clip``."""

def hstack(tensors: Any) -> Tensor:
    """Tensors joined along axis 1, vectors along axis 0."""

def hypot(input: Any, other: Any) -> Tensor:
    """Length of the hypotenuse, without overflow of the squares. Two operands that broadcast."""

def identity(input: Any) -> Tensor:
    """The tensor itself."""

def im2col(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Sliding blocks of [N, C, H, W] as columns [N, C kh kw, L] (im2col)."""

def index_add(input: Any, axis: int, index: Any, source: Any) -> Tensor:
    """``input`` with the slices of ``source`` added at the positions along an axis in a vector of integers."""

def index_select(input: Any, axis: int, index: Any) -> Tensor:
    """Slices along an axis at the positions in a vector of integers. ONNX ``Gather``."""

def inner(input: Any, other: Any) -> Tensor:
    """The sum of products over the last axes of both."""

def instance_norm(input: Any, weight: Any = None, bias: Any = None, eps: float = 1e-05) -> Tensor: ...
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    *,
    antialias: bool = False,
) -> Tensor:
    """The image sampled at other spatial sizes, as torch and MindSpore do. ONNX ``Resize``."""

def inv(input: Any) -> Tensor:
    """1 divided by the value."""

def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether |a - b| <= atol + rtol * |b|, or both are the same infinity. Two operands that broadcast. The result is bool."""

def isfinite(input: Any) -> Tensor:
    """Whether the value is neither infinite nor NaN. Any shape; the result is bool."""

def isin(elements: Any, test_elements: Any) -> Tensor:
    """Whether each element is one of the test elements. The result is bool in the shape of ``elements``."""

def isinf(input: Any, *, detect_positive: bool = True, detect_negative: bool = True) -> Tensor:
    """Whether the value is infinite; never for integers. Any shape; the result is bool. ONNX ``IsInf``."""

def isnan(input: Any) -> Tensor:
    """Whether the value is NaN; never for integers. Any shape; the result is bool. ONNX ``IsNaN``."""

def kron(input: Any, other: Any) -> Tensor:
    """Kronecker's product: each element of the first times the whole second."""

def l2_normalize(x: Any, axis: int = 0, epsilon: float = 1e-12) -> Tensor:
    """Each element over the square root of the sum of squares along an axis, of at least ``epsilon``."""

def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-05) -> Tensor: ...
def le(input: Any, other: Any) -> Tensor:
    """Whether the first is less or equal."""

def leaky_relu(input: Any, alpha: float = 0.2) -> Tensor:
    """x where x >= 0, else alpha * x. ONNX ``LeakyRelu``."""

def lerp(input: Any, end: Any, weight: Any) -> Tensor:
    """``input + weight * (end - input)``. Operands that broadcast; integers become float32."""

def less(input: Any, other: Any) -> Tensor:
    """Whether the first is less."""

def less_equal(input: Any, other: Any) -> Tensor:
    """Whether the first is less or equal."""

def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """input W^T + bias on the last axis. ``weight`` [out, in], ``bias`` [out]. ONNX ``MatMul``, ``Add``."""

def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Tensor:
    """``steps`` values evenly spaced from start to end, both included; float32 unless ``dtype`` is given."""

def local_response_norm(input: Any, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Each element of [N, C, ...] over (k + alpha / size * sum of squares of ``size`` channels) ^ beta. ONNX ``LRN``."""

def log(input: Any) -> Tensor:
    """Natural logarithm; -inf for 0, NaN for negative values."""

def log10(input: Any) -> Tensor:
    """Logarithm to base 10. -inf for 0, NaN for negative values. Any shape; integers become float32."""

def log1p(input: Any) -> Tensor:
    """log(1 + x) without the loss of digits near 0. Any shape; integers become float32."""

def log2(input: Any) -> Tensor:
    """Logarithm to base 2. -inf for 0, NaN for negative values. Any shape; integers become float32."""

def log_softmax(input: Any, axis: int = -1, *, dtype: Any = None, dim: int | None = None) -> Tensor:
    """Logarithm of softmax, computed without its loss of digits."""

def logaddexp(input: Any, other: Any) -> Tensor:
    """log(exp(a) + exp(b)) without overflow. Two operands that broadcast."""

def logcumsumexp(input: Any, axis: int) -> Tensor: ...
def logical_and(input: Any, other: Any) -> Tensor:
    """Whether both are true."""

def logical_not(input: Any) -> Tensor:
    """Whether the value is zero or false. Any shape; the result is bool. ONNX ``Not``."""

def logical_or(input: Any, other: Any) -> Tensor:
    """Whether one or both are true."""

def logical_xor(input: Any, other: Any) -> Tensor:
    """Whether exactly one is true."""

def logsigmoid(input: Any) -> Tensor:
    """log(sigmoid(x)), computed as -softplus(-x)."""

def logspace(start: Any, end: Any, steps: Any, base: float = 10.0, *, dtype: Any = None) -> Tensor:
    """base to the power of ``steps`` values evenly spaced from start to end; float32 unless ``dtype`` is given."""

def logsumexp(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Logarithm of the sum of exponentials over axes, computed so that it doesn't overflow."""

def lp_normalization(input: Any, axis: int = -1, p: int = 2) -> Tensor:
    """Each element over the 1- or 2-norm along an axis; 0 where the norm is 0. ONNX ``LpNormalization``."""

def lp_pool1d(x: Any, norm_type: int, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm (p = ``norm_type``) of each window over 1 spatial axes of [N, C, ...]. ONNX ``LpPool``."""

def lp_pool2d(x: Any, norm_type: int, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm (p = ``norm_type``) of each window over 2 spatial axes of [N, C, ...]. ONNX ``LpPool``."""

def lrn(x: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5) -> Tensor:
    """Each element of [N, C, ...] over (bias + alpha * sum of squares of 2 * depth_radius + 1 channels) ^ beta. ONNX ``LRN``."""

def lstm(
    input: Any,
    hx: Any = None,
    weight_ih: Any = None,
    weight_hh: Any = None,
    bias_ih: Any = None,
    bias_hh: Any = None,
    *,
    sequence_lens: Any = None,
    batch_first: bool = False,
    reverse: bool = False,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Long short-term memory, gates i, f, g, o. ONNX ``LSTM``."""

def lt(input: Any, other: Any) -> Tensor:
    """Whether the first is less."""

def masked_fill(input_x: Any, mask: Any, value: Any) -> Tensor: ...
def masked_select(input: Any, mask: Any) -> Tensor:
    """The elements where the mask is true, as a vector; both broadcast. ONNX ``Compress``."""

def matmul(input: Any, other: Any) -> Tensor:
    """Matrix product of the last two axes, the others broadcast; vectors as numpy.matmul takes them. ONNX ``MatMul``."""

def matmul_integer(a: Any, b: Any, a_zero_point: Any = None, b_zero_point: Any = None) -> Tensor:
    """Matrix product of int8 or uint8 less their zero points, as int32. ONNX ``MatMulInteger``."""

def matrix_transpose(input: Any) -> Tensor:
    """The last two axes exchanged. Errors: InputError below rank 2."""

def max(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> tuple[Tensor, Tensor]:
    """The greatest elements along an axis (of all if None), and their positions as int64: (values, indices), as in MindSpore."""

def max_of(inputs: Any) -> Tensor:
    """The greatest of all tensors; NaN if one is NaN."""

@overload
def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    return_indices: Literal[True],
    ceil_mode: bool = False,
    pad_mode: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The greatest element of each window over 1 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

@overload
def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: Literal[False] = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str | None = None,
) -> Tensor:
    """The greatest element of each window over 1 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

@overload
def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str | None = None,
) -> Any:
    """The greatest element of each window over 1 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

@overload
def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    return_indices: Literal[True],
    ceil_mode: bool = False,
    pad_mode: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The greatest element of each window over 2 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

@overload
def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: Literal[False] = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str | None = None,
) -> Tensor:
    """The greatest element of each window over 2 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

@overload
def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str | None = None,
) -> Any:
    """The greatest element of each window over 2 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

@overload
def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    return_indices: Literal[True],
    ceil_mode: bool = False,
    pad_mode: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The greatest element of each window over 3 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

@overload
def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: Literal[False] = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str | None = None,
) -> Tensor:
    """The greatest element of each window over 3 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

@overload
def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str | None = None,
) -> Any:
    """The greatest element of each window over 3 spatial axes; padding doesn't count. ONNX ``MaxPool``."""

def max_roi_pool(input: Any, rois: Any, output_size: Any, spatial_scale: float = 1.0) -> Tensor: ...
def max_unpool1d(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Each element put where the positions of ``max_pool1d`` say, zeros elsewhere. ONNX ``MaxUnpool``."""

def max_unpool2d(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Each element put where the positions of ``max_pool2d`` say, zeros elsewhere. ONNX ``MaxUnpool``."""

def max_unpool3d(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Each element put where the positions of ``max_pool3d`` say, zeros elsewhere. ONNX ``MaxUnpool``."""

def maximum(input: Any, other: Any) -> Tensor:
    """The greater one; NaN if either is NaN. Of bools, logical or."""

def mean(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Mean over axes; NaN of nothing."""

def mean_of(inputs: Any) -> Tensor:
    """Mean of all tensors, in a float dtype."""

def mean_variance_normalization(input: Any, axes: Any = (0, 2, 3)) -> Tensor:
    """(x - mean) / standard deviation over the axes. ONNX ``MeanVarianceNormalization``."""

def median(input: Any, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The lower median along an axis and its position: (values, indices)."""

def mel_weight_matrix(
    num_mel_bins: Any, dft_length: Any, sample_rate: Any, lower_edge_hertz: Any, upper_edge_hertz: Any, *, dtype: Any = None
) -> Tensor:
    """Triangular filters that turn a spectrum of dft_length / 2 + 1 bins into bins evenly spaced on the mel scale."""

def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Vectors as coordinates of a grid: one tensor for each, of the grid's shape; "xy" exchanges the first two axes. A tuple."""

def min(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> tuple[Tensor, Tensor]:
    """The least elements along an axis (of all if None), and their positions as int64: (values, indices), as in MindSpore."""

def min_of(inputs: Any) -> Tensor:
    """The least of all tensors; NaN if one is NaN."""

def minimum(input: Any, other: Any) -> Tensor:
    """The lesser one; NaN if either is NaN. Of bools, logical and."""

def mish(input: Any) -> Tensor:
    """x * tanh(softplus(x))."""

def mm(input: Any, mat2: Any) -> Tensor:
    """Matrix product of tensors of ranks 2 and 2. ONNX ``MatMul``. Errors: InputError for other ranks."""

def mod(input: Any, other: Any) -> Tensor:
    """Python's ``%``: what floor division leaves, with the sign of ``other``."""

def mode(input: Any, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The most frequent element along an axis, of several the least, and its last position as int64: (values, indices)."""

def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """The axes ``source`` moved to the places ``destination``; the others keep their order."""

def movedim(x: Any, source: Any, destination: Any) -> Tensor:
    """The axes ``source`` moved to the places ``destination``; the others keep their order."""

def msort(input: Any) -> Tensor:
    """Elements along the first axis in order."""

def mul(input: Any, other: Any) -> Tensor:
    """Product; integers wrap. Of bools, logical and."""

def multinomial(input: Any, num_samples: int, *, seed: int | None = None) -> Tensor: ...
def multiply(input: Any, other: Any) -> Tensor:
    """Product; integers wrap. Of bools, logical and."""

def mv(input: Any, mat2: Any) -> Tensor:
    """Matrix product of tensors of ranks 2 and 1. ONNX ``MatMul``. Errors: InputError for other ranks."""

def nan_to_num(input: Any, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """NaN and the infinities replaced, by 0 and the dtype's greatest and least number unless given."""

def ne(input: Any, other: Any) -> Tensor:
    """Whether both differ; NaN differs from all. Two operands that broadcast. The result is bool."""

def neg(input: Any) -> Tensor:
    """The value with its sign turned; integers wrap. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Neg``."""

def negative(input: Any) -> Tensor:
    """The value with its sign turned; integers wrap. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Neg``."""

def nextafter(x: Any, other: Any) -> Tensor:
    """The next number of the dtype from ``x`` towards ``other``. Two float operands that broadcast."""

def nms(boxes: Any, scores: Any, iou_threshold: Any) -> Tensor: ...
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_boxes_per_class: Any = 0,
    iou_threshold: Any = 0.0,
    score_threshold: Any = None,
    *,
    center_point_box: int = 0,
) -> Tensor:
    """For each batch element and class the boxes by falling score, without those that overlap a better one too much."""

@overload
def nonzero(input: Any, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
@overload
def nonzero(input: Any, *, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def nonzero(input: Any, *, as_tuple: bool = False) -> Any: ...
def norm(
    input: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None, keepdims: bool = False
) -> Tensor: ...
def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = None) -> Tensor:
    """Values drawn from a normal distribution. Not inside a program: see the module."""

def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Each element over the p-norm along an axis, of at least ``eps``."""

def not_equal(input: Any, other: Any) -> Tensor:
    """Whether both differ; NaN differs from all. Two operands that broadcast. The result is bool."""

def numel(input: Any) -> int:
    """The number of elements, as an int. ONNX ``Size``."""

def one_hot(indices: Any, depth: Any, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor: ...
def ones(*size: Any, dtype: Any = None) -> Tensor:
    """A tensor of ones, float32 unless ``dtype`` is given."""

def ones_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Ones in the shape, and unless given the dtype, of ``input``."""

def outer(input: Any, vec2: Any) -> Tensor:
    """The products of all elements of one flattened tensor with all of another."""

def pad(input_x: Any, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Elements added around the last axes. ONNX ``Pad``."""

def permute(input: Any, *axes: Any) -> Tensor:
    """The axes in another order: axis i of the result is axis ``axes[i]``; reversed if none are given. ONNX ``Transpose``."""

def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """[..., C r², H, W] to [..., C, H r, W r] (W. Shi et al. 2016). ONNX ``DepthToSpace`` in mode CRD."""

def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """[..., C, H r, W r] to [..., C r², H, W], the inverse of ``pixel_shuffle``. Errors: sizes that r doesn't divide."""

def pow(input: Any, exponent: Any) -> Tensor: ...
def prelu(input: Any, weight: Any) -> Tensor:
    """x where x >= 0, else weight * x; ``weight`` has one element, or one for each channel (axis 1). ONNX ``PRelu``."""

def prod(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor: ...
def qlinear_conv(
    x: Any,
    x_scale: Any,
    x_zero_point: Any,
    w: Any,
    w_scale: Any,
    w_zero_point: Any,
    y_scale: Any,
    y_zero_point: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """``conv2d`` of quantized tensors, quantized; ``bias`` is int32 of scale x_scale * w_scale. ONNX ``QLinearConv``."""

def qlinear_matmul(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, y_scale: Any, y_zero_point: Any
) -> Tensor:
    """Matrix product of quantized matrices, quantized. ONNX ``QLinearMatMul``."""

def quantize_linear(x: Any, y_scale: Any, y_zero_point: Any = None, *, axis: int = 1, block_size: int = 0, dtype: Any = None) -> Tensor:
    """round(x / y_scale) + y_zero_point, halves to even, limited to the result's range. ONNX ``QuantizeLinear``."""

def rand(*size: Any, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Values drawn uniformly from [0, 1), float32 unless ``dtype`` is given. Not inside a program: see the module."""

def randint(low: int, high: int, size: Any, *, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Integers drawn uniformly from [low, high), int64 unless ``dtype`` is given. Not inside a program: see the module."""

def randn(*size: Any, dtype: Any = None, seed: int | None = None) -> Tensor: ...
def random_bernoulli(key: Any, p: Any, *, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """1 with the probability that each element of ``p`` gives, else 0: (values, next key). ONNX ``Bernoulli`` with a key."""

def random_key(seed: int) -> np.ndarray[Any, Any]:
    """The first key of a seed, as a uint64 array of 2 elements."""

def random_multinomial(key: Any, log_probabilities: Any, sample_size: Any, *, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Classes drawn by unnormalised log-probabilities [batch, classes]: ([batch, sample_size], next key)."""

def random_normal(key: Any, size: Any, mean: float = 0.0, scale: float = 1.0, *, dtype: Any = None) -> tuple[Tensor, Tensor]: ...
def random_uniform(key: Any, size: Any, low: float = 0.0, high: float = 1.0, *, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Values drawn uniformly from [low, high): (values, next key). Floats, float32 unless ``dtype`` is given."""

def randperm(n: int, *, dtype: Any = None, seed: int | None = None) -> Tensor:
    """0 to n - 1 in random order, int64 unless ``dtype`` is given. Not inside a program: see the module."""

def range_of(start: Any, limit: Any, delta: Any) -> Tensor: ...
def rank(input: Any) -> int:
    """The number of axes, as an int."""

def ravel(input: Any) -> Tensor:
    """All elements in row-major order as a tensor of rank 1."""

def reciprocal(input: Any) -> Tensor:
    """1 divided by the value."""

def reduce_all(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> Tensor:
    """Whether every element over axes isn't zero or false; true of nothing. The result is bool."""

def reduce_any(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> Tensor:
    """Whether some element over axes isn't zero or false; false of nothing. The result is bool."""

def reduce_l1(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Sum of the absolute values over axes."""

def reduce_l2(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Square root of the sum of squares over axes."""

def reduce_log_sum(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Logarithm of the sum over axes."""

def reduce_logsumexp(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Logarithm of the sum of exponentials over axes, computed so that it doesn't overflow."""

def reduce_max(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> Tensor:
    """The greatest element over axes; NaN if one is NaN. Of nothing: the infinity or the dtype's limit at the other end."""

def reduce_mean(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Mean over axes; NaN of nothing."""

def reduce_min(
    input: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False, keep_dims: bool = False
) -> Tensor:
    """The least element over axes; NaN if one is NaN. Of nothing: the infinity or the dtype's limit at the other end."""

def reduce_prod(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor: ...
def reduce_sum(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Sum over axes; 0 of nothing. Signed integers and bools become int64, unsigned ones uint64, unless ``dtype`` is given."""

def reduce_sum_square(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Sum of squares over axes."""

def relu(input: Any) -> Tensor:
    """max(x, 0); NaN stays NaN. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Relu``."""

def relu6(input: Any) -> Tensor:
    """min(max(x, 0), 6). Any shape; shape and dtype stay. ONNX ``Clip``."""

def remainder(input: Any, other: Any) -> Tensor:
    """Python's ``%``: what floor division leaves, with the sign of ``other``."""

def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element (slice along an axis) repeated in place; over the flattened tensor where ``axis`` is None."""

def reshape(input: Any, *shape: Any) -> Tensor:
    """The same elements in row-major order under another shape; one size may be -1: what is left."""

def reshape_as(input: Any, other: Any) -> Tensor:
    """The same elements under the shape of ``other``."""

def resize(
    input: Any,
    size: Any = None,
    *,
    scales: Any = None,
    roi: Any = None,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    axes: Any = None,
    cubic_coeff_a: float = -0.75,
    exclude_outside: bool = False,
    extrapolation_value: float = 0.0,
    antialias: bool = False,
) -> Tensor:
    """A tensor sampled at other sizes, with all that ONNX ``Resize`` offers and its defaults."""

def resize_bicubic(images: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """[N, C, H, W] at the size (height, width), by the cubic filter."""

def resize_bilinear(input: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """[N, C, H, W] at the size (height, width), by linear interpolation."""

def resize_nearest_neighbor(input_x: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """[N, C, H, W] at the size (height, width), by the nearest neighbour. ONNX ``Resize``."""

def reverse_sequence(x: Any, seq_lengths: Any, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """The first seq_lengths[b] elements of each sequence b reversed. Axes are 0 and 1, one each. ONNX ``ReverseSequence``."""

def rms_norm(x: Any, gamma: Any, eps: float = 1e-06, *, axis: int | None = None) -> Tensor:
    """Each element over the root mean square of the last axes (as many as ``gamma`` has, or from ``axis`` on), times gamma."""

def rnn(
    input: Any,
    hx: Any = None,
    weight_ih: Any = None,
    weight_hh: Any = None,
    bias_ih: Any = None,
    bias_hh: Any = None,
    *,
    nonlinearity: str = "tanh",
    sequence_lens: Any = None,
    batch_first: bool = False,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """h = f(x W^T + h R^T + b) over a sequence, f = tanh or relu. ONNX ``RNN``."""

def roi_align(
    input: Any,
    boxes: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
    *,
    batch_indices: Any = None,
    mode: str = "avg",
) -> Tensor:
    """Mean (or maximum) of interpolated samples in each cell of a grid over each region. ONNX ``RoiAlign``."""

def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved along axes by ``shifts``, from one end to the other; over the flattened tensor where ``dims`` is None."""

def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """The tensor turned by 90 degrees k times in the plane of two axes, from the first towards the second."""

def rotary_embedding(
    x: Any,
    cos_cache: Any,
    sin_cache: Any,
    position_ids: Any = None,
    *,
    interleaved: bool = False,
    num_heads: int | None = None,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    """Pairs of elements of each head rotated by the angles of its position. ONNX ``RotaryEmbedding``."""

def round(input: Any, *, decimals: int = 0) -> Tensor:
    """The nearest whole number, halves to the even one; or the nearest multiple of 10 ** -decimals."""

def rsqrt(input: Any) -> Tensor:
    """1 over the square root. Any shape; integers become float32."""

def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    softcap: float = 0.0,
) -> Tensor:
    """softmax(Q K^T * scale + mask) V for each head. ONNX ``Attention``."""

def scatter(input: Any, axis: int, index: Any, src: Any, *, reduce: str | None = None) -> Tensor:
    """``input`` with the elements of ``src`` written at positions along an axis. ONNX ``ScatterElements``."""

def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """Zeros of the given shape to which ``updates`` are added at the positions in ``indices``. ONNX ``ScatterND``."""

def searchsorted(sorted_sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, sorter: Any = None) -> Tensor:
    """Where each value would be inserted into a sorted vector: before equal elements, or with ``right`` behind. int64."""

def select(condition: Any, input: Any, other: Any) -> Tensor: ...
def selu(input_x: Any, alpha: float = 1.6732631921768188, gamma: float = 1.0507010221481323) -> Tensor:
    """gamma * x where x > 0, else gamma * alpha * (exp(x) - 1). ONNX ``Selu``."""

def set_seed(seed: int) -> None:
    """Starts the generator of ``rand``, ``randn`` and the like. ``seed``: an int of 0 to 2**64 - 1."""

def setitem(input: Any, index: Any, value: Any) -> Tensor: ...
def shape(input: Any) -> tuple[int, ...]:
    """The sizes, as a tuple."""

def shape_tensor(input: Any) -> Tensor:
    """The sizes as a tensor of rank 1 and dtype int64. ONNX ``Shape``."""

def shrink(input: Any, lambd: float = 0.5, bias: float = 0.0) -> Tensor:
    """0 where |x| <= lambd, else x moved towards 0 by bias. Numbers of any dtype, which stays. ONNX ``Shrink``."""

def sigmoid(input: Any) -> Tensor:
    """1 / (1 + exp(-x)), computed so that neither end overflows."""

def sign(input: Any) -> Tensor:
    """-1, 0 or 1 by the sign; NaN stays NaN. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Sign``."""

def signbit(input: Any) -> Tensor:
    """Whether the sign is minus, for -0.0 and NaN too. Any shape; the result is bool."""

def silu(input: Any, alpha: float = 1.0) -> Tensor:
    """x * sigmoid(alpha * x). ONNX ``Swish``."""

def sin(input: Any) -> Tensor:
    """Sine of an angle in radians."""

def sinh(input: Any) -> Tensor:
    """Hyperbolic sine."""

def softmax(input: Any, axis: int = -1, *, dtype: Any = None, dim: int | None = None) -> Tensor:
    """exp(x) over the sum of exp(x) along an axis."""

def softmin(x: Any, axis: int = -1) -> Tensor:
    """Softmax of the negated values along an axis."""

def softplus(input: Any) -> Tensor:
    """log(1 + exp(x)), computed so that large values don't overflow."""

def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """0 where |x| <= lambd, else x moved towards 0 by lambd. ONNX ``Shrink``."""

def softsign(input: Any) -> Tensor:
    """x / (1 + |x|)."""

def sort(input_x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> tuple[Tensor, Tensor]:
    """Elements along an axis in order, and where each came from as int64: (values, indices), as in MindSpore."""

def space_to_depth(input: Any, block_size: int, mode: str = "DCR") -> Tensor:
    """Blocks of height and width of [N, C, H, W] moved into channels. ONNX ``SpaceToDepth``."""

def split(tensor: Any, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The tensor cut along an axis into a tuple of parts: of one size each (the last may be smaller), or of the given sizes."""

def sqrt(input: Any) -> Tensor:
    """Square root; NaN for negative values."""

def square(input: Any) -> Tensor:
    """The value times itself. Any shape, numbers; shape and dtype stay."""

def squeeze(input: Any, axis: Any = None, *, dim: Any = None) -> Tensor:
    """Axes of size 1 dropped: those of ``axis`` (int or several), or all."""

def stack(tensors: Any, axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis; dtypes are promoted. ONNX has it as ``Unsqueeze`` and ``Concat``."""

def std(
    input: Any,
    axis: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Square root of ``var``, whose parameters it has."""

def std_mean(input: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over axes; the parameters are those of ``var``."""

def stft(signal: Any, frame_step: Any, window: Any = None, frame_length: Any = None, *, onesided: bool = True) -> Tensor:
    """Fourier transforms of overlapping windowed frames of a signal: [batch, frames, bins, 2]. ONNX ``STFT``."""

def sub(input: Any, other: Any) -> Tensor:
    """Difference; integers wrap."""

def subtract(input: Any, other: Any) -> Tensor:
    """Difference; integers wrap."""

def sum(
    input: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor:
    """Sum over axes; 0 of nothing. Signed integers and bools become int64, unsigned ones uint64, unless ``dtype`` is given."""

def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged."""

def swapdims(input: Any, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged."""

def swiglu(input: Any, gate: Any, alpha: float = 1.0) -> Tensor:
    """input * sigmoid(alpha * input) * gate, of equal shapes. ONNX ``SwiGLU``."""

def swish(input: Any, alpha: float = 1.0) -> Tensor:
    """x * sigmoid(alpha * x). ONNX ``Swish``."""

def t(input: Any) -> Tensor:
    """The matrix transposed; vectors and scalars stay. Errors: InputError above rank 2."""

def take(input: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Tensor:
    """Elements at positions of the flattened tensor, or slices along an axis, at integers of any shape. ONNX ``Gather``."""

def take_along_axis(input: Any, indices: Any, axis: int | None = -1) -> Tensor:
    """As ``gather_elements``, where the other axes of both broadcast; of the flattened tensor where ``axis`` is None."""

def tan(input: Any) -> Tensor:
    """Tangent of an angle in radians."""

def tanh(input: Any) -> Tensor:
    """Hyperbolic tangent."""

def tanhshrink(input: Any) -> Tensor:
    """x - tanh(x). Any shape; integers become float32."""

def tensor_scatter(past_cache: Any, update: Any, write_indices: Any = None, *, axis: int = -2, mode: str = "linear") -> Tensor:
    """A key or value cache with ``update`` written along the sequence axis, for each batch element from its write index on."""

def tensor_scatter_add(input_x: Any, indices: Any, updates: Any) -> Tensor: ...
def tensor_scatter_elements(input_x: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "none") -> Tensor:
    """``input_x`` with single elements replaced or combined, at positions along an axis. ONNX ``ScatterElements``."""

def tensor_scatter_max(input_x: Any, indices: Any, updates: Any) -> Tensor: ...
def tensor_scatter_min(input_x: Any, indices: Any, updates: Any) -> Tensor: ...
def tensor_scatter_mul(input_x: Any, indices: Any, updates: Any) -> Tensor: ...
def tensor_scatter_sub(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """``input_x`` with slices decreased by ``updates``; as ``tensor_scatter_add``."""

def tensor_scatter_update(input_x: Any, indices: Any, updates: Any) -> Tensor: ...
def tensor_split(input: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The tensor cut along an axis into that many parts, the first ones larger by 1, or at the given positions; a tuple."""

def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Tensor: ...
def threshold(input: Any, threshold: float, value: float) -> Tensor:
    """x where x > threshold, else value."""

def thresholded_relu(input: Any, alpha: float = 1.0) -> Tensor:
    """x where x > alpha, else 0. ONNX ``ThresholdedRelu``."""

def tile(input: Any, *multiples: Any) -> Tensor: ...
def topk(input: Any, k: Any, dim: int | None = None, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]: ...
def trace(input: Any, offset: int = 0) -> Tensor:
    """The sum of the diagonal of the first two axes."""

def transpose(input: Any, *axes: Any) -> Tensor:
    """The axes in another order: axis i of the result is axis ``axes[i]``; reversed if none are given. ONNX ``Transpose``."""

def tril(input: Any, diagonal: Any = 0) -> Tensor:
    """The lower triangle of each matrix (last two axes), up to a diagonal above the main one; the rest is 0. ONNX ``Trilu``."""

def triu(input: Any, diagonal: Any = 0) -> Tensor: ...
def true_divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Quotient. Integers divide to float32; ``rounding_mode`` "floor" or "trunc" rounds, and keeps integers."""

def trunc(input: Any) -> Tensor:
    """The value without what follows the point. Integers stay. Any shape; the result has its shape and dtype."""

def unbind(input: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without it, as a tuple. In a program its size must be known before it runs."""

def unflatten(input: Any, axis: int, sizes: Any) -> Tensor:
    """One axis split into several of the given sizes; one may be -1."""

def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Sliding blocks of [N, C, H, W] as columns [N, C kh kw, L] (im2col)."""

def uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, seed: int | None = None, dtype: Any = None) -> Tensor:
    """Values drawn uniformly from [minval, maxval). Not inside a program: see the module."""

@overload
def unique(
    input: Any,
    sorted: bool = True,
    *,
    return_inverse: Literal[True],
    return_counts: bool = False,
    axis: int | None = None,
    return_index: bool = False,
) -> tuple[Tensor, ...]: ...
@overload
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    *,
    return_counts: Literal[True],
    axis: int | None = None,
    return_index: bool = False,
) -> tuple[Tensor, ...]: ...
@overload
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    axis: int | None = None,
    return_index: Literal[True],
) -> tuple[Tensor, ...]: ...
@overload
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    *,
    axis: int | None = None,
    return_index: Literal[False] = False,
) -> Tensor: ...
@overload
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    axis: int | None = None,
    return_index: bool = False,
) -> Any: ...
@overload
def unique_consecutive(
    input: Any, *, return_idx: Literal[True], return_counts: bool = False, axis: int | None = None
) -> tuple[Tensor, ...]:
    """The elements that differ from the one before, of the flattened tensor."""

@overload
def unique_consecutive(
    input: Any, return_idx: bool = False, *, return_counts: Literal[True], axis: int | None = None
) -> tuple[Tensor, ...]:
    """The elements that differ from the one before, of the flattened tensor."""

@overload
def unique_consecutive(
    input: Any, return_idx: Literal[False] = False, return_counts: Literal[False] = False, axis: int | None = None
) -> Tensor:
    """The elements that differ from the one before, of the flattened tensor."""

@overload
def unique_consecutive(input: Any, return_idx: bool = False, return_counts: bool = False, axis: int | None = None) -> Any:
    """The elements that differ from the one before, of the flattened tensor."""

def unsqueeze(input: Any, axis: Any = None, *, dim: Any = None) -> Tensor:
    """Axes of size 1 added, at the places ``axis`` (int or several) of the result. ONNX ``Unsqueeze``."""

def unstack(input: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without it, as a tuple. In a program its size must be known before it runs."""

def upsample(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """``interpolate`` under its older name."""

def var(
    input: Any,
    axis: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    dim: Any = None,
    keepdim: bool = False,
    keep_dims: bool = False,
) -> Tensor: ...
def var_mean(input: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Variance and mean over axes; the parameters are those of ``var``."""

def vecdot(x: Any, y: Any, *, axis: int = -1) -> Tensor:
    """The sum of products along one axis of both, the others broadcast."""

def vstack(tensors: Any) -> Tensor:
    """Tensors joined along axis 0; vectors are rows."""

def where(condition: Any, input: Any, other: Any) -> Tensor: ...
def xlogy(input: Any, other: Any) -> Tensor:
    """``input * log(other)``, 0 where ``input`` is 0 and ``other`` isn't NaN. Two operands that broadcast."""

def zeros(*size: Any, dtype: Any = None) -> Tensor:
    """A tensor of zeros, float32 unless ``dtype`` is given."""

def zeros_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Zeros in the shape, and unless given the dtype, of ``input``."""

ACos: Form
Abs: Form
Acosh: Form
AdaptiveAvgPool2D: Form
Add: Form
AddN: Form
ArgMaxWithValue: Form
ArgMinWithValue: Form
Argmax: Form
Argmin: Form
Asin: Form
Asinh: Form
Atan: Form
Atan2: Form
Atanh: Form
AvgPool: Form
BatchMatMul: Form
BatchNorm: Form
BiasAdd: Form
BitwiseAnd: Form
BitwiseOr: Form
BitwiseXor: Form
BroadcastTo: Form
Cast: Form
Ceil: Form
Concat: Form
Conv2D: Form
Cos: Form
Cosh: Form
CropAndResize: Form
CumProd: Form
CumSum: Form
DepthToSpace: Form
Div: Form
DivNoNan: Form
DynamicShape: Form
Einsum: Form
Elu: Form
Equal: Form
Erf: Form
Erfc: Form
Exp: Form
ExpandDims: Form
Expm1: Form
Eye: Form
Fill: Form
Flatten: Form
Floor: Form
FloorDiv: Form
FloorMod: Form
Gather: Form
GatherD: Form
GatherNd: Form
GeLU: Form
Greater: Form
GreaterEqual: Form
GridSampler2D: Form
HShrink: Form
HSigmoid: Form
HSwish: Form
Identity: Form
IsFinite: Form
IsInf: Form
IsNan: Form
L2Normalize: Form
LRN: Form
LayerNorm: Form
LeakyReLU: Form
Less: Form
LessEqual: Form
LinSpace: Form
Log: Form
Log1p: Form
LogSoftmax: Form
LogicalAnd: Form
LogicalNot: Form
LogicalOr: Form
LogicalXor: Form
MaskedFill: Form
MaskedSelect: Form
MatMul: Form
MaxPool: Form
Maximum: Form
Minimum: Form
Mish: Form
Mod: Form
Mul: Form
Neg: Form
NonZero: Form
NotEqual: Form
OneHot: Form
Ones: Form
OnesLike: Form
PReLU: Form
Pad: Form
Pow: Form
ROIAlign: Form
Range: Form
Rank: Form
ReLU: Form
ReLU6: Form
RealDiv: Form
Reciprocal: Form
ReduceAll: Form
ReduceAny: Form
ReduceMax: Form
ReduceMean: Form
ReduceMin: Form
ReduceProd: Form
ReduceSum: Form
Reshape: Form
Resize: Form
ResizeBicubic: Form
ResizeBilinear: Form
ResizeBilinearV2: Form
ResizeLinear1D: Form
ResizeNearestNeighbor: Form
ResizeNearestNeighborV2: Form
ReverseSequence: Form
ReverseV2: Form
Round: Form
Rsqrt: Form
ScatterNd: Form
SeLU: Form
Select: Form
Shape: Form
SiLU: Form
Sigmoid: Form
Sign: Form
Sin: Form
Sinh: Form
Size: Form
Slice: Form
SoftShrink: Form
Softmax: Form
Softplus: Form
Softsign: Form
Sort: Form
SpaceToDepth: Form
Split: Form
Sqrt: Form
Square: Form
Squeeze: Form
Stack: Form
Sub: Form
Tan: Form
Tanh: Form
TensorScatterAdd: Form
TensorScatterElements: Form
TensorScatterMax: Form
TensorScatterMin: Form
TensorScatterMul: Form
TensorScatterSub: Form
TensorScatterUpdate: Form
TensorShape: Form
Tile: Form
TopK: Form
Transpose: Form
Tril: Form
Triu: Form
Trunc: Form
Unique: Form
Unstack: Form
Xlogy: Form
Zeros: Form
ZerosLike: Form
