"""Operators element by element. Operands broadcast as in numpy; dtypes meet as in ``_promote``; results have the broadcast shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import InputError
from ..frontend.values import BOOL, DTYPE, I64, SymInt, SymTensor, as_tensor, emit
from ._op import Op, op
from ._promote import as_dtype, floating, promoted, result_dtype, tensor, weak_kind

UINT8, INT32, UINT64 = DTYPE["uint8"], DTYPE["int32"], DTYPE["uint64"]


# --- one operand ---------------------------------------------------------------------------------------------------------


def _float_unary(name: str, operator: str, what: str) -> Op:
    def body(input: Any) -> Any:
        return emit(operator, floating(input))

    return op(
        name=name,
        doc=f"{what}"
        f"\n\n    ``input``: any shape, numbers; integers and bools become float32. The result has its shape. ONNX ``{operator}``.",
    )(body)


sqrt = _float_unary("sqrt", "Sqrt", "Square root; NaN for negative values.")
exp = _float_unary("exp", "Exp", "e to the power of the value.")
log = _float_unary("log", "Log", "Natural logarithm; -inf for 0, NaN for negative values.")
reciprocal = _float_unary("reciprocal", "Reciprocal", "1 divided by the value.")
sin = _float_unary("sin", "Sin", "Sine of an angle in radians.")
cos = _float_unary("cos", "Cos", "Cosine of an angle in radians.")
tan = _float_unary("tan", "Tan", "Tangent of an angle in radians.")
asin = _float_unary("asin", "Asin", "Angle in radians whose sine is the value; NaN outside [-1, 1].")
acos = _float_unary("acos", "Acos", "Angle in radians whose cosine is the value; NaN outside [-1, 1].")
atan = _float_unary("atan", "Atan", "Angle in radians whose tangent is the value.")
sinh = _float_unary("sinh", "Sinh", "Hyperbolic sine.")
cosh = _float_unary("cosh", "Cosh", "Hyperbolic cosine.")
tanh = _float_unary("tanh", "Tanh", "Hyperbolic tangent.")
asinh = _float_unary("asinh", "Asinh", "Inverse of the hyperbolic sine.")
acosh = _float_unary("acosh", "Acosh", "Inverse of the hyperbolic cosine; NaN below 1.")
atanh = _float_unary("atanh", "Atanh", "Inverse of the hyperbolic tangent; NaN outside [-1, 1].")
erf = _float_unary("erf", "Erf", "Gauss's error function.")
sigmoid = _float_unary("sigmoid", "Sigmoid", "1 / (1 + exp(-x)), computed so that neither end overflows.")


def _rounding(name: str, operator: str, what: str) -> Op:
    def body(input: Any) -> Any:
        (x,) = promoted(input)
        return emit(operator, [x]) if x.dtype.kind == "f" else x

    return op(
        name=name,
        doc=f"{what} Integers stay as they are."
        f"\n\n    ``input``: any shape, numbers. The result has its shape and dtype. ONNX ``{operator}``.",
    )(body)


ceil = _rounding("ceil", "Ceil", "The nearest whole number that is not less.")
floor = _rounding("floor", "Floor", "The nearest whole number that is not greater.")


@op(static=("decimals",))
def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest whole number, halves to the even one; or the nearest multiple of 10 ** -decimals.

    ``input``: any shape, numbers. The result has its shape and dtype. ONNX ``Round``.
    """
    (x,) = promoted(input)
    if x.dtype.kind != "f":
        if decimals >= 0:
            return x
        raise InputError(f"round: decimals is {decimals} for integers; at least 0 is possible")
    if decimals == 0:
        return emit("Round", [x])
    scale = tensor(10.0 ** abs_int(decimals), x.dtype)
    there, back = ("Mul", "Div") if decimals > 0 else ("Div", "Mul")
    return emit(back, [emit("Round", [emit(there, [x, scale])]), scale])


def abs_int(v: int) -> int:
    """Python's ``abs``, whose name the operator takes here."""
    return -v if v < 0 else v


@op
def trunc(input: Any) -> Any:
    """The value without what follows the point. Integers stay. Any shape; the result has its shape and dtype."""
    (x,) = promoted(input)
    if x.dtype.kind != "f":
        return x
    return emit("Where", [emit("Less", [x, tensor(0.0, x.dtype)]), emit("Ceil", [x]), emit("Floor", [x])])


