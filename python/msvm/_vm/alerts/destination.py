"""Where messages go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from .notice import Notice


class DeliveryError(Exception):
    """Why a message didn't get through, without secrets. ``for_good``: another try would end the same way."""

    def __init__(self, what: str, for_good: bool) -> None:
        super().__init__(what)
        self.for_good = for_good


class Destination(ABC):
    """Hashable; equal ones are the same recipient: what happens at once is one message to it."""

    @property
    @abstractmethod
    def shown(self) -> str:
        """For logs and tables, without secrets."""

    @abstractmethod
    def send(self, notices: Sequence[Notice], held_back: int, seconds: float) -> None:
        """One message. Raises ``DeliveryError``; takes no longer than about ``seconds``."""
