"""Random statements, with names that share tensors: compiled, they do what Python does."""

import importlib.util
import random

import numpy as np
import pytest

import msvm as ms

NAMES = ["y", "z", "w"]
SIZES = [(0, 0), (1, 2), (3, 1), (2, 3)]


class Writer:
    """Writes one function."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = ["def f(x, n, m):", "    y = x * 1", "    z = y", "    w = x + 1", "    a = 0", "    l = [y]"]
        self.loops = 0
        for _ in range(self.r.randint(3, 7)):
            self.statement(1, False)
        self.put(1, "return y, z, w, a, len(l), l[0], l[-1]")

    def put(self, indent, text):
        self.lines.append("    " * indent + text)

    def pick(self, *choices):
        return self.r.choice(choices)

    def tensor(self):
        return self.pick("y", "z", "w", "y + 1", "z * 2", "y + w", "l[0]", "l[-1]", "w - z", "x")

    def integer(self):
        return self.pick("a", "n", "m", "a + 1", "n - m", "m * 2", "a - n", "1", "0", "2", *(["k"] if self.loops else []))

    def condition(self):
        return self.pick(
            "n > m", "a > 1", "m == 2", "y[0, 0].item() > 3", "n > 1 and a < 5", "z.sum() > w.sum()", "not a", "len(l) > 2", "y.sum() > 40"
        )

    def body(self, indent, in_loop):
        for _ in range(self.r.randint(1, 3)):
            self.statement(indent, in_loop)

    def simple(self, indent):
        kind = self.r.random()
        if kind < 0.3:
            self.put(indent, f"{self.pick(*NAMES)} = {self.tensor()}")
        elif kind < 0.5:
            at = self.pick("0", "1", "a % 3", "n % 3", "m % 3", ":1", "1:", ":, 1")
            self.put(indent, f"{self.pick(*NAMES)}[{at}] = {self.pick('7.0', 'a', 'n', '5')}")
        elif kind < 0.6:
            self.put(indent, f"{self.pick(*NAMES)} {self.pick('+=', '*=')} {self.pick('1', '2', 'a')}")
        elif kind < 0.75:
            self.put(indent, f"a = ({self.integer()}) % 7")
        elif kind < 0.85:
            self.put(indent, f"a += {self.pick('1', '2', 'n')}")
        elif kind < 0.95:
            self.put(indent, f"l.append({self.pick('y', 'z', 'w', 'y + 1')})")
        else:
            self.put(indent, f"y, z = z, {self.pick('y', 'w', 'y * 2')}")

    def statement(self, indent, in_loop):
        kind = self.r.random()
        if kind < 0.6 or indent == 4:
            self.simple(indent)
        elif kind < 0.66 and in_loop:
            self.put(indent, f"if {self.condition()}:")
            self.put(indent + 1, self.pick("break", "continue"))
        elif kind < 0.8:
            self.put(indent, f"if {self.condition()}:")
            self.body(indent + 1, in_loop)
            if self.r.random() < 0.6:
                self.put(indent, "else:")
                self.body(indent + 1, in_loop)
        elif kind < 0.93:
            self.put(indent, f"for k in range({self.pick('n', 'm', '2', 'a % 4', 'len(l)')}):")
            self.loops += 1
            self.body(indent + 1, True)
            self.loops -= 1
        else:
            self.put(indent, f"q{indent} = 0")
            self.put(indent, f"while q{indent} < {self.pick('n', 'm', '3')}:")
            self.put(indent + 1, f"q{indent} += 1")
            self.body(indent + 1, True)


def outcome(f, *args):
    try:
        return [np.asarray(v).tolist() for v in f(*args)]
    except ms.UnsupportedError:
        raise
    except (ArithmeticError, LookupError, NameError, TypeError, ValueError) as e:
        return type(e)


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_as_python(first, tmp_path):
    compared = 0
    for seed in range(first, first + 20):
        text = "\n".join(Writer(seed).lines) + "\n"
        path = tmp_path / f"random{seed}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        compiled = ms.jit(module.f)
        for n, m in SIZES:
            x = np.arange(12, dtype=np.float32).reshape(3, 4)
            want = outcome(module.f, ms.Tensor(x.copy()), n, m)
            try:
                got = outcome(compiled, ms.Tensor(x), ms.mutable(n), ms.mutable(m))
            except ms.UnsupportedError:
                break
            compared += 1
            assert got == want, f"seed {seed}, n={n}, m={m}\n{text}"
    assert compared > 20
