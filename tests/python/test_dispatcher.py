"""_core.Dispatcher: arguments to keys, keys to programs, results back; everything that makes a program serve or not."""

import copy
import gc
import inspect
import subprocess
import sys
import threading
import weakref
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from msvm._core import Dispatcher, Entry, Mutable, Tensor
from programs import FOREVER

import msvm
from msvm import _core

F32 = _core.to_dtype("float32")


def sum_program(kinds, loop=False):
    """The sum of all tensors (f32, of rank 1 at most) and numbers, as a program; the inputs are the leaves that aren't constants."""
    b = _core.Builder("sum")
    total, dims, size, sources = None, 0, None, []
    for k, kind in enumerate(kinds):
        if kind[0] == "const":
            continue
        sources.append(("leaf", k))
        if kind[0] == "tensor":
            if kind[2] and size is None:
                size = b.symbol("N")
            r = b.input(f"x{k}", kind[1], [size] * kind[2])
            r = b.call("Cast", [r], [], {"to": F32}, [True])[0]
        elif kind[0] == "i64":
            dims = b.calc("add", dims, b.dim(b.scalar_input(f"x{k}", "i64")))
            continue
        elif kind[0] == "f64":
            r = b.call("Cast", [b.input(f"x{k}", _core.to_dtype("float64"), [])], [], {"to": F32}, [True])[0]
        else:
            b.scalar_input(f"x{k}", "bool")
            continue
        total = r if total is None else b.call("Add", [total, r], [], {}, [True])[0]
    outputs, regs = [], []
    if total is not None:
        _, dtype, shape = b.type(total)
        b.output("y", "tensor", dtype, shape)
        regs, outputs = [total], [("leaf", 0)]
    b.output("n", "i64")
    b.ret(regs, [dims])
    return _core.load_module(b.finish()), sources, ("tuple", [*outputs, ("int", len(regs))])


class Made:
    """A dispatcher whose programs sum their inputs, and what it asked for."""

    def __init__(self, parameters="a b", **kwargs):
        self.signatures = []
        self.warnings = []
        self.call = Dispatcher(self.miss, parameters.split(), name="f", warn=self.warnings.append, **kwargs)

    def miss(self, signature):
        self.signatures.append(signature)
        program, sources, outputs = sum_program(signature.kinds)
        return Entry(program, sources, [], outputs)

    @property
    def kinds(self):
        return [[k[0] for k in s.kinds] for s in self.signatures]


def test_one_program_per_dtype_and_rank():
    m = Made()
    for n in (3, 5, 0, 1):
        for x in (np.arange(n, dtype=np.float32), np.arange(n, dtype=np.int32)):
            y, z = m.call(x, Tensor(x))
            np.testing.assert_array_equal(y.asnumpy(), 2 * x)
            assert z == 0 and type(z) is int and type(y) is Tensor
    assert [s.kinds[0][1].name for s in m.signatures] == ["float32", "int32"]
    assert m.signatures[0].kinds == [("tensor", F32, 1), ("tensor", F32, 1)] and m.signatures[0].parameters == ("a", "b")
    assert m.call(np.float32(2), Tensor(3.0))[0].item() == 5 and len(m.signatures) == 3
    assert [e.calls for e in m.call.entries()] == [1, 4, 4] and m.call.misses == 3


def test_arrays_of_every_layout():
    from test_tensor import layouts

    m = Made("a b")
    base = np.arange(48, dtype=np.float32).reshape(6, 8)
    for name, (x, _) in layouts(base).items():
        if x.ndim == 2:
            x = x[:, 0] if x.shape[1] else x[:, :0].reshape(0)
        np.testing.assert_array_equal(m.call(x, 0)[0].asnumpy(), x, err_msg=name)
    assert len(m.signatures) == 2  # ranks 1 and 0


def test_torch_tensors_are_tensors():
    class Foreign:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **kwargs):
            return self.x.__dlpack__(**kwargs)

    m = Made("a")
    for n in (2, 3):
        assert m.call(Foreign(np.ones(n, np.float32)))[0].tolist() == [1] * n
    assert m.kinds == [["tensor"]]


