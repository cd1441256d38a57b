"""What stands for tensors, sizes, floats and bools while a program is made. Operators on them append instructions.

Sizes that are known are plain ints; a ``SymInt`` is one that is known only when the program runs. Integers keep Python's meaning (floor
division, sign of the remainder), but 64 bits: what leaves them is an error when the program runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NoReturn, overload

import numpy as np

from .. import _core
from .._errors import InputError, UnsupportedError, mark
from .build import building, current

DTYPE: dict[str, _core.DType] = {d.name: d for d in _core.DTYPES}
F64, F32, I64, BOOL = DTYPE["float64"], DTYPE["float32"], DTYPE["int64"], DTYPE["bool"]


_WORD = re.compile(r"[A-Za-z_]\w*")


class Symbolic:
    """Base of all values that are known only when the program runs."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy leaves operators to us

    def __bool__(self) -> bool:
        raise UnsupportedError(
            "a branch on a value that is known only when the program runs; in a function under @msvm.jit write it as an if statement"
        )


class SymBool(Symbolic):
    __slots__ = ("reg",)

    def __init__(self, reg: int) -> None:
        self.reg = reg

    def __repr__(self) -> str:
        return f"SymBool(R{self.reg})"

    def __and__(self, other: Any) -> Any:
        return logical_and(self, other) if isinstance(other, (bool, SymBool)) else NotImplemented

    def __or__(self, other: Any) -> Any:
        return logical_or(self, other) if isinstance(other, (bool, SymBool)) else NotImplemented

    __rand__, __ror__ = __and__, __or__
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        if isinstance(other, (SymInt, SymFloat)) or (isinstance(other, (int, float)) and not isinstance(other, bool)):
            return integer(current().core.select(self.reg, 1, 0)) == other
        if not isinstance(other, (bool, SymBool)):
            return NotImplemented if isinstance(other, Symbolic) else False
        return logical_or(logical_and(self, other), logical_and(logical_not(self), logical_not(other)))

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return equal if equal is NotImplemented else logical_not(equal)


def logical_not(a: Any) -> Any:
    return SymBool(current().core.logic("not", a.reg)) if isinstance(a, SymBool) else not a


def logical_and(a: Any, b: Any) -> Any:
    if isinstance(a, bool):
        return b if a else False
    if isinstance(b, bool):
        return a if b else False
    return SymBool(current().core.logic("and", a.reg, b.reg))


def logical_or(a: Any, b: Any) -> Any:
    return logical_not(logical_and(logical_not(a), logical_not(b)))


