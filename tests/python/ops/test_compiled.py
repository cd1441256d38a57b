"""Every function of ``msvm.ops`` called in a compiled function gives what it gives outside: values, dtypes, shapes, kinds of results."""

import sys
from pathlib import Path

import numpy as np
import pytest
from ops.oracle import array, assert_same

import msvm as ms
from msvm import ops

sys.path.append(str(Path(__file__).resolve().parents[3] / "tools"))

import gen_python_stubs as stubs


class Call:
    """Arguments, as they are written in a call."""

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs


C = Call
X, Y = array((3, 4), low=0.2, high=0.9), array((3, 4), low=0.2, high=0.9, seed=1)
D = array((3, 4), "float64")
S = array((3, 4))
I, J = array((3, 4), "int32", 1, 9), array((3, 4), "int32", 1, 5, seed=1)  # noqa: E741
B, B2 = array((3, 4), "bool"), array((3, 4), "bool", seed=1)
V, W = array((4,)), array((4,), seed=1)
T = array((2, 3, 4))
Q = array((2, 4, 6, 6))
LINE, CUBE = array((2, 4, 7)), array((1, 4, 4, 5, 6))
KEY = np.array([1, 2], np.uint64)
f32 = np.float32

UNARY = """
    absolute acos arccos arcsin arcsinh arctan arctanh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 log log10 log1p log2
    reciprocal rsqrt sigmoid sin sinh sqrt tan tanh gelu hard_sigmoid hard_swish hardshrink hardsigmoid hardswish hardtanh logsigmoid mish
    relu6 shrink silu softmin softplus softshrink softsign swish tanhshrink thresholded_relu celu elu selu leaky_relu hardmax
"""
KEEPING = "abs ceil deepcopy fix floor frac identity isfinite isinf isnan neg negative round sign signbit square trunc relu"
BINARY = """
    add arctan2 atan2 div divide eq equal floor_div floor_divide fmax fmin fmod ge greater greater_equal gt hypot le less less_equal
    logaddexp lt maximum minimum mod mul multiply ne not_equal pow remainder sub subtract true_divide xlogy
"""
REDUCTIONS = """
    amax amin count_nonzero mean prod reduce_max reduce_mean reduce_min reduce_prod reduce_sum reduce_sum_square std sum var
    reduce_l1 reduce_l2
"""
SCATTERS = [f"tensor_scatter_{k}" for k in ("add", "max", "min", "mul", "sub", "update")]

LSTM, GRU, RNN = ([array(s, low=-0.5, high=0.5) for s in [(4 * g, 3), (4 * g, 4), (4 * g,), (4 * g,)]] for g in (4, 3, 1))
SEQUENCE, STATE = array((5, 2, 3)), array((1, 2, 4))
HEADS = [array((2, 4, 5, 8), seed=k) for k in range(3)]
BOXES = np.array([[0, 1, 1, 6, 5], [1, 0.5, 2, 5.5, 4]], f32)
CORNERS, SCORES = np.array([[0, 0, 2, 2], [0.1, 0, 2, 2], [3, 3, 4, 4]], f32), np.array([0.9, 0.8, 0.7], f32)
U8, I8 = array((3, 4), "uint8", 0, 99), array((4, 2), "int8", -9, 9)
U8_IMAGE, I8_KERNEL = array((1, 2, 5, 5), "uint8", 0, 9), array((3, 2, 3, 3), "int8", -3, 3)

