"""Delivery to one destination, on a thread of its own: what waits goes as one message, with patience and within a limit."""

from __future__ import annotations

import collections
import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from .destination import DeliveryError, Destination
from .notice import Notice, iso

logger = logging.getLogger("msvm")
_HOUR = 3600.0
_MOST_WAITING = 50  # notices; of more the oldest go, and are counted


@dataclass(frozen=True)
class Patience:
    """Of deliveries, in seconds."""

    each: float = 30.0
    """How long one try may take."""
    first: float = 5.0
    """Before the second try; each further one waits twice as long, ``longest`` at most."""
    longest: float = 300.0
    tries: int = 10


class Lane:
    """Thread-safe. The thread begins with the first notice, and ends with ``stop``."""

    def __init__(self, destination: Destination, patience: Patience) -> None:
        self.destination = destination
        self.last = ""
        """How the last delivery ended, for tables."""
        self._patience = patience
        self._lock = threading.Condition()
        self._waiting: collections.deque[Notice] = collections.deque()
        self._dropped = 0
        self._sent: collections.deque[float] = collections.deque()  # when, within the last hour
        self._busy = self._stopped = False
        self._thread: threading.Thread | None = None

    def post(self, notices: Sequence[Notice]) -> None:
        """Returns at once."""
        with self._lock:
            self._waiting.extend(notices)
            while len(self._waiting) > _MOST_WAITING:
                self._waiting.popleft()
                self._dropped += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="msvm alerts delivery", daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait until nothing is on its way; whether that is so."""
        with self._lock:
            return self._lock.wait_for(lambda: not self._waiting and not self._busy, seconds)

    def stop(self) -> None:
        """What isn't sent yet is lost. Doesn't wait."""
        with self._lock:
            self._stopped = True
            self._lock.notify_all()

    def _run(self) -> None:
        while self._wait_for_turn():
            self._deliver()

    def _wait_for_turn(self) -> bool:
        """Until there is something to send that the limit lets through; False: the end."""
        with self._lock:
            while not self._stopped:
                if not self._waiting:
                    self._lock.wait()
                    continue
                now = time.monotonic()
                while self._sent and self._sent[0] <= now - _HOUR:
                    self._sent.popleft()
                limit = min(n.limit for n in self._waiting)
                if len(self._sent) < limit:
                    self._busy = True
                    return True
                free = self._sent[-limit] + _HOUR - now
                self.last = f"waiting: {limit} messages an hour are the limit"
                self._log_limit(limit, free)
                self._lock.wait_for(lambda: self._stopped, free)
            return False

    def _log_limit(self, limit: int, seconds: float) -> None:
        text = "alerts: %s: %d messages an hour are the limit; the next goes in %.0f s"
        logger.warning(text, self.destination.shown, limit, seconds)

    def _deliver(self) -> None:
        """What waits at each try, until it is through or given up."""
        notices: list[Notice] = []
        pause = self._patience.first
        for k in range(1, self._patience.tries + 1):
            dropped = self._take(notices)
            error = self._try(notices, dropped)
            if error is None:
                self._done(dropped, f"sent {iso(time.time())}")
                return
            again = not error.for_good and k < self._patience.tries
            what = f"try {k + 1} in {pause:.0f} s" if again else "given up"
            self.last = f"{error}; {what}"
            logger.log(logging.WARNING if again else logging.ERROR, "alerts: %s: %s; %s", self.destination.shown, error, what)
            if not again or self._ends_within(pause):
                break
            pause = min(2 * pause, self._patience.longest)
        self._done(0, self.last)

    def _take(self, notices: list[Notice]) -> int:
        """Adds what waits; how many were dropped."""
        with self._lock:
            notices.extend(self._waiting)
            self._waiting.clear()
            self._dropped += max(0, len(notices) - _MOST_WAITING)
            del notices[:-_MOST_WAITING]
            return self._dropped

    def _try(self, notices: list[Notice], dropped: int) -> DeliveryError | None:
        try:
            self.destination.send(notices, dropped, self._patience.each)
        except DeliveryError as e:
            return e
        except Exception as e:  # its text may hold anything
            return DeliveryError(type(e).__name__, True)
        with self._lock:
            self._sent.append(time.monotonic())
        return None

    def _ends_within(self, seconds: float) -> bool:
        with self._lock:
            return self._lock.wait_for(lambda: self._stopped, seconds)

    def _done(self, told: int, how: str) -> None:
        with self._lock:
            self._dropped -= told
            self._busy = False
            self.last = how
            self._lock.notify_all()
