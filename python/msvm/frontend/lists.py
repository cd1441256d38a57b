"""Lists of tensors whose length is known only when the program runs: those that a loop appends to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._errors import InputError, UnsupportedError
from .build import current
from .values import SymInt, SymTensor, as_tensor, dim_of, emit, integer


class SymList:
    """A list register. ``shape``: sizes that all elements have, None where they differ or aren't known."""

    __slots__ = ("dtype", "reg", "shape")

    def __init__(self, reg: int, dtype: Any, shape: tuple[int | None, ...]) -> None:
        self.reg = reg
        self.dtype = dtype
        self.shape = shape

    def copy(self) -> SymList:
        return self

    def __len__(self) -> int:
        raise UnsupportedError("the length of this list is known only when the program runs")

    @property
    def length(self) -> Any:
        return integer(current().core.list_length(self.reg))

    def append(self, item: Any) -> SymList:
        t = as_tensor(item)
        if t.dtype is not self.dtype:
            raise UnsupportedError(
                f"a tensor of {t.dtype.name} is appended to a list of tensors of {self.dtype.name}, which a loop makes; cast it"
            )
        current().listed.add(t.reg)
        return SymList(current().core.list_append(self.reg, t.reg), self.dtype, common_shape([self.shape, known_shape(t)]))

    def get(self, index: Any) -> SymTensor:
        core = current().core
        shape = [core.fresh_symbol("item") if d is None else d for d in self.shape]
        t = SymTensor(core.narrow(core.list_get(self.reg, dim_of(index)), self.dtype, shape))
        current().listed.add(t.reg)
        return t

    def joined(self, op: str, axis: int) -> SymTensor:
        """All elements in one tensor: ``Concat``, or ``msvm.Stack`` along a new axis."""
        rank = len(self.shape) + (op == "msvm.Stack")
        if not -rank <= axis < rank:
            raise InputError(f"axis {axis} is out of range for results of rank {rank}")
        axis %= rank
        joined = emit(op, [SymTensor(self.reg)], axis=axis)
        shape: list[Any] = [*self.shape[:axis], self.length, *self.shape[axis:]] if op == "msvm.Stack" else [*self.shape]
        if op != "msvm.Stack":
            shape[axis] = None
        core = current().core
        dims = [core.fresh_symbol("joined") if d is None else dim_of(d) for d in shape]
        return SymTensor(core.narrow(joined.reg, self.dtype, dims))


def element_of(tensors: Sequence[SymTensor], place: Any) -> SymTensor:
    """One of tensors of one dtype and rank by its position, 0 <= place < their number. Axes of one size stay so."""
    core = current().core
    found = list_of(tensors, tensors[0].dtype, ())
    sizes = [[dim_of(t.shape[axis]) for t in tensors] for axis in range(tensors[0].ndim)]
    shape = [d[0] if all(x == d[0] for x in d) else core.fresh_symbol("item") for d in sizes]
    t = SymTensor(core.narrow(core.list_get(found.reg, dim_of(place)), found.dtype, shape))
    current().listed.add(t.reg)
    return t


def known_shape(t: SymTensor) -> tuple[int | None, ...]:
    return tuple(None if isinstance(d, SymInt) else d for d in t.shape)


def common_shape(shapes: Sequence[tuple[int | None, ...]]) -> tuple[int | None, ...]:
    first = shapes[0]
    if any(len(s) != len(first) for s in shapes):
        raise UnsupportedError("a list that a loop makes has tensors of different ranks")
    return tuple(d if all(s[k] == d for s in shapes) else None for k, d in enumerate(first))


def list_of(items: Sequence[Any], dtype: Any, shape: tuple[int | None, ...]) -> SymList:
    """In the current block."""
    regs = [as_tensor(v).reg for v in items]
    current().listed.update(regs)
    return SymList(current().core.list_make(dtype, regs), dtype, shape)
