"""Operators. Inside a function under ``@msvm.jit`` a call becomes part of the program; elsewhere it runs at once.

Names and orders of arguments are MindSpore's where it has them; names of operators in the docstrings are ONNX's, whose meaning they have.
Arguments: tensors, numpy arrays, nested lists, numbers. Sizes may be ints or values that are known only when the program runs.
Class forms, as ``ops.ReLU()`` and ``ops.Concat(axis=1)``, are in ``classes``.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = {
    "_index": "getitem setitem",
    "_custom": "TensorSpec custom",
    "elementwise": """
        abs absolute acos acosh add addcdiv addcmul addn arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh
        bit_cast bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor cast cbrt ceil clamp clip copysign
        cos cosh cumprod cumsum deepcopy div divide eq equal erf erfc exp exp2 expm1 fix floor floor_div floor_divide fmax fmin fmod frac ge
        greater greater_equal gt hypot identity inv isclose isfinite isinf isnan le lerp less less_equal log log10 log1p log2 logaddexp
                logical_and logical_not logical_or logical_xor lt max_of maximum mean_of min_of minimum mod mul multiply nan_to_num ne neg
        negative nextafter
        not_equal pow reciprocal remainder round rsqrt select sigmoid sign signbit sin sinh sqrt square sub subtract tan tanh true_divide
        trunc where xlogy
    """,
    "activation": """
        celu elu gelu glu hard_sigmoid hard_swish hardmax hardshrink hardsigmoid hardswish hardtanh leaky_relu log_softmax logsigmoid mish
        prelu relu relu6 selu shrink silu softmax softmin softplus softshrink softsign swiglu swish tanhshrink threshold thresholded_relu
    """,
    "reduce": """
        all amax amin any argmax argmin count_nonzero logsumexp max mean min norm prod reduce_all reduce_any reduce_l1 reduce_l2
        reduce_log_sum reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum reduce_sum_square std std_mean sum var
        var_mean
    """,
    "movement": """
        broadcast_tensors broadcast_to cat center_crop_pad channel_shuffle chunk col2im column_stack concat concatenate depth_to_space diag
        diagonal dstack expand expand_as expand_dims flatten flip fold hstack im2col matrix_transpose moveaxis movedim numel pad permute
        pixel_shuffle pixel_unshuffle rank ravel repeat_interleave reshape reshape_as reverse_sequence roll rot90 shape shape_tensor
        space_to_depth split squeeze stack swapaxes swapdims t tensor_split tile transpose tril triu unbind unflatten unfold unsqueeze
        unstack vstack
    """,
    "indexing": """
        argsort argwhere bincount bucketize compress gather gather_elements gather_nd index_add index_select isin masked_fill masked_select
        median mode msort nms non_max_suppression nonzero one_hot scatter scatter_nd searchsorted sort take take_along_axis tensor_scatter
        tensor_scatter_add tensor_scatter_elements tensor_scatter_max tensor_scatter_min tensor_scatter_mul tensor_scatter_sub
        tensor_scatter_update topk unique unique_consecutive
    """,
    "running": """
        cummax cummin diff logcumsumexp
    """,
    "linalg": """
        addmm baddbmm bias_add bmm cdist cross dense det dot einsum gemm inner kron linear matmul mm mv outer tensordot trace vecdot
    """,
    "conv": """
        causal_conv_with_state conv1d conv2d conv3d conv_integer conv_transpose1d conv_transpose2d conv_transpose3d deform_conv2d
        qlinear_conv
    """,
    "pool": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d avg_pool1d avg_pool2d avg_pool3d
        global_avg_pool global_lp_pool global_max_pool lp_pool1d lp_pool2d max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d
        max_unpool3d
    """,
    "normalization": """
        batch_norm dropout group_norm instance_norm l2_normalize layer_norm local_response_norm lp_normalization lrn
        mean_variance_normalization normalize rms_norm
    """,
    "image": """
        affine_grid crop_and_resize grid_sample interpolate max_roi_pool resize resize_bicubic resize_bilinear resize_nearest_neighbor
        roi_align upsample
    """,
    "recurrent": """
        gru lstm rnn
    """,
    "attend": """
        attention flash_attention rotary_embedding scaled_dot_product_attention
    """,
    "creation": """
        arange as_array blackman_window empty eye eye_like full full_like hamming_window hann_window linspace logspace meshgrid ones
        ones_like range_of zeros zeros_like
    """,
    "quantize": """
        dequantize_linear dynamic_quantize_linear matmul_integer qlinear_matmul quantize_linear
    """,
    "signal": """
        dft mel_weight_matrix stft
    """,
    "random": """
        bernoulli multinomial normal rand randint randn random_bernoulli random_key random_multinomial random_normal random_uniform randperm
        set_seed uniform
    """,
}
"""Which module defines what. They are imported when something of theirs is asked for; ``__init__.pyi`` tells type checkers the same."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        module = importlib.import_module(f".{_MODULE_OF[name]}", __name__)
        value = getattr(module, name)
    elif name[:1].isupper():
        from .classes import FORMS

        if name not in FORMS:
            raise AttributeError(f"msvm.ops has no operator {name!r}")
        value = FORMS[name]
    else:
        raise AttributeError(f"msvm.ops has no operator {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from .classes import FORMS

    return sorted([*__all__, *FORMS])
