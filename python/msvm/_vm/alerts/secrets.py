"""Passwords, tokens and addresses that nobody else may read: they print as ***, and come from arguments, the environment or files."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from ..._errors import FileError, InputError

_MOST = 64 << 10  # bytes of a file with secrets


class Secret:
    """Text that shows only by ``reveal()``."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself: for the wire, for nothing else."""
        return self._text

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets aren't pickled")


def private_text(path: str | os.PathLike[str]) -> str:
    """What a file says that only its owner, who is this user or root, may read and write. Raises ``FileError``."""
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as f:
            about = os.fstat(f.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise FileError(f"{name}: not a regular file")
            if about.st_uid not in (0, os.geteuid()):
                raise FileError(f"{name}: holds secrets, and belongs to another user (uid {about.st_uid})")
            if about.st_mode & 0o077:
                found = stat.S_IMODE(about.st_mode)
                raise FileError(f"{name}: holds secrets, and others may use it (mode {found:04o}, expected 0600): chmod 600 {name}")
            data = f.read(_MOST + 1)
    except OSError as e:
        if isinstance(e, FileError):
            raise
        raise FileError(f"{name}: {e.strerror}") from e
    if len(data) > _MOST:
        raise FileError(f"{name}: more than {_MOST} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as e:
        raise FileError(f"{name}: not UTF-8") from e


def secret(given: Any, place: str) -> Secret:
    """``env:NAME`` and ``file:PATH`` (0600) name where it is; any other text is the secret itself."""
    if isinstance(given, Secret):
        return given
    if not isinstance(given, str) or not given:
        raise InputError(f"{place}: expected text, env:NAME or file:PATH, found {type(given).__name__ if given != '' else 'nothing'}")
    kind, _, name = given.partition(":")
    if kind == "env":
        found = os.environ.get(name)
        if not found:
            raise InputError(f"{place}: the environment has no {name}")
        return Secret(found)
    if kind == "file":
        found = private_text(name).strip("\r\n")
        if not found:
            raise FileError(f"{name}: empty ({place})")
        return Secret(found)
    return Secret(given)


def named_elsewhere(given: Any) -> bool:
    """Whether the text only says where the secret is."""
    return isinstance(given, str) and given.startswith(("env:", "file:"))


def redacted(text: str, secrets: Iterable[Secret | None]) -> str:
    """The text without them, and without their forms on the wire."""
    for s in secrets:
        if s is None:
            continue
        plain = s.reveal()
        for form in (plain, base64.b64encode(plain.encode()).decode()):
            text = text.replace(form, "***")
    return text