def test_numbers():
    m = Made("a b", sizes=("b",))
    x = np.zeros(2, np.float32)
    for b in (Mutable(3), Mutable(-5), 7, 0, np.int64(9)):
        assert m.call(x, b)[1] == int(b)
    assert m.kinds == [["tensor", "i64"]]
    assert m.call(x, -1)[1] == 0 and m.call(x, (1, -1, 2))[1] == 3 and m.call(x, (5, -1, 6))[1] == 11
    assert m.kinds[1:] == [["tensor", "const"], ["tensor", "i64", "const", "i64"]]
    assert m.call(x, Mutable(2.5))[0].tolist() == [2.5, 2.5] and m.call(x, Mutable(-1.5))[0].tolist() == [-1.5, -1.5]
    assert m.call(x, Mutable(True))[1] == 0 and m.call(Mutable((4, 5)), Mutable((6,)))[0] == 15
    assert m.kinds[3:] == [["tensor", "f64"], ["tensor", "bool"], ["i64", "i64", "i64"]]
    assert Made("a b", floats=("b",)).call(x, 1.5)[0].tolist() == [1.5, 1.5]
    assert m.call(x, 2**70)[1] == 0 and m.kinds[-1] == ["tensor", "const"]


class Hashed:
    def __init__(self, v):
        self.v = v

    def __hash__(self):
        return hash(self.v)

    def __eq__(self, other):
        return self.v == other.v


class Plain:
    pass


nan = float("nan")
plain = Plain()
Pair = namedtuple("Pair", "first second")
SAME = [
    (1, 1),
    (10**30, 10**30),
    ("a" * 2, "aa"),
    (1.5, 1.5),
    (nan, nan),
    (float("nan"), float("nan")),
    (None, None),
    ((1, (2, "x")), (1, (2, "x"))),
    ([1, 2], [1, 2]),
    ({"a": 1, "b": [2]}, {"a": 1, "b": [2]}),
    (slice(1, None, 2), slice(1, None, 2)),
    (Hashed(3), Hashed(3)),
    (plain, plain),
    (F32, F32),
    (np.float32, np.float32),
    (np.dtype("f4"), np.dtype("float32")),
    (len, len),
    (..., ...),
    (Pair(1, 2), Pair(1, 2)),
    (frozenset({1}), frozenset({1})),
    (range(3), range(3)),
    (b"x", b"x"),
    (1j, 1j),
]
OTHER = [
    (1, True),
    (1, 1.0),
    (0.0, -0.0),
    (0, False),
    ("a", b"a"),
    (None, False),
    ((1, 2), [1, 2]),
    ((1, 2), (1, 3)),
    ((1, (2,)), ((1, 2),)),
    ((), []),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 2}),
    (slice(1), slice(2)),
    (Plain(), Plain()),
    (Hashed(3), Hashed(4)),
    (bytearray(b"x"), bytearray(b"x")),
    (set(), set()),
    (Pair(1, 2), (1, 2)),
    (len, max),
    (int, float),
    (Mutable(1), 1),
    ("1", 1),
    (np.zeros(1), 1),
]


@pytest.mark.parametrize("first, second", SAME, ids=repr)
def test_constants_that_are_the_same(first, second):
    m = Made("a b", burn_limit=100)
    m.call(0, first)
    m.call(0, second)
    assert len(m.signatures) == 1


@pytest.mark.parametrize("first, second", OTHER, ids=repr)
def test_constants_that_are_not(first, second):
    m = Made("a b", burn_limit=100)
    for v in (first, second, first, second):
        m.call(0, v)
    assert len(m.signatures) == 2


def test_static_parameters():
    m = Made("a b", static=("b",))
    x, n = Tensor(np.ones(2, np.float32)), 0
    for b in (x, 3, 4, [x], Mutable(3), *range(100, 120)):
        m.call(x, b)
        m.call(x, b)
        n += 1
    assert len(m.signatures) == n and {tuple(k) for k in m.kinds} == {("tensor", "const")} and not m.warnings


