"""Quantized tensors: values are (q - zero point) * scale."""

from __future__ import annotations

from typing import Any

from .._errors import InputError
from ..frontend.values import F32, as_tensor, emit
from ._op import op
from ._promote import as_dtype, floating, promoted, tensor
from .conv import conv_integer, qlinear_conv, quantized, quantized_operands

__all__ = [
    "conv_integer",
    "dequantize_linear",
    "dynamic_quantize_linear",
    "matmul_integer",
    "qlinear_conv",
    "qlinear_matmul",
    "quantize_linear",
]


@op(static=("axis", "block_size", "dtype"))
def quantize_linear(x: Any, y_scale: Any, y_zero_point: Any = None, *, axis: int = 1, block_size: int = 0, dtype: Any = None) -> Any:
    """round(x / y_scale) + y_zero_point, halves to even, limited to the result's range. ONNX ``QuantizeLinear``.

    The dtype is that of the zero point, ``dtype``, or uint8.

    ``y_scale``: one number, a vector along ``axis``, or one for each ``block_size`` positions along it.
    """
    a, s = promoted(x, y_scale)
    a, s = floating(a, s) if a.dtype.name != "int32" else (a, s)
    zero = None if y_zero_point is None else as_tensor(y_zero_point)
    wanted = None if dtype is None else as_dtype(dtype)
    if zero is not None and zero.dtype.name not in ("int8", "uint8", "int16", "uint16"):
        zero = tensor(zero, wanted or as_dtype("uint8"))
    return emit("QuantizeLinear", [a, s, zero], axis=axis if s.ndim else None, block_size=block_size or None, output_dtype=wanted)


@op(static=("axis", "block_size", "dtype"))
def dequantize_linear(x: Any, x_scale: Any, x_zero_point: Any = None, *, axis: int = 1, block_size: int = 0, dtype: Any = None) -> Any:
    """(x - x_zero_point) * x_scale. ``x``: int8, uint8, int16, uint16 or int32. ONNX ``DequantizeLinear``."""
    q = as_tensor(x)
    (s,) = floating(x_scale)
    zero = None if x_zero_point is None else tensor(x_zero_point, q.dtype)
    wanted = None if dtype is None else as_dtype(dtype)
    return emit("DequantizeLinear", [q, s, zero], axis=axis if s.ndim else None, block_size=block_size or None, output_dtype=wanted)


@op
def dynamic_quantize_linear(x: Any) -> Any:
    """Quantizes float32 to uint8 over its range widened to hold 0: (y, scale, zero point). ONNX ``DynamicQuantizeLinear``."""
    return emit("DynamicQuantizeLinear", [tensor(x, F32)], outputs=3)


@op
def matmul_integer(a: Any, b: Any, a_zero_point: Any = None, b_zero_point: Any = None) -> Any:
    """Matrix product of int8 or uint8 less their zero points, as int32. ONNX ``MatMulInteger``."""
    return emit("MatMulInteger", quantized_operands(a, b, a_zero_point, b_zero_point))


@op
def qlinear_matmul(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, y_scale: Any, y_zero_point: Any
) -> Any:
    """Matrix product of quantized matrices, quantized. ONNX ``QLinearMatMul``."""
    x, w, za, zb = quantized_operands(a, b, a_zero_point, b_zero_point)
    if za is None or zb is None:
        raise InputError("qlinear_matmul: zero points must be given")
    scales = floating(a_scale, b_scale, y_scale)
    scales = [tensor(s, F32) if s.dtype.name == "float64" else s for s in scales]
    return emit("QLinearMatMul", [x, scales[0], za, w, scales[1], zb, scales[2], quantized(y_zero_point, "y_zero_point")])
