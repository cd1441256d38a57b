"""Which function of ``msvm.ops`` gives which operator of the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import ops

INTERNAL = frozenset({"msvm.Pointwise", "msvm.Conv", "msvm.MatMul", "msvm.Print", "msvm.Assign"})
"""Operators that only the optimiser makes, and what print statements and assignments become."""

_NAMES = """
Abs abs; Neg neg; Sign sign; Ceil ceil; Floor floor; Round round; Sqrt sqrt; Exp exp; Log log; Reciprocal reciprocal; Sin sin; Cos cos;
Tan tan;
Asin asin; Acos acos; Atan atan; Sinh sinh; Cosh cosh; Tanh tanh; Asinh asinh; Acosh acosh; Atanh atanh; Erf erf; Sigmoid sigmoid; Relu
relu;
Softplus softplus; Softsign softsign; HardSwish hardswish; Mish mish; LeakyRelu leaky_relu; Elu elu; Selu selu; Celu celu;
ThresholdedRelu thresholded_relu; HardSigmoid hardsigmoid; Swish silu; Gelu gelu; Shrink shrink; Not logical_not; BitwiseNot bitwise_not;
IsNaN isnan; IsInf isinf; Cast cast; Clip clip; Add add; Sub sub; Mul mul; Div div; Mod remainder; Pow pow; Equal equal; Greater greater;
GreaterOrEqual greater_equal; Less less; LessOrEqual less_equal; And logical_and; Or logical_or; Xor logical_xor; BitwiseAnd bitwise_and;
BitwiseOr bitwise_or; BitwiseXor bitwise_xor; BitShift bitwise_left_shift; PRelu prelu; SwiGLU swiglu; Max max_of; Min min_of; Sum addn;
Mean mean_of;
Where where; Col2Im fold; ArgMax argmax; ArgMin argmin; CumSum cumsum; CumProd cumprod; msvm.CumMax cummax; msvm.CumMin cummin;
msvm.CumLogSumExp logcumsumexp; ReduceSum sum; ReduceMean mean; ReduceProd prod;
ReduceMax amax; ReduceMin amin; ReduceL1 reduce_l1; ReduceL2 reduce_l2; ReduceLogSum reduce_log_sum; ReduceLogSumExp logsumexp;
ReduceSumSquare reduce_sum_square; MaxPool max_pool2d; AveragePool avg_pool2d; LpPool lp_pool2d; GlobalAveragePool global_avg_pool;
GlobalMaxPool global_max_pool; GlobalLpPool global_lp_pool; MaxRoiPool max_roi_pool; Det det; Conv conv2d; ConvTranspose conv_transpose2d;
DeformConv deform_conv2d; CausalConvWithState causal_conv_with_state; MatMul matmul; Gemm gemm; Einsum einsum; Attention attention; Resize
resize;
GridSample grid_sample; RoiAlign roi_align; DFT dft; STFT stft; Softmax softmax; LogSoftmax log_softmax; Hardmax hardmax;
LayerNormalization layer_norm; RMSNormalization rms_norm; GroupNormalization group_norm; InstanceNormalization instance_norm;
BatchNormalization batch_norm; LpNormalization lp_normalization; LRN local_response_norm; MeanVarianceNormalization
mean_variance_normalization;
BitCast bit_cast; Concat cat; msvm.Stack stack; Identity deepcopy; Transpose permute; Slice flip; Pad pad; Tile tile; Reshape reshape;
Expand broadcast_to; Squeeze squeeze; Unsqueeze expand_dims; Flatten flatten; Shape shape_tensor; Size numel; DepthToSpace depth_to_space;
SpaceToDepth space_to_depth; ReverseSequence reverse_sequence; Trilu tril; CenterCropPad center_crop_pad; RotaryEmbedding rotary_embedding;
Gather gather; GatherElements gather_elements; GatherND gather_nd; ScatterElements tensor_scatter_elements; ScatterND tensor_scatter_update;
TensorScatter tensor_scatter; OneHot one_hot; Compress compress; NonZero nonzero; Unique unique; TopK topk; MaxUnpool max_unpool2d;
NonMaxSuppression non_max_suppression; RNN rnn; GRU gru; LSTM lstm; ConvInteger conv_integer; MatMulInteger matmul_integer;
QLinearMatMul qlinear_matmul; QuantizeLinear quantize_linear; DequantizeLinear dequantize_linear; DynamicQuantizeLinear
dynamic_quantize_linear;
QLinearConv qlinear_conv; Range range_of; msvm.Iota arange; msvm.Fill full; msvm.ShapeTensor shape_tensor; EyeLike eye_like;
RandomUniform random_uniform; RandomNormal random_normal; Bernoulli random_bernoulli; Multinomial random_multinomial; AffineGrid
affine_grid;
HannWindow hann_window; HammingWindow hamming_window; BlackmanWindow blackman_window; MelWeightMatrix mel_weight_matrix
"""


def functions() -> dict[str, Callable[..., Any]]:
    """The registry's names, but for the internal ones, and the function for each."""
    pairs = (entry.split() for entry in _NAMES.split(";"))
    return {operator: getattr(ops, name) for operator, name in pairs}
