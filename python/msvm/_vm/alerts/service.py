"""The alerts of this process: what ``ms.vm`` calls."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._errors import InputError
from ..tables import Table
from . import grammar
from .alert import Alert, checked_programs
from .destination import Destination
from .mail import Mail, Smtp, address, smtp
from .outbox import Outbox
from .watcher import Watcher
from .webhook import webhook

_FLUSH = 3.0  # s at the end of the process
_lock = threading.Lock()
_watcher: Watcher | None = None


class AlertTable(Table):
    """A row for each alert."""

    empty = "no alerts are watched: ms.vm.add_alert('hit_rate < 0.85 for 60s', mail=...)"
    columns = ("rule", "programs", "state", "since", "value", "message", "told", "last")


def watcher() -> Watcher:
    """The one of the process."""
    global _watcher
    with _lock:
        if _watcher is None:
            _watcher = Watcher(Outbox())
        return _watcher


def _after_fork() -> None:
    """A child has no alerts: its parent's would be told twice."""
    global _watcher, _lock
    _watcher, _lock = None, threading.Lock()


def _at_exit() -> None:
    """What is on its way may arrive."""
    if _watcher is not None:
        _watcher.stop(_FLUSH)
        _watcher.outbox.flush(_FLUSH)
        _watcher.outbox.stop()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)


def _destinations(mail: Any, hook: Any, server: Mapping[str, Any] | str | os.PathLike[str] | Smtp | None) -> tuple[Destination, ...]:
    found: list[Destination] = []
    if mail is not None:
        to = [mail] if isinstance(mail, str) else mail
        if not isinstance(to, Sequence) or not to:
            raise InputError(f"mail: expected an address or a list of them, found {mail!r}")
        through = smtp(server)
        found += [Mail(through, address(a, "mail")) for a in to]
    if hook is not None:
        one = isinstance(hook, (str, Mapping)) or not isinstance(hook, Sequence)
        found += [webhook(h) for h in ([hook] if one else hook)]
    return tuple(dict.fromkeys(found))


def make(
    rule: str,
    *,
    mail: Any = None,
    webhook: Any = None,
    for_: Any = None,
    message: str = "",
    f: Any = None,
    smtp: Any = None,
    window: Any = 10.0,
    hold: Any = 60.0,
    limit_per_hour: int = 12,
    on_fire: Callable[[Alert], Any] | None = None,
    place: str = "alert rule",
) -> Alert:
    """An alert that isn't watched yet; see ``ms.vm.add_alert``."""
    parsed = grammar.parse(rule, place)
    if for_ is not None and parsed.seconds is not None:
        raise InputError(f"{place}: the time is given twice, in the rule and as for_")
    needed = grammar.duration(for_, "for_") if for_ is not None else parsed.seconds or 0.0
    seconds = grammar.duration(window, "window")
    if not 1 <= seconds <= 3600:
        raise InputError(f"window: expected 1 second to an hour, found {window!r}")
    if not isinstance(message, str) or len(message) > 1000:
        raise InputError("message: expected text of at most 1000 characters")
    if isinstance(limit_per_hour, bool) or not isinstance(limit_per_hour, int) or limit_per_hour < 1:
        raise InputError(f"limit_per_hour: expected a whole number from 1 on, found {limit_per_hour!r}")
    if on_fire is not None and not callable(on_fire):
        raise InputError(f"on_fire: expected something to call, found {type(on_fire).__name__}")
    return Alert(
        parsed,
        seconds=needed,
        hold=grammar.duration(hold, "hold"),
        window=seconds,
        message=message,
        destinations=_destinations(mail, webhook, smtp),
        limit=limit_per_hour,
        on_fire=on_fire,
        f=checked_programs(f),
        remove=remove,
    )


def add(alerts: Sequence[Alert]) -> None:
    """Watch them."""
    w = watcher()
    w.add(list(alerts))
    w.start()


def remove(alert: Alert | str) -> None:
    """See ``ms.vm.remove_alert``."""
    w = watcher()
    if isinstance(alert, Alert):
        w.remove(alert)
        return
    of_rule = [a for a in w.alerts() if alert in (a.rule, a.given)]
    if not of_rule:
        rules = ", ".join(repr(a.rule) for a in w.alerts())
        raise InputError(f"remove_alert: there is no alert {alert!r}; there are {rules or 'none'}")
    for a in of_rule:
        w.remove(a)


def table() -> AlertTable:
    """See ``ms.vm.alerts``."""
    w = watcher()
    return AlertTable(a.row(w.outbox) for a in w.alerts())