def test_the_structure_of_arguments():
    m = Made("a b")
    x = [Tensor(np.full(2, v, np.float32)) for v in (1, 2, 4)]
    a = ({"p": x[0], "q": [x[1], 5]}, Pair(x[2], "text"))
    y, _ = m.call(a, slice(None, 3, Mutable(2)))
    assert y.tolist() == [7, 7]
    (s,) = m.signatures
    assert [k[0] for k in s.kinds] == ["tensor", "tensor", "const", "tensor", "const", "const", "const", "i64"]
    assert s.names == ["a_0", "a_1", "a_2", "a_3", "a_4", "b_0", "b_1", "b_2"] and s.leaves[0] is x[0]
    assert s.kinds[4] == ("const", "text")
    rebuilt = s.rebuild(list(range(8)))
    assert rebuilt == (({"p": 0, "q": [1, 2]}, Pair(3, 4)), slice(5, 6, 7)) and type(rebuilt[0][1]) is Pair
    assert s.args[0][0]["p"] is x[0]
    with pytest.raises(msvm.InputError, match="8 leaves"):
        s.rebuild([1])
    endless = []
    endless.append(endless)
    with pytest.raises(msvm.InputError, match="nested"):
        m.call(endless, 1)
    assert m.call.signature(1, b=x[0]).kinds == [("const", 1), ("tensor", F32, 1)]


