"""ms.vm's alerts on programs that run: from the rule to the mail, in files, at the end of a process and after a fork."""

import contextlib
import gc
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from msvm._vm.alerts import service, watcher
from programs import ADD, assembled
from servers import hook_server, smtp_server

import msvm as ms

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def no_alerts_stay(monkeypatch):
    monkeypatch.setattr(watcher, "PERIOD", 0.05)
    yield
    for a in service.watcher().alerts():
        a.remove()


def run(p, n=4):
    p({"x": np.ones((n, 4), np.float32), "y": np.ones(4, np.float32)})


def run_until(p, done, seconds=30):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, ms.vm.alerts()
        run(p)
        time.sleep(0.01)


@contextlib.contextmanager
def running(p):
    """Again and again, on a thread, until the block ends."""
    stop = threading.Event()

    def go():
        while not stop.wait(0.01):
            run(p)

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def until(done, seconds=60):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, ms.vm.alerts()
        time.sleep(0.01)


def test_a_program_that_is_never_native(tmp_path):
    p = assembled(tmp_path, ADD, eager_compiler=True, compile_timeout=60.0)
    off = assembled(tmp_path, ADD, jit_level=0, name="off")
    with smtp_server() as (box, port), hook_server() as server:
        told = {"mail": ["shift@example.com", "lead@example.com"], "webhook": server.url, "smtp": {"host": "127.0.0.1", "port": port}}
        fired = []
        rule = "failed_runs >= 1 or runs > 20 and queued < 1e6"
        a = ms.vm.add_alert(rule, **told, for_=0.2, window=3, hold=1, message="check camera", f=off, on_fire=fired.append)
        other = ms.vm.add_alert("runs > 1e9", f=p)
        assert (a.state, a.since, repr(a)) == ("ok", None, f"<Alert '{rule} for 0.2 s' ok>")
        with running(off):
            until(lambda: a.state == "firing")
            mails, body = box.wait(2, 60), server.wait(1, 60)[0]
            until(lambda: "sent 2" in str(ms.vm.alerts()[0]["last"]))
            table = ms.vm.alerts()
        assert [r["state"] for r in table] == ["firing", "ok"] and "sent 2" in str(table[0]["last"]) and table[0]["programs"] == "Program"
        box.wait(4, 60)  # nothing runs: a value of 0 ends it
        server.wait(2, 60)
        until(lambda: a.state == "ok")
        assert a.state == "ok" and other.value is not None
        time.sleep(0.3)
        assert len(box.messages) == 4 and len(server.bodies) == 2 and fired == [a]
    assert {m["To"] for m in mails} == {"shift@example.com", "lead@example.com"}
    text = mails[0].get_content()
    assert rule in text and "check camera" in text and "programs\n    off" in text
    assert body["alerts"][0]["values"]["runs"] > 20 and body["pid"] == os.getpid()
    assert "RESOLVED" in box.messages[3].get_content() and server.bodies[1][2]["alerts"][0]["state"] == "resolved"


def test_misses_by_reason_of_a_real_program(tmp_path):
    p = assembled(tmp_path, ADD, eager_compiler=True, compile_timeout=60.0, disk_cache=False)
    with hook_server() as server:
        ms.vm.add_alert("specialised_hit_rate < 1", webhook=server.url, f=p, window=60)
        for k in range(1, 30):
            run(p, k)
        ms.vm.wait_compiled(p, timeout=60)
        run_until(p, lambda: server.bodies)
        found = server.wait(1)[0]["alerts"][0]
    assert found["last_shapes"] and all("add @main" in s and "N=" in s and s.endswith("runs") for s in found["last_shapes"])
    assert found["programs"] == ["add"] and found["value"] < 1
    assert all(m["where"].startswith("add @main") and m["count"] > 0 and m["reason"] for m in found["misses"])


def test_latencies(tmp_path):
    p = assembled(tmp_path, ADD, jit_level=0)
    for _ in range(50):
        run(p)
    a = ms.vm.add_alert("p50_ms > 1e6 or p99_ms > 1e6 or p999_ms > 1e6", f=p, window=60)
    time.sleep(0.2)
    assert set(a.values.values()) == {None}, "runs from before don't count"
    run_until(p, lambda: a.value is not None)
    ordered = list(a.values.values())
    assert 0 < ordered[0] <= ordered[1] <= ordered[2] < 1e4


