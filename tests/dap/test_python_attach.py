"""Attaching to a Python process that runs: a whole session, and a process that is as before once it has ended."""

import os
import re
import subprocess
import sys
import time

import pytest
from client import PATIENCE, Client, RefusedError
from modules import SUM
from python_programs import line_of, written

INSTRUCTION = re.compile(r"BC-Instruction: [A-Z_]+ offset 0x[0-9a-f]+")

SERVED = """
    import os, sys, threading, time
    import numpy as np
    import msvm as ms

    @ms.jit
    def work(x):
        y = x * 2.0               # inside
        return ms.ops.relu(y + 1.0)

    def state():
        import _thread, builtins
        return {
            "trace": sys.gettrace(), "threads": threading.gettrace(), "profile": sys.getprofile(),
            "settrace": sys.settrace, "start": _thread.start_new_thread, "import": builtins.__import__,
            "excepthook": sys.excepthook, "thread excepthook": threading.excepthook,
            "breakpointhook": sys.breakpointhook, "switch interval": sys.getswitchinterval(),
            "stdin": sys.stdin, "stdout": sys.stdout, "fork": os.fork, "environment": dict(os.environ), "exit": os._exit,
            "debugpy's threads": [t.name for t in threading.enumerate() if "pydevd" in t.name],
            "monitoring": sys.version_info >= (3, 12) and sys.monitoring.get_tool(sys.monitoring.DEBUGGER_ID),
        }

    def add(a, b):
        c = a + b                 # plain
        return c

    def other():
        while not os.path.exists(__file__ + ".stop"):
            add(1, 2)
            time.sleep(0.001)
        traced.append(sys.gettrace())

    traced = []
    before = state()
    thread = threading.Thread(target=other, name="other")
    thread.start()
    print("ready", flush=True)
    x = np.ones((64, 64), np.float32)
    total = runs = 0
    while not os.path.exists(__file__ + ".stop"):
        total = add(total, 1)     # counted
        out = work(x)             # call
        runs += 1                 # after
    thread.join()
    after = state()
    print("sum", float(np.asarray(out).sum()), total == runs, traced)
    print("changed", [k for k in before if before[k] != after[k]])
"""


