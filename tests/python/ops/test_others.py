"""Creation, random values, quantization, signals, class forms; and that every operator of the registry has a function."""

import re
from pathlib import Path

import numpy as np
import pytest
from ops.oracle import FLOATS, INTS, array, assert_same

import msvm
from msvm import ops
from msvm.ops import classes, registry

ROOT = Path(__file__).resolve().parents[3]


def test_creation():
    for dtype in [*FLOATS, *INTS, "bool"]:
        assert_same(ops.zeros((2, 3), dtype=dtype), np.zeros((2, 3), dtype))
        assert_same(ops.ones(4, dtype=dtype), np.ones(4, dtype))
        assert_same(ops.full((2, 0), 1, dtype=dtype), np.full((2, 0), 1, dtype))
        assert_same(ops.zeros_like(np.ones(3, dtype)), np.zeros(3, dtype))
        assert_same(ops.ones_like(np.ones(3, np.int8), dtype=dtype), np.ones(3, dtype))
        for n, m, k in [(3, None, 0), (2, 4, 1), (4, 2, -1), (0, 3, 0)]:
            assert_same(ops.eye(n, m, dtype=dtype, k=k), np.eye(n, m, k, dtype))
    assert_same(ops.zeros(2, 3), np.zeros((2, 3), np.float32))
    assert_same(ops.full((2,), 7), np.full(2, 7))
    assert_same(ops.full((2,), 0.5), np.full(2, 0.5, np.float32))
    assert_same(ops.full_like(np.ones(2, np.int8), 3), np.full(2, 3, np.int8))
    assert_same(ops.empty((2, 2)), np.zeros((2, 2), np.float32))
    big = np.iinfo(np.uint64).max
    assert_same(ops.full((2,), big, dtype="uint64"), np.full(2, big, np.uint64))
    for bad in (lambda: ops.zeros(-1), lambda: ops.full((2,), 300, dtype="int8"), lambda: ops.zeros((1,) * 9)):
        with pytest.raises(msvm.InputError):
            bad()


@pytest.mark.parametrize("args", [(5,), (0,), (-3,), (2, 9), (2, 9, 3), (9, 2, -3), (9, 2), (2, 9, -1), (0, 10, 4), (-5, 5, 2)])
def test_ranges(args):
    assert_same(ops.arange(*args), np.arange(*args))
    assert_same(ops.arange(*args, dtype="float32"), np.arange(*args, dtype=np.float32))
    floats = tuple(a * 0.5 for a in args) if len(args) < 3 else (args[0] * 0.5, args[1] * 0.5, args[2] * 0.25)
    assert_same(ops.arange(*floats), np.arange(*floats).astype(np.float32))


def test_spaces():
    for start, end, n in [(0, 1, 5), (2, -3, 4), (1, 9, 1), (1, 9, 0)]:
        assert_same(ops.linspace(start, end, n), np.linspace(start, end, n).astype(np.float32))
    assert_same(ops.logspace(0, 2, 3), np.logspace(0, 2, 3).astype(np.float32))
    a, b = np.arange(3), np.arange(4.0, dtype=np.float32)
    for indexing in ("xy", "ij"):
        assert_same(ops.meshgrid(a, b, indexing=indexing), tuple(np.meshgrid(a, b, indexing=indexing)))
    assert_same(ops.range_of(np.int64(1), np.int64(7), np.int64(2)), np.arange(1, 7, 2))
    assert_same(ops.eye_like(np.zeros((2, 3), np.float32), k=1), np.eye(2, 3, 1, np.float32))
    with pytest.raises(msvm.InputError, match="step is 0"):
        ops.arange(0, 5, 0)


def test_windows():
    n = np.arange(8)
    assert_same(ops.hann_window(8), (0.5 - 0.5 * np.cos(2 * np.pi * n / 8)).astype(np.float32))
    assert_same(ops.hann_window(8, False), np.hanning(8).astype(np.float32))
    assert_same(ops.blackman_window(8, False), np.blackman(8).astype(np.float32))
    assert_same(ops.hamming_window(8, dtype="float64"), 25 / 46 - 21 / 46 * np.cos(2 * np.pi * n / 8))


