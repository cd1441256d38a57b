"""monitor, jit-info --attach, report, run --monitor."""

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from command import MSVM

ENTRY = {
    "name": "jit_cache_1",
    "alias": "jit_640x480",
    "box": "H480_W640",
    "tier": 2,
    "hits": 10,
    "code_bytes": 2048,
    "shared": False,
    "outcome": "compiled",
    "compile_ms": 12.0,
    "age_s": 3.0,
}
STATE = {
    "version": 1,
    "time": "2026-01-02T03:04:05.000Z",
    "uptime_s": 12.0,
    "pid": 4711,
    "command": "python inspect.py \x1b[31m",
    "msvm": "0.1.0",
    "isa": "avx2",
    "threads": 2,
    "queues": [
        {
            "engine": 0,
            "running": {
                "label": "H480_W640",
                "program": "detect",
                "phase": "optimize",
                "elapsed_ms": 3.5,
                "estimate_ms": 14.0,
                "progress": 0.25,
            },
            "next": [{"label": "next one", "urgency": "normal", "gain": 1.0, "estimate_ms": 12.0}],
            "queued": 3,
            "outcomes": {"compiled": 7},
            "phases": {"parse": {"count": 7, "mean_ms": 1.0, "max_ms": 2.0}},
            "compiled": {"count": 7, "mean_ms": 10.0, "max_ms": 20.0},
        }
    ],
    "memory": [
        {
            "device": "CPU(0)",
            "in_use": 1 << 20,
            "reserved": 1 << 21,
            "peak": 1 << 21,
            "fragmentation": 0.5,
            "by_owner": {"weights": 1 << 20, "arena": 0},
            "hint": "",
        }
    ],
    "programs": [
        {
            "id": 1,
            "name": "detect",
            "runs": 100,
            "failed_runs": 2,
            "hit_rate": 0.9,
            "specialised_hit_rate": 0.8,
            "region_runs": 50,
            "native": 45,
            "specialised": 40,
            "compiled": 7,
            "compile_ms": 70.0,
            "code_bytes": 4096,
            "latency": {"native": {"count": 90, "p50_ms": 1.5, "p99_ms": 3.0}},
            "rates": {"runs_per_s": 30.0},
            "regions": [
                {
                    "function": 0,
                    "region": 0,
                    "name": "@main instructions 3 to 9",
                    "symbols": ["H", "W"],
                    "runs": 50,
                    "native": 45,
                    "entries": [ENTRY],
                }
            ],
            "slow_path": [{"time": "2026-01-02T03:04:04.000Z", "region": "r", "reason": "not compiled", "place": "model.py:47"}],
            "events": [{"time": "2026-01-02T03:04:03.500Z", "kind": "hot patch", "what": "H480_W640"}],
        }
    ],
    "warnings": [
        {
            "time": "2026-01-02T03:04:05.000Z",
            "severity": "error",
            "text": "Fallback triggered at line 47",
            "place": "model.py:47",
            "mend": "declare H",
        }
    ],
    "alerts": [
        {"rule": "hit_rate < 0.85", "state": "firing", "since": "2026-01-02T03:04:00.000Z", "value": 0.5, "message": "check the camera"}
    ],
}


