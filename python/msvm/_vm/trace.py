"""Traces of the process, and what becomes of them."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import FileError

logger = logging.getLogger("msvm")
FOLDER = "ms_bc_trace"

def _bytes(path: str | os.PathLike[str]) -> bytes:
    return os.fsencode(path)


def start(folder: str | os.PathLike[str], max_bytes: int, max_files: int) -> str:
    """Path of the log."""
    return _core.start_trace(_bytes(folder), int(max_bytes), int(max_files))


def stop() -> str:
    """Path of the log that ends now; "" if there was none."""
    _tell_trouble()
    return _core.stop_trace()


def _tell_trouble() -> None:
    if why := _core.trace_trouble():
        logger.warning("%s", why)


def log_path(log: str | os.PathLike[str] | None) -> str:
    """``None`` and "newest": the log of this process, what has been recorded up to now included, or the newest one in ``ms_bc_trace``."""
    current = _core.flush_trace()  # also where a path names it
    if log is None or log == "newest":
        _tell_trouble()
        last = _core.last_trace()
        return current or (last if last and Path(last).exists() else _core.newest_trace(_bytes(FOLDER)))
    path = Path(log)
    if path.is_dir():
        return _core.newest_trace(_bytes(path))
    if not path.is_file():
        raise FileError(f"{os.fspath(log)}: there is no such trace; enable_bc_trace() and MSVM_BC_TRACE=1 write into {FOLDER}/")
    return os.fspath(path)


def converted(log: str | os.PathLike[str] | None, out: str | os.PathLike[str] | None, ending: str) -> str:
    """Write what the log says as ``.csv`` or ``.json``; the path."""
    path = log_path(log)
    to = _bytes(out if out is not None else str(Path(path).with_suffix(ending)))
    write = _core.trace_to_csv if ending == ".csv" else _core.trace_to_perfetto
    return write(_bytes(path), to)


class TraceSummary(dict[str, Any]):
    """What ``msvm trace summary --json`` says; as text, what it prints."""

    def __init__(self, log: str) -> None:
        text, data = _core.trace_summary(_bytes(log))
        super().__init__(json.loads(data))
        self._text: str = text

    def __repr__(self) -> str:
        return self._text
