"""Dense and embedding layers, and cells without parameters."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from .._core import Tensor
from .._errors import InputError, UnsupportedError
from . import activation
from .cell import Cell
from .initializer import HeUniform, Uniform, initializer
from .parameter import Parameter


class Dense(Cell):
    """input W^T + bias on the last axis, then an activation. ``weight`` [out_channels, in_channels], ``bias`` [out_channels].

    ``activation``: a name as "relu", a cell, or a function.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.has_bias = in_channels, out_channels, has_bias
        self.weight = Parameter(initializer(weight_init or HeUniform(math.sqrt(5)), (out_channels, in_channels), dtype))
        bound = 1 / math.sqrt(in_channels) if in_channels else 0.0
        self.bias = Parameter(initializer(bias_init or Uniform(bound), (out_channels,), dtype)) if has_bias else None
        self.activation = get_activation(activation)

    def construct(self, x: Any) -> Tensor:
        """[..., in_channels] -> [..., out_channels]."""
        y = ops.dense(x, self.weight, self.bias)
        if self.activation is not None:
            y = self.activation(y)
        return y

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"in_channels={self.in_channels}, out_channels={self.out_channels}, has_bias={self.has_bias}"


Linear = Dense


def get_activation(name: Any) -> Any:
    """A cell by name; cells, functions and None stay. Errors: InputError for an unknown name."""
    if not isinstance(name, str):
        return name
    found = activation.BY_NAME.get(name.lower().replace("_", ""))
    if found is None:
        raise InputError(f"there is no activation {name!r}; names are {', '.join(activation.BY_NAME)}")
    return found()


class Embedding(Cell):
    """Rows of a table. ``embedding_table`` [vocab_size, embedding_size]; ``padding_idx``: a row of zeros.

    Errors when it runs: positions outside the table.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = "float32",
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size, self.embedding_size, self.use_one_hot, self.padding_idx = vocab_size, embedding_size, use_one_hot, padding_idx
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            table = ops.setitem(table, padding_idx, 0)
        self.embedding_table = Parameter(table)

    def construct(self, ids: Any) -> Tensor:
        """Integers [...] -> [..., embedding_size]."""
        return ops.gather(self.embedding_table, ids, 0)

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}"


class Dropout(Cell):
    """The tensor itself. ``p`` (or 1 - ``keep_prob``) counts only in training, which is refused."""

    def __init__(self, keep_prob: float = 0.5, p: float | None = None) -> None:
        super().__init__()
        self.p = 1 - keep_prob if p is None else p
        if not 0 <= self.p < 1:
            raise InputError(f"Dropout: p is {self.p}; expected 0 <= p < 1")

    def construct(self, x: Tensor) -> Tensor:
        """The tensor. Errors: UnsupportedError in training."""
        if self.training:
            raise UnsupportedError("Dropout: training isn't there; call set_train(False) on the network")
        return x

    def extend_repr(self) -> str:
        """Its probability."""
        return f"p={self.p}"


class Identity(Cell):
    """The tensor itself."""

    def construct(self, x: Tensor) -> Tensor:
        """The tensor."""
        return x


class Flatten(Cell):
    """The axes start_dim..end_dim merged into one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Any) -> Tensor:
        """[N, ...] -> [N, product], by default."""
        return ops.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


class Upsample(Cell):
    """``ops.interpolate`` with fixed arguments."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x: Any) -> Tensor:
        """[N, C, ...] at other spatial sizes."""
        return ops.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)


class PixelShuffle(Cell):
    """[..., C r², H, W] -> [..., C, H r, W r]."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, x: Any) -> Tensor:
        """``ops.pixel_shuffle``."""
        return ops.pixel_shuffle(x, self.upscale_factor)


class PixelUnshuffle(Cell):
    """[..., C, H r, W r] -> [..., C r², H, W]."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, x: Any) -> Tensor:
        """``ops.pixel_unshuffle``."""
        return ops.pixel_unshuffle(x, self.downscale_factor)


class Pad(Cell):
    """Elements added before and after each axis: ``paddings`` is a pair for each axis."""

    def __init__(self, paddings: Any, mode: str = "CONSTANT") -> None:
        super().__init__()
        modes = {"CONSTANT": "constant", "REFLECT": "reflect"}
        if mode not in modes:
            raise InputError(f"Pad: mode is {' or '.join(modes)}, found {mode!r}")
        self.padding = tuple(amount for pair in reversed(paddings) for amount in pair)
        self.mode = modes[mode]

    def construct(self, x: Any) -> Tensor:
        """``ops.pad``."""
        return ops.pad(x, self.padding, self.mode)