def python_function(a, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, more


CALLS = [
    ((1,), {"c": 3}),
    ((1, 5), {"c": 3}),
    ((1, 5, 6, 7), {"c": 3, "d": 9}),
    ((), {"a": 1, "c": 3, "z": 8}),
    ((1,), {"c": 3, "rest": 5, "more": 6}),
    ((1, 2), {"c": 3, "b": 4}),
    ((), {}),
    ((1,), {}),
    ((), {"c": 1}),
]


def binds_as(function, d, args, kwargs):
    """The arguments that the function returns, or the error it raises, word for word."""
    try:
        want = function(*args, **kwargs)
    except TypeError as e:
        with pytest.raises(TypeError) as found:
            d.signature(*args, **kwargs)
        assert str(found.value) == str(e)
        return
    assert d.signature(*args, **kwargs).args == want


@pytest.mark.parametrize("args, kwargs", CALLS)
def test_binding_as_python_does(args, kwargs):
    d = Dispatcher(
        lambda s: None,
        ["a", "b", "rest", "c", "d", "more"],
        name="python_function",
        defaults={"b": 2, "d": 4},
        varargs=True,
        varkw=True,
        keyword_only=2,
    )
    binds_as(python_function, d, args, kwargs)


@pytest.mark.parametrize(
    "args, kwargs", [((1, 2, 3), {}), ((), {}), ((1,), {"c": 1}), ((1,), {"a": 1}), ((1,), {"b": 3}), ((1, 2), {"b": 3}), ((1,), {})]
)
def test_binding_without_extras(args, kwargs):
    def f(a, b=7):
        return a, b

    d = Dispatcher(lambda s: None, ["a", "b"], name=f.__qualname__, defaults=(7,))
    binds_as(f, d, args, kwargs)


def test_ints_with_too_many_values():
    m = Made("a n", burn_limit=8)
    x = np.zeros(2, np.float32)
    for n in range(8):
        assert m.call(x, n)[1] == 0
    assert m.kinds == [["tensor", "const"]] * 8 and not m.warnings
    for n in (100, 101, 3, -7, 2**40):
        assert m.call(x, n)[1] == n
    assert m.kinds[8:] == [["tensor", "i64"]] and m.warnings == ["n"]
    assert m.call(x, True)[1] == 0 and m.call(x, 2**70)[1] == 0  # no ints of 64 bits: as before


def test_floats_with_too_many_values():
    m = Made("a b", burn_limit=2)
    x = np.zeros(1, np.float32)
    assert [m.call(x, v)[0].item() for v in (0.5, 1.5, 2.5, 3.5, 0.5, -1.0)] == [0, 0, 2.5, 3.5, 0.5, -1]
    assert m.kinds == [["tensor", "const"]] * 2 + [["tensor", "f64"]] and m.warnings == ["b"]


def test_what_is_called_instead():
    d = Dispatcher(lambda s: constant_entry("run"), ["a", "b"], defaults=(2,))
    d.inside = lambda *args, **kwargs: ("inside", args, kwargs)
    assert d(1) == "run" and _core.set_building(True) is False
    try:
        assert d(1, b=3) == ("inside", (1,), {"b": 3})
        d.bypass = lambda *args: ("bypass", args)
        assert d(1) == ("bypass", (1,))
        d.inside = d.bypass = None
        assert d(1) == "run" and d.inside is None and d.bypass is None
    finally:
        assert _core.set_building(False) is True
    d.bypass = lambda a: 1 / a
    with pytest.raises(ZeroDivisionError):
        d(0)


def test_ints_that_must_stay_constants():
    m = Made("a n", burn_limit=2)
    made = m.miss

    def miss(signature):
        return NotImplemented if ("i64",) in signature.kinds else made(signature)

    d = Dispatcher(miss, ["a", "n"], burn_limit=2, warn=m.warnings.append)
    for n in range(6):
        assert d(0, n) == (0,)
    assert len(m.signatures) == 6 and not m.warnings


def constant_entry(value=None, guards=(), **inputs):
    b = _core.Builder("nothing")
    b.ret([], [])
    return Entry(_core.load_module(b.finish()), [], guards, ("const", value))


def test_guards():
    cell = (lambda c: lambda: c)(1).__closure__[0]
    module, holder, log = {"x": 1, "__builtins__": {"len": len}}, Plain(), []
    holder.y = holder.z = "a"
    paths = [
        ("global", module, "x"),
        ("cell", cell),
        ("attr", holder, "y"),
        ("item", module, "x"),
        ("global", module, "len"),
        ("attr_of", ("leaf", 0), "z"),
    ]

    def read():
        return [module["x"], cell.cell_contents, holder.y, module["x"], module.get("len", len), holder.z]

    def miss(signature):
        log.append(read())
        return constant_entry(len(log), list(zip(paths, read(), strict=True)))

    d = Dispatcher(miss, ["h"])
    assert d(holder) == d(holder) == 1
    module["x"] = True
    assert d(holder) == 2
    module["x"] = 1
    assert d(holder) == 1
    cell.cell_contents = 2
    assert d(holder) == 3 == d(holder)
    holder.y = "".join(["", "a"])  # equal, not the same
    assert d(holder) == 3
    holder.y = [1]
    assert d(holder) == 4
    holder.y = [1]  # another list that holds the same
    assert d(holder) == 4
    holder.y = [2]
    assert d(holder) == 5
    module["len"] = max
    assert d(holder) == 6
    holder.z = None
    assert d(holder) == 7 == d(holder)
    assert len(d.entries()) == 7
    del module["x"]
    with pytest.raises(KeyError):
        d(holder)


def test_inputs_from_elsewhere():
    module, holder = {"h": Mutable(3)}, Plain()
    holder.w = Tensor(np.ones(2, np.float32))
    log = []

    def miss(signature):
        log.append(signature)
        kinds = [("tensor", _core.to_dtype(holder.w.dtype), holder.w.ndim), ("i64",) if isinstance(module["h"].value, int) else ("f64",)]
        program, _, outputs = sum_program([*kinds, signature.kinds[0]])
        return Entry(program, [("get", ("attr", holder, "w")), ("get", ("global", module, "h")), ("leaf", 0)], [], outputs)

    d = Dispatcher(miss, ["x"])
    x = np.zeros(2, np.float32)
    y, n = d(x)
    assert y.tolist() == [1, 1] and n == 3
    module["h"], holder.w = Mutable(5), np.full(2, 7, np.float32)
    y, n = d(x)
    assert y.tolist() == [7, 7] and n == 5 and len(log) == 1
    module["h"] = 6
    assert d(x)[1] == 6
    module["h"] = Mutable(0.5)
    assert d(x)[0].tolist() == [7.5, 7.5] and len(log) == 2
    holder.w = np.full(2, 7)  # another dtype
    assert d(x)[0].tolist() == [7.5, 7.5] and len(log) == 3
    holder.w, module["h"] = Tensor(np.ones(2, np.float32)), Mutable(1)
    assert d(x)[0].tolist() == [1, 1] and len(log) == 3


def test_outputs():
    b = _core.Builder("outputs")
    x = b.input("x", F32, [b.symbol("N")])
    n, flag = b.dim(b.scalar_input("n", "i64")), b.scalar_input("flag", "bool")
    y = b.call("Relu", [x], [], {}, [True])[0]
    _, dtype, shape = b.type(y)
    b.output("y", "tensor", dtype, shape)
    b.output("n", "i64")
    b.output("flag", "bool")
    b.output("f", "f64")
    b.ret([y, flag, b.scalar_const(2.5)], [n])
    program = _core.load_module(b.finish())
    marker = object()
    tree = (
        "dict",
        {"a": ("leaf", 0), "b": ("list", [("int", 1), ("const", marker)]), "c": ("tuple", [("bool", 2), ("float", 3), ("leaf", 0)])},
    )
    d = Dispatcher(lambda s: Entry(program, [("leaf", k) for k in range(3)], [], tree), ["x", "n", "flag"])
    for _ in range(2):
        r = d(np.array([-1, 2], np.float32), Mutable(4), Mutable(True))
        assert list(r) == ["a", "b", "c"] and r["b"] == [4, marker] and r["b"][1] is marker and r["c"][:2] == (True, 2.5)
        assert r["a"].tolist() == [0, 2] == r["c"][2].tolist() and r["a"].is_writable and r["a"].asnumpy().flags.writeable


def test_what_an_entry_refuses():
    program, sources, outputs = sum_program([("tensor", F32, 1)])
    wrong = [
        ((1, sources, [], outputs), "Executable"),
        ((program, [], [], outputs), "1 inputs"),
        ((program, [("leaf", -1)], [], outputs), "leaf -1"),
        ((program, [("lead", 0)], [], outputs), "lead"),
        ((program, [("get", ("cell", 3))], [], outputs), "cell"),
        ((program, [("get", ("global", 3, "x"))], [], outputs), "global"),
        ((program, [("get", ("attr", 3))], [], outputs), "attr"),
        ((program, sources, [(("nowhere",), 1)], outputs), "nowhere"),
        ((program, sources, [], ("leaf", 1)), "another kind"),
        ((program, sources, [], ("leaf", 2)), "2 results"),
        ((program, sources, [], ("int", 0)), "another kind"),
        ((program, sources, [], ("thing", 0)), "thing"),
        ((program, sources, [], 3), "expected"),
    ]
    for args, match in wrong:
        with pytest.raises(msvm.InputError, match=match):
            Entry(*args)
    for result, error in (
        (None, TypeError),
        (Entry(program, [("leaf", 5)], [], outputs), msvm.InputError),
        (Entry(program, sources, [], outputs), msvm.InputError),
    ):
        with pytest.raises(error):
            Dispatcher(lambda s, result=result: result, ["x"])(3)


def test_what_a_dispatcher_refuses():
    for args, kwargs in (
        ((1, []), {}),
        ((len, [1]), {}),
        ((len, ["a"]), {"sizes": ["b"]}),
        ((len, ["a"]), {"static": ["b"]}),
        ((len, ["a"]), {"defaults": (1, 2)}),
        ((len, ["a"]), {"defaults": {"b": 1}}),
        ((len, ["a"]), {"keyword_only": 2}),
        ((len, ["a"]), {"max_entries": 0}),
    ):
        with pytest.raises(msvm.InputError):
            Dispatcher(*args, **kwargs)
    with pytest.raises(TypeError):
        Dispatcher(len)
    with pytest.raises(TypeError, match="initialised"):
        Dispatcher.__new__(Dispatcher)(1)
    with pytest.raises(TypeError, match="complex128"):
        Made("a").call(np.zeros(2, complex))
    with pytest.raises(msvm.InputError, match="rank 9"):
        Made("a").call(np.zeros((1,) * 9))
    with pytest.raises(TypeError, match="declaration"):
        Made("a").call(Tensor(shape=[None], dtype=F32))


def test_errors():
    def fails(signature):
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        Dispatcher(fails, ["x"])(1)
    m = Made("a b")
    x, y = np.ones(2, np.float32), np.ones(3, np.float32)
    m.call(x, x)
    with pytest.raises(msvm.InputError):
        m.call(x, y)
    assert m.call(x, x)[0].tolist() == [2, 2]
    seen = []

    def on_error(error, entry):
        seen.append((type(error), entry))
        return ZeroDivisionError("mine") if len(seen) == 1 else None

    d = Dispatcher(m.miss, ["a", "b"], on_error=on_error)
    with pytest.raises(ZeroDivisionError, match="mine"):
        d(x, y)
    with pytest.raises(msvm.InputError):
        d(x, y)
    assert [s[0] for s in seen] == [msvm.InputError] * 2 and isinstance(seen[0][1], Entry)


class Rude:
    """Its comparisons and hashes do what they want."""

    def __init__(self, act):
        self.act = act

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return self.act()


def test_comparisons_that_misbehave():
    d = Dispatcher(lambda s: constant_entry(), ["a"])

    def raises():
        raise RuntimeError("no")

    for act in (raises, d.clear, lambda: np.zeros(2), lambda: d(3), gc.collect):
        for _ in range(3):
            d(Rude(act))

    class Unhashable:
        def __hash__(self):
            raise RuntimeError("hash")

        __eq__ = object.__eq__

    with pytest.raises(RuntimeError, match="hash"):
        d(Unhashable())


def test_the_oldest_entries_go():
    d = Dispatcher(lambda s: constant_entry(s.leaves[0]), ["a"], max_entries=3)
    for v in "abc":
        d(v)
    d("a")
    d("d")
    assert {e.outputs[1] for e in d.entries()} == {"a", "c", "d"} and d.misses == 4
    assert d.find_entry("b") is None and d.find_entry("a") is not None and d.misses == 4
    assert d.entry_for("b").outputs == ("const", "b") and d.misses == 5
    d.clear()
    assert d.entries() == [] and d("a") == "a"


def test_methods_and_classes():
    d = Dispatcher(lambda s: constant_entry(s.leaves[1]), ["self", "x"], name="method")

    class Cell:
        forward = d

    c = Cell()
    assert c.forward(3) == 3 and Cell.forward(c, 4) == 4 and Cell.forward is d and c.forward.__self__ is c
    assert callable(d) and repr(d) == "<msvm dispatcher method>" and d.name == "method" and d.parameters == ("self", "x")
    d.__wrapped__ = test_methods_and_classes
    assert d.__wrapped__ is test_methods_and_classes and inspect.unwrap(d) is test_methods_and_classes
    assert weakref.ref(d)() is d and "miss(signature)" in Dispatcher.__doc__

    class Function(Dispatcher):
        def __init__(self, f):
            super().__init__(self.make, ["x"])
            self.f = f

        def make(self, signature):
            return constant_entry(self.f(signature.leaves[0]))

    f = Function(lambda v: v * 2)
    assert f(4) == 8 and f(x=5) == 10
    with pytest.raises(TypeError):
        copy.copy(f)


def test_cycles_are_collected():
    def make():
        d = Dispatcher(lambda s: constant_entry(None, [(("attr", d, "mine"), 1)]), ["a"])
        d.mine, d.itself = 1, d
        d("x")
        d.entries()[0].info = d
        return weakref.ref(d)

    gone = [make() for _ in range(3)]
    gc.collect()
    assert [g() for g in gone] == [None] * 3


def test_arguments_are_let_go():
    m = Made("a b")
    x = np.ones(2, np.float32)
    held = Tensor(x)
    watched = weakref.ref(held)
    m.call([x, held], {"k": x})
    del m.signatures[:]
    del held
    gc.collect()
    assert watched() is None

    class Big:
        pass

    d, big = Dispatcher(lambda s: constant_entry(), ["a"]), Big()
    watched = weakref.ref(big)
    d([big])
    del big
    d.clear()
    gc.collect()
    assert watched() is None


def test_calls_within_calls():
    """A miss that calls the dispatcher, and hashes that do."""
    log = []

    def miss(signature):
        v = signature.leaves[0]
        log.append(v)
        return constant_entry(v if v == 0 else d(v - 1) + v)

    d = Dispatcher(miss, ["v"], burn_limit=100)
    assert d(5) == 15 and log == [5, 4, 3, 2, 1, 0] and d(3) == 6


def test_threads():
    m = Made("a b", burn_limit=4)

    def work(k):
        for i in range(200):
            x = np.full(k % 5 + 1, i, np.float32)
            y, n = m.call(x if i % 3 else Tensor(x), (k, Mutable(i)))
            assert y.tolist() == x.tolist() and n in (i, i + k)
            with pytest.raises(msvm.InputError):
                m.call(x, (np.zeros(len(x) + 1, np.float32),))
        return k

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))


