"""debug in a terminal: lines are edited, completed and remembered."""

import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import MSVM, ROOT

sys.path.append(str(ROOT / "tests/dap"))
from modules import FOREVER, NECK  # noqa: E402

PATIENCE = 30
started: list[subprocess.Popen[bytes]] = []


class Terminal:
    """The debugger behind a pseudo-terminal."""

    def __init__(self, folder, *args):
        ours, theirs = pty.openpty()
        env = {
            **os.environ,
            "TERM": "xterm",
            "NO_COLOR": "1",
            "MSVM_CACHE_DIR": str(folder / "code"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        self.process = subprocess.Popen(
            [MSVM, "debug", *args], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
        )
        started.append(self.process)
        os.close(theirs)
        self.fd = ours
        self.text = ""

    def until(self, pattern):
        """Reads until the text that nobody has taken has the pattern; takes it up to there."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {pattern!r} in what came: {self.text!r}")
            try:
                self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]", "", os.read(self.fd, 65536).decode(errors="replace"))
            except OSError:
                raise AssertionError(f"the debugger has ended without {pattern!r}: {self.text}") from None
        taken, self.text = self.text[: found.end()], self.text[found.end() :]
        return taken

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def leave(self):
        self.type("quit\n")
        code = self.process.wait(PATIENCE)
        os.close(self.fd)
        return code


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    while started:
        started.pop().kill()


@pytest.fixture
def terminal(tmp_path):
    (tmp_path / "neck.msasm").write_text(NECK)
    (tmp_path / "state").mkdir(mode=0o700)

    def start():
        t = Terminal(tmp_path, "neck.msasm", "--shape", "x=2x8x4x12")
        t.until(r"\(msvm\) ")
        return t

    return start


def test_tab_completes(terminal):
    t = terminal()
    t.type("ste\t\n")
    assert "SHAPE_PROPAGATE" in t.until(r"\(msvm\) $")
    t.type("info symb\t\n")
    assert re.search(r"N +2 ", t.until(r"\(msvm\) $"))
    t.type("print shap\tR0)[3]\n")
    t.until(r"e\(R0\)\[3\]\r?\n12\r?\n")
    t.type("break Res\t if shap\tR3)[3] > 99\n")
    t.until(r"Breakpoint 1: Resize if shape\(R3\)\[3\] > 99\r?\n")
    t.type("break @fo\t\n")
    t.until(r"Breakpoint 2: @forward\r?\n")
    t.until(r"\(msvm\) $")
    assert t.leave() == 0


def test_lines_are_edited_and_remembered(terminal, tmp_path):
    t = terminal()
    t.type("print 1 + 2\x7f6\n")  # Backspace
    t.until(r"\n7\r?\n")
    t.until(r"\(msvm\) $")
    assert t.leave() == 0
    history = tmp_path / "state/msvm/debug_history"
    assert history.read_text().splitlines() == ["print 1 + 6", "quit"]
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    t = terminal()
    t.type("\x1b[A\x1b[A\n")  # up, past quit
    t.until(r"\n7\r?\n")
    t.until(r"\(msvm\) $")
    assert t.leave() == 0


def test_ctrl_c_at_the_prompt_discards_what_is_typed_and_ends_nothing(terminal):
    t = terminal()
    for typed in ("", "print 1 + ", "quit"):
        t.type(typed)
        t.until(re.escape(typed) + "$")
        t.process.send_signal(signal.SIGINT)
        t.until(r"\^C\r?\n\(msvm\) $")
    t.type("print 20 + 3\n")
    t.until(r"\n23\r?\n")
    t.until(r"\(msvm\) $")
    assert t.leave() == 0


def processor_ticks(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_ctrl_c_pauses_a_program_that_runs(terminal, tmp_path):
    (tmp_path / "neck.msasm").write_text(FOREVER)
    t = Terminal(tmp_path, "neck.msasm")
    t.until(r"\(msvm\) $")
    t.type("continue\n")
    before, until = processor_ticks(t.process.pid), time.monotonic() + PATIENCE
    while processor_ticks(t.process.pid) < before + 20:  # it calculates: the prompt is gone
        assert time.monotonic() < until, t.text
        time.sleep(0.01)
    t.process.send_signal(signal.SIGINT)
    t.until(r"Stopped: pause")
    t.until(r"\(msvm\) $")
    assert t.leave() == 0


def test_ends_with_its_terminal_while_the_program_runs(tmp_path):
    (tmp_path / "neck.msasm").write_text(FOREVER)
    t = Terminal(tmp_path, "neck.msasm")
    t.until(r"\(msvm\) $")
    t.type("continue\n")
    t.until(r"continue\r?\n")
    os.close(t.fd)
    t.process.wait(PATIENCE)
