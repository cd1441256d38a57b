"""Python frames of a thread that waits in a run, as a debugger sees them: places, variables, values of expressions.

Called on the debugger's own thread, with the GIL that the waiting thread has given away. Nothing that a program's values do gets out as an
exception.
"""

from __future__ import annotations

import itertools
import reprlib
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

MAX_TEXT = 1000
"""Characters of a value."""
MAX_CHILDREN = 1000

Row = tuple[str, str, str, int]
"""A variable: name, value, type, the number under which what it consists of is found; 0: it consists of nothing."""

PACKAGE = str(Path(__file__).resolve().parent.parent)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type, ModuleType)


class _Repr(reprlib.Repr):
    """As ``reprlib``, but longer, and what ``repr`` raises is told."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 40
        self.maxstring = self.maxlong = self.maxother = MAX_TEXT

    def repr_instance(self, x: Any, level: int) -> str:
        try:
            text = repr(x)
            shape, dtype = getattr(x, "shape", None), getattr(x, "dtype", None)
        except BaseException as e:  # a program's own code
            return f"<{type(x).__name__}, whose repr raised {type(e).__name__}>"
        if isinstance(shape, tuple) and dtype is not None:
            text = f"{getattr(dtype, 'name', dtype)}{list(shape)} {text}"
        return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


_repr = _Repr()


def shown(value: Any) -> str:
    """A value as text, of at most ``MAX_TEXT`` characters or so."""
    try:
        return _repr.repr(value)
    except BaseException as e:
        return f"<{type(value).__name__}, whose repr raised {type(e).__name__}>"


def _children(value: Any) -> Iterable[tuple[str, Any]]:
    """What a value consists of: items, members, attributes."""
    if isinstance(value, dict):
        return ((shown(k), v) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None)
        return zip(names, value, strict=False) if isinstance(names, tuple) else ((f"[{k}]", v) for k, v in enumerate(value))
    if isinstance(value, (set, frozenset)):
        return ((f"[{k}]", v) for k, v in enumerate(value))
    own = getattr(value, "__dict__", None)
    return list(own.items()) if isinstance(own, dict) else ()


def _folders(*modules: str) -> list[str]:
    """Where imported modules and packages are: files, and folders of packages."""
    files = [getattr(sys.modules.get(m), "__file__", None) or "" for m in modules]
    return [f.removesuffix("__init__.py") for f in files if f]


def _is_ours(code: CodeType) -> bool:
    """Frames that say nothing about the program: this package's, and of what started it."""
    name = code.co_filename
    return name.startswith((PACKAGE, "<frozen runpy>", "<frozen importlib", *_folders("debugpy", "runpy")))


class Frames:
    """What was shown, by number. Numbers are never used again."""

    def __init__(self) -> None:
        self._shown: dict[int, tuple[int, Any]] = {}
        """Number to the thread that waits, and a frame or a value."""
        self._numbers = itertools.count(1)

    def _number(self, thread: int, what: Any) -> int:
        number = next(self._numbers)
        self._shown[number] = (thread, what)
        return number

    def frames(self, thread: int) -> list[tuple[int, str, str, int]]:
        """Number, name, file and line, innermost first."""
        hide_this_thread()
        found = []
        frame = sys._current_frames().get(thread)
        while frame is not None:
            code = frame.f_code
            if not _is_ours(code):
                found.append((self._number(thread, frame), code.co_name, code.co_filename, frame.f_lineno or code.co_firstlineno))
            frame = frame.f_back
        return found

    def variables(self, number: int) -> list[Row]:
        """Locals of a frame, or what a value consists of."""
        thread, what = self._shown.get(number, (0, None))
        rows: list[Row] = []
        try:
            pairs = what.f_locals.items() if isinstance(what, FrameType) else _children(what)
            for name, value in itertools.islice(pairs, MAX_CHILDREN):
                rows.append(self._row(thread, str(name), value))
        except BaseException as e:  # it changed meanwhile, or its own code raised
            rows.append(("…", f"{type(e).__name__}: {e}", "", 0))
        return rows

    def evaluate(self, number: int, text: str) -> Row:
        """The value of an expression in a frame; a statement has none. Raises ``ValueError`` with what Python says."""
        hide_this_thread()
        thread, frame = self._shown.get(number, (0, None))
        if not isinstance(frame, FrameType):
            raise ValueError("that frame isn't there any more")
        try:
            try:
                code = compile(text, "<debugger>", "eval")
            except SyntaxError:
                exec(compile(text, "<debugger>", "exec"), frame.f_globals, frame.f_locals)
                return ("", "", "", 0)
            return self._row(thread, "", eval(code, {**frame.f_globals, **frame.f_locals}))
        except BaseException as e:
            raise ValueError(f"{type(e).__name__}: {e}") from None

    def release(self, thread: int) -> None:
        """The thread goes on: its numbers mean nothing any more."""
        for number in [n for n, (t, _) in self._shown.items() if t == thread]:
            del self._shown[number]

    def _row(self, thread: int, name: str, value: Any) -> Row:
        try:
            inner = not isinstance(value, _PLAIN) and any(True for _ in _children(value))
        except BaseException:  # a program's own code
            inner = False
        return (name, shown(value), type(value).__name__, self._number(thread, value) if inner else 0)


def hide_this_thread() -> None:
    """From debugpy: breakpoints must not stop the thread that serves a debugger, and nobody wants to see it."""
    here: Any = threading.current_thread()
    here.pydev_do_not_trace = here.is_pydev_daemon_thread = True


def thread_name(thread: int) -> str:
    """Empty if Python doesn't know it."""
    return next((t.name for t in threading.enumerate() if t.ident == thread), "")


def _debugpy_ids() -> dict[str, int]:
    """What debugpy calls threads in its own protocol, by what it calls them within."""
    schema = sys.modules.get("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    ids = getattr(getattr(schema, "BaseSchema", None), "_obj_id_to_dap_id", None)
    return ids if isinstance(ids, dict) else {}


def debugger_id(thread: int) -> int:
    """debugpy's id of a thread; -1 without debugpy, or where it hasn't seen the thread."""
    here = next((t for t in threading.enumerate() if t.ident == thread), None)
    number = _debugpy_ids().get(getattr(here, "__pydevd_id__", ""), -1)
    return number if isinstance(number, int) else -1


def thread_of_debugger_id(number: int) -> int:
    """The reverse; 0: not known."""
    return next((t.ident or 0 for t in threading.enumerate() if t.ident and debugger_id(t.ident) == number), 0)
