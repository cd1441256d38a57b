"""debug: programs with several threads, which stop one by one, and processes that are attached to."""

import os
import re
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from command import MSVM, ROOT

PATIENCE = 60
"""Seconds for what takes well under one, on a machine that is busy."""

WORKERS = """
    import os
    import sys
    import threading
    import numpy as np
    import msvm as ms

    @ms.jit
    def triple(x):
        return x * 3.0

    def work(k):
        x = np.full((4,), k, np.float32)
        for _ in range(rounds):
            results[k] = results.get(k, 0.0) + float(np.asarray(triple(x)).sum())
            runs[k] = runs.get(k, 0) + 1
            barrier.wait()
        print("worker", k, "done", flush=True)
        if attached:
            over.wait()

    attached = len(sys.argv) > 1
    if attached:
        sys.modules["debugpy"] = None  # with it a run that ends is followed by Python's next line: tests/dap/test_python_attach.py
    rounds = int(sys.argv[1]) if attached else 2
    results, runs = {}, {}
    barrier = threading.Barrier(2)
    over = threading.Event()
    triple(np.ones((4,), np.float32))
    workers = [threading.Thread(target=work, args=(k,), name=f"worker {k}") for k in (1, 2)]
    if attached:
        print("ready", flush=True)
        sys.stdin.readline()
    for w in workers:
        w.start()
    if attached:
        sys.stdin.readline()
        over.set()
    for w in workers:
        w.join()
    print("results", results[1], results[2], flush=True)
"""
"""Two workers that wait for each other after each run: who holds one up holds up both."""


@pytest.fixture
def environment(tmp_path):
    for folder in ("code", "run"):
        (tmp_path / folder).mkdir(mode=0o700)
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "build/release/python"),
        "MSVM_NUM_THREADS": "1",
        "MSVM_CACHE_DIR": str(tmp_path / "code"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
    }


