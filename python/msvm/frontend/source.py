"""The source of a function as a syntax tree, with the places of its lines."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import sys
import textwrap
import time
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._errors import UnsupportedError

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """One function. ``node`` has line numbers of ``file``."""

    node: FunctionNode
    file: str
    name: str
    local_names: frozenset[str] = field(hash=False)
    cache: dict[Any, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)

    def line(self, number: int) -> str:
        return linecache.getline(self.file, number).strip()


@functools.lru_cache(maxsize=4096)
def source_of(code: types.CodeType) -> Source:
    """Raises ``UnsupportedError`` where there is no source to read."""
    file = inspect.getsourcefile(code) or code.co_filename
    lines, first = _lines_of(code, file)
    text = textwrap.dedent("".join(lines))
    margin = len(lines[0]) - len(lines[0].lstrip())
    try:
        tree: ast.AST = ast.parse(text)
    except SyntaxError:
        tree = _parse_part(text)  # a lambda inside an expression
    node = _find(tree, code, first)
    if node is None:
        raise UnsupportedError(
            f"{file}:{code.co_firstlineno}: the source of {code.co_name} doesn't hold it; has the file changed since it was loaded?"
        )
    if _changed_since_start(file) and not _same_code(code, file):
        raise UnsupportedError(f"{file}:{code.co_firstlineno}: the file has changed since {code.co_name} was loaded; load the module again")
    ast.increment_lineno(node, first - 1)
    if margin:
        for n in ast.walk(node):
            if hasattr(n, "col_offset"):
                n.col_offset += margin
    return Source(node, file, code.co_name, frozenset(stored_names(node)))


def _process_start() -> float:
    """Seconds since the epoch."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0  # every file is compared


_START = _process_start()


def _changed_since_start(file: str) -> bool:
    try:
        return Path(file).stat().st_mtime > _START
    except OSError:
        return False


def _same_code(code: types.CodeType, file: str) -> bool:
    """Whether the file, as it is now, holds the function as it was loaded."""
    try:
        made = compile("".join(linecache.getlines(file)), file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    stack = [made]
    while stack:
        found = stack.pop()
        if found.co_name == code.co_name and _equal(code, found):
            return True
        stack.extend(c for c in found.co_consts if isinstance(c, types.CodeType))
    return False


def _equal(a: types.CodeType, b: types.CodeType) -> bool:
    if a.co_code != b.co_code or a.co_names != b.co_names or a.co_varnames != b.co_varnames or len(a.co_consts) != len(b.co_consts):
        return False
    return all(
        _equal(x, y) if isinstance(x, types.CodeType) and isinstance(y, types.CodeType) else type(x) is type(y) and repr(x) == repr(y)
        for x, y in zip(a.co_consts, b.co_consts, strict=True)
    )


def _lines_of(code: types.CodeType, file: str) -> tuple[list[str], int]:
    try:
        return inspect.getsourcelines(code)
    except (OSError, TypeError):
        pass
    text = _typed_in(code) if file.startswith("<") else None
    if text is None:
        raise UnsupportedError(
            f"{file}:{code.co_firstlineno}: the source of {code.co_name} isn't available, and @msvm.jit compiles source; put "
            f"the function in a file or a notebook cell"
        )
    lines = text.splitlines(keepends=True)
    return inspect.getblock(lines[code.co_firstlineno - 1 :]), code.co_firstlineno


def _typed_in(code: types.CodeType) -> str | None:
    """What was given to ``python -c``, or typed at the prompt."""
    if code.co_filename == "<string>" and "-c" in sys.orig_argv:
        return sys.orig_argv[sys.orig_argv.index("-c") + 1]
    if code.co_filename != "<stdin>":
        return None
    try:
        import readline
    except ImportError:
        return None
    lines: list[str] = []
    for k in range(readline.get_current_history_length(), 0, -1):
        lines.insert(0, (readline.get_history_item(k) or "") + "\n")
        if lines[0].startswith(f"def {code.co_name}("):
            while k > 1 and (readline.get_history_item(k - 1) or "").startswith("@"):
                k -= 1
                lines.insert(0, (readline.get_history_item(k) or "") + "\n")
            return "\n" * (code.co_firstlineno - 1) + "".join(inspect.getblock(lines))
    return None


def _parse_part(text: str) -> ast.AST:
    start = text.find("lambda")
    for end in range(len(text), start, -1):
        try:
            return ast.parse(text[start:end], mode="eval")
        except SyntaxError:
            continue
    return ast.Module([], [])


def _find(tree: ast.AST, code: types.CodeType, first: int) -> FunctionNode | None:
    wanted = code.co_name
    found: list[FunctionNode] = []
    for node in ast.walk(tree):
        if (
            wanted == "<lambda>"
            and isinstance(node, ast.Lambda)
            and _parameters(node) == code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        ):
            found.append(node)
        elif isinstance(node, ast.FunctionDef) and node.name == wanted:
            return node
        elif isinstance(node, ast.AsyncFunctionDef) and node.name == wanted:
            raise UnsupportedError(f"{code.co_filename}:{first}: {wanted} is a coroutine; @msvm.jit compiles plain functions")
    if len(found) > 1:
        raise UnsupportedError(
            f"{code.co_filename}:{first}: several lambdas with the same parameters in one statement; give the function a name with def"
        )
    return found[0] if found else None


def _parameters(node: FunctionNode) -> tuple[str, ...]:
    a = node.args
    return tuple(x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs])


def stored_names(node: Any) -> set[str]:
    """Names that the function binds: parameters, assignments, loop variables, nested functions."""
    names: set[str] = set()
    a = node.args
    for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
        if x is not None:
            names.add(x.arg)
    stack: list[Any] = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        n = stack.pop()
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(n.name)
            continue
        if isinstance(n, ast.Lambda):
            continue
        if isinstance(n, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack.append(n.generators[0].iter)  # the rest has a scope of its own; walrus targets are rare and refused
            continue
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del):
            names.add(n.id)
        if isinstance(n, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).split(".")[0] for alias in n.names)
        stack.extend(ast.iter_child_nodes(n))
    return names
