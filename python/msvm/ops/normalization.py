"""Normalisations. Scales and biases are vectors of the dtype of the input, or promoted with it."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._errors import InputError
from ..frontend.values import SymTensor, as_tensor, emit
from ._op import op
from ._promote import floating, tensor
from ._shape import as_sizes, axes_of, axis_of, check, same


def _scale(given: Any, sizes: Any, value: int, dtype: _core.DType) -> SymTensor:
    return emit("msvm.Fill", [], sizes, dtype=dtype, value=value) if given is None else tensor(given, dtype)


def _from_axis(x: SymTensor, normalized_shape: Any) -> tuple[int, tuple[Any, ...]]:
    """The first normalised axis, and the sizes from there on."""
    sizes = as_sizes(normalized_shape, "normalized_shape")
    axis = x.ndim - len(sizes)
    if axis < 0 or not sizes:
        raise InputError(f"normalized_shape has {len(sizes)} sizes for a tensor of rank {x.ndim}")
    for k, d in enumerate(sizes):
        own = x.shape[axis + k]
        if isinstance(own, int) and isinstance(d, int) and own != d:
            raise InputError(f"normalized_shape is {tuple(sizes)}, but axis {axis + k} has size {own}")
        if not same(own, d):
            check(own == d, f"normalized_shape says {d} for axis {axis + k}, which has another size")
    return axis, tuple(sizes)


@op(sizes=("normalized_shape",), static=("eps",))
def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Each element less the mean over the last axes, over their standard deviation, times weight, plus bias. ONNX ``LayerNormalization``.

    ``normalized_shape``: sizes of those axes; ``weight`` and ``bias`` have this shape. Errors: sizes that differ.
    """
    (x,) = floating(input)
    axis, sizes = _from_axis(x, normalized_shape)
    w = _scale(weight, sizes, 1, x.dtype)
    return emit("LayerNormalization", [x, w, None if bias is None else tensor(bias, x.dtype)], axis=axis, epsilon=float(eps))


@op(static=("eps", "axis"))
def rms_norm(x: Any, gamma: Any, eps: float = 1e-6, *, axis: int | None = None) -> Any:
    """Each element over the root mean square of the last axes (as many as ``gamma`` has, or from ``axis`` on), times gamma.

    ONNX ``RMSNormalization``.
    """
    t, g = floating(x, gamma)
    return emit("RMSNormalization", [t, g], axis=t.ndim - g.ndim if axis is None else axis_of(axis, t.ndim), epsilon=float(eps))


@op(static=("num_groups", "eps"))
def group_norm(x: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Normalises [N, C, ...] over each group of channels and all positions, then weight and bias per channel.

    ONNX ``GroupNormalization``.
    """
    (t,) = floating(x)
    channels = [t.shape[1]] if t.ndim > 1 else []
    if not channels:
        raise InputError(f"group_norm: expected rank 2 or more, found {t.ndim}")
    return emit(
        "GroupNormalization",
        [t, _scale(weight, channels, 1, t.dtype), _scale(bias, channels, 0, t.dtype)],
        num_groups=num_groups,
        epsilon=float(eps),
    )


@op(static=("eps",))
def instance_norm(input: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Normalises [N, C, ...] over all positions of each channel, then weight and bias per channel. ONNX ``InstanceNormalization``."""
    (x,) = floating(input)
    if x.ndim < 3:
        raise InputError(f"instance_norm: expected rank 3 or more, found {x.ndim}")
    return emit(
        "InstanceNormalization", [x, _scale(weight, [x.shape[1]], 1, x.dtype), _scale(bias, [x.shape[1]], 0, x.dtype)], epsilon=float(eps)
    )


@op(static=("training", "momentum", "eps"))
def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel (axis 1), with the given mean and variance.

    ONNX ``BatchNormalization``.

    With ``training`` the statistics of x are used, and (result, new running mean, new running variance) are given; the new ones are
    (1 - momentum) * old + momentum * those of x (ONNX's momentum is 1 - this one).
    """
    (x,) = floating(input_x)
    if x.ndim < 2:
        raise InputError(f"batch_norm: expected rank 2 or more, found {x.ndim}")
    mean, variance = tensor(running_mean, x.dtype), tensor(running_var, x.dtype)
    operands = [x, _scale(weight, [x.shape[1]], 1, x.dtype), _scale(bias, [x.shape[1]], 0, x.dtype), mean, variance]
    if training:
        return emit("BatchNormalization", operands, outputs=3, epsilon=float(eps), momentum=1.0 - float(momentum), training_mode=1)
    return emit("BatchNormalization", operands, epsilon=float(eps))


@op(static=("axis", "p"))
def lp_normalization(input: Any, axis: int = -1, p: int = 2) -> Any:
    """Each element over the 1- or 2-norm along an axis; 0 where the norm is 0. ONNX ``LpNormalization``."""
    (x,) = floating(input)
    return emit("LpNormalization", [x], axis=axis_of(axis, x.ndim), p=p)


@op(static=("axis", "epsilon"))
def l2_normalize(x: Any, axis: int = 0, epsilon: float = 1e-12) -> Any:
    """Each element over the square root of the sum of squares along an axis, of at least ``epsilon``."""
    (t,) = floating(x)
    squares = emit("ReduceSumSquare", [t], axes=[axis_of(axis, t.ndim)], keepdims=1)
    return emit("Div", [t, emit("Sqrt", [emit("Max", [squares, tensor(float(epsilon), t.dtype)])])])


@op(static=("p", "dim", "eps"))
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """Each element over the p-norm along an axis, of at least ``eps``."""
    from .reduce import norm

    (x,) = floating(input)
    return emit("Div", [x, emit("Max", [norm(x, p, dim, True), tensor(float(eps), x.dtype)])])


@op(static=("depth_radius", "bias", "alpha", "beta"))
def lrn(x: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5) -> Any:
    """Each element of [N, C, ...] over (bias + alpha * sum of squares of 2 * depth_radius + 1 channels) ^ beta. ONNX ``LRN``."""
    (t,) = floating(x)
    size = 2 * depth_radius + 1
    return emit("LRN", [t], size=size, bias=float(bias), alpha=float(alpha) * size, beta=float(beta))


@op(static=("size", "alpha", "beta", "k"))
def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Each element of [N, C, ...] over (k + alpha / size * sum of squares of ``size`` channels) ^ beta. ONNX ``LRN``."""
    return emit("LRN", floating(input), size=size, bias=float(k), alpha=float(alpha), beta=float(beta))


@op(static=("axes",))
def mean_variance_normalization(input: Any, axes: Any = (0, 2, 3)) -> Any:
    """(x - mean) / standard deviation over the axes. ONNX ``MeanVarianceNormalization``."""
    (x,) = floating(input)
    return emit("MeanVarianceNormalization", [x], axes=list(axes_of(axes, x.ndim)))


@op(static=("p", "training", "seed"))
def dropout(input: Any, p: float = 0.5, training: bool = False, seed: int | None = None) -> Any:
    """The tensor itself: elements are dropped only in training, which isn't there. Errors: InputError with ``training``."""
    if training:
        raise InputError("dropout: training isn't there; leave training=False")
    return as_tensor(input)
