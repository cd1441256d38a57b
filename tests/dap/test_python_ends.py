"""How sessions with Python programs begin wrongly, and end: nothing is left behind."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from client import MSVM, PATIENCE, Client, RefusedError
from python_programs import CALLS, LOOP, PLAIN, REFUSED, line_of, written

BAD = """module "bad" version 1

func @main(x: f32[2]) -> (y: f32[2])
b0:
  R0 = TENSOR_CREATE input 0, [2]
  R1 = TENSOR_ALLOC [3], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1
"""


def gone(pid):
    """Whether a process has ended, within a while."""
    for _ in range(400):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def pid_of(c):
    return c.named("process")[-1]["systemProcessId"]


def test_there_is_no_such_file(launched, client, tmp_path):
    client.initialize()
    with pytest.raises(RefusedError, match=r"there is no file .*none\.py"):
        client.request("launch", program=str(tmp_path / "none.py"))


def test_interpreters_that_wont_do(client, tmp_path, environment):
    program = written(tmp_path, "p.py", PLAIN)
    client.initialize()
    with pytest.raises(RefusedError, match="can't start /no/python"):
        client.request("launch", program=str(program), python="/no/python")


def test_an_interpreter_without_msvm(client, tmp_path):
    program = written(tmp_path, "p.py", PLAIN)
    client.initialize()
    with pytest.raises(RefusedError, match="has no module msvm; install it"):
        client.request("launch", program=str(program), python=sys.executable, env={"PYTHONPATH": ""})


@pytest.mark.parametrize("arguments", [{"program": 3}, {"args": "x"}, {"native": "maybe"}, {"cwd": "/no/such/folder"}])
def test_arguments_that_are_wrong(client, tmp_path, arguments):
    program = written(tmp_path, "p.py", PLAIN)
    client.initialize()
    with pytest.raises(RefusedError, match=next(iter(arguments))):
        client.request("launch", {"program": str(program), "python": sys.executable, **arguments})


def test_a_syntax_error(launched):
    c, _ = launched("def f(:\n    pass\n")
    assert c.ended() == 1
    assert "SyntaxError" in c.output("stderr")


def test_exit_codes(launched):
    c, _ = launched("import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(7)\n")
    assert c.ended() == 7
    assert c.output() == "out\n" and "err\n" in c.output("stderr")


def test_a_program_that_crashes(launched):
    c, _ = launched("import msvm, os\nos.kill(os.getpid(), 11)\n")
    assert c.ended() == 128 + 11
    assert "signal 11" in c.output("console")


def test_an_exception_that_nobody_catches(launched):
    c, path = launched("def f():\n    raise KeyError('k')    # raises\n\nf()\n", filters=["uncaught"])
    thread = c.stopped("exception")["threadId"]
    assert c.top(thread) == ("program.py", line_of(path, "raises"))
    assert "KeyError" in c.request("exceptionInfo", threadId=thread)["exceptionId"]
    c.resume(thread)
    assert c.ended() == 1


def test_a_module_that_cant_be_verified_ends_the_step(launched, tmp_path):
    bad = written(tmp_path, "bad.msasm", BAD)
    c, _path = launched(REFUSED, "load", args=[str(bad)])
    thread = c.stopped("breakpoint")["threadId"]
    c.request("stepIn", threadId=thread)
    failed = c.event("msvm/verificationFailed")
    assert failed["name"].endswith("bad.msasm") and failed["diagnostics"][0]["code"].startswith("MSV")
    c.stopped("step")  # on the exception's way
    c.resume(thread)
    assert c.ended() == 1
    assert "VerificationError" in c.output("stderr")


def processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_after_a_refused_module_nobody_is_busy_and_the_session_goes_on(launched, tmp_path):
    bad = written(tmp_path, "bad.msasm", BAD)
    refused = """
    import sys
    try:
        ms.load(sys.argv[1])      # load
    except ms.VerificationError:
        print("refused")          # refused
