"""Rules in a file, TOML or JSON."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from ..._errors import Error, FileError, InputError
from . import service
from .alert import Alert
from .mail import holds_password, smtp, table_in
from .secrets import named_elsewhere, private_text

logger = logging.getLogger("msvm")
_KEYS = ("rule", "mail", "webhook", "for", "message", "program", "window", "hold", "limit_per_hour")
_MOST = 1 << 20  # bytes


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST:
            raise FileError(f"{path}: more than {_MOST} bytes")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        if isinstance(e, FileError):
            raise
        raise FileError(f"{path}: {getattr(e, 'strerror', None) or e}") from None
    return table_in(text, path)


def _holds_secret(table: dict[str, Any]) -> bool:
    def in_hook(hook: Any) -> bool:
        if isinstance(hook, list):
            return any(map(in_hook, hook))
        return isinstance(hook, dict) and "token" in hook and not named_elsewhere(hook["token"])

    server = table.get("smtp")
    return (isinstance(server, dict) and holds_password(server)) or any(in_hook(a.get("webhook")) for a in table["alerts"])


def _alerts_in(table: dict[str, Any], path: Path) -> list[Alert]:
    if unknown := [k for k in table if k not in ("smtp", "alerts")]:
        raise InputError(f"{path}: there is no {', '.join(unknown)}; possible are smtp, alerts")
    rows = table.setdefault("alerts", [])
    if not isinstance(rows, list) or not all(isinstance(a, dict) for a in rows):
        raise InputError(f"{path}: alerts: expected a list of tables")
    if _holds_secret(table):
        private_text(path)
    server = table.get("smtp")
    if server is not None and not isinstance(server, dict):
        raise InputError(f"{path}: smtp: expected a table")
    through = None if server is None else smtp(server, f"{path}: smtp")
    made = []
    for k, a in enumerate(rows, 1):
        place = f"{path}: alert {k}"
        if unknown := [key for key in a if key not in _KEYS]:
            raise InputError(f"{place}: there is no {', '.join(unknown)}; possible are {', '.join(_KEYS)}")
        if "rule" not in a:
            raise InputError(f"{place}: it has no rule")
        renamed = {{"for": "for_", "program": "f"}.get(key, key): value for key, value in a.items()}
        if not isinstance(renamed.get("f", ""), str):
            raise InputError(f"{place}: program: expected a name")
        try:
            made.append(service.make(**renamed, smtp=through, place="rule"))
        except Error as e:
            raise type(e)(f"{place}: {e}") from None
    return made


def load(path: str | os.PathLike[str]) -> list[Alert]:
    """See ``ms.vm.load_alerts``."""
    made = _alerts_in(_read(Path(path)), Path(path))
    service.add(made)
    return made


def load_at_start(path: str) -> None:
    """As ``MSVM_ALERTS`` asks. A file that isn't right is logged: the program itself goes on."""
    try:
        load(path)
    except Error as e:
        logger.error("MSVM_ALERTS: no alerts are watched: %s", e)
