"""Convolutions as cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import ops
from .._core import Tensor
from .._errors import InputError
from ..ops._shape import pair
from .cell import Cell
from .initializer import HeUniform, Uniform, initializer
from .parameter import Parameter


class _Conv(Cell):
    """What all convolutions share. ``weight`` [out, in / group, kernel...] ([in, out / group, kernel...] transposed), ``bias`` [out]."""

    axes = 0
    transposed = False
    function: Callable[..., Tensor]
    """The operator of ``msvm.ops``."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        if in_channels % group or out_channels % group:
            raise InputError(f"{type(self).__name__}: {in_channels} and {out_channels} channels can't be split into {group} groups")
        kernel = tuple(pair(kernel_size, self.axes, "kernel_size"))
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel
        self.stride, self.pad_mode, self.padding, self.dilation, self.group, self.has_bias = (
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
        )
        first, second = (in_channels, out_channels // group) if self.transposed else (out_channels, in_channels // group)
        self.weight = Parameter(initializer(weight_init or HeUniform(math.sqrt(5)), (first, second, *kernel), dtype))
        fan_in = second * math.prod(kernel)
        bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
        self.bias = Parameter(initializer(bias_init or Uniform(bound), (out_channels,), dtype)) if has_bias else None

    def construct(self, x: Any) -> Tensor:
        """[N, in, sizes...] -> [N, out, sizes'...]."""
        return self.function(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation, self.group)

    def extend_repr(self) -> str:
        """Its sizes."""
        return (
            f"in_channels={self.in_channels}, out_channels={self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"pad_mode={self.pad_mode!r}, padding={self.padding}, dilation={self.dilation}, group={self.group}, has_bias={self.has_bias}"
        )


class Conv1d(_Conv):
    """``ops.conv1d`` over [N, C, L]."""

    axes = 1
    function = staticmethod(ops.conv1d)


class Conv2d(_Conv):
    """``ops.conv2d`` over [N, C, H, W]."""

    axes = 2
    function = staticmethod(ops.conv2d)


class Conv3d(_Conv):
    """``ops.conv3d`` over [N, C, D, H, W]."""

    axes = 3
    function = staticmethod(ops.conv3d)


class _Transposed(_Conv):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init, dtype
        )
        self.output_padding = output_padding

    def construct(self, x: Any) -> Tensor:
        """[N, in, sizes...] -> [N, out, sizes'...]."""
        return self.function(
            x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.output_padding, self.group, self.dilation
        )


class Conv1dTranspose(_Transposed):
    """``ops.conv_transpose1d`` over [N, C, L]."""

    axes = 1
    function = staticmethod(ops.conv_transpose1d)


class Conv2dTranspose(_Transposed):
    """``ops.conv_transpose2d`` over [N, C, H, W]."""

    axes = 2
    function = staticmethod(ops.conv_transpose2d)


class Conv3dTranspose(_Transposed):
    """``ops.conv_transpose3d`` over [N, C, D, H, W]."""

    axes = 3
    function = staticmethod(ops.conv_transpose3d)
