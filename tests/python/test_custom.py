"""Operators of the user: Python kernels and C functions within programs."""

import ctypes
import gc
import subprocess
import sys
import sysconfig
import threading
import traceback
import weakref
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import msvm
from msvm import _core
from msvm.ops import TensorSpec, custom

DTYPE = {d.name: d for d in _core.DTYPES}
F32, I64 = DTYPE["float32"], DTYPE["int64"]
_names = count()


def fresh(stem):
    """A name that no other test registers."""
    return f"test{next(_names)}.{stem}"


def program(build, **kw):
    """A program of what `build(builder)` returns: the results, as (register, dtype, shape)."""
    b = _core.Builder("test")
    results = build(b)
    for k, r in enumerate(results):
        _, dtype, shape = b.type(r)
        b.output(f"y{k}", "tensor", dtype, shape)
    b.ret(results)
    return _core.load_module(b.finish(), kw)


def register(kernel, name=None, **kw):
    """Under a fresh name, without a shape function: programs declare what comes out."""
    name = name or fresh("f")
    custom(name, lambda *a, **k: None, kernel, **kw)
    return name


def one(name, shape, dtype=F32, in_dtype=F32, attrs=None, **kw):
    """A program x[n, m] -> name(x): dtype[shape(n, m)]."""

    def build(b):
        n, m = b.symbol("n"), b.symbol("m")
        x = b.input("x", in_dtype, [n, m])
        return b.call_declared(name, [x], [], attrs or {}, [(dtype, shape(b, n, m))])

    return program(build, **kw)


def same(b, n, m):
    return [n, m]


SHAPES = [(2, 3), (1, 1), (0, 3), (5, 0), (7, 13)]


@pytest.mark.parametrize("opt", [0, 1])
def test_values_at_all_sizes(opt):
    f = one(register(lambda x: np.sin(x) * 2), same, opt=opt)
    for shape in SHAPES:
        x = np.random.default_rng(0).random(shape, np.float32)
        np.testing.assert_array_equal(f.run([x])[0], np.sin(x) * 2)


DTYPES = [d for d in _core.DTYPES if d.name not in ("string", "bfloat16")]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(dtype):
    f = one(register(lambda x: x[::-1].copy()), same, dtype, dtype)
    x = np.arange(12).reshape(4, 3).astype(dtype.numpy)
    y = f.run([x])[0]
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x[::-1])


def test_bfloat16_is_its_bits():
    bf16 = DTYPE["bfloat16"]
    f = one(register(lambda x: x + np.uint16(1)), same, bf16, bf16)
    np.testing.assert_array_equal(f.run([np.full((2, 2), 0x3F80, np.uint16)])[0], np.full((2, 2), 0x3F81, np.uint16))


def test_out_is_filled():
    def kernel(x, *, out, k):
        np.multiply(x, k, out=out)

    f = one(register(kernel), same, attrs={"k": 3})
    for shape in SHAPES:
        x = np.ones(shape, np.float32)
        np.testing.assert_array_equal(f.run([x])[0], x * 3)


def test_attributes_sizes_and_absent_inputs():
    seen = []

    def kernel(x, nothing, n, m, *, i, f, s, t, v):
        seen.append((nothing, n, m, i, f, s, t, v))
        return x[:n, :m]

    name = register(kernel)

    def build(b):
        n, m = b.symbol("n", 2), b.symbol("m", 1)
        x = b.input("x", F32, [n, m])
        attrs = {"i": 3, "f": 0.5, "s": "a{b}", "t": I64, "v": [1, 2]}
        return b.call_declared(name, [x, -1], [2, m], attrs, [(F32, [2, m])])

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(program(build).run([x])[0], x[:2])
    assert seen == [(None, 2, 3, 3, 0.5, "a{b}", I64, (1, 2))]