CASES = {
    **{n: [C(X), C(f32(0.5)), C(I // 9), C(X[:0])] for n in UNARY.split()},
    **{n: [C(S), C(I), C(f32(-1.5)), C(S[:0])] for n in KEEPING.split()},
    **{n: [C(X, Y), C(T, V), C(I, J), C(X, 2), C(2.5, X), C(X, I), C(D, X)] for n in BINARY.split()},
    **{n: [C(S), C(S, 0), C(T, (0, -1), True), C(I, axis=1), C(D, dim=0)] for n in REDUCTIONS.split()},
    **{n: [C(S, np.array([[0], [2], [0]]), array((3, 4), seed=2))] for n in SCATTERS},
    **{n: [C(B, B2), C(I, J), C(B[0], B)] for n in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{n: [C(B, B2), C(I, J), C(X, B)] for n in ("logical_and", "logical_or", "logical_xor")},
    **{n: [C(I, J), C(I, 2)] for n in ("bitwise_left_shift", "bitwise_right_shift")},
    **{n: [C(B), C(I)] for n in ("bitwise_not", "logical_not")},
    **{n: [C(S), C(I), C(T, 1), C(S, -1, True)] for n in ("argmax", "argmin", "max", "min")},
    **{n: [C(B), C(B, 0), C(I, -1, True)] for n in ("all", "any", "reduce_all", "reduce_any")},
    **{n: [C(X), C(X, 1), C(T * 0 + 1, (0, 2), True)] for n in ("logsumexp", "reduce_log_sum", "reduce_logsumexp")},
    **{n: [C(S), C(T, 1), C(D, 0, 1)] for n in ("std_mean", "var_mean")},
    **{n: [C([S, X, Y]), C((S, X))] for n in ("addn", "max_of", "min_of", "mean_of")},
    **{n: [C([S, X], 1), C((S, I))] for n in ("cat", "concat", "concatenate", "stack")},
    **{n: [C([S, X]), C([V, W])] for n in ("column_stack", "dstack", "hstack", "vstack")},
    **{n: [C(V, (3, 4)), C(S, 2, 3, 4), C(S, (2, -1, -1))] for n in ("broadcast_to", "expand")},
    **{n: [C(S), C(T, 1)] for n in ("softmax", "log_softmax")},
    **{n: [C(T, 0, 2), C(T, -1, 0)] for n in ("swapaxes", "swapdims", "moveaxis", "movedim")},
    **{n: [C(T), C(T, (2, 0, 1)), C(T, 1, 0, 2)] for n in ("permute", "transpose")},
    **{n: [C(T, 1), C(T, -1), C(T, (0, 2))] for n in ("expand_dims", "unsqueeze")},
    **{n: [C(S), C(T, -1)] for n in ("unbind", "unstack")},
    **{n: [C(S), C(T, 1)] for n in ("tril", "triu")},
    **{n: [C(S, 2), C(T, 3, 2)] for n in ("chunk", "tensor_split")},
    **{n: [C(S, -1, 2), C(S, None, 0.5), C(I, 2, 4)] for n in ("clamp", "clip")},
    **{n: [C(S)] for n in ("rank", "numel", "shape", "shape_tensor", "ravel", "t", "matrix_transpose")},
    **{n: [C(Q, (3, 3)), C(Q, 2, 1, 1, 2)] for n in ("unfold", "im2col")},
    **{n: [C(array((2, 8, 20)), (5, 6), (2, 2))] for n in ("fold", "col2im")},
    **{n: [C(T, array((5, 4), seed=2), array((5,))), C(T, array((5, 4), seed=2))] for n in ("dense", "linear")},
    **{n: [C(Q, 2), C(Q, 3, 1, 1)] for n in ("max_pool2d", "avg_pool2d")},
    **{n: [C(LINE, 2), C(LINE, 3, 2, 1)] for n in ("max_pool1d", "avg_pool1d")},
    **{n: [C(CUBE, 2), C(CUBE, 3, 1, 1)] for n in ("max_pool3d", "avg_pool3d")},
    **{n: [C(Q)] for n in ("global_avg_pool", "global_max_pool", "global_lp_pool")},
    **{n: [C(LINE, 3)] for n in ("adaptive_avg_pool1d", "adaptive_max_pool1d")},
    **{n: [C(Q, 3), C(Q, (None, 4))] for n in ("adaptive_avg_pool2d", "adaptive_max_pool2d")},
    **{n: [C(8), C(8, False, dtype="float64")] for n in ("blackman_window", "hamming_window", "hann_window")},
    **{n: [C((2, 3)), C(2, 3, dtype="int8")] for n in ("empty", "ones", "zeros")},
    **{n: [C(S), C(I, dtype="float64")] for n in ("ones_like", "zeros_like")},
    **{
        n: [C(*HEADS), C(*HEADS, is_causal=True), C(*HEADS, np.tri(5, dtype=bool))]
        for n in ("scaled_dot_product_attention", "flash_attention")
    },
    **{n: [C(Q, (8, 3))] for n in ("resize_bicubic", "resize_bilinear", "resize_nearest_neighbor", "resize")},
    **{n: [C(Q, (8, 3)), C(Q, scale_factor=1.5), C(Q, (8, 3), mode="bilinear")] for n in ("interpolate", "upsample")},
    "acosh": [C(X + 1), C(I)],
    "arccosh": [C(X + 1)],
    "addcdiv": [C(S, X, Y, 2)],
    "addcmul": [C(S, X, Y, 0.5)],
    "bit_cast": [C(S, "int32")],
    "cast": [C(S, "float16"), C(I, ms.float64), C(S, np.int32), C(B, int)],
    "copysign": [C(X, S), C(S, -1.0)],
    "cumprod": [C(S, 1), C(I, 0)],
    "cumsum": [C(S, 1), C(I, 0)],
    "cummax": [C(S, 1), C(I, 0)],
    "cummin": [C(S, -1), C(B, 0)],
    "logcumsumexp": [C(S, 1), C(I, 0)],
    "diff": [C(S), C(I, 2, 0), C(S, prepend=0.0, append=S[:, :1])],
    "cdist": [C(S, S[:2]), C(S, S[:2], 1.0)],
    "inv": [C(X)],
    "isclose": [C(X, Y), C(X, X)],
    "lerp": [C(X, Y, 0.25), C(X, Y, S)],
    "nan_to_num": [C(np.array([np.nan, np.inf, 1], f32)), C(np.array([np.nan, -np.inf], f32), 1.0, 2.0, 3.0)],
    "nextafter": [C(X, Y)],
    "select": [C(B, X, Y)],
    "where": [C(B, X, Y), C(B, X, 0), C(B, I, D)],
    "glu": [C(S), C(T, 2)],
    "prelu": [C(Q - 0.5, array((4,)))],
    "swiglu": [C(S, X)],
    "threshold": [C(S, 0.1, -1.0)],
    "norm": [C(S), C(S, 1, 0), C(T, 2, (1, 2))],
    "broadcast_tensors": [C(S, V)],
    "center_crop_pad": [C(S, (2, 6))],
    "channel_shuffle": [C(Q, 2)],
    "depth_to_space": [C(Q, 2), C(Q, 2, "CRD")],
    "space_to_depth": [C(Q, 2)],
    "pixel_shuffle": [C(Q, 2)],
    "pixel_unshuffle": [C(Q, 2)],
    "diag": [C(V), C(S, 1)],
    "diagonal": [C(S), C(T, 1, 0, 2)],
    "expand_as": [C(V, S)],
    "reshape_as": [C(S, np.zeros((2, 6)))],
    "flatten": [C(T), C(T, start_dim=1)],
    "flip": [C(S), C(T, (0, 2))],
    "pad": [C(S, (1, 2)), C(S, (1, 2, 0, 1), "constant", 3), C(T, (1, 1), "reflect")],
    "repeat_interleave": [C(S, 2), C(S, 2, 1)],
    "reshape": [C(T, (4, -1)), C(T, 2, 12)],
    "reverse_sequence": [C(S, np.array([1, 2, 3, 0]), 0, 1)],
    "roll": [C(S, 1), C(S, (1, 2), (0, 1))],
    "rot90": [C(S), C(T, 3, (1, 2))],
    "split": [C(S, 2), C(S, (1, 3), 1)],
    "squeeze": [C(T[:1]), C(T[:1], 0)],
    "tile": [C(S, (2, 3)), C(V, 2)],
    "unflatten": [C(S, 1, (2, 2))],
    "argsort": [C(S), C(S, 0, True)],
    "argwhere": [C(B), C(I)],
    "bincount": [C(I[0]), C(I[0], V), C(I[0], minlength=12)],
    "bucketize": [C(S, np.sort(V))],
    "compress": [C(B[0], S, 1), C(np.array([True, False, True]), S)],
    "gather": [C(S, np.array([[0, 1]]), 0), C(S, np.array([1, -1]), 1)],
    "gather_elements": [C(S, 1, np.array([[0], [1], [3]]))],
    "gather_nd": [C(S, np.array([[0, 1], [2, 3]]))],
    "index_add": [C(S, 0, np.array([0, 0]), X[:2])],
    "index_select": [C(S, 1, np.array([3, 0]))],
    "isin": [C(I, J[0])],
    "masked_fill": [C(S, B, 2.0)],
    "masked_select": [C(S, B)],
    "median": [C(S), C(T, 1, True)],
    "mode": [C(S), C(I, 0, True)],
    "msort": [C(S)],
    "nms": [C(CORNERS, SCORES, 0.5)],
    "non_max_suppression": [C(CORNERS[None], SCORES[None, None], 2, 0.5)],
    "nonzero": [C(B), C(I, as_tuple=True)],
    "one_hot": [C(J, 6), C(J, 6, 2.0, -1.0, 0)],
    "scatter": [C(S, 1, np.array([[0, 1], [2, 3], [0, 3]]), X[:, :2]), C(S, 0, np.array([[1, 1]]), X[:1, :2], reduce="add")],
    "scatter_nd": [C(np.array([[1], [3]]), S[:2], (5, 4))],
    "searchsorted": [C(np.sort(V), S), C(np.sort(V), S, right=True)],
    "sort": [C(S), C(I, 0, True)],
    "take": [C(S, np.array([0, 5])), C(S, np.array([1, 0]), 1)],
    "take_along_axis": [C(S, np.array([[0], [1], [3]]), 1)],
    "tensor_scatter": [C(np.zeros((2, 1, 4, 3), f32), array((2, 1, 1, 3)), np.array([1, 3]))],
    "tensor_scatter_elements": [C(S, np.array([[0, 1]]), X[:1, :2], 1), C(S, np.array([[0, 0]]), X[:1, :2], 0, "add")],
    "topk": [C(S, 2), C(S, 2, 0, False)],
    "unique": [C(I), C(I, True, True, True), C(I, axis=0)],
    "unique_consecutive": [C(I), C(I, True, True)],
    "addmm": [C(V[:2], S, array((4, 2)), beta=2, alpha=0.5)],
    "baddbmm": [C(array((2, 3, 2)), T, array((2, 4, 2)))],
    "bias_add": [C(Q, V)],
    "bmm": [C(T, array((2, 4, 2)))],
    "cross": [C(array((4, 3)), array((4, 3), seed=1))],
    "det": [C(array((2, 3, 3), "float64"))],
    "dot": [C(S, V), C(V, W)],
    "einsum": [C("ij,kj->ik", S, X), C("bij->bi", T)],
    "gemm": [C(S, X, transpose_b=True), C(S, array((4, 2)), V[:2], alpha=0.5, beta=2.0)],
    "inner": [C(S, X)],
    "kron": [C(S, V)],
    "matmul": [C(S, V), C(T, array((4, 2))), C(I, J.T)],
    "mm": [C(S, X.T)],
    "mv": [C(S, V)],
    "outer": [C(V, W)],
    "tensordot": [C(S, X, ([1], [1])), C(T, array((3, 4, 2)))],
    "trace": [C(S), C(S, 1)],
    "vecdot": [C(S, X), C(S, X, axis=0)],
    "causal_conv_with_state": [C(LINE, array((4, 1, 3))), C(LINE, array((4, 1, 3)), V, return_state=False)],
    "conv1d": [C(LINE, array((2, 4, 3))), C(LINE, array((2, 4, 3)), V[:2], 2, "same")],
    "conv2d": [C(Q, array((2, 4, 3, 3))), C(Q, array((4, 2, 3, 3)), V, 2, "pad", 1, 1, 2)],
    "conv3d": [C(CUBE, array((2, 4, 2, 2, 2)))],
    "conv_integer": [C(U8_IMAGE, I8_KERNEL, 1)],
    "conv_transpose1d": [C(LINE, array((4, 2, 3)))],
    "conv_transpose2d": [C(Q, array((4, 2, 3, 3)), V[:2], 2, "pad", 1, 1)],
    "conv_transpose3d": [C(CUBE, array((4, 2, 2, 2, 2)))],
    "deform_conv2d": [C(Q, array((2, 4, 3, 3)), array((2, 18, 4, 4)))],
    "qlinear_conv": [C(U8_IMAGE, f32(0.5), np.uint8(1), I8_KERNEL, f32(0.5), np.int8(0), f32(1.0), np.int8(0))],
    "adaptive_avg_pool3d": [C(CUBE, 2)],
    "lp_pool1d": [C(LINE, 2, 2)],
    "lp_pool2d": [C(Q, 2, 2)],
    "max_unpool1d": [C(LINE[..., :2], np.tile(np.array([1, 2]), (2, 4, 1)), 2)],
    "max_unpool2d": [C(Q[..., :1, :1], np.full((2, 4, 1, 1), 3), 2)],
    "max_unpool3d": [C(CUBE[..., :1, :1, :1], np.full((1, 4, 1, 1, 1), 3), 2)],
    "batch_norm": [C(Q, V, X[0], V, W), C(Q, V, X[0], V, W, True)],
    "dropout": [C(S)],
    "group_norm": [C(Q, 2, V, W)],
    "instance_norm": [C(Q), C(Q, V, W)],
    "l2_normalize": [C(S, 1)],
    "layer_norm": [C(S, (4,), V, W), C(T, (3, 4))],
    "local_response_norm": [C(Q, 3)],
    "lp_normalization": [C(S), C(S, 0, 1)],
    "lrn": [C(Q, 1)],
    "mean_variance_normalization": [C(Q)],
    "normalize": [C(S), C(S, 1.0, 0)],
    "rms_norm": [C(S, V)],
    "affine_grid": [C(array((2, 2, 3)), (2, 3, 4, 5))],
    "crop_and_resize": [C(array((2, 6, 7, 3)), np.array([[0, 0, 1, 1], [0.2, 0.4, 0.8, 1]], f32), np.array([1, 0]), (3, 4))],
    "grid_sample": [C(Q, array((2, 3, 3, 2), low=-1, high=1)), C(Q, array((2, 3, 3, 2), low=-1, high=1), "nearest", "border", True)],
    "max_roi_pool": [C(Q, np.array([[0, 0, 0, 5, 4]], f32), (2, 2))],
    "roi_align": [C(Q, BOXES, (3, 2)), C(Q, BOXES, 2, 0.5, 2, True)],
    "gru": [C(SEQUENCE, STATE, *GRU), C(SEQUENCE, None, *GRU[:2], reverse=True)],
    "lstm": [C(SEQUENCE, (STATE, STATE + 1), *LSTM), C(SEQUENCE, None, *LSTM[:2])],
    "rnn": [C(SEQUENCE, STATE, *RNN), C(SEQUENCE, None, *RNN, nonlinearity="relu")],
    "attention": [C(*HEADS), C(HEADS[0], HEADS[1][:, :, 3:], HEADS[2][:, :, 3:], None, HEADS[1][:, :, :3], HEADS[2][:, :, :3], outputs=3)],
    "rotary_embedding": [C(HEADS[0], array((2, 5, 4)), array((2, 5, 4)))],
    "arange": [C(5), C(2, 9, 3), C(0.0, 1.0, 0.25), C(3, dtype="int8")],
    "as_array": [C(S), C([1, 2]), C([[1.5], [2]], "float64"), C(3)],
    "eye": [C(3), C(2, 4, dtype="int32", k=1)],
    "eye_like": [C(S), C(S, k=1)],
    "full": [C((2, 3), 7), C((2,), 0.5, dtype="float64")],
    "full_like": [C(S, 2), C(I, 1.5, dtype="float32")],
    "linspace": [C(0, 1, 5), C(2.0, -1.0, 4, dtype="float64")],
    "logspace": [C(0, 2, 3)],
    "meshgrid": [C(V, W[:2]), C(V, W[:2], indexing="ij")],
    "range_of": [C(np.int64(1), np.int64(7), np.int64(2))],
    "dequantize_linear": [C(U8, f32(0.02), np.uint8(3))],
    "dynamic_quantize_linear": [C(S)],
    "matmul_integer": [C(U8, I8, 3, 1)],
    "qlinear_matmul": [C(U8, f32(0.1), np.uint8(3), I8, f32(0.2), np.int8(1), f32(0.5), np.uint8(10))],
    "quantize_linear": [C(S, f32(0.02), np.uint8(120)), C(S, X[:, 0], np.zeros(3, np.int8), axis=0)],
    "dft": [C(array((2, 8, 1))), C(array((2, 8, 1)), 4, onesided=True)],
    "mel_weight_matrix": [C(6, 16, 8000, 0.0, 4000.0)],
    "stft": [C(array((1, 20)), 4, np.hanning(8).astype(f32))],
    "random_bernoulli": [C(KEY, X)],
    "random_multinomial": [C(KEY, np.log(X), 5)],
    "random_normal": [C(KEY, (5,)), C(KEY, (2, 3), 1.0, 2.0, dtype="float64")],
    "random_uniform": [C(KEY, (5,)), C(KEY, (2, 3), 1.0, 2.0, dtype="float64")],
    "getitem": [C(S, 1), C(S, (slice(None), -1)), C(S, B), C(S, np.array([0, 2]))],
    "setitem": [C(S, 1, 5.0), C(S, B, 0), C(S, np.array([0, 2]), V)],
}

LEFT_OUT = {
    "TensorSpec": "a class",
    "custom": "makes operators; test_custom.py",
    "random_key": "makes a numpy array of a seed, outside programs",
    **dict.fromkeys(
        ["bernoulli", "multinomial", "normal", "rand", "randint", "randn", "randperm", "uniform", "set_seed"],
        "has a generator of the process, which programs don't use",
    ),
}
"""Functions without a case, and why."""

KNOWN = {
    **dict.fromkeys(["split", "tensor_split", "unbind", "unstack"], "known only when the program runs"),
    "squeeze": "give it axes",
    "chunk": None,
}
"""Functions whose number of results, or rank, hangs on a size: they get tensors of known sizes. Others are refused with this text."""


def test_every_function_has_a_case():
    assert set(CASES) | set(LEFT_OUT) == set(ops.__all__)
    assert not set(CASES) & set(LEFT_OUT)


def tensors(v):
    """Arrays as tensors."""
    if isinstance(v, np.ndarray | np.generic):
        return ms.Tensor(np.asarray(v))
    return type(v)(map(tensors, v)) if type(v) in (tuple, list) else v


def kind(v):
    """The annotation of a result."""
    if isinstance(v, tuple):
        return f"tuple[{', '.join(map(kind, v))}]"
    return type(v).__name__


@pytest.mark.parametrize("name", CASES)
def test_compiled_like_eager(name):
    function = getattr(ops, name)

    @ms.jit
    def compiled(args, kwargs):
        return function(*args, **kwargs)

    @ms.jit
    def of_known_sizes(args, kwargs, shape):
        return function(args[0].reshape(shape), *args[1:], **kwargs)

    for k, call in enumerate(CASES[name]):
        args, kwargs = tensors(call.args), {n: tensors(v) for n, v in call.kwargs.items()}
        want = function(*args, **kwargs)
        got = of_known_sizes(args, kwargs, args[0].shape) if name in KNOWN else compiled(args, kwargs)
        assert_same(got, want, rtol=1e-6, what=f"{name} {k}")
        assert kind(got) == kind(want), f"{name} {k}"
        check_stub(name, kwargs, want)
    if KNOWN.get(name):
        with pytest.raises(ms.Error, match=KNOWN[name]):
            compiled((ms.Tensor(T[:1]), *([2] if "split" in name else [])), {})


def check_stub(name, kwargs, result):
    """The stub says what kind of result it is."""
    flags = {flag: of for flag, of in stubs.FLAGS.get(name, {}).items() if kwargs.get(flag)}
    said = next(iter(flags.values()), stubs.RETURNS.get(name, "Tensor"))
    if name in stubs.ANY or (name in stubs.FLAGS and not flags):
        return  # an argument by position may choose
    if said.endswith("...]"):
        assert isinstance(result, tuple) and {kind(v) for v in result} == {said[6:-6]}, name
    else:
        assert kind(result) == said.replace("np.ndarray[Any, Any]", "ndarray"), name