@op
def frac(input: Any) -> Any:
    """What follows the point: ``input - trunc(input)``. Floats of any shape; the result has its shape and dtype."""
    (x,) = floating(input)
    return emit("Sub", [x, trunc(x)])


@op
def abs(input: Any) -> Any:
    """Distance from zero; the least value of a signed integer dtype stays itself.

    ``input``: any shape, numbers. The result has its shape and dtype. ONNX ``Abs``.
    """
    (x,) = promoted(input)
    return x if x.dtype.kind == "b" else emit("Abs", [x])


@op
def neg(input: Any) -> Any:
    """The value with its sign turned; integers wrap. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Neg``."""
    (x,) = promoted(input)
    if x.dtype.kind == "b":
        raise InputError("neg: expected numbers, found bools; use logical_not")
    return emit("Sub", [tensor(0, x.dtype), x]) if x.dtype.kind == "u" else emit("Neg", [x])


@op
def sign(input: Any) -> Any:
    """-1, 0 or 1 by the sign; NaN stays NaN. ``input``: any shape, numbers; shape and dtype stay. ONNX ``Sign``."""
    (x,) = promoted(input)
    return x if x.dtype.kind == "b" else emit("Sign", [x])


@op
def square(input: Any) -> Any:
    """The value times itself. Any shape, numbers; shape and dtype stay."""
    (x,) = promoted(input)
    return mul(x, x)


@op
def rsqrt(input: Any) -> Any:
    """1 over the square root. Any shape; integers become float32."""
    return emit("Reciprocal", [emit("Sqrt", floating(input))])


@op
def cbrt(input: Any) -> Any:
    """Cube root, negative for negative values. Any shape; integers become float32."""
    (x,) = floating(input)
    return emit("Mul", [emit("Sign", [x]), emit("Pow", [emit("Abs", [x]), tensor(1 / 3, x.dtype)])])


@op
def exp2(input: Any) -> Any:
    """2 to the power of the value. Any shape; integers become float32."""
    (x,) = floating(input)
    return emit("Pow", [tensor(2.0, x.dtype), x])


@op
def expm1(input: Any) -> Any:
    """exp(x) - 1 without the loss of digits near 0: tanh(x / 2) * (exp(x) + 1). Any shape; integers become float32."""
    (x,) = floating(input)
    half = emit("Tanh", [emit("Mul", [x, tensor(0.5, x.dtype)])])
    return emit("Mul", [half, emit("Add", [emit("Exp", [x]), tensor(1.0, x.dtype)])])


@op
def log1p(input: Any) -> Any:
    """log(1 + x) without the loss of digits near 0. Any shape; integers become float32.

    With u = 1 + x rounded: log(u) * x / (u - 1), and x where u is 1 (W. Kahan's correction).
    """
    (x,) = floating(input)
    one = tensor(1.0, x.dtype)
    u = emit("Add", [x, one])
    d = emit("Sub", [u, one])
    corrected = emit("Mul", [emit("Log", [u]), emit("Div", [x, d])])
    plain = emit("Or", [emit("Equal", [d, tensor(0.0, x.dtype)]), emit("Equal", [x, tensor(np.inf, x.dtype)])])
    return emit("Where", [plain, x, corrected])


def _log_base(name: str, base: float, what: str) -> Op:
    def body(input: Any) -> Any:
        (x,) = floating(input)
        return emit("Mul", [emit("Log", [x]), tensor(1 / float(np.log(base)), x.dtype)])

    return op(name=name, doc=f"{what} -inf for 0, NaN for negative values. Any shape; integers become float32.")(body)


log2 = _log_base("log2", 2.0, "Logarithm to base 2.")
log10 = _log_base("log10", 10.0, "Logarithm to base 10.")


@op
def erfc(input: Any) -> Any:
    """1 - erf(x). Any shape; integers become float32."""
    (x,) = floating(input)
    return emit("Sub", [tensor(1.0, x.dtype), emit("Erf", [x])])


@op
def logical_not(input: Any) -> Any:
    """Whether the value is zero or false. Any shape; the result is bool. ONNX ``Not``."""
    return emit("Not", [truth(input)])


