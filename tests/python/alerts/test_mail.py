"""Mail to a real server on loopback: with TLS and a login, refused, slow; and that secrets stay where they are."""

import base64
import logging
import pickle
import time

import pytest
from msvm._vm.alerts.destination import DeliveryError
from msvm._vm.alerts.evidence import Evidence
from msvm._vm.alerts.lane import Lane, Patience
from msvm._vm.alerts.mail import Mail, smtp
from msvm._vm.alerts.notice import Notice
from msvm._vm.alerts.outbox import Outbox
from msvm._vm.alerts.secrets import Secret
from servers import PASSWORD, USER, dripping_server, free_port, smtp_server

import msvm as ms

QUICK = Patience(each=5.0, first=0.05, longest=0.2, tries=4)
NOTHING = Evidence()


def notice(rule="hit_rate < 0.85", change="firing", limit=100, message="check camera feed resolution"):
    return Notice(change, rule, message, {"hit_rate": 0.4}, 10.0, 1.8e9, 1.8e9 + 60, NOTHING, None, limit)


@pytest.fixture
def environment(monkeypatch):
    """Without any of ours."""
    for name in ("HOST", "PORT", "USER", "PASSWORD", "PASSWORD_FILE", "SENDER", "TLS", "CA", "FILE"):
        monkeypatch.delenv(f"MSVM_SMTP_{name}", raising=False)
    return monkeypatch


def to(port, address="shift@example.com", **more):
    return Mail(smtp({"host": "127.0.0.1", "port": port, "sender": "msvm@example.com", **more}), address)


def forms_of_the_password():
    both = f"\0{USER}\0{PASSWORD}".encode()
    return [PASSWORD, base64.b64encode(PASSWORD.encode()).decode(), base64.b64encode(both).decode()]


def test_a_mail_comes(environment):
    with smtp_server() as (box, port):
        to(port).send([notice()], 0, 10)
        (m,) = box.wait(1)
    assert m["From"] == "msvm@example.com" and m["To"] == "shift@example.com" and m["Auto-Submitted"] == "auto-generated"
    assert m["Subject"].startswith("[msvm] firing: check camera feed resolution (") and m["Message-ID"] and m["Date"]
    assert "FIRING: hit_rate < 0.85" in m.get_content() and "for 60 s" in m.get_content()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_with_tls_and_a_login(tmp_path, environment, name):
    with smtp_server(tmp_path) as (box, port):
        secure = {"user": USER, "password": PASSWORD, "ca": tmp_path / "cert.pem", "tls": "starttls"}
        to(port, host=name, **secure).send([notice()], 0, 10)
        box.wait(1)
        assert box.secure == [True]
        with pytest.raises(DeliveryError, match="the server says 535") as wrong:
            to(port, **(secure | {"password": "wrong"})).send([notice()], 0, 10)
        assert wrong.value.for_good and "wrong" not in str(wrong.value)
        with pytest.raises(DeliveryError, match=r"certificate of 127\.0\.0\.1: self.signed") as stranger:
            to(port, **(secure | {"ca": None})).send([notice()], 0, 10)
        assert not stranger.value.for_good
        with pytest.raises(DeliveryError, match="530"):
            to(port, tls="off").send([notice()], 0, 10)
        assert len(box.messages) == 1


def test_with_tls_from_the_first_byte(tmp_path, environment):
    with smtp_server(tmp_path, tls_at_once=True) as (box, port):
        secure = {"user": USER, "password": PASSWORD, "ca": tmp_path / "cert.pem", "tls": "tls"}
        to(port, **secure).send([notice()], 0, 10)
        box.wait(1)
        with pytest.raises(DeliveryError, match=r"certificate of 127\.0\.0\.1"):
            to(port, **(secure | {"ca": None})).send([notice()], 0, 10)
    with dripping_server(b"") as port, pytest.raises(DeliveryError):
        to(port, **secure).send([notice()], 0, 1.5)


def test_a_server_without_tls_gets_no_password(environment):
    with smtp_server() as (box, port), pytest.raises(DeliveryError, match="STARTTLS") as e:
        to(port, user=USER, password=PASSWORD, tls="starttls").send([notice()], 0, 10)
    assert e.value.for_good and box.messages == []


def test_refused_recipients_are_given_up_others_are_not(environment, caplog):
    out = Outbox(QUICK)
    with smtp_server() as (box, port):
        box.refused = {"nobody@example.com"}
        nobody, somebody = to(port, "nobody@example.com"), to(port)
        out.post([(nobody, notice()), (somebody, notice())])
        assert out.flush(20)
        assert len(box.messages) == 1
    assert out.last(somebody).startswith("sent 2") and "550 no such mailbox; given up" in out.last(nobody)
    assert [r.levelno for r in caplog.records] == [logging.ERROR]
    out.stop()