def test_sizes_that_only_the_kernel_knows():
    name = register(lambda x: np.argwhere(x > 0).astype(np.int64))
    f = one(name, lambda b, n, m: [None, 2], I64)
    for shape in SHAPES:
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        np.testing.assert_array_equal(f.run([x])[0], np.argwhere(x > 0))
    with pytest.raises(msvm.Error, match=r"found i64\[0, 3\]|has size 3, expected 2"):
        one(register(lambda x: np.zeros((0, 3), np.int64)), lambda b, n, m: [None, 2], I64).run([np.ones((1, 1), np.float32)])


def test_several_outputs_feed_on():
    name = register(lambda x: (x.sum(0), x.max(1)))

    def build(b):
        n, m = b.symbol("n", 1), b.symbol("m", 1)
        x = b.input("x", F32, [n, m])
        s, t = b.call_declared(name, [x], [], {}, [(F32, [m]), (F32, [n])])
        return b.call("Relu", [s], [], {}, [True]) + b.call("Neg", [t], [], {}, [True])

    x = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
    s, t = program(build).run([x])
    np.testing.assert_allclose(s, np.maximum(x.sum(0), 0), rtol=1e-6)
    np.testing.assert_array_equal(t, -x.max(1))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda x: x.astype(np.float64), r"output 0: expected f32.*gave f64\[2, 3\]"),
        (lambda x: x[:1], r"expected f32\[2, 3\], the kernel gave f32\[1, 3\]"),
        (lambda x: x.reshape(-1), r"expected f32\[2, 3\], the kernel gave f32\[6\]"),
        (lambda x: (x, x), "expected 1 arrays from the kernel, found tuple of 2"),
        (lambda x: None, r"output 0: expected"),
        (lambda x: "text", r"output 0: expected"),
        (lambda x: {}, r"output 0: expected"),
    ],
)
def test_wrong_results(kernel, message):
    f = one(register(kernel), same)
    for _ in range(2):
        with pytest.raises(msvm.InputError, match=message):
            f.run([np.ones((2, 3), np.float32)])


