"""A function as its callers declared its arguments, for the report of Shape Convergence Degree.

Sizes of arrays are constants; those that came from mutables are symbols, named as the mutable is; None is anything; plain ints from
outside are marked as captured. The program is never run.
"""

from __future__ import annotations

import types
from typing import Any

from .. import _core
from .._mutable import Symbol
from .build import Build
from .join import Restart
from .program import Kind
from .values import CapturedInt, SymInt, integer

BINDER = "(sizes)"
"""Name of the input that binds symbols which no argument has as a size; not part of the report."""


class Declared:
    """``given``: for each leaf, a declared tensor (``input_signature``), or None."""

    def __init__(self, function: types.FunctionType, signature: Any, given: list[Any]) -> None:
        self.signature = signature
        self.given = given
        self.kinds: list[Kind] = [
            ("const", CapturedInt(kind[1], name)) if kind[0] == "const" and type(kind[1]) is int else kind
            for kind, name in zip(signature.kinds, signature.names, strict=True)
        ]
        self.names: dict[int, str] = {}
        self.mutables: dict[int, Any] = {}
        for leaf, name in zip(signature.leaves, signature.names, strict=True):
            self._name(leaf, name)
        code = function.__code__
        for name in code.co_names:
            self._name(function.__globals__.get(name), name)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._name(cell.cell_contents, name)
            except ValueError:
                continue

    def _name(self, v: Any, name: str) -> None:
        if isinstance(v, _core.Mutable):
            self.names.setdefault(id(v), v.name or name)
            self.mutables[id(v)] = v

    def begin(self, build: Build) -> list[Any]:
        """Shapes for the leaves that are tensors, in a new program."""
        self.build = build
        self.symbols: dict[Any, Any] = {}
        self.bound: set[Any] = set()
        self.free: list[Any] = []
        shapes: list[Any] = []
        for k, kind in enumerate(self.kinds):
            shapes.append(
                None if kind[0] != "tensor" else self.shape_of(self.signature.leaves[k] if self.given[k] is None else self.given[k])
            )
        for m in self.mutables.values():
            if isinstance(m.value, int) and not isinstance(m.value, bool):
                self.dim(m)
        self.bind()
        return shapes

    def bind(self) -> None:
        """Symbols that no axis names yet are sizes of an input of its own."""
        missing = [s for s in self.free if s not in self.bound]
        if missing:
            self.build.core.input(BINDER, _core.DTYPES[1], missing[:8])
            self.bound.update(missing[:8])
            self.bind()

    def value(self, m: Any) -> Any:
        """A mutable int, or a plain one that has become an input."""
        if not isinstance(m, _core.Mutable):
            return CapturedInt(m, "captured")
        if id(m) not in self.mutables:  # met in a function that is called: its symbol is there from the start in the next try
            self._name(m, "mutable")
            raise Restart
        return integer(self.dim(m))

    def shape_of(self, array: Any) -> list[Any]:
        """Sizes of an argument, a captured array, or a declared tensor."""
        shape = array.shape
        symbols = getattr(array, "symbols", None) or (None,) * len(shape)
        dims = [self.dim(d if s is None else s) for d, s in zip(shape, symbols, strict=True)]
        self.bound.update(d for d in dims if not isinstance(d, int))
        return dims

    def dim(self, v: Any) -> Any:
        if v is None or (isinstance(v, int) and v == -1):
            return self.build.core.symbol(self.build.fresh_symbol_name("any_0"))
        if isinstance(v, Symbol):
            key: Any = v if v.name is None or v.unique else v.name
            return self._symbol(key, v.name or "size", v.min or 0, v.max, v.divisor, v.remainder)
        if not isinstance(v, _core.Mutable):
            return int(v)
        if v.op is None:
            return self._symbol(id(v), self.names.get(id(v)) or v.name or "mutable")
        operands = [self.dim(o) for o in v.operands]
        op = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod", "min": "min", "max": "max"}.get(v.op)
        if op is None or len(operands) != 2 or all(isinstance(o, int) for o in operands):
            return int(v)
        return self.build.core.calc(op, *operands)

    def _symbol(self, key: Any, name: str, *facts: Any) -> Any:
        if key not in self.symbols:
            self.symbols[key] = self.build.core.symbol(self.build.fresh_symbol_name(name), *facts)
            self.free.append(self.symbols[key])
        return self.symbols[key]

    def leaf(self, k: int) -> SymInt | int | None:
        """What stands for a mutable int among the arguments; None for other leaves."""
        return self.value(self.signature.leaves[k]) if self.kinds[k][0] == "i64" else None
