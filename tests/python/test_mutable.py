"""msvm's mutable numbers: they work as numbers do, keep where they come from, and name the axes of arrays."""

import operator
import pickle
import threading

import numpy as np
import pytest
from msvm._core import Mutable, Tensor
from msvm._mutable import Symbol, mutable, symbolic_add, symbolic_floordiv, symbolic_mul, symbolic_sub

import msvm

BINARY = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.truediv, operator.pow]
COMPARE = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("x", [7, -3, 2.5, True, 0])
@pytest.mark.parametrize("y", [2, 5, 1.5, False, -4])
def test_as_numbers_do(x, y):
    for f in BINARY + COMPARE:
        for a, b in ((mutable(x), y), (x, mutable(y)), (mutable(x), mutable(y))):
            try:
                want = f(x, y)
            except ZeroDivisionError:
                with pytest.raises(ZeroDivisionError):
                    f(a, b)
                continue
            got = f(a, b)
            if f in COMPARE:
                assert got is want
            elif isinstance(want, complex):
                assert got == want
            else:
                assert isinstance(got, Mutable) and got.value == want and type(got.value) is type(want)
    m = mutable(x)
    for f in (operator.neg, operator.pos, abs, int, float, bool, complex, hash, round, str):
        assert f(m) == f(x)
    assert f"{m}" == f"{x}" and m.min(y) == min(x, y) and m.max(y) == max(x, y)


def test_wherever_an_int_does():
    h = mutable(3, "h")
    assert list(range(h)) == [0, 1, 2] and [0] * h == [0, 0, 0] and "abcd"[h] == "d" and f"{h:04d}" == "0003"
    assert np.zeros((h, 2)).shape == (3, 2) and np.arange(9)[:h].tolist() == [0, 1, 2] and {3: "x"}[h] == "x" and {h: "y"}[3] == "y"
    ones = np.ones(2, np.float32)
    for got in (ones * h, h * ones, h + ones):
        assert got.dtype == np.float32
    assert (np.float32(2) * h) == 6 and np.add(np.ones(2, int), h).tolist() == [4, 4] and divmod(7, int(h)) == (2, 1)
    assert sorted([mutable(2), 1, mutable(0)]) == [0, 1, 2] and isinstance(np.asarray(h).item(), int)
    with pytest.raises(TypeError):
        range(mutable(2.5))
    with pytest.raises(TypeError):
        h + "x"
    assert h != "x" and h != None  # noqa: E711


def test_expressions():
    h, w = mutable(4, "h"), mutable(6, name="w")
    e = (h * 2 + w) // 3
    assert e.value == 4 and e.text == "(((h * 2) + w) // 3)" and e.op == "//" and e.operands[1] == 3 and e.operands[0].operands[1] is w
    assert (
        h.op is None and h.operands == () and h.name == "h" and repr(h) == "mutable(4, name='h')" and repr(h - 1) == "mutable(3, (h - 1))"
    )
    assert (-h).text == "-h" and (2 - h).text == "(2 - h)" and h.max(w).text == "max(h, w)" and abs(h).text == "abs(h)"
    for f, op, want in ((symbolic_add, "+", 9), (symbolic_sub, "-", 3), (symbolic_mul, "*", 18), (symbolic_floordiv, "//", 2)):
        for a, b in ((6, 3), (mutable(6), 3), (6, mutable(3)), (mutable(6), mutable(3))):
            m = f(a, b)
            assert isinstance(m, Mutable) and m == want and m.op == op
        with pytest.raises(TypeError):
            f(1.5, 2)
    with pytest.raises(ZeroDivisionError):
        symbolic_floordiv(1, 0)
    again = pickle.loads(pickle.dumps(e))
    assert again == e and again.text == e.text


def test_tuples():
    size = mutable((3, 4.5, True), "size")
    h, w, b = size
    assert isinstance(h, Mutable) and (h.value, w.value, b.value) == (3, 4.5, True) and h.name == "size[0]"
    assert (
        len(size) == 3
        and size[0] is h
        and size.value == (3, 4.5, True)
        and size == (3, 4.5, True)
        and [m.value for m in size[1:]] == [4.5, True]
    )
    assert mutable([h, 2])[0] is h
    for f in (lambda: size + 1, lambda: range(size), lambda: int(size), lambda: float(size)):
        with pytest.raises(TypeError):
            f()
    for f in (lambda: len(h), lambda: h[0], lambda: list(h)):
        with pytest.raises(TypeError):
            f()


@pytest.mark.parametrize("value", ["x", None, 1j, np.zeros(2), object(), [1, "x"], {}])
def test_what_it_refuses(value):
    with pytest.raises(TypeError, match="expected an int"):
        mutable(value)


def test_64_bits():
    assert mutable(2**63 - 1) == 2**63 - 1
    for f in (lambda: mutable(2**63), lambda: mutable(2**62) * 2, lambda: mutable(-(2**63)) - 1):
        with pytest.raises(msvm.InputError, match="64 bits"):
            f()
    with pytest.raises(TypeError):
        mutable(3, name=3)
    for value in (np.int32(4), np.float32(1.5), mutable(5)):
        assert mutable(value) == value and not isinstance(mutable(value).value, np.generic)


def axes(t: Tensor) -> list[str | None] | None:
    return t.symbols and [s and s.text for s in t.symbols]


def test_arrays_carry_the_symbols_of_their_sizes():
    Tensor(np.zeros(0))  # forgets what went before
    h, w = mutable(5, "h"), mutable(7, "w")
    assert axes(Tensor(np.random.rand(1, 3, h, w))) == [None, None, "h", "w"]
    assert axes(Tensor(np.zeros((2, 3)))) is None
    assert axes(Tensor(np.zeros((h, h * 2)))) == ["h", "(h * 2)"]
    assert axes(Tensor(np.zeros((h, h)))) == ["h", "h"]
    a, b = mutable(4, "a"), mutable(4, "b")
    assert axes(Tensor(np.random.rand(a, b).astype(np.float32))) == ["a", "b"]
    np.zeros((h, w))
    assert axes(Tensor(np.zeros((9, 5)))) == [None, "h"]  # a wrong guess costs a name
    assert axes(Tensor(np.zeros((9, 5)))) is None
    for _ in range(1000):
        range(h)
    assert axes(Tensor(np.zeros(5))) == ["h"]


def test_threads_remember_their_own():
    h, seen = mutable(5, "h"), []
    np.zeros(h)

    def work():
        seen.append(axes(Tensor(np.zeros(5))))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [None] and axes(Tensor(np.zeros(5))) == ["h"]


def test_symbols():
    s = Symbol("n", max=64, min=2, divisor=8, unique=True)
    assert (s.name, s.max, s.min, s.divisor, s.remainder, s.unique) == ("n", 64, 2, 8, 0, True)
    assert repr(s) == "Symbol('n', max=64, min=2, divisor=8, unique=True)" and repr(Symbol()) == "Symbol()"
    wrong = [
        {"name": "a b"},
        {"max": -1},
        {"min": 2**63},
        {"divisor": 0},
        {"divisor": 4, "remainder": 4},
        {"min": 5, "max": 4},
        {"min": 9, "max": 15, "divisor": 8},
    ]
    for kwargs in wrong:
        with pytest.raises(ValueError, match="Symbol"):
            Symbol(**kwargs)
    for kwargs in ({"max": 1.5}, {"divisor": None}, {"min": True}):
        with pytest.raises(TypeError, match="Symbol"):
            Symbol(**kwargs)
