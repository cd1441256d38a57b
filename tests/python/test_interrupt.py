"""Ctrl-C, other signals, and threads that run programs when the process ends."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import msvm
from msvm import _core

DTYPE = {d.name: d for d in _core.DTYPES}
F32 = DTYPE["float32"]

# What children run, too.
LOOPS = """
import os, signal, sys, threading, time
import numpy as np
import msvm
from msvm import _core

F32 = {d.name: d for d in _core.DTYPES}["float32"]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background with SIGINT ignored

def loop(op="Relu"):
    '''A program x[k], n -> op applied n times.'''
    b = _core.Builder("test")
    n = b.dim(b.scalar_input("n", "i64"))
    x = b.input("x", F32, [b.symbol("k")])
    shape = b.type(x)[2]
    entry, head, body, end = [b.current()] + [b.new_block() for _ in range(3)]
    b.jump(head)
    b.set_block(head)
    i_reg = b.phi("i64")
    y = b.phi("tensor", F32, shape)
    i = b.dim(i_reg)
    b.branch_if(b.compare("lt", i, n), body, end)
    b.set_block(body)
    z = y
    if op:
        (z,) = b.call(op, [y], [], {}, [True])
    after = b.calc("add", i, 1)
    b.jump(head)
    b.add_phi_dim(i_reg, entry, 0)
    b.add_phi_dim(i_reg, body, after)
    b.add_phi_reg(y, entry, x)
    b.add_phi_reg(y, body, z)
    b.set_block(end)
    b.output("y", "tensor", F32, shape)
    b.ret([b.copy(y)])
    return _core.load_module(b.finish(), {"opt": 0})

def product(jit_level="O0"):
    b = _core.Builder("test")
    x = b.input("x", F32, [b.symbol("n"), b.symbol("k")])
    y = b.input("y", F32, [b.type(x)[2][1], b.symbol("m")])
    (z,) = b.call("MatMul", [x, y], [], {}, [True])
    b.output("z", "tensor", F32, b.type(z)[2])
    b.ret([z])
    return _core.load_module(b.finish(), {"jit_level": jit_level})