def test_tried_again_until_it_is_through(environment, caplog):
    out = Outbox(QUICK)
    with smtp_server() as (box, port):
        box.answers = ["451 later", "421 busy"]
        out.post([(to(port), notice("misses > 1"))])
        box.wait(1)
        assert out.flush(20) and len(box.messages) == 1
    assert [r.levelno for r in caplog.records] == [logging.WARNING] * 2 and "451 later; try 2 in 0 s" in caplog.text
    out.stop()


def test_a_server_that_isnt_there_is_given_up_in_the_end(environment, caplog):
    out, nowhere = Outbox(QUICK), to(free_port())
    out.post([(nowhere, notice())])
    assert out.flush(20)
    assert len(caplog.records) == 4 and caplog.records[-1].levelno == logging.ERROR
    assert "refused" in out.last(nowhere) and out.last(nowhere).endswith("given up")
    with smtp_server() as (box, port):  # and isn't what others wait for
        out.post([(to(port), notice())])
        box.wait(1)
    out.stop()


@pytest.mark.parametrize("text", [b"220-", b"220 ok\r\n250-"])
def test_a_server_that_answers_byte_by_byte(environment, text):
    with dripping_server(text) as port:
        begin = time.monotonic()
        with pytest.raises(DeliveryError):
            to(port).send([notice()], 0, 1.5)
        assert time.monotonic() - begin < 10
    with dripping_server(b"", pause=100) as port, pytest.raises(DeliveryError, match="timed out"):
        to(port).send([notice()], 0, 0.6)


def test_what_comes_together_or_while_it_waits_is_one_mail(environment):
    out = Outbox(QUICK)
    with smtp_server() as (box, port):
        other = to(port, "lead@example.com")
        out.post([(to(port), notice("misses > 1")), (to(port), notice("queued > 1")), (other, notice("queued > 1"))])
        first, second = sorted(box.wait(2), key=lambda m: m["To"])
        box.answers = ["451 later"] * 2
        for k in range(3):
            out.post([(to(port), notice(f"runs > {k}"))])
        late = box.wait(3)[-1].get_content()
        assert out.flush(20) and len(box.messages) <= 4
    assert first["To"] == "lead@example.com" and "misses" not in first.get_content()
    assert "2 alerts, 2 firing" in second["Subject"] and "misses > 1" in second.get_content() and "queued > 1" in second.get_content()
    assert "runs > 0" in late or "runs > 0" in box.messages[-1].get_content()
    assert sum("runs > 2" in m.get_content() for m in box.messages) == 1
    out.stop()


def test_messages_an_hour(environment, caplog, monkeypatch):
    from msvm._vm.alerts import lane

    monkeypatch.setattr(lane, "_HOUR", 3.0)
    out = Outbox(QUICK)
    with smtp_server() as (box, port):
        for k in range(2):
            out.post([(to(port), notice(f"runs > {k}", limit=2))])
            box.wait(k + 1)
        for k in range(2, 90):
            out.post([(to(port), notice(f"runs > {k}", limit=2))])
        assert not out.flush(0.5) and len(box.messages) == 2 and "2 messages an hour are the limit" in out.last(to(port))
        last = box.wait(3)[2].get_content()
        assert out.flush(20)
    assert "50 alerts" in box.messages[2]["Subject"] and "runs > 89\n" in last and "runs > 5\n" not in last
    assert "38 earlier notices were dropped" in last
    assert caplog.text.count("are the limit") == 1
    out.stop()


def test_secrets_show_nowhere(tmp_path, environment, caplog):
    caplog.set_level(logging.DEBUG)
    mail = to(free_port(), user=USER, password=PASSWORD)
    lane = Lane(mail, QUICK)
    lane.post([notice()])
    assert lane.flush(20)
    with smtp_server(tmp_path) as (_, port):
        wrong = to(port, user="other", password=PASSWORD, tls="starttls", ca=tmp_path / "cert.pem")
        lane = Lane(wrong, QUICK)
        lane.post([notice()])
        assert lane.flush(20) and "535" in lane.last
    a = ms.vm.add_alert("misses > 1e9", mail="a@example.com", smtp=mail.smtp)
    try:
        shown = [repr(mail), str(mail.smtp), repr(a), repr(ms.vm.alerts()), ms.vm.alerts()._repr_html_(), str(a.as_json()), repr(vars(a))]
        shown += [caplog.text, lane.last, repr(vars(lane)), f"{mail.smtp.password}", f"{mail.smtp.password!r}"]
    finally:
        a.remove()
    for form in forms_of_the_password():
        assert [s for s in shown if form in s] == []
    assert "shift@example.com" in shown[0]
    with pytest.raises(TypeError):
        pickle.dumps(mail)