class Served:
    """A monitor as the command line meets it."""

    def __init__(self):
        self.state, self.token, self.seen = json.loads(json.dumps(STATE)), None, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.seen.append((self.path, self.headers.get("Authorization")))
                ok = outer.token is None or self.headers.get("Authorization") == f"Bearer {outer.token}"
                body = json.dumps(outer.state if ok else {"status": 401, "error": "a token is needed"}).encode()
                self.send_response(200 if ok else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def served():
    s = Served()
    yield s
    s.server.shutdown()
    s.server.server_close()


@pytest.fixture(autouse=True)
def own_run_folder(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    for name in [n for n in os.environ if n.startswith("MSVM_MONITOR")]:
        monkeypatch.delenv(name)


def test_once(msvm_cli, served):
    text = msvm_cli("monitor", served.address, "--once").out
    lines = text.splitlines()
    assert lines[0].startswith("python inspect.py \\x1b[31m  pid 4711  msvm 0.1.0  avx2, 2 threads  up 12.00 s")
    assert re.search(r"^detect +100 +30.0 +90.0 % +80.0 % +1.50 ms +3.00 ms +4.0 KiB +2$", text, re.M)
    assert re.search(r"^compiling +\[#####  +\] optimize 3.50 ms of about 14.00 ms +detect H480_W640$", text, re.M)
    assert "queued     3; next: next one" in text
    assert "CPU(0): 1.0 MiB in use of 2.0 MiB" in text and "fragmentation 50.0 %; weights 1.0 MiB" in text
    assert re.search(r"^jit_640x480 +H480_W640 +2 +10 +2.0 KiB +compiled +12.00 ms +3.00 s +@main", text, re.M)
    assert "ALERT hit_rate < 0.85" in text and "Fallback triggered at line 47 (model.py:47): declare H" in text
    assert "\x1b" not in text


def test_json_and_what_a_state_may_lack(msvm_cli, served):
    assert json.loads(msvm_cli("monitor", served.address, "--json").out) == STATE
    served.state = {"version": 1}
    assert "no programs" in msvm_cli("monitor", served.address, "--once").out
    served.state = {
        "version": 1,
        "programs": [{"regions": [{"entries": [{}]}]}, 3, None],
        "queues": [None],
        "memory": [{"by_owner": []}],
        "warnings": ["x"],
        "alerts": {},
    }
    assert msvm_cli("monitor", served.address, "--once").code == 0
    for wrong in ({"version": 2}, [1], {}):
        served.state = wrong
        assert msvm_cli("monitor", served.address, "--once").code == 1


def test_tokens(msvm_cli, served):
    served.token = "the-token"
    done = msvm_cli("monitor", served.address, "--once")
    assert done.code == 1 and "a token is needed" in done.err and "MSVM_MONITOR_TOKEN" in done.err
    assert msvm_cli("monitor", served.address, "--once", env={"MSVM_MONITOR_READ_TOKEN": "the-token"}).code == 0
    assert (
        msvm_cli("monitor", served.address, "--once", env={"MSVM_MONITOR_TOKEN": "another", "MSVM_MONITOR_READ_TOKEN": "the-token"}).code
        == 1
    )


def test_whom_to_attach_to(msvm_cli):
    assert "no process of this user serves a monitor" in msvm_cli("monitor").err
    for address in ("127.0.0.1:1", "http://127.0.0.1:1"):
        done = msvm_cli("monitor", address)
        assert done.code == 3 and "can't be reached" in done.err
    for wrong in ("http://", "ftp://x", "a b", "127.0.0.1:x", "user@host:1", "http://127.0.0.1:1/path"):
        assert msvm_cli("monitor", wrong).code in (1, 3), wrong


def test_jit_info_of_a_process(msvm_cli, served):
    text = msvm_cli("jit-info", "--attach", served.address).out
    assert 'program "detect"' in text and "hit rate              90.0 % (45 of 50)" in text
    assert re.search(r"^jit_cache_1 +jit_640x480 +2 +10 +2.0 KiB +compiled +12.00 ms", text, re.M)
    assert re.search(r"^ *-1.000 s +r +model.py:47 +not compiled", text, re.M) and re.search(r"^ *-1.500 s +hot patch", text, re.M)
    assert "compiler: 7 compilations, 70.00 ms in all, 20.00 ms the longest" in text
    (program,) = json.loads(msvm_cli("jit-info", "--attach", served.address, "--json").out)
    assert program["program"] == "detect" and program["hit_rate"] == 0.9 and program["compiler"]["running"]["phase"].lower() == "optimize"
    assert msvm_cli("jit-info").code == 2


class Screen:
    """The terminal view in a terminal of its own."""

    def __init__(self, address, rows, columns):
        self.fd, end = pty.openpty()
        self.resize(rows, columns)
        self.process = subprocess.Popen([MSVM, "monitor", address], stdin=end, stdout=end, stderr=end, start_new_session=True)
        os.close(end)
        self.text = ""

    def resize(self, rows, columns):
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, pattern):
        end = time.monotonic() + 20
        while not re.search(pattern, self.text, re.S):
            left = end - time.monotonic()
            assert left > 0, (pattern, self.text[-2000:])
            if select.select([self.fd], [], [], left)[0]:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
        frames = self.text.split("\x1b[H")
        return frames[-1] if len(frames[-1]) > 40 else frames[-2]

    def close(self, key):
        os.write(self.fd, key)
        code = self.process.wait(20)
        with contextlib.suppress(OSError):  # the other end is closed: all was read
            while select.select([self.fd], [], [], 0)[0]:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
        os.close(self.fd)
        return code


def test_the_terminal(served):
    screen = Screen(served.address, 24, 100)
    screen.until("q quits")
    assert screen.text.startswith("\x1b[?1049h") and "\x1b[31m2026-01-02" in screen.text
    served.state["programs"][0]["regions"][0]["entries"][0]["hits"] = 17
    frame = screen.until(r"\x1b\[32mjit_640x480[^\n]* 17  +\+7 ")
    assert all(len(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)) <= 100 for line in frame.split("\r\n"))
    assert frame.count("\r\n") <= 23
    screen.text = ""
    screen.resize(12, 40)
    os.killpg(screen.process.pid, 28)  # SIGWINCH, as terminals send it
    frame = screen.until("q quits")
    assert frame.count("\r\n") <= 11 and all(len(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)) <= 40 for line in frame.split("\r\n"))
    served.server.shutdown()
    served.server.server_close()
    screen.until("monitor at ")
    assert screen.close(b"q") == 0
    assert screen.text.endswith("\x1b[?1049l") or "\x1b[?1049l" in screen.text


