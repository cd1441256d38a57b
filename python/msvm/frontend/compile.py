"""Compiles one call signature of a function."""

from __future__ import annotations

import gc
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._errors import UnsupportedError
from .attempts import TRIES
from .build import Build, making
from .captures import Captures, Source
from .declared import Declared
from .interpret import Interpreter
from .join import Dead, Key, Restart, Variant
from .program import Kind, Results, input_value
from .refuted import Places
from .source import source_of
from .values import SymTensor


class Compiled:
    """A program, and what has to be known to call it."""

    def __init__(self, module: _core.Module, tree: Any, captures: Captures, reports: list[Callable[..., Any]]) -> None:
        self.module = module
        self.tree = tree
        """How results come back (see ``program.Results``)."""
        self.captured_inputs: list[tuple[str, Source]] = [("get", s) for s in captures.inputs()]
        """Where the inputs before those of the arguments come from."""
        self.captured_names = captures.names()
        self.guards: list[tuple[Source, Any]] = list(captures.guards.values())
        self.reports = reports


def compile_function(
    function: types.FunctionType,
    kinds: Sequence[Kind],
    names: Sequence[str],
    rebuild: Callable[[list[Any]], dict[str, Any]],
    symbols: Callable[[Build], list[Any]] | None = None,
    declared: Declared | None = None,
    burn: bool = False,
    refuted: Places | None = None,
) -> Compiled:
    """``kinds`` and ``names`` of the leaves of the arguments; ``rebuild`` puts values for the leaves into arguments by parameter.

    ``symbols`` gives declared sizes, for each leaf (None: all axes open). ``declared``: a report is wanted.
    ``burn``: captured tensors are constants. ``refuted``: what the verifier found to fail in an earlier program of the function.
    Raises ``UnsupportedError`` for what can't be compiled, and what Python would raise, with the line.
    """
    captures = Captures(declared, burn)
    loops: dict[Any, dict[Key, Variant]] = {}
    collecting = gc.isenabled()
    gc.disable()  # many objects come and go, none of them in cycles
    try:
        for _ in range(TRIES):
            try:
                return _attempt(function, kinds, names, rebuild, captures, loops, symbols, declared, refuted or {})
            except Restart:
                continue
    finally:
        if collecting:
            gc.enable()
    raise UnsupportedError(f"{function.__qualname__}: what it takes from outside doesn't settle")


def _attempt(
    function: types.FunctionType,
    kinds: Sequence[Kind],
    names: Sequence[str],
    rebuild: Callable[[list[Any]], dict[str, Any]],
    captures: Captures,
    loops: dict[Any, dict[Key, Variant]],
    symbols: Callable[[Build], list[Any]] | None,
    declared: Declared | None,
    refuted: Places,
) -> Compiled:
    build = Build(function.__name__)
    with making(build):
        shapes = declared.begin(build) if declared is not None else None
        captures.begin(build)
        if symbols is not None:
            shapes = symbols(build)
        leaves = [
            input_value(build, kind, name, shapes[k] if shapes else None) for k, (kind, name) in enumerate(zip(kinds, names, strict=True))
        ]
        if declared is not None:
            leaves = [v if (own := declared.leaf(k)) is None else own for k, v in enumerate(leaves)]
        it = Interpreter(build, captures, loops)
        it.refuted = refuted
        it.named_regs = {v.reg for v in [*leaves, *captures.tensors()] if isinstance(v, SymTensor)}
        it.argument_regs = {v.reg for v in [*leaves, *captures.tensors()] if isinstance(v, SymTensor)}
        arguments = {k: _argument(it, v) for k, v in rebuild(leaves).items()}
        code = function.__code__
        if code.co_flags & inspect.CO_VARKEYWORDS:
            name = code.co_varnames[code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)]
            arguments[name] = it.made(dict(arguments[name]))
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        value = None
        try:
            value = it.run_function(source_of(code), arguments, None, function.__globals__, cells)
        except Dead:
            it.alive = False
        except Exception:
            if captures.late:
                raise Restart from None
            raise
        if captures.late:
            raise Restart
        results = Results(build)
        if it.alive:
            try:
                tree = results.tree(it.state.plain(value))
            except UnsupportedError as e:
                raise UnsupportedError(f"{code.co_filename}:{code.co_firstlineno}: in {function.__name__}: {e}") from None
            module = results.finish()
        else:
            tree, module = ("const", None), build.core.finish()
    return Compiled(module, tree, captures, it.reports)


def _argument(it: Interpreter, v: Any) -> Any:
    """Lists and dicts of the caller: the function must not change them."""
    if type(v) in (list, dict):
        return v
    return tuple(_argument(it, x) for x in v) if type(v) is tuple else v