"""
    c, path = launched(CALLS.replace("\n    main()\n", refused + "    main()\n"), "load", "refused", "sum", args=[str(bad)])
    thread = c.stopped("breakpoint")["threadId"]
    c.request("stepIn", threadId=thread)
    c.event("msvm/verificationFailed")
    c.stopped("step")
    before, began = [processor_seconds(p) for p in (pid_of(c), c.process.pid)], time.monotonic()
    time.sleep(1.5)
    waited = time.monotonic() - began
    for pid, spent in zip((pid_of(c), c.process.pid), before, strict=True):
        assert processor_seconds(pid) - spent < waited / 2
    c.resume(thread)
    assert c.stopped("breakpoint") and c.top(thread) == ("program.py", line_of(path, "refused"))
    c.resume(thread)
    thread = c.stopped("breakpoint")["threadId"]
    assert c.frames(thread)[0]["name"].startswith("BC-Instruction")
    c.breakpoints(path, [])
    c.step("stepOut", thread)
    c.resume(thread)
    assert c.ended() == 0
    assert c.output() == "refused\ntotal 64.0 64.0\n"


@pytest.mark.parametrize("how", ["terminate", "disconnect", "leave"])
@pytest.mark.parametrize("stage", ["before configurationDone", "stopped in Python", "stopped in bytecode", "running"])
def test_ends_at_each_stage(launched, tmp_path, stage, how):
    marks = {"stopped in Python": ["counted"], "stopped in bytecode": ["inside"]}.get(stage, [])
    c, _path = launched(LOOP, *marks, args=["120"], done=stage != "before configurationDone")
    if marks:
        c.stopped("breakpoint")
    elif stage == "running":
        c.event("msvm/programLoaded")
    pid = pid_of(c)
    if how == "terminate":
        c.request("terminate")
        c.event("terminated")
    elif how == "disconnect":
        c.request("disconnect", terminateDebuggee=True)
    else:
        c.process.stdin.close()
        c.process.wait(20)
    assert gone(pid)


def test_leaving_before_the_launch_is_answered(client, environment, tmp_path):
    path = written(tmp_path, "program.py", LOOP)
    client.initialize()
    launch = client.send("launch", {"program": str(path), "python": sys.executable, "env": environment, "args": ["120"]})
    leave = client.send("disconnect", {"terminateDebuggee": True})
    assert not client.response(launch)["success"]
    assert client.response(leave)["success"]
    assert client.process.wait(PATIENCE) == 0


def test_a_launch_that_is_terminated_before_it_is_answered_ends(client, environment, tmp_path):
    path = written(tmp_path, "program.py", LOOP)
    client.initialize()
    launch = client.send("launch", {"program": str(path), "python": sys.executable, "env": environment, "args": ["120"]})
    client.event("process")  # debugpy needs a while from here
    client.request("terminate")
    assert not client.response(launch)["success"]
    client.ended()


def test_children_go_with_the_program(launched):
    program = """
        import subprocess, sys
        p = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(p.pid, flush=True)
        p.wait()
    """
    c, _ = launched(program)
    c.event("output", where=lambda b: b["category"] == "stdout")
    child = int(c.output())
    c.request("disconnect")
    assert gone(child)


def test_ctrl_c_while_a_run_waits(launched):
    c, _path = launched(CALLS, "sum")
    c.stopped("breakpoint")
    os.kill(pid_of(c), 2)
    c.event("exited")
    assert "KeyboardInterrupt" in c.output("stderr")


def test_without_debugpy(launched):
    c, path = launched(CALLS, "sum", debugpy=False)
    thread = c.stopped("breakpoint")["threadId"]
    names = [f["name"] for f in c.frames(thread)]
    assert names[0].startswith("BC-Instruction") and names[-2:] == ["main", "<module>"]
    main = next(f for f in c.frames(thread) if f["name"] == "main")
    assert c.evaluate("seen.upper()", main["id"])["result"] == "'HERE'"
    c.step("next", thread)
    c.breakpoints(path, [])
    c.request("stepOut", threadId=thread)
    assert c.ended() == 0


def test_an_interpreter_without_debugpy_is_told_with_the_mend(launched, environment, tmp_path):
    written(tmp_path, "without/sitecustomize.py", "import sys\n\nsys.modules['debugpy'] = None\n")
    c, _ = launched(CALLS, "sum", env={**environment, "PYTHONPATH": f"{tmp_path / 'without'}{os.pathsep}{environment['PYTHONPATH']}"})
    (told,) = c.named("msvm/bytecodeOnly")
    assert told["python"] == sys.executable
    assert f"`{sys.executable} -m pip install debugpy`" in told["text"]
    assert told["text"] in c.output("console")
    c.stopped("breakpoint")
    c.request("disconnect")


def test_no_debug(launched):
    c, _ = launched(CALLS, "sum", noDebug=True)
    assert c.ended() == 0
    assert "total 64.0 64.0" in c.output() and not c.named("stopped")


def test_fork(launched):
    forks = """
    import os
    main()
    if os.fork() == 0:
        main()
        os._exit(0)
    assert os.wait()[1] == 0
"""
    c, path = launched(CALLS.replace("\n    main()\n", forks + "    main()\n"), "again")
    thread = c.stopped("breakpoint")["threadId"]
    c.step("stepIn", thread)
    c.breakpoints(path, [])
    c.resume(thread)
    assert c.ended() == 0
    assert c.output().count("total 64.0 64.0") == 3


# --- attach ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def running(tmp_path, environment):
    """A program with a debug server that runs until NAME.stop is there: (process, path)."""
    serving = """import msvm as ms
    server = ms.vm.start_debugger()
    print(server.address, server.token, flush=True)
