"""``@msvm.jit``: Python functions as programs, one for each combination of dtypes and ranks, never one per size."""

from __future__ import annotations

import functools
import threading
import types
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from . import _context, _core, _registry
from ._dispatcher import Dispatcher
from ._errors import InputError, UnsupportedError, VerificationError, make
from ._mutable import Symbol
from ._parameters import arguments, parameters_of
from .frontend.program import sources

MAX_PROGRAMS = 128

BURN_LIMIT = 8
"""Values of one plain int that get programs of their own; then it becomes an input."""


P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R", covariant=True)
R_ = TypeVar("R_")

class JitFunction(Dispatcher[P, R]):
    """A function that runs as a program. Call it as the function it was made of; it may be called from many threads at once."""

    def __init__(self, function: types.FunctionType, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        super().__init__(
            self._miss, burn_limit=BURN_LIMIT, max_entries=MAX_PROGRAMS, warn=self._warn, doc=function.__doc__, **parameters_of(function)
        )
        self.__msvm_function__ = function
        self.options = options
        _context.options_for("jit", options)
        self._declared = _Declared(function, options.get("input_signature"))
        self._lock = threading.RLock()
        _functions.add(self)
        self._follow_mode()
        _registry.add(self)

    # --- making programs --------------------------------------------------------------------------------------------------

    def _miss(self, signature: Any) -> _core.Entry:
        if self._lock.acquire(blocking=False):
            try:
                return self._compile(signature)
            finally:
                self._lock.release()
        with self._lock:  # another thread compiles: perhaps just this
            bound = arguments(self.__msvm_function__, signature.args)
            found = self.find_entry(*bound.args, **bound.kwargs)
            return found if found is not None else self._compile(signature)

    def _compile(self, signature: Any) -> _core.Entry:
        for k, leaf in zip(signature.kinds, signature.leaves, strict=True):
            if k[0] == "const" and isinstance(leaf, _CHANGEABLE):
                raise UnsupportedError(f"{self.__qualname__}: a {type(leaf).__name__} as argument; pass a tuple, a list, or a tensor")
        compiled, executable = self._program(signature)
        entry = _core.Entry(executable, compiled.captured_inputs + sources(signature.kinds), compiled.guards, compiled.tree)
        entry.info = _Program(executable, signature, compiled)
        for e in self.entries():
            if e.info.is_over():
                self.discard(e)
        for report in compiled.reports:
            report(self, signature)
        for k, leaf in enumerate(signature.leaves):  # what is known of the arguments stays, they don't
            if signature.kinds[k][0] == "tensor":
                signature.leaves[k] = _Sizes(leaf)
        return entry

    def _program(self, signature: Any, burn: bool = False) -> tuple[Any, _core.Executable]:
        """Makes it again while the verifier finds more that is sure to fail on ways of its own."""
        from .frontend.refuted import places_of

        refuted: Any = {}
        while True:
            compiled = self._make(signature, burn, refuted)
            try:
                return compiled, self._load(compiled)
            except VerificationError as e:
                found = places_of(str(e))
                if not found.keys() - refuted.keys():
                    if "[[python" in str(e):
                        raise make("", str(e)) from None
                    _core.tell_verification_failed(self.__qualname__)
                    raise e from None
                refuted = {**refuted, **found}

    def _make(self, signature: Any, burn: bool, refuted: Any) -> Any:
        from .frontend.compile import compile_function

        shapes = self._declared.check(signature)
        return compile_function(
            self.__msvm_function__, signature.kinds, signature.names, rebuilder(signature), symbols=shapes, burn=burn, refuted=refuted
        )

    def _load(self, compiled: Any) -> _core.Executable:
        options = _context.options_for("jit", self.options)
        options.pop("input_signature", None)
        options.setdefault("name", self.__name__)
        return _core.load_module(compiled.module, options)

    def _warn(self, parameter: str) -> None:
        warnings.warn(
            f"{self.__qualname__}: the plain number {parameter} had more than {BURN_LIMIT} values, each with a program of its own; "
            f"it is an input from now on."
            f" Say so from the start with msvm.mutable({parameter})",
            stacklevel=3,
        )

    def _follow_mode(self) -> None:
        self.bypass = functools.partial(_eagerly, self.__msvm_function__) if _context.pynative() else None

    # --- looking at them --------------------------------------------------------------------------------------------------

    def executables(self) -> list[_core.Executable]:
        """One for each program that was made."""
        return [p.executable for p in self._programs]

    @property
    def _programs(self) -> list[_Program]:
        """Oldest use first. Those used least recently go beyond ``MAX_PROGRAMS``."""
        return [e.info for e in reversed(self.entries())]

    @property
    def bytecode(self) -> str:
        """The programs made so far as assembly text."""
        if not self._programs:
            raise InputError(f"{self.__qualname__}: no program yet; call it once, its arguments decide dtypes and ranks")
        return "\n".join(p.executable.disassemble() for p in self._programs)

    def save(self, path: Any, *, constants: bool = False) -> None:
        """Write the program as ``.msbc``, for ``msvm.load``. There must be just one: call the function once before.

        ``constants``: tensors, arrays and mutables from outside the function are written with the values that they have now. Without it
        they would be inputs, and are refused.
        """
        if len(self._programs) != 1:
            raise InputError(
                f"{self.__qualname__}: {len(self._programs)} programs, one is needed; call a function that saves once, with one "
                f"combination of dtypes and ranks"
            )
        from ._program import Program

        program = self._programs[0]
        if program.compiled.captured_inputs and constants:
            Program(self._program(program.signature, burn=True)[1]).save(path)
            return
        if program.compiled.captured_inputs:
            names = ", ".join(program.compiled.captured_names)
            raise InputError(
                f"{self.__qualname__}: tensors or mutables from outside ({names}) are inputs of the program; save with "
                f"constants=True, or pass them as arguments"
            )
        Program(program.executable).save(path)

    def scd_analysis(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        """Declared SCD for these arguments (those of the latest new signature, without any): a row for each tensor."""
        declared: dict[int, Any] = {}
        if args or kwargs:
            signature = self.signature(*[stand_in(a, declared) for a in args], **{k: stand_in(v, declared) for k, v in kwargs.items()})
        elif self._programs:
            signature = self.entries()[0].info.signature
        else:
            raise InputError(f"{self.__qualname__}: give arguments; they decide what is analysed")
        given = [declared.get(id(leaf)) for leaf in signature.leaves] if declared else self._declared.given or ()
        return declared_scd(self.__msvm_function__, signature, given)

    def clear(self) -> None:
        """Forget all programs; the next call makes one anew."""
        super().clear()

    def __repr__(self) -> str:
        return f"<msvm.jit function {self.__qualname__}, {len(self._programs)} program{'s' * (len(self._programs) != 1)}>"

    def _repr_html_(self) -> str:
        import html

        from . import vm

        rows = "".join(f"<pre>{html.escape(p.executable.disassemble())}</pre>" for p in self._programs)
        table = vm.jit_info(self)._repr_html_() if self._programs else ""
        return f"<b>{html.escape(repr(self))}</b>{table}<details><summary>bytecode</summary>{rows}</details>"


class _Sizes:
    """Of an argument that was an array."""

    def __init__(self, array: Any) -> None:
        self.shape = tuple(array.shape)
        self.symbols = getattr(array, "symbols", None)


class _Program:
    def __init__(self, executable: _core.Executable, signature: Any, compiled: Any) -> None:
        self.executable = executable
        self.signature = signature
        self.compiled = compiled

    def is_over(self) -> bool:
        """Whether it was made for a version of a parameter that won't come again."""
        return any(s[0] == "attr" and s[2] == "_version" and s[1]._version != v for s, v in self.compiled.guards)


_CHANGEABLE = (set, bytearray, deque)
"""Arguments that would be constants, and may be changed between calls."""

_functions: weakref.WeakSet[JitFunction[..., Any]] = weakref.WeakSet()


def _follow_mode() -> None:
    for f in list(_functions):
        f._follow_mode()


_context.on_change(_follow_mode)


def _eagerly(function: Any, *args: Any, **kwargs: Any) -> Any:
    """As Python runs it, with arrays as tensors: what they are in a compiled function."""
    return function(*map(_as_tensors, args), **{k: _as_tensors(v) for k, v in kwargs.items()})


def _as_tensors(v: Any) -> Any:
    if isinstance(v, np.ndarray):
        return _core.Tensor(v)
    if type(v) in (tuple, list):
        return type(v)(map(_as_tensors, v))
    return {k: _as_tensors(x) for k, x in v.items()} if type(v) is dict else v


def rebuilder(signature: Any) -> Callable[[list[Any]], dict[str, Any]]:
    """Values for the leaves -> arguments by parameter."""
    return lambda leaves: dict(zip(signature.parameters, signature.rebuild(leaves), strict=True))


class _Declared:
    """``input_signature``: one declared tensor (or None) for each argument."""

    def __init__(self, function: Any, given: Any) -> None:
        self.name = function.__qualname__
        if given is not None and not isinstance(given, (tuple, list)):
            given = (given,)
        self.given = given
        for k, t in enumerate(given or ()):
            if t is not None and not getattr(t, "is_declared", False):
                raise InputError(
                    f"jit: input_signature[{k}] of {self.name} is a declared tensor, msvm.Tensor(shape=[None, 3], "
                    f"dtype=msvm.float32), or None; found {type(t).__name__}"
                )

    def check(self, signature: Any) -> Callable[[Any], list[Any]] | None:
        """Checks dtypes and ranks; what it returns makes the shapes, leaf by leaf, in a program's builder."""
        if self.given is None:
            return None
        tensors = [k for k, kind in enumerate(signature.kinds) if kind[0] == "tensor"]
        if len(self.given) > len(signature.kinds):
            raise InputError(f"{self.name}: input_signature declares {len(self.given)} arguments, the call has {len(signature.kinds)}")
        for k, t in enumerate(self.given):
            if t is None:
                continue
            kind = signature.kinds[k]
            if k not in tensors or kind[1] is not t.dtype or kind[2] != len(t.shape):
                found = f"a tensor of {kind[1].name} and rank {kind[2]}" if k in tensors else "no tensor"
                raise InputError(f"{self.name}: argument {k} is declared as {t.dtype.name} of rank {len(t.shape)}, found {found}")
        return functools.partial(declared_shapes, signature.kinds, self.given)


def declared_shapes(kinds: Any, given: Any, build: Any) -> list[Any]:
    symbols: dict[Any, Any] = {}
    shapes: list[Any] = [None] * len(kinds)
    for k, t in enumerate(given):
        if t is None:
            continue
        dims: list[Any] = []
        for axis, d in enumerate(t.shape):
            if isinstance(d, Symbol):
                key = d if d.name is None or d.unique else d.name
                if key not in symbols or d.unique:
                    name = build.fresh_symbol_name(d.name or f"x{k}_{axis}")
                    symbols[key] = build.core.symbol(name, d.min or 0, d.max, d.divisor, d.remainder)
                dims.append(symbols[key])
            else:
                dims.append(build.core.symbol(build.fresh_symbol_name(f"x{k}_{axis}")) if d is None or d == -1 else int(d))
        shapes[k] = dims
    return shapes


def declared_scd(function: Any, signature: Any, given: Any) -> list[dict[str, Any]]:
    """SCD of the function as callers declared its arguments. ``given``: declared tensors by leaf, None where there is none."""
    from .frontend.compile import compile_function
    from .frontend.declared import BINDER, Declared

    declared = Declared(function, signature, [*given, *[None] * (len(signature.kinds) - len(given))])
    compiled = compile_function(function, declared.kinds, signature.names, rebuilder(signature), declared=declared)
    return [row for row in _core.declared_scd(compiled.module) if row["name"] != BINDER]


def stand_in(v: Any, declared: dict[int, Any]) -> Any:
    """A tensor of the dtype and rank of a declared one, so that there is a signature."""
    if isinstance(v, _core.Tensor) and v.is_declared:
        t = _core.Tensor(np.zeros((1,) * len(v.shape), v.dtype.numpy if v.dtype.name != "bfloat16" else np.uint16))
        declared[id(t)] = v
        return t
    return v


class _Decorator(Protocol):
    def __call__(self, function: Callable[Q, R_], /) -> JitFunction[Q, R_]: ...


@overload
def jit(function: Callable[Q, R_], /, **options: Any) -> JitFunction[Q, R_]: ...
@overload
def jit(function: None = None, /, **options: Any) -> _Decorator: ...
def jit(function: Any = None, /, **options: Any) -> Any:
    """Compile a function from its source to bytecode, and run that. A decorator, with or without options.

    Programs are made at the first call with a combination of dtypes and ranks; sizes, mutables, and tensors from outside the function are
    inputs; plain Python values are part of the program. ``docs/jit_functions.md`` has what compiles, ``docs/python.md`` the options:
    ``fallback``, ``compile_timeout``, ``mem_optimize``, ``cache_mode``, ``bucket_boundaries``, ``jit_threshold``, ``scd_threshold``,
    ``name``, ``precision``, ``input_signature`` and those of ``set_context``. Raises ``InputError`` for unknown options,
    ``UnsupportedError`` at a call for what can't be compiled, with the line.
    """
    if function is None:
        return functools.partial(jit, **options)
    if isinstance(function, JitFunction):
        return JitFunction(function.__msvm_function__, {**function.options, **options})
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(jit(function.__func__, **options))
    if isinstance(function, types.MethodType):
        return types.MethodType(jit(function.__func__, **options), function.__self__)
    construct = getattr(type(function), "construct", None)
    if isinstance(construct, types.FunctionType) and not isinstance(function, types.FunctionType):
        return types.MethodType(JitFunction(construct, dict(options)), function)  # a cell
    if not isinstance(function, types.FunctionType):
        raise InputError(f"jit: expected a Python function or a cell, found {type(function).__name__}")
    return JitFunction(function, dict(options))
