"""Mail by SMTP: where the server is, and sending."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import smtplib
import socket
import ssl
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path
from typing import Any

from ..._errors import FileError, InputError
from . import notice
from .deadline import Deadline
from .destination import DeliveryError, Destination
from .secrets import Secret, named_elsewhere, private_text, redacted, secret

_KEYS = ("host", "port", "user", "password", "sender", "tls", "ca")
_TLS = ("starttls", "tls", "off")
_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\]+@[^\s@<>,;:\"()\[\]\\]+")


@dataclass(frozen=True)
class Smtp:
    """Of one server. Prints without its password."""

    host: str
    port: int
    user: str | None
    password: Secret | None
    sender: str
    tls: str
    ca: str | None
    """A file with certificates that are trusted instead of the system's."""


def address(given: Any, place: str) -> str:
    """A plain mail address. Raises ``InputError``."""
    if not isinstance(given, str) or len(given) > 254 or not given.isascii() or not given.isprintable() or not _ADDRESS.fullmatch(given):
        raise InputError(f"{place}: expected a mail address such as shift@example.com, found {given!r}")
    return given


def _loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _environment() -> dict[str, Any]:
    found = {k: os.environ.get(f"MSVM_SMTP_{k.upper()}") for k in _KEYS}
    given: dict[str, Any] = {k: v for k, v in found.items() if v}
    if path := os.environ.get("MSVM_SMTP_PASSWORD_FILE"):
        given["password"] = f"file:{path}"
    return given


def table_in(text: str, path: Path) -> dict[str, Any]:
    """TOML, or JSON where the file's name ends so. Raises ``FileError``."""
    try:
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as e:
        raise FileError(f"{path}: {'JSON' if path.suffix == '.json' else 'TOML'}: {e}") from None
    if not isinstance(found, dict):
        raise FileError(f"{path}: expected a table, found {type(found).__name__}")
    return found


def smtp(given: Mapping[str, Any] | str | os.PathLike[str] | Smtp | None, place: str = "smtp") -> Smtp:
    """From a mapping, or a file (0600) with one; the rest is from ``MSVM_SMTP_…``. Raises ``InputError``, ``FileError``."""
    if isinstance(given, Smtp):
        return given
    said: Mapping[str, Any]
    path = given if given is not None else os.environ.get("MSVM_SMTP_FILE", {})
    if isinstance(path, Mapping):
        said = path
    else:
        place = os.fspath(path)
        said = table_in(private_text(path), Path(path))
    if unknown := [str(k) for k in said if k not in _KEYS]:
        raise InputError(f"{place}: there is no {', '.join(unknown)}; possible are {', '.join(_KEYS)}")
    return _checked(_environment() | dict(said), place)


def _checked(said: Mapping[str, Any], place: str) -> Smtp:
    host = said.get("host")
    if not isinstance(host, str) or not host.isprintable() or not host.strip():
        raise InputError(f"{place}: which server sends the mail? Give host, or set MSVM_SMTP_HOST")
    user, password = said.get("user"), said.get("password")
    if (user is None) != (password is None):
        raise InputError(f"{place}: user and password belong together; {'user' if user is None else 'password'} is missing")
    if user is not None and not isinstance(user, str):
        raise InputError(f"{place}: expected text as user, found {type(user).__name__}")
    local = _loopback(host)
    tls = said.get("tls") or ("tls" if str(said.get("port")) == "465" else "off" if local and user is None else "starttls")
    if tls not in _TLS:
        raise InputError(f"{place}: tls is one of {', '.join(_TLS)}, found {tls!r}")
    if tls == "off" and user is not None and not local:
        raise InputError(f"{place}: the password would go over the network as it is; tls must be starttls or tls")
    port = said.get("port", {"starttls": 587, "tls": 465, "off": 25}[tls])
    if not str(port).isascii() or not str(port).isdigit() or not 0 < int(port) < 65536:
        raise InputError(f"{place}: expected a port of 1 to 65535, found {port!r}")
    sender = address(said.get("sender") or (user if user and "@" in user else f"msvm@{socket.gethostname()}"), f"{place}: sender")
    ca = said.get("ca")
    hidden = None if password is None else secret(password, f"{place}: password")
    return Smtp(host, int(port), user, hidden, sender, tls, None if ca is None else os.fspath(ca))


