"""The edges of a program: what arguments become inside, and how results come out.

Kinds of leaves, as the dispatcher gives them: ``("tensor", dtype, rank)``, ``("i64",)``, ``("f64",)``, ``("bool",)``, ``("const", value)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from .._errors import UnsupportedError
from .build import Build
from .records import maker_of
from .state import is_tuple
from .values import F64, Symbolic, SymBool, SymFloat, SymInt, SymTensor, integer

Kind = tuple[Any, ...]


def input_value(build: Build, kind: Kind, name: str, shape: Sequence[Any] | None = None) -> Any:
    """The next input of the program. Each axis of a tensor is a symbol of its own, but where ``shape`` gives sizes."""
    core = build.core
    if kind[0] == "tensor":
        _, dtype, rank = kind
        if shape is None:
            shape = [core.symbol(build.fresh_symbol_name(f"{name}_{axis}")) for axis in range(rank)]
            build.shown.update((str(d), f"{name}.shape[{axis}]") for axis, d in enumerate(shape))
        t = SymTensor(core.input(name, dtype, list(shape)))
        core.set_name(t.reg, name)
        return t
    if kind[0] == "i64":
        size = core.dim(core.scalar_input(name, "i64"))
        build.shown[str(size)] = name
        return integer(size)
    if kind[0] == "f64":
        return SymFloat(SymTensor(core.input(name, F64, [])))
    if kind[0] == "bool":
        return SymBool(core.scalar_input(name, "bool"))
    return kind[1]


def sources(kinds: Sequence[Kind]) -> list[tuple[Any, ...]]:
    """Where a program's inputs come from: the leaves of a call's arguments that aren't constants."""
    return [("leaf", k) for k, kind in enumerate(kinds) if kind[0] != "const"]


_SHOWN = {"Text": "string", "Closure": "function", "BoundMethod": "method", "SymRange": "range"}


class Results:
    """Collects the results of a program; ``tree`` says how Python gets them back."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.regs: list[int] = []
        self.dims: list[Any] = []
        self.count = 0

    def tree(self, v: Any) -> tuple[Any, ...]:
        core = self.build.core
        if isinstance(v, SymTensor):
            _, dtype, shape = core.type(v.reg)
            core.output(f"result{self.count}", "tensor", dtype, shape)
            self.regs.append(v.reg)
            return self._leaf("leaf")
        if isinstance(v, SymInt):
            core.output(f"result{self.count}", "i64")
            self.dims.append(v.dim)
            return self._leaf("int")
        if isinstance(v, SymFloat):
            core.output(f"result{self.count}", "f64")
            self.regs.append(core.read(v.tensor.reg, []))
            return self._leaf("float")
        if isinstance(v, SymBool):
            core.output(f"result{self.count}", "bool")
            self.regs.append(v.reg)
            return self._leaf("bool")
        if type(v).__name__ in ("Text", "Closure", "BoundMethod", "SymRange"):
            raise UnsupportedError(f"a {_SHOWN[type(v).__name__]} that is known only when the program runs can't be a result")
        if type(v).__name__ == "SymList":
            raise UnsupportedError(
                "a list whose length is known only when the program runs can't be a result; stack it with msvm.ops.stack"
            )
        if hasattr(v, "why") and hasattr(v, "loop"):
            raise UnsupportedError(f"a part of the result can't be told: {v.why}; return a value of one kind on every way")
        if isinstance(v, Symbolic):
            raise UnsupportedError(f"a {type(v).__name__} can't be a result")
        if type(v) in (tuple, list):
            return (type(v).__name__, [self.tree(x) for x in v])
        if is_tuple(v):
            return ("made", (maker_of(v), [self.tree(x) for x in v]))
        if type(v) is dict:
            return ("dict", {k: self.tree(x) for k, x in v.items()})
        return ("const", v)

    def _leaf(self, kind: str) -> tuple[Any, ...]:
        self.count += 1
        return (kind, self.count - 1)

    def finish(self) -> _core.Module:
        self.build.core.ret(self.regs, self.dims)
        module: _core.Module = self.build.core.finish()
        return module
