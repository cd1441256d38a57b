"""What can't be compiled says where, what, and how to write it; exceptions of the program are Python's own."""

import random
import re

import numpy as np
import pytest

import msvm as ms

X = np.ones((2, 3), np.float32)


class Box:
    value = 1


BOX = Box()
NUMBERS = [1, 2, 3]


def with_statement(x):
    with open("f"):  # noqa: PTH123
        return x


def try_statement(x):
    try:
        return x
    except ValueError:
        return x


def generator(x):
    yield x


def recursion(x):
    return recursion(x)


def mutual(x):
    return other(x)


def other(x):
    return mutual(x)


def global_statement(x):
    global BOX
    BOX = x
    return x


def sets_attribute(x):
    BOX.value = 2
    return x


def changes_captured_list(x):
    NUMBERS.append(4)
    return x


def changes_argument(x):
    x[0] = 1.0
    return x


def numpy_of_tensor(x):
    return np.sum(x)


def random_number(x):
    return x + random.random()


def numpy_random(x):
    return x + np.random.rand(2, 3).astype(np.float32)


def object_of_a_class(x):
    b = Box()
    return x + b.value


def unknown_name(x):
    return x + undefined_name  # noqa: F821


def bad_shapes(x):
    return ms.ops.matmul(x, x)


def bad_index(x):
    return x[:, 3]


def different_kinds(x):
    y = 1 if x.shape[0] > 1 else None
    return y + 1


def list_grows(x):
    out = [x]
    while len(out) < x.shape[0]:
        out.append(x)
    return out


def match_statement(x):
    match x.ndim:
        case 2:
            return x
    return x


BAD = [
    (with_statement, ms.UnsupportedError, "a with statement"),
    (try_statement, ms.UnsupportedError, "a try statement"),
    (generator, ms.UnsupportedError, "generator"),
    (recursion, ms.UnsupportedError, "recursion calls itself; write recursion as a while loop"),
    (mutual, ms.UnsupportedError, "calls itself"),
    (global_statement, ms.UnsupportedError, "a global statement"),
    (sets_attribute, ms.UnsupportedError, "an assignment to an attribute"),
    (changes_captured_list, ms.UnsupportedError, r"append\(\) changes a list from outside"),
    (changes_argument, ms.UnsupportedError, "an element of an argument, or of a tensor from outside, is assigned"),
    (numpy_of_tensor, ms.UnsupportedError, "use msvm.ops.sum"),
    (random_number, ms.UnsupportedError, "while the program is made"),
    (numpy_random, ms.UnsupportedError, "while the program is made"),
    (object_of_a_class, ms.UnsupportedError, "an object of class Box"),
    (unknown_name, NameError, "undefined_name"),
    (bad_shapes, ms.InputError, "MatMul"),
    (bad_index, IndexError, "3"),
    (different_kinds, ms.UnsupportedError, "can't be used here: it is None or an int"),
    (list_grows, ms.UnsupportedError, "stack it with msvm.ops.stack"),
    (match_statement, ms.UnsupportedError, "a match statement"),
]


@pytest.mark.parametrize("function, error, text", BAD, ids=[f.__name__ for f, _, _ in BAD])
def test_says_where_and_what(function, error, text):
    compiled = ms.jit(function)
    for _ in range(2):  # a second call fails the same way
        with pytest.raises(error) as e:
            x = ms.Tensor(np.ones((2, 3), np.float32))
            compiled(x if function is not bad_shapes else X)
        message = "\n".join([str(e.value), *getattr(e.value, "__notes__", [])])
        assert re.search(text, message), message
        assert re.search(r"test_bad_functions.py:\d+", message), message
    assert NUMBERS == [1, 2, 3] and Box.value == 1


class OwnError(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code


@ms.jit
def raises(x, n):
    if n == 1:
        raise ValueError("n is one")
    if n == 2:
        raise OwnError(7, "two")
    assert n != 3, f"n is {n}, not three"
    if n == 4:
        raise KeyError
    return x * (10 // n)


def test_exceptions_are_pythons():
    x = ms.Tensor(X)
    assert raises(x, ms.mutable(5)).tolist() == (X * 2).tolist()
    with pytest.raises(ValueError) as e:
        raises(x, ms.mutable(1))
    assert e.value.args == ("n is one",)
    with pytest.raises(OwnError) as e:
        raises(x, ms.mutable(2))
    assert e.value.code == 7 and "test_bad_functions.py" in e.value.__notes__[0]
    with pytest.raises(AssertionError, match="n is 3, not three"):
        raises(x, ms.mutable(3))
    with pytest.raises(KeyError):
        raises(x, ms.mutable(4))
    with pytest.raises(ZeroDivisionError):
        raises(x, ms.mutable(0))
    assert raises(x, ms.mutable(5)).tolist() == (X * 2).tolist()


def test_no_source():
    names = {"ms": ms}
    exec("def f(x):\n    return x", names)
    with pytest.raises(ms.UnsupportedError, match=r"isn.t available.*put the function in a file"):
        ms.jit(names["f"])(X)


def test_not_a_function():
    with pytest.raises(ms.InputError, match="expected a Python function or a cell, found int"):
        ms.jit(3)
    with pytest.raises(ms.InputError, match="no_such"):
        ms.jit(lambda x: x, no_such=1)


def test_wrong_calls_are_type_errors():
    @ms.jit
    def f(x, *, k=1):
        return x + k

    for args, kwargs in [((), {}), ((X, 2), {}), ((X,), {"z": 1}), ((X,), {"x": X})]:
        with pytest.raises(TypeError, match=r"f\(\)"):
            f(*args, **kwargs)


class ManyError(Exception):
    def __init__(self, a, b=1):
        super().__init__(a, b)
        self.b = b


def test_exceptions_have_the_values_of_the_run():
    @ms.jit
    def f(x, n):
        assert n != 4, f"n is {n}, x has {x.shape[0]:03d} rows, a third is {n / 3:.2f}"
        if n < 0:
            raise ValueError(f"neg {n}")
        if n == 1:
            raise ManyError(n, b=x.sum())
        if n == 2:
            raise KeyError("k", n)
        return x * n

    def raised(n):
        with pytest.raises(Exception) as e:
            f(X, ms.mutable(n))
        return type(e.value), e.value.args

    assert raised(4) == (AssertionError, ("n is 4, x has 002 rows, a third is 1.33",))
    assert raised(-1) == (ValueError, ("neg -1",))
    assert raised(1) == (ManyError, (1, 6.0))
    assert raised(2) == (KeyError, ("k", 2))
    assert f(X, ms.mutable(3)).tolist() == (X * 3).tolist()