def test_the_monitor_shows_alerts(tmp_path):
    p = assembled(tmp_path, ADD, jit_level=0, name="shown")
    with ms.vm.start_monitor("127.0.0.1:0") as monitor, hook_server() as server:
        a = ms.vm.add_alert("runs > 5", webhook=server.url, f=p, message="check camera")
        run_until(p, lambda: a.state == "firing")
        assert server.wait(1)[0]["alerts"][0]["monitor"] == monitor.url
        with urllib.request.urlopen(monitor.url + "/api/v1/state") as answer:
            (shown,) = json.load(answer)["alerts"]
        assert (shown["rule"], shown["state"], shown["message"]) == ("runs > 5", "firing", "check camera") and shown["value"] > 5
        a.remove()
        with urllib.request.urlopen(monitor.url + "/api/v1/state") as answer:
            assert json.load(answer)["alerts"] == []


def test_adding_and_removing():
    a, b = ms.vm.add_alert("misses > 5"), ms.vm.add_alert("misses > 5", for_="2s")
    c = ms.vm.add_alert("queued > 5")
    assert [r["rule"] for r in ms.vm.alerts()] == ["misses > 5", "misses > 5 for 2 s", "queued > 5"]
    a.remove()
    a.remove()
    ms.vm.remove_alert("misses > 5")
    assert [r["rule"] for r in ms.vm.alerts()] == ["queued > 5"]
    with pytest.raises(ms.InputError, match="there is no alert 'misses > 5'; there are 'queued > 5'"):
        ms.vm.remove_alert("misses > 5")
    ms.vm.remove_alert(c)
    ms.vm.remove_alert(b)
    assert ms.vm.alerts() == [] and "no alerts are watched" in repr(ms.vm.alerts())


def test_an_alert_keeps_no_program(tmp_path):
    p = assembled(tmp_path, ADD)
    a = ms.vm.add_alert("runs > 1e9", f=p)
    run_until(p, lambda: a.value)
    core = p.executables()[0]
    holders = len(gc.get_referrers(core))
    del p
    gc.collect()
    time.sleep(0.3)
    assert ms.vm.alerts()[0]["programs"] == "gone" and len(gc.get_referrers(core)) < holders


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"f": 3}, "expected a Program or a jitted function, found int"),
        ({"for_": "x"}, "for_: column 1: expected a time"),
        ({"window": 0}, "window: expected 1 second to an hour"),
        ({"hold": -1}, "hold: expected"),
        ({"limit_per_hour": 0}, "limit_per_hour"),
        ({"message": 3}, "message"),
        ({"on_fire": 3}, "on_fire"),
    ],
)
def test_arguments_that_cant_be(options, says):
    with pytest.raises(ms.InputError, match=says):
        ms.vm.add_alert("misses > 5", **options)
    with pytest.raises(ms.InputError, match="given twice"):
        ms.vm.add_alert("misses > 5 for 3 s", for_=3)
    assert ms.vm.alerts() == []


TOML = """
[smtp]
host = "127.0.0.1"
user = "line3@example.com"
password = "pass-in-file"

[[alerts]]
rule = "hit_rate < 0.85 for 60s"
mail = ["shift@example.com", "lead@example.com"]
message = "check camera feed resolution"
program = "detect"

[[alerts]]
rule = "fragmentation > 50%"
for = "5 m"
webhook = { url = "http://127.0.0.1:1/x", token = "token-in-file" }
window = 30
hold = "2 m"
limit_per_hour = 3
"""


def written(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)
    return path


