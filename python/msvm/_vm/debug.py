"""The debug server of the process: start and stop."""

from __future__ import annotations

import os
import stat
import sys

from .. import _core
from .._errors import InputError


class DebugServer:
    """Where a debugger reaches this process. In ``with`` it ends with the block; there is one for the process."""

    def __init__(self, address: str, port: int, token: str) -> None:
        self.address = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        """Such as ``127.0.0.1:40001``."""
        self.token = token
        """What ``attach`` by address needs. Keep it secret: who has it can run code in this process."""

    def stop(self) -> None:
        """Let the debugger go; the program goes on. Does nothing if another server, or none, runs."""
        place = _core.debugger_place()
        if place is not None and place[2] == self.token:
            _core.stop_debugger()

    def __enter__(self) -> DebugServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<msvm debug server at {self.address}, process {os.getpid()}>"


def start(address: str) -> DebugServer:
    """See ``msvm.vm.start_debugger``."""
    if not isinstance(address, str):
        raise InputError(f"start_debugger: address is a string such as 127.0.0.1:0, found {type(address).__name__}")
    place = _core.debugger_place()
    if place is None or not _serves(place[0], place[1], address):
        _core.start_debugger(address)
        place = _core.debugger_place()
        assert place is not None
    return DebugServer(*place)


def _serves(host: str, port: int, asked: str) -> bool:
    """Whether the server that runs is as good as one at the address. Port 0: that of who launched us, which none replaces."""
    asked_host, _, asked_port = asked.rpartition(":")
    same = asked_host.strip("[]").replace("localhost", "127.0.0.1") == host
    return port == 0 or (same and asked_port in ("0", str(port)))


def start_from_environment() -> None:
    """At import where MSVM_DEBUG is set. A program doesn't fail because its debugger can't be had: that is a warning.

    ``msvm dap`` hands the program that it launches a socket, as ``fd:NUMBER:INODE``. It is for that process, not for its children.
    """
    import warnings

    wait = os.environ.get("MSVM_DEBUG_WAIT", "0") not in ("", "0")
    try:
        asked = os.environ["MSVM_DEBUG"]
        if asked.startswith("fd:"):
            del os.environ["MSVM_DEBUG"]
            os.environ.pop("MSVM_DEBUG_WAIT", None)
            fd, inode = map(int, asked[3:].split(":"))
            if not _is_socket(fd, inode):
                return
            os.set_inheritable(fd, False)
            if wait:
                _core.hold_runs()
            _core.serve_debugger(fd)
            return
        server = start(asked)
        if wait:
            _core.hold_runs()
            print(f"msvm: runs of process {os.getpid()} wait for a debugger at {server.address}", file=sys.stderr, flush=True)
    except Exception as e:
        warnings.warn(f"MSVM_DEBUG: {e}", RuntimeWarning, stacklevel=3)


def _is_socket(fd: int, inode: int) -> bool:
    """Whether the descriptor is what the environment says, and not another that has its number in this process."""
    try:
        found = os.fstat(fd)
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_ino == inode