def test_run_serves_a_monitor(msvm_cli, add, tmp_path):
    process = subprocess.Popen(
        [MSVM, "run", add, "-s", "x=50x100", "-s", "y=100", "-n", "1000000", "-q", "--monitor", "127.0.0.1:0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stderr.readline()
        assert re.fullmatch(r"monitor: http://127\.0\.0\.1:\d+\n", line)
        state = json.loads(msvm_cli("monitor", process.pid, "--json").out)
        assert state["pid"] == process.pid and state["role"] == "admin"
    finally:
        process.terminate()
        process.wait(20)
    assert "serves no monitor" in msvm_cli("monitor", process.pid).err, "its file doesn't count any more"


def test_monitors_that_can_not_be_had(msvm_cli, add):
    run = ["run", add, "-s", "x=2x3", "-s", "y=3", "-n", "1"]
    done = msvm_cli(*run, "--monitor", "0.0.0.0:0")
    assert done.code == 1 and "MSVM_MONITOR_TOKEN" in done.err
    done = msvm_cli(*run, env={"MSVM_MONITOR": "0.0.0.0:0"})
    assert done.code == 0 and "warning: MSVM_MONITOR: " in done.err
    done = msvm_cli(*run, env={"MSVM_MONITOR": "127.0.0.1:0"})
    assert done.code == 0 and "monitor: http://127.0.0.1:" in done.err
    assert msvm_cli(*run, "--monitor", "nowhere").code == 1


VALUE = 12345.678


def test_report(msvm_cli, tmp_path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    w = numpy_helper.from_array(np.full((4,), VALUE, np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
        [w],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    done = msvm_cli("report", "m.onnx", "-s", "x=2x4", "-q", "-o", "b.zip", env={"MSVM_MONITOR_TOKEN": "a-secret"})
    assert done.code == 0, done.err
    with zipfile.ZipFile(tmp_path / "b.zip") as z:
        files = {n: z.read(n) for n in z.namelist()}
    assert {
        "versions.json",
        "module.msasm",
        "info.json",
        "shapes.json",
        "kernels.json",
        "jit_info.txt",
        "jit_info.json",
        "capabilities.json",
        "file.json",
    } == set(files)
    everything = b"\n".join(files.values())
    assert (
        b"12345.6" not in everything
        and np.float32(VALUE).tobytes() not in everything
        and np.float32(VALUE).tobytes().hex().encode() not in everything
    )
    assert b"a-secret" not in everything and json.loads(files["versions.json"])["settings"]["MSVM_MONITOR_TOKEN"] == "(set)"
    assert b"OP_CALL Add" in files["module.msasm"]
    assert json.loads(files["shapes.json"])[0]["shapes"] == "x=2x4"
    for name in files:
        if name.endswith(".json"):
            json.loads(files[name])


def test_report_of_what_fails(msvm_cli, add, tmp_path):
    (tmp_path / "bad.msasm").write_text("module")
    assert msvm_cli("report", "bad.msasm", "-o", "b.zip").code == 0
    with zipfile.ZipFile(tmp_path / "b.zip") as z:
        assert b"bad.msasm" in z.read("error.txt")
    assert msvm_cli("report", add, "-s", "x=2x3", "-s", "y=4", "-q", "-o", "c.zip").code == 0
    with zipfile.ZipFile(tmp_path / "c.zip") as z:
        assert b"axis 0 must be 3" in z.read("error.txt") and "module.msasm" in z.namelist()
    assert msvm_cli("report", "-o", "d.zip").code == 0
    assert msvm_cli("report", "-o", "nowhere/d.zip").code == 3
    assert msvm_cli("report", add).code == 2
