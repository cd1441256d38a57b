"""The event stream: logs, what becomes of them, the flight recorder."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import msvm as ms


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    ms.vm.enable_bc_trace(False)
    ms.vm.enable_flight_recorder(False)


def table(path):
    with Path(path).open(newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def of(rows, program, kind=None):
    return [r for r in rows if r["program"] == program and kind in (None, r["kind"])]


def make(name, **options):
    @ms.jit(name=name, **options)
    def body(x, w):
        y = ms.ops.matmul(x, w)
        return ms.ops.relu(y * 2 - 1).sum(-1), ms.ops.softmax(y)

    return body


def test_a_run_becomes_rows():
    f = make("rows, with a comma", jit_level="O0")  # else native code may come in the midst of it
    path = ms.vm.enable_bc_trace(True)
    assert Path(path).parent == Path("ms_bc_trace") and path.endswith(f"-{os.getpid()}.bclog")
    for n in (2, 3, 2):
        f(np.ones((n, 4), np.float32), np.ones((4, 5), np.float32))
    assert ms.vm.enable_bc_trace(False) == path
    rows = of(table(ms.vm.bc_trace_to_csv()), "rows, with a comma")
    runs = [r for r in rows if r["kind"] == "run"]
    assert [r["mode"] for r in runs] == ["interpreted"] * 3
    for run in runs:
        mine = [r for r in rows if r["run"] == run["run"] and r["kind"] == "call"]
        assert mine and all(float(run["seconds"]) <= float(r["seconds"]) for r in mine)
        assert sum(float(r["duration_us"]) for r in mine) <= float(run["duration_us"])
    products = [r for r in rows if r["kind"] == "call" and "MatMul" in r["operator"]]
    assert [r["shapes"].split(" -> ")[1][: len("f32[2, 5]")] for r in products] == ["f32[2, 5]", "f32[3, 5]", "f32[2, 5]"]
    assert [float(r["gflop"]) * 1e9 for r in products] == pytest.approx([2 * 2 * 4 * 5, 2 * 3 * 4 * 5, 2 * 2 * 4 * 5])
    assert all(r["name"] and "test_trace.py:" in r["place"] and int(r["bytes"]) > 0 for r in products)
    assert time.time() - 600 < time.mktime(time.strptime(runs[0]["time"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone < time.time() + 5


def test_native_code_and_the_jit_stand_in_it():
    @ms.jit(name="native rows", eager_compiler=True, compile_timeout=60.0)
    def chain(x):
        return ms.ops.exp(ms.ops.relu(x) * 3 + 1) - x

    ms.vm.enable_bc_trace(True)
    for _ in range(4):
        chain(np.ones((64, 64), np.float32))
    assert ms.vm.wait_compiled(chain, timeout=120)
    for _ in range(8):
        chain(np.ones((64, 64), np.float32))
    ms.vm.wait_compiled(chain, timeout=120)
    chain(np.ones((64, 64), np.float32))
    rows = table(ms.vm.bc_trace_to_csv())
    runs = of(rows, "native rows", "run")
    regions = of(rows, "native rows", "region")
    assert len(runs) == 13 and runs[0]["tier"] == "0" and int(runs[-1]["tier"]) >= 1
    assert regions[-1]["tier"] == runs[-1]["tier"] and regions[-1]["name"].startswith("jit_cache_")
    view = ms.vm.jit_info(chain)
    hits = {e["entry"]: e["hits"] for e in view}
    told = [r["name"] for r in regions if r["name"]]
    assert {name: told.count(name) for name in set(told)} == {n: h for n, h in hits.items() if h}
    assert any(r["kind"] == "jit" and r["name"] == "hot patch" and "jit_cache_" in r["what"] for r in rows)


def test_failed_runs_say_why():
    @ms.jit(name="failing rows")
    def pick(x, i):
        return ms.ops.gather(x, i, 0)

    pick(np.ones((3, 2), np.float32), np.array([0, 1]))
    ms.vm.enable_bc_trace(True)
    with pytest.raises(ms.Error):
        pick(np.ones((3, 2), np.float32), np.array([0, 7]))
    rows = of(table(ms.vm.bc_trace_to_csv()), "failing rows", "run")
    assert len(rows) == 1 and "7" in rows[0]["name"] and "outside" in rows[0]["name"]


def test_columns_are_those_of_the_page():
    text = (Path(__file__).parents[2] / "docs" / "traces.md").read_text()
    names = [name for name, _ in ms._core.trace_columns()]
    rows = [line.split("|") for line in text.split("<!-- columns -->")[1].splitlines() if line.startswith("| `")]
    assert [r[1].strip(" `") for r in rows] == names
    assert [r[2].strip() for r in rows] == [doc for _, doc in ms._core.trace_columns()]


def test_threads_and_a_second_log():
    f = make("threads of rows")
    w = np.ones((4, 5), np.float32)
    first = ms.vm.enable_bc_trace(True)
    threads = [threading.Thread(target=lambda n=n: [f(np.ones((n, 4), np.float32), w) for _ in range(50)]) for n in (1, 2, 3, 4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ms.vm.enable_bc_trace(False)
    runs = of(table(ms.vm.bc_trace_to_csv(first)), "threads of rows", "run")
    assert len(runs) == 200 and len({r["thread"] for r in runs}) == 4
    second = ms.vm.enable_bc_trace(True)
    assert second != first
    f(np.ones((2, 4), np.float32), w)
    ms.vm.enable_bc_trace(False)
    rows = table(ms.vm.bc_trace_to_csv(second))
    assert len(of(rows, "threads of rows", "run")) == 1
    assert next(r["shapes"] for r in of(rows, "threads of rows", "call") if "MatMul" in r["operator"]).startswith("f32[2, 4], f32[4, 5]")


def test_files_follow_each_other_and_each_says_all():
    f = make("many rows")
    w = np.ones((4, 5), np.float32)
    ms.vm.enable_bc_trace(True, "logs", max_bytes=20_000, max_files=3)
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        f(np.ones((3, 4), np.float32), w)
    last = ms.vm.enable_bc_trace(False)
    logs = sorted(Path("logs").glob("*.bclog"))
    assert len(logs) == 3 and Path(last) in logs
    for log in logs:
        rows = table(ms.vm.bc_trace_to_csv(log))
        products = [r for r in rows if r["kind"] == "call" and "MatMul" in r["operator"]]
        if log != Path(last):
            assert len(products) > 100
        named = [r for r in products if r["shapes"].startswith("f32[3, 4], f32[4, 5]") and r["name"] and r["program"] == "many rows"]
        assert len(named) == len(products)


def test_slices_of_a_viewer_lie_within_each_other():
    f = make("nested rows")
    ms.vm.enable_bc_trace(True)
    for n in (3, 5, 3):
        f(np.ones((n, 4), np.float32), np.ones((4, 5), np.float32))
    events = json.loads(Path(ms.vm.bc_trace_to_perfetto()).read_text())["traceEvents"]
    slices = sorted((e for e in events if e["ph"] == "X" and e["cat"] != "compile"), key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    assert len(slices) > 9
    open_until: dict[int, list[float]] = {}
    for e in slices:
        stack = open_until.setdefault(e["tid"], [])
        while stack and stack[-1] <= e["ts"] + 0.002:
            stack.pop()
        end = e["ts"] + e["dur"]
        assert not stack or end <= stack[-1] + 0.002, e
        stack.append(end)


def test_summary_and_perfetto():
    f = make("summed rows")
    ms.vm.enable_bc_trace(True)
    for _ in range(20):
        f(np.ones((64, 4), np.float32), np.ones((4, 5), np.float32))
    s = ms.vm.bc_trace_summary()
    mine = next(p for p in s["programs"] if p["name"] == "summed rows")
    assert mine["runs"] == 20 and mine["failed"] == 0 and 0 < mine["p50_ms"] <= mine["p99_ms"] <= mine["max_ms"]
    assert sum(r["count"] for r in mine["instructions"] if "MatMul" in r["operator"]) == 20
    assert "summed rows: 20 runs" in repr(s) and s["core_gflops"] > 1
    path = ms.vm.bc_trace_to_perfetto(out="trace.json")
    events = json.loads(Path(path).read_text())["traceEvents"]
    assert sum(e["ph"] == "X" and e["cat"] == "run" and e["name"].startswith("summed rows") for e in events) == 20


@pytest.mark.skipif(not os.environ.get("MSVM_TRACE_PROCESSOR"), reason="it names Perfetto's trace_processor_shell")
def test_perfettos_own_trace_processor_reads_it():
    f = make("processed rows")
    ms.vm.enable_bc_trace(True)
    for _ in range(7):
        f(np.ones((64, 4), np.float32), np.ones((4, 5), np.float32))
    path = ms.vm.bc_trace_to_perfetto()
    Path("query.sql").write_text("select count(*) from slice where category = 'run' and name glob 'processed rows*';")
    command = [os.environ["MSVM_TRACE_PROCESSOR"], "-q", "query.sql", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split()[-1] == "7", done.stdout + done.stderr


def test_flight_recorder():
    f = make("flying rows")
    w = np.ones((4, 5), np.float32)
    with pytest.raises(ms.InputError, match="no flight recorder"):
        ms.vm.dump_flight_recorder()
    ms.vm.enable_flight_recorder(True, seconds=5, on_crash=False)
    for _ in range(10):
        f(np.ones((3, 4), np.float32), w)
    path = ms.vm.dump_flight_recorder("hit rate / low")
    assert path.endswith("hit-rate---low.bclog")
    rows = table(ms.vm.bc_trace_to_csv(path))
    assert len(of(rows, "flying rows", "run")) == 10
    assert [(r["name"], r["what"]) for r in rows if r["kind"] == "note"] == [("dump", "hit rate / low")]
    with pytest.raises(ms.InputError, match="seconds"):
        ms.vm.enable_flight_recorder(True, seconds=0)


def test_an_alert_writes_what_the_flight_recorder_holds(caplog):
    f = make("alarming rows")
    ms.vm.enable_flight_recorder(True, seconds=5, on_crash=False)
    for _ in range(3):
        f(np.ones((3, 4), np.float32), np.ones((4, 5), np.float32))
    fired = threading.Event()
    alert = ms.vm.add_alert("runs > 0", f=f, message="look at the camera", on_fire=lambda _: fired.set(), webhook="http://127.0.0.1:9/")
    try:
        until = time.monotonic() + 20
        while not fired.wait(0.1) and time.monotonic() < until:
            f(np.ones((3, 4), np.float32), np.ones((4, 5), np.float32))
        assert fired.is_set()
    finally:
        alert.remove()
    (dump,) = Path("ms_bc_trace").glob("*-alert-runs---0.bclog")
    rows = table(ms.vm.bc_trace_to_csv(dump))
    assert len(of(rows, "alarming rows", "run")) >= 3
    assert ("alert", "runs > 0: look at the camera") in [(r["name"], r["what"]) for r in rows if r["kind"] == "note"]
    assert str(dump) in caplog.text


def test_a_forked_child_records_for_itself():
    f = make("forked rows")
    x, w = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)
    path = ms.vm.enable_bc_trace(True)
    f(x, w)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            f(x, w)
            if not ms._core.tracing():
                ms.vm.enable_bc_trace(True, "child")
                f(x, w)
                ms.vm.enable_bc_trace(False)
                code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    f(x, w)
    assert len(of(table(ms.vm.bc_trace_to_csv(path)), "forked rows", "run")) == 2
    assert len(of(table(ms.vm.bc_trace_to_csv("child")), "forked rows", "run")) == 1


CRASH = """
import os, signal, sys
import msvm as ms, numpy as np
@ms.jit(name="doomed")
def f(x):
    return ms.ops.relu(x) + 1
