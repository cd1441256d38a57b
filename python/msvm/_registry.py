"""Programs and jitted functions that live, for the reports of ``msvm.vm``. Holds nobody alive."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Protocol

from . import _core


class HasExecutables(Protocol):
    """What can join: a Program, a jitted function."""

    def executables(self) -> list[_core.Executable]:
        """The compiled programs behind it, one for each signature that was called."""


_lock = threading.Lock()
_members: weakref.WeakSet[Any] = weakref.WeakSet()


def add(member: HasExecutables) -> None:
    """Have reports that are asked of all programs include this one, as long as it lives."""
    with _lock:
        _members.add(member)


def members() -> list[HasExecutables]:
    """All that joined and live."""
    with _lock:
        return list(_members)


def executables(f: Any = None) -> list[_core.Executable]:
    """Those of a Program or a jitted function; without one, of all that live, each once."""
    if f is None:
        found: dict[int, _core.Executable] = {}
        for member in members():
            found.update((id(e), e) for e in member.executables())
        return list(found.values())
    if isinstance(f, _core.Executable):
        return [f]
    get = getattr(f, "executables", None)
    if get is None:
        from ._errors import InputError

        raise InputError(f"expected a Program or a jitted function, found {type(f).__name__}")
    return list(get())
