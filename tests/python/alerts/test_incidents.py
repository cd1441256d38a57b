"""Incidents, and what is told of them: with clocks and programs that the tests move."""

import json
import logging

import pytest
from msvm._vm.alerts import service, watcher
from msvm._vm.alerts.incident import Incident

import msvm as ms
from msvm import _core


def changes(incident, holds):
    """What comes of a look a second."""
    return [incident.step(h, 1.0, float(k)) for k, h in enumerate(holds)]


def test_once_it_held_long_enough():
    i = Incident(needed=3, hold=0)
    assert changes(i, [True] * 8) == [None, None, None, "firing"] + [None] * 4
    assert i.state == "firing" and i.since == 0.0
    assert changes(Incident(needed=0, hold=0), [True] * 3) == ["firing", None, None]


def test_it_has_to_hold_all_the_time():
    i = Incident(needed=3, hold=0)
    assert changes(i, [True, True, False] * 5) == [None] * 15
    assert i.state == "ok"


def test_resolved_after_the_hold():
    i = Incident(needed=0, hold=2)
    assert changes(i, [True, False, False, False, False]) == ["firing", None, "resolved", None, None]
    assert i.state == "ok"


def test_flapping_is_one_incident():
    i = Incident(needed=0, hold=5)
    told = changes(i, [True, False] * 100 + [False] * 10)
    assert [t for t in told if t] == ["firing", "resolved"]


def test_without_a_value_nothing_moves():
    i = Incident(needed=3, hold=2)
    assert changes(i, [True, True, True, None, None, None, None, True]) == [None] * 7 + ["firing"]
    assert changes(i, [False, None, None, None]) == [None] * 4 and i.state == "firing"
    assert changes(i, [False]) == ["resolved"]
    assert changes(Incident(needed=0, hold=0), [None] * 9) == [None] * 9


class Line:
    """A program of one region as the samples see it."""

    def __init__(self, name="line"):
        self.name = name
        self.seconds = 0.0
        self.region = dict.fromkeys(("runs", "native", "specialised", "interpreted_ms", "native_ms"), 0)
        self.region |= {"function": 0, "region": 0, "name": "@main instructions 3 to 9", "symbols": ["N", "H"]}
        self.region |= {"state": "SCD 0.50 is below 0.8", "entries": []}
        self.slow, self.failed_runs, self.queued, self.hint = [], 0, 0, ""
        self.code = dict.fromkeys(("compiled", "from_disk", "failed", "evicted", "compile_ms", "code_bytes"), 0)

    def run(self, native, interpreted):
        self.region["runs"] += native + interpreted
        self.region["native"] += native
        self.region["native_ms"] += native * 2
        self.region["interpreted_ms"] += interpreted * 10

    def jit_view(self):
        of_all = {k: self.region[k] for k in ("runs", "native", "specialised")}
        about = {"program": self.name, "seconds": self.seconds, "hint": self.hint}
        return about | of_all | self.code | {"regions": [json.loads(json.dumps(self.region))], "slow_path": list(self.slow)}

    def options(self):
        return {"name": self.name}

    def counters(self):
        return {"runs": self.region["runs"], "failed_runs": self.failed_runs}

    def jit_queue(self):
        return {"engine": 7, "queued": self.queued, "work": 0, "running": None}

    def executables(self):
        return [self]


class Recorder:
    """An outbox that keeps what is posted: a batch for each look at which somebody is told."""

    def __init__(self):
        self.batches = []

    def post(self, batch):
        if batch:
            self.batches.append([(d.shown, n.change, n.rule) for d, n in batch])
            self.notices = [n for _, n in batch]

    def last(self, destination):
        return ""


@pytest.fixture
def watched(monkeypatch):
    """A watcher without a thread: ``look()`` is a second later than the look before."""
    w = watcher.Watcher(Recorder())
    w.lines = [Line()]
    monkeypatch.setattr(watcher._registry, "executables", lambda f=None: w.lines if f is None else f.executables())
    w.now = 0.0
    w._clock, w._wall = (lambda: w.now), (lambda: 1.8e9 + w.now)

    def look(native=0, interpreted=0):
        w.now += 1
        for line in w.lines:
            line.seconds = w.now
            line.run(native, interpreted)
        w.tick()

    def add(rule, **options):
        w.add([a := service.make(rule, **{"webhook": "http://127.0.0.1:1/x", "hold": 5, **options})])
        return a

    w.look, w.watch = look, add
    return w