class SymInt(Symbolic):
    """A 64-bit integer: an expression over the program's symbols."""

    __slots__ = ("dim",)

    def __init__(self, dim: _core.Dim) -> None:
        self.dim = dim

    def __repr__(self) -> str:
        shown = current().shown if building() else {}
        return _WORD.sub(lambda m: shown.get(m[0], m[0]), str(self.dim))

    __hash__ = object.__hash__

    def __index__(self) -> NoReturn:
        raise UnsupportedError(f"the size {self!r} is known only when the program runs; it can't be used where Python needs a number now")

    __int__ = __index__

    def __add__(self, o: Any) -> Any:
        return _calc("add", self, o)

    def __radd__(self, o: Any) -> Any:
        return _calc("add", o, self)

    def __sub__(self, o: Any) -> Any:
        return _calc("sub", self, o)

    def __rsub__(self, o: Any) -> Any:
        return _calc("sub", o, self)

    def __mul__(self, o: Any) -> Any:
        return _calc("mul", self, o)

    def __rmul__(self, o: Any) -> Any:
        return _calc("mul", o, self)

    def __floordiv__(self, o: Any) -> Any:
        return _calc("floordiv", self, o)

    def __rfloordiv__(self, o: Any) -> Any:
        return _calc("floordiv", o, self)

    def __mod__(self, o: Any) -> Any:
        return _calc("mod", self, o)

    def __rmod__(self, o: Any) -> Any:
        return _calc("mod", o, self)

    def __divmod__(self, o: Any) -> Any:
        return self // o, self % o

    def __truediv__(self, o: Any) -> Any:
        return as_float(self) / o if isinstance(o, (int, float, SymInt, SymFloat)) else NotImplemented

    def __rtruediv__(self, o: Any) -> Any:
        return o / as_float(self) if isinstance(o, (int, float)) else NotImplemented

    def __pow__(self, o: Any) -> Any:
        if isinstance(o, SymInt):
            return _power(self, o)
        if isinstance(o, bool) or not isinstance(o, int) or o < 0:
            return as_float(self) ** o if isinstance(o, (int, float, SymInt, SymFloat)) else NotImplemented
        result: Any = 1
        for _ in range(o):
            result = result * self
        return result

    def __rpow__(self, o: Any) -> Any:
        if isinstance(o, bool) or not _is_int(o):
            return as_float(o) ** as_float(self) if isinstance(o, (float, SymFloat)) else NotImplemented
        return _power(o, self)

    def __lshift__(self, o: Any) -> Any:
        return self * _power_of_two(o) if _is_int(o) else NotImplemented

    def __rlshift__(self, o: Any) -> Any:
        return o * _power_of_two(self) if _is_int(o) else NotImplemented

    def __rshift__(self, o: Any) -> Any:
        return self // _power_of_two(o) if _is_int(o) else NotImplemented

    def __rrshift__(self, o: Any) -> Any:
        return o // _power_of_two(self) if _is_int(o) else NotImplemented

    def __and__(self, o: Any) -> Any:
        return _bits("BitwiseAnd", self, o)

    def __or__(self, o: Any) -> Any:
        return _bits("BitwiseOr", self, o)

    def __xor__(self, o: Any) -> Any:
        return _bits("BitwiseXor", self, o)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Any:
        return -self - 1

    def __neg__(self) -> Any:
        return integer(current().core.calc("neg", self.dim))

    def __pos__(self) -> SymInt:
        return self

    def __abs__(self) -> Any:
        return maximum(self, -self)

    def __eq__(self, o: object) -> Any:
        return _compare("eq", self, o)

    def __ne__(self, o: object) -> Any:
        return _compare("ne", self, o)

    def __lt__(self, o: Any) -> Any:
        return _compare("lt", self, o)

    def __le__(self, o: Any) -> Any:
        return _compare("le", self, o)

    def __gt__(self, o: Any) -> Any:
        return _compare("gt", self, o)

    def __ge__(self, o: Any) -> Any:
        return _compare("ge", self, o)


def integer(dim: Any) -> Any:
    """A plain int if it is known, else a SymInt."""
    return dim if type(dim) is int else SymInt(dim)


class CapturedInt(int):
    """A plain int from outside the function, while shapes are analysed: as a size it is reported as captured."""

    name: str

    def __new__(cls, value: int, name: str) -> CapturedInt:
        v = super().__new__(cls, value)
        v.name = name
        return v

    def _with(self, op: str, o: Any) -> Any:
        result = getattr(int, op)(self, o)
        return CapturedInt(result, self.name) if type(result) is int else result

    def __add__(self, o: Any) -> Any:
        return self._with("__add__", o)

    def __radd__(self, o: Any) -> Any:
        return self._with("__radd__", o)

    def __sub__(self, o: Any) -> Any:
        return self._with("__sub__", o)

    def __rsub__(self, o: Any) -> Any:
        return self._with("__rsub__", o)

    def __mul__(self, o: Any) -> Any:
        return self._with("__mul__", o)

    def __rmul__(self, o: Any) -> Any:
        return self._with("__rmul__", o)

    def __floordiv__(self, o: Any) -> Any:
        return self._with("__floordiv__", o)


def dim_of(v: Any) -> Any:
    """What the builder takes as a size: an int or a Dim."""
    t = type(v)
    if t is int:
        return v
    if t is SymInt:
        return v.dim
    if isinstance(v, CapturedInt):
        return current().core.captured(v.name, int(v))
    if isinstance(v, SymInt):
        return v.dim
    if isinstance(v, SymBool):
        return current().core.select(v.reg, 1, 0)
    if isinstance(v, (int, np.integer)):
        return int(v)
    if isinstance(v, (Symbolic, float)):
        raise InputError(f"expected an integer, found {type(v).__name__}")
    return v.__index__()


def dims_of(values: Any) -> tuple[Any, ...]:
    return tuple(dim_of(v) for v in values)


def _is_int(v: Any) -> bool:
    return type(v) in (int, SymInt) or isinstance(v, (int, SymInt, np.integer))


