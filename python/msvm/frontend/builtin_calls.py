"""Builtins, functions of ``math``, and methods of lists, dicts, sets and strings in compiled functions."""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any

from .. import _core
from .lists import SymList
from .ranges import SymRange, SymSequence
from .records import class_of, not_a_sequence
from .state import Ref, Unbound
from .values import (
    Symbolic,
    SymBool,
    SymFloat,
    SymInt,
    SymTensor,
    as_float,
    emit,
    integer,
    logical_and,
    logical_or,
    maximum,
    minimum,
    read,
    require,
)


def _plain(it: Any, v: Any) -> Any:
    return it.state.plain(v)


def _len(it: Any, v: Any) -> Any:
    not_a_sequence(v, "a sequence; it has no len()")
    content = it.state.content(v)
    if isinstance(content, Unbound):
        it.unsupported(content.why)
    if isinstance(content, SymTensor):
        return content.__len__()
    if isinstance(content, SymRange):
        return content.count
    if isinstance(content, SymList):
        return content.length
    it.captures.watch(content)
    return len(content)


def _range(it: Any, *bounds: Any) -> Any:
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"range expected 1 to 3 arguments, got {len(bounds)}")
    if any(isinstance(b, SymTensor) for b in bounds):
        bounds = tuple(_int(it, b) if isinstance(b, SymTensor) else b for b in bounds)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if any(isinstance(b, SymFloat) for b in (start, stop, step)):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if any(isinstance(b, (SymInt, SymBool)) for b in (start, stop, step)):
        return SymRange(start, stop, step)
    return range(start, stop, step)


def _int(it: Any, v: Any = 0, *base: Any) -> Any:
    if isinstance(v, SymInt):
        return v
    if isinstance(v, SymBool):
        return integer(it.core.select(v.reg, 1, 0))
    if isinstance(v, SymFloat):
        return integer(it.core.scalar_to_int(it.core.read(v.tensor.reg, [])))
    if isinstance(v, SymTensor):
        return _int(it, _item(it, v))
    return int(v, *base)


def _float(it: Any, v: Any = 0.0) -> Any:
    if isinstance(v, SymTensor):
        v = _item(it, v)
    return as_float(v) if isinstance(v, Symbolic) else float(v)


def _bool(it: Any, v: Any = False) -> Any:
    return it.truth(v)


def _item(it: Any, t: SymTensor) -> Any:
    n = t.size
    if n != 1 if isinstance(n, int) else False:
        raise ValueError("only tensors with one element can be converted to Python scalars")
    if not isinstance(n, int):
        it.core.shape_assert(
            (n == 1).reg, it.exception_text(ValueError("only tensors with one element can be converted to Python scalars"))
        )
    return read(t, *([0] * t.ndim))


def _extreme(it: Any, of_two: Any, args: tuple[Any, ...], kwargs: dict[str, Any], python: Any) -> Any:
    items = list(it.iterate(args[0])) if len(args) == 1 else list(args)
    if not any(isinstance(x, Symbolic) for x in items):
        return python(items, **kwargs) if kwargs.get("key") is None else it.unsupported("min or max with a key")
    if kwargs.get("key") is not None:
        it.unsupported("min or max with a key")
    if not items:
        return kwargs["default"] if "default" in kwargs else python([])
    if any(isinstance(x, SymTensor) for x in items):
        items = [_item(it, x) if isinstance(x, SymTensor) and x.size == 1 else x for x in items]
        if any(isinstance(x, SymTensor) for x in items):
            it.unsupported("min or max of tensors; use msvm.ops.minimum, msvm.ops.maximum, or the method x.min()")
    return functools.reduce(of_two, items)


def _sum(it: Any, v: Any, start: Any = 0) -> Any:
    import ast

    for x in it.iterate(v):
        start = it.binary(ast.Add(), start, x)
    return start


def _any(it: Any, v: Any) -> Any:
    return functools.reduce(logical_or, (it.truth(x) for x in it.iterate(v)), False)


def _all(it: Any, v: Any) -> Any:
    return functools.reduce(logical_and, (it.truth(x) for x in it.iterate(v)), True)


