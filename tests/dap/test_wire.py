"""What lies below the requests: frames, sockets, clients that go."""

import json
import os
import re
import signal
import socket
import subprocess
import time

import pytest
from client import MSVM, Client
from modules import FOREVER, NECK, SUM, written


def framed(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def answers(out):
    """The messages in what an adapter wrote."""
    found = []
    while out:
        header, _, out = out.partition(b"\r\n\r\n")
        length = int(re.fullmatch(rb"Content-Length: (\d+)", header)[1])
        found.append(json.loads(out[:length]))
        out = out[length:]
    return found


INITIALIZE = {"seq": 1, "type": "request", "command": "initialize", "arguments": {}}


def said(stdin, environment):
    p = subprocess.run([MSVM, "dap"], input=stdin, capture_output=True, timeout=60, check=False, env={**os.environ, **environment})
    assert p.returncode == 0, p
    return answers(p.stdout)


@pytest.mark.parametrize(
    "bytes_, says",
    [
        (b"hello\r\n\r\n", "without a colon"),
        (b"Content-Length: x\r\n\r\n", "a number of bytes"),
        (b"Content-Length: 99999999\r\n\r\n", "16777216 at most"),
        (b"x" * 10_000, "a header of more than 8192 bytes"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "without a colon"),
        (b"POST: / HTTP/1.1\r\nHost: localhost\r\n\r\n", "without Content-Length"),
        (bytes(range(256)) * 100, "header"),
    ],
)
def test_what_cant_be_a_message_ends_the_session(environment, bytes_, says):
    first, last = said(framed(INITIALIZE) + bytes_ + framed(INITIALIZE), environment)
    assert first["success"] and first["command"] == "initialize"
    assert not last["success"] and last["request_seq"] == 0 and says in last["message"], last


@pytest.mark.parametrize(
    "message, says",
    [
        (b"{", "expected JSON"),
        (b"\xff\xfe", "expected JSON"),
        (b"[" * 100_000, "nested"),
        (b"3", "expected a message, an object, found the number 3"),
        (b"[]", "expected a message"),
        (b"{}", "type: expected a string"),
        (b'{"type": "request", "command": "threads"}', "seq: expected an integer"),
        (b'{"type": "request", "seq": -1, "command": "threads"}', "seq: expected an integer of 0 or more"),
        (b'{"type": "request", "seq": 1}', "command: expected a string"),
        (b'{"type": "request", "seq": 1, "command": 7}', "command: expected a string, found the number 7"),
        (b'{"type": "order", "seq": 1}', 'type: expected "request", "response" or "event", found "order"'),
        (b'{"type": "response"}', "request_seq"),
        (b'{"type": "event"}', "event"),
    ],
)
def test_what_isnt_a_request_is_answered(environment, message, says):
    first, second = said(framed(message) + framed(INITIALIZE), environment)
    assert not first["success"] and first["request_seq"] == 0 and says in first["message"], first
    assert second["success"] and second["request_seq"] == 1


def test_events_and_responses_of_a_client_are_passed_over(environment):
    (only,) = said(
        framed({"type": "event", "event": "x"}) + framed({"type": "response", "request_seq": 5, "seq": 2}) + framed(INITIALIZE), environment
    )
    assert only["command"] == "initialize"


def test_one_byte_at_a_time(client):
    client.seq = 1
    for byte in framed(INITIALIZE):
        client.write(bytes([byte]))
    assert client.response(1)["success"]


def test_the_input_ends_within_a_message(environment):
    assert said(framed(INITIALIZE)[:-5], environment) == []
    assert said(b"", environment) == []


def test_numbers_of_messages_rise(client, tmp_path):
    path = written(tmp_path, "sum.msasm", SUM)
    client.start(program=str(path), ranges=["n=3:3"])
    client.ended()
    assert [e["seq"] for e in client.events] == sorted({e["seq"] for e in client.events})


# --- clients that go ------------------------------------------------------------------------------------------------------------


def test_the_adapter_ends_with_its_client(client, tmp_path):
    path = written(tmp_path, "forever.msasm", FOREVER)
    client.start(program=str(path))
    client.event("thread")
    client.process.stdin.close()  # the program runs on
    assert client.process.wait(20) == 0


def test_disconnect_ends_a_program_that_waits(client, tmp_path):
    path = written(tmp_path, "forever.msasm", FOREVER)
    client.start(program=str(path), stopOnEntry=True)
    client.stopped("entry")
    client.request("disconnect", terminateDebuggee=True)
    assert client.process.wait(20) == 0


class Wire:
    """A socket as the process that a client talks with."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.stdin = self.socket.makefile("wb")
        self.stdout = self.socket.makefile("rb")


@pytest.fixture
def port(environment):
    p = subprocess.Popen(
        [MSVM, "dap", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    number = int(p.stdout.readline())
    yield number
    assert p.poll() is None  # it serves on
    p.terminate()
    p.wait(20)


@pytest.fixture
def connect(port, monkeypatch):
    import client as module

    made = []

    def connect():
        monkeypatch.setattr(module.subprocess, "Popen", lambda *a, **k: Wire(port))
        c = Client()
        monkeypatch.undo()
        made.append(c)
        return c

    yield connect
    for c in made:
        c.process.socket.close()


def hang_up(c):
    c.process.socket.shutdown(socket.SHUT_RDWR)
    c.process.socket.close()


def test_sessions_one_after_the_other(connect, tmp_path):
    path = written(tmp_path, "neck.msasm", NECK)
    for k in range(3):
        c = connect()
        c.start(program=str(path), shapes=["x=1x8x4x4"], stopOnEntry=True)
        thread = c.stopped("entry")["threadId"]
        assert c.frames(thread)[0]["source"]["path"] == f"msvm://bc/0x{k << 32:x}/neck"
        if k == 1:
            c.request("disconnect")
        elif k == 2:
            c.resume(thread)
            assert c.ended() == 0
        hang_up(c)


def test_killed_in_mid_session(connect, tmp_path):
    path = written(tmp_path, "forever.msasm", FOREVER)
    for k in range(3):
        c = connect()
        c.start(program=str(path), stopOnEntry=k > 0)
        if k:
            thread = c.stopped("entry")["threadId"]
            c.breakpoints("msvm://bc/0x0", [5])
        if k == 2:
            c.send("stepIn", {"threadId": thread})
        hang_up(c)
    c = connect()  # the place is free, and the next one gets its own breakpoints and stops
    c.start(program=str(written(tmp_path, "sum.msasm", SUM)), ranges=["n=4:4"])
    assert c.ended() == 0 and c.named("stopped") == []
    hang_up(c)


def test_a_port_that_is_taken(port, environment):
    p = subprocess.run(
        [MSVM, "dap", "--port", str(port)], capture_output=True, text=True, timeout=30, check=False, env={**os.environ, **environment}
    )
    assert p.returncode == 3 and f"port {port}" in p.stderr and p.stdout == ""


def test_ctrl_c_ends_it(environment):
    p = subprocess.Popen([MSVM, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment})
    p.stdin.write(framed(INITIALIZE))
    p.stdin.flush()
    assert p.stdout.readline().startswith(b"Content-Length")
    p.send_signal(signal.SIGINT)
    begin = time.monotonic()
    p.wait(20)
    assert time.monotonic() - begin < 10
    p.stdin.close()
    p.stdout.close()
