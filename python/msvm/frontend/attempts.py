"""Loops by trying: what a try has made is taken back, and the loop made again with what was learnt."""

from __future__ import annotations

from collections.abc import Callable

from .base import Base
from .join import GUESS, Key, Restart

TRIES = 400


class Mark:
    """How far a program is made, and what the interpreter knew there. Names keep what they had, lists their first elements."""

    def __init__(self, it: Attempts) -> None:
        self.build = it.build.mark()
        self.captures = it.captures.mark()
        self.state = it.state.clone()
        self.frames = [(f, len(f.returns), f.keep, [(loop, len(loop.breaks), len(loop.continues)) for loop in f.loops]) for f in it.frames]
        self.frame_count = it.frame_count
        self.site = len(it.site)
        self.control = it.control
        self.node = it.node
        self.named_regs = set(it.named_regs)
        self.reports = len(it.reports)

    def take_back(self, it: Attempts) -> None:
        """May be done again and again."""
        names = it.named_regs - self.named_regs
        it.build.rollback(self.build, names)
        it.captures.rollback(self.captures)
        it.state, it.alive = self.state.clone(), True
        it.frames[:] = [f for f, *_ in self.frames]
        for f, returns, keep, loops in self.frames:
            f.keep = keep
            del f.returns[returns:]
            f.loops[:] = [loop for loop, *_ in loops]
            for loop, breaks, continues in loops:
                del loop.breaks[breaks:], loop.continues[continues:]
        for number in [n for n in it.all_frames if n > self.frame_count]:
            del it.all_frames[number]
        it.frame_count = self.frame_count
        del it.site[self.site :], it.open_loops[:], it.reports[self.reports :]
        it.control, it.node = self.control, self.node
        it.in_frame()
        it.named_regs = set(self.named_regs)


class Attempts(Base):
    frame_count: int
    named_regs: set[int]
    loops_tried: set[Key] | None
    """Those that stand in the outermost loop that is being tried, itself among them; None: there is none."""
    loops_learnt: bool
    """One of them turned out to change more than was assumed: what was made since then means nothing."""
    loops_known: set[Key]
    """Those that had been tried before the outermost one. The others begin with guesses of what changes."""
    guessing: bool
    """Until one of these guesses is wrong, or the loop fails: then it is made without them, as if there had been none."""

    def until_settled(self, make: Callable[[], None]) -> None:
        """Makes a loop of the program. The outermost one is made again until nothing is learnt; those inside are made again with it."""
        if self.loops_tried is not None:
            make()
            return
        mark = Mark(self)
        self.loops_known, self.guessing = set(self.loop_tables), True
        try:
            for _ in range(TRIES):
                self.loops_tried, self.loops_learnt = set(), False
                try:
                    make()
                except Restart as e:
                    if e.loop == GUESS:
                        self.without_guesses()
                    elif e.loop not in self.loops_tried:
                        self.without_guesses()
                        raise
                except Exception:
                    if not self.loops_learnt:
                        if not self.guessing:
                            raise
                        self.without_guesses()
                else:
                    if not self.loops_learnt:
                        return
                mark.take_back(self)
        finally:
            self.loops_tried = None
        self.unsupported("the sizes and kinds of values in its loops don't settle")

    def without_guesses(self) -> None:
        """From now on; forgets what was learnt with them."""
        self.guessing = False
        for key in self.loop_tables.keys() - self.loops_known:
            del self.loop_tables[key]
