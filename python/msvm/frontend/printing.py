"""print() inside a compiled function: an effect of the program, in order, at every call."""

from __future__ import annotations

from typing import Any

from .values import SymBool, SymFloat, SymInt, SymTensor, as_tensor, emit


def emit_print(it: Any, args: tuple[Any, ...], sep: str, end: str) -> None:
    """Appends the call that prints ``args`` as Python's ``print`` would: the text as a template (msvm.Print), tensors, then sizes."""
    from .expressions import Part, Text

    tensors: list[SymTensor] = []
    sizes: list[SymInt] = []
    pieces: list[Any] = []  # text, or (kind, number, how it is formatted)

    def operand(v: Any, spec: str) -> None:
        if isinstance(v, SymInt):
            pieces.append(("size", len(sizes), spec))
            sizes.append(v)
            return
        pieces.append(("tensor", len(tensors), spec))
        tensors.append(v.tensor if isinstance(v, SymFloat) else as_tensor(v))

    def inside(v: Any) -> None:
        """An element of a container: its repr."""
        v = it.state.plain(v)
        if isinstance(v, SymTensor | SymInt | SymFloat | SymBool):
            operand(v, "!r")
        elif type(v) is dict:
            listed("{", [lambda k=k, x=x: (inside(k), pieces.append(": "), inside(x)) for k, x in v.items()], "}")
        elif type(v) is tuple:
            listed("(", [lambda x=x: inside(x) for x in v], ",)" if len(v) == 1 else ")")
        elif type(v) is list:
            listed("[", [lambda x=x: inside(x) for x in v], "]")
        else:
            pieces.append(repr(v))

    def listed(begin: str, items: list[Any], close: str) -> None:
        pieces.append(begin)
        for k, item in enumerate(items):
            if k:
                pieces.append(", ")
            item()
        pieces.append(close)

    def whole(v: Any, spec: str = "") -> None:
        v = it.state.plain(v)
        if isinstance(v, SymTensor | SymInt | SymFloat | SymBool):
            operand(v, spec)
        elif isinstance(v, Text):
            for part in v.parts:
                if isinstance(part, Part):
                    whole(part.value, part.format)
                else:
                    pieces.append(part)
        elif type(v) in (list, tuple, dict):
            inside(v)
        else:
            pieces.append(str(v))

    for k, v in enumerate(args):
        if k:
            whole(sep)
        whole(v)
    whole(end)
    template = "".join(
        p.replace("{", "{{").replace("}", "}}") if isinstance(p, str) else f"{{{p[1] + (len(tensors) if p[0] == 'size' else 0)}{p[2]}}}"
        for p in pieces
    )
    emit("msvm.Print", tensors, sizes, outputs=[], format=template)
