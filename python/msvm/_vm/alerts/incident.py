"""One alert's way from ok over pending to firing and back: once per incident."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "pending", "firing"]
Change = Literal["firing", "resolved"]


@dataclass
class Incident:
    """``needed``: seconds that the condition has to hold. ``hold``: seconds that it must not hold before the incident is over."""

    needed: float
    hold: float
    state: State = "ok"
    since: float = 0.0
    """When the state was entered; of firing: when the condition began to hold. The clock of ``step``'s ``now``."""
    _held: float = 0.0
    _clear: float = 0.0

    def step(self, holds: bool | None, elapsed: float, now: float) -> Change | None:
        """``elapsed`` seconds after the step before. Where the condition has no value everything stays as it is."""
        if holds is None:
            return None
        if self.state == "firing":
            return self._firing(holds, elapsed, now)
        if not holds:
            if self.state == "pending":
                self.state, self.since = "ok", now
            return None
        if self.state == "ok":
            self.state, self.since, self._held = "pending", now, 0.0
        else:
            self._held += elapsed
        if self._held < self.needed:
            return None
        self.state, self._clear = "firing", 0.0
        return "firing"

    def _firing(self, holds: bool, elapsed: float, now: float) -> Change | None:
        self._clear = 0.0 if holds else self._clear + elapsed
        if holds or self._clear < self.hold:
            return None
        self.state, self.since = "ok", now
        return "resolved"
