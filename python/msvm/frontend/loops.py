"""Loops: written out where their turns are known, else of the program, with PHIs for what changes from turn to turn."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .attempts import Attempts
from .join import GUESS, PEEL, TRAPS, Header, Key, Restart, Variant, describe, kind_of
from .lists import SymList
from .ranges import SymRange, SymSequence
from .source import assigned_in
from .state import Path, Unbound
from .values import SymBool, SymInt, SymTensor, dim_of, integer

UNROLL = 64
"""Turns of a loop that are written out where they are known; longer ones loop when the program runs."""


class Loop:
    def __init__(self) -> None:
        self.breaks: list[Path] = []
        self.continues: list[Path] = []


class Loops(Attempts):
    def do_For(self, s: ast.For) -> None:
        iterable = self.eval(s.iter)
        count = self.runtime_count(iterable)
        if count is not None:
            self.until_settled(lambda: self.runtime_for(s, iterable, count))
            return
        self.unrolled_for(s, self.iterate(iterable))

    def runtime_count(self, iterable: Any) -> Any:
        """Turns of a loop that runs when the program runs; None: it is written out."""
        if isinstance(iterable, SymSequence):
            return iterable.count
        if isinstance(iterable, SymRange):
            return iterable.count if isinstance(iterable.count, SymInt) or iterable.count > UNROLL else None
        content = self.state.content(iterable)
        if isinstance(content, SymList):
            return content.length
        if isinstance(iterable, range):
            return len(iterable) if len(iterable) > UNROLL else None
        if isinstance(iterable, SymTensor):
            n = len_of(iterable)
            return n if isinstance(n, SymInt) or n > UNROLL else None
        return None

    def unrolled_for(self, s: ast.For, items: Any) -> None:
        loop = Loop()
        self.frame.loops.append(loop)
        for k, item in enumerate(items):
            self.site.append(k)
            self.assign(s.target, item)
            loop.continues = []
            self.block(s.body)
            self.site.pop()
            if self.alive:
                loop.continues.append(self.path())
            self.resume(loop.continues)
            if not self.alive:
                break
        self.frame.loops.pop()
        self.after_loop(s, loop)

    def after_loop(self, s: Any, loop: Loop) -> None:
        if self.alive and s.orelse:
            self.block(s.orelse)
        self.resume(([self.path()] if self.alive else []) + loop.breaks)

    def runtime_for(self, s: ast.For, iterable: Any, count: Any) -> None:
        index: list[int] = []
        peeled = self.is_peeled(s)
        zero: Path | None = None
        breaks: list[Path] = []
        if peeled:
            zero, breaks = self.first_turn(s, count > 0, lambda: self.assign(s.target, self.element(iterable, 0)))
        first = self.core.current()

        def test() -> Any:
            index.append(self.core.phi("i64"))
            self.core.add_phi_dim(index[0], first, int(peeled))
            k = integer(self.core.dim(index[0]))
            self.core.set_name(index[0], "turn")
            return SymBool(self.core.compare("lt", dim_of(k), dim_of(count)))

        def begin() -> None:
            k = integer(self.core.dim(index[0]))
            self.assign(s.target, self.element(iterable, k))

        def advance() -> None:
            k = integer(self.core.dim(index[0]))
            self.core.add_phi_dim(index[0], self.core.current(), dim_of(k + 1))

        self.runtime_loop(s, test, begin, advance, breaks, zero)

    def loop_key(self, s: Any) -> Key:
        return (*self.site, s.lineno, s.col_offset)

    def is_peeled(self, s: Any) -> bool:
        key = self.loop_key(s)
        if self.loops_tried is not None:
            self.loops_tried.add(key)
        return PEEL in self.loop_tables.setdefault(key, {})

    def first_turn(self, s: Any, condition: Any, begin: Callable[[], None]) -> tuple[Path | None, list[Path]]:
        """One turn before the loop. Returns the way on which there is no turn at all, and those that broke off."""
        zero = None
        if isinstance(condition, SymBool):
            taken, zero = self.fork(condition)
            self.enter(taken)
        elif not condition:
            return None, []
        loop = Loop()
        self.frame.loops.append(loop)
        self.control += 1
        self.site.append("first")
        begin()
        self.block(s.body)
        self.site.pop()
        self.control -= 1
        self.frame.loops.pop()
        if self.alive:
            loop.continues.append(self.path())
        self.resume(loop.continues)
        return zero, loop.breaks

    def value_from_loop(self, loop: Any, name: str) -> None:
        """A name is read that has no value if a loop has no turn: that loop is made so that the program ends there then."""
        table = self.loop_tables.setdefault(loop, {})
        table.setdefault(PEEL, Variant())
        traps = table.setdefault(TRAPS, Variant())
        if name not in traps.names:
            traps.names.add(name)
            raise Restart(loop)

    def without_turns(self, s: Any, zero: Path, ends: list[Path]) -> list[Path]:
        """The way on which a peeled loop has no turn: an error there if a variable of another kind is used later."""
        if not ends:
            return [zero]
        key = self.loop_key(s)
        traps = self.loop_tables.get(key, {}).get(TRAPS, Variant()).names
        here, there = zero.state.frames[self.frame.number], ends[0].state.frames[self.frame.number]
        for name in sorted(there):
            before = here.get(name, Unbound("it gets its value in the loop"))
            if isinstance(there[name], Unbound) or (kind_of(before) == kind_of(there[name]) and not isinstance(before, Unbound)):
                continue
            if name not in traps:
                here[name] = Unbound("it has no value, or one of another kind, if the loop has no turn", (key, name))
                continue
            self.enter(zero)
            if isinstance(before, Unbound):
                error = UnboundLocalError(f"the loop at {self.place()} has no turn, so {name} has no value")
                self.core.trap(self.exception_text(error))
            else:
                self.core.trap(
                    f"the loop at {self.place()} has no turn, so {name} is still {describe(before)}, not {describe(there[name])}; "
                    f"give it its first value with msvm.ops before the loop"
                )
            return []
        return [zero]

    def element(self, iterable: Any, k: Any) -> Any:
        if isinstance(iterable, SymSequence):
            return iterable.at(k)
        if isinstance(iterable, SymRange):
            return iterable.start + k * iterable.step
        if isinstance(iterable, range):
            return iterable.start + k * iterable.step
        return self.get_item(iterable, k)

    def do_While(self, s: ast.While) -> None:
        always = isinstance(s.test, ast.Constant) and bool(s.test.value)
        loop = Loop()
        turns = 0
        while not always and turns < UNROLL and not loop.breaks:
            state = self.state.clone()
            condition = self.test(s.test)
            if not isinstance(condition, bool):
                self.state = state  # the test is made again in the loop's header
                break
            if not condition:
                self.after_loop(s, loop)
                return
            turns += 1
            self.site.append(("turn", turns))
            self.frame.loops.append(loop)
            loop.continues = []
            self.block(s.body)
            self.frame.loops.pop()
            self.site.pop()
            if self.alive:
                loop.continues.append(self.path())
            self.resume(loop.continues)
            if not self.alive:
                self.after_loop(s, loop)
                return

        self.until_settled(lambda: self.runtime_while(s, loop.breaks))

    def runtime_while(self, s: ast.While, breaks: list[Path]) -> None:
        """``breaks``: of the turns that were written out before."""

        def test() -> Any:
            return self.test(s.test)

        zero: Path | None = None
        if self.is_peeled(s):
            zero, first = self.first_turn(s, test(), lambda: None)
            breaks = breaks + first
        self.runtime_loop(s, test, lambda: None, lambda: None, breaks, zero)

    def runtime_loop(
        self, s: Any, test: Callable[[], Any], begin: Callable[[], None], advance: Callable[[], None], breaks: list[Path], zero: Path | None
    ) -> None:
        ends: list[Path] = []
        loop = Loop()
        if self.alive:
            self.turns(s, test, begin, advance, loop, ends)
        loop.breaks = breaks + loop.breaks
        if zero is not None:
            ends = [*self.without_turns(s, zero, ends + loop.breaks), *ends]
        self.resume(ends)
        self.after_loop(s, loop)

    def turns(
        self, s: Any, test: Callable[[], Any], begin: Callable[[], None], advance: Callable[[], None], loop: Loop, ends: list[Path]
    ) -> None:
        """The loop itself. ``ends``: where the test fails."""
        key = self.loop_key(s)
        header = Header(self.path(), self.loop_tables.setdefault(key, {}), self.core.new_block())
        if self.guessing and key not in self.loops_known:
            header.guess(self.frame.number, assigned_in(s))
        self.open_loops.append(key)
        self.site.append((s.lineno, s.col_offset))
        self.control += 1
        self.state = header.open()
        condition = test()
        if isinstance(condition, SymBool):
            inside = self.core.new_block()
            out = self.core.new_block()
            self.core.branch_if(condition.reg, inside, out)
            ends.append(Path(out, self.state.clone()))
            self.core.set_block(inside)
        elif not condition:
            ends.append(self.path())
            self.alive = False
        self.frame.loops.append(loop)
        if self.alive:
            begin()
            self.block(s.body)
        self.frame.loops.pop()
        if self.alive:
            loop.continues.append(self.path())
        self.resume(loop.continues)
        if self.alive:
            known = header.start.frames.get(self.frame.number, {})
            for name in self.state.frames[self.frame.number]:
                if name not in known and name != "return":
                    for path in ends:
                        path.state.frames[self.frame.number][name] = Unbound(
                            "it gets its value in a loop that may have no turn", (key, name)
                        )
            advance()
            problem = header.close(self.path())
            if header.changed:
                self.loops_learnt = True  # on, to learn more: the loop is made again in any case
                for path in ends:
                    header.guess_lists(path)
            elif problem:
                self.node = s
                self.unsupported(problem)
        elif header.guessed:
            raise Restart(GUESS)  # no turn follows another
        self.control -= 1
        self.site.pop()
        self.open_loops.pop()


def len_of(t: SymTensor) -> Any:
    return t.shape[0] if t.shape else t.__len__()
