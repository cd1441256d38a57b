"""Expressions of a compiled function."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .base import Base
from .captures import trusted
from .join import PEEL, Restart, Variant, describe, is_tensor, kind_of
from .lists import SymList, element_of
from .ranges import SymRange, SymSequence
from .records import class_of, not_a_sequence
from .source import Source, names_in, stored_names
from .state import Path, Ref, Unbound, is_tuple, tuple_like
from .values import Symbolic, SymBool, SymFloat, SymInt, SymTensor, logical_and, logical_not, logical_or, read

_CONVERSIONS: dict[int, Any] = {115: str, 114: repr, 97: ascii}
_BINARY: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type, Any] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_COMPARE: dict[type, Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Part:
    """A value in a string, and how it was written."""

    def __init__(self, value: Any, source: str, conversion: str = "", spec: str = "") -> None:
        self.value = value
        self.source = source
        self.conversion = conversion
        self.spec = spec


class Text:
    """A string with parts that are known only when the program runs: plain strings and ``Part``."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts


class Closure:
    """A function or lambda that was defined inside the compiled one."""

    def __init__(self, source: Source, frame: int, defaults: list[Any], kw_defaults: list[Any]) -> None:
        self.source = source
        self.frame = frame
        self.defaults = defaults
        self.kw_defaults = kw_defaults


