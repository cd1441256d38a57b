"""What a compiled function reads from containers outside is looked at again at each call, however it was changed."""

import numpy as np
import pytest

import msvm as ms
from msvm import nn

x = ms.Tensor(np.ones(3, np.float32))


class Settings:
    def __init__(self):
        self.k = 2
        self.values = [1, 2]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = [2.0]
        self.options = {"offset": 1.0}

    def construct(self, x):
        return x * self.scale[0] + self.options["offset"]


def with_default(x, values=[1]):  # noqa: B006 - the point of it
    return x * values[0]


def change(container, how):
    how(container)


def settings_changed(s):
    s.values[1] = 9


CASES = {
    "append to a list": ([1, 2], lambda c, x: x * sum(c), lambda c: c.append(3)),
    "set in a list": ([1, 2], lambda c, x: x * c[0], lambda c: c.__setitem__(0, 7)),
    "another kind in a list": ([1, 2], lambda c, x: x * c[0], lambda c: c.__setitem__(0, 1.5)),
    "remove from a list": ([1, 2], lambda c, x: x * len(c), lambda c: c.pop()),
    "set in a dict": ({"a": 1}, lambda c, x: x * c["a"], lambda c: c.__setitem__("a", 5)),
    "add to a dict": ({"a": 1}, lambda c, x: x * len(c), lambda c: c.__setitem__("b", 5)),
    "add to a set": ({1}, lambda c, x: x * len(c), lambda c: c.add(2)),
    "list in a tuple": ((1, [2]), lambda c, x: x * c[1][0], lambda c: c[1].__setitem__(0, 9)),
    "list in a list": ([[1]], lambda c, x: x * c[0][0], lambda c: c[0].__setitem__(0, 9)),
    "dict in a list": ([{"a": 1}], lambda c, x: x * c[0]["a"], lambda c: c[0].update(a=4)),
    "list of an object": (Settings(), lambda c, x: x * c.values[1], settings_changed),
    "array rebound": ([np.ones(3, np.float32)], lambda c, x: x + c[0], lambda c: c.__setitem__(0, np.full(3, 4, np.float32))),
    "array of another dtype": ([np.ones(3, np.float32)], lambda c, x: x + c[0], lambda c: c.__setitem__(0, np.full(3, 4, np.int64))),
    "array appended": ([np.ones(3, np.float32)], lambda c, x: sum(c) + x, lambda c: c.append(np.ones(3, np.float32))),
    "tensor in a dict": ({"w": ms.Tensor([1.0, 1, 1])}, lambda c, x: x + c["w"], lambda c: c.update(w=ms.Tensor([2.0, 3, 4]))),
    "mutable in a list": ([ms.mutable(2)], lambda c, x: x * c[0], lambda c: c.__setitem__(0, ms.mutable(5))),
    "a cell's list": (Net(), lambda c, x: c(x), lambda c: c.scale.__setitem__(0, 3.0)),
    "a cell's dict": (Net(), lambda c, x: c(x), lambda c: c.options.update(offset=3.0)),
    "a default": (with_default, lambda c, x: c(x), lambda c: c.__defaults__[0].__setitem__(0, 8)),
}


@pytest.mark.parametrize("name", CASES)
def test_changes_count(name):
    container, body, change = CASES[name]

    @ms.jit
    def captured(x):
        return body(container, x)

    first = np.asarray(captured(x))
    np.testing.assert_array_equal(first, np.asarray(body(container, x)))
    programs = len(captured.executables())
    np.testing.assert_array_equal(np.asarray(captured(x)), first)
    assert len(captured.executables()) == programs  # unchanged: nothing is compiled
    change(container)
    want = np.asarray(body(container, x))
    assert (want != first).any()
    np.testing.assert_array_equal(np.asarray(captured(x)), want)
