"""What Prometheus itself makes of the metrics, the alert rules and the dashboard."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "docs/alerts/prometheus_rules.yml"
DASHBOARD = ROOT / "docs/grafana/msvm.json"
TABLE = (ROOT / "src/observe/snapshot/metrics.def").read_text()
NAMES = re.findall(r'^MSVM_METRIC\(\w+, "(\w+)", "(\w+)"', TABLE, re.M)

needs_prometheus = pytest.mark.skipif(not shutil.which("prometheus"), reason="prometheus isn't installed (tools/setup.sh does it)")
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool isn't installed (tools/setup.sh does it)")


def dashboard_queries():
    """Each query of the dashboard, with its variables as one that chooses all fills them in."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"].replace("$__rate_interval", "10s").replace("$__range", "30m")
            yield panel["title"], re.sub(r'"\$(job|instance|program)"', '".*"', query)


def rule_queries():
    text = RULES.read_text()
    for name, query in re.findall(r"- alert: (\w+)\n\s+expr: ((?:\|\n(?: {10}.*\n)+)|.*\n)", text):
        yield name, query.removeprefix("|").strip()


def metrics_in(query):
    return set(re.findall(r"\bmsvm_\w+", query))


def is_known(name):
    several = [n for n, kind in NAMES if kind in ("histogram", "summary")]
    return name in dict(NAMES) or any(name == n + end for n in several for end in ("_bucket", "_sum", "_count"))


def test_rules_and_dashboard_name_metrics_of_the_table():
    queries = [q for _, q in [*dashboard_queries(), *rule_queries()]]
    assert len(queries) > 30
    for query in queries:
        assert metrics_in(query), query
        assert all(is_known(m) for m in metrics_in(query)), query


@needs_promtool
def test_rules():
    done = subprocess.run(["promtool", "check", "rules", str(RULES)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{RULES.read_text().count('- alert:')} rules found" in done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Where a running program serves its metrics."""
    log = (tmp_path_factory.mktemp("program") / "log").open("w+")
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("monitored.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), "MSVM_CACHE_DIR": str(tmp_path_factory.mktemp("code")), "PATH": "/usr/bin:/bin"},
    ) as child:
        address = child.stdout.readline().strip()
        log.seek(0)
        assert address, log.read()
        yield address
        child.stdin.close()
        assert child.wait(timeout=30) == 0


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


@needs_promtool
def test_promtool_finds_nothing_wrong(program):
    text = fetch(f"http://{program}/metrics")
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def prometheus(program, tmp_path_factory):
    """A Prometheus that has scraped the program some times; asks it a query."""
    folder = tmp_path_factory.mktemp("prometheus")
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [{"job_name": "msvm", "static_configs": [{"targets": [program]}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    port = free_port()
    log = (folder / "log").open("w+")
    command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    with subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log) as child:

        def ask(query):
            answer = json.loads(fetch(f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': query})}"))
            assert answer["status"] == "success", (query, answer)
            return answer["data"]["result"]

        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                try:
                    if [r for r in ask("count_over_time(up[1m])") if float(r["value"][1]) >= 6]:
                        break
                except OSError:
                    pass
                time.sleep(0.2)
            yield ask
        finally:
            child.terminate()
            child.wait(timeout=30)
    log.seek(0)
    assert "level=error" not in log.read()


def value(result):
    assert len(result) == 1, result
    return float(result[0]["value"][1])


@needs_prometheus
def test_prometheus_scrapes_a_running_program(prometheus):
    assert value(prometheus("up")) == 1
    assert value(prometheus("scrape_samples_scraped")) > 40
    assert value(prometheus('rate(msvm_runs_total{program=~"watched.*"}[10s])')) > 1
    assert value(prometheus("sum(rate(msvm_region_runs_total[10s]))")) > 1
    p99 = value(prometheus("histogram_quantile(0.99, sum by (le) (rate(msvm_run_duration_seconds_bucket[10s])))"))
    mean = value(prometheus("sum(rate(msvm_run_duration_seconds_sum[10s])) / sum(rate(msvm_run_duration_seconds_count[10s]))"))
    assert 0 < mean < 1
    assert 0 < p99 < 10
    # 2 * 8^3 of the product, one an element of tanh and the sum.
    a_run = value(prometheus("sum(rate(msvm_operations_total[10s])) / sum(rate(msvm_run_duration_seconds_count[10s]))"))
    assert a_run == pytest.approx(2 * 8**3 + 2 * 64, rel=0.05)


@needs_prometheus
def test_every_query_of_dashboard_and_rules_is_answered(prometheus):
    answered = [title for title, query in dashboard_queries() if prometheus(query)]
    # What needs failures, compilations of this moment or a measured peak has no answer.
    assert len(answered) > 20, answered
    for name, query in rule_queries():
        assert isinstance(prometheus(query), list), name