def _calc(op: str, a: Any, b: Any) -> Any:
    if not (_is_int(a) and _is_int(b)):
        if isinstance(a, (float, SymFloat)) or isinstance(b, (float, SymFloat)):
            return _FLOAT_OPS[op](as_float(a), as_float(b))
        return NotImplemented
    core = current().core
    x, y = dim_of(a), dim_of(b)
    if op in ("floordiv", "mod"):
        if y == 0 and isinstance(y, int):
            raise ZeroDivisionError("integer division or modulo by zero")
        if not isinstance(y, int):
            nonzero = core.compare_known("ne", y, 0)
            if nonzero is not True:
                core.shape_assert(core.compare("ne", y, 0), message_of(ZeroDivisionError("integer division or modulo by zero")))
    return integer(core.calc(op, x, y))


def _power(base: Any, exponent: SymInt) -> Any:
    """Of ints; what leaves 64 bits is an error."""
    require(exponent >= 0, "an int to a negative power is a float; write float(base) ** exponent")
    roughly = as_float(base) ** as_float(exponent)
    require(logical_and(roughly < 9.2e18, roughly > -9.2e18), "an int to a power leaves 64 bits")
    return read(emit("Pow", [as_tensor(base), int_tensor(exponent)]))


def _power_of_two(n: Any) -> Any:
    if not isinstance(n, SymInt):
        if n < 0:
            raise ValueError("negative shift count")
        return 1 << n
    require(n >= 0, "negative shift count", ValueError)
    return 2**n


def _bits(op: str, a: Any, b: Any) -> Any:
    return read(emit(op, [as_tensor(a), as_tensor(b)])) if _is_int(b) else NotImplemented


def _compare(op: str, a: Any, b: Any) -> Any:
    if not (_is_int(a) and _is_int(b)):
        if isinstance(a, (float, SymFloat)) or isinstance(b, (float, SymFloat)):
            return as_float(a)._compare(op, as_float(b))
        if op in ("eq", "ne") and not isinstance(b, Symbolic) and not hasattr(b, "__array__"):
            return op == "ne"
        return NotImplemented
    core = current().core
    x, y = dim_of(a), dim_of(b)
    known = core.compare_known(op, x, y)
    return known if known is not None else SymBool(core.compare(op, x, y))


def minimum(a: Any, b: Any) -> Any:
    """Python's ``min`` of two numbers."""
    if _is_int(a) and _is_int(b):
        return _calc("min", a, b)
    return as_float(a)._binary("Min", as_float(b))


def maximum(a: Any, b: Any) -> Any:
    if _is_int(a) and _is_int(b):
        return _calc("max", a, b)
    return as_float(a)._binary("Max", as_float(b))


def select(condition: Any, a: Any, b: Any) -> Any:
    """The integer ``a`` where the condition holds, else ``b``; both exist."""
    if isinstance(condition, bool):
        return a if condition else b
    return integer(current().core.select(condition.reg, dim_of(a), dim_of(b)))


