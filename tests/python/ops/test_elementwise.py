"""Elementwise operators against numpy: every dtype, ranks 0 to 3, sizes 0, 1 and prime, promotion, broadcasting."""

import itertools
import math

import numpy as np
import pytest
from ops.oracle import FLOATS, INTS, SHAPES, array, assert_same

import msvm
from msvm import ops

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def with_float(f):
    """The reference in float64; the operator's float dtype is that of floats, else float32."""
    return lambda x: f(x.astype(np.float64)).astype(x.dtype if x.dtype.kind == "f" else np.float32)


UNARY = {
    "sqrt": (np.sqrt, 0, 9),
    "exp": (np.exp, -3, 3),
    "log": (np.log, 0.1, 9),
    "reciprocal": (np.reciprocal, 0.5, 3),
    "sin": (np.sin, -3, 3),
    "cos": (np.cos, -3, 3),
    "tan": (np.tan, -1.2, 1.2),
    "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1),
    "atan": (np.arctan, -3, 3),
    "sinh": (np.sinh, -3, 3),
    "cosh": (np.cosh, -3, 3),
    "tanh": (np.tanh, -3, 3),
    "asinh": (np.arcsinh, -3, 3),
    "acosh": (np.arccosh, 1, 5),
    "atanh": (np.arctanh, -0.9, 0.9),
    "erf": (erf, -3, 3),
    "erfc": (lambda x: 1 - erf(x), -1, 1),
    "sigmoid": (sigmoid, -5, 5),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1, 9),
    "cbrt": (np.cbrt, -8, 8),
    "exp2": (np.exp2, -3, 3),
    "expm1": (np.expm1, -3, 3),
    "log1p": (np.log1p, -0.5, 9),
    "log2": (np.log2, 0.5, 9),
    "log10": (np.log10, 0.5, 9),
    "softplus": (softplus, -5, 5),
    "softsign": (lambda x: x / (1 + abs(x)), -3, 3),
    "hardswish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), -5, 5),
    "mish": (lambda x: x * np.tanh(softplus(x)), -3, 3),
    "silu": (lambda x: x * sigmoid(x), -3, 3),
    "gelu": (lambda x: x * 0.5 * (1 + erf(x / np.sqrt(2))), -3, 3),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(x)), -3, 3),
    "celu": (lambda x: np.where(x > 0, x, np.expm1(x)), -3, 3),
    "selu": (lambda x: 1.05070102214813232421875 * np.where(x > 0, x, 1.67326319217681884765625 * np.expm1(x)), -3, 3),
    "leaky_relu": (lambda x: np.where(x >= 0, x, 0.2 * x), -3, 3),
    "thresholded_relu": (lambda x: np.where(x > 1, x, 0), -3, 3),
    "hardsigmoid": (lambda x: np.clip(x / 6 + 0.5, 0, 1), -5, 5),
    "hardshrink": (lambda x: np.where(np.abs(x) <= 0.5, 0, x), -3, 3),
    "softshrink": (lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0), -3, 3),
    "logsigmoid": (lambda x: -softplus(-x), -5, 5),
    "tanhshrink": (lambda x: x - np.tanh(x), -3, 3),
}


@pytest.mark.parametrize("name", UNARY)
def test_float_functions(name):
    f, low, high = UNARY[name]
    for dtype in [*FLOATS, "int32", "uint8", "bool"]:
        for shape in SHAPES:
            x = array(shape, dtype, low, high)
            if name in ("atanh", "log", "log2", "log10") and x.dtype.kind in "iub":
                continue
            if name in ("acosh", "reciprocal", "rsqrt", "log1p") and x.dtype.kind == "b":
                continue
            with np.errstate(all="ignore"):
                want = with_float(f)(x)
            assert_same(getattr(ops, name)(x), want, what=f"{name} {dtype}{shape}")


KEEPING = {
    "abs": np.abs,
    "neg": np.negative,
    "sign": np.sign,
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "round": np.round,
    "square": np.square,
}


