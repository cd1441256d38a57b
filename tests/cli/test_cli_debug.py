"""debug: the terminal's debugger, by scripts and by what is piped into it."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from command import MSVM, ROOT

sys.path.append(str(ROOT / "tests/dap"))
from modules import ADD, FOREVER, NECK, REFUSED, SUM  # noqa: E402
from modules import ROOT as NEGATIVE


@pytest.fixture
def debug(msvm_cli, tmp_path):
    """Debugs a program with lines of commands."""

    def run(text, *commands, args=(), name="program.msasm", **more):
        (tmp_path / name).write_text(text)
        return msvm_cli("debug", name, *args, stdin="".join(c + "\n" for c in commands), **more)

    return run


def after(done, command):
    """What a command printed."""
    return done.out.split(f"(msvm) {command}\n", 1)[1].split("(msvm) ", 1)[0]


def test_steps_and_the_listing(debug):
    done = debug(NECK, "step", "next 2", "s", "", "where", "continue", args=["--shape", "x=2x8x4x12"])
    assert done.code == 0 and done.err == ""
    first = done.out.split("(msvm)")[0]
    assert first.startswith("Stopped: entry\nBC-Instruction: TENSOR_CREATE offset 0x0\n")
    assert re.search(r'^=> +\d+    R0 "x" = TENSOR_CREATE input 0', first, re.M)
    assert re.search(r"^=> +\d+    R1 = SHAPE_PROPAGATE R0, 2", after(done, "step"), re.M) and re.search(
        r"R0 +x +TensorMeta +f32\[", after(done, "step")
    )
    assert after(done, "next 2").count("Stopped: step") == 2 and re.search(r"R2 +i64 +8", after(done, "next 2"))
    assert "TENSOR_ALLOC" in after(done, "s")
    assert re.search(
        r"\* 0 +BC-Instruction: TENSOR_ALLOC offset 0x\w+  msvm://bc/0x0/neck:\d+\n  1 +@forward\(f32\[2, 8, 4, 12\]\)",
        after(done, "where"),
    )
    assert "output y: f32[2, 4, 8, 24] = [" in after(done, "continue") and done.out.endswith("The program has ended.\n")


LOOKING = [
    "b Resize",
    "c",
    "info registers",
    "i call",
    "info symbols",
    "info breakpoints",
    "info threads",
    "info buffers",
    "info program",
    "info status",
    "p shape(R3)[3]",
    "p ms.vm.memory()",
    "values R3, 1, 0, 0, :",
    "save R3 r3.npy",
    "kernels",
    "list 1",
    "list",
    "disassemble 0x0 2",
    "disassemble",
    "up",
    "down",
    "help step",
    "q",
]
BREAKING = [
    "step",
    "set R0 = 12",
    "p R0",
    "break 14 if R1 == 3",
    "c",
    "p R2",
    "delete 1",
    "break program.msasm:14 hit 2",
    "c",
    "p R1",
    "d",
    "b @sum log n is {R0}",
    "break 99",
    "break *0x0",
    "info b",
    "catch nan fallback",
    "catch",
    "c",
]


def test_looking(debug, tmp_path):
    done = debug(NECK, *LOOKING, args=["-s", "x=2x8x4x12"])
    assert done.code == 0 and done.err == ""
    assert re.search(r"R0 +x +TensorMeta +f32\[.*\]  input 0 0x\w+  \*\n", after(done, "info registers")) and re.search(
        r"R1 +i64 +4  \*\n", after(done, "info registers")
    )
    assert re.search(r"Resize .*nearest.*\n +input +\S+ +R3 +f32\[.*\]  strides \[384, 48, 12, 1\]\n", after(done, "i call"))
    assert re.search(r"N +2 ", after(done, "info symbols"))
    assert after(done, "info breakpoints") == "Breakpoint 1: Resize\n"
    assert re.match(r"\* 1 ", after(done, "info threads"))
    assert re.search(r"0x\w+ +\d+ +input 0 +R0, R3", after(done, "info buffers"))
    assert after(done, "info program") == "msvm://bc/0x0/neck  neck bytecode\n"
    assert after(done, "info status") == "MS-VM: BC-Interpreter Mode\n"
    assert after(done, "p shape(R3)[3]") == "12\n" and "in_use" in after(done, "p ms.vm.memory()")
    assert re.match(r"f32\[12\]: (-?[\d.e-]+, ){11}-?[\d.e-]+\nmin -0.* max 0.* zeros 0 of 12\n", after(done, "values R3, 1, 0, 0, :"))
    assert np.load(tmp_path / "r3.npy").shape == (2, 4, 4, 12)
    assert re.search(r"^=> +\w+ +[\d.]+ \w+", after(done, "kernels"), re.M)
    assert 'module "neck"' in after(done, "list 1") and "RETURN" in after(done, "list")
    assert (
        next(line.split()[0] for line in after(done, "disassemble 0x0 2").splitlines()) == "0x0"
        and len(after(done, "disassemble 0x0 2").splitlines()) == 2
    )
    assert re.search(r"^=> +0x\w+ +OP_CALL", after(done, "disassemble"), re.M)
    assert after(done, "up").startswith("1  @forward(") and after(done, "down").startswith("0  BC-Instruction")
    assert after(done, "help step").startswith("  step (s)")


def test_breakpoints(debug):
    done = debug(SUM, *BREAKING, args=["--range", "n=10:10"])
    assert done.code == 0 and done.err == "", done
    assert after(done, "break 14 if R1 == 3") == "Breakpoint 1: 14 if R1 == 3\n"
    assert after(done, "p R2") == "3\n"
    assert int(after(done, "p R1")) >= 4
    assert "(not bound" in after(done, "break 99")
    assert after(done, "set R0 = 12") == "R0 = 12\n"
    assert "output 0: 66\n" in done.out


def test_errors_are_told_and_passed(debug):
    done = debug(
        SUM,
        "fly",
        "step many",
        "break",
        "print",
        "print R99",
        "set",
        "set R0",
        "delete 7",
        "catch rain",
        "info weather",
        "frame 9",
        "thread 9",
        "save R0",
        "finish",
        "step",
        args=["--range", "n=1:1"],
    )
    assert done.code == 0
    for text in (
        'no command "fly"',
        'how often, found "many"',
        "expected an expression",
        "R99",
        "R3 = VALUE",
        "no breakpoint 7",
        "failure, fallback or nan",
        "registers, call,",
        "thread 9",
        "EXPRESSION FILE.npy",
        "the program has ended",
    ):
        assert text in done.err, (text, done.err)
    assert "The program has ended." in done.out


def test_scripts(msvm_cli, tmp_path):
    (tmp_path / "sum.msasm").write_text(SUM)
    (tmp_path / "good").write_text("# to the end\n\nfinish\n")
    done = msvm_cli("debug", "sum.msasm", "--range", "n=3:3", "-x", "good")
    assert done.code == 0 and "output 0: 3" in done.out and "(msvm) # to the end" in done.out
    (tmp_path / "bad").write_text("step\nprint nothing\nfinish\n")
    done = msvm_cli("debug", "sum.msasm", "--range", "n=3:3", "-x", "bad")
    assert done.code == 1 and "nothing" in done.err and "output 0" not in done.out
    assert msvm_cli("debug", "sum.msasm", "--range", "n=3:3", "-x", "nowhere").code in (1, 3)


def test_scripts_that_go_wrong_say_where(msvm_cli, tmp_path):
    (tmp_path / "sum.msasm").write_text(SUM)
    (tmp_path / "bad").write_text("step\n\nprint nothing\nfinish\n")
    done = msvm_cli("debug", "sum.msasm", "--range", "n=3:3", "-x", "bad")
    assert done.code == 1 and done.err.startswith("error: bad:3: "), done.err
    # A breakpoint that never finds its place: the program runs to its end, and the exit code tells.
    (tmp_path / "lost").write_text("break Conv\nbreak @sum\ndelete 2\nbreak Relu\ndelete 3\ncontinue\n")
    done = msvm_cli("debug", "sum.msasm", "--range", "n=3:3", "-x", "lost")
    assert done.code == 1 and "output 0: 3" in done.out
    assert done.err == "error: lost:1: breakpoint 1 found no place in what was loaded: break Conv\n"
    done = msvm_cli("debug", "sum.msasm", "--range", "n=4:4", "-e", "break 13 hit 2", "-e", "continue", "-e", "print R1", "-e", "quit")
    assert done.code == 0 and done.err == "" and "(msvm) print R1\n1\n" in done.out, done
    assert done.out.index("Breakpoint 1: 13 hit 2") < done.out.index("Stopped: entry")
    done = msvm_cli("debug", "sum.msasm", "--range", "n=4:4", "-e", "fly")
    assert done.code == 1 and done.err.startswith('error: -e "fly": there is no command "fly"')


def test_options_of_the_program_stand_behind_commands(msvm_cli, tmp_path):
    (tmp_path / "args.py").write_text("import sys\nprint(sys.argv[1:])\n")
    done = msvm_cli("debug", "args.py", "--python", sys.executable, "-e", "continue", "--", "-x", "foo", "--attach", "3")
    assert "['-x', 'foo', '--attach', '3']" in done.out, (done.out, done.err)


WHOLE = """module "whole" version 1
symbol N