def test_lists_that_change_meanwhile():
    m = Made("a")
    items, stop = [np.ones(3, np.float32)], threading.Event()

    def churn():
        while not stop.is_set():
            items[:] = [np.ones(3, np.float32)]

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(2000):
            assert m.call(items)[0].tolist() == [1, 1, 1]
    finally:
        stop.set()
        thread.join()


def test_memory_stays_flat():
    m = Made("a b c")
    x, t, n, words = np.zeros(100, np.float32), Tensor(np.zeros(100, np.float32)), Mutable(3), ["const"]

    def work(times):
        for _ in range(times):
            m.call(x[::2], [t.asnumpy()[::2], n], c={"k": words})

    def resident() -> int:
        with open("/proc/self/statm") as f:  # noqa: PTH123
            return int(f.read().split()[1]) * 4096

    work(500)
    before, counts = resident(), [sys.getrefcount(v) for v in (x, t, n, words)]
    work(10000)
    assert resident() - before < 4 << 20
    assert [sys.getrefcount(v) for v in (x, t, n, words)] == counts


def in_a_process(code: str) -> int:
    where = next(p for p in sys.path if p.endswith("release/python"))
    begin = f"import sys; sys.path[:0] = [{where!r}, {str(Path(__file__).parent)!r}]\n"
    return subprocess.run([sys.executable, "-c", begin + code], timeout=60, check=False).returncode


