"""Functions with branches and loops over tensors: compiled, and run by Python with eager operators; shapes and values agree."""

import numpy as np
import pytest

import msvm as ms

SIZES = [(0, 3), (1, 3), (2, 5), (7, 1)]


def branch_of_shapes(x, n):
    if n > 2:  # noqa: SIM108 - a branch is wanted
        y = ms.ops.cat([x, x], axis=0)
    else:
        y = x[:, :1]
    return ms.ops.relu(y), y.shape[0]


def nested(x, n):
    if n > 0:
        if x.shape[0] > 1:
            return x * 2.0
        x = x + 1.0
    elif n == 0:
        return x - 1.0
    return x


def grows(x, n):
    y = x
    for _ in range(n):
        y = ms.ops.cat([y, x], axis=0)
    return y


def leaves_early(x, n):
    y = x
    for k in range(n):
        for j in range(3):
            if (k + j) % 5 == 4:
                break
            y = y + float(j)
        else:
            y = y * 0.5
        if y.shape[0] == 2 and k > 2:
            return y, k
    return y, -1


def halves(x, n):
    i = x.shape[0] * 4 + n
    steps = 0
    while i > 1:
        i = i // 2
        x = x + 1.0
        steps += 1
        if steps == 6:
            continue
        x = x - 0.5
    return x, steps


def sums(x, n):
    total = 0
    last = None
    for k in range(n + 1):
        total = total + x * k
        last = x if last is None else last + 1.0
    return total, last


def containers(x, n):
    parts = [x, x * 2.0, x * 3.0]
    names = {"a": 1, "b": [n, 2]}
    names["b"][0] += 1
    if n > 1:
        parts[1] = x - 1.0
        names["a"] = names["b"][0]
    first, *rest = parts
    return ms.ops.cat([first, *rest], axis=1), names, tuple(v for v in names.values() if isinstance(v, list))


def closures(x, n):
    def scaled(v, by=2.0):
        def inner(w):
            return w * by + n

        return inner(v)

    return [scaled(x), scaled(x, by=3.0), (lambda v: v - n)(x)]


def swaps(x, n):
    a, b = x, x * 2.0
    for _ in range(n):
        a, b = b, a + b
    return a, b


def updates(x, n):
    y = x + 0.0
    z = y
    if n > 1 and x.shape[0] > 0:
        y[0] = 5.0
    y[:, 0] = n
    return y, z


def conditional_expressions(x, n):
    y = (x if n > 1 else x * 10.0) + (1 if n == 0 else n * 2)
    k = n if (n % 2 == 0 and x.shape[0] > 1) or n == 3 else -n
    return y, k, min(n, 2, x.shape[0]), max([n, 1]), abs(k)


def transposed_in_loop(x, n):
    y = x
    for _ in range(n):
        y = y.T + 0.0
        y = y.T
    return y


CASES = [
    branch_of_shapes, nested, grows, leaves_early, halves, sums, containers, closures, swaps,
    updates, conditional_expressions, transposed_in_loop,
]  # fmt: skip


def compare(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, ms.Tensor):
        assert found.shape == expected.shape and found.dtype is expected.dtype
        np.testing.assert_array_equal(found.asnumpy(), expected.asnumpy())
    elif isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            compare(a, b)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for k in expected:
            compare(found[k], expected[k])
    else:
        assert found == expected


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_agrees_with_python(function):
    compiled = ms.jit(function)
    for rows, columns in SIZES:
        for n in (0, 1, 2, 3, 6):
            x = ms.Tensor(np.arange(rows * columns, dtype=np.float32).reshape(rows, columns) - 3)
            compare(compiled(x, ms.mutable(n)), function(x, n))
    assert len(compiled.executables()) == 1


def test_long_known_loops_run_as_loops():
    @ms.jit
    def f(x):
        for k in range(1000):
            x = x + k
        return x

    np.testing.assert_array_equal(f(np.zeros(2, np.float32)).asnumpy(), [499500, 499500])
    assert f.bytecode.count("OP_CALL") < 10


def test_a_loop_without_a_turn_says_what_it_lacks():
    @ms.jit
    def f(x, n):
        total = 0
        for _ in range(n):
            total = total + x
        return total

    assert f(np.ones(2, np.float32), ms.mutable(3)).tolist() == [3, 3]
    with pytest.raises(ms.InputError, match=r"test_control_flow.py:\d+ has no turn, so total is still an int"):
        f(np.ones(2, np.float32), ms.mutable(0))


def test_what_a_comprehension_runs_over_is_evaluated_once():
    """A list with one generator had its iterable evaluated twice: what the call prints came twice, what it takes away was gone twice."""

    def taken(left):
        print("taken")
        return [left.pop(), left.pop()]

    def of_a_list(x):
        left = [1.0, 2.0, 3.0, 4.0]
        return sum([v * x for v in taken(left)]) * len(left)

    def of_a_generator(x):
        left = [1.0, 2.0, 3.0, 4.0]
        return sum(v * x for v in taken(left)) * len(left)

    def of_a_set(x):
        left = [1.0, 2.0, 3.0, 4.0]
        return sum({v + 1.0 for v in taken(left)}) * x * len(left)

    def of_two(x):
        left = [1.0, 2.0, 3.0, 4.0]
        return sum([v * w * x for v in taken(left) for w in (1.0, 2.0)]) * len(left)

    x = np.arange(3, dtype=np.float32)
    for f, want in ((of_a_list, 14), (of_a_generator, 14), (of_a_set, 18), (of_two, 42)):
        np.testing.assert_array_equal(ms.jit(f)(x).asnumpy(), want * x)


def test_a_comprehension_over_an_outer_name_of_its_own_target():
    v = [1.0, 2.0]

    def f(x):
        return sum([v * x for v in v])

    def g(x):
        v = [2.0, 3.0]
        total = sum([v * x for v in v])
        return total + len(v)

    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(ms.jit(f)(x).asnumpy(), [3, 3])
    np.testing.assert_array_equal(ms.jit(g)(x).asnumpy(), [7, 7])
