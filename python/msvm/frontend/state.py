"""What variables hold on one path through a function: frames of names, and the lists, dicts and sets that the function made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .values import SymBool, SymFloat, SymInt, SymTensor

LEAVES = frozenset({SymTensor, SymInt, SymFloat, SymBool, int, float, bool, str, type(None)})
"""Types of values that hold no others."""


def is_tuple(v: Any) -> bool:
    """A tuple, or one with names."""
    t = type(v)
    return t is tuple or (issubclass(t, tuple) and hasattr(t, "_make"))


def tuple_like(v: Any, items: Iterable[Any]) -> Any:
    """A tuple of the same class."""
    return tuple(items) if type(v) is tuple else type(v)._make(items)


class Unbound:
    """A name without a value on this path; ``why`` is for the error."""

    __slots__ = ("loop", "why")

    def __init__(self, why: str, loop: Any = None) -> None:
        self.why = why
        self.loop = loop
        """Of a name that has a value if a loop has a turn: the loop's key and the name."""


class Ref:
    """A list, dict or set that the function made. What it holds depends on the path: ``State.heap``."""

    __slots__ = ("frozen", "kind", "number")

    def __init__(self, number: int, kind: type) -> None:
        self.number = number
        self.kind = kind
        self.frozen = False
        """It is one of several containers, by the way that was taken: to change it would have to change that one."""


class State:
    """Frames by number, contents of containers by number. Values are immutable; an update puts another one in its place."""

    __slots__ = ("frames", "heap", "numbers")

    def __init__(self, numbers: list[int] | None = None) -> None:
        self.frames: dict[int, dict[str, Any]] = {}
        self.heap: dict[int, Any] = {}
        self.numbers = [0] if numbers is None else numbers
        """How many containers there were, one count for all ways."""

    def clone(self) -> State:
        other = State(self.numbers)
        other.frames = {n: dict(names) for n, names in self.frames.items()}
        other.heap = {n: content.copy() for n, content in self.heap.items()}
        return other

    def new(self, content: Any) -> Ref:
        """A container of the function with this content (taken over)."""
        ref = Ref(self.numbers[0], type(content))
        self.numbers[0] += 1
        self.heap[ref.number] = content
        return ref

    def content(self, v: Any) -> Any:
        """The list, dict or set itself, to look at or to change."""
        return self.heap[v.number] if isinstance(v, Ref) else v

    def plain(self, v: Any) -> Any:
        """A copy with Python's containers all the way down, for callees outside the function."""
        t = type(v)
        if t in LEAVES:
            return v
        if t is Ref:
            v = self.heap[v.number]
            t = type(v)
        if is_tuple(v):
            new = tuple_like(v, (self.plain(x) for x in v))
            return v if all(a is b for a, b in zip(new, v, strict=True)) else new
        if t is list:
            return [self.plain(x) for x in v]
        if t is dict:
            return {k: self.plain(x) for k, x in v.items()}
        if t is slice:
            return slice(self.plain(v.start), self.plain(v.stop), self.plain(v.step))
        return set(v) if t is set else v

    def replace(self, old: Any, new: Any) -> None:
        """Every variable and element that is ``old`` becomes ``new``: what an update in place of it means."""

        def replaced(v: Any) -> Any:
            if v is old:
                return new
            if type(v) in LEAVES:
                return v
            return tuple_like(v, map(replaced, v)) if is_tuple(v) else v

        for names in self.frames.values():
            for k, v in names.items():
                names[k] = replaced(v)
        for content in self.heap.values():
            if type(content) is list:
                content[:] = [replaced(x) for x in content]
            elif type(content) is dict:
                for k, v in content.items():
                    content[k] = replaced(v)


class Path:
    """An end of control flow: a block that isn't terminated, and the variables there."""

    __slots__ = ("block", "state")

    def __init__(self, block: int, state: State) -> None:
        self.block = block
        self.state = state
