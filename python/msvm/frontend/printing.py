"""print() inside a compiled function: an effect of the program, in order, at every call."""

from __future__ import annotations

from typing import Any

from .._errors import pending
from .build import current
from .expressions import Part, Text
from .lists import SymList
from .state import Ref, is_tuple
from .values import Symbolic, SymBool, SymFloat, SymInt, SymTensor, as_tensor


def emit_print(it: Any, args: tuple[Any, ...], sep: str, end: str) -> None:
    """Prints ``args`` as Python does. Numbers look like Python's, tensors like numpy's arrays."""
    p = _Format(it)
    for k, v in enumerate(args):
        if k:
            p.text(sep)
        p.value(v, "", "")
    p.text(end)
    current().core.call("msvm.Print", [t.reg for t in p.tensors], [n.dim for n in p.sizes], {"format": p.template()}, [])


_BRACKETS: dict[Any, tuple[str, str]] = {tuple: ("(", ")"), list: ("[", "]"), dict: ("{", "}")}


class PendingException:
    """An exception whose arguments are known only when the program runs."""

    def __init__(self, cls: type[BaseException], args: list[Any], kwargs: dict[str, Any]) -> None:
        self.cls = cls
        self.args = args
        self.kwargs = kwargs


def emit_raise(it: Any, e: PendingException) -> None:
    """Has the program's side of Python raise it; where there is no Python, its text is printed."""
    p = _Format(it)

    def spec(v: Any) -> Any:
        p.parts = []
        if isinstance(v, (SymInt, SymFloat, SymBool, SymTensor)):
            p.value(v, "", "")
            group, k, _, _ = p.parts[0]
            return (None, (group is p.sizes, k))
        p.value(v, "", "")
        return ("text", list(p.parts))

    args, kwargs = [spec(v) for v in e.args], {k: spec(v) for k, v in e.kwargs.items()}

    def final(s: Any) -> Any:
        kind, what = s
        if kind is None:
            is_size, k = what
            return (None, len(p.tensors) + k if is_size else k)
        p.parts = what
        return (p.template(), 0)

    text = pending(e.cls, tuple(final(s) for s in args), {k: final(s) for k, s in kwargs.items()})
    shown = f"{text}{e.cls.__name__} ({it.place()})\n".replace("{", "{{").replace("}", "}}")
    current().core.call("msvm.Print", [t.reg for t in p.tensors], [n.dim for n in p.sizes], {"format": shown}, [])


class _Format:
    def __init__(self, it: Any) -> None:
        self.it = it
        self.parts: list[Any] = []
        self.tensors: list[SymTensor] = []
        self.sizes: list[SymInt] = []

    def text(self, s: str) -> None:
        self.parts.append(s.replace("{", "{{").replace("}", "}}"))

    def value(self, v: Any, conversion: str, spec: str) -> None:
        if isinstance(v, Text):
            for part in v.parts:
                if isinstance(part, Part):
                    self.value(part.value, part.conversion, part.spec)
                else:
                    self.text(part)
        elif isinstance(v, SymInt):
            self.parts.append((self.sizes, len(self.sizes), conversion, spec))
            self.sizes.append(v)
        elif isinstance(v, (SymTensor, SymFloat, SymBool)):
            self.parts.append((self.tensors, len(self.tensors), conversion, spec))
            self.tensors.append(v if isinstance(v, SymTensor) else v.tensor if isinstance(v, SymFloat) else as_tensor(v))
        elif isinstance(v, SymList):
            self.it.unsupported("print of a list that a loop makes; stack it with msvm.ops.stack")
        elif isinstance(v, Ref):
            self.value(self.it.state.content(v), conversion, spec)
        elif (is_tuple(v) or type(v) in (list, dict)) and _any(self.it.state.plain(v)):
            self.items(v)
        else:
            self.text(str(self.it.state.plain(v)))

    def items(self, v: Any) -> None:
        """A container with values that aren't known yet, as Python prints it."""
        names = getattr(v, "_fields", None)
        opened, closed = _BRACKETS[type(v)] if names is None else (f"{type(v).__name__}(", ")")
        self.text(opened)
        for k, x in enumerate(v):
            if k:
                self.text(", ")
            if type(v) is dict:
                self.text(f"{x!r}: ")
                x = v[x]
            elif names is not None:
                self.text(f"{names[k]}=")
            content = self.it.state.content(x)
            if isinstance(content, Symbolic) or ((is_tuple(content) or type(content) in (list, dict)) and _any(self.it.state.plain(x))):
                self.value(content, "", "")
            else:
                self.text(repr(self.it.state.plain(x)))
        if type(v) is tuple and len(v) == 1:
            self.text(",")
        self.text(closed)

    def template(self) -> str:
        out = []
        for p in self.parts:
            if isinstance(p, str):
                out.append(p)
                continue
            group, k, conversion, spec = p
            index = k if group is self.tensors else len(self.tensors) + k
            out.append("{" + str(index) + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}")
        return "".join(out)


def _any(v: Any) -> bool:
    if isinstance(v, dict):
        v = list(v.values())
    return isinstance(v, Symbolic) or (isinstance(v, (tuple, list)) and any(map(_any, v)))
