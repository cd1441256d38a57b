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
    file = code.co_filename
    text = "".join(linecache.getlines(file))
    if not text:
        file = inspect.getsourcefile(code) or file
        text = "".join(linecache.getlines(file)) or _typed_in(code) or ""
    if not text:
        raise UnsupportedError(
            f"{file}:{code.co_firstlineno}: the source of {code.co_name} isn't available, and @msvm.jit compiles source; put the "
            f"function in a file or a notebook cell"
        )
    try:
        node = _find(_functions_of(text, file, code.co_name == "<lambda>"), code)
    except SyntaxError as e:
        node = _in_a_page(text, code)
        if node is None:
            raise UnsupportedError(f"{file}:{e.lineno}: the source can't be read: {e.msg}") from None
    if node is None or (_changed_since_start(file) and not _same_code(code, file)):
        raise UnsupportedError(f"{file}:{code.co_firstlineno}: the file has changed since {code.co_name} was loaded; load the module again")
    return Source(node, file, code.co_name, frozenset((*code.co_varnames, *code.co_cellvars)))


@functools.lru_cache(maxsize=64)
def _functions_of(text: str, file: str, lambdas: bool) -> dict[tuple[str, int], list[Any]]:
    """Functions, or lambdas, by name and first line, as code objects have them."""
    found: dict[tuple[str, int], list[Any]] = {}
    tree = ast.parse(text, file)
    if lambdas:
        for n in ast.walk(tree):
            if isinstance(n, ast.Lambda):
                found.setdefault(("<lambda>", n.lineno), []).append(n)
        return found
    stack: list[Any] = [tree]
    while stack:
        n = stack.pop()
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([n.lineno, *(d.lineno for d in n.decorator_list)])
            found.setdefault((n.name, first), []).append(n)
        for field_name in ("body", "orelse", "finalbody", "handlers", "cases"):
            below = getattr(n, field_name, None)
            if isinstance(below, list):
                stack.extend(below)
    return found


def _in_a_page(text: str, code: types.CodeType) -> FunctionNode | None:
    """Of a file that holds more than Python: the function stands at its line."""
    lines = inspect.getblock(text.splitlines(keepends=True)[code.co_firstlineno - 1 :])
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError:
        return None
    ast.increment_lineno(tree, code.co_firstlineno - 1)
    return next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == code.co_name), None)


def _find(functions: dict[tuple[str, int], list[Any]], code: types.CodeType) -> FunctionNode | None:
    candidates = functions.get((code.co_name, code.co_firstlineno), [])
    if len(candidates) > 1:  # lambdas of one line: by where their instructions come from
        places = [p for p in code.co_positions() if p[0] is not None and p[2] is not None and p[3] != p[2]]
        candidates = [
            n for n in candidates if _covers(n, places) and not any(m is not n and _inside(m, n) and _covers(m, places) for m in candidates)
        ]
    if candidates and isinstance(candidates[0], ast.AsyncFunctionDef):
        raise UnsupportedError(
            f"{code.co_filename}:{code.co_firstlineno}: {code.co_name} is a coroutine; @msvm.jit compiles plain functions"
        )
    return candidates[0] if candidates else None


def _covers(node: Any, places: list[Any]) -> bool:
    body = node.body if isinstance(node, ast.Lambda) else node
    return all((body.lineno, body.col_offset) <= (a, c) and (b, d) <= (body.end_lineno, body.end_col_offset) for a, b, c, d in places)


def _inside(inner: Any, outer: Any) -> bool:
    return (outer.lineno, outer.col_offset) < (inner.lineno, inner.col_offset) and (inner.end_lineno, inner.end_col_offset) <= (
        outer.end_lineno,
        outer.end_col_offset,
    )


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


def names_in(target: ast.AST) -> set[str]:
    """Names within an assignment's target."""
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


def assigned_in(loop: Any) -> set[str]:
    """Names that a turn of a loop assigns to: its target, and those of statements within; walruses and nested functions aside."""
    targets: list[Any] = [loop.target] if type(loop) is ast.For else []
    statements: list[Any] = list(loop.body)
    while statements:
        s = statements.pop()
        if isinstance(s, ast.Assign):
            targets.extend(s.targets)
        elif isinstance(s, (ast.AugAssign, ast.AnnAssign, ast.For)):
            targets.append(s.target)
        if isinstance(s, (ast.For, ast.While, ast.If)):
            statements.extend([*s.body, *s.orelse])
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


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
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(n.name)
            continue
        if isinstance(n, ast.Lambda):
            continue
        if isinstance(n, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            stack.append(n.generators[0].iter)  # the rest has a scope of its own; walrus targets are rare and refused
            continue
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
            names.add(n.id)
        if isinstance(n, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in n.names)
        stack.extend(ast.iter_child_nodes(n))
    return names
