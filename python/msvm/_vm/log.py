"""The logger ``msvm``, and who tells it what the JIT does."""

from __future__ import annotations

import logging
import threading
import weakref

from .. import _core, _registry
from .._errors import InputError

logger = logging.getLogger("msvm")
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR, "off": logging.CRITICAL + 1}
_PERIOD = 0.2  # s


class _Watcher:
    """Looks at the programs that live, and logs what is new, until it is stopped."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._seen: weakref.WeakKeyDictionary[_core.Executable, float] = weakref.WeakKeyDictionary()
        self._thread = threading.Thread(target=self._run, name="msvm log", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_PERIOD):
            try:
                self.look()
            except Exception:
                logger.exception("the log of programs: one round is lost")

    def look(self) -> None:
        for e in _registry.executables():
            view = e.jit_view()
            seen = self._seen.get(e, -1.0)
            records = [(r["seconds"], logging.INFO, f"{r['kind']}: {r['what']}") for r in view["events"]]
            for r in view["slow_path"]:
                records.append((r["seconds"], logging.WARNING, f"slow path: {r['region']}: {r['reason']} {r['place']}".rstrip()))
            for seconds, level, what in sorted(records):
                if seconds > seen:
                    logger.log(level, "%s at %.3f s: %s", view["program"] or "program", seconds, what)
                    self._seen[e] = seconds


_lock = threading.Lock()
_watcher: _Watcher | None = None


def set_level(level: str) -> None:
    """See ``msvm.vm.set_log_level``."""
    global _watcher
    name = level.lower() if isinstance(level, str) else level
    if name not in _LEVELS:
        raise InputError(f"set_log_level: expected one of {', '.join(_LEVELS)}, found {level!r}")
    with _lock:
        logger.setLevel(_LEVELS[name])
        if not logger.handlers and not logging.getLogger().handlers:
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("[msvm] %(levelname)s %(message)s"))
            logger.addHandler(handler)
        wanted = name in ("debug", "info", "warning")
        if wanted and _watcher is None:
            _watcher = _Watcher()
        elif not wanted and _watcher is not None:
            _watcher.stop()
            _watcher = None
