"""The thread that looks at all alerts once a second."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from ... import _core, _registry
from .alert import Alert
from .destination import Destination
from .metrics import LATENCIES
from .notice import Notice
from .outbox import Outbox
from .samples import History, take

logger = logging.getLogger("msvm")
PERIOD = 1.0  # s

def _record(alert: Alert) -> None:
    """Into the trace; the last seconds, if the flight recorder has them, into a file."""
    _core.trace_note("alert", f"{alert.rule}: {alert.message}" if alert.message else alert.rule)
    if _core.flight_recorder():
        logger.warning("alert %s: the last seconds are in %s", alert.rule, _core.dump_flight_recorder(f"alert {alert.rule}"))


on_fire: list[Callable[[Alert], Any]] = [_record]
"""For parts of the package: called with each alert that fires, on the watcher's thread, before anybody is told. Errors are logged."""


class Watcher:
    """Thread-safe. ``tick`` does one look; the thread calls it while there are alerts."""

    def __init__(self, outbox: Outbox, clock: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time) -> None:
        self.outbox = outbox
        self._clock, self._wall = clock, wall
        self._lock = threading.Lock()  # of what follows
        self._alerts: list[Alert] = []
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None
        self._looking = threading.Lock()  # of what follows: one look at a time
        self._history = History()
        self._last: float | None = None
        self._told_monitor = "[]"

    def alerts(self) -> list[Alert]:
        """Those that are watched, in the order in which they were added."""
        with self._lock:
            return list(self._alerts)

    def add(self, alerts: list[Alert]) -> None:
        """From the next look on."""
        with self._lock:
            self._alerts += alerts

    def start(self) -> None:
        """Have the thread run, if there are alerts."""
        with self._lock:
            if not self._alerts or self._stop is not None:
                return
            self._history, self._last = History(), None  # what was before is too long ago
            self._stop = threading.Event()
            stop = self._stop
        well = self._look(True)  # what runs from here on counts
        thread = self._thread = threading.Thread(target=self._run, args=(stop, well), name="msvm alerts", daemon=True)
        thread.start()

    def remove(self, alert: Alert) -> bool:
        """Whether it was watched."""
        with self._lock:
            if alert not in self._alerts:
                return False
            self._alerts.remove(alert)
            if not self._alerts and self._stop is not None:
                self._stop.set()
                self._stop = None
        with self._looking:
            self._tell_monitor(self.alerts())
        return True

    def stop(self, seconds: float) -> None:
        """Ends the thread, and waits for that so long at most."""
        with self._lock:
            thread = self._thread
            if self._stop is not None:
                self._stop.set()
                self._stop = None
        if thread is not None:
            thread.join(seconds)

    def _run(self, stop: threading.Event, well: bool) -> None:
        due = time.monotonic() + PERIOD
        while not stop.wait(due - time.monotonic()):
            well = self._look(well)
            due = max(due + PERIOD, time.monotonic())

    def _look(self, well: bool) -> bool:
        """Whether it succeeded; ``well``: whether the one before did."""
        try:
            self.tick()
        except Exception:
            if well:  # once, not every second
                logger.exception("alerts: this look is lost, and those that fail as it does")
            return False
        return True

    def tick(self) -> None:
        """One look: sample, evaluate, tell."""
        with self._looking:
            alerts, now = self.alerts(), self._clock()
            found = {id(e): e for a in alerts for e in a.executables()}
            found |= {id(e): e for e in _registry.executables()}
            latency = any(LATENCIES.intersection(a.values) for a in alerts)
            sample = take(found.values(), now, latency)
            self._history.add(sample, max((a.window for a in alerts), default=0.0))
            names = [(n, counted.name) for n, counted in sample.programs.items()]
            elapsed = 0.0 if self._last is None else now - self._last
            self._last = now
            fired: list[Alert] = []
            batch: list[tuple[Destination, Notice]] = []
            for a in alerts:
                window = self._history.window(a.window, a.numbers(names))
                notice = a.step(window, elapsed, self._wall(), _core.monitor_url() or None)
                if notice is not None:
                    self._log(notice)
                    batch += [(d, notice) for d in a.destinations]
                    if notice.change == "firing":
                        fired.append(a)
            self._tell_monitor(alerts)
        for a in fired:
            self._call_hooks(a)
        self.outbox.post(batch)

    @staticmethod
    def _log(notice: Notice) -> None:
        level = logging.WARNING if notice.change == "firing" else logging.INFO
        logger.log(level, "alert %s: %s%s", notice.change, notice.rule, f": {notice.message}" if notice.message else "")

    @staticmethod
    def _call_hooks(alert: Alert) -> None:
        for hook in [*on_fire, *([alert.on_fire] if alert.on_fire else [])]:
            try:
                hook(alert)
            except Exception:
                logger.exception("alerts: on_fire of %s", alert.rule)

    def _tell_monitor(self, alerts: list[Alert]) -> None:
        """What the page and /api/v1/state show under "alerts"."""
        told = json.dumps([a.as_json() for a in alerts])
        if told != self._told_monitor:
            _core.set_alerts(told)
            self._told_monitor = told