"""
exec(LOOPS)

FOREVER = 1 << 60


def interrupted(run, after=0.15):
    """Seconds between SIGINT and the KeyboardInterrupt of what `run` does."""
    sent = []

    def send():
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    t = threading.Thread(target=send)
    t.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
        return time.perf_counter() - sent[0]
    finally:
        t.join()


@pytest.mark.parametrize("op", ["Relu", ""])
def test_a_loop_stops_and_everything_is_usable(op):
    f = loop(op)  # noqa: F821
    x = np.ones(8, np.float32)
    for _ in range(2):
        assert interrupted(lambda: f.run([np.asarray(FOREVER), x])) < 1  # the machine may be loaded; alone it is 0.02
        np.testing.assert_array_equal(f.run([np.asarray(3), x])[0], x)


def test_a_long_kernel_stops():
    f = product()  # noqa: F821
    n = 4096
    x = np.ones((n, n), np.float32)
    f.run([x[:8], x[:, :8]])
    begin = time.perf_counter()
    f.run([x, x])
    whole = time.perf_counter() - begin
    rows = int(n * max(1.0, 3.0 / whole))  # some seconds
    tall = np.broadcast_to(x[:1], (rows, n)).copy()
    took = interrupted(lambda: f.run([tall, x]))
    assert took < 1
    np.testing.assert_array_equal(f.run([x[:2], x[:, :3]])[0], np.full((2, 3), n, np.float32))


WORK = {
    "sort": (1 << 22, lambda x: msvm.ops.sort(x)),
    "topk": (1 << 22, lambda x: msvm.ops.topk(x, len(x) // 2)),
    "unique": (1 << 21, lambda x: msvm.ops.unique(x)),
    "logcumsumexp": (1 << 23, lambda x: msvm.ops.logcumsumexp(x, 0)),
}
"""A fraction of a second each, alone on the machine."""


@pytest.mark.parametrize("name", WORK)
def test_work_in_one_piece_stops(name):
    count, work = WORK[name]
    x = np.random.default_rng(5).permutation(np.arange(count, dtype=np.float32))
    begin = time.perf_counter()
    work(x)
    whole = time.perf_counter() - begin

    def again_and_again():
        while True:
            work(x)

    assert min(interrupted(again_and_again, after=whole / 2) for _ in range(3)) < whole / 3
    values = msvm.ops.sort(np.array([3, 1, 2], np.float32))[0]
    assert values.asnumpy().tolist() == [1, 2, 3]


def test_other_threads_go_on():
    f = loop()  # noqa: F821
    done = []
    t = threading.Thread(target=lambda: done.append(f.run([np.asarray(200_000), np.ones(8, np.float32)])[0]))
    t.start()
    interrupted(lambda: f.run([np.asarray(FOREVER), np.ones(4, np.float32)]), after=0.05)
    t.join()
    np.testing.assert_array_equal(done[0], np.ones(8, np.float32))


def test_handlers_that_do_not_raise_let_it_go_on():
    f = loop()  # noqa: F821
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *a: seen.append(time.perf_counter()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        begin = time.perf_counter()
        n = 100_000
        while not seen or seen[0] > time.perf_counter() - 0.02:  # seen while it ran, not after
            begin = time.perf_counter()
            seen.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            np.testing.assert_array_equal(f.run([np.asarray(n), np.ones(8, np.float32)])[0], np.ones(8, np.float32))
            n *= 2
        assert seen[0] - begin >= 0.04
    finally:
        signal.signal(signal.SIGALRM, before)


def test_handlers_raise_what_they_want():
    class MineError(Exception):
        pass

    def handler(*a):
        raise MineError

    f = loop()  # noqa: F821
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(MineError):
            f.run([np.asarray(FOREVER), np.ones(8, np.float32)])
    finally:
        signal.signal(signal.SIGALRM, before)


def test_within_a_kernel():
    from msvm.ops import custom

    custom("test_interrupt.sleep", lambda x: x, lambda x: (time.sleep(30), x)[1])
    b = _core.Builder("test")
    x = b.input("x", F32, [b.symbol("k")])
    (y,) = b.call_declared("test_interrupt.sleep", [x], [], {}, [(F32, b.type(x)[2])])
    b.output("y", "tensor", F32, b.type(y)[2])
    b.ret([y])
    f = _core.load_module(b.finish())
    assert interrupted(lambda: f.run([np.ones(2, np.float32)])) < 1


def child(code, **kw):
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(msvm.__file__))}  # noqa: PTH120
    return subprocess.run([sys.executable, "-c", LOOPS + code], capture_output=True, text=True, timeout=60, check=False, env=env, **kw)


ENDINGS = {
    "in a loop": "f = loop()\nrun = lambda: f.run([np.asarray(1 << 60), np.ones(8, np.float32)])",
    "in a loop of sizes": "f = loop('')\nrun = lambda: f.run([np.asarray(1 << 60), np.ones(8, np.float32)])",
    "in many short runs": "f = loop()\ndef run():\n  while True: f.run([np.asarray(3), np.ones(8, np.float32)])",
    "in a large product": "f = product()\nx = np.ones((3000, 3000), np.float32)\ndef run():\n  while True: f.run([x, x])",
    "in a kernel of Python": """
from msvm.ops import custom
def kernel(x):
    for _ in range(10): x + x
    return x
g = custom("test.k", lambda x: x, kernel)
b = _core.Builder("test")
x = b.input("x", F32, [b.symbol("k")])
(y,) = b.call_declared("test.k", [x], [], {}, [(F32, b.type(x)[2])])
b.output("y", "tensor", F32, b.type(y)[2])
b.ret([y])
f = _core.load_module(b.finish())
def run():
  while True: f.run([np.ones(8, np.float32)])""",
    "in print": """
b = _core.Builder("test")
x = b.input("x", F32, [b.symbol("k")])
b.call("msvm.Print", [x], [], {"format": "{0}\\\\n"}, [])
b.output("y", "tensor", F32, b.type(x)[2])
b.ret([b.copy(x)])
f = _core.load_module(b.finish())
class Sink:  # CPython itself aborts where a daemon thread holds the lock of a buffered file at the end
  def write(self, text): pass
  def flush(self): pass
sys.stdout = Sink()
def run():
  while True: f.run([np.ones(8, np.float32)])""",
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("where", ENDINGS)
def test_daemon_threads_end_with_the_process(where, threads):
    for _ in range(2):
        found = child(f"{ENDINGS[where]}\nfor _ in range({threads}): threading.Thread(target=run, daemon=True).start()\ntime.sleep(0.2)\n")
        assert (found.returncode, found.stderr) == (0, "")


def test_ctrl_c_ends_a_script_as_python_does():
    code = LOOPS + "f = loop()\nprint('ready', flush=True)\nf.run([np.asarray(1 << 60), np.ones(8, np.float32)])\n"
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(msvm.__file__))}  # noqa: PTH120
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as p:
        assert p.stdout.readline() == "ready\n"
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=30)
    assert p.returncode == -signal.SIGINT and "KeyboardInterrupt" in err