class SymFloat(Symbolic):
    """A Python float: a tensor of rank 0 and dtype float64."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: SymTensor) -> None:
        self.tensor = tensor

    def __repr__(self) -> str:
        return f"SymFloat(R{self.tensor.reg})"

    __hash__ = object.__hash__

    def __float__(self) -> NoReturn:
        raise UnsupportedError("a float that is known only when the program runs can't be used where Python needs a number now")

    def _binary(self, op: str, o: Any) -> Any:
        return SymFloat(emit(op, [self.tensor, as_float(o).tensor])) if _is_number(o) else NotImplemented

    def _reflected(self, op: str, o: Any) -> Any:
        return as_float(o)._binary(op, self) if _is_number(o) else NotImplemented

    def _compare(self, op: str, o: Any) -> Any:
        if not _is_number(o):
            return NotImplemented
        a, b = self.tensor, as_float(o).tensor
        if op == "ne":
            return logical_not(self._compare("eq", o))
        name = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}[op]
        return read(emit(name, [a, b]))

    def __add__(self, o: Any) -> Any:
        return self._binary("Add", o)

    def __radd__(self, o: Any) -> Any:
        return self._reflected("Add", o)

    def __sub__(self, o: Any) -> Any:
        return self._binary("Sub", o)

    def __rsub__(self, o: Any) -> Any:
        return self._reflected("Sub", o)

    def __mul__(self, o: Any) -> Any:
        return self._binary("Mul", o)

    def __rmul__(self, o: Any) -> Any:
        return self._reflected("Mul", o)

    def __truediv__(self, o: Any) -> Any:
        if not _is_number(o):
            return NotImplemented
        if not isinstance(o, Symbolic):
            if o == 0:
                raise ZeroDivisionError("float division by zero")
        else:
            require(as_float(o)._compare("ne", 0.0), "float division by zero", ZeroDivisionError)
        return self._binary("Div", o)

    def __rtruediv__(self, o: Any) -> Any:
        return as_float(o) / self if _is_number(o) else NotImplemented

    def __floordiv__(self, o: Any) -> Any:
        return (self / o)._unary("Floor") if _is_number(o) else NotImplemented

    def __mod__(self, o: Any) -> Any:
        return self - self // o * o if _is_number(o) else NotImplemented

    def __pow__(self, o: Any) -> Any:
        return self._binary("Pow", o)

    def __rpow__(self, o: Any) -> Any:
        return self._reflected("Pow", o)

    def __neg__(self) -> SymFloat:
        return self._unary("Neg")

    def __pos__(self) -> SymFloat:
        return self

    def __abs__(self) -> SymFloat:
        return self._unary("Abs")

    def _unary(self, op: str) -> SymFloat:
        return SymFloat(emit(op, [self.tensor]))

    def __eq__(self, o: object) -> Any:
        return self._compare("eq", o)

    def __ne__(self, o: object) -> Any:
        return self._compare("ne", o)

    def __lt__(self, o: Any) -> Any:
        return self._compare("lt", o)

    def __le__(self, o: Any) -> Any:
        return self._compare("le", o)

    def __gt__(self, o: Any) -> Any:
        return self._compare("gt", o)

    def __ge__(self, o: Any) -> Any:
        return self._compare("ge", o)


_FLOAT_OPS: dict[str, Any] = {
    "add": SymFloat.__add__,
    "sub": SymFloat.__sub__,
    "mul": SymFloat.__mul__,
    "floordiv": SymFloat.__floordiv__,
    "mod": SymFloat.__mod__,
}


def _is_number(v: Any) -> bool:
    return isinstance(v, (int, float, SymInt, SymFloat, np.integer, np.floating))


def require(condition: Any, message: str, error: type[Exception] = InputError) -> None:
    """The program ends with the error where the condition doesn't hold; at once if that is known."""
    if isinstance(condition, SymBool):
        current().core.shape_assert(condition.reg, message if error is InputError else message_of(error(message)))
    elif not condition:
        raise error(message)


def message_of(e: BaseException) -> str:
    """For a condition of the program: callers get this exception where it doesn't hold."""
    return f"{mark(type(e), e.args)}{type(e).__name__}: {e}"


def as_float(v: Any) -> SymFloat:
    if isinstance(v, SymFloat):
        return v
    if isinstance(v, (SymInt, SymBool)):
        return SymFloat(emit("Cast", [int_tensor(v)], to=F64))
    return SymFloat(constant(np.asarray(float(v))))


def int_tensor(v: Any) -> SymTensor:
    """A size as a tensor of rank 0 and dtype int64."""
    return emit("msvm.ShapeTensor", [], [v], scalar=1)


def sizes_tensor(values: Any) -> SymTensor:
    """Sizes as a tensor of rank 1 and dtype int64."""
    return emit("msvm.ShapeTensor", [], list(values))


class SymTensor(Symbolic):
    """A tensor register. Operators and methods are those of ``Tensor``."""

    __slots__ = ("_type", "declared_by", "reg")

    def __init__(self, reg: int) -> None:
        self.reg = reg
        self._type: tuple[Any, tuple[Any, ...] | None] | None = None

    def _known_type(self) -> tuple[Any, tuple[Any, ...] | None]:
        if self._type is None:
            _, dtype, shape = current().core.type(self.reg)
            self._type = (dtype, None if shape is None else tuple(integer(d) for d in shape))
        return self._type

    @property
    def dtype(self) -> _core.DType:
        return (self._type or self._known_type())[0]  # type: ignore[no-any-return]

    @property
    def shape(self) -> tuple[Any, ...]:
        """Sizes: ints where they are known, else SymInts."""
        shape = (self._type or self._known_type())[1]
        if shape is None:
            raise UnsupportedError(
                "the rank of this tensor isn't known before the program runs: branches or loop turns give it different ranks"
            )
        return shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        n: Any = 1
        for d in self.shape:
            n = n * d
        return n

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a tensor of rank 0")
        return self.shape[0]  # type: ignore[no-any-return]

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        dtype, shape = self._known_type()
        return f"SymTensor({dtype.name}[{', '.join(map(str, shape)) if shape is not None else '*'}])"

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise UnsupportedError("a tensor that is known only when the program runs can't become a numpy array; use msvm.ops on it")