class Talk:
    """A process that is spoken to: what it has written so far, and the rest as it comes."""

    def __init__(self, command, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
        self.text = ""
        self.changed = threading.Condition()
        self.eof = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while piece := os.read(self.process.stdout.fileno(), 65536):
            with self.changed:
                self.text += piece.decode(errors="replace")
                self.changed.notify_all()
        with self.changed:
            self.eof = True
            self.changed.notify_all()

    def until(self, pattern, begin=0):
        """Waits until the text from `begin` on has the pattern; the match."""
        with self.changed:
            self.changed.wait_for(lambda: re.search(pattern, self.text[begin:], re.M) or self.eof, PATIENCE)
            found = re.search(pattern, self.text[begin:], re.M)
            assert found, f"no {pattern!r} in what came:\n{self.text[-3000:]}"
            return found

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


class Console(Talk):
    """The debugger: a command is over when the next one's echo, or the end, is there."""

    def __init__(self, *args, **more):
        super().__init__([MSVM, "debug", *map(str, args)], **more)

    def do(self, command):
        """Carries the command out; what it printed."""
        begin = len(self.text)
        self.say(command)
        self.say(f"# after {command}")
        self.until(re.escape(f"(msvm) # after {command}\n"), begin)
        return self.text[begin:].split(f"(msvm) {command}\n", 1)[1].split(f"(msvm) # after {command}\n")[0]


@pytest.fixture
def process(environment, tmp_path):
    """The workers in a process with a debug server, which begin when it is told to, and go on for many rounds."""
    path = tmp_path / "workers.py"
    path.write_text(textwrap.dedent(WORKERS))
    with Talk([sys.executable, path, "1000000000"], env={**environment, "MSVM_DEBUG": "127.0.0.1:0"}, cwd=tmp_path) as p:
        p.until("ready")
        yield p


@pytest.fixture
def attached(environment, tmp_path):
    """Attaches to the process."""

    def attach(p, *args):
        return Console("--attach", p.process.pid, *args, env=environment, cwd=tmp_path)

    return attach


def both_wait(c, p):
    """Stops both workers at a breakpoint, in their first rounds: (the number of the current thread, that of the other)."""
    c.do("break Mul")
    p.say("begin")
    first = c.do("continue")
    one = re.search(r"^Stopped in thread (\d+) \(worker \d\): breakpoint$", first, re.M)
    assert one, first
    rows = rows_when(c, lambda rows: len([r for r in rows if r[2] == "waits: breakpoint"]) == 2)
    other = next(r[1] for r in rows if r[2] == "waits: breakpoint" and r[1] != one[1])
    return one[1], other


def rows_when(c, holds):
    """Rows of `info threads` once they are such."""
    until = time.monotonic() + PATIENCE
    while True:
        text = c.do("info threads")
        rows = re.findall(r"^([* ]) (\d+) +\S.*?  +(waits: .*|runs)$", text, re.M)
        if holds(rows):
            return rows
        assert time.monotonic() < until, text
        time.sleep(0.05)


def test_steps_and_ends_of_runs_while_another_thread_waits(process, attached):
    with attached(process) as c:
        one, other = both_wait(c, process)
        assert [r[1] for r in rows_when(c, lambda rows: rows) if r[0] == "*"] == [one]
        stepped = c.do("step")
        assert f"Stopped in thread {one} (worker" in stepped and ": step\n" in stepped
        # The run ends, and its thread goes on to the barrier, where it waits for the one that is stopped.
        ended = c.do("finish")
        assert re.search(rf"^The run has ended: thread {one} \(worker \d\) goes on\.$", ended, re.M), ended
        assert re.search(rf"^Stopped in thread {other} \(worker \d\): breakpoint$", ended, re.M), ended
        assert f"runs: `pause {one}` stops it" in c.do(f"thread {one}")
        # The next step belongs to the one that waits.
        assert f"Stopped in thread {other} (worker" in c.do("next")
        # With both let go both come by again, and none is lost.
        seen = [re.search(r"^Stopped in thread (\d+)", c.do("continue"), re.M)[1] for _ in range(4)]
        assert set(seen) == {one, other}, seen


def test_one_of_two_that_wait_goes_on(process, attached):
    with attached(process) as c:
        one, other = both_wait(c, process)
        gone = c.do(f"continue {one}")
        assert f"thread {one} (worker" in gone and "goes on." in gone and f"Stopped in thread {other} (worker" in gone
        assert "doesn't wait" in c.do(f"continue {one}")
        assert "waits already" in c.do(f"pause {other}")


def test_detaching_lets_all_go(process, attached):
    with attached(process) as c:
        both_wait(c, process)
        c.say("quit")
        assert c.process.wait(PATIENCE) == 0
    with attached(process) as c:  # they run: a breakpoint is met anew
        c.do("break Mul")
        assert "(worker" in c.do("continue")


def test_a_second_debugger_is_told_of_the_first(process, attached):
    with attached(process) as first:
        first.do("info breakpoints")
        with attached(process) as second:
            second.until("error: ")
            assert second.process.wait(PATIENCE) == 1
            who = (
                f"another debugger is attached to process {process.process.pid}: msvm debug (process {first.process.pid}): end its session"
            )
            assert who in second.text, second.text
        assert first.do("info breakpoints") == "no breakpoints\n"
        first.say("quit")
        assert first.process.wait(PATIENCE) == 0
    with attached(process) as again:
        assert again.do("info breakpoints") == "no breakpoints\n"


def test_a_launched_program_with_threads(environment, tmp_path):
    path = tmp_path / "workers.py"
    path.write_text(textwrap.dedent(WORKERS))
    with Console("workers.py", "--python", sys.executable, env=environment, cwd=tmp_path) as c:
        c.until(r"^BC-Instruction")
        c.do("break Mul")
        names = set()
        for _ in range(9):  # one of the main thread, two rounds of two workers; then the end
            said = c.do("continue")
            if "The program has ended." in said:
                break
            names.add(re.search(r"^Stopped(?: in thread \d+ \((.*)\))?: breakpoint$", said, re.M)[1])
        assert "The program has ended." in c.text
        assert {"worker 1", "worker 2"} <= names
        assert "results 24.0 48.0" in c.text


def test_breakpoints_of_a_script_are_there_before_the_first_run(environment, tmp_path):
    (tmp_path / "workers.py").write_text(textwrap.dedent(WORKERS))
    (tmp_path / "first").write_text("# before anything runs\nbreak Mul if x_0 == 4\nbreak 11\ncontinue\ncontinue\nwhere\nquit\n")
    done = subprocess.run(
        [MSVM, "debug", "workers.py", "--python", sys.executable, "-x", "first"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done
    told, stop = done.stdout.split("Stopped", 1)
    assert "(msvm) break Mul if x_0 == 4\n" in told and "(msvm) break 11\n" in told
    assert "Breakpoint 2: 11 (line 11 has no code: it is at line 10)\n" in told
    assert "entry" in stop.split("(msvm) continue", 1)[0]
    at_line, at_call = stop.split("(msvm) continue", 1)[1].split("(msvm) continue", 1)
    assert "breakpoint\nBC-Instruction: TENSOR_ALLOC" in at_line and "workers.py:10:5" in at_line
    assert "breakpoint\nBC-Instruction: OP_CALL" in at_call


def test_completion_of_what_can_be_attached(process, environment, tmp_path):
    def offered(word):
        done = subprocess.run(
            [MSVM, "__complete", "--", "debug", "--attach", word],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        return done.stdout

    rows = offered("").splitlines()
    assert len(rows) == 1 and rows[0].startswith(f"{process.process.pid}\t") and rows[0].endswith("workers.py 1000000000"), rows
    assert offered("x") == ""


def test_an_address_that_is_none(environment, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import msvm"],
        env={**environment, "MSVM_DEBUG": "nowhere:x"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert "debug server:" in done.stderr and "monitor" not in done.stderr and "9464" not in done.stderr, done.stderr
