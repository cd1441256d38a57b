"""Activation functions as cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import ops
from .._core import Tensor
from .cell import Cell
from .initializer import initializer
from .parameter import Parameter


class _Activation(Cell):
    """A function of ``msvm.ops`` with fixed arguments behind the tensor."""

    def __init__(self, function: Callable[..., Tensor], *arguments: Any) -> None:
        super().__init__()
        self.function = function
        self.arguments = arguments

    def construct(self, x: Any) -> Tensor:
        """A tensor of the same shape."""
        return self.function(x, *self.arguments)

    def extend_repr(self) -> str:
        """Its arguments."""
        return ", ".join(map(repr, self.arguments))


def _plain(name: str, function: str) -> type[_Activation]:
    def init(self: Any) -> None:
        _Activation.__init__(self, getattr(ops, function))

    doc = f"``ops.{function}`` as a cell."
    return type(name, (_Activation,), {"__init__": init, "__doc__": doc, "__module__": __name__, "__qualname__": name})


ReLU = _plain("ReLU", "relu")
ReLU6 = _plain("ReLU6", "relu6")
SiLU = _plain("SiLU", "silu")
Sigmoid = _plain("Sigmoid", "sigmoid")
Tanh = _plain("Tanh", "tanh")
Mish = _plain("Mish", "mish")
HSwish = _plain("HSwish", "hardswish")
HSigmoid = _plain("HSigmoid", "hardsigmoid")
SeLU = _plain("SeLU", "selu")
Softplus = _plain("Softplus", "softplus")
Softsign = _plain("Softsign", "softsign")
LogSigmoid = _plain("LogSigmoid", "logsigmoid")
Tanhshrink = _plain("Tanhshrink", "tanhshrink")
Hardswish, Hardsigmoid, Swish = HSwish, HSigmoid, SiLU


class LeakyReLU(_Activation):
    """x where x >= 0, else alpha * x."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__(ops.leaky_relu, alpha)


class ELU(_Activation):
    """x where x >= 0, else alpha * (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__(ops.elu, alpha)


class CELU(_Activation):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__(ops.celu, alpha)


class GELU(_Activation):
    """x * Phi(x); with ``approximate``, as by MindSpore's default, by tanh."""

    def __init__(self, approximate: bool | str = True) -> None:
        mode = approximate if isinstance(approximate, str) else "tanh" if approximate else "none"
        super().__init__(ops.gelu, mode)


class Softmax(_Activation):
    """exp(x) over the sum of exp(x) along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__(ops.softmax, axis)


class LogSoftmax(_Activation):
    """Logarithm of softmax along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__(ops.log_softmax, axis)


class Hardtanh(_Activation):
    """x limited to min_val..max_val."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__(ops.hardtanh, min_val, max_val)


class HShrink(_Activation):
    """0 where |x| <= lambd, else x."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(ops.hardshrink, lambd)


class SoftShrink(_Activation):
    """0 where |x| <= lambd, else x moved towards 0 by lambd."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(ops.softshrink, lambd)


class Threshold(_Activation):
    """x where x > threshold, else value."""

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__(ops.threshold, threshold, value)


class GLU(_Activation):
    """The first half along an axis times the sigmoid of the second."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__(ops.glu, axis)


class PReLU(Cell):
    """x where x >= 0, else weight * x. ``weight`` [channel], one or as many as channels."""

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        self.weight = Parameter(initializer(w, (channel,)))

    def construct(self, x: Any) -> Tensor:
        """A tensor of the same shape."""
        return ops.prelu(x, self.weight)


BY_NAME: dict[str, Any] = {
    "relu": ReLU,
    "relu6": ReLU6,
    "silu": SiLU,
    "swish": SiLU,
    "sigmoid": Sigmoid,
    "tanh": Tanh,
    "mish": Mish,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "selu": SeLU,
    "elu": ELU,
    "gelu": GELU,
    "leakyrelu": LeakyReLU,
    "softplus": Softplus,
    "softsign": Softsign,
    "logsigmoid": LogSigmoid,
    "softmax": Softmax,
    "logsoftmax": LogSoftmax,
    "prelu": PReLU,
}