@op
def bitwise_not(input: Any) -> Any:
    """All bits turned; of bools the other one. Integers or bools of any shape. ONNX ``BitwiseNot``."""
    (x,) = promoted(input)
    if x.dtype.kind == "b":
        return emit("Not", [x])
    _expect_integers("bitwise_not", x)
    return emit("BitwiseNot", [x])


def truth(v: Any) -> SymTensor:
    """Whether each element isn't zero, as bools."""
    (x,) = promoted(v)
    return x if x.dtype.kind == "b" else emit("Not", [emit("Equal", [x, tensor(0, x.dtype)])])


def _expect_integers(name: str, *tensors: SymTensor) -> None:
    for t in tensors:
        if t.dtype.kind not in "iu":
            raise InputError(f"{name}: expected integers, found {t.dtype.name}")


def _filled(x: SymTensor, value: bool) -> SymTensor:
    return emit("msvm.Fill", [], x.shape, dtype=BOOL, value=int(value))


@op
def isnan(input: Any) -> Any:
    """Whether the value is NaN; never for integers. Any shape; the result is bool. ONNX ``IsNaN``."""
    (x,) = promoted(input)
    return emit("IsNaN", [x]) if x.dtype.kind == "f" else _filled(x, False)


@op(static=("detect_positive", "detect_negative"))
def isinf(input: Any, *, detect_positive: bool = True, detect_negative: bool = True) -> Any:
    """Whether the value is infinite; never for integers. Any shape; the result is bool. ONNX ``IsInf``."""
    (x,) = promoted(input)
    if x.dtype.kind != "f":
        return _filled(x, False)
    return emit("IsInf", [x], detect_positive=int(detect_positive), detect_negative=int(detect_negative))


@op
def isfinite(input: Any) -> Any:
    """Whether the value is neither infinite nor NaN. Any shape; the result is bool."""
    (x,) = promoted(input)
    if x.dtype.kind != "f":
        return _filled(x, True)
    return emit("Less", [emit("Abs", [x]), tensor(np.inf, x.dtype)])


