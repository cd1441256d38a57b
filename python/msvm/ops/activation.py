"""Activation functions. Each takes floats of any shape (integers become float32) and gives a tensor of that shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._errors import InputError
from ..frontend.values import SymTensor, emit
from . import elementwise as e
from ._op import Op, op
from ._promote import as_dtype, floating, promoted, tensor
from ._shape import axis_of


def _plain(name: str, operator: str, what: str) -> Op:
    def body(input: Any) -> Any:
        return emit(operator, floating(input))

    return op(
        name=name,
        doc=f"{what}"
        f"\n\n    ``input``: any shape, numbers; integers and bools become float32. The result has its shape. ONNX ``{operator}``.",
    )(body)


softplus = _plain("softplus", "Softplus", "log(1 + exp(x)), computed so that large values don't overflow.")
softsign = _plain("softsign", "Softsign", "x / (1 + |x|).")
hardswish = _plain("hardswish", "HardSwish", "x * max(0, min(1, x / 6 + 0.5)).")
mish = _plain("mish", "Mish", "x * tanh(softplus(x)).")


@op
def relu(input: Any) -> Any:
    """max(x, 0); NaN stays NaN. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Relu``."""
    (x,) = promoted(input)
    return x if x.dtype.kind in "bu" else emit("Relu", [x])


@op
def relu6(input: Any) -> Any:
    """min(max(x, 0), 6). Any shape; shape and dtype stay. ONNX ``Clip``."""
    return e.clip(input, 0, 6)


@op(static=("min_val", "max_val"))
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x limited to min_val..max_val. Any shape; shape stays. ONNX ``Clip``."""
    return e.clip(input, min_val, max_val)


def _with_parameters(operator: str, input: Any, **parameters: float) -> SymTensor:
    attributes: dict[str, Any] = {k: float(v) for k, v in parameters.items()}
    y: SymTensor = emit(operator, floating(input), **attributes)
    return y


@op(static=("alpha",))
def leaky_relu(input: Any, alpha: float = 0.2) -> Any:
    """x where x >= 0, else alpha * x. ONNX ``LeakyRelu``."""
    return _with_parameters("LeakyRelu", input, alpha=alpha)


@op(static=("alpha",))
def elu(input_x: Any, alpha: float = 1.0) -> Any:
    """x where x >= 0, else alpha * (exp(x) - 1). ONNX ``Elu``."""
    return _with_parameters("Elu", input_x, alpha=alpha)


@op(static=("alpha", "gamma"))
def selu(input_x: Any, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Any:
    """gamma * x where x > 0, else gamma * alpha * (exp(x) - 1). ONNX ``Selu``."""
    return _with_parameters("Selu", input_x, alpha=alpha, gamma=gamma)


@op(static=("alpha",))
def celu(x: Any, alpha: float = 1.0) -> Any:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)). ONNX ``Celu``. Errors: InputError where alpha is 0."""
    if alpha == 0:
        raise InputError("celu: alpha is 0")
    return _with_parameters("Celu", x, alpha=alpha)


@op(static=("alpha",))
def thresholded_relu(input: Any, alpha: float = 1.0) -> Any:
    """x where x > alpha, else 0. ONNX ``ThresholdedRelu``."""
    return _with_parameters("ThresholdedRelu", input, alpha=alpha)


@op(static=("threshold", "value"))
def threshold(input: Any, threshold: float, value: float) -> Any:
    """x where x > threshold, else value."""
    (x,) = floating(input)
    return emit("Where", [emit("Greater", [x, tensor(float(threshold), x.dtype)]), x, tensor(float(value), x.dtype)])


@op(static=("alpha", "beta"))
def hardsigmoid(input: Any, alpha: float = 1 / 6, beta: float = 0.5) -> Any:
    """max(0, min(1, alpha * x + beta)); alpha is 1/6 here as in MindSpore, 0.2 by ONNX's default. ONNX ``HardSigmoid``."""
    return _with_parameters("HardSigmoid", input, alpha=alpha, beta=beta)


@op(static=("alpha",))
def silu(input: Any, alpha: float = 1.0) -> Any:
    """x * sigmoid(alpha * x). ONNX ``Swish``."""
    return _with_parameters("Swish", input, alpha=alpha)


@op(static=("approximate",))
def gelu(input: Any, approximate: str = "none") -> Any:
    """x * Phi(x), with Phi the distribution function of the normal distribution; "tanh" approximates it by tanh. ONNX ``Gelu``."""
    if approximate not in ("none", "tanh"):
        raise InputError(f"gelu: approximate is 'none' or 'tanh', found {approximate!r}")
    return emit("Gelu", floating(input), approximate=approximate)


