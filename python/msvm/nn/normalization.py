"""Normalisations as cells, for inference: running statistics aren't changed."""

from __future__ import annotations

from typing import Any

from .. import ops
from .._core import Tensor
from .._errors import InputError, UnsupportedError
from .cell import Cell
from .initializer import initializer
from .parameter import Parameter


class _BatchNorm(Cell):
    """(x - moving_mean) / sqrt(moving_variance + eps) * gamma + beta for each channel (axis 1). Parameters are [num_features]."""

    ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum, self.affine, self.use_batch_statistics = (
            num_features,
            eps,
            momentum,
            affine,
            use_batch_statistics,
        )
        size = (num_features,)
        self.gamma = Parameter(initializer(gamma_init, size, dtype), requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, size, dtype), requires_grad=affine)
        self.moving_mean = Parameter(initializer(moving_mean_init, size, dtype), requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, size, dtype), requires_grad=False)

    def construct(self, x: Any) -> Tensor:
        """A tensor of the same shape. Errors: UnsupportedError in training; InputError for another rank."""
        if self.training or self.use_batch_statistics:
            raise UnsupportedError("BatchNorm: statistics of the batch aren't taken; call set_train(False) on the network")
        if x.ndim not in self.ranks:
            raise InputError(f"BatchNorm: expected rank {self.ranks}, found {x.ndim}")
        return ops.batch_norm(x, self.moving_mean, self.moving_variance, self.gamma, self.beta, eps=self.eps)

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"num_features={self.num_features}, eps={self.eps}"


class BatchNorm1d(_BatchNorm):
    """Over [N, C] and [N, C, L]."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Over [N, C, H, W]."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Over [N, C, D, H, W]."""

    ranks = (5,)


class LayerNorm(Cell):
    """Normalises over the last axes. ``gamma`` and ``beta`` have the shape ``normalized_shape``.

    ``begin_norm_axis``: the first normalised axis; -1 means as many as ``normalized_shape`` has.
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        if begin_norm_axis != begin_params_axis:
            raise InputError("LayerNorm: begin_norm_axis and begin_params_axis must be the same")
        self.normalized_shape, self.begin_norm_axis, self.epsilon = shape, begin_norm_axis, epsilon
        self.gamma = Parameter(initializer(gamma_init, shape, dtype))
        self.beta = Parameter(initializer(beta_init, shape, dtype))

    def construct(self, x: Any) -> Tensor:
        """A tensor of the same shape."""
        return ops.layer_norm(x, self.normalized_shape, self.gamma, self.beta, self.epsilon)

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"


class RMSNorm(Cell):
    """Each element over the root mean square of the last axes, times ``gamma`` of their shape."""

    def __init__(self, normalized_shape: Any, epsilon: float = 1e-6, gamma_init: Any = "ones", dtype: Any = "float32") -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.epsilon = shape, epsilon
        self.gamma = Parameter(initializer(gamma_init, shape, dtype))

    def construct(self, x: Any) -> Tensor:
        """A tensor of the same shape."""
        return ops.rms_norm(x, self.gamma, self.epsilon)

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"


class GroupNorm(Cell):
    """Normalises over each group of channels of [N, C, ...]. ``gamma`` and ``beta`` are [num_channels]."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise InputError(f"GroupNorm: {num_channels} channels can't be split into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.gamma = Parameter(initializer(gamma_init, (num_channels,), dtype), requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_channels,), dtype), requires_grad=affine)

    def construct(self, x: Any) -> Tensor:
        """A tensor of the same shape."""
        return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """Normalises over all positions of each channel of [N, C, ...]. ``gamma`` and ``beta`` are [num_features]."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.gamma = Parameter(initializer(gamma_init, (num_features,), dtype), requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_features,), dtype), requires_grad=affine)

    def construct(self, x: Any) -> Tensor:
        """A tensor of the same shape."""
        return ops.instance_norm(x, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"num_features={self.num_features}, eps={self.eps}"


class InstanceNorm1d(_InstanceNorm):
    """Over [N, C, L]."""


class InstanceNorm2d(_InstanceNorm):
    """Over [N, C, H, W]."""


class InstanceNorm3d(_InstanceNorm):
    """Over [N, C, D, H, W]."""