def test_files(tmp_path):
    found = ms.vm.load_alerts(written(tmp_path / "alerts.toml", TOML))
    assert [a.rule for a in found] == ["hit_rate < 0.85 for 60s", "fragmentation > 50% for 300 s"]
    assert [r["told"] for r in ms.vm.alerts()] == [
        ["mail to shift@example.com", "mail to lead@example.com"],
        ["webhook at http://127.0.0.1:1"],
    ]
    assert ms.vm.alerts()[0]["programs"] == "detect" and found[1].window == 30
    as_json = '{"alerts": [{"rule": "misses > 3", "webhook": ["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"]}]}'
    ms.vm.load_alerts(written(tmp_path / "alerts.json", as_json, 0o644))
    assert len(ms.vm.alerts()) == 3 and "in-file" not in repr(ms.vm.alerts())


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        (TOML, 0o644, "holds secrets, and others may use it"),
        (
            TOML.replace('password = "pass-in-file"', 'password = "env:NOT_THERE"').replace("token-in-file", "env:X"),
            0o644,
            "has no NOT_THERE",
        ),
        (
            TOML.replace("fragmentation", "fragmentatoin"),
            0o600,
            "alert 2: rule: column 1: there is no metric fragmentatoin; is fragmentation",
        ),
        (TOML.replace("window", "windw"), 0o600, "alert 2: there is no windw; possible are rule, mail"),
        (TOML.replace('program = "detect"', "program = 3"), 0o600, "alert 1: program: expected a name"),
        (TOML.replace("shift@", "shift"), 0o600, "alert 1: mail: expected a mail address"),
        (TOML.replace('rule = "hit', 'role = "hit'), 0o600, "alert 1: there is no role"),
        ("[[alerts]]\nmail = 'a@b.c'", 0o600, "alert 1: it has no rule"),
        ("alerts = 3", 0o600, "expected a list of tables"),
        ("smtp = 3", 0o600, "smtp: expected a table"),
        ("rules = 3", 0o600, "there is no rules; possible are smtp, alerts"),
        ("[[alerts", 0o600, "TOML"),
    ],
)
def test_files_that_are_not_right_add_nothing(tmp_path, text, mode, says):
    with pytest.raises(ms.Error, match=says) as e:
        ms.vm.load_alerts(written(tmp_path / "alerts.toml", text, mode))
    assert "alerts.toml" in str(e.value) and "in-file" not in str(e.value) and ms.vm.alerts() == []
    with pytest.raises(ms.FileError, match=r"nowhere\.toml: No such file"):
        ms.vm.load_alerts(tmp_path / "nowhere.toml")


def python(code, **environment):
    env = os.environ | {"PYTHONPATH": str(ROOT / "build/release/python")} | environment
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_the_environment_names_a_file(tmp_path):
    path = written(tmp_path / "alerts.toml", TOML)
    done = python("import msvm; print([a['rule'] for a in msvm.vm.alerts()])", MSVM_ALERTS=str(path))
    assert done.stdout.strip() == "['hit_rate < 0.85 for 60s', 'fragmentation > 50% for 300 s']" and done.stderr == ""
    path.write_text("[[alerts]]\nrule = 'hit_rat < 1'")
    done = python("import msvm; print(len(msvm.vm.alerts()))", MSVM_ALERTS=str(path))
    assert done.stdout.strip() == "0" and "MSVM_ALERTS: no alerts are watched" in done.stderr and "is hit_rate meant?" in done.stderr


PROCESS = """
import os, sys, time
import msvm as ms
from msvm._vm.alerts import watcher
watcher.PERIOD = 0.05
f = ms.jit(lambda x: x * 2)
a = ms.vm.add_alert("peak >= 0", webhook=sys.argv[1] if len(sys.argv) > 1 else os.environ["HOOK"])
while a.state != "firing": time.sleep(0.01)
"""


def test_a_process_that_ends_at_once_still_tells():
    with hook_server() as server:
        python(PROCESS, HOOK=server.url)
        assert [b["alerts"][0]["state"] for b in server.wait(1)] == ["firing"]
    begin = time.monotonic()
    python(PROCESS, HOOK="http://127.0.0.1:1/x")
    assert time.monotonic() - begin < 30, "and waits for nobody for long"


def test_a_child_has_no_alerts():
    with hook_server() as server:
        code = (
            PROCESS
            + """
pid = os.fork()
if pid == 0:
    assert ms.vm.alerts() == []
    a.remove()
    b = ms.vm.add_alert("peak >= 0")
    while b.state != "firing": time.sleep(0.01)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
assert len(ms.vm.alerts()) == 1
"""
        )
        python(code, HOOK=server.url)
        server.wait(1)
        time.sleep(0.3)
        assert len(server.bodies) == 1


def test_importing_costs_nothing_until_there_are_alerts():
    done = python("import msvm, sys; msvm.vm.jit_info(); print([m for m in sys.modules if 'smtplib' in m or '_vm.alerts' in m])")
    assert done.stdout.strip() == "[]"
