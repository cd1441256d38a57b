"""Convolutions over [N, C, spatial...]."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._errors import InputError
from ..frontend import values as v
from ..frontend.values import DTYPE, F32, SymTensor, as_tensor, emit
from ._op import op
from ._promote import floating, tensor
from ._shape import pair

STATIC = ("stride", "pad_mode", "padding", "dilation", "groups")


def _pads(pad_mode: str, padding: Any, n: int) -> dict[str, Any]:
    """The attributes of ONNX for MindSpore's ``pad_mode`` and ``padding``."""
    values = list(padding) if isinstance(padding, Iterable) else [padding] * n
    if pad_mode in ("same", "valid"):
        if any(values):
            raise InputError(f'pad_mode is {pad_mode!r}, so padding must be 0, found {padding!r}; for explicit padding use pad_mode="pad"')
        return {"auto_pad": "SAME_UPPER" if pad_mode == "same" else "VALID"}
    if pad_mode != "pad":
        raise InputError(f"pad_mode is 'same', 'valid' or 'pad', found {pad_mode!r}")
    if len(values) == 2 * n and n > 1:
        both = pair(values, 2 * n, "padding")
        return {"pads": both[0::2] + both[1::2]}
    once = pair(values, n, "padding")
    return {"pads": once + once}


def _operands(name: str, n: int, input: Any, weight: Any, bias: Any) -> tuple[list[SymTensor | None], bool]:
    """The tensors of a convolution over n axes, and whether a batch axis was added."""
    given = floating(*(t for t in (input, weight, bias) if t is not None))
    x, w = given[0], given[1]
    if w.ndim != n + 2:
        raise InputError(f"{name}: weight has rank {w.ndim}, expected {n + 2}")
    alone = x.ndim == n + 1
    if alone:
        x = v.unsqueeze(x, [0])
    if x.ndim != n + 2:
        raise InputError(f"{name}: input has rank {x.ndim}, expected {n + 2} (or {n + 1} without a batch)")
    return [x, w, given[2] if bias is not None else None], alone


def _convolution(name: str, n: int) -> Any:
    def body(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        operands, alone = _operands(name, n, input, weight, bias)
        y = emit(
            "Conv",
            operands,
            strides=pair(stride, n, "stride"),
            dilations=pair(dilation, n, "dilation"),
            group=groups,
            **_pads(pad_mode, padding, n),
        )
        return v.squeeze(y, [0]) if alone else y

    return op(
        name=name,
        doc=f"""Sums of products of the weight with the window at each position, plus a bias per output channel, over {n} spatial
    axes. ONNX ``Conv``.

    ``input`` [N, C, ...], ``weight`` [out, C / groups, kernel...], ``bias`` [out]; floats of one dtype, or promoted to it.
    ``pad_mode``: "same" (the result has ceil(size / stride); the larger half of the padding at the end), "valid", or "pad": ``padding``
    elements at both ends, an int, one per axis, or begin and end of each axis. Errors: channels, groups or sizes that don't fit.
    """,
        static=STATIC,
    )(body)


conv1d, conv2d, conv3d = (_convolution(f"conv{n}d", n) for n in (1, 2, 3))


def _transposed(name: str, n: int) -> Any:
    def body(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        pad_mode: str = "pad",
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        operands, alone = _operands(name, n, input, weight, bias)
        strides, extra = pair(stride, n, "stride"), pair(output_padding, n, "output_padding")
        attrs = {"strides": strides, "dilations": pair(dilation, n, "dilation"), "group": groups, **_pads(pad_mode, padding, n)}
        y = emit("ConvTranspose", operands, output_padding=extra if any(extra) else None, **attrs)
        return v.squeeze(y, [0]) if alone else y

    return op(
        name=name,
        doc=f"""The transpose of ``conv{n}d``: each element adds its multiple of the weight to a window of the result. ONNX
    ``ConvTranspose``.

    ``input`` [N, C, ...], ``weight`` [C, out / groups, kernel...], ``bias`` [out]. Sizes of the result:
    (size - 1) * stride + dilation * (kernel - 1) + 1 + output_padding less the padding; size * stride with pad_mode "same".
    """,
        static=(*STATIC, "output_padding"),
    )(body)


conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transposed(f"conv_transpose{n}d", n) for n in (1, 2, 3))


@op(static=(*STATIC, "offset_groups"))
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
) -> Any:
    """``conv2d`` whose taps are moved by ``offset`` and weighted by ``mask``, read by linear interpolation. ONNX ``DeformConv``.

    ``offset`` [N, 2 offset_groups kh kw, oh, ow], ``mask`` [N, offset_groups kh kw, oh, ow].
    """
    given = iter(floating(*(t for t in (input, weight, offset, bias, mask) if t is not None)))
    operands = [None if t is None else next(given) for t in (input, weight, offset, bias, mask)]
    attrs = {"strides": pair(stride, 2, "stride"), "dilations": pair(dilation, 2, "dilation"), **_pads("pad", padding, 2)}
    return emit("DeformConv", operands, group=groups, offset_group=offset_groups, **attrs)