def test_random_values():
    ops.set_seed(7)
    a, b = np.asarray(ops.rand(1000)), np.asarray(ops.rand(1000))
    assert a.dtype == np.float32 and a.min() >= 0 and a.max() < 1 and abs(a.mean() - 0.5) < 0.05
    assert not np.array_equal(a, b)
    ops.set_seed(7)
    np.testing.assert_array_equal(np.asarray(ops.rand(1000)), a)
    g = np.asarray(ops.randn(4000, dtype="float64"))
    assert abs(g.mean()) < 0.1 and abs(g.std() - 1) < 0.1
    i = np.asarray(ops.randint(-3, 4, (500,)))
    assert set(i) == set(range(-3, 4)) and i.dtype == np.int64
    assert sorted(np.asarray(ops.randperm(20))) == list(range(20))
    assert set(np.asarray(ops.bernoulli(np.full(200, 0.5, np.float32)))) == {0.0, 1.0}
    drawn = np.asarray(ops.multinomial(np.array([0.0, 1.0, 3.0], np.float32), 400))
    assert set(drawn) == {1, 2} and (drawn == 2).mean() > 0.6
    key = np.array([1, 2], np.uint64)
    first, second = ops.random_uniform(key, (5,), 2.0, 3.0)
    again, _ = ops.random_uniform(key, (5,), 2.0, 3.0)
    other, _ = ops.random_normal(second, (5,))
    np.testing.assert_array_equal(np.asarray(first), np.asarray(again))
    assert not np.array_equal(np.asarray(first), np.asarray(other))
    with pytest.raises(msvm.InputError, match="a seed is"):
        ops.set_seed(-1)


def test_quantization():
    x = array((4, 5), low=-2, high=2)
    scale, zero = np.float32(0.02), np.uint8(120)
    q = np.clip(np.round(x / scale) + zero, 0, 255).astype(np.uint8)
    assert_same(ops.quantize_linear(x, scale, zero), q)
    assert_same(ops.dequantize_linear(q, scale, zero), (q.astype(np.float32) - zero) * scale)
    per_axis = np.array([0.01, 0.02, 0.03, 0.04], np.float32)
    want = np.clip(np.round(x / per_axis[:, None]), -128, 127).astype(np.int8)
    assert_same(ops.quantize_linear(x, per_axis, np.zeros(4, np.int8), axis=0), want)
    y, s, z = ops.dynamic_quantize_linear(x)
    assert_same((np.asarray(y).astype(np.float32) - np.asarray(z)) * np.asarray(s), x, atol=0.02)
    a, b = array((3, 4), "uint8", 0, 99), array((4, 2), "int8", -9, 9)
    assert_same(ops.matmul_integer(a, b, 3, 1), (a.astype(np.int32) - 3) @ (b.astype(np.int32) - 1))
    product = ((a.astype(np.float32) - 3) * 0.1) @ ((b.astype(np.float32) - 1) * 0.2)
    want = np.clip(np.round(product / 0.5) + 10, 0, 255).astype(np.uint8)
    f = np.float32
    assert_same(ops.qlinear_matmul(a, f(0.1), np.uint8(3), b, f(0.2), np.int8(1), f(0.5), np.uint8(10)), want)
    x4, w4 = array((1, 2, 5, 5), "uint8", 0, 9), array((3, 2, 3, 3), "int8", -3, 3)
    whole = ops.conv2d(x4.astype(np.float64) - 1, w4.astype(np.float64))
    assert_same(ops.conv_integer(x4, w4, 1), np.asarray(whole).astype(np.int32))
    y = ops.qlinear_conv(x4, f(0.5), np.uint8(1), w4, f(0.5), np.int8(0), f(1.0), np.int8(0))
    assert_same(y, np.clip(np.round(np.asarray(whole) * 0.25), -128, 127).astype(np.int8))
    with pytest.raises(msvm.InputError, match="expected int8 or uint8"):
        ops.matmul_integer(a.astype(np.int32), b)


def test_signals():
    x = array((2, 8, 1), "float64")
    spectrum = np.fft.fft(x[..., 0])
    pairs = np.stack([spectrum.real, spectrum.imag], -1)
    assert_same(ops.dft(x), pairs, rtol=1e-9)
    assert_same(ops.dft(x, onesided=True), pairs[:, :5], rtol=1e-9)
    assert_same(np.asarray(ops.dft(pairs, inverse=True))[..., :1], x, rtol=1e-9)
    half = np.fft.fft(x[..., 0], 4)
    assert_same(ops.dft(x, 4), np.stack([half.real, half.imag], -1), rtol=1e-9)
    signal, window = array((1, 20)), np.hanning(8).astype(np.float32)
    frames = np.stack([np.fft.rfft(signal[0, k : k + 8] * window) for k in range(0, 13, 4)])
    assert_same(ops.stft(signal, 4, window), np.stack([frames.real, frames.imag], -1)[None].astype(np.float32), rtol=1e-4)
    mel = np.asarray(ops.mel_weight_matrix(6, 16, 8000, 0.0, 4000.0))
    assert mel.shape == (9, 6) and mel.min() >= 0


def operators_of_the_registry():
    text = (ROOT / "docs/operators.md").read_text()
    return set(re.findall(r"^### (\S+)$", text, re.M))


def test_every_operator_has_a_function():
    known, table = operators_of_the_registry(), registry.functions()
    assert len(known) > 170
    missing = known - set(table) - registry.INTERNAL
    assert not missing, f"operators without a function in msvm.ops: {sorted(missing)}"
    assert not (set(table) | registry.INTERNAL) - known
    for operator, function in table.items():
        assert callable(function) and function.__doc__, operator