func @main(x: i64[N]) -> (y: i64[N])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], i64, CPU(0)
  OP_CALL Abs(R0) -> R1
  RETURN R1
"""


def test_figures_of_integers_are_exact(msvm_cli, tmp_path):
    (tmp_path / "whole.msasm").write_text(WHOLE)
    x = np.array([2190246328743654051, -9007199254740993, 1], np.int64)
    np.save(tmp_path / "x.npy", x)
    commands = ["step", "print max(R0)", "print min(R0)", "print sum(R0)", "print max(R0) == R0[0]", "finish"]
    done = msvm_cli("debug", "whole.msasm", "--input", "x=x.npy", *[word for c in commands for word in ("-e", c)])
    for text in (f"max(R0)\n{x[0]}\n", f"min(R0)\n{x[1]}\n", f"sum(R0)\n{x.sum()}\n", "== R0[0]\ntrue\n"):
        assert text in done.out, (done.out, done.err)


def test_list_begins_where_the_program_stands(msvm_cli, tmp_path):
    (tmp_path / "whole.msasm").write_text(WHOLE)
    done = msvm_cli("debug", "whole.msasm", "-s", "x=2", "-e", "next", "-e", "list", "-e", "list")
    last = len(done.out.split("(msvm) list\n")[1].splitlines())
    assert last > 5 and "=>" in done.out.split("(msvm) list\n")[1] and "RETURN R1" in done.out.split("(msvm) list\n")[1]
    assert done.code == 1 and re.search(r"there is no line \d+: the last one is \d+\n", done.err), done


EMPTY = """module "empty" version 1
symbol N