# --- making tensors ------------------------------------------------------------------------------------------------------


def constant(array: np.ndarray[Any, Any], dtype: _core.DType | None = None, name: str = "c") -> SymTensor:
    """A tensor that is part of the program. Equal small arrays are one constant."""
    build = current()
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    if dtype is None:
        if array.dtype.name not in DTYPE or array.dtype.kind in "OSU":
            raise InputError(f"an array of dtype {array.dtype} can't be a tensor")
        dtype = DTYPE[array.dtype.name]
    key = (dtype.code, array.shape, array.tobytes()) if array.nbytes <= 256 else id(array)
    found = build.constants.get(key)
    if found is None:
        raw = array.view(np.uint8) if dtype.kind == "b" and array.dtype == np.bool_ else array
        reg = build.core.constant(build.fresh_name(name), dtype, raw)
        found = build.constants[key] = (SymTensor(reg), array)
    return SymTensor(found[0].reg)  # another tensor for Python, though of the same elements


def as_tensor(v: Any, dtype: _core.DType | None = None) -> SymTensor:
    """The value as a tensor of the program; cast if ``dtype`` is given.

    Python floats become float32, ints and sizes int64, bools bool, unless ``dtype`` says otherwise.
    """
    if isinstance(v, SymTensor):
        t = v
    elif isinstance(v, SymFloat):
        t = emit("Cast", [v.tensor], to=dtype or F32)
    elif isinstance(v, SymInt):
        if dtype is not None and dtype.kind in "iu" and dtype.itemsize < 8:
            info = np.iinfo(dtype.numpy)
            require(logical_and(v >= int(info.min), v <= int(info.max)), f"an int doesn't fit dtype {dtype.name}")
        t = int_tensor(v)
    elif isinstance(v, SymBool):
        t = emit("Cast", [int_tensor(v)], to=BOOL)
    elif isinstance(v, (bool, np.bool_)):
        t = constant(np.asarray(v), None) if dtype is None else constant(_array(v, dtype), dtype)
    elif isinstance(v, float):
        t = _number(v, v.hex(), dtype or F32)
    elif isinstance(v, int):
        t = _number(v, v, dtype or I64)
    elif isinstance(v, (list, tuple)):
        t = _nested(v, dtype)
    elif isinstance(v, (np.ndarray, np.generic)):
        t = constant(np.asarray(v))
    elif isinstance(v, _core.Tensor):
        array = v.asnumpy()
        t = constant(array, v.dtype)
    elif v is None or isinstance(v, str):
        raise InputError(f"expected a tensor, found {v!r}")
    else:
        t = constant(np.asarray(v))
    if dtype is not None and t.dtype is not dtype:
        t = emit("Cast", [t], to=dtype)
    return t


def _number(v: Any, key: Any, dtype: _core.DType) -> SymTensor:
    """A constant; the key tells 0.0 from -0.0, and an int from a float."""
    constants = current().constants
    found = constants.get((dtype.code, key))
    if found is None:
        found = constants[dtype.code, key] = (constant(_array(v, dtype), dtype), v)
    return SymTensor(found[0].reg)


def _array(v: Any, dtype: _core.DType) -> np.ndarray[Any, Any]:
    if dtype.name == "bfloat16":
        bits = int(np.asarray(v, np.float32).view(np.uint32))
        return np.asarray((bits + 0x7FFF + (bits >> 16 & 1)) >> 16, np.uint16)
    try:
        return np.asarray(v, dtype.numpy)
    except OverflowError as e:
        raise InputError(f"{v} doesn't fit dtype {dtype.name}") from e