"""
    path = written(tmp_path, "served.py", LOOP.replace("import msvm as ms\n", serving))
    p = subprocess.Popen([sys.executable, str(path)], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
    yield p, path
    p.kill()
    p.wait()


def test_attach_and_detach(running, environment):
    process, path = running
    process.stdout.readline()
    for _ in range(2):
        with Client(env=environment) as c:
            c.start("attach", breakpoints={path: [line_of(path, "inside")]}, processId=process.pid)
            thread = c.stopped("breakpoint")["threadId"]
            assert c.frames(thread)[0]["name"].startswith("BC-Instruction")
            assert "<module>" in [f["name"] for f in c.frames(thread)]
            c.step("next", thread)
            c.request("disconnect", terminateDebuggee=False)
    written(path.parent, "served.py.stop", "")
    assert process.stdout.read() == "sum 12288.0 True\n"
    assert process.wait(60) == 0


def test_pause_of_all_before_any_thread_has_stopped(running, environment):
    process, path = running
    process.stdout.readline()
    with Client(env=environment) as c:
        c.start("attach", processId=process.pid)
        c.request("pause", threadId=0)
        stop = c.stopped()
        assert stop["reason"] in ("pause", "entry")
        frames = [f["name"] for f in c.frames(stop["threadId"])]  # wherever the thread is: in bytecode, or in Python between two runs
        assert frames[-1] == "<module>" and (frames[0].startswith("BC-Instruction") or len(frames) == 1), frames
        c.request("disconnect", terminateDebuggee=False)
    written(path.parent, "served.py.stop", "")
    assert process.wait(60) == 0


def test_attach_by_address(running, environment):
    process, path = running
    address, token = process.stdout.readline().split()
    with Client(env=environment) as c, pytest.raises(RefusedError, match="token"):
        c.start("attach", address=address, token="0" * 32)
    with Client(env=environment) as c:
        c.start("attach", address=address, token=token)
        c.event("msvm/programLoaded")
    written(path.parent, "served.py.stop", "")
    assert process.wait(60) == 0


def test_a_server_that_runs_stays(tmp_path, environment):
    text = """
        import msvm as ms
        first, second = ms.vm.start_debugger(), ms.vm.start_debugger("localhost:0")
        print(first.address == second.address, first.token == second.token)
        third = ms.vm.start_debugger("[::1]:0")
        print(third.address.startswith("[::1]:"), third.token != first.token)
        first.stop()
        print(ms.vm.start_debugger("[::1]:0").token == third.token)
        ms.vm.stop_debugger()
    """
    path = written(tmp_path, "serves.py", text)
    done = subprocess.run([sys.executable, str(path)], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["True"] * 5, done.stdout + done.stderr


def test_a_launched_program_that_starts_a_server_stays_in_its_session(launched):
    c, path = launched(CALLS.replace("import msvm as ms\n", "import msvm as ms\n    ms.vm.start_debugger()\n", 1), "sum")
    thread = c.stopped("breakpoint")["threadId"]
    assert c.frames(thread)[0]["name"].startswith("BC-Instruction")
    c.breakpoints(path, [])
    c.resume(thread)
    assert c.ended() == 0


def test_attach_to_who_isnt_there(client):
    client.initialize()
    with pytest.raises(RefusedError, match=r"start_debugger|MSVM_DEBUG"):
        client.request("attach", processId=os.getpid())


def test_the_file_of_a_process_that_was_killed_goes_with_the_next_list(running, environment, tmp_path):
    process, _path = running
    process.stdout.readline()
    run = Path(environment["XDG_RUNTIME_DIR"]) / "msvm"
    [own] = run.glob("*.debug.json")

    def other(pid, **more):
        path = run / f"{pid}.debug.json"
        path.write_text(json.dumps({**json.loads(own.read_text()), "pid": pid, **more}))
        path.chmod(0o600)
        return path

    used_again = other(os.getpid(), start="1")
    elsewhere = other(os.getppid(), start="1", space="another machine's")
    foreign = other(1, start="1")
    foreign.chmod(0o644)  # nothing that we have written

    def listed():
        asked = [MSVM, "__complete", "--", "debug", "--attach", ""]
        return subprocess.run(asked, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60).stdout

    assert str(process.pid) in listed()
    assert own.exists() and elsewhere.exists() and foreign.exists() and not used_again.exists()
    process.kill()
    process.wait()
    assert own.exists() and str(process.pid) not in listed()
    assert not own.exists()


def test_runs_wait_for_a_debugger(tmp_path, environment):
    path = written(tmp_path, "waits.py", CALLS)
    env = {**os.environ, **environment, "MSVM_DEBUG": "127.0.0.1:0", "MSVM_DEBUG_WAIT": "1"}
    p = subprocess.Popen([sys.executable, str(path)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "wait for a debugger" in p.stderr.readline()
    with Client(env=environment) as c:
        c.start("attach", breakpoints={path: [line_of(path, "product")]}, processId=p.pid)
        thread = c.stopped("breakpoint")["threadId"]
        assert next(f["line"] for f in c.frames(thread) if f["name"] == "main") == line_of(path, "call")
        c.breakpoints(path, [])
        c.resume(thread)
        c.event("terminated")
    assert p.communicate(timeout=60)[0] == "total 64.0 64.0\n"
