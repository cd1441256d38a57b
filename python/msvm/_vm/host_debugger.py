"""debugpy in this process, for a debugger that is attached: it comes on request, and leaves nothing behind.

It connects to who asks, so nothing listens in this process. Called on threads of the debug server, with the GIL.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .. import _core
from .frames import hide_this_thread

_PATIENCE = 2.0
"""Seconds until threads that stood in debugpy have left it."""

_SWITCH = 1e-4
"""Seconds for which threads that calculate keep the GIL while debugpy is imported; 5 ms for each of its files would be seconds."""

_lock = threading.Lock()
_hooks: tuple[Callable[..., Any], Callable[..., Any]] | None = None
"""``sys.breakpointhook`` of the program and of debugpy, while that is here for us."""


def start(port: int, token: str) -> None:
    """Connect debugpy to ``port`` of 127.0.0.1, where it shows ``token``. Raises ``RuntimeError`` with the mend."""
    global _hooks
    with _lock:
        hide_this_thread()
        there = sys.modules.get("pydevd")
        if there is not None and there.get_global_debugger() is not None:
            raise RuntimeError("Python is debugged by another client already: end that session first")
        own = sys.breakpointhook
        with _environment_kept(), _gil_at_once():
            try:
                import debugpy.server.api
                import pydevd
            except ImportError as e:
                raise RuntimeError(f"Python can't import debugpy ({e}); `{sys.executable} -m pip install debugpy` adds it") from None
            try:
                # As debugpy.listen() does, but for who listens: debugpy.connect() would wait until the client has set its breakpoints.
                pydevd.settrace(
                    host="127.0.0.1",
                    port=port,
                    access_token=token,
                    client_access_token=token,
                    protocol="dap",
                    suspend=False,
                    wait_for_ready_to_run=False,
                    notify_stdin=False,
                    dont_trace_start_patterns=(str(Path(debugpy.__file__).parent),),
                )
            except BaseException as e:
                _leave()
                sys.breakpointhook = own
                raise RuntimeError(f"debugpy can't be started: {type(e).__name__}: {e}") from None
        sys.breakpointhook = debugpy.breakpoint
        _hooks = own, debugpy.breakpoint


def stop() -> None:
    """End what ``start`` has begun; Python runs as if it had never been there. Otherwise does nothing."""
    global _hooks
    with _lock:
        if _hooks is None:
            return
        hide_this_thread()
        own, theirs = _hooks
        _hooks = None
        if sys.breakpointhook is theirs:
            sys.breakpointhook = own
        _leave()


def _leave() -> None:
    pydevd = sys.modules.get("pydevd")
    if pydevd is None:
        return
    resume = pydevd.PyDevdAPI().request_resume_thread  # what it has stopped would be stopped in the next session
    resume("*")
    pydevd.stoptrace()
    pydevd.SetupHolder.setup = None  # the next session has another port
    end = time.monotonic() + _PATIENCE
    while _stands_in(str(Path(str(pydevd.__file__)).parent)) and time.monotonic() < end:
        time.sleep(0.01)
    resume("*")
    pydevd.stoptrace()  # a thread that stood in debugpy has it on again
    if not pydevd.PYDEVD_USE_SYS_MONITORING:
        _core.clear_tracing()  # which ``stoptrace`` does for the thread that calls it only


def _stands_in(folder: str) -> bool:
    """Whether a thread of the program is in code of the folder."""
    own = {t.ident for t in threading.enumerate() if getattr(t, "is_pydev_daemon_thread", False)}
    for thread, top in sys._current_frames().items():
        frame = None if thread in own else top
        while frame is not None:
            if frame.f_code.co_filename.startswith(folder):
                return True
            frame = frame.f_back
    return False


@contextlib.contextmanager
def _environment_kept() -> Iterator[None]:
    """debugpy reads variables when it is imported, and sets some: children of the program aren't meant."""
    names = ("PYDEVD_DISABLE_FILE_VALIDATION", "PYDEVD_USE_FRAME_EVAL")
    before = {name: os.environ.get(name) for name in names}
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # no warning of frozen modules in the program's output
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _gil_at_once() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
