"""ms.vm.start_monitor: what it serves, to whom, and how it ends."""

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from programs import ADD, assembled

import msvm as ms

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def own_run_folder(tmp_path, monkeypatch):
    """Where running monitors are found: not the user's."""
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(run))
    for name in [n for n in os.environ if n.startswith("MSVM_MONITOR")]:
        monkeypatch.delenv(name)


def get(url, path, token=None):
    request = urllib.request.Request(url + path, headers={"Authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def refused(url, path, token=None, data=None):
    """Status and message of a request that must fail."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(url + path, data=data, headers=headers | {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as e:
        urllib.request.urlopen(request, timeout=30)
    answer = json.loads(e.value.read())
    assert answer["status"] == e.value.code
    return e.value.code, answer["error"]


def post(url, path, value, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(url + path, data=json.dumps(value).encode(), headers=headers | {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status


@pytest.fixture
def monitor():
    with ms.vm.start_monitor("127.0.0.1:0") as m:
        yield m


def test_it_shows_what_runs(monitor, tmp_path):
    p = assembled(tmp_path, ADD, name="the sum")
    p({"x": np.ones((2, 3), np.float32), "y": np.ones(3, np.float32)})
    text = get(monitor.url, "/api/v1/state")
    members = json.loads(text, object_pairs_hook=lambda pairs: pairs)
    assert len({k for k, _ in members}) == len(members), "a member stands twice"
    state = json.loads(text)
    assert state["version"] == 1 and state["pid"] == os.getpid() and state["role"] == "admin" and state["msvm"] == ms.__version__
    (program,) = [q for q in state["programs"] if q["name"] == "the sum"]
    assert program["runs"] == 1
    assert "msvm_" in get(monitor.url, "/metrics") and "points" in json.loads(get(monitor.url, "/api/v1/history"))
    lines = json.loads(get(monitor.url, f"/api/v1/bytecode?program={program['id']}"))["lines"]
    assert any("OP_CALL Add" in line["text"] for line in lines)
    assert get(monitor.url, "/").startswith("<!doctype html>")
    assert refused(monitor.url, "/nothing")[0] == 404
    assert post(monitor.url, "/api/v1/actions/clear_cache", {"program": program["id"]}) == 200
    assert refused(monitor.url, "/api/v1/actions/clear_cache", data=b"[]")[0] == 400


def test_events_come_each_second(monitor):
    connection = http.client.HTTPConnection(monitor.url.removeprefix("http://"), timeout=30)
    connection.request("GET", "/api/v1/live")
    answer = connection.getresponse()
    assert answer.getheader("Content-Type") == "text/event-stream"
    ids, begin = [], time.monotonic()
    while len(ids) < 3:
        line = answer.fp.readline().decode()
        if line.startswith("id: "):
            ids.append(int(line[4:]))
        if line.startswith("data: "):
            json.loads(line[6:])
    assert ids == [ids[0], ids[0] + 1, ids[0] + 2] and time.monotonic() - begin > 1.0
    connection.close()


def test_alerts_are_shown(monitor):
    alert = {"rule": "hit_rate < 0.85", "state": "firing", "since": "2026-01-01T00:00:00.000Z", "value": 0.5, "message": "look"}
    ms._core.set_alerts(json.dumps([alert]))
    assert json.loads(get(monitor.url, "/api/v1/state"))["alerts"] == [alert]
    assert post(monitor.url, "/api/v1/alerts", []) == 200
    assert json.loads(get(monitor.url, "/api/v1/state"))["alerts"] == []
    with pytest.raises(ms.InputError, match="alerts"):
        ms._core.set_alerts("{}")


def test_the_end(tmp_path):
    m = ms.vm.start_monitor("127.0.0.1:0")
    file = tmp_path / "run/msvm" / f"{os.getpid()}.json"
    assert json.loads(file.read_text())["url"] == m.url and file.stat().st_mode & 0o777 == 0o600
    assert repr(m) == f"<msvm monitor at {m.url}>"
    m.stop()
    m.stop()
    assert repr(m).endswith("stopped>") and not file.exists()
    with pytest.raises(urllib.error.URLError):
        get(m.url, "/healthz")


def test_asked_again():
    with ms.vm.start_monitor("localhost:0") as first:
        assert ms.vm.start_monitor("localhost:0") is first
        with ms.vm.start_monitor("localhost:0", read_token="another") as other:
            assert other.url != first.url
        port = first.url.rsplit(":", 1)[1]
        with pytest.raises(ms.FileError, match="choose another port"):
            ms.vm.start_monitor(f"127.0.0.1:{port}", token="x")


def test_tokens(tmp_path, monkeypatch):
    file = tmp_path / "token"
    file.write_text("of-the-admins\n")
    with pytest.raises(ms.InputError, match="chmod 600"):
        ms.vm.start_monitor("127.0.0.1:0", token=file)
    file.chmod(0o600)
    monkeypatch.setenv("MSVM_MONITOR_READ_TOKEN", "of-the-readers")
    with ms.vm.start_monitor("127.0.0.1:0", token=file) as m:
        assert refused(m.url, "/api/v1/state")[0] == 401
        assert json.loads(get(m.url, "/api/v1/state", "of-the-admins"))["role"] == "admin"
        assert json.loads(get(m.url, "/api/v1/state", "of-the-readers"))["role"] == "read"
        assert refused(m.url, "/api/v1/alerts", "of-the-readers", b"[]")[0] == 403
        assert "of-the" not in repr(m) + m.url + (tmp_path / "run/msvm" / f"{os.getpid()}.json").read_text()
        jar = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert jar.open(m._core.browser_url(), timeout=30).read().startswith(b"<!doctype html>")
        assert json.loads(jar.open(m.url + "/api/v1/state", timeout=30).read())["role"] == "admin"


@pytest.mark.parametrize(
    "address, options, message",
    [
        ("0.0.0.0:0", {}, "MSVM_MONITOR_TOKEN"),
        ("0.0.0.0:0", {"token": "short"}, "can be guessed"),
        ("nowhere.example:0", {}, "isn't an address"),
        ("127.0.0.1:65536", {}, "expected ADDRESS:PORT"),
        (9464, {}, "address is a string"),
        ("127.0.0.1:0", {"token": 3}, "token is a string"),
        ("127.0.0.1:0", {"token": ""}, "token is a string"),
        ("127.0.0.1:0", {"token": "same", "read_token": "same"}, "are the same"),
        ("127.0.0.1:0", {"certificate": "c.pem"}, "certificate only"),
        ("127.0.0.1:0", {"certificate": "c.pem", "key": "k.pem"}, "certificate c.pem"),
        ("127.0.0.1:0", {"hosts": "a:80"}, "without a port"),
    ],
)
def test_what_is_refused(address, options, message):
    with pytest.raises(ms.InputError, match=message):
        ms.vm.start_monitor(address, **options)


def test_names_of_hosts():
    with ms.vm.start_monitor("127.0.0.1:0", hosts=["box.example"]) as m:
        for host, status in (("box.example", 200), ("evil.example", 421)):
            connection = http.client.HTTPConnection(m.url.removeprefix("http://"), timeout=30)
            connection.request("GET", "/healthz", headers={"Host": host})
            assert connection.getresponse().status == status
            connection.close()


def child(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "build/release/python"), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done


ASK = """
import os, json, pathlib, urllib.request
url = json.loads(next(pathlib.Path(os.environ["XDG_RUNTIME_DIR"]).glob("msvm/*.json")).read_text())["url"]
"""


def test_from_the_environment(tmp_path):
    code = f"import msvm\n{ASK}print(urllib.request.urlopen(url + '/healthz').read())"
    assert "ok" in child(code, MSVM_MONITOR="127.0.0.1:0").stdout
    assert list((tmp_path / "run/msvm").iterdir()) == [], "the end of the process is the end of its monitor"
    done = child("import msvm; print('goes on')", MSVM_MONITOR="0.0.0.0:0")
    assert done.stdout == "goes on\n" and "RuntimeWarning: MSVM_MONITOR: " in done.stderr and "MSVM_MONITOR_TOKEN" in done.stderr


def test_a_forked_child_has_none():
    code = f"""import msvm as ms
m = ms.vm.start_monitor("127.0.0.1:0")
{ASK}
pid = os.fork()
if pid == 0:
    mine = repr(m).endswith("stopped>")
    m.stop()
    with ms.vm.start_monitor("127.0.0.1:0") as other:
        ok = b"ok" in urllib.request.urlopen(other.url + "/healthz").read()
    os._exit(0 if mine and ok else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
print(urllib.request.urlopen(url + "/healthz").read())
"""
    assert "ok" in child(code).stdout


def test_nothing_starts_by_itself():
    code = "import msvm, os; print([open(f'/proc/self/task/{t}/comm').read() for t in os.listdir('/proc/self/task')])"
    assert "monitor" not in child(code).stdout


def test_runs_go_on_while_it_is_asked(monitor, tmp_path):
    p = assembled(tmp_path, ADD)
    stop, errors = threading.Event(), []

    def ask():
        while not stop.is_set():
            try:
                json.loads(get(monitor.url, "/api/v1/state"))
                get(monitor.url, "/metrics")
            except Exception as e:
                errors.append(e)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for t in threads:
        t.start()
    for n in range(1, 200):
        (z,) = p({"x": np.full((n % 60, 3), n, np.float32), "y": np.ones(3, np.float32)})
        assert (z == n + 1).all()
    stop.set()
    for t in threads:
        t.join()
    assert errors == []


def test_attaching(monitor, tmp_path):
    p = assembled(tmp_path, ADD, name="the sum")
    p({"x": np.ones((2, 3), np.float32), "y": np.ones(3, np.float32)})
    run = lambda *args: subprocess.run([ROOT / "build/release/msvm", *args], capture_output=True, text=True, timeout=60, check=False)  # noqa: E731
    for to in ([], [str(os.getpid())], [monitor.url], [monitor.url.removeprefix("http://")]):
        shown = run("monitor", "--once", *to)
        assert shown.returncode == 0, shown.stderr
        assert f"pid {os.getpid()}" in shown.stdout and re.search(r"^the sum +1 ", shown.stdout, re.M)
        assert "\x1b" not in shown.stdout
    assert 'program "the sum"' in run("jit-info", "--attach", str(os.getpid())).stdout
    gone = run("monitor", "999999999")
    assert gone.returncode == 3 and "serves no monitor" in gone.stderr
