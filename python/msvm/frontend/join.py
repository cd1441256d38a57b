"""Where paths meet: equal values stay, others become PHIs; and loop headers, whose PHIs are found by trying.

A loop is made under the assumption that nothing changes from turn to turn. What does is noted, and the loop is made again (``attempts``):
each time with more variables as PHIs, or more axes with a size of their own, until a turn ends as it began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import is_
from typing import Any

import numpy as np

from .build import current
from .lists import SymList, common_shape, known_shape, list_of
from .state import LEAVES, Path, Ref, State, Unbound, is_tuple, tuple_like
from .values import SymBool, SymFloat, SymInt, SymTensor, as_float, as_tensor, dim_of, integer

Key = tuple[Any, ...]


class Restart(Exception):
    """Something was learnt: the function is made again; if it was of a loop that is being tried, that loop."""

    def __init__(self, loop: Key | None = None) -> None:
        super().__init__()
        self.loop = loop


class Dead(Exception):
    """The rest of the statement is never reached: what it called always raises."""


def is_tensor(v: Any) -> bool:
    return isinstance(v, (SymTensor, np.ndarray, np.generic)) or type(v).__name__ in ("Tensor", "Parameter")


def kind_of(v: Any) -> str:
    """For joins: values of one kind can meet in a PHI."""
    if isinstance(v, (bool, SymBool)):
        return "bool"
    if isinstance(v, (int, SymInt)):
        return "int"
    if isinstance(v, (float, SymFloat)):
        return "float"
    if is_tensor(v):
        return "tensor"
    return type(v).__name__


def describe(v: Any) -> str:
    if isinstance(v, SymTensor) or is_tensor(v):
        return f"a tensor ({v.dtype.name})"
    if isinstance(v, Unbound):
        return "without a value"
    if v is None:
        return "None"
    if isinstance(v, Ref):
        return f"a {v.kind.__name__}"
    if is_tuple(v) and type(v) is not tuple:
        return f"a {type(v).__name__}"
    if isinstance(v, tuple):
        return f"a tuple of {len(v)}"
    kind = kind_of(v)
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def same(a: Any, b: Any) -> bool:
    """Whether two values are one and the same in the program, without a PHI."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, SymInt):
        return bool(a.dim == b.dim)
    if isinstance(a, (SymTensor, SymBool, SymList)):
        return bool(a.reg == b.reg)
    if isinstance(a, SymFloat):
        return bool(a.tensor.reg == b.tensor.reg)
    if isinstance(a, float):
        return bool(a.hex() == b.hex())
    if isinstance(a, (int, str, bytes, slice, range, complex)):
        return bool(a == b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return False


def join(paths: Sequence[Path]) -> State:
    """One state after several paths; the builder stands where they meet."""
    core = current().core
    if len(paths) == 1:
        core.set_block(paths[0].block)
        return paths[0].state
    block = core.new_block()
    state = State(paths[0].state.numbers)
    merge = _Merge(paths, block, state)
    missing = Unbound("it gets a value on one way only")
    for number in _common([p.state.frames for p in paths]):
        first, *rest = frames = [p.state.frames[number] for p in paths]
        names = dict(first)
        for f in rest:
            if f.keys() != first.keys():
                names = {**names, **f}
        for name in names:
            v = first.get(name, missing)
            for f in rest:
                if f.get(name, missing) is not v:
                    v = merge.value([f.get(name, missing) for f in frames])
                    break
            names[name] = v
        state.frames[number] = names
    for number in _common([p.state.heap for p in paths]):
        state.heap[number] = merge.content([p.state.heap[number] for p in paths])
    for p in paths:
        core.set_block(p.block)
        core.jump(block)
    core.set_block(block)
    if merge.sources:
        find_shared(state, merge.sources)
    return state


def _same_items(a: Any, b: Any) -> bool:
    """Whether two lists, or dicts, hold the very same things."""
    if type(a) is not type(b) or len(a) != len(b):
        return False
    if type(a) is list:
        return all(map(is_, a, b))
    return list(a) == list(b) and all(map(is_, a.values(), b.values()))


def tensors_of(state: State) -> Iterator[SymTensor]:
    """All that variables and containers hold."""
    stack = [v for names in state.frames.values() for v in names.values()]
    for content in state.heap.values():
        stack.extend(content.values() if isinstance(content, dict) else content if isinstance(content, list) else ())
    while stack:
        v = stack.pop()
        if type(v) is SymTensor:
            yield v
        elif type(v) not in LEAVES and is_tuple(v):
            stack.extend(v)


def find_shared(state: State, sources: dict[int, set[int]]) -> None:
    """Marks the tensors of which an update in place would have to reach others. ``sources``: of each new PHI, what it may be."""
    owners: dict[int, set[int]] = {}
    held = {t.reg for t in tensors_of(state)}
    for phi, regs in sources.items():
        if phi in held:
            for reg in regs:
                owners.setdefault(reg, {reg} if reg in held and reg not in sources else set()).add(phi)
    shared = current().shared
    for regs in owners.values():
        if len(regs) > 1:
            shared.update(regs)
    listed = current().listed
    for phi, regs in sources.items():
        if regs & shared:
            shared.add(phi)
        if regs & listed:
            listed.add(phi)


def _common(maps: Sequence[dict[int, Any]]) -> list[int]:
    return [k for k in maps[0] if all(k in m for m in maps[1:])]


class _Merge:
    def __init__(self, paths: Sequence[Path], block: int, state: State) -> None:
        self.paths = paths
        self.state = state
        self.sources: dict[int, set[int]] = {}
        """Of the PHIs of tensors."""
        self.block = block
        self.memo: dict[tuple[int, ...], Any] = {}

    def value(self, values: list[Any]) -> Any:
        first = values[0]
        for v in values:
            if v is not first and not same(first, v):
                break
        else:
            return first
        key = tuple(map(id, values))
        if key not in self.memo:
            self.memo[key] = None
            self.memo[key] = self._merged(values)
        return self.memo[key]

    def _merged(self, values: list[Any]) -> Any:
        core = current().core
        for v in values:
            if isinstance(v, Unbound):
                return v
        if all(isinstance(v, Ref) and v.kind is values[0].kind for v in values):
            return self._refs(values)
        kinds = {kind_of(v) for v in values}
        if len(kinds) > 1:
            return Unbound(f"it is {' or '.join(sorted({describe(v) for v in values}))}, by the way that was taken")
        kind = kinds.pop()
        if kind == "tensor":
            return self._tensors(values)
        if kind == "int":
            core.set_block(self.block)
            phi = core.phi("i64")
            for p, v in zip(self.paths, values, strict=True):
                core.add_phi_dim(phi, p.block, dim_of(v))
            return integer(core.dim(phi))
        if kind == "bool":
            regs = self._converted(values, lambda v: v.reg if isinstance(v, SymBool) else core.scalar_const_bool(v))
            core.set_block(self.block)
            phi = core.phi("bool")
            for p, reg in zip(self.paths, regs, strict=True):
                core.add_phi_reg(phi, p.block, reg)
            return SymBool(phi)
        if kind == "float":
            return SymFloat(self._tensors(self._converted(values, lambda v: as_float(v).tensor)))
        if is_tuple(values[0]) and len({(type(v), len(v)) for v in values}) == 1:
            return tuple_like(values[0], [self.value(list(column)) for column in zip(*values, strict=True)])
        return Unbound(f"it is a different {kind} on each of the ways that meet here")

    def _refs(self, values: list[Ref]) -> Any:
        """One of several containers: another one with joined elements, which can't be changed, as little as those it came from."""
        content = self.content([p.state.content(v) for p, v in zip(self.paths, values, strict=True)])
        if isinstance(content, Unbound):
            return content
        ref = self.state.new(content)
        for r in (*values, ref):
            current().freeze(r)
        return ref

    def content(self, values: list[Any]) -> Any:
        """Of one container on each path."""
        first = values[0]
        if isinstance(first, Unbound):
            return first
        if type(first) in (list, dict):
            for v in values:
                if v is not first and not _same_items(first, v):
                    break
            else:
                return first.copy()
        if type(first) is list and all(type(v) is list and len(v) == len(first) for v in values):
            return [self.value(list(column)) for column in zip(*values, strict=True)]
        if isinstance(first, SymList) and all(same(first, v) for v in values):
            return first
        if all(isinstance(v, SymList) or (type(v) is list and all(map(is_tensor, v))) for v in values):
            return self._lists(values)
        if type(first) is dict and all(type(v) is dict and list(v) == list(first) for v in values):
            return {k: self.value([v[k] for v in values]) for k in first}
        if type(first) is set and all(v == first for v in values):
            return first
        return _Mixed(
            f"the {type(first).__name__} has other elements on each of the ways that meet here; where turns of a loop collect "
            f"tensors, use msvm.ops.cat"
        )

    def _lists(self, values: list[Any]) -> Any:
        core = current().core
        known = [(v.dtype, v.shape) for v in values if isinstance(v, SymList)]
        items = self._converted(values, lambda v: v if isinstance(v, SymList) else [as_tensor(x) for x in v])
        known += [(t.dtype, known_shape(t)) for v in items if isinstance(v, list) for t in v]
        dtype = known[0][0]
        if any(d is not dtype or len(s) != len(known[0][1]) for d, s in known):
            return _Mixed("the list has tensors of other dtypes or ranks on each of the ways that meet here")
        shape = common_shape([s for _, s in known])
        lists = self._converted(items, lambda v: v if isinstance(v, SymList) else list_of(v, dtype, shape))
        core.set_block(self.block)
        phi = core.phi("list", dtype)
        for p, v in zip(self.paths, lists, strict=True):
            core.add_phi_reg(phi, p.block, v.reg)
        return SymList(phi, dtype, shape)

    def _converted(self, values: list[Any], convert: Callable[[Any], Any]) -> list[Any]:
        out = []
        for p, v in zip(self.paths, values, strict=True):
            current().core.set_block(p.block)
            out.append(convert(v))
        return out

    def _tensors(self, values: list[Any]) -> Any:
        core = current().core
        tensors = self._converted(values, as_tensor)
        if len({t.dtype for t in tensors}) > 1:
            return Unbound(f"it has dtype {' or '.join(sorted({t.dtype.name for t in tensors}))}, by the way that was taken")
        core.set_block(self.block)
        phi = core.phi_of([t.reg for t in tensors])
        for p, t in zip(self.paths, tensors, strict=True):
            core.add_phi_reg(phi, p.block, t.reg)
        self.sources[phi] = {t.reg for t in tensors}
        return SymTensor(phi)


class _Mixed(Unbound):
    """The content of a container that can't be told any more."""

    def copy(self) -> _Mixed:
        return self


class Variant:
    """What is known of a value that changes from turn to turn."""

    def __init__(self, guess: bool = False) -> None:
        self.guess = guess
        """Nothing was found; the loop assigns to it."""
        self.axes: set[int] = set()
        """Axes whose sizes change."""
        self.strided = False
        self.any_rank = False
        self.split = False
        """It is one tensor with another variable's before the loop, but not after a turn."""
        self.names: set[str] = set()
        """Of TRAPS."""
        self.names_of_keys: set[Key] = set()
        """Of SHARED."""
        self.dtype: Any = None
        self.shape: tuple[int | None, ...] = ()
        """Of the elements of a list that grows."""


def _size(content: Any) -> str:
    return str(len(content)) if isinstance(content, (list, dict, set)) else "unknown size"


PEEL: Key = ("the first turn stands before the loop",)
"""Of loops in which a variable's first value is of another kind than later ones (``total = 0`` before tensors are added)."""


SHARED: Key = ("variables that may hold one tensor from the second turn on",)

TRAPS: Key = ("names that a way without turns has no value for",)
"""They are read behind the loop: where it has no turn, the program ends there."""

GUESS: Key = ("what a loop was thought to change",)
"""Of a restart without guesses."""

GUESSED = frozenset({SymTensor, SymInt, SymFloat, SymBool, int, float, bool})
"""Types of values for which a name that a loop assigns to is thought to change."""


class Header:
    """The first block of a loop. ``variants``: what earlier tries found; grows."""

    def __init__(self, entry: Path, variants: dict[Key, Variant], block: int) -> None:
        self.entry = entry
        self.variants = variants
        self.block = block
        self.phis: dict[Key, tuple[str, int]] = {}
        self.refs: dict[Key, Ref] = {}
        self.groups: dict[int, Key] = {}
        """Variables that hold one tensor have one PHI: by the tensor, the first of them."""
        self.members: dict[Key, Key] = {}
        self.opened_groups: dict[Key, SymTensor] = {}
        self.sources: dict[int, set[int]] = {}
        self.guessed: dict[Key, Any] = {}
        """Variants that no turn has shown yet, and what the variables held before the loop."""
        self.changed = False

    def guess(self, number: int, names: Iterable[str]) -> None:
        """Before ``open``: these variables of a frame are thought to change. A right guess saves a try; ``close`` tells a wrong one."""
        frame = self.entry.state.frames[number]
        for name in names:
            key = (number, name)
            variant = self.variants.get(key)
            if variant is not None and not variant.guess:
                continue
            if type(frame.get(name)) in GUESSED:
                self.variants[key] = variant or Variant(guess=True)
                self.guessed[key] = frame[name]
            elif variant is not None:
                del self.variants[key]

    def open(self) -> State:
        """The state in which each turn begins. The builder stands in the header afterwards."""
        entry = self.entry.state
        state = self.opened = State(entry.numbers)
        for number, names in entry.frames.items():
            state.frames[number] = {k: self._opened((number, k), v) for k, v in names.items()}
        for number, content in entry.heap.items():
            state.heap[number] = self._opened_content(number, content)
        self.start = state.clone()
        if self.sources:
            find_shared(state, self.sources)
        shared = self.variants.get(SHARED)
        if shared is not None:
            current().shared.update(t.reg for key in shared.names_of_keys if isinstance(t := self._at(state, key), SymTensor))
        core = current().core
        core.set_block(self.entry.block)
        core.jump(self.block)
        core.set_block(self.block)
        return state

    def _at(self, state: State, key: Key) -> Any:
        v = state.heap.get(key[1], {}) if key[0] == "heap" else state.frames.get(key[0], {})
        for k in key[2:] if key[0] == "heap" else key[1:]:
            try:
                v = v[k]
            except (KeyError, IndexError, TypeError):
                return None
        return v

    def _opened_content(self, number: int, content: Any) -> Any:
        variant = self.variants.get(("heap", number))
        if variant is not None:
            return self._opened_list(number, content, variant)
        if type(content) is list:
            return [self._opened(("heap", number, k), x) for k, x in enumerate(content)]
        if type(content) is dict:
            return {k: self._opened(("heap", number, k), x) for k, x in content.items()}
        return content.copy()

    def _opened_ref(self, key: Key, v: Ref) -> Any:
        """A variable that is another list or dict in each turn."""
        content = self.entry.state.content(v)
        if isinstance(content, (Unbound, SymList)):
            return content if isinstance(content, Unbound) else Unbound("it is another list in each turn, whose length isn't known")
        new: Any = (
            {k: self._opened((*key, k), x) for k, x in content.items()}
            if isinstance(content, dict)
            else type(content)(self._opened((*key, k), x) for k, x in enumerate(content))
        )
        ref = self.opened.new(new)
        current().freeze(ref)
        current().freeze(v)
        self.refs[key] = ref
        return ref

    def _opened_list(self, number: int, content: Any, variant: Variant) -> SymList:
        core = current().core
        core.set_block(self.entry.block)
        first = content if isinstance(content, SymList) else list_of(content, variant.dtype, variant.shape)
        core.set_block(self.block)
        phi = core.phi("list", first.dtype)
        core.add_phi_reg(phi, self.entry.block, first.reg)
        self.phis["heap", number] = ("list", phi)
        return SymList(phi, first.dtype, variant.shape)

    def _opened(self, key: Key, v: Any) -> Any:
        if type(v) in LEAVES and key not in self.variants:
            return v
        if is_tuple(v):
            return tuple_like(v, [self._opened((*key, k), x) for k, x in enumerate(v)])
        variant = self.variants.get(key)
        if variant is None:
            return v
        if isinstance(v, Ref):
            return self._opened_ref(key, v)
        core = current().core
        kind = kind_of(v)
        if kind == "tensor" and isinstance(v, SymTensor) and not variant.split:
            first = self.groups.setdefault(v.reg, key)
            if first != key:
                self.members[key] = first
                return self.opened_groups[first]
        core.set_block(self.entry.block)
        if kind == "int":
            core.set_block(self.block)
            phi = core.phi("i64")
            core.add_phi_dim(phi, self.entry.block, dim_of(v))
            self.phis[key] = (kind, phi)
            return integer(core.dim(phi))
        if kind == "bool":
            reg = v.reg if isinstance(v, SymBool) else core.scalar_const_bool(v)
            core.set_block(self.block)
            phi = core.phi("bool")
        elif kind in ("float", "tensor"):
            reg = (as_float(v).tensor if kind == "float" else as_tensor(v)).reg
            core.set_block(self.block)
            phi = core.phi_varying(reg, sorted(variant.axes), variant.strided, variant.any_rank)
        else:
            return Unbound(f"it changes in the loop, and a {kind} can't")
        core.add_phi_reg(phi, self.entry.block, reg)
        self.phis[key] = (kind, phi)
        if kind == "tensor":
            self.sources[phi] = {reg}
        if kind == "bool":
            return SymBool(phi)
        self.opened_groups[key] = SymTensor(phi)
        return SymFloat(self.opened_groups[key]) if kind == "float" else self.opened_groups[key]

    def close(self, path: Path) -> str | None:
        """The end of a turn. Returns what can't change that way. ``changed`` says that more was learnt: the loop is made again.

        Raises ``Restart(GUESS)`` where a guess was wrong.
        """
        for key, v in self.guessed.items():
            end = self._at(path.state, key)
            if same(end, v) or same(end, self._at(self.start, key)):
                raise Restart(GUESS)
            self.variants[key].guess = False
        core = current().core
        core.set_block(path.block)
        problem: str | None = None
        self.end = path.state
        for number, names in self.start.frames.items():
            ends = path.state.frames.get(number, {})
            for name, v in names.items():
                found = ends.get(name)
                if found is v and type(v) in LEAVES and (number, name) not in self.variants:
                    continue
                if name not in ends:
                    found = Unbound("it loses its value in the loop")
                problem = problem or self._closed((number, name), name, v, found)
        for number, content in self.start.heap.items():
            problem = problem or self._closed_content(number, content, path.state.heap.get(number))
        self._find_new_aliases(path.state)
        core.set_block(path.block)
        core.jump(self.block)
        return problem

    def _find_new_aliases(self, end: State) -> None:
        """Variables with tensors of their own in this turn that hold one tensor in the next."""
        regs: dict[int, set[int]] = {}
        keys: dict[int, set[Key]] = {}
        for key, (kind, phi) in self.phis.items():
            t = self._at(end, key)
            if kind == "tensor" and isinstance(t, SymTensor):
                regs.setdefault(t.reg, set()).add(phi)
                keys.setdefault(t.reg, set()).add(key)
        for t in tensors_of(self.start):
            if t.reg in regs and t.reg not in (p for _, p in self.phis.values()):
                regs[t.reg].add(t.reg)
        listed = current().listed
        found = {key for reg, group in regs.items() if len(group) > 1 or reg in listed for key in keys[reg]}
        if not found:
            return
        shared = self.variants.setdefault(SHARED, Variant())
        if not found <= shared.names_of_keys:
            shared.names_of_keys |= found
            self.changed = True

    def guess_lists(self, path: Path) -> None:
        """Lists that turned out to grow, on the way on, as they will be in the next try."""
        for number in path.state.heap:
            variant = self.variants.get(("heap", number))
            if variant is not None and not isinstance(path.state.heap[number], SymList):
                current().core.set_block(path.block)
                path.state.heap[number] = list_of([], variant.dtype, variant.shape)

    def _closed(self, key: Key, name: str, begin: Any, end: Any) -> str | None:
        first = self.members.get(key)
        if first is not None:
            if not same(end, self._at(self.end, first)):
                self.variants[key].split = True
                self.changed = True
            return None
        if key in self.phis:
            return self._phi_input(key, name, end)
        if same(begin, end) or isinstance(begin, Unbound):
            return None
        if isinstance(begin, Ref) and isinstance(end, Ref):
            return self._closed_ref(key, name, begin, end)
        if is_tuple(begin) and type(begin) is type(end) and len(begin) == len(end):
            return next((p for k in range(len(begin)) if (p := self._closed((*key, k), name, begin[k], end[k]))), None)
        if isinstance(end, Unbound):
            return f"{name} has no single value at the end of a turn: {end.why}"
        if kind_of(begin) != kind_of(end) and PEEL not in self.variants and not isinstance(begin, (Ref, tuple)):
            self.variants[PEEL] = Variant()
            self.changed = True
            return None
        if kind_of(begin) != kind_of(end) or kind_of(begin) not in ("int", "bool", "float", "tensor"):
            return (
                f"{name} begins as {describe(begin)} and is {describe(end)} after a turn of the loop; give it a value of the "
                f"same kind before the loop"
            )
        self.variants[key] = self._variant_of(begin, end)
        self.changed = True
        return None

    def _variant_of(self, begin: Any, end: Any) -> Variant:
        """With the axes that can be seen to change, which saves a try."""
        variant = Variant()
        if isinstance(begin, SymTensor) and isinstance(end, SymTensor):
            core = current().core
            _, _, a = core.type(begin.reg)
            _, _, b = core.type(end.reg)
            if a is not None and b is not None and len(a) == len(b):
                variant.axes = {k for k, (x, y) in enumerate(zip(a, b, strict=True)) if x != y}
            variant.strided = core.is_strided(end.reg)
        return variant

    def _closed_ref(self, key: Key, name: str, begin: Ref, end: Ref) -> str | None:
        first, last = self.start.content(begin), self.end.content(end)
        if (
            begin.kind is not end.kind
            or isinstance(last, (Unbound, SymList))
            or isinstance(first, (Unbound, SymList))
            or len(first) != len(last)
        ):
            return (
                f"{name} is a {begin.kind.__name__} of {_size(first)} before the loop and a {end.kind.__name__} of "
                f"{_size(last)} after a turn"
            )
        if key not in self.refs:
            self.variants[key] = Variant()
            self.changed = True
            return None
        current().freeze(end)
        if isinstance(first, dict):
            if list(first) != list(last):
                return f"{name} is a dict with other keys after a turn of the loop"
            return next((p for k in first if (p := self._closed((*key, k), name, first[k], last[k]))), None)
        if isinstance(first, set):
            return None if first == last else f"{name} is another set after a turn of the loop"
        return next((p for k in range(len(first)) if (p := self._closed((*key, k), name, first[k], last[k]))), None)

    def _closed_content(self, number: int, begin: Any, end: Any) -> str | None:
        if isinstance(begin, Unbound):
            return None
        if isinstance(begin, SymList) or (
            type(begin) is list and (isinstance(end, SymList) or (type(end) is list and len(end) > len(begin)))
        ):
            return self._closed_list(number, begin, end)
        if type(begin) is list and type(end) is list and len(begin) == len(end):
            return next((p for k in range(len(begin)) if (p := self._closed(("heap", number, k), "an element", begin[k], end[k]))), None)
        if type(begin) is dict and type(end) is dict and list(begin) == list(end):
            return next((p for k in begin if (p := self._closed(("heap", number, k), f"the element {k!r}", begin[k], end[k]))), None)
        if type(begin) is type(end) is set and begin == end:
            return None
        return (
            f"a {type(begin).__name__} gets more or fewer elements with each turn, whose number is known only when the "
            f"program runs; collect tensors with msvm.ops.cat"
        )

    def _closed_list(self, number: int, begin: Any, end: Any) -> str | None:
        """A list that grows becomes a list register."""
        key: Key = ("heap", number)
        if key not in self.variants and same(begin, end):
            return None
        if isinstance(end, Unbound):
            return end.why
        items = [] if isinstance(end, SymList) else [as_tensor(x) if is_tensor(x) else x for x in end]
        if not all(isinstance(x, SymTensor) for x in items):
            return "a list gets more elements with each turn, which aren't tensors; the number of turns is known only when the program runs"
        shapes = [known_shape(t) for t in items] + [v.shape for v in (begin, end) if isinstance(v, SymList)]
        dtypes = {t.dtype for t in items} | {v.dtype for v in (begin, end) if isinstance(v, SymList)}
        if len(dtypes) != 1:
            return f"a list gets tensors of {' and '.join(sorted(d.name for d in dtypes))} in a loop; cast them to one dtype"
        shape = common_shape(shapes)
        variant = self.variants.setdefault(key, Variant())
        if key not in self.phis or variant.shape != shape:
            self.changed = True
        variant.dtype, variant.shape = dtypes.pop(), shape
        if key in self.phis:
            core = current().core
            grown = end if isinstance(end, SymList) else list_of(end, variant.dtype, shape)
            core.add_phi_reg(self.phis[key][1], core.current(), grown.reg)
        return None

    def _phi_input(self, key: Key, name: str, end: Any) -> str | None:
        core = current().core
        kind, phi = self.phis[key]
        if isinstance(end, Unbound):
            return f"{name} has no single value at the end of a turn: {end.why}"
        if kind_of(end) != kind and PEEL not in self.variants:
            self.variants[PEEL] = Variant()
            self.changed = True
            return None
        if kind_of(end) != kind:
            return (
                f"{name} begins as {'an' if kind == 'int' else 'a'} {kind} and is {describe(end)} after a turn of the loop; "
                f"give it a value of the same kind before the loop"
            )
        if kind == "int":
            core.add_phi_dim(phi, core.current(), dim_of(end))
            return None
        if kind == "bool":
            core.add_phi_reg(phi, core.current(), end.reg if isinstance(end, SymBool) else core.scalar_const_bool(end))
            return None
        t = as_float(end).tensor if kind == "float" else as_tensor(end)
        _, dtype, shape = core.type(phi)
        _, found_dtype, found = core.type(t.reg)
        if dtype is not found_dtype:
            return f"{name} is a tensor of {dtype.name} before the loop and of {found_dtype.name} after a turn; cast it before the loop"
        variant = self.variants[key]
        if shape is not None and (found is None or len(found) != len(shape)):
            variant.any_rank = True
            self.changed = True
        elif shape is not None and found is not None:
            for axis, (a, b) in enumerate(zip(shape, found, strict=True)):
                if a != b and axis not in variant.axes:
                    variant.axes.add(axis)
                    self.changed = True
        if core.is_strided(t.reg) and not variant.strided:
            variant.strided = True
            self.changed = True
        core.add_phi_reg(phi, core.current(), t.reg)
        return None
