"""What a function takes from outside its arguments: read again at every call, and never stale."""

import numpy as np

import msvm as ms

X = np.ones(2, np.float32)
scale = 2
offset = np.zeros(2, np.float32)
size = ms.mutable(1)
weights = {"a": [np.ones(2, np.float32), 3]}


class Config:
    def __init__(self):
        self.names = ["a"]
        self.sizes = {"k": [1, 2]}


def helper(x):
    return x * scale


def reads_everything(x):
    return helper(x) + offset + weights["a"][0] * weights["a"][1], x[:size]


def test_globals():
    global scale, offset, size
    f = ms.jit(reads_everything)

    def agrees():
        found, expected = f(X), reads_everything(ms.Tensor(X))
        assert [t.tolist() for t in found] == [t.tolist() for t in expected]

    agrees()
    programs = len(f.executables())
    offset[1] = 5
    agrees()
    offset = np.full(2, 7, np.float32)
    agrees()
    size = ms.mutable(2)
    agrees()
    weights["a"][0][:] = 4
    agrees()
    assert len(f.executables()) == programs
    scale = 10
    agrees()
    weights["a"][1] = 8
    agrees()
    weights["a"][0] = np.full(2, 9, np.float32)
    agrees()
    assert len(f.executables()) > programs
    scale = 2
    agrees()


def test_objects_and_what_they_hold():
    config = Config()

    @ms.jit
    def f(x, c):
        return x * len(c.names) + sum(c.sizes["k"]) + len(config.names)

    expected = lambda: (X * len(config.names) + sum(config.sizes["k"]) + len(config.names)).tolist()  # noqa: E731
    assert f(X, config).tolist() == expected()
    config.names.append("b")
    assert f(X, config).tolist() == expected()
    config.sizes["k"].append(10)
    assert f(X, config).tolist() == expected()
    config.sizes["m"] = []
    assert f(X, config).tolist() == expected()
    config.names = []
    assert f(X, config).tolist() == expected()


def test_methods():
    class Model:
        scale = 2.0

        @ms.jit
        def inner(self, x):
            return x * self.scale

        @ms.jit
        def outer(self, x):
            return self.inner(x) + self.plain(x)

        def plain(self, x):
            return x - self.scale

        @staticmethod
        @ms.jit
        def static(x):
            return x + 1

    a, b = Model(), Model()
    b.scale = 5.0
    assert a.outer(X).tolist() == [1, 1] and b.outer(X).tolist() == [1, 1]
    a.scale = 3.0
    assert a.outer(X).tolist() == [1, 1] and a.inner(X).tolist() == [3, 3] and b.inner(X).tolist() == [5, 5]
    assert Model.static(X).tolist() == [2, 2]


def test_closures():
    def make(k):
        factor = k

        @ms.jit
        def f(x, *more, flag=True, **named):
            return x * factor + len(more) + len(named) if flag else x

        def change(v):
            nonlocal factor
            factor = v

        return f, change

    f, change = make(2)
    assert f(X).tolist() == [2, 2] and f(X, 1, 2).tolist() == [4, 4] and f(X, z=X).tolist() == [3, 3]
    change(4)
    assert f(X).tolist() == [4, 4] and f(X, flag=False).tolist() == [1, 1]


def test_comprehensions_of_unknown_length():
    @ms.jit
    def f(x, n):
        return ms.ops.stack([x[i : i + 2].sum() for i in range(n) if i != 1])

    x = np.arange(6, dtype=np.float32)
    for n in (1, 3, 4):
        assert f(x, ms.mutable(n)).tolist() == [x[i : i + 2].sum() for i in range(n) if i != 1]
    assert len(f.executables()) == 1