@pytest.mark.parametrize("name", KEEPING)
def test_functions_that_keep_the_dtype(name):
    for dtype, shape in itertools.product([*FLOATS, *INTS], SHAPES):
        x = array(shape, dtype, -30, 30)
        if x.size and x.dtype.kind == "f":
            x.flat[0] = 2.5
        want = KEEPING[name](x) if name not in ("ceil", "floor", "trunc", "round") or x.dtype.kind == "f" else x
        assert_same(getattr(ops, name)(x), want, what=f"{name} {dtype}{shape}")


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "signbit"])
def test_float_classes(name):
    for dtype in FLOATS:
        x = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan], dtype)
        assert_same(getattr(ops, name)(x), getattr(np, name)(x))
    for dtype in ("int32", "uint8", "bool"):
        x = array((5,), dtype)
        assert_same(getattr(ops, name)(x), getattr(np, name)(x) if dtype != "bool" or name != "signbit" else np.zeros(5, bool))


def test_nan_to_num():
    x = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    assert_same(ops.nan_to_num(x), np.nan_to_num(x))
    assert_same(ops.nan_to_num(x, 1.0, 2.0, 3.0), np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0))


def test_infinities_and_nan():
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], np.float32)
    with np.errstate(all="ignore"):
        for name in ("exp", "tanh", "sqrt", "expm1", "log1p", "sinh", "sigmoid"):
            want = sigmoid(x.astype(np.float64)).astype(np.float32) if name == "sigmoid" else getattr(np, name)(x)
            assert_same(getattr(ops, name)(x), want, what=name)
        for name in (
            "hypot",
            "arctan2",
            "logaddexp",
            "fmod",
            "remainder",
            "floor_divide",
            "copysign",
            "maximum",
            "minimum",
            "fmax",
            "fmin",
        ):
            for a, b in itertools.product([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -2.5], repeat=2):
                a, b = np.float32(a), np.float32(b)
                got, want = getattr(ops, name)(np.asarray(a), np.asarray(b)), getattr(np, name)(a, b)
                assert_same(got, want, what=f"{name}({a}, {b})")


BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "fmod": np.fmod,
}
PAIRS = [((), ()), ((3,), ()), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (1, 3)), ((5, 7), (5, 7)), ((1,), (0,))]


@pytest.mark.parametrize("name", BINARY)
def test_arithmetic(name):
    for dtype, (a, b) in itertools.product([*FLOATS, *INTS], PAIRS):
        x, y = array(a, dtype, -100, 100), array(b, dtype, -100, 100, seed=1)
        if name in ("floor_divide", "remainder", "fmod"):
            y[y == 0] = 3
        with np.errstate(all="ignore"):
            want = BINARY[name](x, y)
        assert_same(getattr(ops, name)(x, y), want, what=f"{name} {dtype} {a} {b}")


FLOAT_BINARY = {
    "div": (np.divide, 0.5, 3),
    "arctan2": (np.arctan2, -3, 3),
    "hypot": (np.hypot, -3, 3),
    "logaddexp": (np.logaddexp, -3, 3),
    "copysign": (np.copysign, -3, 3),
    "xlogy": (lambda a, b: a * np.log(b), 0.5, 3),
}


