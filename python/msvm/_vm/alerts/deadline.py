"""An end to conversations of peers that answer byte by byte: their sockets are shut when the time is over."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType


class Deadline:
    """``with Deadline(seconds, sockets)``: then the sockets that ``sockets()`` gives are shut, so that whoever reads them
    fails, or believes the answer to be at its end: ``over`` says so."""

    def __init__(self, seconds: float, sockets: Callable[[], list[socket.socket | None]]) -> None:
        self._sockets = sockets
        self.over = False
        self._timer = threading.Timer(seconds, self._end)
        self._timer.name = "msvm alerts deadline"
        self._timer.daemon = True

    def _end(self) -> None:
        self.over = True
        for s in self._sockets():
            with suppress(OSError, AttributeError):
                if s is not None:
                    s.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._timer.cancel()
