"""The monitor of the process: start and stop."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .. import _core
from .._errors import InputError


class Monitor:
    """A monitor that serves until it is stopped, or the process ends. In ``with`` it stops at the end of the block."""

    def __init__(self, core: _core.Monitor) -> None:
        self._core = core

    @property
    def url(self) -> str:
        """Where it is, such as ``http://127.0.0.1:9464``; without a token."""
        return self._core.url()

    def stop(self) -> None:
        """End it; again does nothing. In the child of a fork there is none to end."""
        self._core.stop()

    def open(self) -> bool:
        """Open the page in the user's browser, logged in; whether there is one."""
        import webbrowser

        return webbrowser.open(self._core.browser_url())

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<msvm monitor at {self.url}{'' if self._core.running() else ', stopped'}>"


_plain: Monitor | None = None
"""The latest one without options of its own, which a second call finds, and the address that it was asked for."""
_plain_address = ""


def _token(given: Any, name: str) -> str:
    """A string is the token, a path the file that holds it."""
    if given is None:
        return ""
    if isinstance(given, os.PathLike):
        return _core.read_token_file(os.fsencode(given))
    if not isinstance(given, str) or not given:
        raise InputError(f"start_monitor: {name} is a string, or the path of a file that holds it, found {type(given).__name__}")
    return given


def start(address: str, token: Any, read_token: Any, certificate: Any, key: Any, hosts: Iterable[str]) -> Monitor:
    """See ``msvm.vm.start_monitor``."""
    global _plain, _plain_address
    if not isinstance(address, str):
        raise InputError(f"start_monitor: address is a string such as 127.0.0.1:9464, found {type(address).__name__}")
    names = [hosts] if isinstance(hosts, str) else [str(h) for h in hosts]
    plain = (token, read_token, certificate, key) == (None,) * 4 and not names
    if plain and _plain is not None and _plain_address == address and _plain._core.running():
        return _plain
    pem, pem_key = (b"" if path is None else os.fsencode(path) for path in (certificate, key))
    tokens = _token(token, "token"), _token(read_token, "read_token")
    monitor = Monitor(_core.start_monitor(address, *tokens, pem, pem_key, names))
    if plain:
        _plain, _plain_address = monitor, address
    return monitor


def start_from_environment() -> None:
    """At import where MSVM_MONITOR is set. A program doesn't fail because its monitor can't be had: that is a warning."""
    import warnings

    try:
        start(os.environ["MSVM_MONITOR"], None, None, None, None, ())
    except Exception as e:
        warnings.warn(f"MSVM_MONITOR: {e}", RuntimeWarning, stacklevel=3)