if sys.argv[1] == "crash":
    ms.vm.enable_flight_recorder(True, seconds=5)
for k in range(30):
    f(np.ones((4, 4), np.float32))
if sys.argv[1] == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
print("ready", flush=True)
while True:
    f(np.ones((4, 4), np.float32))
"""


def test_a_crash_leaves_a_dump():
    done = subprocess.run([sys.executable, "-c", CRASH, "crash"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGSEGV
    (dump,) = Path("ms_bc_trace").glob("crash-*.bclog")
    assert len(of(table(ms.vm.bc_trace_to_csv(dump)), "doomed", "run")) == 30


def test_a_killed_process_leaves_a_log():
    env = dict(os.environ, MSVM_BC_TRACE="killed")
    with subprocess.Popen([sys.executable, "-c", CRASH, "run"], stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.kill()
    rows = of(table(ms.vm.bc_trace_to_csv("killed")), "doomed", "run")
    assert len(rows) > 30 and all(r["mode"] for r in rows)


def test_a_cut_or_broken_log_is_read_as_far_as_it_goes():
    f = make("cut rows")
    path = ms.vm.enable_bc_trace(True)
    for _ in range(5):
        f(np.ones((3, 4), np.float32), np.ones((4, 5), np.float32))
        ms.vm.bc_trace_summary()  # a block of its own
    ms.vm.enable_bc_trace(False)
    whole = Path(path).read_bytes()
    Path("cut.bclog").write_bytes(whole[:-7])
    s = ms.vm.bc_trace_summary("cut.bclog")
    assert len(s["damage"]) == 1 and "killed" in s["damage"][0]
    assert next(p for p in s["programs"] if p["name"] == "cut rows")["runs"] == 4
    blocks = [k for k in range(len(whole)) if whole.startswith(b"BLCK", k)]
    broken = bytearray(whole)
    broken[blocks[-1] - 3] ^= 1
    Path("broken.bclog").write_bytes(broken)
    s = ms.vm.bc_trace_summary("broken.bclog")
    assert s["damage"] == [f"at byte {blocks[-2]}: a block whose checksum is wrong"]
    for bad in (b"", whole[:20], b"x" * 200):
        Path("bad.bclog").write_bytes(bad)
        with pytest.raises(ms.Error, match=r"bad\.bclog"):
            ms.vm.bc_trace_summary("bad.bclog")


FULL = """
import logging, resource, signal, sys
import msvm as ms, numpy as np
@ms.jit(name="full disk")
def f(x):
    return ms.ops.relu(x) + 1
