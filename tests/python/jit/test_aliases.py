"""Names of one tensor or list: what is changed by one name is seen by the others, as in Python, or the function is refused."""

import numpy as np
import pytest

import msvm as ms

ops = ms.ops


def loop_by_the_other_name(x, n):
    y = x * 1
    z = y
    for k in range(n):
        z[k] = k
    return y, z


def alias_made_in_the_loop(x, n):
    y = x * 1
    for k in range(n):
        z = y
        z[k] = k
    return y


def while_loop(x, n):
    y = x * 1
    z, k = y, 0
    while k < n:
        z[k] = k
        k += 1
    return y, z


def through_a_list(x, n):
    y = x * 1
    held = [y]
    for k in range(n):
        held[0][k] = k
    return y


def through_a_tuple(x, n):
    y = x * 1
    pair = (y, y)
    for k in range(n):
        pair[0][k] = k
    return pair[1]


def through_a_dict(x, n):
    held = {"a": x * 1}
    other = held
    for k in range(n):
        other["a"][k] = k
    return held["a"]


def by_a_function(x, n):
    def change(t, k):
        t[k] = k

    y = x * 1
    z = y
    for k in range(n):
        change(z, k)
    return y, z


def by_a_closure(x, n):
    y = x * 1

    def change():
        y[0] = 9

    for _ in range(n):
        change()
    return y


def one_name_rebound(x, n):
    y = x * 1
    z = y
    for k in range(n):
        z[k] = k
        y = y + 1
    return y, z


def rebound_on_one_way(x, n):
    y = x * 1
    z = y
    for k in range(n):
        if k == 1:
            z[k] = 100
        else:
            z = z + 1
    return y, z


def read_in_the_loop(x, n):
    y = x * 1
    z, s = y, 0
    for k in range(n):
        z[k] = k
        s = s + y.sum()
    return s


def branch_then_assignment(x, n):
    y = x * 1
    z = y
    if n > 2:
        z[0] = 7
    else:
        z = y * 2
    z[1] = 8
    return y, z


def one_or_the_other(x, n):
    y = x * 1
    z = y if n > 2 else x * 2
    z[0] = 50
    return y, z


def appended_and_changed(x, n):
    held = []
    y = x * 1
    for k in range(n):
        y[0] = k
        held.append(y)
    return ops.stack(held), y


def swapped(x, n):
    a, b = x * 1, x * 2
    for k in range(n):
        a, b = b, a
        a[0] = k
    return a, b


def copied_in_the_loop(x, n):
    a = x * 1
    b = a
    for k in range(n):
        b = b * 1
        b[0] = k
    return a, b


def rows_of_itself(x, n):
    y = x * 1
    z = y
    for row in y:
        z[0] = z[0] + row
    return y


def list_by_the_other_name(x, n):
    held = []
    other = held
    for k in range(n):
        other.append(x * k)
    return len(held), ops.stack(held)


def list_changed_on_one_way(x, n):
    held = [x]
    other = held
    if n > 2:
        other.append(x * 2)
    return len(held), held[-1]


FUNCTIONS = [f for name, f in list(globals().items()) if getattr(f, "__module__", None) == __name__ and not name.startswith("test")]


def arrays(result):
    return [np.asarray(v) for v in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python(f, n):
    x = ms.Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    want = arrays(f(x, n))
    try:
        got = arrays(ms.jit(f)(x, ms.mutable(n)))
    except ms.UnsupportedError:
        return
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_must_compile():
    x = ms.Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    for f in (loop_by_the_other_name, alias_made_in_the_loop, through_a_tuple, by_a_function, by_a_closure, swapped, copied_in_the_loop):
        ms.jit(f)(x, ms.mutable(2))
