"""What an operator of ``msvm.ops`` is: one body over symbolic values.

While a program is made, a call appends the body's instructions to it. Elsewhere it runs at once: the body becomes a small program
for the dtypes and ranks of the tensors, the values of static arguments, and any sizes; it is kept and used again.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, overload

from .. import _context, _core
from .._dispatcher import Dispatcher
from .._errors import UnsupportedError
from .._parameters import arguments, parameters_of
from ..frontend.build import Build, making
from ..frontend.program import Results, input_value, sources

_operators: weakref.WeakSet[Op] = weakref.WeakSet()

MAX_PROGRAMS = 64
"""Of one operator; the one used least recently goes."""


class Op(Dispatcher[..., Any]):
    """An operator. ``body``: the function over symbolic values. ``sizes``: parameters whose plain ints don't make new programs."""

    def __init__(self, body: Callable[..., Any], sizes: Sequence[str], static: Sequence[str]) -> None:
        functools.update_wrapper(self, body)
        parameters = parameters_of(body)
        known = [p for p in static if p in parameters["parameters"]]  # lists of them are shared between families
        super().__init__(self._miss, sizes=sizes, static=known, max_entries=MAX_PROGRAMS, doc=body.__doc__, **parameters)
        self.body = body
        self.inside = body
        _operators.add(self)

    def _miss(self, signature: Any) -> Any:
        build = Build(self.__name__)
        with making(build):
            leaves = [input_value(build, kind, name) for kind, name in zip(signature.kinds, signature.names, strict=True)]
            bound = arguments(self.body, signature.rebuild(leaves))
            try:
                result = self.body(*bound.args, **bound.kwargs)
            except UnsupportedError:
                if any(kind == ("i64",) and type(leaf) is int for kind, leaf in zip(signature.kinds, signature.leaves, strict=True)):
                    return NotImplemented  # an int that had many values, but must be known
                raise
            results = Results(build)
            tree = results.tree(result)
            module = results.finish()
        options = {**_context.options_of_engine(), "opt": 0, "jit_level": "O0", "name": self.__name__}
        return _core.Entry(_core.load_module(module, options), sources(signature.kinds), [], tree)

    def __reduce__(self) -> str:
        return self.__name__

    def __repr__(self) -> str:
        return f"<msvm operator {self.__name__}>"


def forget_programs() -> None:
    """After the options of the process have changed: operators make their programs anew."""
    for o in list(_operators):
        o.clear()


_context.on_change(forget_programs)


@overload
def op(body: Callable[..., Any], /) -> Op: ...
@overload
def op(
    *, name: str | None = None, doc: str | None = None, sizes: Sequence[str] = (), static: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], Op]: ...
def op(
    body: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    doc: str | None = None,
    sizes: Sequence[str] = (),
    static: Sequence[str] = (),
) -> Any:
    """Makes an operator of a body over symbolic values (see the module). ``sizes``: parameters that are sizes, or sequences of them.

    ``name`` and ``doc``: those of the operator where the body, shared by a family, has none of its own.
    """

    def made(f: Callable[..., Any]) -> Op:
        f.__name__, f.__qualname__ = name or f.__name__, name or f.__qualname__
        f.__doc__ = doc or f.__doc__
        return Op(f, sizes, static)

    return made if body is None else made(body)