def test_a_server_that_repeats_the_password_is_not_quoted(environment):
    mail = to(1, user=USER, password=PASSWORD)
    for form in forms_of_the_password()[:2]:
        assert form not in str(mail._failure(f"535 bad credentials {form}", True))


def test_where_the_server_is_said(tmp_path, environment):
    with pytest.raises(ms.InputError, match="MSVM_SMTP_HOST"):
        smtp(None)
    environment.setenv("MSVM_SMTP_HOST", "mail.example.com")
    environment.setenv("MSVM_SMTP_USER", USER)
    environment.setenv("MSVM_SMTP_PASSWORD", PASSWORD)
    s = smtp(None)
    assert (s.host, s.port, s.tls, s.user, s.sender) == ("mail.example.com", 587, "starttls", USER, USER)
    assert s.password.reveal() == PASSWORD
    assert smtp({"port": 465}).tls == "tls" and smtp({"host": "h", "tls": "tls"}).port == 465
    environment.delenv("MSVM_SMTP_PASSWORD")
    word = tmp_path / "word"
    word.write_text(PASSWORD + "\n")
    word.chmod(0o600)
    environment.setenv("MSVM_SMTP_PASSWORD_FILE", str(word))
    assert smtp(None).password == Secret(PASSWORD)
    word.chmod(0o640)
    with pytest.raises(ms.FileError, match=r"mode 0640, expected 0600.*chmod 600"):
        smtp(None)
    environment.delenv("MSVM_SMTP_PASSWORD_FILE")
    environment.setenv("LINE_WORD", PASSWORD)
    assert smtp({"password": "env:LINE_WORD"}).password == Secret(PASSWORD)


def test_a_file_with_the_server(tmp_path, environment):
    for name, text in (
        ("smtp.toml", f'host = "mail.example.com"\nuser = "{USER}"\npassword = "{PASSWORD}"\n'),
        ("smtp.json", f'{{"host": "mail.example.com", "user": "{USER}", "password": "{PASSWORD}"}}'),
    ):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(0o600)
        assert smtp(path) == smtp(str(path)) and smtp(path).password.reveal() == PASSWORD
        environment.setenv("MSVM_SMTP_FILE", str(path))
        assert smtp(None).host == "mail.example.com"
        path.chmod(0o644)
        with pytest.raises(ms.FileError, match="0600"):
            smtp(path)
    for text, says in (("host = [", "TOML"), ('hots = "x"', "there is no hots; possible are host, port")):
        path = tmp_path / "bad.toml"
        path.write_text(text)
        path.chmod(0o600)
        with pytest.raises(ms.Error, match=says):
            smtp(path)
    with pytest.raises(ms.FileError, match="No such file"):
        smtp(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"user": "u"}, "password is missing"),
        ({"password": "p-secret"}, "user is missing"),
        ({"user": "u", "password": "p-secret", "tls": "off"}, "as it is"),
        ({"tls": "ssl"}, "starttls, tls, off"),
        ({"port": 70000}, "1 to 65535"),
        ({"port": "x"}, "1 to 65535"),
        ({"sender": "me\nBcc: x@y.z"}, "sender: expected a mail address"),
        ({"user": "u", "password": "env:NOT_THERE"}, "the environment has no NOT_THERE"),
        ({"host": ""}, "MSVM_SMTP_HOST"),
        ({"user": "u", "password": 3}, "found int"),
    ],
)
def test_servers_that_cant_be(environment, given, says):
    with pytest.raises(ms.InputError, match=says) as e:
        smtp({"host": "mail.example.com", **given})
    assert "p-secret" not in str(e.value)


@pytest.mark.parametrize("address", ["", "a", "a@b\nBcc: c@d", "A <a@b>", "a@b, c@d", 3, [], [3], "ä@b"])
def test_addresses_that_cant_be(environment, address):
    with pytest.raises(ms.InputError, match="mail: expected"):
        ms.vm.add_alert("misses > 1", mail=address, smtp={"host": "127.0.0.1"})
    assert ms.vm.alerts() == []
