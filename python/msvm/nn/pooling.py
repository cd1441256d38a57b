"""Pools as cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import ops
from .._core import Tensor
from .cell import Cell


class _MaxPool(Cell):
    """The greatest element of each window. ``function``: the pool of ``msvm.ops``."""

    function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.pad_mode, self.padding = kernel_size, stride, pad_mode.lower(), padding
        self.dilation, self.return_indices, self.ceil_mode = dilation, return_indices, ceil_mode

    def extend_repr(self) -> str:
        """Its window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode!r}"

    def construct(self, x: Any) -> Any:
        """[N, C, sizes...] -> [N, C, sizes'...], with ``return_indices`` also the positions."""
        return self.function(
            x, self.kernel_size, self.stride, self.padding, self.dilation, self.return_indices, self.ceil_mode, pad_mode=self.pad_mode
        )


class MaxPool1d(_MaxPool):
    """``ops.max_pool1d`` over [N, C, L]."""

    function = staticmethod(ops.max_pool1d)


class MaxPool2d(_MaxPool):
    """``ops.max_pool2d`` over [N, C, H, W]."""

    function = staticmethod(ops.max_pool2d)


class MaxPool3d(_MaxPool):
    """``ops.max_pool3d`` over [N, C, D, H, W]."""

    function = staticmethod(ops.max_pool3d)


class _AvgPool(Cell):
    """The mean of each window. ``function``: the pool of ``msvm.ops``."""

    function: Callable[..., Tensor]

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.pad_mode, self.padding = kernel_size, stride, pad_mode.lower(), padding
        # With "same", padding never counts.
        self.count_include_pad = count_include_pad and self.pad_mode == "pad"
        self.ceil_mode, self.divisor_override = ceil_mode, divisor_override or 0

    def extend_repr(self) -> str:
        """Its window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode!r}"

    def construct(self, x: Any) -> Tensor:
        """[N, C, sizes...] -> [N, C, sizes'...]."""
        return self.function(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
            pad_mode=self.pad_mode,
        )


class AvgPool1d(_AvgPool):
    """``ops.avg_pool1d`` over [N, C, L]."""

    function = staticmethod(ops.avg_pool1d)


class AvgPool2d(_AvgPool):
    """``ops.avg_pool2d`` over [N, C, H, W]."""

    function = staticmethod(ops.avg_pool2d)


class AvgPool3d(_AvgPool):
    """``ops.avg_pool3d`` over [N, C, D, H, W]."""

    function = staticmethod(ops.avg_pool3d)


class _Adaptive(Cell):
    """As many bins as ``output_size`` says."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extend_repr(self) -> str:
        """Its bins."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """``ops.adaptive_avg_pool1d`` over [N, C, L]."""

    def construct(self, x: Any) -> Tensor:
        """[N, C, L] -> [N, C, output_size]."""
        return ops.adaptive_avg_pool1d(x, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """``ops.adaptive_avg_pool2d`` over [N, C, H, W]."""

    def construct(self, x: Any) -> Tensor:
        """[N, C, H, W] -> [N, C, *output_size]."""
        return ops.adaptive_avg_pool2d(x, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """``ops.adaptive_avg_pool3d`` over [N, C, D, H, W]."""

    def construct(self, x: Any) -> Tensor:
        """[N, C, D, H, W] -> [N, C, *output_size]."""
        return ops.adaptive_avg_pool3d(x, self.output_size)


class AdaptiveMaxPool1d(_Adaptive):
    """``ops.adaptive_max_pool1d`` over [N, C, L]."""

    def construct(self, x: Any) -> Tensor:
        """[N, C, L] -> [N, C, output_size]."""
        return ops.adaptive_max_pool1d(x, self.output_size)


class AdaptiveMaxPool2d(_Adaptive):
    """``ops.adaptive_max_pool2d`` over [N, C, H, W]."""

    def construct(self, x: Any) -> Tensor:
        """[N, C, H, W] -> [N, C, *output_size]."""
        return ops.adaptive_max_pool2d(x, self.output_size)
