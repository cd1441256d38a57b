"""Writes the stubs of the functions of msvm.ops and of the methods of tensors, from the tables that the package makes them from."""

import inspect
import re
from pathlib import Path
from typing import Any

from msvm.ops.classes import FORMS

from msvm import _methods, ops

PACKAGE = Path(__file__).resolve().parents[1] / "python/msvm"
WIDTH = 140

PAIR, MANY = "tuple[Tensor, Tensor]", "tuple[Tensor, ...]"
RETURNS = {
    **dict.fromkeys(["max", "min", "sort", "topk", "median", "mode", "cummax", "cummin", "std_mean", "var_mean", "gru", "rnn"], PAIR),
    **dict.fromkeys(["random_bernoulli", "random_multinomial", "random_normal", "random_uniform"], PAIR),
    **dict.fromkeys(["broadcast_tensors", "chunk", "meshgrid", "split", "tensor_split", "unbind", "unstack"], MANY),
    "lstm": "tuple[Tensor, tuple[Tensor, Tensor]]",
    "dynamic_quantize_linear": "tuple[Tensor, Tensor, Tensor]",
    "shape": "tuple[int, ...]",
    "numel": "int",
    "rank": "int",
    "random_key": "np.ndarray[Any, Any]",
    "set_seed": "None",
}
"""What functions give that isn't a tensor."""

FLAGS = {
    **{f"max_pool{n}d": {"return_indices": PAIR} for n in (1, 2, 3)},
    "batch_norm": {"training": "tuple[Tensor, Tensor, Tensor]"},
    "argwhere": {"as_tuple": MANY},
    "nonzero": {"as_tuple": MANY},
    "unique": {"return_inverse": MANY, "return_counts": MANY, "return_index": MANY},
    "unique_consecutive": {"return_idx": MANY, "return_counts": MANY},
    "causal_conv_with_state": {"return_state": PAIR},
}
"""Functions that give something else than a tensor where an argument is true."""

ANY = {"attention"}
"""Functions whose results an int argument counts."""

ELSEWHERE = {"TensorSpec": "_custom", "custom": "_custom"}
"""Functions that are imported as they are."""

METHODS = {
    "dim": "int",
    "numel": "int",
    "nelement": "int",
    "__divmod__": PAIR,
    "__hash__": "int",
    "__array_namespace__": "Any",
    "device": "str",
}
"""What methods give that isn't a tensor and isn't what the function of that name gives."""

HEAD = "# Written by tools/gen_python_stubs.py from the tables of operators.\n"