@pytest.fixture
def served(tmp_path, environment):
    """A program with a debug server that runs until NAME.stop is there: (process, path)."""
    path = written(tmp_path, "served.py", SERVED)
    env = {**os.environ, **environment, "MSVM_DEBUG": "127.0.0.1:0"}
    p = subprocess.Popen([sys.executable, str(path)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "ready\n"
    yield p, path
    p.kill()
    p.wait()
    p.stdout.close()
    p.stderr.close()


def as_before(process, path):
    """Lets the program end; it tells whether anything differs."""
    written(path.parent, path.name + ".stop", "")
    out, err = process.communicate(timeout=60)
    assert out == "sum 12288.0 True [None]\nchanged []\n", out + err
    assert process.returncode == 0 and err == ""


def test_python_and_bytecode_in_one_session(served, environment):
    process, path = served
    with Client(env=environment) as c:
        said = c.start("attach", breakpoints={path: [line_of(path, "counted")]}, processId=process.pid)
        assert said[str(path)][0]["verified"], said
        stop = c.stopped("breakpoint")
        thread = stop["threadId"]
        assert stop["hitBreakpointIds"] == [said[str(path)][0]["id"]]
        assert c.top(thread) == ("served.py", line_of(path, "counted"))
        frame = c.frames(thread)[0]["id"]
        assert c.evaluate("total == runs", frame)["result"] == "True"
        assert {row["name"] for row in c.request("threads")["threads"]} == {"MainThread", "other"}
        c.breakpoints(path, [])
        c.step("stepIn", thread)
        assert c.top(thread) == ("served.py", line_of(path, "plain"))
        c.step("stepOut", thread)
        while c.top(thread)[1] != line_of(path, "call"):
            c.step("next", thread)
        c.step("stepIn", thread)
        assert INSTRUCTION.fullmatch(c.frames(thread)[0]["name"])
        c.step("next", thread)
        assert INSTRUCTION.fullmatch(c.frames(thread)[0]["name"])
        c.step("stepOut", thread)
        assert c.top(thread) == ("served.py", line_of(path, "after"))
        c.request("disconnect", terminateDebuggee=False)
    as_before(process, path)


def test_again_and_again(served, environment):
    process, path = served
    for mark in ("counted", "inside", "after"):
        with Client(env=environment) as c:
            said = c.start("attach", breakpoints={path: [line_of(path, mark)]}, processId=process.pid)
            assert said[str(path)][0]["verified"], said
            thread = c.stopped("breakpoint")["threadId"]
            if mark == "inside":
                assert INSTRUCTION.fullmatch(c.frames(thread)[0]["name"])
            else:
                assert c.top(thread) == ("served.py", line_of(path, mark))
            c.request("disconnect", terminateDebuggee=False)
    as_before(process, path)


@pytest.mark.parametrize("mark", ["counted", "inside"])
def test_the_adapter_is_killed_while_a_thread_is_stopped(served, environment, mark):
    process, path = served
    with Client(env=environment) as c:
        c.start("attach", breakpoints={path: [line_of(path, mark)]}, processId=process.pid)
        c.stopped("breakpoint")
        c.process.kill()
        c.process.wait()
    end = time.monotonic() + PATIENCE
    while True:  # it comes in once the first has been let go
        with Client(env=environment) as c:
            try:
                c.start("attach", breakpoints={path: [line_of(path, "after")]}, processId=process.pid)
            except RefusedError:
                assert time.monotonic() < end
                continue
            assert c.top(c.stopped("breakpoint")["threadId"]) == ("served.py", line_of(path, "after"))
            c.request("disconnect", terminateDebuggee=False)
            break
    as_before(process, path)


def test_the_process_ends_by_itself(served, environment):
    process, path = served
    with Client(env=environment) as c:
        c.start("attach", breakpoints={path: [line_of(path, "counted")]}, processId=process.pid)
        thread = c.stopped("breakpoint")["threadId"]
        c.breakpoints(path, [])
        written(path.parent, "served.py.stop", "")
        c.resume(thread)
        c.event("terminated")
    out, err = process.communicate(timeout=60)
    assert out.startswith("sum 12288.0 True ") and process.returncode == 0, out + err


def test_a_stop_at_the_first_run_steps_out_to_python(served, environment):
    process, path = served
    with Client(env=environment) as c:
        c.start("attach", processId=process.pid, stopOnEntry=True)
        thread = c.stopped("entry")["threadId"]
        assert [row["name"] for row in c.request("threads")["threads"] if row["id"] == thread] == ["MainThread"]
        assert INSTRUCTION.fullmatch(c.frames(thread)[0]["name"])
        c.step("stepOut", thread)
        assert c.top(thread) == ("served.py", line_of(path, "after"))
        c.request("disconnect", terminateDebuggee=False)
    as_before(process, path)


PLAIN_LOOP = """
    import os, time
    import msvm as ms

    print("ready", flush=True)
    n = 0
    while not os.path.exists(__file__ + ".stop"):
        n += 1                    # plain
        time.sleep(0.001)
"""


def test_a_pause_of_all_right_after_attaching(tmp_path, environment):
    path = written(tmp_path, "plain.py", PLAIN_LOOP)
    env = {**os.environ, **environment, "MSVM_DEBUG": "127.0.0.1:0"}
    with subprocess.Popen([sys.executable, str(path)], env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            with Client(env=environment) as c:
                c.start("attach", processId=process.pid)
                c.request("pause", threadId=0)
                thread = c.stopped("pause")["threadId"]
                assert c.frames(thread)[-1]["name"] == "<module>"
                c.request("disconnect")
        finally:
            written(tmp_path, "plain.py.stop", "")
            process.wait(PATIENCE)


def test_without_debugpy(served, environment):
    process, path = served
    with Client(env=environment) as c:
        c.start("attach", breakpoints={path: [line_of(path, "inside")]}, processId=process.pid, debugpy=False)
        thread = c.stopped("breakpoint")["threadId"]
        with pytest.raises(RefusedError, match="needs debugpy"):
            c.request("modules")
        c.step("next", thread)
        c.request("disconnect", terminateDebuggee=False)
    as_before(process, path)


def test_who_has_no_debugpy_is_told_the_mend(tmp_path, environment):
    text = SERVED.replace("import os, sys, threading, time\n", "import os, sys, threading, time\n    sys.modules['debugpy'] = None\n")
    path = written(tmp_path, "served.py", text)
    env = {**os.environ, **environment, "MSVM_DEBUG": "127.0.0.1:0"}
    process = subprocess.Popen([sys.executable, str(path)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    with Client(env=environment) as c:
        c.start("attach", breakpoints={path: [line_of(path, "inside")]}, processId=process.pid)
        told = f"`{sys.executable} -m pip install debugpy`"
        assert told in c.output("console")
        assert [told in body["text"] for body in c.named("msvm/bytecodeOnly")] == [True]
        thread = c.stopped("breakpoint")["threadId"]
        assert "<module>" in [f["name"] for f in c.frames(thread)]
        c.request("disconnect", terminateDebuggee=False)
    as_before(process, path)


BLOCKED = """
    import ctypes, os, time
    import msvm as ms

    @ms.jit
    def work(x):
        return x * 2.0

    usleep = ctypes.PyDLL(None).usleep   # keeps the GIL
    print("ready", flush=True)
    while not os.path.exists(__file__ + ".blocked"):
        time.sleep(0.01)
    print("blocked", flush=True)
    usleep(8_000_000)
    while not os.path.exists(__file__ + ".stop"):
        time.sleep(0.01)          # back
    print("over")
"""


def test_a_process_that_keeps_the_gil_is_debugged_later(tmp_path, environment):
    path = written(tmp_path, "blocked.py", BLOCKED)
    env = {**os.environ, **environment, "MSVM_DEBUG": "127.0.0.1:0"}
    process = subprocess.Popen([sys.executable, str(path)], env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        with Client(env=environment) as c:
            written(tmp_path, "blocked.py.blocked", "")
            assert process.stdout.readline() == "blocked\n"
            [row] = c.start("attach", breakpoints={path: [line_of(path, "back")]}, processId=process.pid)[str(path)]
            assert not row["verified"]
            assert "as soon as it does" in c.output("console")
            assert c.event("breakpoint", where=lambda b: b["breakpoint"]["id"] == row["id"])["breakpoint"]["verified"]
            assert c.top(c.stopped("breakpoint")["threadId"]) == ("blocked.py", line_of(path, "back"))
            c.request("disconnect", terminateDebuggee=False)
        written(tmp_path, "blocked.py.stop", "")
        assert process.communicate(timeout=60)[0] == "over\n"
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


ONE_RUN = """
    import sys
    import msvm as ms

    program = ms.load(sys.argv[1])
    print("ready", flush=True)
    program.run({"n": 1 << 60})   # without end
"""


@pytest.mark.parametrize("debugpy", [False, True])
def test_a_run_under_way_is_paused(tmp_path, environment, debugpy):
    path = written(tmp_path, "one_run.py", ONE_RUN)
    module = written(tmp_path, "sum.msasm", SUM)
    env = {**os.environ, **environment, "MSVM_DEBUG": "127.0.0.1:0"}
    with subprocess.Popen([sys.executable, str(path), str(module)], env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            rounds = [0]
            for _ in range(2):  # the same run
                with Client(env=environment) as c:
                    c.start("attach", processId=process.pid, debugpy=debugpy)
                    c.request("pause", threadId=0)
                    thread = c.stopped("pause")["threadId"]
                    frames = c.frames(thread)
                    assert INSTRUCTION.fullmatch(frames[0]["name"])
                    assert frames[-1]["name"] == "<module>"
                    assert c.evaluate("R0", frames[0]["id"])["result"] == str(1 << 60)
                    rounds.append(int(c.evaluate("R1", frames[0]["id"])["result"]))
                    c.step("next", thread)
                    c.breakpoints(frames[0]["source"]["path"], [frames[0]["line"]])
                    c.resume(thread)
                    thread = c.stopped("breakpoint")["threadId"]
                    rounds.append(int(c.evaluate("R1", c.frames(thread)[0]["id"])["result"]))
                    c.request("disconnect", terminateDebuggee=False)
            assert rounds == sorted(set(rounds))
        finally:
            process.kill()
