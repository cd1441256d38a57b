"""Webhooks: a POST of JSON. Their addresses are secrets, as those of chat services are."""

from __future__ import annotations

import http.client
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..._errors import InputError
from . import notice
from .deadline import Deadline
from .destination import DeliveryError, Destination
from .secrets import Secret, redacted, secret

_KEYS = ("url", "token")


class _Sockets(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Remembers the sockets of its connections."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[socket.socket | None] = []

    def _remembering(self, base: Callable[..., Any]) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            connection = base(*args, **kwargs)
            connect = connection.connect

            def connected() -> None:
                connect()
                self.opened.append(connection.sock)

            connection.connect = connected
            return connection

        return make

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """As the base does."""
        return self.do_open(self._remembering(http.client.HTTPConnection), req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """As the base does."""
        return self.do_open(self._remembering(http.client.HTTPSConnection), req)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirected POST would become a GET, or go where nobody meant it to."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class Webhook(Destination):
    url: Secret
    token: Secret | None = None
    """Sent as ``Authorization: Bearer``."""

    @property
    def shown(self) -> str:
        """Scheme and host alone."""
        parts = urlsplit(self.url.reveal())
        return f"webhook at {parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    def send(self, notices: Sequence[notice.Notice], held_back: int, seconds: float) -> None:
        """One POST. Raises ``DeliveryError`` unless the answer is 2xx."""
        body = json.dumps(notice.payload(notices, held_back)).encode()
        request = urllib.request.Request(self.url.reveal(), body, {"Content-Type": "application/json", "User-Agent": "msvm"}, method="POST")
        if self.token is not None:
            request.add_header("Authorization", f"Bearer {self.token.reveal()}")
        sockets = _Sockets()
        opener = urllib.request.build_opener(_NoRedirects, sockets)
        try:
            with Deadline(seconds, lambda: sockets.opened) as deadline:
                opener.open(request, timeout=seconds / 3).close()  # what it says beside the status isn't read
            if deadline.over:
                raise TimeoutError(f"no whole answer in {seconds:g} s")
        except urllib.error.HTTPError as e:
            e.close()
            raise self._failure(f"it answers {e.code} {e.reason}", 300 <= e.code < 500 and e.code not in (408, 425, 429)) from None
        except (OSError, ValueError, http.client.HTTPException) as e:
            raise self._failure(f"{type(e).__name__}: {getattr(e, 'reason', e)}", False) from None

    def _failure(self, what: str, for_good: bool) -> DeliveryError:
        return DeliveryError(redacted(what, [self.url, self.token]), for_good)


def webhook(given: Any, place: str = "webhook") -> Webhook:
    """From an address (itself, env:NAME, file:PATH), or ``{"url": …, "token": …}``. Raises ``InputError``, ``FileError``."""
    if isinstance(given, Webhook):
        return given
    said = given if isinstance(given, Mapping) else {"url": given}
    if "url" not in said or not set(said) <= set(_KEYS):
        raise InputError(f"{place}: expected an address, or a mapping with url and token; found {', '.join(map(str, said)) or 'nothing'}")
    url = secret(said["url"], place)
    try:
        parts = urlsplit(url.reveal())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.reveal().isascii() or not url.reveal().isprintable() or " " in url.reveal():
        raise InputError(f"{place}: expected an address that begins with http:// or https:// (it isn't shown: it may be a secret)")
    if parts.username is not None:
        raise InputError(f"{place}: user and password can't be in the address; give a token")
    token = None if said.get("token") is None else secret(said["token"], f"{place}: token")
    if token is not None and (not token.reveal().isascii() or not token.reveal().isprintable()):
        raise InputError(f"{place}: token: expected printable ASCII")
    return Webhook(url, token)
