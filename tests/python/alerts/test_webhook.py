"""Webhooks to a server on loopback: what comes, again and again, and what shows of their addresses."""

import logging
import time

import pytest
from msvm._vm.alerts.destination import DeliveryError
from msvm._vm.alerts.outbox import Outbox
from msvm._vm.alerts.webhook import webhook
from servers import dripping_server, free_port, hook_server
from test_mail import QUICK, notice

import msvm as ms

TOKEN = "t0ken-9c2f"


def test_a_post_comes():
    with hook_server() as server:
        webhook({"url": server.url, "token": TOKEN}).send([notice(), notice("queued > 3", "resolved")], 2, 10)
        ((headers, path, body),) = server.bodies
    assert (
        path == "/hooks/T0KEN-in-the-path"
        and headers["Authorization"] == f"Bearer {TOKEN}"
        and headers["Content-Type"] == "application/json"
    )
    assert body["version"] == 1 and body["held_back"] == 2 and "2 alerts, 1 firing, 1 resolved" in body["text"]
    assert [a["state"] for a in body["alerts"]] == ["firing", "resolved"] and body["alerts"][0]["message"] == "check camera feed resolution"
    assert body["alerts"][0]["values"] == {"hit_rate": 0.4} and body["alerts"][0]["since"] == "2027-01-15T08:00:00.000Z"


def test_answers(caplog):
    out = Outbox(QUICK)
    with hook_server() as server:
        hook = webhook(server.url)
        server.answers = [503, 429]
        out.post([(hook, notice())])
        server.wait(1)
        assert out.flush(20) and server.codes == [503, 429, 200]
        server.answers = [404]
        out.post([(hook, notice())])
        assert out.flush(20) and server.codes[3:] == [404] and "404 Not Found; given up" in out.last(hook)
        server.answers = [302]
        out.post([(hook, notice())])
        assert out.flush(20) and server.codes[4:] == [302], "redirects aren't followed"
    out.stop()


def test_servers_that_are_not_there_or_slow():
    with pytest.raises(DeliveryError, match="refused") as e:
        webhook(f"http://127.0.0.1:{free_port()}/").send([notice()], 0, 5)
    assert not e.value.for_good
    with dripping_server() as port:
        begin = time.monotonic()
        with pytest.raises(DeliveryError):
            webhook(f"http://127.0.0.1:{port}/").send([notice()], 0, 1.0)
        assert time.monotonic() - begin < 10
    with dripping_server(pause=100) as port, pytest.raises(DeliveryError, match="timed out"):
        webhook(f"http://127.0.0.1:{port}/").send([notice()], 0, 0.6)


def test_addresses_show_nowhere(caplog, tmp_path, monkeypatch):
    caplog.set_level(logging.DEBUG)
    url = f"http://127.0.0.1:{free_port()}/hooks/T0KEN-in-the-path"
    hook = webhook({"url": url, "token": TOKEN})
    out = Outbox(QUICK)
    out.post([(hook, notice())])
    assert out.flush(20)
    out.stop()
    a = ms.vm.add_alert("misses > 1e9", webhook=hook)
    try:
        shown = [
            repr(hook),
            hook.shown,
            repr(a),
            repr(ms.vm.alerts()),
            ms.vm.alerts()._repr_html_(),
            repr(vars(a)),
            caplog.text,
            out.last(hook),
        ]
    finally:
        a.remove()
    assert [s for s in shown if "T0KEN" in s or TOKEN in s] == [] and "http://127.0.0.1:" in hook.shown
    monkeypatch.setenv("LINE_HOOK", url)
    assert webhook("env:LINE_HOOK") == webhook(url)
    (tmp_path / "hook").write_text(url + "\n")
    (tmp_path / "hook").chmod(0o600)
    assert webhook(f"file:{tmp_path}/hook") == webhook(url)


BAD = [
    "",
    "T0KEN",
    "ftp://T0KEN/",
    "http://",
    "http://u:T0KEN@h/",
    "http://h/T0KEN x",
    "http://h/T0KEN\n",
    "http://h:99999/T0KEN",
    "env:NOT_THERE",
]


@pytest.mark.parametrize("given", [*BAD, 3, {}, {"uri": "T0KEN"}, {"url": "http://h", "token": "T0KEN\r\nX: y"}])
def test_addresses_that_cant_be(given):
    with pytest.raises(ms.InputError, match="webhook") as e:
        ms.vm.add_alert("misses > 1", webhook=given)
    assert "T0KEN" not in str(e.value) and ms.vm.alerts() == []
