"""debug: Python programs with jitted functions in the terminal; what becomes of breakpoints and their conditions."""

import re
import sys
import textwrap

import pytest
from command import ROOT

PROGRAM = """
    import helper
    import numpy as np
    import msvm as ms

    @ms.jit
    def mixed(x, w):
        y = ms.ops.matmul(x, w)
        # the sum
        return y + 1.0

    def add(a, b):
        return a + b

    def main():
        x = np.ones((2, 3), np.float32)
        w = np.ones((3, 4), np.float32)
        total = 0.0
        for _ in range(2):
            total = add(total, float(np.asarray(mixed(x, w)).sum()))
        print("total", helper.checked(total))

    main()
"""
"""Line 9: a comment in the jitted function; 20: a line of Python that is met twice; 23 is the last."""


@pytest.fixture
def debug(msvm_cli, tmp_path):
    """Debugs the program with commands of -e, then with those that are typed."""
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "helper.py").write_text("def checked(value):\n    return value\n")
    (tmp_path / "run").mkdir(mode=0o700)
    environment = {"PYTHONPATH": str(ROOT / "build/release/python"), "XDG_RUNTIME_DIR": str(tmp_path / "run")}

    def run(*commands, typed=()):
        given = [word for c in commands for word in ("-e", c)]
        return msvm_cli("debug", "program.py", "--python", sys.executable, *given, stdin="".join(c + "\n" for c in typed), env=environment)

    return run


def after(done, command):
    """What a command printed."""
    return done.out.split(f"(msvm) {command}\n", 1)[1].split("(msvm) ", 1)[0]


def test_breakpoints_that_are_never_met_are_told(debug):
    done = debug("break nosuch", "break add", "break nofile.py:3", "continue", "delete 2", "continue")
    assert done.code == 1 and "total 64.0" in done.out, (done.out, done.err)
    assert done.err.splitlines() == [
        'error: -e "break nosuch": breakpoint 1 found no place in what was loaded: break nosuch',
        '-e "break nofile.py:3": breakpoint 3 found no place in what was loaded: break nofile.py:3',
    ]
    assert "(not bound: no function" in after(done, "break nosuch")
    assert after(done, "break add") == "Breakpoint 2: add\n"


def test_those_that_were_typed_are_told_at_the_end(debug):
    done = debug(typed=["break nosuch", "break msvm.MatMul", "continue", "delete 2", "continue"])
    assert done.code == 0 and done.err == "", done
    assert "OP_CALL msvm.MatMul" in after(done, "continue")
    assert done.out.endswith(
        "The program has ended.\n"
        "breakpoint 1 found no place in what was loaded: no loaded program has a function @nosuch or calls an operator nosuch\n"
    ), done.out


def test_a_function_of_a_module_that_comes_later_is_found_when_it_is_met(debug):
    done = debug("break checked", "continue", "delete", "continue")
    assert done.code == 0, done.err
    assert "(not bound: no function" in after(done, "break checked")
    assert "\nBreakpoint 1: checked\nStopped: function breakpoint\n" in done.out


def test_lines_without_code_say_where_they_stop(debug):
    done = debug("break program.py:99", "break program.py:9", "continue", "continue", "continue", "delete", "continue")
    assert done.code == 0, done.err
    assert after(done, "break program.py:99") == "Breakpoint 1: program.py:99 (line 99 has no code: it is at line 23)\n"
    assert after(done, "break program.py:9").startswith("Breakpoint 2: program.py:9 (line 9 has no code: it is at line 8)\n")
    # The jitted function's line stops in its bytecode.
    stops = re.findall(r"^Stopped: breakpoint\n(.*)\n(?:.*\n)*?=> +(\d+)", done.out, re.M)
    assert stops[0] == ("<module>", "23"), done.out
    assert [name.split(" offset")[0] for name, _ in stops[1:]] == ["BC-Instruction: TENSOR_ALLOC"] * 2, done.out


def test_conditions_that_are_wrong_are_told_at_once(debug):
    done = debug("break add if a >", "break program.py:20 hit many", "break msvm.MatMul if nosuch >", "delete", "continue")
    assert done.code == 0, done.err
    assert "condition: invalid syntax" in after(done, "break add if a >")
    assert "hit condition 'many': expected a count" in after(done, "break program.py:20 hit many")
    assert "condition: invalid syntax" in after(done, "break msvm.MatMul if nosuch >")


def test_names_that_are_not_there_are_told_when_the_program_loads(debug):
    done = debug("break msvm.MatMul if nosuch > 3", "break program.py:9 if neither > 3", typed=["info breakpoints", "delete", "continue"])
    assert done.code == 0, done.err
    loaded = done.out.split("Stopped: entry")[0]
    for name in ("nosuch", "neither"):
        assert f"condition: column 1: there is no register, symbol or name '{name}' in @main: its registers are R0 to R" in loaded, loaded


def test_a_python_condition_that_raises_stops_and_says_why(debug):
    done = debug("break program.py:20 if total > limit", "continue", "where", "delete", "continue")
    assert done.code == 0, done.err
    stop = "Stopped: breakpoint: the condition can't be evaluated: NameError: name 'limit' is not defined\nmain\n"
    assert done.out.count("the condition can't be evaluated") == 1 and stop in done.out, done.out
    assert "pydevd" not in done.out + done.err


def test_after_the_end(debug):
    done = debug("continue", typed=["print total", "print 1 + 1", "info program"])
    assert done.code == 0 and "The program has ended." in done.out
    assert done.err == "error: evaluate: the program has ended\n" * 2, done.err