def _nested(v: Sequence[Any], dtype: _core.DType | None) -> SymTensor:
    flat: list[Any] = []
    stack = [v]
    while stack:
        for item in stack.pop():
            if isinstance(item, (list, tuple)):
                stack.append(item)
            else:
                flat.append(item)
    if any(isinstance(x, Symbolic) for x in flat):
        if all(_is_int(x) for x in v):
            return sizes_tensor(v)
        parts = [as_tensor(x, dtype) for x in v]
        return emit("msvm.Stack", [*parts], axis=0)
    array = np.asarray(v)
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    return constant(array) if array.size else constant(array.astype(dtype.numpy if dtype else np.float32))


# --- instructions --------------------------------------------------------------------------------------------------------


@overload
def emit(op: str, inputs: Sequence[SymTensor | None], args: Sequence[Any] = (), *, outputs: int | Sequence[bool], **attrs: Any) -> Any: ...
@overload
def emit(op: str, inputs: Sequence[SymTensor | None], args: Sequence[Any] = (), **attrs: Any) -> SymTensor: ...
def emit(op: str, inputs: Sequence[SymTensor | None], args: Sequence[Any] = (), *, outputs: int | Sequence[bool] = 1, **attrs: Any) -> Any:
    """Appends a call of an operator of the registry; its shape function gives the outputs' shapes and dtypes.

    ``inputs``: tensors, None where an optional one is absent. ``args``: sizes. Attributes that are None are left out. Returns the
    output, or a tuple where ``outputs`` asks for several (a list of bools says which are wanted; the others are None).
    """
    core = current().core
    wanted = [True] * outputs if isinstance(outputs, int) else list(outputs)
    regs = core.call(op, [-1 if t is None else t.reg for t in inputs], [dim_of(a) for a in args], attrs, wanted)
    results = tuple(SymTensor(r) if w else None for r, w in zip(regs, wanted, strict=True))
    return results[0] if outputs == 1 else results


def read(t: SymTensor, *index: Any) -> Any:
    """One element as a Python number of the program: SymInt, SymFloat or SymBool."""
    if t.dtype.kind == "f":
        if index:
            t = SymTensor(
                current().core.slice(t.reg, list(range(len(index))), dims_of(index), dims_of([i + 1 for i in index]), [1] * len(index))
            )
        if t.shape:
            t = SymTensor(current().core.reshape(t.reg, []))
        return SymFloat(t if t.dtype is F64 else emit("Cast", [t], to=F64))
    core = current().core
    reg = core.read(t.reg, dims_of(index))
    return SymBool(reg) if t.dtype.kind == "b" else integer(core.dim(reg))


def reshape(t: SymTensor, shape: Sequence[Any]) -> SymTensor:
    """A view under sizes that are all known expressions; that the number of elements agrees is checked."""
    return SymTensor(current().core.reshape(t.reg, dims_of(shape)))


def transpose(t: SymTensor, permutation: Sequence[int]) -> SymTensor:
    return SymTensor(current().core.transpose(t.reg, list(permutation)))


def slice_view(t: SymTensor, axes: Sequence[int], start: Sequence[Any], end: Sequence[Any], step: Sequence[int]) -> SymTensor:
    """``0 <= start <= end <= size`` and ``step > 0`` on each axis: the caller has normalised them, the program checks."""
    return SymTensor(current().core.slice(t.reg, list(axes), dims_of(start), dims_of(end), list(step)))


def broadcast_to(t: SymTensor, shape: Sequence[Any]) -> SymTensor:
    return SymTensor(current().core.broadcast(t.reg, dims_of(shape)))


def squeeze(t: SymTensor, axes: Sequence[int]) -> SymTensor:
    return SymTensor(current().core.squeeze(t.reg, sorted(axes)))


def unsqueeze(t: SymTensor, axes: Sequence[int]) -> SymTensor:
    """``axes`` are those of the result."""
    return SymTensor(current().core.unsqueeze(t.reg, sorted(axes)))


__all__ = [
    "BOOL",
    "DTYPE",
    "F32",
    "F64",
    "I64",
    "SymBool",
    "SymFloat",
    "SymInt",
    "SymTensor",
    "Symbolic",
    "as_float",
    "as_tensor",
    "broadcast_to",
    "building",
    "constant",
    "dim_of",
    "dims_of",
    "emit",
    "int_tensor",
    "integer",
    "logical_and",
    "logical_not",
    "logical_or",
    "maximum",
    "message_of",
    "minimum",
    "read",
    "require",
    "reshape",
    "select",
    "sizes_tensor",
    "slice_view",
    "squeeze",
    "transpose",
    "unsqueeze",
]
