"""What is sure to fail on a way that isn't taken does no harm; taken, it is Python's exception. And sizes that operators pile up."""

import numpy as np
import pytest

import msvm as ms

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def first_of_none(x):
    if x.shape[0] == 0:
        return x[0]
    return x[1]


def conditional(x):
    return x if x.shape[0] > 0 else x[0]


def element_of_none(x):
    y = x + 0
    if len(y) < 1:
        y[0] = 5.0
    return y


def product_that_does_not_fit(x):
    if x.shape[0] == 7:
        return ms.ops.matmul(x, ms.ops.zeros((3, 3)))
    return x


@pytest.mark.parametrize("f", [first_of_none, conditional, element_of_none], ids=lambda f: f.__name__)
def test_ways(f):
    compiled = ms.jit(f)
    np.testing.assert_array_equal(compiled(X), f(X))
    with pytest.raises(IndexError):
        compiled(X[:0])
    np.testing.assert_array_equal(compiled(X), f(X))


def test_other_errors():
    f = ms.jit(product_that_does_not_fit)
    np.testing.assert_array_equal(f(X), X)
    with pytest.raises(ms.InputError, match="inner sizes"):
        f(np.ones((7, 2), np.float32))

    @ms.jit
    def division(n):
        if n == 0:
            return 10 // n
        return n

    assert division(ms.mutable(4)) == 4
    with pytest.raises(ZeroDivisionError):
        division(ms.mutable(0))


def test_sure_to_fail_everywhere():
    @ms.jit
    def f(x):
        return x[:, 5:].reshape((-1, 3)) if x.ndim == 3 else ms.ops.matmul(x, ms.ops.zeros((3, 3)))[0, 7]

    with pytest.raises((IndexError, ms.Error)):
        f(X)


def test_sizes_that_pile_up():
    """Each sum of a tensor and its convolution doubles the expression of a size that isn't known to be the same."""

    @ms.jit
    def f(x, weights):
        for w in weights:
            x = x + ms.ops.conv2d(x, w, pad_mode="pad", padding=1)
        return x

    x = np.ones((1, 3, 5, 6), np.float32)
    weights = [np.full((3, 3, 3, 3), 0.01, np.float32) for _ in range(12)]
    expected = ms.Tensor(x)
    for w in weights:
        expected = expected + ms.ops.conv2d(expected, w, pad_mode="pad", padding=1)
    np.testing.assert_allclose(f(x, weights), expected, rtol=1e-5)
    with pytest.raises(ms.InputError):
        f(x, [*weights[:11], np.ones((3, 3, 6, 3), np.float32)])


def test_no_differentiation():
    with pytest.raises(ms.UnsupportedError, match="aren't differentiated"):
        ms.value_and_grad(lambda x: x)
