"""Calls in a compiled function: operators, other functions, builtins, methods of containers."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from typing import Any

import numpy as np

from .. import _core
from .._errors import InputError
from .._parameters import signature_of
from .._program import Program
from .base import Base
from .builtin_calls import BUILTINS, MATH, container_method
from .captures import TENSOR, trusted
from .expressions import BoundMethod, Closure, Text, another
from .join import is_tensor
from .printing import PendingException
from .records import is_named, is_record_class, record_class
from .source import source_of
from .state import Ref, is_tuple, tuple_like
from .values import Symbolic, SymBool, SymTensor, as_tensor, dim_of, integer


class Calls(Base):
    def ev_Call(self, node: Any) -> Any:
        function = self.eval(node.func)
        args = self.elements(node.args)
        kwargs: dict[str, Any] = {}
        for k in node.keywords:
            if k.arg is None:
                more = self.eval(k.value)
                kwargs.update(self.state.content(more))
            else:
                kwargs[k.arg] = self.eval(k.value)
        return self.at(node, self.call, function, args, kwargs)

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if isinstance(function, Closure):
            arguments = _bind_closure(function, args, kwargs, self)
            frame = self.all_frames[function.frame]
            return self.run_function(function.source, arguments, function.frame, frame.globals, frame.cells)
        if isinstance(function, BoundMethod):
            return container_method(self, function.owner, function.name, args, kwargs)
        if isinstance(function, functools.partial):
            return self.call(function.func, [*function.args, *args], {**function.keywords, **kwargs})
        if isinstance(function, Program) or (isinstance(function, types.MethodType) and isinstance(function.__self__, Program)):
            return self.call_program(function, args, kwargs)
        if isinstance(function, types.MethodType):
            if trusted(function.__func__.__module__):
                if not _of_cell(function):
                    return self.trusted_call(function, args, kwargs)
                return self.inline(function.__func__, [function.__self__, *args], kwargs)  # type: ignore[arg-type]
            return self.call(function.__func__, [function.__self__, *args], kwargs)
        body = getattr(function, "body", None)
        if body is not None and trusted(type(function).__module__):
            return self.library(body, args, kwargs)
        inner = getattr(function, "__msvm_function__", None)
        if inner is not None:
            return self.call(inner, args, kwargs)
        if isinstance(function, types.FunctionType):
            if report := getattr(function, "__msvm_report__", None):
                return self.report(report, args, kwargs)
            if trusted(function.__module__) and function.__name__ != "construct":
                return self.trusted_call(function, args, kwargs)
            return self.inline(function, args, kwargs)
        try:
            handler = BUILTINS.get(function) or MATH.get(function)
        except TypeError:
            handler = None
        if handler is not None:
            return handler(self, *args, **kwargs)
        if isinstance(function, types.MethodDescriptorType) and args:
            return self.call(self.attribute(args[0], function.__name__), args[1:], kwargs)
        if isinstance(function, type):
            return self.construct(function, args, kwargs)
        call = getattr(type(function), "__call__", None)  # noqa: B004 - the function itself is wanted
        if isinstance(call, types.FunctionType):
            construct = getattr(type(function), "construct", None)
            if trusted(call.__module__) and isinstance(construct, types.FunctionType):
                return self.inline(construct, [function, *args], kwargs)
            return self.library(function, args, kwargs) if trusted(call.__module__) else self.inline(call, [function, *args], kwargs)
        return self.trusted_call(function, args, kwargs)

    def library(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Our own code, that works on symbolic values."""
        plain = [self.state.plain(a) for a in args]
        named = {k: self.state.plain(v) for k, v in kwargs.items()}
        given = [*plain, *named.values(), getattr(function, "__self__", None), *getattr(function, "args", ())]
        return self.owned(another(function(*plain, **named), given))

    def owned(self, v: Any) -> Any:
        """Lists and dicts that a callee made belong to the function from now on."""
        if type(v) is list:
            return self.made([self.owned(x) for x in v])
        if type(v) is dict:
            return self.made({k: self.owned(x) for k, x in v.items()})
        return tuple_like(v, [self.owned(x) for x in v]) if is_tuple(v) else v

    def trusted_call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A function from outside, while the program is made: with known values only, but for our own."""
        module = getattr(function, "__module__", None) or type(function).__module__
        name = getattr(function, "__name__", type(function).__name__)
        plain = [self.state.plain(a) for a in args]
        named = {k: self.state.plain(v) for k, v in kwargs.items()}
        if module.split(".")[0] == "msvm":
            if module in _NOT_INSIDE:
                self.unsupported(f"msvm.{name} in a compiled function; call it outside")
            return self.owned(another(function(*plain, **named), [*plain, *named.values(), getattr(function, "__self__", None)]))
        if _contains_symbolic([plain, named, getattr(function, "__self__", None)]):
            if isinstance(getattr(function, "__self__", None), tuple):
                self.unsupported(f"{name}() of a tuple with values that are known only when the program runs")
            hint = f"; use msvm.ops.{name}" if module.split(".")[0] in ("numpy", "torch", "math") and _is_operator(name) else ""
            self.unsupported(f"{module}.{name} of a value that is known only when the program runs{hint}")
        if (
            ".random" in module
            or "random" in type(getattr(function, "__self__", None)).__name__.lower()
            or module in ("random", "time", "datetime", "os", "uuid", "secrets")
        ):
            self.unsupported(
                f"{module}.{name}: it would be called once, while the program is made, and not at each call; call it outside "
                f"and pass the result"
            )
        if module.split(".")[0] not in _PURE and not isinstance(function, (types.BuiltinFunctionType, types.BuiltinMethodType, np.ufunc)):
            self.unsupported(f"a call of {module}.{name}, which can't be compiled")
        return self.owned(function(*plain, **named))

    def call_program(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A loaded program becomes part of this one."""
        program, name = (function, "__call__") if isinstance(function, Program) else (function.__self__, function.__name__)
        if name not in ("__call__", "run"):
            self.unsupported(f"the method {name} of a program in a compiled function")
        if kwargs:
            raise TypeError(f"a program takes no argument {next(iter(kwargs))!r}; give a mapping of its inputs")
        feed = program.feed(tuple(self.state.plain(a) for a in args))
        if missing := [n for n in program.inputs if n not in feed]:
            raise InputError(f"the program takes the inputs {', '.join(program.inputs)}; missing: {', '.join(missing)}")
        inputs = [self.program_input(program.input_types[n], n, feed[n]) for n in program.inputs]
        results = []
        for kind, v in self.core.inline_program(program.executables()[0], inputs):
            if kind not in ("i64", "bool", "tensor"):
                self.unsupported(f"a program whose result is of the kind {kind}, in a compiled function; have it return a tensor")
            results.append(integer(v) if kind == "i64" else SymBool(v) if kind == "bool" else SymTensor(v))
        return self.made(results)

    def program_input(self, declared: str, name: str, v: Any) -> Any:
        if declared == "i64":
            return dim_of(v)
        if declared == "bool" and isinstance(v, SymBool):
            return v.reg
        if declared in ("bool", "f64") or declared.startswith("list"):
            self.unsupported(f"the input {name} of the program is of the kind {declared}, which can't be given from a compiled function")
        return as_tensor(v).reg

    def report(self, report: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        """A report as a statement: made at the first call of each signature."""
        plain = [self.state.plain(a) for a in args]
        named = {k: self.state.plain(v) for k, v in kwargs.items()}
        self.reports.append(lambda function, signature: report(function, signature, *plain, **named))

    def inline(self, function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
        code = function.__code__
        if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            self.unsupported(f"{function.__name__} is a generator or coroutine; return a list instead")
        bound = signature_of(function).bind(*args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        for attribute in ("__defaults__", "__kwdefaults__"):
            if getattr(function, attribute):
                self.captures.guard(("attr", function, attribute), getattr(function, attribute))
        for name, p in signature_of(function).parameters.items():
            if name not in given and p.default is not p.empty:
                bound.arguments[name] = self.captures.take(p.default, ("value", p.default), name)
        arguments = {k: self.made(v) if type(v) is dict and _is_keywords(function, k) else v for k, v in bound.arguments.items()}
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        return self.run_function(source_of(code), arguments, None, function.__globals__, cells)

    def construct(self, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if cls is TENSOR:
            return self.make_tensor(args, kwargs)
        if is_named(cls):
            return cls(*args, **kwargs)
        if is_record_class(cls):
            return self.make_record(cls, args, kwargs)
        plain = [self.state.plain(a) for a in args]
        named = {k: self.state.plain(v) for k, v in kwargs.items()}
        if issubclass(cls, BaseException):
            return self.exception(cls, args, kwargs)
        if _contains_symbolic([plain, named]) and not trusted(cls.__module__):
            self.unsupported(
                f"an object of class {cls.__name__} made of values that are known only when the program runs; pass a tuple or a dict"
            )
        if not trusted(cls.__module__):
            self.unsupported(f"an object of class {cls.__name__} is made inside the function; make it outside")
        return self.owned(cls(*plain, **named))

    def make_record(self, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """An object of a dataclass; nobody changes it in the function, so that it is a tuple with names."""
        bound = signature_of(cls).bind(*args, **kwargs).arguments
        values = []
        for f in dataclasses.fields(cls):
            if f.name in bound:
                values.append(bound[f.name])
            elif f.default_factory is not dataclasses.MISSING:
                values.append(self.call(f.default_factory, [], {}))
            else:
                values.append(self.captures.take(f.default, ("value", f.default), f.name))
        return record_class(cls)._make(values)

    def exception(self, cls: type[BaseException], args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The exception itself, or what makes it when the program runs, if it speaks of values that aren't known yet."""
        plain = [self.state.plain(a) for a in args]
        named = {k: self.state.plain(v) for k, v in kwargs.items()}
        if _contains_symbolic([plain, named]) or any(isinstance(v, Text) for v in [*plain, *named.values()]):
            return PendingException(cls, plain, named)
        return cls(*plain, **named)

    def make_tensor(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .values import as_tensor

        data = self.state.plain(args[0]) if args else self.state.plain(kwargs.get("data", kwargs.get("input_data")))
        dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
        if data is None:
            self.unsupported("a tensor without data; use msvm.ops.zeros")
        if isinstance(data, SymTensor) or not is_tensor(data):
            return as_tensor(data, dtype)
        return as_tensor(_core.Tensor(data) if isinstance(data, np.ndarray) else data, dtype)


_NOT_INSIDE = ("msvm._context", "msvm._program", "msvm.onnx", "msvm.vm", "msvm._jit")
_PURE = ("numpy", "math", "operator", "functools", "itertools", "builtins", "cmath", "fractions", "decimal", "typing", "_operator")


def _of_cell(method: types.MethodType) -> bool:
    """Whether a method is of a cell: its parameters are seen only where its source is read."""
    return isinstance(getattr(type(method.__self__), "construct", None), types.FunctionType)


def _is_operator(name: str) -> bool:
    from .. import ops

    return hasattr(ops, name)


def _contains_symbolic(v: Any) -> bool:
    if isinstance(v, (Symbolic, Closure, Ref)):
        return True
    if isinstance(v, dict):
        return any(map(_contains_symbolic, v.values()))
    if isinstance(v, slice):
        return _contains_symbolic([v.start, v.stop, v.step])
    return isinstance(v, (tuple, list, set)) and any(map(_contains_symbolic, v))


def _is_keywords(function: Any, name: str) -> bool:
    return signature_of(function).parameters[name].kind is inspect.Parameter.VAR_KEYWORD


def _bind_closure(c: Closure, args: list[Any], kwargs: dict[str, Any], it: Any) -> dict[str, Any]:
    a = c.source.node.args
    names = [x.arg for x in [*a.posonlyargs, *a.args]]
    kind = inspect.Parameter
    parameters = [
        kind(n, kind.POSITIONAL_OR_KEYWORD, default=c.defaults[k - len(names)] if k >= len(names) - len(c.defaults) else kind.empty)
        for k, n in enumerate(names)
    ]
    if a.vararg:
        parameters.append(kind(a.vararg.arg, kind.VAR_POSITIONAL))
    for x, d, node in zip(a.kwonlyargs, c.kw_defaults, a.kw_defaults, strict=True):
        parameters.append(kind(x.arg, kind.KEYWORD_ONLY, default=kind.empty if node is None else d))
    if a.kwarg:
        parameters.append(kind(a.kwarg.arg, kind.VAR_KEYWORD))
    bound = inspect.Signature(parameters).bind(*args, **kwargs)
    bound.apply_defaults()
    if a.kwarg:
        bound.arguments[a.kwarg.arg] = it.made(bound.arguments[a.kwarg.arg])
    return dict(bound.arguments)