@op(static=("nan", "posinf", "neginf"))
def nan_to_num(input: Any, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """NaN and the infinities replaced, by 0 and the dtype's greatest and least number unless given.

    Floats of any shape; shape and dtype stay.
    """
    (x,) = promoted(input)
    if x.dtype.kind != "f":
        return x
    top = 3.3895313892515355e38 if x.dtype.name == "bfloat16" else float(np.finfo(x.dtype.numpy).max)
    x = emit("Where", [emit("IsNaN", [x]), tensor(0.0 if nan is None else float(nan), x.dtype), x])
    x = emit("Where", [emit("IsInf", [x], detect_negative=0), tensor(top if posinf is None else float(posinf), x.dtype), x])
    return emit("Where", [emit("IsInf", [x], detect_positive=0), tensor(-top if neginf is None else float(neginf), x.dtype), x])


# --- two operands --------------------------------------------------------------------------------------------------------

_BOOL_ARITHMETIC = {"Add": "Or", "Mul": "And", "Max": "Or", "Min": "And"}


def _arithmetic(name: str, operator: str, what: str) -> Op:
    on_bools = _BOOL_ARITHMETIC.get(operator)

    def body(input: Any, other: Any) -> Any:
        a, b = promoted(input, other)
        if a.dtype.kind == "b":
            if on_bools is None:
                raise InputError(f"{name}: expected numbers, found bools; use logical_xor")
            return emit(on_bools, [a, b])
        return emit(operator, [a, b])

    bools = f" Of bools, logical {on_bools.lower()}." if on_bools else ""
    return op(name=name, doc=f"{what}{bools}\n\n    Two operands that broadcast; their dtypes are promoted. ONNX ``{operator}``.")(body)


add = _arithmetic("add", "Add", "Sum; integers wrap.")
sub = _arithmetic("sub", "Sub", "Difference; integers wrap.")
mul = _arithmetic("mul", "Mul", "Product; integers wrap.")
maximum = _arithmetic("maximum", "Max", "The greater one; NaN if either is NaN.")
minimum = _arithmetic("minimum", "Min", "The lesser one; NaN if either is NaN.")


def _variadic(name: str, operator: str, what: str) -> Op:
    def body(inputs: Any) -> Any:
        return emit(operator, (floating if operator in ("Sum", "Mean") else promoted)(*inputs))

    return op(name=name, doc=f"{what}\n\n    ``inputs``: a tuple or list of tensors that broadcast to each other. ONNX ``{operator}``.")(
        body
    )


addn = _variadic("addn", "Sum", "Sum of all tensors, from the first to the last, in a float dtype.")
mean_of = _variadic("mean_of", "Mean", "Mean of all tensors, in a float dtype.")
max_of = _variadic("max_of", "Max", "The greatest of all tensors; NaN if one is NaN.")
min_of = _variadic("min_of", "Min", "The least of all tensors; NaN if one is NaN.")


@op
def fmax(input: Any, other: Any) -> Any:
    """The greater one; the other where one is NaN. Two operands that broadcast."""
    return _ignoring_nan("Max", input, other)


@op
def fmin(input: Any, other: Any) -> Any:
    """The lesser one; the other where one is NaN. Two operands that broadcast."""
    return _ignoring_nan("Min", input, other)


def _ignoring_nan(operator: str, a: Any, b: Any) -> Any:
    a, b = promoted(a, b)
    if a.dtype.kind != "f":
        return maximum(a, b) if operator == "Max" else minimum(a, b)
    result = emit(operator, [a, b])
    result = emit("Where", [emit("IsNaN", [b]), a, result])
    return emit("Where", [emit("IsNaN", [a]), b, result])


def _true_divide(a: Any, b: Any) -> SymTensor:
    return emit("Div", floating(a, b))


def _floor_divide(a: Any, b: Any) -> SymTensor:
    divisor = b
    a, b = _number_pair("floor_divide", a, b)
    if a.dtype.kind == "u":
        return emit("Div", [a, b])
    if a.dtype.kind == "i":
        return _by_minus_one(a, b, divisor, _floor_divide_integers)
    zero, one = tensor(0, a.dtype), tensor(1, a.dtype)
    rest = emit("Mod", [a, b], fmod=1)
    # (a - rest) / b is whole but for rounding; a / 0 keeps its infinity or NaN.
    q = emit("Div", [emit("Sub", [a, rest]), b])
    q = emit("Where", [_rounds_down(rest, b), emit("Sub", [q, one]), q])
    q = emit("Round", [q])
    quotient = emit("Div", [a, b])
    q = emit("Where", [emit("Equal", [q, zero]), emit("Mul", [quotient, zero]), q])  # a zero has the quotient's sign
    return emit("Where", [emit("Equal", [b, zero]), quotient, q])


def _rounds_down(rest: SymTensor, b: SymTensor) -> SymTensor:
    """Whether the quotient towards zero lies above the one rounded down."""
    zero = tensor(0, rest.dtype)
    return emit("And", [emit("Not", [emit("Equal", [rest, zero])]), emit("Xor", [emit("Less", [rest, zero]), emit("Less", [b, zero])])])


def _floor_divide_integers(a: SymTensor, b: SymTensor) -> SymTensor:
    q = emit("Div", [a, b])
    return emit("Where", [_rounds_down(emit("Mod", [a, b], fmod=1), b), emit("Sub", [q, tensor(1, a.dtype)]), q])


def _by_minus_one(a: SymTensor, b: SymTensor, divisor: Any, divide: Callable[[SymTensor, SymTensor], SymTensor]) -> SymTensor:
    """Division of signed integers where the least one by -1 wraps: the kernel takes that for an error."""
    if isinstance(divisor, int):
        return emit("Neg", [a]) if divisor == -1 else divide(a, b)
    minus = emit("Equal", [b, tensor(-1, b.dtype)])
    return emit("Where", [minus, emit("Neg", [a]), divide(a, emit("Where", [minus, tensor(1, b.dtype), b]))])


def _number_pair(name: str, a: Any, b: Any) -> list[SymTensor]:
    a, b = promoted(a, b)
    if a.dtype.kind in "bs":
        raise InputError(f"{name}: expected numbers, found {a.dtype.name}")
    return [a, b]


@op(static=("rounding_mode",))
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Quotient. Integers divide to float32; ``rounding_mode`` "floor" or "trunc" rounds, and keeps integers.

    Two operands that broadcast. Errors: integers rounded after division by 0, when it runs. ONNX ``Div``.
    """
    if rounding_mode is None:
        return _true_divide(input, other)
    if rounding_mode == "floor":
        return _floor_divide(input, other)
    if rounding_mode == "trunc":
        a, b = _number_pair("div", input, other)
        if a.dtype.kind == "i":
            return _by_minus_one(a, b, other, lambda x, y: emit("Div", [x, y]))
        q = emit("Div", [a, b])
        return trunc(q) if a.dtype.kind == "f" else q
    raise InputError(f"rounding_mode: expected None, 'floor' or 'trunc', found {rounding_mode!r}")


@op
def floor_divide(input: Any, other: Any) -> Any:
    """Python's ``//``: the quotient rounded down, in the promoted dtype.

    Two operands that broadcast. Errors: integers divided by 0, when it runs.
    """
    return _floor_divide(input, other)


@op
def remainder(input: Any, other: Any) -> Any:
    """Python's ``%``: what floor division leaves, with the sign of ``other``.

    Two operands that broadcast. Errors: integers divided by 0, when it runs. ONNX ``Mod``.
    """
    return emit("Mod", _number_pair("remainder", input, other))


@op
def fmod(input: Any, other: Any) -> Any:
    """What division towards zero leaves, with the sign of ``input``, as C's ``fmod``.

    Two operands that broadcast. Errors: integers divided by 0, when it runs. ONNX ``Mod`` with fmod = 1.
    """
    return emit("Mod", _number_pair("fmod", input, other), fmod=1)


_POW_DTYPES = ["float64", "float32", "float16", "bfloat16", "int32", "int64"]


@op
def pow(input: Any, exponent: Any) -> Any:
    """``input`` to the power of ``exponent``, in the promoted dtype; integers wrap. Two operands that broadcast. ONNX ``Pow``.

    Errors: InputError for a negative Python int as exponent of integers: their powers aren't whole.
    """
    if isinstance(exponent, (int, np.integer)) and not isinstance(exponent, bool):
        if exponent < 0 and result_dtype(input, exponent).kind in "iu":
            raise InputError(f"pow: integers to the power of {exponent}; use a float exponent or cast to a float")
        if exponent == 2:
            x, _ = promoted(input, exponent)
            return emit("Mul", [x, x])
    a, b = promoted(input, exponent)
    if a.dtype.kind == "b":
        a, b = tensor(a, UINT8), tensor(b, UINT8)
    if a.dtype.name in _POW_DTYPES:
        return emit("Pow", [a, b])
    return tensor(emit("Pow", [tensor(a, I64), tensor(b, I64)]), a.dtype)


@op
def xlogy(input: Any, other: Any) -> Any:
    """``input * log(other)``, 0 where ``input`` is 0 and ``other`` isn't NaN. Two operands that broadcast."""
    a, b = floating(input, other)
    zero = tensor(0.0, a.dtype)
    nothing = emit("And", [emit("Equal", [a, zero]), emit("Not", [emit("IsNaN", [b])])])
    return emit("Where", [nothing, zero, emit("Mul", [a, emit("Log", [b])])])


@op
def logaddexp(input: Any, other: Any) -> Any:
    """log(exp(a) + exp(b)) without overflow. Two operands that broadcast."""
    a, b = floating(input, other)
    top = emit("Max", [a, b])
    apart = emit("Neg", [emit("Abs", [emit("Sub", [a, b])])])
    result = emit("Add", [top, log1p(emit("Exp", [apart]))])
    return emit("Where", [emit("Equal", [a, b]), emit("Add", [a, tensor(float(np.log(2.0)), a.dtype)]), result])


@op
def hypot(input: Any, other: Any) -> Any:
    """Length of the hypotenuse, without overflow of the squares. Two operands that broadcast."""
    a, b = (emit("Abs", [t]) for t in floating(input, other))
    high, low = emit("Max", [a, b]), emit("Min", [a, b])
    ratio = emit("Div", [low, high])
    one = tensor(1.0, high.dtype)
    length = emit("Mul", [high, emit("Sqrt", [emit("Add", [emit("Mul", [ratio, ratio]), one])])])
    inf = tensor(np.inf, high.dtype)
    length = emit("Where", [emit("Equal", [high, tensor(0.0, high.dtype)]), high, length])
    either = emit("Or", [emit("Equal", [a, inf]), emit("Equal", [b, inf])])
    return emit("Where", [either, inf, length])


@op
def atan2(input: Any, other: Any) -> Any:
    """Angle in radians of the point (x = other, y = input), from -pi to pi; the signs of zeros count. Two operands that broadcast."""
    y, x = floating(input, other)
    dtype = y.dtype
    zero = tensor(0.0, dtype)

    def negative(t: SymTensor) -> SymTensor:
        return _signbit(t)

    ay, ax = emit("Abs", [y]), emit("Abs", [x])
    swap = emit("Greater", [ay, ax])
    high, low = emit("Max", [ay, ax]), emit("Min", [ay, ax])
    ratio = emit("Div", [low, high])
    ratio = emit("Where", [emit("Equal", [high, zero]), zero, ratio])
    ratio = emit("Where", [emit("Equal", [low, tensor(np.inf, dtype)]), tensor(1.0, dtype), ratio])
    angle = emit("Atan", [ratio])
    angle = emit("Where", [swap, emit("Sub", [tensor(np.pi / 2, dtype), angle]), angle])
    angle = emit("Where", [negative(x), emit("Sub", [tensor(np.pi, dtype), angle]), angle])
    angle = emit("Where", [negative(y), emit("Neg", [angle]), angle])
    return emit("Where", [emit("Or", [emit("IsNaN", [x]), emit("IsNaN", [y])]), emit("Add", [x, y]), angle])


_BITS_OF = {"float64": I64, "float32": INT32, "float16": DTYPE["int16"], "bfloat16": DTYPE["int16"]}


def _signbit(x: SymTensor) -> SymTensor:
    if x.dtype.kind != "f":
        return _filled(x, False) if x.dtype.kind in "bu" else emit("Less", [x, tensor(0, x.dtype)])
    bits = _BITS_OF[x.dtype.name]
    return emit("Less", [emit("BitCast", [x], to=bits), tensor(0, bits)])


@op
def signbit(input: Any) -> Any:
    """Whether the sign is minus, for -0.0 and NaN too. Any shape; the result is bool."""
    return _signbit(promoted(input)[0])


@op
def copysign(x: Any, other: Any) -> Any:
    """The size of ``x`` with the sign of ``other``. Two operands that broadcast; integers become float32."""
    a, b = floating(x, other)
    size = emit("Abs", [a])
    return emit("Where", [_signbit(b), emit("Neg", [size]), size])


@op
def nextafter(x: Any, other: Any) -> Any:
    """The next number of the dtype from ``x`` towards ``other``. Two float operands that broadcast."""
    a, b = floating(x, other)
    bits = _BITS_OF[a.dtype.name]
    zero, one = tensor(0.0, a.dtype), tensor(1, bits)
    own = emit("BitCast", [a], to=bits)
    # As integers, floats of one sign are in the order of their sizes.
    grows = emit("Equal", [emit("Less", [a, b]), emit("Greater", [a, zero])])
    stepped = emit("BitCast", [emit("Where", [grows, emit("Add", [own, one]), emit("Sub", [own, one])])], to=a.dtype)
    least = emit("BitCast", [one], to=a.dtype)
    from_zero = emit("Where", [emit("Less", [b, zero]), emit("Neg", [least]), least])
    y = emit("Where", [emit("Equal", [a, zero]), from_zero, stepped])
    y = emit("Where", [emit("Equal", [a, b]), b, y])
    return emit("Where", [emit("Or", [emit("IsNaN", [a]), emit("IsNaN", [b])]), emit("Add", [a, b]), y])


@op(static=("dtype",))
def bit_cast(input: Any, dtype: Any) -> Any:
    """The same bits read as another dtype of the same size. Any shape. ONNX ``BitCast``.

    Errors: InputError where the sizes of the dtypes differ.
    """
    x = as_tensor(input)
    to = as_dtype(dtype)
    if to.itemsize != x.dtype.itemsize or "s" in (to.kind, x.dtype.kind):
        raise InputError(f"bit_cast: {x.dtype.name} and {to.name} differ in size")
    return x if to is x.dtype else emit("BitCast", [x], to=to)


# --- comparisons ---------------------------------------------------------------------------------------------------------


def _comparable(a: Any, b: Any) -> list[SymTensor]:
    dtype = result_dtype(a, b)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype.numpy)
        for v in (a, b):
            outside = isinstance(v, (int, np.integer)) and not isinstance(v, bool) and not limits.min <= v <= limits.max
            if dtype is not UINT64 and (outside or isinstance(v, SymInt)):
                dtype = I64
    return [tensor(a, dtype), tensor(b, dtype)]