def _isinstance(it: Any, v: Any, classes: Any) -> bool:
    classes = classes if isinstance(classes, tuple) else (classes,)
    stands_for = {SymTensor: _core.Tensor, SymInt: int, SymFloat: float, SymBool: bool}
    if (cls := class_of(v)) is not None:
        return any(issubclass(cls, c) for c in classes)
    for c in classes:
        if isinstance(v, Ref) and issubclass(v.kind, c):
            return True
        if type(v) in stands_for and issubclass(stands_for[type(v)], c):
            return True
        if not isinstance(v, (Symbolic, Ref)) and isinstance(v, c):
            return True
    return False


def _type(it: Any, v: Any) -> Any:
    stands_for: dict[type, type] = {SymTensor: _core.Tensor, SymInt: int, SymFloat: float, SymBool: bool}
    return v.kind if isinstance(v, Ref) else class_of(v) or stands_for.get(type(v), type(v))


def _round(it: Any, v: Any, digits: Any = None) -> Any:
    if isinstance(v, SymInt):
        return v
    if isinstance(v, SymFloat):
        if digits is not None:
            it.unsupported("round to digits of a float that is known only when the program runs")
        return _int(it, SymFloat(emit("Round", [v.tensor])))
    return round(v) if digits is None else round(v, digits)


def _list(it: Any, v: Any = ()) -> Any:
    return it.made(list(it.iterate(v)))


def _dict(it: Any, v: Any = (), **kwargs: Any) -> Any:
    content = it.state.content(v)
    pairs = content.items() if isinstance(content, dict) else [tuple(it.iterate(p)) for p in it.iterate(v)]
    return it.made({**dict(pairs), **kwargs})