def test_every_function_is_documented():
    for name in ops.__all__:
        function = getattr(ops, name)
        assert function.__doc__ and len(function.__doc__) > 15, name


X = array((2, 3, 4))
FORMS = {
    "ReLU": ([], [X], np.maximum(X, 0)),
    "Concat": ([1], [(X, X)], np.concatenate([X, X], 1)),
    "Stack": ([0], [(X, X)], np.stack([X, X])),
    "MatMul": ([False, True], [X[0], X[0]], X[0] @ X[0].T),
    "Transpose": ([], [X, (2, 0, 1)], X.transpose(2, 0, 1)),
    "Reshape": ([], [X, (4, 6)], X.reshape(4, 6)),
    "ReduceSum": ([True], [X, 1], X.sum(1, keepdims=True)),
    "ReduceMean": ([], [X], X.mean()),
    "Cast": ([], [X, "int32"], X.astype(np.int32)),
    "Softmax": ([1], [X], np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    "Gather": ([], [X, np.array([1, 0]), 1], X[:, [1, 0]]),
    "ExpandDims": ([], [X, 1], X[:, None]),
    "Squeeze": ([0], [X[:1]], X[0]),
    "Argmax": ([1], [X], X.argmax(1)),
    "ArgMaxWithValue": ([1], [X], (X.argmax(1), X.max(1))),
    "Pad": ([((1, 0), (0, 2), (0, 0))], [X], np.pad(X, ((1, 0), (0, 2), (0, 0)))),
    "Slice": ([], [X, (0, 1, 1), (2, 2, 2)], X[:, 1:3, 1:3]),
    "Split": ([1, 3], [X], tuple(np.split(X, 3, 1))),
    "BroadcastTo": ([(5, 2, 3, 4)], [X], np.broadcast_to(X, (5, 2, 3, 4))),
    "Fill": ([], ["float32", (2, 2), 3], np.full((2, 2), 3, np.float32)),
    "Flatten": ([], [X], X.reshape(2, 12)),
    "Zeros": ([], [(2, 2), "int8"], np.zeros((2, 2), np.int8)),
    "Einsum": (["bij,bkj->bik"], [(X, X)], np.einsum("bij,bkj->bik", X, X)),
    "TopK": ([True], [X, 2], (np.sort(X)[..., ::-1][..., :2], np.argsort(-X)[..., :2])),
    "LayerNorm": (
        [2, 2, 1e-5],
        [X, np.ones(4, np.float32), np.zeros(4, np.float32)],
        (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + 1e-5),
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_class_forms(name):
    attributes, operands, want = FORMS[name]
    assert_same(getattr(ops, name)(*attributes)(*operands), want, rtol=1e-4)
    if classes.is_tensor(operands[0]) and not attributes:
        assert_same(getattr(ops, name)(*operands), want, rtol=1e-4)


def test_class_forms_refuse_what_they_do_not_know():
    with pytest.raises(TypeError, match="takes axis; found 'dim'"):
        ops.Concat(dim=1)
    with pytest.raises(TypeError, match="takes 1 attributes, found 2"):
        ops.Concat(1, 2)
    with pytest.raises(AttributeError, match="no operator 'Frobnicate'"):
        ops.Frobnicate  # noqa: B018
    assert repr(ops.Concat(axis=1)) == "Concat(axis=1)"
    assert {"ReLU", "relu"} <= set(dir(ops))


def test_small_ones():
    x = np.array([1.5, -2.25], np.float32)
    assert_same(ops.frac(x), np.array([0.5, -0.25], np.float32))
    assert_same(ops.identity(x), x)
    assert_same(ops.deepcopy(x), x)
    assert_same(ops.as_array([1.5, 2], "float64"), np.array([1.5, 2]))
    assert_same(ops.reshape_as(X, np.zeros((4, 6))), X.reshape(4, 6))
    assert_same(ops.nextafter(x, np.float32(0)), np.nextafter(x, np.float32(0)))
    key = ops.random_key(3)
    drawn, following = ops.random_bernoulli(key, np.full(300, 0.3, np.float32))
    assert 40 < np.asarray(drawn).sum() < 140 and not np.array_equal(np.asarray(following), key)
    classes_, _ = ops.random_multinomial(key, np.log(np.array([[0.5, 0.5, 1e-9]])), 50)
    assert set(np.asarray(classes_)[0]) == {0, 1} and np.asarray(classes_).dtype == np.int64
    assert abs(np.asarray(ops.normal((2000,), 3.0, 0.5, seed=1)).mean() - 3) < 0.1
    assert np.asarray(ops.uniform((5,), 2.0, 3.0, seed=1)).min() >= 2