@pytest.mark.parametrize("name", FLOAT_BINARY)
def test_float_arithmetic(name):
    f, low, high = FLOAT_BINARY[name]
    for dtype, (a, b) in itertools.product([*FLOATS, "int32", "uint8"], PAIRS):
        x, y = array(a, dtype, low, high), array(b, dtype, max(low, 1) if "int" in dtype and low > 0 else low, high, seed=1)
        want = np.asarray(f(x.astype(np.float64), y.astype(np.float64))).astype(dtype if dtype in FLOATS else np.float32)
        assert_same(getattr(ops, name)(x, y), want, what=f"{name} {dtype} {a} {b}")


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons(name):
    for dtype, (a, b) in itertools.product([*FLOATS, *INTS, "bool"], PAIRS):
        x, y = array(a, dtype), array(b, dtype, seed=1)
        assert_same(getattr(ops, name)(x, y), np.asarray(getattr(np, name)(x, y)), what=f"{name} {dtype}")
    x = np.array([1, 200], np.uint8)
    assert_same(getattr(ops, name)(x, 300), getattr(np, name)(x, 300))
    assert_same(getattr(ops, name)(x, -1), getattr(np, name)(x, -1))
    assert_same(getattr(ops, name)(x, 1.5), getattr(np, name)(x, 1.5))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic(name):
    for dtype in ("bool", "int32", "float32"):
        x, y = array((2, 5), dtype, -1, 1), array((5,), dtype, -1, 1, seed=1)
        assert_same(getattr(ops, name)(x, y), getattr(np, name)(x, y))
    assert_same(ops.logical_not(np.array([0.0, 2.0, np.nan])), np.array([True, False, False]))


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits(name):
    for dtype in [*INTS, "bool"]:
        x, y = array((2, 5), dtype, -100, 100), array((5,), dtype, -100, 100, seed=1)
        assert_same(getattr(ops, name)(x, y), getattr(np, name)(x, y))
        assert_same(ops.bitwise_not(x), np.bitwise_not(x))
    with pytest.raises(msvm.InputError, match="expected integers"):
        getattr(ops, name)(np.ones(2, np.float32), np.ones(2, np.float32))


def test_shifts():
    for dtype in INTS:
        x, y = array((2, 5), dtype, -100, 100), array((5,), dtype, 0, 5, seed=1)
        assert_same(ops.bitwise_left_shift(x, y), np.left_shift(x, y))
        assert_same(ops.bitwise_right_shift(x, y), np.right_shift(x, y))
        far = np.array([0, 7, 8, 31, 100], dtype)
        assert_same(ops.bitwise_left_shift(x, far), np.left_shift(x, far))
        assert_same(ops.bitwise_right_shift(x, far), np.right_shift(x, far))
        assert_same(ops.bitwise_left_shift(x, 70), np.zeros_like(x))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_division_of_extreme_integers(dtype):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.min + 1, -7, -1, 0, 1, 7, info.max - 1, info.max], dtype)
    for d in values[values != 0]:
        divisor = np.full_like(values, d)
        with np.errstate(all="ignore"):
            assert_same(ops.floor_divide(values, divisor), np.floor_divide(values, divisor), what=f"// {d}")
            assert_same(ops.floor_divide(values, int(d)), np.floor_divide(values, divisor), what=f"// {d} constant")
            assert_same(ops.remainder(values, divisor), np.remainder(values, divisor), what=f"% {d}")
            assert_same(ops.fmod(values, divisor), np.fmod(values, divisor), what=f"fmod {d}")
        if d != -1:
            want = np.array(
                [
                    math.trunc(int(v) / int(d)) if abs(int(v)) < 1 << 50 else abs(int(v)) // abs(int(d)) * (1 if (v < 0) == (d < 0) else -1)
                    for v in values
                ],
                dtype,
            )
            assert_same(ops.div(values, divisor, rounding_mode="trunc"), want, what=f"trunc {d}")
    with pytest.raises(msvm.InputError, match="division by zero"):
        ops.floor_divide(values, np.zeros_like(values))


def test_floor_division_of_floats_keeps_whole_quotients():
    a = np.array([1.0, 0.3, -0.7, 5e8, 7.0, -7.0], np.float32)
    b = np.array([0.1, 0.1, 0.1, 3.0, -2.0, -2.0], np.float32)
    assert_same(ops.floor_divide(a, b), np.floor_divide(a, b))
    assert_same(ops.remainder(a, b), np.remainder(a, b))