def holds_password(said: Mapping[str, Any]) -> bool:
    """Whether the mapping has a password in it, not where one is."""
    return "password" in said and not named_elsewhere(said["password"])


@dataclass(frozen=True)
class Mail(Destination):
    """One address."""

    smtp: Smtp
    to: str

    @property
    def shown(self) -> str:
        """For logs and tables."""
        return f"mail to {self.to}"

    def send(self, notices: Sequence[notice.Notice], held_back: int, seconds: float) -> None:
        """One mail. Raises ``DeliveryError``; returns or raises within about ``seconds``."""
        try:
            self._send(self._message(notices, held_back), seconds)
        except smtplib.SMTPRecipientsRefused as e:
            code, why = next(iter(e.recipients.values()), (500, b""))
            raise self._failure(f"the server refuses the recipient: {code} {_decoded(why)}", code >= 500) from None
        except smtplib.SMTPResponseException as e:
            raise self._failure(f"the server says {e.smtp_code} {_decoded(e.smtp_error)}", e.smtp_code >= 500) from None
        except smtplib.SMTPNotSupportedError as e:
            raise self._failure(str(e), True) from None
        except ssl.SSLCertVerificationError as e:
            raise self._failure(f"the certificate of {self.smtp.host}: {e.verify_message}", False) from None
        except (smtplib.SMTPException, OSError, ValueError) as e:
            raise self._failure(f"{type(e).__name__}: {e}", False) from None

    def _failure(self, what: str, for_good: bool) -> DeliveryError:
        where = f"{self.smtp.host}:{self.smtp.port}"
        return DeliveryError(redacted(f"{where}: {what}", [self.smtp.password]), for_good)

    def _message(self, notices: Sequence[notice.Notice], held_back: int) -> EmailMessage:
        m = EmailMessage()
        m["From"], m["To"] = self.smtp.sender, self.to
        m["Subject"] = notice.subject(notices)
        m["Date"] = formatdate(notices[-1].time)
        m["Message-ID"] = make_msgid("msvm", self.smtp.sender.rpartition("@")[2])
        m["Auto-Submitted"] = "auto-generated"
        m.set_content(notice.text(notices, held_back))
        return m

    def _send(self, message: EmailMessage, seconds: float) -> None:
        context = ssl.create_default_context(cafile=self.smtp.ca) if self.smtp.tls != "off" else None
        opened: list[smtplib.SMTP] = []
        with Deadline(seconds, lambda: [s.sock for s in opened]):
            try:
                server = self._connected(opened, seconds / 3, context)
                if self.smtp.tls == "starttls":
                    server.starttls(context=context)
                if self.smtp.user is not None and self.smtp.password is not None:
                    server.login(self.smtp.user, self.smtp.password.reveal())
                server.send_message(message)
                with suppress(smtplib.SMTPException, OSError):
                    server.quit()
            finally:
                for s in opened:
                    s.close()

    def _connected(self, opened: list[smtplib.SMTP], seconds: float, context: ssl.SSLContext | None) -> smtplib.SMTP:
        if self.smtp.tls == "tls":
            return _NoticedSSL(opened, self.smtp.host, self.smtp.port, timeout=seconds, context=context)
        return _Noticed(opened, self.smtp.host, self.smtp.port, timeout=seconds)


class _Noticed(smtplib.SMTP):
    """Says of itself before it connects."""

    def __init__(self, opened: list[smtplib.SMTP], *args: Any, **kwargs: Any) -> None:
        self._opened = opened
        super().__init__(*args, **kwargs)

    def connect(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        """As the base does."""
        self._opened.append(self)
        return super().connect(*args, **kwargs)


class _NoticedSSL(_Noticed, smtplib.SMTP_SSL):
    pass


def _decoded(reply: bytes | str) -> str:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:200]
