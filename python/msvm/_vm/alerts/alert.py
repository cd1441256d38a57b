"""One rule that is watched, and who is told."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ... import _core, _registry
from ..._errors import InputError
from .destination import Destination
from .evidence import evidence
from .incident import Change, Incident, State
from .metrics import METRICS
from .notice import Notice, iso
from .outbox import Outbox
from .rule import Rule
from .samples import Window, number


class Alert:
    """Made by ``ms.vm.add_alert``. ``state``: ok, pending (the condition holds, but not long enough yet), firing."""

    def __init__(
        self,
        rule: Rule,
        *,
        seconds: float,
        hold: float,
        window: float,
        message: str,
        destinations: tuple[Destination, ...],
        limit: int,
        on_fire: Callable[[Alert], Any] | None,
        f: Any,
        remove: Callable[[Alert], None],
    ) -> None:
        self.rule = rule.text if rule.seconds is not None or not seconds else f"{rule.text} for {seconds:g} s"
        """As it was given, with its time."""
        self.given = rule.text
        """As it was given."""
        self.message = message
        self.window = window
        """Seconds that values are of."""
        self.destinations = destinations
        self.on_fire = on_fire
        self.values: dict[str, float | None] = dict.fromkeys(rule.metrics())
        """Of the metrics that the rule compares, at the last look; None: no value."""
        self._rule = rule
        self._limit = limit
        self._incident = Incident(seconds, hold)
        self._name = f if isinstance(f, str) else None
        self._of = None if f is None or isinstance(f, str) else weakref.ref(f)
        self._remove = remove

    @property
    def state(self) -> State:
        """ok, pending or firing."""
        return self._incident.state

    @property
    def since(self) -> str | None:
        """When the state began, UTC; of firing, when the condition began to hold. None: it was never anything but ok."""
        return iso(self._incident.since) if self._incident.since else None

    @property
    def value(self) -> float | None:
        """Of the first metric of the rule."""
        return next(iter(self.values.values()), None)

    def remove(self) -> None:
        """It isn't watched any more; nobody is told. Again is fine."""
        self._remove(self)

    def executables(self) -> Iterable[_core.Executable]:
        """Of the programs it is about, those that live; for sampling."""
        if self._of is None:
            return ()
        f = self._of()
        return () if f is None else _registry.executables(f)

    def step(self, window: Window | None, elapsed: float, now: float, monitor: str | None) -> Notice | None:
        """Look at the window's values; a notice if an incident began or ended. Called by the watcher alone."""
        if window is None:
            return None
        self.values = {name: METRICS[name].value(window) for name in self.values}
        since = self._incident.since
        change = self._incident.step(self._rule.condition.holds(self.values), elapsed, now)
        if change is None:
            return None
        return self._notice(change, since if change == "resolved" else self._incident.since, now, window, monitor)

    def numbers(self, sampled: Iterable[tuple[int, str]]) -> Iterable[int]:
        """Of the programs it is about, among the sampled ones with their names."""
        if self._of is not None:
            return [number(e) for e in self.executables()]
        return [n for n, name in sampled if self._name in (None, name)]

    def _notice(self, change: Change, since: float, now: float, window: Window, monitor: str | None) -> Notice:
        return Notice(change, self.rule, self.message, dict(self.values), self.window, since, now, evidence(window), monitor, self._limit)

    def as_json(self) -> dict[str, Any]:
        """For the monitor."""
        about = {"rule": self.rule, "state": self.state, "since": self.since, "value": self.value, "values": self.values}
        return about | {"message": self.message}

    def row(self, outbox: Outbox) -> dict[str, Any]:
        """For the table of alerts."""
        told = [d.shown for d in self.destinations]
        last = [f"{d.shown}: {how}" for d in self.destinations if (how := outbox.last(d))]
        return self.as_json() | {"programs": self._shown_programs(), "told": told, "last": last}

    def _shown_programs(self) -> str:
        if self._of is None:
            return self._name or "all"
        f = self._of()
        return "gone" if f is None else getattr(f, "__name__", None) or type(f).__name__

    def __repr__(self) -> str:
        return f"<Alert {self.rule!r} {self.state}>"


def checked_programs(f: Any) -> Any:
    """What an alert can be about: None, a name, a Program or a jitted function. Raises ``InputError``."""
    if f is not None and not isinstance(f, str):
        _registry.executables(f)
        try:
            weakref.ref(f)
        except TypeError:
            raise InputError(f"add_alert: {type(f).__name__} can't be watched") from None
    return f
