"""A launch or attach that was refused doesn't end the session."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from client import PATIENCE, Client, RefusedError
from modules import SUM
from python_programs import LOOP, written


def test_what_was_refused_can_be_asked_for_again(client, environment, tmp_path):
    client.initialize()
    with pytest.raises(RefusedError, match="process 999999 of this user has no debug server"):
        client.request("attach", processId=999999)
    with pytest.raises(RefusedError, match="attach: "):
        client.request("attach", address="127.0.0.1:1", token="0" * 32)
    path = written(tmp_path, "loop.py", LOOP)
    program = subprocess.Popen([sys.executable, path], env={**os.environ, **environment, "MSVM_DEBUG": "127.0.0.1:0"})
    try:
        place = environment["XDG_RUNTIME_DIR"] + f"/msvm/{program.pid}.debug.json"
        until = time.monotonic() + PATIENCE
        while not Path(place).exists():
            assert time.monotonic() < until and program.poll() is None
            time.sleep(0.05)
        address = f"127.0.0.1:{json.loads(Path(place).read_text())['port']}"
        with pytest.raises(RefusedError, match="token: expected"):
            client.request("attach", address=address, token="0" * 32)
        client.request("attach", processId=program.pid)
        client.event("initialized")
        client.request("configurationDone")
        client.request("pause", threadId=0)
        client.stopped()
        assert not client.named("terminated")
    finally:
        client.close()
        program.kill()
        program.wait()
    # And a launch after one that was refused.
    with Client(env=environment) as other:
        other.initialize()
        with pytest.raises(RefusedError):
            other.request("launch", program=str(tmp_path / "nowhere.py"))
        module = tmp_path / "sum.msasm"
        module.write_text(SUM)
        other.request("launch", program=str(module), ranges=["n=3:3"])
        other.event("initialized")
        other.request("configurationDone")
        assert other.ended() == 0