def _comparison(name: str, operator: str, what: str) -> Op:
    def body(input: Any, other: Any) -> Any:
        a, b = _comparable(input, other)
        if a.dtype.kind == "b" and operator != "Equal":
            a, b = tensor(a, UINT8), tensor(b, UINT8)
        return emit(operator, [a, b])

    return op(
        name=name, doc=f"{what}\n\n    Two operands that broadcast; their dtypes are promoted. The result is bool. ONNX ``{operator}``."
    )(body)


equal = _comparison("equal", "Equal", "Whether both are equal; NaN equals nothing.")
less = _comparison("less", "Less", "Whether the first is less.")
less_equal = _comparison("less_equal", "LessOrEqual", "Whether the first is less or equal.")
greater = _comparison("greater", "Greater", "Whether the first is greater.")
greater_equal = _comparison("greater_equal", "GreaterOrEqual", "Whether the first is greater or equal.")


@op
def not_equal(input: Any, other: Any) -> Any:
    """Whether both differ; NaN differs from all. Two operands that broadcast. The result is bool."""
    return emit("Not", [emit("Equal", _comparable(input, other))])


@op(static=("rtol", "atol", "equal_nan"))
def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether |a - b| <= atol + rtol * |b|, or both are the same infinity. Two operands that broadcast. The result is bool."""
    a, b = floating(input, other)
    bound = emit("Add", [tensor(atol, a.dtype), emit("Mul", [tensor(rtol, a.dtype), emit("Abs", [b])])])
    near = emit("LessOrEqual", [emit("Abs", [emit("Sub", [a, b])]), bound])
    near = emit("And", [near, emit("Less", [emit("Abs", [b]), tensor(np.inf, a.dtype)])])
    near = emit("Or", [near, emit("Equal", [a, b])])
    return emit("Or", [near, emit("And", [emit("IsNaN", [a]), emit("IsNaN", [b])])]) if equal_nan else near


# --- logic and bits ------------------------------------------------------------------------------------------------------


def _logical(name: str, operator: str, what: str) -> Op:
    def body(input: Any, other: Any) -> Any:
        return emit(operator, [truth(input), truth(other)])

    return op(
        name=name,
        doc=f"{what}\n\n    Two operands that broadcast; numbers are true where they aren't 0. The result is bool. ONNX ``{operator}``.",
    )(body)


logical_and = _logical("logical_and", "And", "Whether both are true.")
logical_or = _logical("logical_or", "Or", "Whether one or both are true.")
logical_xor = _logical("logical_xor", "Xor", "Whether exactly one is true.")


def _bitwise(name: str, operator: str, on_bools: str, what: str) -> Op:
    def body(input: Any, other: Any) -> Any:
        a, b = promoted(input, other)
        if a.dtype.kind == "b":
            return emit(on_bools, [a, b])
        _expect_integers(name, a, b)
        return emit(operator, [a, b])

    return op(
        name=name,
        doc=f"{what} Of bools, logical {on_bools.lower()}.\n\n    Two integer or bool operands that broadcast. ONNX ``{operator}``.",
    )(body)


bitwise_and = _bitwise("bitwise_and", "BitwiseAnd", "And", "Bits that are set in both.")
bitwise_or = _bitwise("bitwise_or", "BitwiseOr", "Or", "Bits that are set in one or both.")
bitwise_xor = _bitwise("bitwise_xor", "BitwiseXor", "Xor", "Bits that are set in exactly one.")


def _shift(name: str, direction: str, what: str) -> Op:
    def body(input: Any, other: Any) -> Any:
        a, b = promoted(input, other)
        _expect_integers(name, a, b)
        bits = a.dtype.itemsize * 8
        if isinstance(other, int) and 0 <= other < bits:
            return emit("BitShift", [a, b], direction=direction)
        moved = emit("BitShift", [a, emit("Min", [b, tensor(bits - 1, b.dtype)])], direction=direction)
        if direction == "RIGHT" and a.dtype.kind == "i":
            return moved
        return emit("Where", [emit("Less", [b, tensor(bits, b.dtype)]), moved, tensor(0, a.dtype)])

    more = "By as many bits as the dtype has, or more, all leave. Errors: negative shifts, when it runs."
    return op(name=name, doc=f"{what} {more}\n\n    Two integer operands that broadcast. ONNX ``BitShift``.")(body)


bitwise_left_shift = _shift("bitwise_left_shift", "LEFT", "The bits moved up; what leaves the dtype is lost.")
bitwise_right_shift = _shift("bitwise_right_shift", "RIGHT", "The bits moved down; arithmetic for signed dtypes.")


# --- three operands ------------------------------------------------------------------------------------------------------


@op
def clip(input: Any, min: Any = None, max: Any = None) -> Any:
    """min(max(x, min), max); absent bounds don't limit, and ``max`` wins where they cross.

    ``input``: any shape, numbers; ``min``, ``max``: numbers or tensors that broadcast with it. ONNX ``Clip``.
    Errors: InputError where both bounds are absent.
    """
    if min is None and max is None:
        raise InputError("clip: give min, max or both")
    bounds = [b for b in (min, max) if b is not None]
    if all(weak_kind(b) is not None for b in bounds):
        dtype = result_dtype(input, *bounds)
        if dtype.kind not in "bs":
            return emit(
                "Clip", [tensor(input, dtype), None if min is None else tensor(min, dtype), None if max is None else tensor(max, dtype)]
            )
    x = input
    if min is not None:
        x = maximum(x, min)
    return x if max is None else minimum(x, max)


@op
def where(condition: Any, input: Any, other: Any) -> Any:
    """``input`` where the condition is true, else ``other``. Three operands that broadcast; dtypes of the last two are promoted.

    ONNX ``Where``.
    """
    a, b = promoted(input, other)
    return emit("Where", [truth(condition), a, b])


@op(static=("weight",))
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``. Operands that broadcast; integers become float32."""
    a, b = floating(input, end)
    return add(a, mul(weight, emit("Sub", [b, a])))


