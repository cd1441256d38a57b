"""print within programs."""

import io
import subprocess
import sys
import threading

import numpy as np
import pytest

import msvm
from msvm import _core

DTYPE = {d.name: d for d in _core.DTYPES}
F32 = DTYPE["float32"]


def printing(template, dtype=F32, shape=None, *, repeat=1, opt=1, sizes=True):
    """A program x[n] -> x that prints the template with x and n."""
    b = _core.Builder("test")
    n = b.symbol("n")
    x = b.input("x", dtype, [n] if shape is None else shape)
    for _ in range(repeat):
        assert b.call("msvm.Print", [x], [n] if sizes else [], {"format": template}, []) == []
    b.output("y", "tensor", dtype, [n] if shape is None else shape)
    b.ret([b.copy(x)])
    return _core.load_module(b.finish(), {"opt": opt})


@pytest.mark.parametrize("opt", [0, 1])
@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("x = {0}, n = {1}\n", "x = [0. 1. 2.], n = 3\n"),
        ("{1} {0} {1:>4}\n", "3 [0. 1. 2.]    3\n"),
        ("{{}} {0!r}\n", "{} array([0., 1., 2.], dtype=float32)\n"),
        ("no operand", "no operand"),
        ("", ""),
        ("\u00e4\u4e2d{1}", "\u00e4\u4e2d3"),
    ],
)
def test_formats(template, expected, opt, capsys):
    printing(template, opt=opt).run([np.arange(3, dtype=np.float32)])
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{0.shape}", "operand that isn't a number"),
        ("{0[1]}", "operand that isn't a number"),
        ("{}", "operand that isn't a number"),
        ("{x}", "operand that isn't a number"),
        ("{-1}", "operand that isn't a number"),
        ("{2}", "operand 2 of 2"),
        ("{99999999999999}", "operand that isn't a number"),
        ("{0", "without a closing one"),
        ("{0:{1}}", "without a closing one"),
        ("}", "without an opening one"),
    ],
)
def test_wrong_formats_are_refused_before_anything_runs(template, message):
    with pytest.raises(msvm.Error, match=message):
        printing(template)


@pytest.mark.parametrize("dtype", [d for d in _core.DTYPES if d.name not in ("string", "bfloat16")], ids=str)
def test_dtypes(dtype, capsys):
    x = np.arange(4).astype(dtype.numpy)
    printing("{0}", dtype).run([x])
    assert capsys.readouterr().out == str(x)


def test_bfloat16_prints_its_values(capsys):
    printing("{0}", DTYPE["bfloat16"]).run([np.asarray([0x3F80, 0xC040], np.uint16)])
    assert capsys.readouterr().out == "[ 1. -3.]"


def test_strings(capsys):
    printing("{0}", DTYPE["string"]).run([np.asarray(["a", "b"], object)])
    assert capsys.readouterr().out == "['a' 'b']"


def test_rank_0_formats_like_a_number(capsys):
    printing("{0:.2f}|{0}", shape=[], sizes=False).run([np.asarray(1.5, np.float32)])
    assert capsys.readouterr().out == "1.50|1.5"


def test_equal_prints_stay(capsys):
    printing("a", repeat=3).run([np.zeros(1, np.float32)])
    assert capsys.readouterr().out == "aaa"


@pytest.mark.parametrize("opt", [0, 1])
def test_order_and_loops(opt, capsys):
    """Prints within a loop, on both sides of a branch, among calls that are fused."""
    b = _core.Builder("test")
    n = b.dim(b.scalar_input("n", "i64"))
    x = b.input("x", F32, [b.symbol("k")])
    shape = b.type(x)[2]
    b.call("msvm.Print", [], [n], {"format": "begin {0}\n"}, [])
    entry, head, body, odd, even, latch, end = [b.current()] + [b.new_block() for _ in range(6)]
    b.jump(head)
    b.set_block(head)
    i_reg = b.phi("i64")
    y = b.phi("tensor", F32, shape)
    i = b.dim(i_reg)
    b.branch_if(b.compare("lt", i, n), body, end)
    b.set_block(body)
    (z,) = b.call("Relu", b.call("Neg", [y], [], {}, [True]), [], {}, [True])
    b.branch_if(b.compare("eq", b.calc("mod", i, 2), 0), even, odd)
    for block, word in ((even, "even"), (odd, "odd")):
        b.set_block(block)
        b.call("msvm.Print", [z], [i], {"format": f"{word} {{1}} {{0}}\n"}, [])
        b.jump(latch)
    b.set_block(latch)
    after = b.calc("add", i, 1)
    (w,) = b.call("Neg", [z], [], {}, [True])
    b.jump(head)
    b.add_phi_dim(i_reg, entry, 0)
    b.add_phi_dim(i_reg, latch, after)
    b.add_phi_reg(y, entry, x)
    b.add_phi_reg(y, latch, w)
    b.set_block(end)
    b.call("msvm.Print", [y], [], {"format": "end {0}\n"}, [])
    b.output("y", "tensor", F32, shape)
    b.ret([b.copy(y)])
    f = _core.load_module(b.finish(), {"opt": opt})
    for _ in range(3):
        f.run([np.asarray(3), np.asarray([1, -2], np.float32)])
        assert capsys.readouterr().out == "begin 3\neven 0 [0. 2.]\nodd 1 [0. 2.]\neven 2 [0. 2.]\nend [-0. -2.]\n"
    f.run([np.asarray(0), np.asarray([1], np.float32)])
    assert capsys.readouterr().out == "begin 0\nend [1.]\n"


def test_errors_of_the_stream_and_of_formats_reach_the_caller(monkeypatch):
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError("gone")

    f = printing("{0}")
    x = np.zeros(2, np.float32)
    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(BrokenPipeError, match="gone"):
        f.run([x])
    monkeypatch.setattr(sys, "stdout", None)
    f.run([x])
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with pytest.raises(TypeError, match="format"):
        printing("{0:.3f}").run([x])
    f.run([x])
    assert sys.stdout.getvalue() == "[0. 0.]"


def test_threads(capsys):
    f = printing("{1}\n")
    threads = [threading.Thread(target=lambda k=k: [f.run([np.zeros(k, np.float32)]) for _ in range(50)]) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    lines = capsys.readouterr().out.split()
    assert sorted(lines) == sorted(str(k) for k in range(4) for _ in range(50))


def test_saved_programs_print(tmp_path):
    path = tmp_path / "p.msbc"
    printing("n = {1}\n").save(str(path).encode())
    code = f"import numpy as np, msvm; msvm.load({str(path)!r}).run({{'x': np.zeros(4, np.float32)}})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout == "n = 4\n"
