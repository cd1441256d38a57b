"""Runs a function's syntax tree over symbolic values: what is known is computed, the rest becomes instructions.

Statements are here; expressions in ``expressions``, calls in ``calls``, loops in ``loops``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from .._errors import Error, UnsupportedError, mark
from .build import Build
from .calls import Calls
from .captures import Captures
from .expressions import Expressions
from .join import Dead, Key, Restart, Variant, is_tensor, join
from .loops import Loop, Loops
from .printing import PendingException, emit_raise
from .refuted import Places, within
from .source import Source
from .state import Path, Ref, State, Unbound
from .values import Symbolic, SymBool, SymTensor

UNSUPPORTED = {
    ast.With: "a with statement; do it outside the function",
    ast.Try: "a try statement; exceptions that a program raises end it, catch them around the call",
    ast.ClassDef: "a class statement; define it outside the function",
    ast.AsyncFor: "async; @msvm.jit compiles plain functions",
    ast.AsyncWith: "async; @msvm.jit compiles plain functions",
    ast.AsyncFunctionDef: "async; @msvm.jit compiles plain functions",
    ast.Global: "a global statement: the function would change state outside; return the value instead",
    ast.Nonlocal: "a nonlocal statement: the function would change state outside; return the value instead",
    ast.Match: "a match statement; write if and elif",
    ast.Yield: "a generator; collect a list, or stack tensors with msvm.ops.stack",
    ast.YieldFrom: "a generator; collect a list, or stack tensors with msvm.ops.stack",
    ast.Await: "await; @msvm.jit compiles plain functions",
}


def not_supported(node: Any, kind: str) -> str:
    what, _, hint = UNSUPPORTED.get(type(node), f"{kind} of the kind {type(node).__name__}").partition("; ")
    return f"{what} isn't supported in a compiled function" + (f"; {hint}" if hint else "")


_COMPOUND = (ast.If, ast.For, ast.While)
_AT_RUN_TIME = (ArithmeticError, LookupError, ValueError, TypeError, NameError, AssertionError)
"""What a statement raises while it is compiled, and Python would raise when it runs."""


class Frame:
    """One function that is being run: the top one, or one that was called."""

    def __init__(
        self,
        number: int,
        source: Source,
        outer: int | None,
        real_globals: dict[str, Any],
        cells: dict[str, Any],
        local_names: frozenset[str],
    ) -> None:
        self.number = number
        self.source = source
        self.outer = outer
        self.globals = real_globals
        self.cells = cells
        self.local_names = local_names
        self.returns: list[Path] = []
        self.loops: list[Loop] = []
        self.keep = False


class Interpreter(Expressions, Calls, Loops):
    def __init__(self, build: Build, captures: Captures, loops: dict[Any, dict[Key, Variant]]) -> None:
        self.build = build
        self.core = build.core
        self.captures = captures
        self.loop_tables = loops
        self.state = State()
        self.alive = True
        self.frames: list[Frame] = []
        self.all_frames: dict[int, Frame] = {}
        self.site: list[Any] = []
        self.control = 0
        """Depth of branches and loops that are decided when the program runs."""
        self.argument_regs: set[int] = set()
        """Tensors that callers still hold."""
        self.refuted: Places = {}
        self.open_loops: list[Key] = []
        """Those around this place that loop when the program runs."""
        self.loops_tried: set[Key] | None = None
        self.loops_learnt = False
        self.loops_known: set[Key] = set()
        self.guessing = False
        self.named_regs: set[int] = set()
        self.reports: list[Callable[..., Any]] = []
        self.node: Any = None
        self.constants = set()
        self.frame_count = 0

    # --- places -----------------------------------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def place(self) -> str:
        line = getattr(self.node, "lineno", 0)
        return f"{self.frame.source.file}:{line}"

    def unsupported(self, what: str) -> NoReturn:
        raise UnsupportedError(what)

    def at(self, node: Any, function: Callable[..., Any], *args: Any) -> Any:
        """Calls it. Errors inside get the node's line; instructions get it as debug information."""
        outer = self.node
        self.node = node
        self.core.set_line(node.lineno, node.col_offset + 1)
        try:
            return function(*args)
        except (Restart, Dead, RecursionError):
            raise
        except Exception as e:
            self.name_place(e, node)
            raise
        finally:
            self.node = outer
            if outer is not None:
                self.core.set_line(outer.lineno, outer.col_offset + 1)

    def name_place(self, e: Exception, node: Any) -> None:
        if getattr(e, "_msvm_place", False):
            return
        where = f"{self.place()}: in {self.frame.source.name}"
        line = self.frame.source.line(node.lineno)
        if isinstance(e, Error):
            e.args = (f"{where}: {e}" + (f"\n    {line}" if line else ""),)
        else:
            e.add_note(f"  {where}: {line}")
        e._msvm_place = True  # type: ignore[attr-defined]

    def in_frame(self) -> None:
        """Instructions that follow are of the innermost function."""
        if self.frames:
            self.core.set_origins(self.frame.source.file, [f.source.name for f in self.frames])

    # --- functions --------------------------------------------------------------------------------------------------------

    def run_function(
        self, source: Source, arguments: dict[str, Any], outer: int | None, real_globals: dict[str, Any], cells: dict[str, Any]
    ) -> Any:
        if any(f.source.node is source.node for f in self.frames):
            self.unsupported(f"{source.name} calls itself; write recursion as a while loop")
        if len(self.frames) > 100:
            self.unsupported("more than 100 functions call one another")
        self.frame_count += 1
        frame = Frame(self.frame_count, source, outer, real_globals, cells, source.local_names)
        self.all_frames[frame.number] = frame
        self.state.frames[frame.number] = dict(arguments)
        self.site.append(("call", self.node and (self.node.lineno, self.node.col_offset)))
        outer_node = self.node
        self.frames.append(frame)
        self.in_frame()
        node = source.node
        value = None
        if isinstance(node, ast.Lambda):
            try:
                value = self.at(node.body, self.eval, node.body)
            except Dead:
                self.alive = False
        else:
            self.block(node.body)
            if self.alive:
                self.state.frames[frame.number]["return"] = None
                frame.returns.append(self.path())
            self.resume(frame.returns)
            if self.alive:
                value = self.state.frames[frame.number]["return"]
        if isinstance(value, Unbound):
            self.at(node.body if isinstance(node, ast.Lambda) else node, self.no_result, value)
        self.frames.pop()
        self.in_frame()
        self.node = outer_node
        self.site.pop()
        if not frame.keep:
            self.state.frames.pop(frame.number, None)
        if not self.alive:
            raise Dead
        if outer_node is not None:
            self.core.set_line(outer_node.lineno, outer_node.col_offset + 1)
        return value

    def no_result(self, value: Unbound) -> NoReturn:
        if value.loop is not None:
            self.value_from_loop(*value.loop)
        self.unsupported(f"the result can't be told: {value.why}; return a value of one kind on every way")

    def made(self, content: Any) -> Ref:
        """A list, dict or set of the function, on the path where it stands once the content has been evaluated."""
        return self.state.new(content)

    def path(self) -> Path:
        return Path(self.core.current(), self.state)

    def resume(self, paths: list[Path]) -> None:
        """Goes on where the paths meet; nowhere if there are none."""
        self.alive = bool(paths)
        if paths:
            self.state = join(paths)

    # --- statements -------------------------------------------------------------------------------------------------------

    def block(self, statements: list[Any]) -> None:
        for s in statements:
            if not self.alive:
                return
            self.at(s, self.statement, s)

    def statement(self, s: Any) -> None:
        handler = _STATEMENTS.get(type(s))
        if handler is None:
            self.unsupported(not_supported(s, "a statement"))
        try:
            if self.control and self.refuted and not isinstance(s, _COMPOUND):
                self.unless_refuted(s)
            handler(self, s)
        except Dead:
            self.alive = False
        except _AT_RUN_TIME as e:
            if not self.control or isinstance(e, UnsupportedError):
                raise
            self.core.trap(self.exception_text(e))  # Python minds only where it runs
            self.alive = False

    def unless_refuted(self, node: Any) -> None:
        """Ends this way of the program if the verifier found that the node is sure to fail here."""
        if self.refuted and (message := within(self.refuted, self.frame.source.file, node)):
            self.core.trap(message)
            self.alive = False
            raise Dead

    def do_Pass(self, s: ast.Pass) -> None:
        pass

    def do_Expr(self, s: ast.Expr) -> None:
        self.eval(s.value)

    def do_Import(self, s: ast.Import) -> None:
        import importlib

        for a in s.names:
            module = importlib.import_module(a.name)
            self.store_name(a.asname or a.name.split(".")[0], module if a.asname else importlib.import_module(a.name.split(".")[0]))

    def do_ImportFrom(self, s: ast.ImportFrom) -> None:
        import importlib

        package = self.frame.globals.get("__package__")
        module = importlib.import_module("." * s.level + (s.module or ""), package)
        for a in s.names:
            if a.name == "*":
                self.unsupported("import * inside a function")
            self.store_name(a.asname or a.name, getattr(module, a.name))

    def do_Assign(self, s: ast.Assign) -> None:
        value = self.eval(s.value)
        for target in s.targets:
            self.assign(target, value)

    def do_AnnAssign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            self.assign(s.target, self.eval(s.value))

    def do_AugAssign(self, s: ast.AugAssign) -> None:
        target = s.target
        if isinstance(target, ast.Name):
            old = self.load_name(target.id)
            new = self.augmented(s.op, old, self.eval(s.value))
            self.store_name(target.id, new)
        elif isinstance(target, ast.Subscript):
            container, index = self.eval(target.value), self.eval(target.slice)
            new = self.augmented(s.op, self.get_item(container, index), self.eval(s.value))
            self.set_item(container, index, new)
        else:
            self.unsupported("an update of an attribute: the function would change state outside; return the value instead")

    def augmented(self, op: ast.operator, old: Any, value: Any) -> Any:
        if isinstance(old, Ref) and old.kind is list and isinstance(op, ast.Add):
            self.state.content(old).extend(self.iterate(value))
            return old
        if is_tensor(old) and not isinstance(old, SymTensor):
            self.unsupported("an update in place of an array made at compile time; write x = x + y")
        return self.binary(op, old, value)

    def assign(self, target: Any, value: Any) -> None:
        if isinstance(target, ast.Name):
            if isinstance(value, SymTensor):
                value = self.named(value, target.id)
            self.store_name(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target.elts, value)
        elif isinstance(target, ast.Subscript):
            self.set_item(self.eval(target.value), self.eval(target.slice), value)
        elif isinstance(target, ast.Attribute):
            self.unsupported("an assignment to an attribute: the function would change state outside; return the value instead")
        else:
            self.unsupported(f"an assignment to a {type(target).__name__}")

    def named(self, t: SymTensor, name: str) -> SymTensor:
        """The first name stays; in the report of shapes another one is a row of its own."""
        if t.reg not in self.named_regs:
            self.named_regs.add(t.reg)
            self.core.set_name(t.reg, name)
        elif self.captures.declared is not None:
            t = SymTensor(self.core.identity(t.reg))
            self.named_regs.add(t.reg)
            self.core.set_name(t.reg, name)
        return t

    def unpack(self, targets: list[Any], value: Any) -> None:
        items = list(self.iterate(value))
        star = next((k for k, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
        if star is None:
            if len(items) != len(targets):
                raise ValueError(
                    f"not enough values to unpack (expected {len(targets)}, got {len(items)})"
                    if len(items) < len(targets)
                    else f"too many values to unpack (expected {len(targets)})"
                )
            for t, v in zip(targets, items, strict=True):
                self.assign(t, v)
            return
        after = len(targets) - star - 1
        if len(items) < star + after:
            raise ValueError(f"not enough values to unpack (expected at least {star + after}, got {len(items)})")
        for t, v in zip(targets[:star], items[:star], strict=True):
            self.assign(t, v)
        self.assign(targets[star].value, self.made(items[star : len(items) - after]))
        for t, v in zip(targets[star + 1 :], items[len(items) - after :], strict=True):
            self.assign(t, v)

    def do_Delete(self, s: ast.Delete) -> None:
        for t in s.targets:
            if isinstance(t, ast.Subscript):
                owner, index = self.eval(t.value), self.eval(t.slice)
                content = self.state.content(owner)
                if not isinstance(owner, Ref) or owner.frozen or not isinstance(content, (list, dict)) or isinstance(index, Symbolic):
                    self.unsupported("del of an element of anything but a list or dict that the function made")
                del content[index]
                continue
            if not isinstance(t, ast.Name):
                self.unsupported("del of an attribute: the function would change state outside")
            self.load_name(t.id)
            self.state.frames[self.frame.number].pop(t.id, None)

    def do_FunctionDef(self, s: ast.FunctionDef) -> None:
        if s.decorator_list:
            self.unsupported("a decorator inside a compiled function")
        self.store_name(s.name, self.closure(s, s.name))

    def do_Return(self, s: ast.Return) -> None:
        value = None if s.value is None else self.eval(s.value)
        self.state.frames[self.frame.number]["return"] = value
        self.frame.returns.append(self.path())
        self.alive = False

    def do_Break(self, s: ast.Break) -> None:
        self.frame.loops[-1].breaks.append(self.path())
        self.alive = False

    def do_Continue(self, s: ast.Continue) -> None:
        self.frame.loops[-1].continues.append(self.path())
        self.alive = False

    def do_Raise(self, s: ast.Raise) -> None:
        if s.exc is None:
            self.unsupported("raise without an exception")
        if s.cause is not None and not (isinstance(s.cause, ast.Constant) and s.cause.value is None):
            self.unsupported("raise from another exception")
        exception = self.eval(s.exc)
        if isinstance(exception, type) and issubclass(exception, BaseException):
            exception = exception()
        self.end_with(exception)

    def end_with(self, exception: Any) -> None:
        """Ends the program on this way."""
        if isinstance(exception, PendingException):
            emit_raise(self, exception)
            self.core.trap(f"{exception.cls.__name__} ({self.place()})")
        elif isinstance(exception, BaseException):
            self.core.trap(self.exception_text(exception))
        else:
            raise TypeError("exceptions must derive from BaseException")
        self.alive = False

    def do_Assert(self, s: ast.Assert) -> None:
        condition = self.test(s.test)
        if condition is True:
            return
        if condition is False or not (s.msg is None or isinstance(s.msg, ast.Constant)):  # the message is computed only where it is needed
            holds, fails = self.fork(condition) if isinstance(condition, SymBool) else (None, self.path())
            self.enter(fails)
            args = [] if s.msg is None else [self.eval(s.msg)]
            self.end_with(self.exception(AssertionError, args, {}))
            if holds is not None:
                self.enter(holds)
        else:
            error = AssertionError() if s.msg is None else AssertionError(s.msg.value)
            self.core.shape_assert(condition.reg, self.exception_text(error))

    def exception_text(self, e: BaseException) -> str:
        """What the program ends with, from which the caller's side makes the exception again."""
        return f"{mark(type(e), e.args)}{type(e).__name__}: {e} ({self.place()})"

    def do_If(self, s: ast.If) -> None:
        condition = self.test(s.test)
        if isinstance(condition, bool):
            self.block(s.body if condition else s.orelse)
            return
        ends: list[Path] = []
        for path, body in zip(self.fork(condition), (s.body, s.orelse), strict=True):
            self.enter(path)
            self.control += 1
            self.block(body)
            self.control -= 1
            if self.alive:
                ends.append(self.path())
        self.resume(ends)

    def fork(self, condition: SymBool) -> tuple[Path, Path]:
        """The ways after a branch: where the condition holds, and where it doesn't."""
        yes, no = self.core.new_block(), self.core.new_block()
        self.core.branch_if(condition.reg, yes, no)
        return Path(yes, self.state.clone()), Path(no, self.state)

    def value_on(self, path: Path, name: str, evaluate: Callable[[], Any], ends: list[Path], node: Any = None) -> None:
        """Evaluates on one way of a fork, into a variable."""
        self.enter(path)
        self.control += 1
        site = len(self.site)
        try:
            if node is None:
                self.store_name(name, evaluate())
            else:
                self.unless_refuted(node)
                self.store_name(name, self.at(node, evaluate))
            ends.append(self.path())
        except Dead:
            del self.site[site:]
        self.control -= 1

    def joined_value(self, name: str, ends: list[Path]) -> Any:
        self.resume(ends)
        if not self.alive:
            raise Dead
        return self.bound(name, self.state.frames[self.frame.number].pop(name))

    def enter(self, path: Path) -> None:
        self.core.set_block(path.block)
        self.state, self.alive = path.state, True


Interpreter.handlers = {getattr(ast, name[3:]): getattr(Interpreter, name) for name in dir(Interpreter) if name.startswith("ev_")}
_STATEMENTS: dict[type, Callable[[Any, Any], None]] = {
    getattr(ast, name[3:]): getattr(Interpreter, name) for name in dir(Interpreter) if name.startswith("do_")
}
