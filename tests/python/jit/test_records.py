"""Named tuples and dataclasses that compiled functions make, pass around and give back."""

import collections
import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import msvm as ms

X = np.array([3.0, -1.0, 2.0], np.float32)


class Box(NamedTuple):
    low: object
    high: object = 7

    def middle(self):
        return (self.low + self.high) / 2


Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass(frozen=True)
class Seen:
    scores: object
    count: int = 1
    names: list = dataclasses.field(default_factory=list)
    limit = 0.5

    @property
    def best(self):
        return self.scores.max()

    def above(self, scale):
        return self.scores * scale > self.limit


def test_named_tuples_are_results():
    @ms.jit
    def f(x):
        b = Box(x.min(), high=x.max())
        return b, Pair(b.middle(), [b.low]), Box(x)

    box, pair, other = f(X)
    assert type(box) is Box and (float(box.low), float(box.high)) == (-1.0, 3.0)
    assert type(pair) is Pair and float(pair.first) == 1.0 and float(pair.second[0]) == -1.0
    assert type(other) is Box and other.high == 7 and other.low.shape == (3,)


def test_dataclasses_are_results():
    @ms.jit
    def f(x, n):
        seen = Seen(x, n, ["a"])
        return seen, seen.best, seen.above(scale=2.0), Seen(seen.scores + 1.0)

    seen, best, above, plain = f(X, ms.mutable(4))
    assert type(seen) is Seen and seen.count == 4 and seen.names == ["a"] and float(best) == 3.0
    assert above.asnumpy().tolist() == [True, False, True]
    assert plain.count == 1 and plain.names == [] and plain.scores.asnumpy().tolist() == [4.0, 0.0, 3.0]


def test_they_meet_at_branches_and_change_in_loops():
    @ms.jit
    def f(x, n):
        s = Seen(x, 0)
        b = Box(x, x * 2.0)
        for k in range(n):
            s = Seen(s.scores + 1.0, s.count + k)
            b = Box(b.high, b.low)
        if n > 2:
            s = Seen(s.scores * 10.0, 100)
        return s, b, (Seen(n) == Seen(n, 1, [])) != (Seen(n) == Box(n)), isinstance(s, Seen), type(b) is Box

    for n in (0, 1, 3):
        s, b, equal, is_seen, is_box = f(X, ms.mutable(n))
        np.testing.assert_array_equal(s.scores.asnumpy(), (X + n) * (10 if n > 2 else 1))
        assert s.count == (100 if n > 2 else sum(range(n)))
        np.testing.assert_array_equal(b.low.asnumpy(), X * (2 if n % 2 else 1))
        assert is_seen and is_box and equal
    assert len(f.executables()) == 1


def test_they_come_as_arguments_and_go_back():
    @ms.jit
    def f(b):
        low, high = b
        return Box(high, low)

    got = f(Box(X, X[:1]))
    assert type(got) is Box and got.low.shape == (1,) and got.high.shape == (3,)


@dataclasses.dataclass
class Works:
    x: object

    def __post_init__(self):
        self.y = 1


class Strange(Box):
    def __new__(cls, low):
        return super().__new__(cls, low, low)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda x: Works(x), "the dataclass Works is made inside the function"),
        (lambda x: Strange(x), "class Strange"),
        (lambda x: Seen(), "missing a required argument: 'scores'"),
        (lambda x: len(Seen(x)), "'Seen' object is not a sequence"),
        (lambda x: list(Seen(x)), "'Seen' object is not iterable"),
        (lambda x: Seen(x)[0], "'Seen' object is not subscriptable"),
        (lambda x: Seen(x).other, "other"),
    ],
)
def test_what_they_are_not(make, says):
    def f(x):
        return make(x)

    with pytest.raises((ms.UnsupportedError, TypeError, AttributeError), match=says):
        ms.jit(f)(X)


def test_print(capfd):
    @ms.jit
    def f(x, n):
        print(Seen(n, 2), Pair(n, (n,)))
        return x

    f(X, ms.mutable(5))
    assert capfd.readouterr().out == "Seen(scores=5, count=2, names=[]) Pair(first=5, second=(5,))\n"
