"""The program that is being made in this thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _core

_local = threading.local()


class Build:
    """A builder and what belongs to one program while it is made."""

    def __init__(self, name: str) -> None:
        self.core = _core.Builder(name)
        self.constants: dict[Any, Any] = {}
        """Tensors of the program by what they were made from; keeps the keys' objects alive."""
        self.shown: dict[str, str] = {}
        """How sizes of inputs are written in messages, by symbol: ``n``, ``x.shape[0]``."""
        self.shared: set[int] = set()
        """Tensors that may be one and the same as another variable's, by the way that was taken."""
        self.listed: set[int] = set()
        """Tensors that a list of the program holds."""
        self.frozen: list[Any] = []
        """Containers that mustn't be changed from some place on (``Ref.frozen``)."""
        self._names = 0
        self._symbols: set[str] = set()

    def freeze(self, ref: Any) -> None:
        if not ref.frozen:
            ref.frozen = True
            self.frozen.append(ref)

    def mark(self) -> Any:
        """How far the program is made; what is made after it may be taken back with ``rollback``."""
        return (
            self.core.mark(), len(self.constants), len(self.shown), set(self.shared), set(self.listed), len(self.frozen), self._names,
            set(self._symbols),
        )  # fmt: skip

    def rollback(self, mark: Any, named: set[int]) -> None:
        """``named``: registers that got their names since then."""
        core, constants, shown, shared, listed, frozen, self._names, symbols = mark
        self.core.rollback(core)
        for reg in named:
            if reg < core.registers:
                self.core.set_name(reg, "")
        shorten(self.constants, constants)
        shorten(self.shown, shown)
        self.shared, self.listed, self._symbols = set(shared), set(listed), set(symbols)
        for ref in self.frozen[frozen:]:
            ref.frozen = False
        del self.frozen[frozen:]

    def fresh_name(self, hint: str) -> str:
        self._names += 1
        return f"{hint}{self._names}"

    def fresh_symbol_name(self, hint: str) -> str:
        """``hint`` if no symbol has it yet."""
        name, k = hint, 1
        while name in self._symbols:
            k += 1
            name = f"{hint}_{k}"
        self._symbols.add(name)
        return name


def shorten(d: dict[Any, Any], size: int) -> None:
    """To what was put in first."""
    while len(d) > size:
        d.popitem()


def current() -> Build:
    build = getattr(_local, "build", None)
    if build is None:
        raise RuntimeError("no program is being made in this thread")
    return build  # type: ignore[no-any-return]


def building() -> bool:
    """Whether this thread makes a program: operators then add to it instead of running."""
    return getattr(_local, "build", None) is not None


@contextmanager
def making(build: Build) -> Iterator[Build]:
    outer = getattr(_local, "build", None)
    _local.build = build
    before = _core.set_building(True)
    try:
        yield build
    finally:
        _core.set_building(before)
        _local.build = outer


@contextmanager
def outside() -> Iterator[None]:
    """Operators called here run at once, also while a program is made."""
    outer = getattr(_local, "build", None)
    _local.build = None
    before = _core.set_building(False)
    try:
        yield
    finally:
        _core.set_building(before)
        _local.build = outer