def test_pow():
    for dtype in FLOATS:
        x = array((5, 3), dtype, 0.5, 3)
        for p in (2, 3, -1, 0.5, 0, x):
            assert_same(ops.pow(x, p), np.power(x, p), what=f"{dtype} ** {p}")
    for dtype in INTS:
        x = array((7,), dtype, 0, 5)
        for p in (0, 1, 2, 3):
            assert_same(ops.pow(x, p), np.power(x, p), what=f"{dtype} ** {p}")
    with pytest.raises(msvm.InputError, match="integers to the power of -1"):
        ops.pow(np.array([2]), -1)
    assert_same(ops.pow(np.array([2], np.int32), 0.5), np.array([2**0.5], np.float32))


PROMOTED = [
    ("int8", "float32", "float32"),
    ("int64", "float32", "float32"),
    ("int64", "float16", "float32"),
    ("int32", "float64", "float64"),
    ("bool", "int8", "int8"),
    ("bool", "float16", "float16"),
    ("int8", "uint8", "int16"),
    ("int32", "uint32", "int64"),
    ("int16", "int32", "int32"),
    ("uint8", "uint16", "uint16"),
    ("int64", "uint8", "int64"),
    ("float16", "float64", "float64"),
    ("float16", "float32", "float32"),
]


@pytest.mark.parametrize(("a", "b", "want"), PROMOTED)
def test_promotion(a, b, want):
    x, y = array((3,), a, 0, 2), array((3,), b, 0, 2)
    for first, second in ((x, y), (y, x)):
        assert np.asarray(ops.add(first, second)).dtype == want
        assert np.asarray(ops.where(np.array([True, False, True]), first, second)).dtype == want
        assert np.asarray(ops.cat([first, second])).dtype == want


def test_promotion_of_numbers():
    for dtype in [*INTS, *FLOATS]:
        x = array((3,), dtype, 0, 2)
        assert np.asarray(ops.add(x, 1)).dtype == dtype
        assert np.asarray(ops.add(x, True)).dtype == dtype
        assert np.asarray(ops.add(x, 1.5)).dtype == (dtype if dtype in FLOATS else "float32")
    b = np.array([True, False])
    assert np.asarray(ops.add(b, 1)).dtype == "int64"
    assert np.asarray(ops.add(b, 1.0)).dtype == "float32"
    assert_same(ops.add(b, b), b)
    assert_same(ops.mul(b, ~b), np.zeros(2, bool))
    with pytest.raises(msvm.InputError, match="int64 and uint64"):
        ops.add(np.array([1]), np.array([1], np.uint64))
    with pytest.raises(msvm.InputError, match="doesn't fit dtype uint8"):
        ops.add(np.array([1], np.uint8), 300)
    with pytest.raises(msvm.InputError, match="found bools"):
        ops.sub(b, b)


def test_clip():
    for dtype in [*FLOATS, *INTS]:
        x = array((3, 5), dtype, -9, 9)
        low = 1 if dtype.startswith("u") else -2
        assert_same(ops.clip(x, low, 4), np.clip(x, low, 4))
        assert_same(ops.clip(x, None, 4), np.clip(x, None, 4))
        assert_same(
            ops.clip(x, np.asarray(low, dtype), array((5,), dtype, 3, 6)), np.clip(x, np.asarray(low, dtype), array((5,), dtype, 3, 6))
        )
    assert_same(ops.clip(np.arange(4), 0.5, 2.5), np.array([0.5, 1, 2, 2.5], np.float32))
    with pytest.raises(msvm.InputError, match="give min, max or both"):
        ops.clip(np.arange(3))


def test_where_and_friends():
    c, x, y = array((2, 1, 3), "bool"), array((4, 1)), array((3,), "int32")
    assert_same(ops.where(c, x, y), np.where(c, x, y).astype(np.float32))
    assert_same(ops.where(c, 1, 0), np.where(c, 1, 0))
    assert_same(ops.lerp(x, x + 1, 0.25), x + np.float32(0.25))
    assert_same(ops.addcmul(x, x, x, 2), x + 2 * x * x)
    assert_same(ops.addcdiv(x, x, x, 2), x + 2)
    assert_same(
        ops.isclose(np.array([1.0, np.inf, np.nan, 1.0]), np.array([1.0 + 1e-9, np.inf, np.nan, 2.0])), np.array([True, True, False, False])
    )
    assert_same(ops.addn([x, x, x]), x * 3)
    assert_same(ops.max_of([x, x + 1, x - 1]), x + 1)
    assert_same(ops.min_of([x, x + 1, x - 1]), x - 1)
    assert_same(ops.mean_of([x, x + 1]), x + np.float32(0.5))