f(np.ones((4, 4), np.float32))
logging.basicConfig(stream=sys.stdout, format="%(message)s")
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
ms.vm.enable_bc_trace(True)
f(np.ones((4, 4), np.float32))
ms.vm.bc_trace_summary()  # a block of its own, that fits
while ms._core.tracing():
    f(np.ones((4, 4), np.float32))
print(f(np.ones((4, 4), np.float32)).sum())
print(ms.vm.bc_trace_summary()["programs"][0]["name"])
"""


def test_a_trace_that_can_not_grow_ends_and_says_so():
    done = subprocess.run([sys.executable, "-c", FULL], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("32.0\n") and done.stdout.endswith("full disk\n")
    assert "the trace ends here: the process may write no larger file" in done.stdout


def test_bad_arguments():
    with pytest.raises(ms.FileError, match="no such trace"):
        ms.vm.bc_trace_to_csv("nothing.bclog")
    with pytest.raises(ms.Error, match="there is no trace"):
        ms.vm.bc_trace_to_csv(str(Path.cwd()))
    Path("file").write_text("")
    with pytest.raises(ms.FileError, match="file"):
        ms.vm.enable_bc_trace(True, "file")
    path = ms.vm.enable_bc_trace(True)
    with pytest.raises(ms.FileError, match="nowhere"):
        ms.vm.bc_trace_to_csv(path, out="/nowhere/t.csv")
    with pytest.raises(ms.InputError, match="at least one"):
        ms.vm.enable_bc_trace(True, max_files=0)


@pytest.mark.parametrize(("variable", "value"), [("MSVM_FLIGHT_RECORDER", "soon"), ("MSVM_BC_TRACE", "/dev/null/x")])
def test_bad_environment(variable, value):
    env = dict(os.environ, **{variable: value})
    done = subprocess.run([sys.executable, "-c", CRASH, "run"], capture_output=True, text=True, env=env, timeout=120, check=False)
    assert done.returncode == 1 and variable in done.stderr


SLOW = """
import json
import msvm as ms, numpy as np
@ms.jit(name="slow rows")
def chain(x):
    return ms.ops.exp(ms.ops.relu(x) * 3 + 1) - x
ms.vm.enable_bc_trace(True)
for _ in range(6):
    chain(np.ones((64, 64), np.float32))
ms.vm.wait_compiled(chain, timeout=60)
found = ms.vm.slow_path(chain)
assert found and {r["instead"] for r in found} == {"interpreter"}, found
print(json.dumps(sorted({r["reason"] for r in found})))
"""


def test_slow_paths(tmp_path):
    env = dict(os.environ, MSVM_CC="/nonexistent/msvm-cc", MSVM_CACHE_DIR=str(tmp_path / "no code"))
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, env=env, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    reasons = json.loads(done.stdout)  # a later run may have asked again
    assert reasons and all("no compiler at /nonexistent/msvm-cc" in r for r in reasons)
    lines = [json.loads(line) for line in Path("ms_bc_trace/slow_path.log").read_text().splitlines()]
    assert {(r["program"], r["reason"], r["instead"]) for r in lines} == {("slow rows", reason, "interpreter") for reason in reasons}
    assert set(lines[0]) == {"time", "program", "region", "place", "reason", "scd", "phase", "elapsed_ms", "limit_ms", "instead"}
