"""All destinations, each with its lane."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from .destination import Destination
from .lane import Lane, Patience
from .notice import Notice


class Outbox:
    """Thread-safe."""

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._lock = threading.Lock()
        self._lanes: dict[Destination, Lane] = {}

    def post(self, batch: Iterable[tuple[Destination, Notice]]) -> None:
        """What is posted together is one message for each destination. Returns at once."""
        sorted_: dict[Destination, list[Notice]] = {}
        for destination, notice in batch:
            sorted_.setdefault(destination, []).append(notice)
        for destination, notices in sorted_.items():
            with self._lock:
                lane = self._lanes.setdefault(destination, Lane(destination, self._patience))
            lane.post(notices)

    def last(self, destination: Destination) -> str:
        """How its last delivery ended."""
        with self._lock:
            lane = self._lanes.get(destination)
        return lane.last if lane else ""

    def flush(self, seconds: float) -> bool:
        """Wait until nothing is on its way; whether that is so."""
        end = time.monotonic() + seconds
        with self._lock:
            lanes = list(self._lanes.values())
        return all(lane.flush(max(0.0, end - time.monotonic())) for lane in lanes)

    def stop(self) -> None:
        """What isn't sent yet is lost."""
        with self._lock:
            for lane in self._lanes.values():
                lane.stop()