def test_rates_are_of_the_window(watched):
    a = watched.watch("hit_rate < 0.85 and mean_ms > 0", window=5)
    for _ in range(100):
        watched.look(native=10)
    assert a.values == {"hit_rate": 1.0, "mean_ms": 2.0}
    for n in range(1, 8):
        watched.look(interpreted=10)
        assert a.values["hit_rate"] == pytest.approx(max(0.0, 1 - n / 5))
    assert a.values["mean_ms"] == 10.0 and a.state == "firing"
    assert [change for batch in watched.outbox.batches for _, change, _ in batch] == ["firing"]


def test_nothing_ran_neither_fires_nor_resolves(watched):
    low = watched.watch("hit_rate < 0.85", window=3, hold=2)
    still = watched.watch("runs_per_s < 0.1", window=3)
    for _ in range(20):
        watched.look()
    assert (low.state, low.value, still.state, still.value) == ("ok", None, "ok", None)
    for _ in range(5):
        watched.look(interpreted=1)
    assert low.state == "firing" and still.state == "ok"
    for _ in range(20):
        watched.look()
    assert low.state == "firing" and low.value is None, "no value: it isn't over"
    assert still.state == "firing" and still.value == 0.0, "what ran before has stopped"


def test_told_once_and_once_more_when_it_is_over(watched):
    watched.watch("hit_rate < 0.85 for 3s", window=2, message="check camera feed resolution")
    for native, interpreted in [(10, 0)] * 5 + [(0, 10)] * 50 + [(10, 0)] * 50:
        watched.look(native, interpreted)
    flat = [change for batch in watched.outbox.batches for _, change, _ in batch]
    assert flat == ["firing", "resolved"]


def test_flapping_camera_is_no_storm(watched):
    watched.watch("hit_rate < 0.85", window=1, hold=10)
    for _ in range(300):
        watched.look(10, 0)
        watched.look(0, 10)
    assert len(watched.outbox.batches) == 1


def test_rules_that_fire_together_are_posted_together(watched):
    for rule in ("hit_rate < 0.85", "misses > 5", "mean_ms > 5"):
        watched.watch(rule, window=2)
    watched.watch("misses > 5", window=2, webhook="http://127.0.0.1:2/other")
    watched.look()
    watched.look(interpreted=10)
    (batch,) = watched.outbox.batches
    assert [shown[-1] for shown, _, _ in batch] == ["1", "1", "1", "2"]


def test_what_a_notice_says(watched):
    a = watched.watch("hit_rate < 0.85 or fallbacks > 100", message="check camera feed resolution", window=10)
    line = watched.lines[0]
    line.slow = [{"seconds": 0.5, "region": "@main", "reason": "before", "place": ""}]
    for _ in range(3):
        watched.look(native=5)
    line.slow += [{"seconds": 3.5, "region": "@main", "reason": "timed out", "place": "detect.py:47"}] * 2
    line.hint = "fewer than 70 % of the latest runs were native"
    line.region["entries"] = [{"name": "n", "alias": "jit_1920x1080", "box": "H1080", "tier": 2, "hits": 3}]
    watched.look(native=1, interpreted=99)
    (n,) = watched.outbox.notices
    assert n.values == {"hit_rate": 11 / 110, "fallbacks": 2.0} and a.value == 0.1
    assert n.evidence.misses == [
        {"count": 99, "where": "line @main instructions 3 to 9", "reason": "SCD 0.50 is below 0.8"},
        {"count": 2, "where": "line @main detect.py:47", "reason": "timed out"},
    ]
    assert n.evidence.shapes == ["line @main instructions 3 to 9: jit_1920x1080 (tier 2), 3 runs"]
    from msvm._vm.alerts import notice

    text, subject, found = notice.text([n]), notice.subject([n]), notice.payload([n])
    for part in (
        "FIRING: hit_rate < 0.85",
        "check camera feed resolution",
        "hit_rate 0.100",
        "over the last 10 s",
        "detect.py:47",
        "jit_1920x1080",
    ):
        assert part in text
    assert "for 0 s" in text and "hint" in text and "look at" in text and "2027-01-15T" in text
    assert subject.startswith("[msvm] firing: check camera feed resolution (") and "\n" not in subject
    assert found["alerts"][0]["state"] == "firing" and found["alerts"][0]["value"] == 0.1
    assert json.loads(json.dumps(found)) == found