@op(static=("activation", "return_state"))
def causal_conv_with_state(
    input: Any, weight: Any, bias: Any = None, past_state: Any = None, *, activation: str = "none", return_state: bool = True
) -> Any:
    """Convolution of each channel of [batch, channel, time] by itself over past positions; (output, the last kernel - 1 positions).

    ONNX ``CausalConvWithState``.
    """
    given = iter(floating(*(t for t in (input, weight, bias, past_state) if t is not None)))
    operands = [None if t is None else next(given) for t in (input, weight, bias, past_state)]
    y, state = emit("CausalConvWithState", operands, outputs=[True, return_state], activation=activation)
    return (y, state) if return_state else y


@op(static=STATIC)
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
) -> Any:
    """``conv2d`` of int8 or uint8 less their zero points, as int32; also over one or three axes. ONNX ``ConvInteger``."""
    tensors = quantized_operands(x, w, x_zero_point, w_zero_point)
    n = tensors[1].ndim - 2  # type: ignore[union-attr]
    attrs = {
        "strides": pair(stride, n, "stride"),
        "dilations": pair(dilation, n, "dilation"),
        "group": groups,
        **_pads(pad_mode, padding, n),
    }
    return emit("ConvInteger", tensors, **attrs)


@op(static=STATIC)
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
) -> Any:
    """``conv2d`` of quantized tensors, quantized; ``bias`` is int32 of scale x_scale * w_scale. ONNX ``QLinearConv``."""
    a, b, za, zb = quantized_operands(x, w, x_zero_point, w_zero_point)
    n = b.ndim - 2  # type: ignore[union-attr]
    attrs = {
        "strides": pair(stride, n, "stride"),
        "dilations": pair(dilation, n, "dilation"),
        "group": groups,
        **_pads(pad_mode, padding, n),
    }
    scales = [tensor(s, F32) for s in (x_scale, w_scale, y_scale)]
    zero = quantized(y_zero_point, "y_zero_point")
    return emit(
        "QLinearConv",
        [a, scales[0], za, b, scales[1], zb, scales[2], zero, None if bias is None else tensor(bias, DTYPE["int32"])],
        **attrs,
    )


def quantized(t: Any, what: str) -> SymTensor:
    """An int8 or uint8 tensor. Errors: InputError for another dtype."""
    found = as_tensor(t)
    if found.dtype.name not in ("int8", "uint8"):
        raise InputError(f"{what}: expected int8 or uint8, found {found.dtype.name}")
    return found


def quantized_operands(a: Any, b: Any, a_zero: Any, b_zero: Any) -> list[SymTensor | None]:
    """Two quantized tensors and their zero points, in the tensors' dtypes."""
    x, w = quantized(a, "the first operand"), quantized(b, "the second operand")
    return [x, w, None if a_zero is None else tensor(a_zero, x.dtype), None if b_zero is None else tensor(b_zero, w.dtype)]