class BoundMethod:
    """A method of a container, or of a value, that waits for its arguments."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name


class Expressions(Base):
    def eval(self, node: Any) -> Any:
        handler = self.handlers.get(type(node))
        if handler is None:
            from .interpret import not_supported

            self.unsupported(not_supported(node, "an expression"))
        return handler(self, node)

    # --- names ------------------------------------------------------------------------------------------------------------

    def ev_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def ev_Name(self, node: ast.Name) -> Any:
        return self.load_name(node.id)

    def load_name(self, name: str) -> Any:
        frame = self.frames[-1]
        v = self.state.frames[frame.number].get(name, frame)
        if v is not frame:
            return self.bound(name, v) if isinstance(v, Unbound) else v
        if name in frame.local_names:
            if self.open_loops and PEEL not in self.loop_tables[self.open_loops[-1]]:  # perhaps it has a value from the first turn on
                self.loop_tables[self.open_loops[-1]][PEEL] = Variant()
                raise Restart(self.open_loops[-1])
            raise UnboundLocalError(f"{name} has no value yet")
        outer = frame.outer
        while outer is not None:
            names = self.state.frames.get(outer, {})
            if name in names:
                return self.bound(name, names[name])
            frame = self.all_frames[outer]
            outer = frame.outer
        if name in frame.cells:
            cell = frame.cells[name]
            try:
                return self.captures.take(cell.cell_contents, ("cell", cell), name)
            except ValueError:
                raise NameError(f"{name} has no value yet in the enclosing scope") from None
        if name in frame.globals:
            v = frame.globals[name]
            if (id(frame.globals), name) in self.constants:
                return v
            taken = self.captures.take(v, ("global", frame.globals, name), name)
            if taken is v and isinstance(v, (types.ModuleType, types.FunctionType, type)):
                self.constants.add((id(frame.globals), name))
            return taken
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name '{name}' is not defined")

    def bound(self, name: str, v: Any) -> Any:
        if isinstance(v, Unbound):
            if v.loop is not None:
                self.value_from_loop(*v.loop)
            self.unsupported(f"{name} can't be used here: {v.why}; give it a value of one kind on every way that leads here")
        return v

    def store_name(self, name: str, v: Any) -> None:
        self.state.frames[self.frames[-1].number][name] = v

    def ev_NamedExpr(self, node: ast.NamedExpr) -> Any:
        v = self.eval(node.value)
        self.store_name(node.target.id, v)
        return v

    # --- attributes and elements ------------------------------------------------------------------------------------------

    def ev_Attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.eval(node.value), node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        if type(owner) is types.ModuleType and trusted(owner.__name__):
            return getattr(owner, name)
        if isinstance(owner, (Ref, list, dict, set, str, Text)):
            return BoundMethod(owner, name)
        if isinstance(owner, Symbolic):
            if isinstance(owner, (SymInt, SymFloat, SymBool)):
                return self.number_attribute(owner, name)
            try:
                return getattr(owner, name)
            except AttributeError:
                raise AttributeError(f"a tensor has no attribute '{name}'") from None
        if (cls := class_of(owner)) is not None:
            return self.record_attribute(owner, cls, name)
        if isinstance(owner, (Closure, BoundMethod)):
            raise AttributeError(f"'function' object has no attribute '{name}'")
        if isinstance(owner, types.ModuleType):
            v = getattr(owner, name)
            if isinstance(v, types.ModuleType):
                return v
            return self.captures.take(v, ("attr", owner, name), name)
        if isinstance(owner, type) and trusted(owner.__module__):
            return getattr(owner, name)
        static = _static(owner, name)
        if isinstance(static, property) and not trusted(type(owner).__module__):
            return self.call(static.fget, [owner], {})
        v = getattr(owner, name)
        if isinstance(v, (types.MethodType, types.BuiltinMethodType)) or isinstance(owner, (int, float, tuple, np.ndarray, slice, range)):
            return v
        return self.captures.take(v, ("attr", owner, name), name)

    def record_attribute(self, record: Any, cls: type, name: str) -> Any:
        """Of an object of a dataclass that the function made."""
        if name in record._fields:
            return getattr(record, name)
        found = inspect.getattr_static(cls, name, None)
        if isinstance(found, property):
            return self.call(found.fget, [record], {})
        if isinstance(found, types.FunctionType):
            return functools.partial(found, record)
        return getattr(cls, name)

    def number_attribute(self, owner: Any, name: str) -> Any:
        if name not in ("value", "real", "numerator") or isinstance(owner, SymBool):
            self.unsupported(f"the attribute {name} of a number that is known only when the program runs")
        return owner

    def ev_Subscript(self, node: ast.Subscript) -> Any:
        return self.get_item(self.eval(node.value), self.eval(node.slice))

    def ev_Slice(self, node: ast.Slice) -> Any:
        return slice(*(None if x is None else self.eval(x) for x in (node.lower, node.upper, node.step)))

    def get_item(self, owner: Any, index: Any) -> Any:
        if isinstance(owner, SymTensor):
            return another(owner[self.state.plain(index)], [owner])  # type: ignore[index]
        not_a_sequence(owner, "subscriptable")
        content = self.state.content(owner)
        if isinstance(content, Unbound):
            self.unsupported(content.why)
        if isinstance(content, SymList):
            if not isinstance(index, (int, SymInt)):
                self.unsupported("a slice of a list that a loop makes; stack it with msvm.ops.stack and slice that")
            return content.get(index)
        if isinstance(index, SymInt) or (
            isinstance(index, slice) and any(isinstance(x, Symbolic) for x in (index.start, index.stop, index.step))
        ):
            if isinstance(content, (list, tuple)) and isinstance(index, SymInt):
                return self.choose(list(content), index)
            if is_tensor(content):
                from .values import as_tensor

                return as_tensor(content)[index]  # type: ignore[index]
            self.unsupported(
                f"an index into a {type(content).__name__} that is known only when the program runs; stack the tensors with "
                f"msvm.ops.stack and index that"
            )
        if isinstance(owner, SymRange):
            return owner.start + index * owner.step
        self.captures.watch(content)
        v = content[self.state.plain(index)] if not isinstance(content, dict) else content[index]
        return self.made(v) if isinstance(owner, Ref) and isinstance(v, list) and isinstance(index, slice) else v

    def choose(self, items: list[Any], index: SymInt) -> Any:
        """One of a few values by a size."""
        from ..ops._index import position
        from .values import as_tensor

        if items and all(kind_of(v) == "int" for v in items):
            return read(as_tensor(items)[index])  # type: ignore[index]
        place = position(index, len(items), 0)
        if not all(is_tensor(v) for v in items):
            return self.one_of(items, place)
        tensors = [as_tensor(v) for v in items]
        if len({(t.dtype, t.ndim) for t in tensors}) > 1:
            return self.one_of(items, place)
        return element_of(tensors, place)

    def one_of(self, items: list[Any], place: Any) -> Any:
        """By branches."""
        here = place == 0
        if len(items) == 1 or here is True:
            return items[0]
        if here is False:
            return self.one_of(items[1:], place - 1)
        ends: list[Path] = []
        taken, other = self.fork(here)
        self.value_on(taken, "an element by its index", lambda: items[0], ends)
        self.value_on(other, "an element by its index", lambda: self.one_of(items[1:], place - 1), ends)
        return self.joined_value("an element by its index", ends)

    def set_item(self, owner: Any, index: Any, value: Any) -> None:
        if isinstance(owner, SymTensor):
            if owner.reg in self.argument_regs:
                self.unsupported(
                    "an element of an argument, or of a tensor from outside, is assigned, which would have to change there; work on a copy "
                    "(x = x + 0, or msvm.ops.identity(x)) and return it"
                )
            if owner.reg in self.build.listed:
                self.unsupported("an element of a tensor is assigned that a list which a loop makes holds, too; append a copy (y + 0)")
            if owner.reg in self.build.shared:
                self.unsupported(
                    "an element of a tensor is assigned that is another variable's, too, on some ways that lead here but not on all; "
                    "work on a copy (y = y + 0)"
                )
            from ..ops._index import setitem

            self.state.replace(owner, setitem(owner, self.state.plain(index), self.state.plain(value)))
            return
        if isinstance(owner, Ref):
            if isinstance(index, Symbolic):
                self.unsupported("an index into a list or dict that is known only when the program runs")
            if owner.frozen:
                self.unsupported(
                    f"an assignment into a {owner.kind.__name__} that is one of several, by the way that was taken; copy it first"
                )
            content = self.state.content(owner)
            if isinstance(content, Unbound):
                self.unsupported(content.why)
            if isinstance(content, SymList):
                self.unsupported(
                    "an assignment into a list that a loop makes; append to it, or stack it and assign to the tensor's elements"
                )
            content[index] = list(self.iterate(value)) if isinstance(index, slice) else value
            return
        if isinstance(owner, np.ndarray):
            self.unsupported("an assignment into an array that was made at compile time; use msvm.ops.zeros and the like")
        self.unsupported(
            f"an assignment into a {type(owner).__name__} from outside the function: it would change state there; return the value instead"
        )

    # --- operators --------------------------------------------------------------------------------------------------------

    def ev_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(node.op, self.eval(node.left), self.eval(node.right))

    def binary(self, op: ast.operator, a: Any, b: Any) -> Any:
        x, y = self.state.content(a), self.state.content(b)
        for v in (x, y):
            if isinstance(v, Unbound):
                self.unsupported(v.why)
        if isinstance(op, ast.Mod) and isinstance(x, str):
            return self.format_percent(x, y)
        if isinstance(op, ast.Add) and (isinstance(x, Text) or isinstance(y, Text)):
            return Text([*self.parts(x), *self.parts(y)])
        result = _BINARY[type(op)](x, y)
        return self.made(result) if type(result) in (list, dict, set) else result

    def ev_UnaryOp(self, node: ast.UnaryOp) -> Any:
        v = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            return logical_not(self.truth(v))
        if isinstance(v, SymBool):
            self.unsupported("arithmetic on a bool that is known only when the program runs")
        return _UNARY[type(node.op)](v)

    def ev_BoolOp(self, node: ast.BoolOp) -> Any:
        return self.bool_chain(node.values, isinstance(node.op, ast.And), self.eval)

    def bool_chain(self, nodes: list[Any], both: bool, evaluate: Callable[[Any], Any]) -> Any:
        """The operand that decides, as Python gives it; the rest is evaluated only where it is needed."""
        first = evaluate(nodes[0])
        if len(nodes) == 1:
            return first
        condition = self.truth(first)
        if isinstance(condition, bool):
            return first if condition != both else self.bool_chain(nodes[1:], both, evaluate)
        if not isinstance(first, SymBool):
            self.unsupported(
                "the value of and/or between tensors or numbers that are known only when the program runs; write msvm.ops.logical_and, "
                "or compare first"
            )
        if all(_simple(n) for n in nodes[1:]):
            rest = self.truth(self.bool_chain(nodes[1:], both, evaluate))
            return logical_and(condition, rest) if both else logical_or(condition, rest)
        ends: list[Path] = []
        taken, other = self.fork(condition)
        for path, on in ((taken, both), (other, not both)):
            self.value_on(
                path,
                "and/or",
                lambda: self.truth(self.bool_chain(nodes[1:], both, evaluate)) if on else not both,  # noqa: B023 - called at once
                ends,
            )
        return self.joined_value("and/or", ends)

    def ev_Compare(self, node: ast.Compare) -> Any:
        left = self.eval(node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.eval(right_node)
            one = self.compare(op, left, right)
            if len(node.ops) == 1:
                return one
            result = logical_and(self.truth(result), self.truth(one))
            left = right
        return result

    def compare(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        if isinstance(a, Text) or isinstance(b, Text):
            self.unsupported("a comparison of a string that is known only when the program runs")
        if isinstance(op, (ast.Is, ast.IsNot)):
            if isinstance(a, (SymInt, SymFloat, SymBool)) and b is not None:
                self.unsupported("is, of a number that is known only when the program runs; write ==")
            same = a is b or (isinstance(a, Ref) and isinstance(b, Ref) and a.number == b.number)
            return same == isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.contains(a, b)
            return found if isinstance(op, ast.In) else logical_not(found)
        x, y = self.state.plain(a), self.state.plain(b)
        if class_of(x) is not class_of(y) and isinstance(op, (ast.Eq, ast.NotEq)):
            return isinstance(op, ast.NotEq)
        if isinstance(x, (tuple, list)) and type(x) is type(y) and isinstance(op, (ast.Eq, ast.NotEq)) and _any_symbolic(x, y):
            equal = self.equal_items(x, y)
            return equal if isinstance(op, ast.Eq) else logical_not(equal)
        return _COMPARE[type(op)](x, y)

    def equal_items(self, x: Any, y: Any) -> Any:
        if len(x) != len(y):
            return False
        result: Any = True
        for p, q in zip(x, y, strict=True):
            one = self.equal_items(p, q) if isinstance(p, (tuple, list)) and type(p) is type(q) else self.truth(p == q)
            result = logical_and(result, one)
        return result

    def contains(self, item: Any, container: Any) -> Any:
        content = self.state.plain(container)
        if isinstance(content, str) or not _any_symbolic((item,), tuple(content)):
            return item in content
        result: Any = False
        for x in content:
            result = logical_or(result, self.truth(x == item))
        return result

    def ev_IfExp(self, node: ast.IfExp) -> Any:
        condition = self.test(node.test)
        if isinstance(condition, bool):
            return self.eval(node.body if condition else node.orelse)
        ends: list[Path] = []
        for path, branch in zip(self.fork(condition), (node.body, node.orelse), strict=True):
            self.value_on(path, "a conditional expression", lambda: self.eval(branch), ends, branch)  # noqa: B023 - called at once
        return self.joined_value("a conditional expression", ends)

    def test(self, node: Any) -> Any:
        """What a condition comes to: of and, or, not the truth of each operand, as far as it is needed."""
        if isinstance(node, ast.BoolOp):
            return self.bool_chain(node.values, isinstance(node.op, ast.And), self.test)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return logical_not(self.test(node.operand))
        return self.truth(self.eval(node))

    def truth(self, v: Any) -> Any:
        """bool or SymBool: what ``if`` asks."""
        if isinstance(v, (bool, SymBool)):
            return v
        if isinstance(v, SymInt):
            return v != 0
        if isinstance(v, SymFloat):
            return v != 0.0
        if isinstance(v, SymTensor):
            return self.tensor_truth(v)
        if isinstance(v, Ref):
            content = self.state.content(v)
            if isinstance(content, Unbound):
                self.unsupported(content.why)
            return content.length != 0 if isinstance(content, SymList) else bool(content)
        if isinstance(v, SymRange):
            return v.count != 0
        if is_tensor(v) and getattr(v, "size", 1) != 1:
            raise ValueError("the truth value of a tensor with other than one element is ambiguous; use .any() or .all()")
        return bool(v)

    def tensor_truth(self, t: SymTensor) -> Any:
        n = t.size
        one = n == 1
        if one is False:
            raise ValueError(f"the truth value of a tensor of shape {t.shape} is ambiguous; use .any() or .all()")
        if one is not True:
            self.core.shape_assert(
                one.reg,
                self.exception_text(
                    ValueError("the truth value of a tensor with other than one element is ambiguous; use .any() or .all()")
                ),
            )
        v = read(t, *([0] * t.ndim))
        return v if isinstance(v, (bool, SymBool)) else v != 0

    # --- containers -------------------------------------------------------------------------------------------------------

    def ev_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.elements(node.elts))

    def ev_List(self, node: ast.List) -> Any:
        return self.made(self.elements(node.elts))

    def ev_Set(self, node: ast.Set) -> Any:
        items = self.elements(node.elts)
        if _any_symbolic(items):
            self.unsupported("a set of values that are known only when the program runs")
        return self.made(set(items))

    def elements(self, nodes: list[Any]) -> list[Any]:
        out: list[Any] = []
        for n in nodes:
            if isinstance(n, ast.Starred):
                out.extend(self.iterate(self.eval(n.value)))
            else:
                out.append(self.eval(n))
        return out

    def ev_Dict(self, node: ast.Dict) -> Any:
        out: dict[Any, Any] = {}
        for k, v in zip(node.keys, node.values, strict=True):
            if k is None:
                more = self.eval(v)
                out.update(self.state.content(more))
            else:
                key = self.eval(k)
                if _any_symbolic((key,)):
                    self.unsupported("a key of a dict that is known only when the program runs")
                out[key] = self.eval(v)
        return self.made(out)

    def iterate(self, v: Any) -> Iterator[Any]:
        """The elements, whose number must be known."""
        not_a_sequence(v, "iterable")
        content = self.state.content(v)
        if isinstance(content, Unbound):
            self.unsupported(content.why)
        if isinstance(content, SymRange):
            if not isinstance(content.count, int):
                self.unsupported(
                    "a range whose length is known only when the program runs can't be taken apart here; loop over it with a for statement"
                )
            return iter([content.start + k * content.step for k in range(content.count)])
        if isinstance(content, SymSequence):
            self.unsupported("zip, enumerate or reversed of unknown length can't be taken apart here; loop over it with a for statement")
        if isinstance(content, SymTensor):
            n = content.shape[0] if content.shape else None
            if n is None:
                raise TypeError("iteration over a tensor of rank 0")
            if not isinstance(n, int):
                self.unsupported(
                    "iteration over a tensor whose first size is known only when the program runs; loop over it with a for statement"
                )
            return iter([content[k] for k in range(n)])  # type: ignore[index]
        if isinstance(content, SymList):
            self.unsupported("a list that a loop makes can't be taken apart here; loop over it with a for statement, or stack it")
        if is_tuple(content):
            return iter(content)
        self.captures.watch(content)
        if isinstance(content, Symbolic):
            raise TypeError(f"{describe(content)} is not iterable")
        if type(content).__module__.split(".")[0] not in ("builtins", "numpy", "msvm", "itertools", "collections") and hasattr(
            type(content), "__iter__"
        ):
            return iter(self.iterate(self.call(type(content).__iter__, [content], {})))
        return iter(list(content))

    def ev_Starred(self, node: ast.Starred) -> Any:
        self.unsupported("* here")

    # --- comprehensions ---------------------------------------------------------------------------------------------------

    def ev_ListComp(self, node: ast.ListComp) -> Any:
        return self.list_of(node)

    def list_of(self, node: ast.ListComp | ast.GeneratorExp) -> Any:
        iterable = self.eval(node.generators[0].iter)
        if len(node.generators) == 1 and self.runtime_count(iterable) is not None:
            return self.appended(node, iterable)
        return self.made(self.comprehension(node, lambda: self.eval(node.elt), iterable))

    def ev_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self.list_of(node)

    def appended(self, node: ast.ListComp | ast.GeneratorExp, iterable: Any) -> Any:
        """A comprehension over what is known only when the program runs: a loop that appends."""
        cache = self.frame.source.cache
        key = ("loop", id(node))
        if key not in cache:
            g = node.generators[0]
            add: ast.stmt = ast.Expr(ast.Call(ast.Attribute(ast.Name("list of", ast.Load()), "append", ast.Load()), [node.elt], []))
            for test in reversed(g.ifs):
                add = ast.If(test, [add], [])
            loop = ast.copy_location(ast.For(g.target, ast.Name("looped over", ast.Load()), [add], []), node)
            cache[key] = ast.fix_missing_locations(loop)
        loop = cache[key]
        with self.own_names(names_in(loop.target) | {"list of", "looped over"}):
            result = self.made([])
            self.store_name("list of", result)
            self.store_name("looped over", iterable)
            self.do_For(loop)
        return result

    def ev_SetComp(self, node: ast.SetComp) -> Any:
        return self.made(set(self.comprehension(node, lambda: self.eval(node.elt), self.eval(node.generators[0].iter))))

    def ev_DictComp(self, node: ast.DictComp) -> Any:
        return self.made(
            dict(self.comprehension(node, lambda: (self.eval(node.key), self.eval(node.value)), self.eval(node.generators[0].iter)))
        )

    @contextlib.contextmanager
    def own_names(self, names: set[str]) -> Iterator[None]:
        """A scope within the function: what these names mean outside is hidden, and there again behind it."""
        frame = self.frame
        outside = self.state.frames[frame.number]
        hidden = {k: outside[k] for k in names if k in outside}
        local_names = frame.local_names
        frame.local_names = local_names | names
        try:
            yield
        finally:  # a restart leaves too
            frame.local_names = local_names
        outside = self.state.frames[frame.number]  # a loop may have made another dictionary
        for k in names:
            outside.pop(k, None)
        outside.update(hidden)

    def comprehension(self, node: Any, item: Any, first: Any) -> list[Any]:
        """``first``: what the first generator runs over; like Python, it is evaluated once, outside the scope of the targets."""
        out: list[Any] = []

        def level(k: int) -> None:
            if k == len(node.generators):
                out.append(item())
                return
            g = node.generators[k]
            for x in self.iterate(self.eval(g.iter) if k else first):
                self.assign(g.target, x)
                keep: Any = True
                for test in g.ifs:
                    keep = self.test(test)
                    if isinstance(keep, SymBool):
                        self.unsupported("a condition of a comprehension that is known only when the program runs")
                    if not keep:
                        break
                if keep:
                    level(k + 1)

        with self.own_names(set().union(*(names_in(g.target) for g in node.generators))):
            level(0)
        return out

    # --- functions and text -----------------------------------------------------------------------------------------------

    def ev_Lambda(self, node: ast.Lambda) -> Any:
        return self.closure(node, "<lambda>")

    def closure(self, node: Any, name: str) -> Closure:
        self.frame.keep = True
        source = Source(node, self.frame.source.file, name, frozenset(stored_names(node)))
        a = node.args
        return Closure(
            source, self.frame.number, [self.eval(d) for d in a.defaults], [None if d is None else self.eval(d) for d in a.kw_defaults]
        )

    def ev_JoinedStr(self, node: ast.JoinedStr) -> Any:
        parts: list[Any] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                v = self.eval(part.value)
                v = self.state.plain(v)
                spec = "" if part.format_spec is None else self.text(self.eval(part.format_spec))
                if _any_symbolic((v,)):
                    parts.append(Part(v, ast.unparse(part.value), chr(part.conversion) if part.conversion > 0 else "", spec))
                    continue
                if part.conversion > 0:
                    v = _CONVERSIONS[part.conversion](v)
                parts.append(format(v, spec))
            else:
                parts.append(self.eval(part))
        return "".join(parts) if all(isinstance(p, str) for p in parts) else Text(parts)

    def parts(self, v: Any) -> list[Any]:
        return v.parts if isinstance(v, Text) else [v]

    def text(self, v: Any) -> str:
        """For messages: what isn't known yet is shown as an expression."""
        if isinstance(v, Text):
            return "".join(p if isinstance(p, str) else "{" + p.source + "}" for p in v.parts)
        return str(self.state.plain(v))

    def format_percent(self, text: str, values: Any) -> Any:
        if _any_symbolic((values,)):
            self.unsupported("% formatting of values that are known only when the program runs; use an f-string")
        return text % values


def another(result: Any, given: list[Any]) -> Any:
    """A result that is an argument as it stands is another tensor for Python: updates in place of one don't reach the other."""
    if type(result) is SymTensor:
        for v in given:
            if result is v:
                return SymTensor(result.reg)
        return result
    return tuple_like(result, [another(v, given) for v in result]) if is_tuple(result) else result


def _any_symbolic(*groups: Any) -> bool:
    for v in groups:
        if isinstance(v, Symbolic):
            return True
        if isinstance(v, (tuple, list, set)) and any(_any_symbolic(x) for x in v):
            return True
        if isinstance(v, dict) and any(_any_symbolic(x) for x in v.values()):
            return True
    return False


def _static(owner: Any, name: str) -> Any:
    for base in type(owner).__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def _simple(node: Any) -> bool:
    """Costs nothing and can't fail: may be evaluated though it isn't needed."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Attribute):
        return _simple(node.value)
    if isinstance(node, ast.Compare):
        return all(_simple(n) for n in (node.left, *node.comparators))
    if isinstance(node, ast.BoolOp):
        return all(_simple(n) for n in node.values)
    if isinstance(node, ast.UnaryOp):
        return _simple(node.operand)
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and isinstance(node.slice, ast.Constant)
    return False