def test_observed_shapes_where_the_view_has_them(watched):
    watched.watch("hit_rate < 0.85")
    watched.lines[0].region["shapes"] = [{"values": [1, 480], "runs": 12, "tier": 2, "entry": ""}]
    watched.look()
    watched.look(interpreted=1)
    assert watched.outbox.notices[0].evidence.shapes == ["line @main instructions 3 to 9: N=1, H=480, 12 runs"]


def test_programs_that_come_and_go(watched):
    a = watched.watch("runs > 1000", window=3)
    b = watched.watch("runs > 1000", window=3, f="second")
    watched.look(native=500)
    watched.look(native=1)
    assert a.value == 1.0 and b.value is None
    watched.lines.append(Line("second"))
    watched.look(native=5)
    assert a.value == 11.0 and b.value == 5.0, "all it did, it did since the look before"
    watched.lines = watched.lines[1:]
    watched.look(native=1)
    assert a.value == 6.0 and b.value == 6.0
    line = watched.lines.pop()
    of = watched.watch("runs > 1000", f=line)
    watched.look()
    watched.look()
    assert of.value == 6.0, "sampled though it isn't among all programs"
    del line
    watched.look()
    assert of.executables() == () and watched.outbox.batches == []


def test_metrics_of_compilation_memory_and_queue(watched):
    watched.watch("compile_ms > 1e6 or queued > 1e6 or compiled > 1e6 or evicted > 1e6 or failed_compiles > 1e6 or code_bytes > 1GiB")
    a = watched.watch(
        "in_use > 1000GiB or reserved > 1000GiB or peak > 1000GiB or fragmentation == 1 or failed_runs > 1e6 or runs_per_s > 1e9"
    )
    watched.look()
    line = watched.lines[0]
    line.code |= {"compiled": 2, "compile_ms": 30.0, "evicted": 1, "failed": 3, "code_bytes": 4096}
    line.queued, line.failed_runs = 4, 2
    watched.look(native=7)
    memory = ms.vm.memory_stats()
    values = watched.alerts()[0].values
    assert values == {"compile_ms": 15.0, "queued": 4.0, "compiled": 2.0, "evicted": 1.0, "failed_compiles": 3.0, "code_bytes": 4096.0}
    assert {k: a.values[k] for k in ("failed_runs", "runs_per_s")} == {"failed_runs": 2.0, "runs_per_s": 7.0}
    assert all(a.values[k] == memory[k] for k in ("in_use", "reserved", "peak", "fragmentation"))
    watched.look()
    assert watched.alerts()[0].values["compile_ms"] == 15.0


def test_hooks_are_called_once_and_may_fail(watched, caplog):
    seen = []

    def broken(alert):
        raise ValueError("no recorder")

    def removing(alert):
        seen.append(("own", alert.state))
        watched.remove(alert)

    a = watched.watch("misses > 0", on_fire=removing)
    kept = watcher.on_fire[:]
    watcher.on_fire[:] = [broken, lambda alert: seen.append(("all", alert.rule))]
    try:
        watched.look()
        for _ in range(3):
            watched.look(interpreted=1)
    finally:
        watcher.on_fire[:] = kept
    assert seen == [("all", "misses > 0"), ("own", "firing")] and watched.alerts() == []
    assert "no recorder" in caplog.text and len(watched.outbox.batches) == 1
    assert any(r.levelno == logging.WARNING and "alert firing: misses > 0" in r.getMessage() for r in caplog.records)
    a.remove()


def test_the_monitor_is_told_what_changed(watched, monkeypatch):
    told = []
    monkeypatch.setattr(_core, "set_alerts", lambda text: told.append(json.loads(text)))
    monkeypatch.setattr(_core, "monitor_url", lambda: "http://127.0.0.1:9464/")
    a = watched.watch("misses > 0", message="m")
    watched.look()
    watched.look()
    assert [t[0]["state"] for t in told] == ["ok"], "nothing new at the second look"
    watched.look(interpreted=1)
    assert told[-1][0] == {
        "rule": "misses > 0",
        "state": "firing",
        "since": a.since,
        "value": 1.0,
        "values": {"misses": 1.0},
        "message": "m",
    }
    assert watched.outbox.notices[0].monitor == "http://127.0.0.1:9464/"
    watched.remove(a)
    assert told[-1] == []


def test_one_look_that_fails_is_logged_once(watched, monkeypatch, caplog):
    monkeypatch.setattr(watcher, "PERIOD", 0.01)
    monkeypatch.setattr(watcher, "take", lambda *_: 1 / 0)
    watched.watch("misses > 0")
    watched.start()
    import time

    time.sleep(0.3)
    watched.stop(5)
    assert caplog.text.count("this look is lost") == 1