LATE = """
import threading, time, numpy as np, msvm
from msvm._core import Dispatcher, Entry, Mutable, Tensor, load
load_path = {path!r}
forever = load(load_path.encode())
forever.set_limits(0, 0, {seconds})
call = Dispatcher(lambda s: Entry(forever, [("leaf", 0)], [], ("int", 0)), ["i"])

def work():
    while True:
        try:
            call(Mutable(1))
        except msvm.LimitError:
            pass

class Late:
    def __del__(self):
        time.sleep(0.2)  # runs end while the interpreter ends

sys.late = Late()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.parametrize("seconds", [0.0002, 0.02, 0.15])
def test_the_process_ends_while_calls_return(tmp_path, seconds):
    path = tmp_path / "forever.msasm"
    path.write_text(FOREVER)
    for _ in range(3):
        assert in_a_process(LATE.format(path=str(path), seconds=seconds)) == 0


def test_a_forked_child_calls(tmp_path):
    assert (
        in_a_process("""
import os, numpy as np
from test_dispatcher import Made
m = Made("a b")
x = np.ones(50000, np.float32)
assert m.call(x, x)[0].tolist()[0] == 2
pid = os.fork()
if pid == 0:
    ok = m.call(x, x)[0].tolist()[0] == 2 and m.call(x, 0)[1] == 0
    os._exit(0 if ok else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""")
        == 0
    )


def test_strings_are_tensors():
    b = _core.Builder("words")
    text = _core.to_dtype("string")
    x = b.input("x", text, [b.symbol("N")])
    y = b.copy(x)
    _, dtype, shape = b.type(y)
    b.output("y", "tensor", dtype, shape)
    b.ret([y], [])
    program = _core.load_module(b.finish())
    d = Dispatcher(lambda s: Entry(program, [("leaf", 0)], [], ("leaf", 0)), ["x"])
    for words in (np.array(["a", "größer als fünfzehn Byte"]), np.array(["x"], object), Tensor(["y", "z"])):
        assert d(words).tolist() == words.tolist()
    assert d.misses == 1
