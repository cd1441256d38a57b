"""Servers on loopback that take what alerts send: SMTP with a throw-away certificate, HTTP, and ones that answer byte by byte."""

import contextlib
import http.server
import json
import socket
import ssl
import subprocess
import threading
import warnings
from email import message_from_bytes
from email.policy import default

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

USER, PASSWORD = "line3@example.com", "geheim-7e1b-hunter2"


def certificate(folder):
    """Of localhost, signed by itself: the paths of certificate and key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


class Mailbox:
    """The handler of the server: keeps what comes, or refuses."""

    def __init__(self):
        self.messages = []
        self.answers = []  # given first, one for each message, instead of taking it
        self.refused = set()
        self.came = threading.Condition()
        self.secure = []

    async def handle_RCPT(self, server, session, envelope, to, options):  # noqa: N802
        if to in self.refused:
            return "550 no such mailbox"
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        with self.came:
            if self.answers:
                return self.answers.pop(0)
            self.messages.append(message_from_bytes(envelope.content.replace(b"\r\n", b"\n"), policy=default))
            self.secure.append(session.ssl is not None)
            self.came.notify_all()
        return "250 OK"

    def wait(self, count, seconds=20):
        """The first ``count`` messages, once they are there."""
        with self.came:
            assert self.came.wait_for(lambda: len(self.messages) >= count, seconds), self.messages
            return self.messages[:count]


@contextlib.contextmanager
def smtp_server(folder=None, tls_at_once=False):
    """A mailbox and its port; with a folder for its certificate it demands TLS (STARTTLS, or at once) and a login."""
    box = Mailbox()
    options = {}
    if folder is not None:
        cert, key = certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)

        def authenticate(server, session, envelope, mechanism, data):
            return AuthResult(success=(data.login, data.password) == (USER.encode(), PASSWORD.encode()), handled=False)

        way = {"ssl_context": context} if tls_at_once else {"tls_context": context, "require_starttls": True}
        warnings.filterwarnings("ignore", "Requiring AUTH while not requiring TLS")
        options = way | {"auth_required": True, "auth_require_tls": not tls_at_once, "authenticator": authenticate}
    controller = Controller(box, hostname="127.0.0.1", port=free_port(), **options)
    controller.start()
    try:
        yield box, controller.port
    finally:
        controller.stop()


def free_port():
    """That nobody listens at now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        s = self.server
        with s.came:
            code = s.answers.pop(0) if s.answers else 200
            s.codes.append(code)
            if code == 200:
                s.bodies.append((dict(self.headers), self.path, json.loads(body)))
            s.came.notify_all()
        self.send_response(code)
        if code == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def hook_server():
    """A server with ``bodies`` (headers, path, JSON), ``codes`` that it answered, ``answers`` that come first, and ``url``."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    server.bodies, server.codes, server.answers, server.came = [], [], [], threading.Condition()
    server.url = f"http://127.0.0.1:{server.server_port}/hooks/T0KEN-in-the-path"

    def wait(count, seconds=20):
        with server.came:
            assert server.came.wait_for(lambda: len(server.bodies) >= count, seconds), server.codes
            return [b for _, _, b in server.bodies[:count]]

    server.wait = wait
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def dripping_server(text=b"HTTP/1.1 200 OK\r\nX: ", pause=0.05):
    """Answers a byte at a time, without an end; gives its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def drip(s):
        with s, contextlib.suppress(OSError):
            for k in range(10**9):
                if stop.wait(pause):
                    return
                s.sendall(text[k : k + 1] or b"x")

    def serve():
        with contextlib.suppress(OSError):
            while True:
                s, _ = listening.accept()
                threading.Thread(target=drip, args=(s,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        stop.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()