def _getattr(it: Any, owner: Any, name: str, *default: Any) -> Any:
    try:
        return it.attribute(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(it: Any, owner: Any, name: str) -> bool:
    try:
        it.attribute(owner, name)
    except AttributeError:
        return False
    return True


def _pow(it: Any, a: Any, b: Any, *mod: Any) -> Any:
    return pow(a, b, *mod) if mod else a**b


def _divmod(it: Any, a: Any, b: Any) -> Any:
    return (a // b, a % b)


def _turns(it: Any, v: Any) -> Any:
    """Length of what is looped over, where that is for the program to loop; None: it is taken apart."""
    return it.runtime_count(v)


def _length(it: Any, v: Any) -> Any:
    n = _turns(it, v)
    return n if n is not None else _len(it, v)


def _zip(it: Any, *args: Any, strict: bool = False) -> Any:
    if any(_turns(it, a) is not None for a in args):
        counts = [_length(it, a) for a in args]
        if strict:
            for n in counts[1:]:
                require(n == counts[0], "zip() has arguments of different lengths", ValueError)
        return SymSequence(functools.reduce(minimum, counts), lambda k: tuple(it.element(a, k) for a in args))
    return it.made(list(zip(*[list(it.iterate(a)) for a in args], strict=strict)))


def _enumerate(it: Any, v: Any, start: int = 0) -> Any:
    if (n := _turns(it, v)) is not None:
        return SymSequence(n, lambda k: (k + start, it.element(v, k)))
    return it.made(list(enumerate(it.iterate(v), start)))


def _reversed(it: Any, v: Any) -> Any:
    if (n := _turns(it, v)) is not None:
        return SymSequence(n, lambda k: it.element(v, n - 1 - k))
    return it.made(list(it.iterate(v))[::-1])


def _sorted(it: Any, v: Any, key: Any = None, reverse: bool = False) -> Any:
    items = list(it.iterate(v))
    keys = [it.call(key, [x], {}) if key is not None else x for x in items]
    if any(isinstance(k, Symbolic) for k in keys):
        it.unsupported("sorted() by values that are known only when the program runs; use msvm.ops.sort on a tensor")
    order = sorted(range(len(items)), key=lambda k: keys[k], reverse=reverse)
    return it.made([items[k] for k in order])


def _map(it: Any, function: Any, *args: Any) -> Any:
    return it.made([it.call(function, list(group), {}) for group in zip(*[list(it.iterate(a)) for a in args], strict=False)])


def _filter(it: Any, function: Any, v: Any) -> Any:
    out = []
    for x in it.iterate(v):
        keep = it.truth(x if function is None else it.call(function, [x], {}))
        if isinstance(keep, SymBool):
            it.unsupported("filter() by a condition that is known only when the program runs")
        if keep:
            out.append(x)
    return it.made(out)


def _text(it: Any, v: Any = "") -> Any:
    from .expressions import Part, Text

    v = _plain(it, v)
    return Text([Part(v, "...")]) if isinstance(v, Symbolic) else str(v)


def _print(it: Any, *args: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
    from .printing import emit_print

    if file is not None:
        it.unsupported("print to a file from a compiled function; it prints to the standard output")
    emit_print(it, args, " " if sep is None else sep, "\n" if end is None else end)


def _super(it: Any, *args: Any) -> Any:
    if args:
        return super(*args)
    cls = it.frame.cells.get("__class__")
    first = next(iter(it.frame.source.node.args.args), None)
    if cls is None or first is None:
        raise RuntimeError("super(): no arguments")
    return super(cls.cell_contents, it.load_name(first.arg))


BUILTINS: dict[Any, Any] = {
    len: _len,
    range: _range,
    int: _int,
    float: _float,
    bool: _bool,
    abs: lambda it, v: abs(v),
    min: lambda it, *a, **k: _extreme(it, minimum, a, k, min),
    max: lambda it, *a, **k: _extreme(it, maximum, a, k, max),
    sum: _sum,
    any: _any,
    all: _all,
    isinstance: _isinstance,
    type: _type,
    round: _round,
    tuple: lambda it, v=(): tuple(it.iterate(v)),
    list: _list,
    set: lambda it, v=(): it.made(set(it.iterate(v))),
    dict: _dict,
    getattr: _getattr,
    hasattr: _hasattr,
    pow: _pow,
    divmod: _divmod,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _reversed,
    sorted: _sorted,
    map: _map,
    filter: _filter,
    str: _text,
    repr: lambda it, v: _text(it, v) if isinstance(v, Symbolic) else repr(_plain(it, v)),
    print: _print,
    slice: lambda it, *a: slice(*a),
    super: _super,
    callable: lambda it, v: callable(v),
    **{
        f: functools.partial(lambda it, *a, f=None, **k: it.unsupported(f"{f.__name__}() in a compiled function"), f=f)
        for f in (id, setattr, delattr, next, locals, globals, vars, dir, compile, __import__, breakpoint, hash)
    },
    open: lambda it, *a, **k: it.unsupported("open() in a compiled function"),
    input: lambda it, *a: it.unsupported("input() in a compiled function"),
    eval: lambda it, *a: it.unsupported("eval() in a compiled function"),
    exec: lambda it, *a: it.unsupported("exec() in a compiled function"),
    builtins.iter: lambda it, v: it.made(list(it.iterate(v))),
}


# --- math ----------------------------------------------------------------------------------------------------------------


def _of_float(function: Any, op: str, domain: Any = None) -> Any:
    def call(it: Any, v: Any) -> Any:
        if isinstance(v, SymTensor):
            v = _item(it, v)
        if not isinstance(v, Symbolic):
            return function(v)
        x = as_float(v)
        if domain is not None:
            it.core.shape_assert(domain(x).reg, it.exception_text(ValueError("math domain error")))
        return SymFloat(emit(op, [x.tensor]))

    return call


def _whole(function: Any, op: str) -> Any:
    def call(it: Any, v: Any) -> Any:
        if isinstance(v, SymTensor):
            v = _item(it, v)
        if isinstance(v, SymInt):
            return v
        return _int(it, SymFloat(emit(op, [v.tensor]))) if isinstance(v, SymFloat) else function(v)

    return call


def _test(function: Any, op: str) -> Any:
    def call(it: Any, v: Any) -> Any:
        return read(emit(op, [as_float(v).tensor])) if isinstance(v, Symbolic) else function(v)

    return call


def _math_pow(it: Any, a: Any, b: Any) -> Any:
    return as_float(a) ** as_float(b) if isinstance(a, Symbolic) or isinstance(b, Symbolic) else math.pow(a, b)


def _prod(it: Any, v: Any, *, start: Any = 1) -> Any:
    for x in it.iterate(v):
        start = start * x
    return start


MATH: dict[Any, Any] = {
    math.sqrt: _of_float(math.sqrt, "Sqrt", lambda x: x >= 0.0),
    math.exp: _of_float(math.exp, "Exp"),
    math.log: lambda it, v, *base: _log(it, v, *base),
    math.sin: _of_float(math.sin, "Sin"),
    math.cos: _of_float(math.cos, "Cos"),
    math.tan: _of_float(math.tan, "Tan"),
    math.tanh: _of_float(math.tanh, "Tanh"),
    math.atan: _of_float(math.atan, "Atan"),
    math.erf: _of_float(math.erf, "Erf"),
    math.fabs: _of_float(math.fabs, "Abs"),
    math.floor: _whole(math.floor, "Floor"),
    math.ceil: _whole(math.ceil, "Ceil"),
    math.trunc: lambda it, v: _int(it, v),
    math.isnan: _test(math.isnan, "IsNaN"),
    math.isinf: _test(math.isinf, "IsInf"),
    math.pow: _math_pow,
    math.prod: _prod,
}


def _log(it: Any, v: Any, *base: Any) -> Any:
    one = _of_float(math.log, "Log", lambda x: x > 0.0)
    return one(it, v) / one(it, base[0]) if base and isinstance(v, Symbolic) else one(it, v) if not base else math.log(v, *base)


# --- methods -------------------------------------------------------------------------------------------------------------

_READING: dict[Any, set[str]] = {
    list: {"index", "count", "copy"},
    dict: {"get", "keys", "values", "items", "copy"},
    set: {"copy", "union", "intersection", "difference", "issubset", "issuperset", "isdisjoint"},
}
_CHANGING: dict[Any, set[str]] = {
    list: {"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort"},
    dict: {"update", "pop", "setdefault", "clear", "popitem"},
    set: {"add", "remove", "discard", "update", "clear", "pop"},
}


def container_method(it: Any, owner: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    content = it.state.content(owner)
    if isinstance(content, Unbound):
        it.unsupported(content.why)
    if isinstance(owner, Ref) and owner.frozen and name in _CHANGING.get(owner.kind, ()):
        it.unsupported(
            f"{name}() of a {owner.kind.__name__} that is one of several, by the way that was taken; make a copy "
            f"with {owner.kind.__name__}() and change that"
        )
    if isinstance(content, SymList):
        if name != "append":
            it.unsupported(f"{name}() of a list that a loop makes; append, index, loop over it, or stack it with msvm.ops.stack")
        it.state.heap[owner.number] = content.append(*args, **kwargs)
        return None
    kind = type(content)
    if kind not in _READING:
        return _string_method(it, content, name, args, kwargs)
    if name not in _READING[kind] | _CHANGING[kind]:
        raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
    if name in _CHANGING[kind] and not isinstance(owner, Ref):
        it.unsupported(
            f"{name}() changes a {kind.__name__} from outside the function: it would change state there; return the value instead"
        )
    if name == "sort":
        in_order = it.state.content(_sorted(it, owner, **kwargs))
        it.state.content(owner)[:] = in_order
        return None
    if name == "extend":
        content.extend(it.iterate(args[0]))
        return None
    if kind is dict and name == "update":
        more = it.state.content(_dict(it, *args, **kwargs))
        content.update(more)
        return None
    keys = args[:1] if kind is dict else args if kind is set else []
    if any(isinstance(x, Symbolic) for x in keys):
        it.unsupported(f"{name}() of a {kind.__name__} by a value that is known only when the program runs")
    if name in ("index", "count", "remove") and any(isinstance(x, Symbolic) for x in (*content, *args)):
        it.unsupported(f"{name}() over values that are known only when the program runs")
    result = getattr(content, name)(*args, **kwargs)
    if kind is dict and name in ("keys", "values", "items"):
        return it.made(list(result))
    return it.made(result) if name == "copy" or isinstance(result, set) else result


def _string_method(it: Any, content: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .expressions import Text

    plain = [_plain(it, a) for a in args]
    if isinstance(content, Text) or any(isinstance(a, (Symbolic, Text)) for a in [*plain, *kwargs.values()]):
        if name == "format":
            it.unsupported("str.format of values that are known only when the program runs; use an f-string")
        it.unsupported(f"the method {name} of a string that is known only when the program runs")
    return it.owned(getattr(content, name)(*plain, **kwargs))