class SpecialError(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


@pytest.mark.parametrize("error", [SpecialError(1, 2), KeyError("k"), KeyboardInterrupt(), SystemExit(3), MemoryError()], ids=repr)
def test_exceptions_reach_the_caller_as_they_are(error):
    def kernel(x):
        raise error

    f = one(register(kernel), same)
    for _ in range(3):
        with pytest.raises(type(error)) as caught:
            f.run([np.ones((2, 3), np.float32)])
        assert caught.value is error
        assert any(frame.name == "kernel" for frame in traceback.extract_tb(caught.value.__traceback__))
        if isinstance(error, Exception):
            assert any("OP_CALL" in note for note in error.__notes__)


def test_a_failed_run_keeps_nothing():
    class Big(np.ndarray):
        pass

    made = []

    def kernel(x):
        big = np.zeros(1000).view(Big)
        made.append(weakref.ref(big))
        raise ValueError("no")

    f = one(register(kernel), same)
    for _ in range(5):
        with pytest.raises(ValueError, match="no"):
            f.run([np.ones((2, 3), np.float32)])
    gc.collect()
    assert not any(r() is not None for r in made)


def test_inputs_are_read_only_views():
    where = []

    def kernel(x):
        assert not x.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1
        where.append(x.__array_interface__["data"][0])
        return x

    x = np.ones((2, 3), np.float32)
    one(register(kernel), same).run([x])
    assert where == [x.__array_interface__["data"][0]]


def test_what_is_kept_is_named_and_survives():
    kept = []

    def kernel(x):
        kept.append(x)
        return x

    f = one(register(kernel), same)
    with pytest.raises(RuntimeError, match=r"keeps input 0 beyond its call.*x\.copy"):
        f.run([np.full((2, 3), 7, np.float32)])
    np.testing.assert_array_equal(kept[0], np.full((2, 3), 7, np.float32))
    assert kept[0].flags.owndata


def test_locals_of_a_traceback_survive():
    def kernel(x):
        raise ValueError("no")

    x = np.full((300, 300), 7, np.float32)
    with pytest.raises(ValueError, match="no") as caught:
        one(register(kernel), same).run([x])
    frame = caught.tb
    while frame.tb_next:
        frame = frame.tb_next
    del x
    found = frame.tb_frame.f_locals["x"]
    assert found.flags.owndata or isinstance(found.base, bytes)
    assert (found == 7).all()


def test_names_and_definitions():
    name = fresh("g")
    f, g = (lambda x: x + 1), (lambda x: x + 2)

    def shape(x):
        return x

    first = custom(name, shape, f)
    assert custom(name, shape, f) is first
    with pytest.raises(msvm.InputError, match=r"there is an operator .*replace=True"):
        custom(name, shape, g)
    old = one(name, same)
    x = np.zeros((2, 2), np.float32)
    custom(name, shape, g, replace=True)
    new = one(name, same)
    assert (old.run([x])[0] == 1).all() and (new.run([x])[0] == 2).all()
    for bad in ("msvm.Print", "ai.onnx.x.y", "a b.c", ".x", "x.", "x..y", "x.1"):
        with pytest.raises(msvm.InputError):
            custom(bad, shape, f)
    with pytest.raises(msvm.InputError, match="a callable"):
        custom(fresh("h"), shape, 3)


def test_kernels_go_with_their_programs():
    def make():
        def kernel(x):
            return x

        return kernel

    kernel = make()
    gone = weakref.ref(kernel)
    name = register(kernel)
    program = one(name, same)
    custom(name, lambda x: x, make(), replace=True)
    del kernel
    gc.collect()
    assert gone() is not None
    program.run([np.ones((1, 1), np.float32)])
    del program
    gc.collect()
    assert gone() is None


def test_an_unregistered_name_is_a_load_error(tmp_path):
    name = fresh("saved")
    register(lambda x: x * 2, name)
    path = tmp_path / "p.msbc"
    one(name, same).save(str(path).encode())
    code = f"import msvm; msvm.load({str(path)!r})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 1
    assert f"there is no operator {name}" in found.stderr and "register it before the program is loaded" in found.stderr
    (y,) = msvm.load(path).run({"x": np.ones((2, 2), np.float32)})
    assert (y == 2).all()


def test_pure_calls_go_where_nobody_needs_them():
    runs = []
    for pure in (True, False):
        name = register(lambda x, pure=pure: (runs.append(pure), x)[1], pure=pure)

        def build(b, name=name):
            x = b.input("x", F32, [b.symbol("n")])
            shape = b.type(x)[2]
            b.call_declared(name, [x], [], {}, [(F32, shape)])
            twice = [b.call_declared(name, [x], [], {}, [(F32, shape)])[0] for _ in range(2)]
            return b.call("Add", twice, [], {}, [True])

        f = program(build, opt=1)
        np.testing.assert_array_equal(f.run([np.ones(3, np.float32)])[0], np.full(3, 2, np.float32))
    assert runs == [True] + [False] * 3


def test_threads_and_nested_programs():
    inner = one(register(lambda x: x + 1), same)
    f = one(register(lambda x: inner.run([x])[0] * 2), same)
    failed = []

    def work(k):
        for i in range(50):
            x = np.full((1 + k, 1 + i % 5), k, np.float32)
            if not (f.run([x])[0] == 2 * (k + 1)).all():
                failed.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_the_right_thread_gets_the_exception():
    def kernel(x):
        raise ValueError(str(threading.get_ident()))

    f = one(register(kernel), same)
    failed = []

    def work():
        for _ in range(50):
            try:
                f.run([np.ones((1, 1), np.float32)])
                failed.append("no exception")
            except ValueError as e:
                if str(e) != str(threading.get_ident()):
                    failed.append("another thread's")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_eager_and_shape_function():
    seen = []

    def shape(x, k, *, scale):
        seen.append((x.dtype, len(x.shape)))
        return (x.shape[0], x.shape[1] * k), x.dtype

    f = custom(fresh("tile"), shape, lambda x, k, *, scale: np.tile(x, (1, k)) * scale)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(np.asarray(f(x, 2, scale=3.0)), np.full((2, 6), 3, np.float32))
    assert seen == [(F32, 2)]


def test_in_compiled_functions():
    def shape(x, y, n, *, twice):
        assert isinstance(x, TensorSpec)
        return [((x.shape[0] * n, *y.shape), x.dtype), ((None,), "int64")]

    def kernel(x, y, n, *, twice):
        return np.ones((x.shape[0] * n, *y.shape), np.float32) * (2 if twice else 1), np.arange(n)

    f = custom(fresh("grid"), shape, kernel)

    @msvm.jit
    def g(x, y, n):
        total = x[0] * 0
        for i in range(n):
            a, b = f(x, y, i + 1, twice=True)
            total = total + a.sum() + b.sum().astype(F32)
        a, b = f(x, y, n, twice=True)
        return total, a.shape[0], b.shape[0]

    for rows, cols, n in ((2, 3, 3), (1, 0, 1), (4, 1, 2)):
        total, size, count = g(msvm.Tensor(np.ones(rows, np.float32)), msvm.Tensor(np.ones(cols, np.float32)), msvm.mutable(n))
        assert (size, count) == (rows * n, n)
        assert float(np.asarray(total)) == sum(2 * rows * (i + 1) * cols + i * (i + 1) // 2 for i in range(n))


@pytest.mark.parametrize("given", [3, ([2], "complex64"), [[2]], ([2], F32, 1)], ids=str)
def test_wrong_shape_functions(given):
    with pytest.raises((msvm.InputError, TypeError)):
        custom(fresh("f"), lambda x: given, lambda x: x)(np.ones(2, np.float32))


def test_profiles_name_them():
    name = register(lambda x: x)
    f = one(name, same)
    f.set_profiling(True)
    f.run([np.ones((2, 3), np.float32)])
    assert [(r["operator"], r["kernel"]) for r in f.profile() if r["operator"]] == [(name, "registered")]


# --- C -------------------------------------------------------------------------------------------------------------------


C_SOURCE = r"""
#include "msvm/kernels/operator_c.h"
/* Scales row-major f32; a second output, if there is one, holds the positive elements. */
int scale(void* state, const msvm_call* c) {
  double k = 1;
  c->float_attribute(c, "k", &k);
  if (k < 0) { c->set_error(c, "k is negative"); return 7; }
  const msvm_tensor* x = &c->inputs[0];
  int64_t n = 1, positive = 0;
  for (int a = 0; a < x->rank; ++a) n *= x->shape[a];
  const float* in = x->data;
  float* out = c->outputs[0].data;
  for (int64_t i = 0; i < n; ++i) { out[i] = in[i] * (float)k; positive += in[i] > 0; }
  if (c->num_outputs == 1) return 0;
  int failed = c->allocate_output(c, 1, 1, &positive);
  if (failed) return failed;
  float* p = c->outputs[1].data;
  for (int64_t i = 0; i < n; ++i) if (in[i] > 0) *p++ = in[i];
  return 0;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    (folder / "k.c").write_text(C_SOURCE)
    source = Path(__file__).resolve().parents[2] / "src"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    options = ["-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{source}"]
    subprocess.run([compiler, *options, "-o", folder / "k.so", folder / "k.c"], check=True, timeout=60)
    return ctypes.CDLL(str(folder / "k.so"))


def test_c_functions(library):
    name = register(library.scale)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(one(name, same, attrs={"k": 2.0}).run([x])[0], x * 2)
    with pytest.raises(msvm.InputError, match="k is negative"):
        one(name, same, attrs={"k": -1.0}).run([x])


def test_c_functions_allocate(library):
    name = register(library.scale)

    def build(b):
        n = b.symbol("n")
        x = b.input("x", F32, [n])
        return b.call_declared(name, [x], [], {}, [(F32, [n]), (F32, [None])])

    x = np.asarray([1, -2, 3], np.float32)
    y, positive = program(build).run([x])
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(positive, [1, 3])


def test_c_capsules(library):
    api = ctypes.pythonapi
    api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = api.PyCapsule_New(ctypes.cast(library.scale, ctypes.c_void_p), b"msvm_kernel", None)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(one(register(capsule), same, attrs={"k": 5.0}).run([x])[0], x * 5)
