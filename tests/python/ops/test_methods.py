"""Methods and operators of tensors: outside programs on ``Tensor``, inside on what stands for one, both against numpy."""

import operator

import numpy as np
import pytest
from ops.oracle import array, assert_same

import msvm
import msvm as ms

X = array((3, 4), "float32", 1, 5)
I = array((3, 4), "int32", 1, 9)  # noqa: E741
B = array((3, 4), "bool")

CASES = {
    "x + 2": lambda x, i, b: x + 2,
    "2 - x": lambda x, i, b: 2 - x,
    "x * i": lambda x, i, b: x * i,
    "x / i": lambda x, i, b: x / i,
    "i / i": lambda x, i, b: i / i,
    "7 // i": lambda x, i, b: 7 // i,
    "-7 % i": lambda x, i, b: -7 % i,
    "x // 2": lambda x, i, b: x // 2,
    "x % 1.5": lambda x, i, b: x % 1.5,
    "divmod(i, 4)": lambda x, i, b: divmod(i, 4),
    "x ** 2": lambda x, i, b: x**2,
    "2 ** i": lambda x, i, b: 2**i,
    "x @ x.T": lambda x, i, b: x @ x.T,
    "-x": lambda x, i, b: -x,
    "+x": lambda x, i, b: +x,
    "abs(-x)": lambda x, i, b: abs(-x),
    "~b": lambda x, i, b: ~b,
    "b & (i > 3)": lambda x, i, b: b & (i > 3),
    "b | (x < 2)": lambda x, i, b: b | (x < 2),
    "b ^ b": lambda x, i, b: b ^ b,
    "i << 1": lambda x, i, b: i << 1,
    "i >> 1": lambda x, i, b: i >> 1,
    "x == i": lambda x, i, b: x == i,
    "x != 2": lambda x, i, b: x != 2,
    "2 <= i": lambda x, i, b: 2 <= i,  # noqa: SIM300
    "x >= i": lambda x, i, b: x >= i,
    "x[1]": lambda x, i, b: x[1],
    "x[:, ::-1]": lambda x, i, b: x[:, ::-1],
    "x[..., None, -1]": lambda x, i, b: x[..., None, -1],
    "x[b]": lambda x, i, b: x[b],
    "x[[0, 2]]": lambda x, i, b: x[[0, 2]],
    "x.sum()": lambda x, i, b: x.sum(),
    "x.sum(1)": lambda x, i, b: x.sum(1),
    "x.mean(axis=0)": lambda x, i, b: x.mean(axis=0),
    "x.max()": lambda x, i, b: x.max(),
    "x.min(0)": lambda x, i, b: x.min(0),
    "x.std(1)": lambda x, i, b: x.std(1),
    "x.argmax(1)": lambda x, i, b: x.argmax(1),
    "b.all()": lambda x, i, b: b.all(),
    "b.any(0)": lambda x, i, b: b.any(0),
    "x.reshape(4, 3)": lambda x, i, b: x.reshape(4, 3),
    "x.reshape((2, -1))": lambda x, i, b: x.reshape((2, -1)),
    "x.T": lambda x, i, b: x.T,
    "x.swapaxes(0, 1)": lambda x, i, b: x.swapaxes(0, 1),
    "x.transpose(1, 0)": lambda x, i, b: x.transpose(1, 0),
    "x.flatten()": lambda x, i, b: x.flatten(),
    "x.astype": lambda x, i, b: x.astype("float64"),
    "x.clip(2, 3)": lambda x, i, b: x.clip(2, 3),
    "x.cumsum(1)": lambda x, i, b: x.cumsum(1),
    "x.copy()": lambda x, i, b: x.copy(),
    "x.ravel()": lambda x, i, b: x.ravel(),
    "x.squeeze": lambda x, i, b: x[None].squeeze(0),
    "x.take([1, 3])": lambda x, i, b: x.take([1, 3]),
    "x.dot(x.T)": lambda x, i, b: x.dot(x.T),
    "chain": lambda x, i, b: ((x - x.mean()) / x.std()).reshape(-1)[2:9:2].sum(),
}
FLOATS_IN_PLACE = {"i / i"}


@pytest.mark.parametrize("name", CASES)
def test_like_numpy(name):
    f = CASES[name]
    want = f(X, I, B)
    tensors = [ms.Tensor(a) for a in (X, I, B)]
    dtype = name not in ("x * i", "x / i", "i / i", "2 ** i")  # numpy widens to float64 here, and to int64 there
    assert_same(f(*tensors), want, dtype=dtype, what=name, rtol=1e-4)
    compiled = ms.jit(f)
    assert_same(compiled(*tensors), want, dtype=dtype, what=f"compiled {name}", rtol=1e-4)