def test_cast():
    x = np.array([-1.9, 0.5, 200.7], np.float64)
    assert_same(ops.cast(x, "int32"), x.astype(np.int32))
    assert_same(ops.cast(x, msvm.float16 if hasattr(msvm, "float16") else "float16"), x.astype(np.float16))
    assert_same(ops.cast(np.array([300, -1]), np.uint8), np.array([300, -1]).astype(np.uint8))
    assert_same(ops.cast(x, bool), x.astype(bool))
    with pytest.raises(msvm.InputError, match="NaN or outside the range"):
        ops.cast(np.array([np.nan]), "int32")
    with pytest.raises(msvm.InputError, match="expected a dtype"):
        ops.cast(x, "float31")
    assert_same(ops.bit_cast(np.array([1.0], np.float32), "int32"), np.array([1.0], np.float32).view(np.int32))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(name):
    for dtype in [*FLOATS, *INTS]:
        for shape, axis in (((5,), 0), ((2, 3, 4), 1), ((2, 0, 3), -1), ((3, 1), -1)):
            x = array(shape, dtype, 0, 3)
            assert_same(getattr(ops, name)(x, axis), getattr(np, name)(x, axis), what=f"{dtype}{shape}")


def test_activations_with_more_arguments():
    x = array((2, 4, 3))
    w = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    assert_same(ops.relu(x), np.maximum(x, 0))
    assert_same(ops.relu(x.astype(np.int32)), np.maximum(x.astype(np.int32), 0))
    assert_same(ops.relu6(x * 4), np.clip(x * 4, 0, 6))
    assert_same(ops.hardtanh(x), np.clip(x, -1, 1))
    assert_same(ops.prelu(x, w), np.where(x >= 0, x, x * w[:, None]))
    assert_same(ops.threshold(x, 0.5, 9.0), np.where(x > 0.5, x, 9).astype(np.float32))
    assert_same(ops.shrink(x, 0.5, 0.25), np.where(x < -0.5, x + 0.25, np.where(x > 0.5, x - 0.25, 0)).astype(np.float32))
    assert_same(ops.swiglu(x, x + 1), x * sigmoid(x) * (x + 1))
    assert_same(ops.glu(x, 1), x[:, :2] * sigmoid(x[:, 2:]))
    assert_same(ops.gelu(x, "tanh"), 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))
    with pytest.raises(msvm.InputError, match="can't be split into 2"):
        ops.glu(np.ones((3, 3), np.float32), 1)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 3, 4), (3, 1)])
def test_softmax_family(shape):
    for axis in range(-len(shape), len(shape)):
        x = array(shape, "float32", -20, 20)
        e = np.exp(x - x.max(axis, keepdims=True))
        want = e / e.sum(axis, keepdims=True)
        assert_same(ops.softmax(x, axis), want)
        assert_same(ops.softmin(-x, axis), want)
        assert_same(ops.log_softmax(x, axis), np.log(e) - np.log(e.sum(axis, keepdims=True)), rtol=1e-4)
        assert_same(
            ops.hardmax(x, axis),
            (
                np.arange(shape[axis]).reshape([-1 if a == axis % len(shape) else 1 for a in range(len(shape))])
                == x.argmax(axis, keepdims=True)
            ).astype(np.float32),
        )
    with pytest.raises(msvm.InputError, match="axis is 3"):
        ops.softmax(array(shape), 3)


def test_broadcast_errors_name_the_sizes():
    with pytest.raises(msvm.InputError, match="sizes 3 and 2 don't broadcast"):
        ops.add(np.ones((2, 3), np.float32), np.ones(2, np.float32))