@op
def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``. Operands that broadcast."""
    return add(input, mul(mul(tensor1, tensor2), value))


@op
def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    """``input + value * tensor1 / tensor2``. Operands that broadcast."""
    return add(input, mul(div(tensor1, tensor2), value))


@op(static=("dtype",))
def cast(input: Any, dtype: Any) -> Any:
    """Each element converted. Any shape and dtype. ONNX ``Cast``.

    Integers wrap; floats go towards zero. Errors when it runs: floats that are NaN or outside the range of an integer dtype.
    """
    return tensor(input, as_dtype(dtype))


@op
def identity(input: Any) -> Any:
    """The tensor itself."""
    return as_tensor(input)


@op
def deepcopy(input: Any) -> Any:
    """A dense copy. Any shape and dtype. ONNX ``Identity``."""
    return emit("Identity", [as_tensor(input)])


def cummulative(name: str, operator: str, what: str) -> Op:
    """Sums or products up to each element."""

    def body(input: Any, axis: int, dtype: Any = None) -> Any:
        from ._shape import axis_of

        (x,) = promoted(input)
        wanted = as_dtype(dtype) if dtype is not None else x.dtype if x.dtype.kind == "f" else UINT64 if x.dtype.kind == "u" else I64
        x = tensor(x, wanted)
        small = wanted.name in ("int8", "int16", "uint8", "uint16", "bool")
        wide = tensor(x, I64) if small else x
        return tensor(emit(operator, [wide], axis=axis_of(axis, x.ndim)), wanted)

    return op(
        name=name,
        doc=f"{what} along an axis. Integers become int64 or uint64 unless ``dtype`` says otherwise; shape stays. ONNX ``{operator}``.",
    )(body)


cumsum = cummulative("cumsum", "CumSum", "Sum of the elements up to each one")
cumprod = cummulative("cumprod", "CumProd", "Product of the elements up to each one")

# The other names that MindSpore and the Array API have for the same operators.
subtract, multiply, divide, true_divide, negative, absolute = sub, mul, div, div, neg, abs
arcsin, arccos, arctan, arcsinh, arccosh, arctanh, arctan2 = asin, acos, atan, asinh, acosh, atanh, atan2
inv, floor_div, mod, clamp, select = reciprocal, floor_divide, remainder, clip, where
eq, ne, lt, le, gt, ge = equal, not_equal, less, less_equal, greater, greater_equal
fix = trunc
