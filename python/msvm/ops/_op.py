"""What an operator of ``msvm.ops`` is: one body over symbolic values.

While a program is made, a call appends the body's instructions to it. Elsewhere it runs at once: the body becomes a small program
for the dtypes and ranks of the tensors, the values of static arguments, and any sizes; it is kept and used again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from .. import _core
from ..frontend.build import Build, building, making
from ..frontend.program import Results, input_value


class Op:
    """An operator. ``body`` is the function over symbolic values; ``sizes`` names the parameters whose plain ints don't make new programs."""

    def __init__(self, body: Callable[..., Any], sizes: Sequence[str], static: Sequence[str]) -> None:
        functools.update_wrapper(self, body)
        self.body = body
        self.sizes = tuple(sizes)
        self.static = tuple(static)
        self._programs: dict[Any, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if building():
            return self.body(*args, **kwargs)
        return self._eager(args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<msvm operator {self.__name__}>"  # type: ignore[attr-defined]

    def _eager(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = inspect.signature(self.body).bind(*args, **kwargs)
        leaves: list[Any] = []
        kinds: list[Any] = []

        def flatten(v: Any, sized: bool) -> Any:
            if type(v) in (tuple, list):
                return type(v)(flatten(x, sized) for x in v)
            if isinstance(v, np.ndarray):
                kinds.append(("tensor", _core.dtype_of_code({d.numpy: d.code for d in _core.DTYPES}[v.dtype.name]), v.ndim))
            elif sized and type(v) is int and v >= 0:
                kinds.append(("i64",))
            else:
                return v
            leaves.append(v)
            return _Leaf(len(leaves) - 1)

        shape = {k: flatten(v, k in self.sizes) for k, v in bound.arguments.items()}
        build = Build(self.__name__)  # type: ignore[attr-defined]
        with making(build):
            values = [input_value(build, kind, f"x{k}") for k, kind in enumerate(kinds)]

            def rebuild(v: Any) -> Any:
                if isinstance(v, _Leaf):
                    return values[v.index]
                return type(v)(rebuild(x) for x in v) if type(v) in (tuple, list) else v

            bound.arguments.update({k: rebuild(v) for k, v in shape.items()})
            result = self.body(*bound.args, **bound.kwargs)
            results = Results(build)
            tree = results.tree(result)
            module = results.finish()
        found = _core.load_module(module, {"opt": 0, "jit_level": "O0"}).run(leaves)
        return _tree(tree, found)


class _Leaf:
    def __init__(self, index: int) -> None:
        self.index = index


def _tree(tree: Any, found: list[Any]) -> Any:
    kind, what = tree
    if kind == "const":
        return what
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(_tree(x, found) for x in what)
    if kind == "dict":
        return {k: _tree(x, found) for k, x in what.items()}
    return found[what]


@overload
def op(body: Callable[..., Any], /) -> Op: ...
@overload
def op(*, sizes: Sequence[str] = (), static: Sequence[str] = ()) -> Callable[[Callable[..., Any]], Op]: ...
def op(body: Callable[..., Any] | None = None, /, *, sizes: Sequence[str] = (), static: Sequence[str] = ()) -> Any:
    """Makes an operator of a body over symbolic values (see the module). ``sizes``: parameters that are sizes, or sequences of them."""
    return Op(body, sizes, static) if body is not None else lambda f: Op(f, sizes, static)