func @main(x: f32[N]) -> (y: f32[N])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1
"""


def test_what_is_not_there(debug):
    done = debug(
        EMPTY,
        "list 99999",
        "list 10",
        "list",
        "help foo",
        "break Relu if",
        "break Relu hit",
        "break Relu log",
        "info breakpoints",
        "step",
        "values R0",
        args=["-s", "x=0"],
    )
    assert done.code == 0
    assert "error: there is no line 99999: the last one is " in done.err, done.err
    assert 'there is no command "foo"' in done.err
    for what in ("an expression after if", "how often after hit", "a text after log"):
        assert f"expected {what}" in done.err, done.err
    assert after(done, "info breakpoints") == "no breakpoints\n"
    assert after(done, "values R0") == "f32[0]: \nno elements: NaN 0  Inf 0  zeros 0 of 0\n"


def test_programs_that_fail(debug):
    done = debug(ADD, "continue", args=["-s", "x=2x3", "-s", "y=2x4", "-s", "z=2"])
    assert done.err.startswith("error: input 1 (y): expected f32[N, M], found f32[2, 4]")
    assert done.code == 1 and "Stopped: exception" in done.out and "\nfix: " in done.out and "has ended with exit code 1" in done.out
    done = debug(NEGATIVE, "catch nan", "continue", "print any_nan(R1)", "catch", "continue", args=["-s", "x=4", "--range", "x=-2:-1"])
    assert done.code == 0 and after(done, "print any_nan(R1)") == "true\n"
    done = debug(REFUSED, args=["-s", "x=4"])
    assert done.code == 1 and "MSV" in done.err and done.err.count("MSV0") <= 2, done.err
    done = debug("nonsense")
    assert done.code == 1 and "program.msasm" in done.err


def test_usage(msvm_cli, tmp_path):
    (tmp_path / "sum.msasm").write_text(SUM)
    assert msvm_cli("debug").code == 2
    assert msvm_cli("debug", "sum.msasm", "--attach", "1").code == 2
    assert msvm_cli("debug", "sum.msasm", "--native", "fast").code == 2
    done = msvm_cli("debug", "sum.msasm", "-i", "n")
    assert done.code == 1 and "NAME=FILE.npy" in done.err
    done = msvm_cli("debug", "sum.msasm", "--function", "other")
    assert done.code == 1 and "expected one of sum" in done.err
    for program in ("nofile.msasm", "nofile.onnx", "nofile.py"):
        done = msvm_cli("debug", program)
        assert done.code == 3 and program in done.err, done
    done = msvm_cli("debug", "--attach", "999999")
    assert done.code != 0 and "999999" in done.err
    for pid in ("0", "-3", "me"):
        done = msvm_cli("debug", "--attach", pid)
        assert done.code == 2 and f'a number from 1, found "{pid}"' in done.err, done.err


def test_results_to_a_file(debug, tmp_path):
    done = debug(NECK, "continue", args=["-s", "x=2x8x4x12", "-o", "y.npy", "-n", "3"])
    assert done.code == 0 and np.load(tmp_path / "y.npy").shape == (2, 4, 8, 24)


def test_each_run_of_several_ends_at_the_next(debug):
    done = debug(
        SUM,
        "break 14 if R1 == 4",
        "finish",
        "print R0",
        "step",
        "continue",
        "delete",
        "finish",
        "finish",
        args=["--range", "n=5:5", "-n", "3"],
    )
    assert done.code == 0 and done.err == "", done
    assert after(done, "finish").startswith("Stopped: breakpoint\n"), done.out
    stops = re.findall(r"^(Stopped: .*|The program has ended\.)$", done.out, re.M)
    first, second, third = ["Stopped: entry", "Stopped: breakpoint", "Stopped: step"], ["Stopped: breakpoint"], ["Stopped: entry"]
    assert stops == [*first, *second, *third, "The program has ended."]


def test_ctrl_c_pauses(tmp_path):
    (tmp_path / "forever.msasm").write_text(FOREVER)
    p = subprocess.Popen(
        [MSVM, "debug", "forever.msasm"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MSVM_CACHE_DIR": str(tmp_path / "code")},
    )
    p.stdin.write("continue\nprint 1 + 1\nquit\n")
    p.stdin.flush()
    for line in p.stdout:
        if line == "(msvm) continue\n":
            break
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=30)
    assert p.returncode == 0 and err == ""
    assert "Stopped: pause" in out and "(msvm) print 1 + 1\n2\n" in out