METHODS = {
    "relu": ((), lambda x: np.maximum(x, 0)),
    "sigmoid": ((), lambda x: 1 / (1 + np.exp(-x))),
    "exp": ((), np.exp),
    "unsqueeze": ((1,), lambda x: x[:, None]),
    "expand_dims": ((0,), lambda x: x[None]),
    "permute": ((1, 0), lambda x: x.T),
    "view": ((2, 6), lambda x: x.reshape(2, 6)),
    "repeat": ((2, 1), lambda x: np.tile(x, (2, 1))),
    "expand": ((2, 3, 4), lambda x: np.broadcast_to(x, (2, 3, 4))),
    "softmax": ((1,), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    "masked_fill": ((X > 3, 0.0), lambda x: np.where(x > 3, np.float32(0), x)),
    "where": ((X > 3, X * 2), lambda x: np.where(x > 3, x, x * 2)),
    "topk": ((2,), lambda x: (np.sort(x)[:, ::-1][:, :2], np.argsort(-x)[:, :2])),
    "float": ((), lambda x: x),
    "half": ((), lambda x: x.astype(np.float16)),
    "int": ((), lambda x: x.astype(np.int32)),
    "split": (((2, 2), 1), lambda x: (x[:, :2], x[:, 2:])),
    "new_zeros": ((2,), lambda x: np.zeros(2, np.float32)),
    "contiguous": ((), lambda x: x),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    args, f = METHODS[name]
    assert_same(getattr(ms.Tensor(X), name)(*args), f(X), what=name)
    assert_same(ms.jit(lambda x: getattr(x, name)(*args))(ms.Tensor(X)), f(X), what=f"compiled {name}")


def test_values_of_extremes():
    t = ms.Tensor(X)
    assert_same(t.max(1, return_indices=True), (X.max(1), X.argmax(1)))
    assert t.numel() == 12 and t.dim() == 2
    assert [np.asarray(r).tolist() for r in t] == X.tolist()
    with pytest.raises(TypeError, match="rank 0"):
        iter(t.sum())


def test_numpy_on_the_left():
    t = ms.Tensor(X)
    for op in (operator.add, operator.mul, operator.sub, operator.truediv, operator.lt, operator.eq):
        got = op(X, t)
        assert isinstance(got, ms.Tensor)
        assert_same(got, op(X, X))


def test_other_kinds_are_left_to_python():
    t = ms.Tensor(X)
    for op in (operator.add, operator.lt, operator.matmul):
        with pytest.raises(TypeError):
            op(t, "a")
        with pytest.raises(TypeError):
            op(object(), t)
    assert (t == "a") is False
    assert (t != None) is True  # noqa: E711


@pytest.mark.parametrize("h", [0, 1, 3, 5, 9, -1, -3, -9])
def test_sizes_known_only_when_it_runs(h):
    x = array((5, 7))

    @ms.jit
    def f(x, h):
        return x[:h], x[h:, 1:], x[::-1][:h], x[h : h + 2], x[h::-1], x[:h:-2]

    got = f(ms.Tensor(x), ms.mutable(h))
    assert_same(got, (x[:h], x[h:, 1:], x[::-1][:h], x[h : h + 2], x[h::-1], x[:h:-2]), what=str(h))
    assert_same(ms.Tensor(x)[:h], x[:h])

    @ms.jit
    def g(x, i):
        return x[i], x[:, i]

    if -5 <= h < 5:
        assert_same(g(ms.Tensor(x), ms.mutable(h)), (x[h], x[:, h]))
    else:
        with pytest.raises((IndexError, msvm.InputError), match="out of range"):
            g(ms.Tensor(x), ms.mutable(h))


@pytest.mark.parametrize("n", [0, 1, 4, 7])
def test_sizes_in_operators(n):
    @ms.jit
    def f(x, n):
        m = x.shape[0]
        return (
            ms.ops.zeros((n, m)),
            ms.ops.arange(n),
            ms.ops.arange(m, m + n * 2, 2),
            ms.ops.pad(x, (0, n)),
            ms.ops.tile(x, (1, n)),
            ms.ops.broadcast_to(x[:1], (n, x.shape[1])),
            ms.ops.reshape(ms.ops.zeros((n, m, 2)), (-1, 2)),
            ms.ops.chunk(x, 2),
            ms.ops.eye(n),
            ms.ops.roll(x, n, 0),
            ms.ops.linspace(0, 1, n),
            ms.ops.cat([x, ms.ops.ones((n, x.shape[1]))]),
        )

    x = array((5, 3))
    want = (
        np.zeros((n, 5), np.float32),
        np.arange(n),
        np.arange(5, 5 + n * 2, 2),
        np.pad(x, ((0, 0), (0, n))),
        np.tile(x, (1, n)),
        np.broadcast_to(x[:1], (n, 3)),
        np.zeros((n * 5, 2), np.float32),
        (x[:3], x[3:]),
        np.eye(n, dtype=np.float32),
        np.roll(x, n, 0),
        np.linspace(0, 1, n).astype(np.float32),
        np.concatenate([x, np.ones((n, 3), np.float32)]),
    )
    assert_same(f(ms.Tensor(x), ms.mutable(n)), want)


def test_interpolation_stays_bound_to_its_sizes():
    @ms.jit
    def f(x, h, w):
        y = x[:, :, :h, :w]
        return (
            ms.ops.ResizeNearestNeighbor(y, size=(h * 2, w * 2)),
            ms.ops.Resize(y, (ms.symbolic_mul(h, 2), ms.symbolic_mul(w, 2))),
            ms.ops.interpolate(x, scale_factor=1.5),
        )

    x = array((1, 2, 6, 7))
    for h, w in [(2, 3), (5, 4), (6, 7)]:
        a, b, c = f(ms.Tensor(x), ms.mutable(h), ms.mutable(w))
        want = x[:, :, :h, :w].repeat(2, 2).repeat(2, 3)
        assert_same((a, b), (want, want))
        assert c.shape == (1, 2, 9, 10)
    sizes = f.bytecode
    assert "2*" in sizes


def test_element_assignment_in_compiled_functions():
    @ms.jit
    def f(x, k, v):
        y = x * 1
        y[k] = v
        y[:, 1:3] = 0
        y[1:, -1] += 5
        return y

    x = array((4, 6))
    for k in (0, 2, -1):
        want = x.copy()
        want[k] = 3
        want[:, 1:3] = 0
        want[1:, -1] += 5
        assert_same(f(ms.Tensor(x), ms.mutable(k), np.float32(3)), want)
