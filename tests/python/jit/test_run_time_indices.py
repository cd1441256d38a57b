"""Lists and tuples indexed by a number that is known only when the program runs, and slices with such a step."""

import itertools

import numpy as np
import pytest

import msvm as ms

X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("index", [0, 1, 2, -1, -3])
def test_tensors_of_a_list(index):
    @ms.jit
    def f(x, k):
        parts = [x, x + 1.0, x[:2] * 2.0]
        chosen = parts[k]
        return chosen, chosen.sum(), (x, x * 3.0)[k % 2], chosen.shape[1] == x.shape[1]

    chosen, total, other, same = f(X, ms.mutable(index))
    wanted = [X, X + 1.0, X[:2] * 2.0][index]
    np.testing.assert_array_equal(chosen.asnumpy(), wanted)
    np.testing.assert_allclose(total.asnumpy(), wanted.sum(), rtol=1e-6)
    np.testing.assert_array_equal(other.asnumpy(), X * (3 if index % 2 else 1))
    assert same


@pytest.mark.parametrize("index", [3, -4])
def test_out_of_range(index):
    @ms.jit
    def f(x, k):
        return [x, x + 1.0, x * 2.0][k]

    with pytest.raises(IndexError, match="out of range"):
        f(X, ms.mutable(index))


def test_other_values():
    @ms.jit
    def f(x, k):
        pairs = [(x, 1), (x + 1.0, 2), (x - 1.0, 3)]
        t, number = pairs[k]
        return t, number, [0.5, 1.5, 2.5][k], [True, False, True][k], [x, x[0], x[:, 0]][k], [x, x + 1.0, x][k][0]

    for k in range(3):
        t, number, real, flag, part, row = f(X, ms.mutable(k))
        np.testing.assert_array_equal(t.asnumpy(), X + [0, 1, -1][k])
        assert (number, real, flag) == (k + 1, k + 0.5, k != 1)
        np.testing.assert_array_equal(part.asnumpy(), [X, X[0], X[:, 0]][k])
        np.testing.assert_array_equal(row.asnumpy(), X[0] + (k == 1))
    assert len(f.executables()) == 1


def test_within_a_loop():
    @ms.jit
    def f(x, n):
        parts = [x, x * 10.0]
        for k in range(n):
            x = x + parts[k % 2]
        return x

    for n in (0, 1, 4, 5):
        wanted = X.copy()
        for k in range(n):
            wanted = wanted + [X, X * 10][k % 2]
        np.testing.assert_array_equal(f(X, ms.mutable(n)).asnumpy(), wanted)


def test_an_element_is_not_changed_behind_the_lists_back():
    @ms.jit
    def f(x, k):
        parts = [x + 0.0, x + 1.0]
        y = parts[k]
        y[0] = 5.0
        return parts[0]

    with pytest.raises(ms.UnsupportedError, match="copy"):
        f(X, ms.mutable(0))


def test_steps():
    @ms.jit
    def f(x, a, b, c):
        return x[a:b:c], x[::c], x[:, ::c], x[0, a::c]

    bounds = [-5, -2, 0, 1, 3, 9]
    for a, b, c in itertools.product(bounds, bounds, [-7, -2, -1, 1, 2, 5]):
        got = f(X, ms.mutable(a), ms.mutable(b), ms.mutable(c))
        for t, wanted in zip(got, (X[a:b:c], X[::c], X[:, ::c], X[0, a::c]), strict=True):
            np.testing.assert_array_equal(t.asnumpy(), wanted, err_msg=str((a, b, c)))
    assert len(f.executables()) == 1
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        f(X, ms.mutable(0), ms.mutable(2), ms.mutable(0))


def test_a_step_in_an_assignment_is_refused():
    @ms.jit
    def f(x, c):
        y = x + 0.0
        y[::c] = 1.0
        return y

    with pytest.raises(ms.UnsupportedError, match="step"):
        f(X, ms.mutable(2))