def shown(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def text_of(p: inspect.Parameter) -> str:
    stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
    note = "Any" if p.annotation is p.empty else str(p.annotation)
    return f"{stars}{p.name}: {note}" + ("" if p.default is p.empty else f" = {shown(p.default)}")


def listed(parameters: list[inspect.Parameter], texts: dict[str, str], keywords_from: str | None = None) -> list[str]:
    """The parameters' texts with the marks ``/`` and ``*`` between them."""
    parts: list[str] = []
    starred = False
    for k, p in enumerate(parameters):
        if k and parameters[k - 1].kind is p.POSITIONAL_ONLY and p.kind is not p.POSITIONAL_ONLY:
            parts.append("/")
        if not starred and (p.kind is p.KEYWORD_ONLY or p.name == keywords_from):
            parts.append("*")
            starred = True
        starred = starred or p.kind is p.VAR_POSITIONAL
        parts.append(texts[p.name])
    if parameters and parameters[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    return parts


def definition(name: str, parts: list[str], result: str, indent: str, doc: str | None = None, note: str = "") -> str:
    body = f'\n{indent}    """{doc}"""' if doc else " ..."
    line = f"{indent}def {name}({', '.join(parts)}) -> {result}:{body}{note}"
    if max(len(part) for part in line.split("\n")) > WIDTH:
        inner = f"{indent}    {', '.join(parts)}"
        inner = inner if len(inner) <= WIDTH else "".join(f"{indent}    {p},\n" for p in parts).rstrip("\n")
        line = f"{indent}def {name}(\n{inner}\n{indent}) -> {result}:{body}{note}"
    return line + ("\n\n" if doc and not indent else "\n")


def qualified(text: str) -> str:
    """Tensors have methods named as types are, so the types are written in full."""
    return re.sub(r"(?<=\W)(bool|int|float)\b|^(bool|int|float)$", r"builtins.\1\2", text)


def summary(function: Any) -> str | None:
    lines = (inspect.getdoc(function) or "").split("\n")
    first = " ".join(lines[: lines.index("")] if "" in lines else lines)
    return first if 0 < len(first) < WIDTH - 20 and "\\" not in first and not first.endswith('"') else None


def function(name: str, called: Any, result: str, flags: dict[str, str], indent: str = "", method: bool = False) -> str:
    parameters = list(inspect.signature(called).parameters.values())
    texts = {p.name: text_of(p) for p in parameters}
    if method:
        texts, result = {n: qualified(t) for n, t in texts.items()}, qualified(result)
        texts[parameters[0].name] = "self"
        parameters[0] = parameters[0].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    doc = summary(called)
    if not flags:
        return definition(name, listed(parameters, texts), result, indent, doc)
    overloads = []
    defaults = {flag: next(p.default for p in parameters if p.name == flag) for flag in flags}
    for flag, other in flags.items():
        chosen = {**texts, flag: f"{flag}: Literal[True]" + (" = True" if defaults[flag] else "")}
        overloads.append((listed(parameters, chosen, None if defaults[flag] else flag), other))
    plain = {**texts, **{flag: f"{flag}: Literal[False]" + ("" if defaults[flag] else " = False") for flag in flags}}
    overloads.append((listed(parameters, plain, next((f for f in flags if defaults[f]), None)), result))
    overloads.append((listed(parameters, texts), "Any"))
    return "".join(f"{indent}@overload\n" + definition(name, parts, of, indent, doc) for parts, of in overloads)


def ops_stub() -> str:
    out = [HEAD, "from typing import Any, Literal, overload\n\nimport numpy as np\n\nfrom .._core import Tensor\n"]
    out += [f"from .{module} import {name} as {name}\n" for name, module in sorted(ELSEWHERE.items())]
    out += ["from .classes import Form\n\n__all__: list[str]\n\n"]
    for name in ops.__all__:
        if name not in ELSEWHERE:
            result = "Any" if name in ANY else RETURNS.get(name, "Tensor")
            out.append(function(name, getattr(ops, name), result, FLAGS.get(name, {})))
    out.append("".join(f"{name}: Form\n" for name in sorted(FORMS)))
    return "".join(out)


TENSOR_HEAD = """\
import builtins
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from ._core import Mutable, Tensor

Operand: TypeAlias = Tensor | Mutable | np.ndarray[Any, Any] | np.generic | builtins.float | list[Any] | tuple[Any, ...]

class TensorMethods:
    # Only here: at run time the methods are Tensor's own.
"""


def tensor_stub() -> str:
    table = _methods._methods()
    same = {**{n: n for n in _methods._SAME.split()}, **_methods._RENAMED}
    both = {"max": "max", "min": "min"}
    out = []
    for name, method in sorted(table.items()):
        plain = name.strip("_")
        if name in same:
            text = function(name, getattr(ops, same[name]), RETURNS.get(same[name], "Tensor"), FLAGS.get(same[name], {}), "    ", True)
        elif isinstance(method, property):
            note = "" if name.islower() else "  # noqa: N802"
            text = f"    @property\n    def {name}(self) -> {METHODS.get(name, 'Tensor')}: ...{note}\n"
        elif plain in _methods._UNARY and name != plain:
            text = f"    def {name}(self) -> Tensor: ...\n"
        elif name in ("__eq__", "__ne__"):
            text = f"    def {name}(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
        elif plain in {*_methods._BINARY, *_methods._COMPARISONS, *(f"r{n}" for n in _methods._BINARY), "divmod"} and name != plain:
            text = f"    def {name}(self, other: Operand, /) -> {METHODS.get(name, 'Tensor')}: ...\n"
        elif name == "__hash__":
            text = "    def __hash__(self) -> builtins.int: ...\n"
        else:
            flags = {"return_indices": PAIR} if name in both else {}
            text = function(name, method, METHODS.get(name, "Tensor"), flags, "    ", True)
        out.append(text)
    out.append("    def __iter__(self) -> Iterator[Tensor]: ...\n    def __setitem__(self, index: Any, value: Any, /) -> None: ...\n")
    return HEAD + TENSOR_HEAD + "".join(out)


def stubs() -> dict[Path, str]:
    return {PACKAGE / "ops/__init__.pyi": ops_stub(), PACKAGE / "_tensor.pyi": tensor_stub()}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text)