@op(static=("lambd",))
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """0 where |x| <= lambd, else x. ONNX ``Shrink``."""
    return _with_parameters("Shrink", input, lambd=lambd, bias=0.0)


@op(static=("lambd",))
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """0 where |x| <= lambd, else x moved towards 0 by lambd. ONNX ``Shrink``."""
    return _with_parameters("Shrink", input, lambd=lambd, bias=lambd)


@op(static=("lambd", "bias"))
def shrink(input: Any, lambd: float = 0.5, bias: float = 0.0) -> Any:
    """0 where |x| <= lambd, else x moved towards 0 by bias. Numbers of any dtype, which stays. ONNX ``Shrink``."""
    (x,) = promoted(input)
    return emit("Shrink", [x], lambd=float(lambd), bias=float(bias))


@op
def logsigmoid(input: Any) -> Any:
    """log(sigmoid(x)), computed as -softplus(-x)."""
    (x,) = floating(input)
    return emit("Neg", [emit("Softplus", [emit("Neg", [x])])])


@op
def tanhshrink(input: Any) -> Any:
    """x - tanh(x). Any shape; integers become float32."""
    (x,) = floating(input)
    return emit("Sub", [x, emit("Tanh", [x])])


@op
def prelu(input: Any, weight: Any) -> Any:
    """x where x >= 0, else weight * x; ``weight`` has one element, or one for each channel (axis 1). ONNX ``PRelu``."""
    x, w = floating(input, weight)
    if w.ndim == 1 and x.ndim > 1:
        w = emit_unsqueezed(w, x.ndim - 2)
    return emit("PRelu", [x, w])


def emit_unsqueezed(t: SymTensor, behind: int) -> SymTensor:
    """The vector with ``behind`` axes of size 1 after it."""
    from ..frontend.values import unsqueeze

    return unsqueeze(t, range(1, 1 + behind)) if behind else t


@op(static=("alpha",))
def swiglu(input: Any, gate: Any, alpha: float = 1.0) -> Any:
    """input * sigmoid(alpha * input) * gate, of equal shapes. ONNX ``SwiGLU``."""
    return emit("SwiGLU", floating(input, gate), alpha=float(alpha))


@op(static=("axis",))
def glu(x: Any, axis: int = -1) -> Any:
    """The first half along an axis times the sigmoid of the second. Errors: a size that isn't even."""
    from .movement import chunk_exact

    (t,) = floating(x)
    a, b = chunk_exact(t, 2, axis_of(axis, t.ndim))
    return emit("Mul", [a, emit("Sigmoid", [b])])


def _along(name: str, operator: str, what: str) -> Callable[..., Any]:
    def body(input: Any, axis: int = -1, *, dtype: Any = None, dim: int | None = None) -> Any:
        (x,) = floating(input)
        if dtype is not None:
            x = tensor(x, as_dtype(dtype))
        if x.ndim == 0:
            axis_of(axis if dim is None else dim, 1)
            return emit_like_vector(operator, x)
        return emit(operator, [x], axis=axis_of(axis if dim is None else dim, x.ndim))

    return op(
        name=name,
        doc=f"""{what}

    ``input``: any shape; integers become float32. ``axis`` (or ``dim``): whose elements belong together. ONNX ``{operator}``.
    Errors: InputError for an axis that isn't there.
    """,
        static=("axis", "dtype", "dim"),
    )(body)


def emit_like_vector(operator: str, x: SymTensor) -> SymTensor:
    """The operator on a tensor of rank 0, as if it were a vector of one element."""
    from ..frontend.values import reshape

    return reshape(emit(operator, [reshape(x, [1])], axis=0), [])


softmax = _along("softmax", "Softmax", "exp(x) over the sum of exp(x) along an axis.")
log_softmax = _along("log_softmax", "LogSoftmax", "Logarithm of softmax, computed without its loss of digits.")
hardmax = _along("hardmax", "Hardmax", "1 at the first greatest element along an axis, 0 elsewhere.")


@op(static=("axis",))
def softmin(x: Any, axis: int = -1) -> Any:
    """Softmax of the negated values along an axis."""
    (t,) = floating(x)
    return softmax(emit("Neg", [t]), axis)


swish = silu
hard_sigmoid, hard_swish = hardsigmoid, hardswish
