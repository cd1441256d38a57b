"""Indexing with numpy's meaning: ints, slices, None, Ellipsis, masks, tensors of integers.

Results are views where strides can express them. Ints that are out of range of a known size are an IndexError at once; where a size or
an index is known only when the program runs, it checks.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._errors import InputError, UnsupportedError
from ..frontend import values as v
from ..frontend.values import I64, SymBool, SymInt, SymTensor, as_tensor, building, emit, maximum, minimum, require, select
from ._op import op
from ._promote import cast, tensor
from ._shape import broadcast_shape, is_size, known, product, same, same_shape

FAR = 1 << 62


# --- what an index is made of --------------------------------------------------------------------------------------------


def _is_array(e: Any) -> bool:
    return isinstance(e, (SymTensor, SymBool, np.ndarray, list, tuple, bool, np.bool_)) or hasattr(e, "asnumpy")


def _items(index: Any) -> list[Any]:
    """The parts of an index; a list of ints is an array, a tuple is several parts."""
    parts = list(index) if isinstance(index, tuple) else [index]
    for p in parts:
        if not (p is None or p is Ellipsis or isinstance(p, slice) or is_size(p) or _is_array(p)):
            raise IndexError(f"an index is made of ints, slices, None, ..., masks and tensors of integers; found {type(p).__name__} {p!r}")
    return parts


def _array(p: Any) -> SymTensor:
    if isinstance(p, (list, tuple)) and len(p) == 0:
        return tensor(np.zeros(0, np.int64), I64)
    t = as_tensor(np.asarray(p) if isinstance(p, (bool, np.bool_)) else p)
    if t.dtype.kind not in "biu":
        raise IndexError(f"tensors as indices hold integers or bools; found {t.dtype.name}")
    return t


@dataclass
class _Plan:
    """What an index does to each axis of a tensor."""

    starts: dict[int, Any] = field(default_factory=dict)
    """By axis: the range that stays, of positive step."""
    stops: dict[int, Any] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    flipped: list[int] = field(default_factory=list)
    """Axes whose range is then reversed."""
    gathered: list[tuple[int, SymTensor]] = field(default_factory=list)
    """By axis: the positions of a slice whose step is known only when the program runs."""
    dropped: list[int] = field(default_factory=list)
    """Axes that an int took away."""
    arrays: list[tuple[int, SymTensor]] = field(default_factory=list)
    """By axis: positions along it."""
    masks: list[tuple[int, SymTensor]] = field(default_factory=list)
    """By first axis: masks over as many axes as they have."""
    order: list[tuple[str, int]] = field(default_factory=list)
    """The result's parts in the order of the index: ("axis", a), ("new", -1), ("array", a), ("int", a), ("mask", a)."""
    ellipsis_between: bool = False


def _plan(x: SymTensor, index: Any) -> _Plan:
    parts = [
        p if p is None or p is Ellipsis or isinstance(p, slice) or (is_size(p) and not isinstance(p, bool)) else _array(p)
        for p in _items(index)
    ]
    # A tensor of integers and rank 0 is an int.
    parts = [v.read(p) if isinstance(p, SymTensor) and p.ndim == 0 and p.dtype.kind in "iu" else p for p in parts]
    used = sum(p.ndim if isinstance(p, SymTensor) and p.dtype.kind == "b" else p is not None and p is not Ellipsis for p in parts)
    if used > x.ndim:
        raise IndexError(f"too many indices: the tensor has rank {x.ndim}, the index takes {used} axes")
    dots = [k for k, p in enumerate(parts) if p is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has at most one ellipsis (...)")
    rest: list[Any] = [slice(None)] * (x.ndim - used)
    at = dots[0] if dots else len(parts)
    plan = _Plan()
    plan.ellipsis_between = bool(dots) and not rest
    before, after = parts[:at], parts[at + 1 :] if dots else []
    axis = 0
    for p in [*before, *([Ellipsis] if plan.ellipsis_between else []), *rest, *after]:
        if p is Ellipsis:
            plan.order.append(("dots", -1))
        elif p is None:
            plan.order.append(("new", -1))
        elif isinstance(p, slice):
            _slice(plan, p, axis, x.shape[axis])
            plan.order.append(("axis", axis))
            axis += 1
        elif isinstance(p, SymTensor) and p.dtype.kind == "b":
            plan.masks.append((axis, p))
            plan.order.append(("mask", axis))
            axis += p.ndim
        elif isinstance(p, SymTensor):
            plan.arrays.append((axis, cast(p, I64)))
            plan.order.append(("array", axis))
            axis += 1
        else:
            place = position(p, x.shape[axis], axis)
            plan.starts[axis], plan.stops[axis], plan.steps[axis] = place, place + 1, 1
            plan.dropped.append(axis)
            plan.order.append(("int", axis))
            axis += 1
    return plan


# --- ints and slices -----------------------------------------------------------------------------------------------------


def position(i: Any, n: Any, axis: int) -> Any:
    """An index as a position in [0, n)."""
    i = i if isinstance(i, SymInt) else i.__index__()
    if isinstance(i, int) and isinstance(n, int) and not -n <= i < n:
        raise IndexError(f"index {i} is out of range for axis {axis} of size {n}")
    message = f"index {i} is out of range for axis {axis} of size {n}"
    if known("ge", i, 0):
        place = i
    elif known("lt", i, 0):
        place = n + i
    else:
        place = select(i < 0, _wrapped(i, n), i)
    if not known("ge", place, 0):
        require(place >= 0, message, IndexError)
    if not known("lt", place, n):
        require(place < n, message, IndexError)
    return place


def _wrapped(b: Any, n: Any) -> Any:
    """n + b for a negative b; both ways of a selection are computed, so a large b must not overflow."""
    return n + minimum(b, 0)


def bound(b: Any, n: Any) -> Any:
    """A bound of a slice of positive step as a position in [0, n], with as little arithmetic as is provable."""
    if isinstance(b, int) and b >= FAR:
        return n
    if isinstance(b, int) and b <= -FAR:
        return 0
    if known("ge", b, 0):
        return b if known("le", b, n) else minimum(b, n)
    if known("lt", b, 0):
        wrapped = n + b
        return wrapped if known("ge", wrapped, 0) else maximum(wrapped, 0)
    inside = b if known("le", b, n) else minimum(b, n)
    return select(b < 0, maximum(_wrapped(b, n), 0), inside)


def _backward_bound(b: Any, n: Any) -> Any:
    """A bound of a slice of negative step as a position in [-1, n - 1]."""
    if isinstance(b, int) and b >= FAR:
        return n - 1
    if isinstance(b, int) and b <= -FAR:
        return -1
    if known("ge", b, 0):
        return minimum(b, n - 1)
    if known("lt", b, 0):
        return maximum(n + b, -1)
    return select(b < 0, maximum(_wrapped(b, n), -1), minimum(b, n - 1))


def _bound_value(b: Any, what: str) -> Any:
    if isinstance(b, (SymTensor, np.ndarray)) or hasattr(b, "asnumpy"):
        t = as_tensor(b)
        if t.ndim == 0 and t.dtype.kind in "iu":
            return v.read(t)
    if isinstance(b, SymInt):
        return b
    if not is_size(b):
        raise TypeError(f"slice indices must be integers or None, found {what} {b!r}")
    return b.__index__()


def _slice(plan: _Plan, s: slice, axis: int, n: Any) -> None:
    step = 1 if s.step is None else _bound_value(s.step, "step")
    if isinstance(step, SymInt):
        plan.gathered.append((axis, _stepped(s, step, n)))
        return
    if step == 0:
        raise ValueError("slice step cannot be zero")
    start = None if s.start is None else _bound_value(s.start, "start")
    stop = None if s.stop is None else _bound_value(s.stop, "stop")
    if step > 0:
        begin = 0 if start is None else bound(start, n)
        end = n if stop is None else bound(stop, n)
        if not (known("le", begin, end) or same(begin, 0) or same(end, n)):
            end = maximum(begin, end)
        if step == 1 and same(begin, 0) and same(end, n):
            return
        plan.starts[axis], plan.stops[axis], plan.steps[axis] = begin, end, step
        return
    first = n - 1 if start is None else _backward_bound(start, n)
    end = -1 if stop is None else _backward_bound(stop, n)
    # The same elements from the other end: last, ..., first.
    count = maximum(-((end - first) // -step), 0)
    last = first + (count - 1) * step
    plan.starts[axis] = last if known("gt", count, 0) else select(count > 0, last, 0)
    plan.stops[axis] = first + 1 if known("gt", count, 0) else select(count > 0, first + 1, 0)
    plan.steps[axis] = -step
    plan.flipped.append(axis)


def _stepped(s: slice, step: SymInt, n: Any) -> SymTensor:
    """The positions of a slice: strides can't be chosen when the program runs, so its elements are gathered."""
    require(step != 0, "slice step cannot be zero", ValueError)
    start = None if s.start is None else _bound_value(s.start, "start")
    stop = None if s.stop is None else _bound_value(s.stop, "stop")
    up = step > 0
    first = select(up, 0 if start is None else bound(start, n), n - 1 if start is None else _backward_bound(start, n))
    end = select(up, n if stop is None else bound(stop, n), -1 if stop is None else _backward_bound(stop, n))
    size = maximum(select(up, step, -step), 1)
    count = maximum((select(up, end - first, first - end) + size - 1) // size, 0)
    return emit("msvm.Iota", [], [first, count, step], dtype=I64)


def _basic(x: SymTensor, plan: _Plan) -> SymTensor:
    """The ranges, without the axes that ints took."""
    whole = [a for a in plan.starts if not (same(plan.starts[a], 0) and same(plan.stops[a], x.shape[a]) and plan.steps[a] == 1)]
    if whole:
        axes = sorted(whole)
        x = v.slice_view(x, axes, [plan.starts[a] for a in axes], [plan.stops[a] for a in axes], [plan.steps[a] for a in axes])
    if plan.flipped:
        n = len(plan.flipped)
        x = emit("Slice", [x], [-1] * n + [-FAR] * n, axes=list(plan.flipped), steps=[-1] * n)
    for axis, positions in plan.gathered:
        x = emit("Gather", [x, positions], axis=axis)
    return v.squeeze(x, plan.dropped) if plan.dropped else x


# --- getitem -------------------------------------------------------------------------------------------------------------


def taken(x: SymTensor, index: Any) -> SymTensor:
    """``x[index]`` in the program that is being made."""
    plan = _plan(x, index)
    y = _basic(x, plan)
    if not plan.arrays and not plan.masks:
        new, at = [], 0
        for kind, _ in plan.order:
            if kind == "new":
                new.append(at)
            at += kind in ("new", "axis")
        return v.unsqueeze(y, new) if new else y
    return _advanced(y, plan)


def _left(plan: _Plan, axis: int) -> int:
    """Where an axis of x stands once ints have taken theirs."""
    return axis - sum(d < axis for d in plan.dropped)


def _advanced(y: SymTensor, plan: _Plan) -> SymTensor:
    arrays = [(_left(plan, a), t) for a, t in plan.arrays]
    scalar_masks = [t for _, t in plan.masks if t.ndim == 0]
    if scalar_masks:
        return _scalar_mask(y, plan, arrays, scalar_masks)
    if len(plan.masks) == 1 and not arrays:
        axis, mask = _left(plan, plan.masks[0][0]), plan.masks[0][1]
        _check_mask(y, axis, mask)
        n = mask.ndim
        flat = v.reshape(y, [*y.shape[:axis], product(mask.shape), *y.shape[axis + n :]]) if n > 1 else y
        taken_ = emit("Compress", [flat, v.reshape(mask, [product(mask.shape)]) if n > 1 else mask], axis=axis)
        return _placed(taken_, plan, axis, 1, {axis + k for k in range(n)})
    for a, mask in plan.masks:
        axis = _left(plan, a)
        _check_mask(y, axis, mask)
        found = emit("NonZero", [mask])
        arrays += [(axis + k, v.squeeze(v.slice_view(found, [0], [k], [k + 1], [1]), [0])) for k in range(mask.ndim)]
    arrays.sort(key=lambda pair: pair[0])
    axes = [a for a, _ in arrays]
    if len(arrays) == 1:
        at = arrays[0][1]
        return _placed(emit("Gather", [y, at], axis=axes[0]), plan, axes[0], at.ndim, set(axes))
    shape = broadcast_shape(*(t.shape for _, t in arrays))
    places = emit("msvm.Stack", [t if same_shape(t.shape, shape) else v.broadcast_to(t, shape) for _, t in arrays], axis=len(shape))
    rest = [a for a in range(y.ndim) if a not in axes]
    order = [*axes, *rest]
    front = y if order == list(range(y.ndim)) else v.transpose(y, order)
    found = emit("GatherND", [front, places])
    # Axes: those of the positions, then the rest. The first array's place takes the positions.
    before = sum(r < axes[0] for r in rest)
    n = len(shape)
    back = [*range(n, n + before), *range(n), *range(n + before, n + len(rest))]
    found = found if back == list(range(n + len(rest))) else v.transpose(found, back)
    return _placed(found, plan, axes[0], n, set(axes))


def _check_mask(y: SymTensor, axis: int, mask: SymTensor) -> None:
    for k in range(mask.ndim):
        own, wanted = y.shape[axis + k], mask.shape[k]
        if isinstance(own, int) and isinstance(wanted, int) and own != wanted:
            raise IndexError(f"a mask has size {wanted} where axis {axis + k} has size {own}")
        if not same(own, wanted):
            require(own == wanted, f"a mask has another size than axis {axis + k}", IndexError)


def _placed(found: SymTensor, plan: _Plan, axis: int, n: int, _axes: set[int]) -> SymTensor:
    """``found`` has the n axes of the positions at ``axis``; adds new axes, and moves the positions to the front where numpy does."""
    kinds = [kind for kind, _ in plan.order]
    fancy = [k for k, kind in enumerate(kinds) if kind in ("array", "int", "mask")]
    together = all(kinds[k] in ("array", "int", "mask") for k in range(fancy[0], fancy[-1] + 1))
    # The result's axes in the order of the index; the positions stand where the first of them did.
    sequence: list[Any] = []
    for k, kind in enumerate(kinds):
        if k == fancy[0]:
            sequence.append("positions")
        if kind in ("axis", "new"):
            sequence.append(kind)
    if not together:
        sequence.remove("positions")
        sequence.insert(0, "positions")
    # Axes of x that stay, in order, are those of found outside the positions.
    stay = iter([*range(axis), *range(axis + n, found.ndim)])
    order: list[int] = []
    new: list[int] = []
    at = 0
    for kind in sequence:
        if kind == "new":
            new.append(at)
            at += 1
        elif kind == "positions":
            order += range(axis, axis + n)
            at += n
        else:
            order.append(next(stay))
            at += 1
    if order != list(range(found.ndim)):
        found = v.transpose(found, order)
    return v.unsqueeze(found, new) if new else found


def _scalar_mask(y: SymTensor, plan: _Plan, arrays: list[Any], masks: list[SymTensor]) -> SymTensor:
    """A bool as index: an axis of size 1 that is there or not."""
    if arrays or len(plan.masks) != len(masks):
        raise UnsupportedError("a bool beside tensors in an index isn't there; index in two steps")
    condition = masks[0]
    for m in masks[1:]:
        condition = emit("And", [condition, m])
    fancy = [k for k, (kind, _) in enumerate(plan.order) if kind in ("mask", "int")]
    together = all(plan.order[k][0] in ("mask", "int") for k in range(fancy[0], fancy[-1] + 1))
    new, at, place = [], 0, 0
    for k, (kind, _) in enumerate(plan.order):
        if k == fancy[0]:
            place = at
        if kind == "new":
            new.append(at)
        at += kind in ("new", "axis")
    y = v.unsqueeze(y, new) if new else y
    place = place if together else 0
    return emit("Compress", [v.unsqueeze(y, [place]), v.reshape(condition, [1])], axis=place)


# --- setitem -------------------------------------------------------------------------------------------------------------


def replaced(x: SymTensor, index: Any, value: Any) -> SymTensor:
    """``x`` after ``x[index] = value``: the value is cast to its dtype and broadcast."""
    value = tensor(value, x.dtype)
    plan = _plan(x, index)
    if plan.gathered:
        raise UnsupportedError(
            "an assignment to a slice whose step is known only when the program runs; use msvm.ops.tensor_scatter_update"
        )
    if x.ndim == 0 and not plan.masks:
        return v.reshape(_fitted(value, ()), [])
    if len(plan.masks) == 1 and not plan.arrays and plan.masks[0][1].ndim == x.ndim and value.ndim == 0:
        mask = plan.masks[0][1]
        _check_mask(x, 0, mask)
        return emit("Where", [mask, value, x])
    if not plan.arrays and not plan.masks:
        touched = [a for a in range(x.ndim) if a in plan.starts]
        if not touched:
            return _whole(x, value, plan)
        if all(plan.steps[a] == 1 for a in touched) and not plan.flipped:
            return _assigned(x, value, plan, touched)
        places = _places(x, plan)
    else:
        count = product(x.shape)
        places = taken(v.reshape(emit("msvm.Iota", [], [0, count, 1], dtype=I64), x.shape), index)
    value = _fitted(value, places.shape)
    flat = v.reshape(x, [product(x.shape)])
    updated = emit("ScatterND", [flat, v.unsqueeze(places, [places.ndim]), value])
    return v.reshape(updated, x.shape)


def _fitted(value: SymTensor, shape: Any) -> SymTensor:
    """The value broadcast to the shape of what it replaces; leading axes of size 1 too many go."""
    extra = value.ndim - len(shape)
    if extra > 0:
        for k in range(extra):
            if isinstance(value.shape[k], int) and value.shape[k] != 1:
                raise InputError(f"a value of shape {value.shape} doesn't broadcast to {tuple(shape)}")
        value = v.squeeze(value, list(range(extra)))
    for own, d in builtins.zip(value.shape[::-1], list(shape)[::-1], strict=False):
        if isinstance(own, int) and isinstance(d, int) and own not in (1, d):
            raise InputError(f"a value of shape {value.shape} doesn't broadcast to {tuple(shape)}")
    return value if same_shape(value.shape, shape) else v.broadcast_to(value, shape)


def _result_shape(x: SymTensor, plan: _Plan, length: dict[int, Any]) -> list[Any]:
    return [1 if kind == "new" else length.get(a, x.shape[a]) for kind, a in plan.order if kind in ("new", "axis")]


def _kept(plan: _Plan) -> list[int]:
    """Places of the result's axes that are axes of x."""
    return [k for k, kind in enumerate(kind for kind, _ in plan.order if kind in ("new", "axis")) if kind == "new"]


def _whole(x: SymTensor, value: SymTensor, plan: _Plan) -> SymTensor:
    new = _kept(plan)
    fitted = _fitted(value, _result_shape(x, plan, {}))
    return v.squeeze(fitted, new) if new else fitted


def _assigned(x: SymTensor, value: SymTensor, plan: _Plan, axes: list[int]) -> SymTensor:
    """A range on each of these axes: written in place where nobody else needs ``x``."""
    fitted = _fitted(value, _result_shape(x, plan, {a: plan.stops[a] - plan.starts[a] for a in axes}))
    new = _kept(plan)
    fitted = v.squeeze(fitted, new) if new else fitted
    dropped = [a for a in axes if a in plan.dropped]
    if dropped:
        fitted = v.unsqueeze(fitted, dropped)
    if all(same(plan.starts[a], 0) and same(plan.stops[a], x.shape[a]) for a in axes):
        return fitted
    return emit("msvm.Assign", [x, fitted], [plan.starts[a] for a in axes], axes=axes)


def _places(x: SymTensor, plan: _Plan) -> SymTensor:
    """Positions in the flattened tensor, in the shape of the result."""
    total: SymTensor | None = None
    stride: Any = 1
    kept = [a for kind, a in plan.order if kind == "axis"]
    for axis in reversed(range(x.ndim)):
        start, stop, step = plan.starts.get(axis, 0), plan.stops.get(axis, x.shape[axis]), plan.steps.get(axis, 1)
        count = -((start - stop) // step)
        if axis in plan.flipped:
            start, step = start + (count - 1) * step, -step
        part = emit("msvm.Iota", [], [start * stride, count, step * stride], dtype=I64)
        part = v.reshape(part, [] if axis in plan.dropped else [count if a == axis else 1 for a in kept])
        total = part if total is None else emit("Add", [part, total])
        stride = stride * x.shape[axis]
    assert total is not None
    new = _kept(plan)
    return v.unsqueeze(total, new) if new else total


# --- eager: the index taken apart, so that its numbers are inputs ----------------------------------------------------------


def _known_bound(b: Any, what: str) -> int | None:
    """A bound outside programs: an int, or what can be one, as a tensor of one integer."""
    if b is None:
        return None
    try:
        return operator.index(b)
    except TypeError:
        raise TypeError(f"slice indices must be integers or None, found {what} {b!r}") from None


_PLAIN_SLICES = {(False, False): "slice", (True, False): "slice|start", (False, True): "slice|stop", (True, True): "slice|start|stop"}


def _apart(index: Any, shape: Any) -> tuple[str, tuple[Any, ...], tuple[Any, ...]]:
    """(parts, their numbers, their tensors). A part: new, dots, int, array, slice|start|stop|step, where a step stands itself."""
    spec: list[str] = []
    numbers: list[Any] = []
    tensors: list[Any] = []
    axis = 0
    parts = index if type(index) is tuple else (index,)
    for p in parts:
        kind = type(p)
        if p is None:
            spec.append("new")
        elif kind is slice:
            start, stop, step = p.start, p.stop, p.step
            if start is not None:
                numbers.append(start if type(start) is int else _known_bound(start, "start"))
            if stop is not None:
                numbers.append(stop if type(stop) is int else _known_bound(stop, "stop"))
            plain = _PLAIN_SLICES[start is not None, stop is not None]
            spec.append(plain if step is None else f"{plain}|{_known_bound(step, 'step')}")
            axis += 1
        elif kind is int or (p is not Ellipsis and not _is_array(p) and is_size(p)):
            i = p.__index__()
            if 0 <= axis < len(shape) and not -shape[axis] <= i < shape[axis]:
                raise IndexError(f"index {i} is out of range for axis {axis} of size {shape[axis]}")
            numbers.append(i)
            spec.append("int")
            axis += 1
        elif p is Ellipsis:
            spec.append("dots")
            axis = -len(shape) - 1  # which axes the rest takes isn't looked at here
        elif _is_array(p):
            spec.append("array")
            tensors.append(_plain_array(p))
            axis = -len(shape) - 1
        else:
            _items(p)  # says what an index is made of
    return " ".join(spec), tuple(numbers), tuple(tensors)


def _plain_array(p: Any) -> Any:
    """A tensor or array of an index; an empty list is one of integers."""
    a = np.asarray(p) if isinstance(p, (list, tuple, bool, np.bool_)) else p
    return a.astype(np.int64) if isinstance(a, np.ndarray) and a.size == 0 and a.dtype.kind == "f" else a


def _together(spec: str, numbers: Any, tensors: Any) -> tuple[Any, ...]:
    number, array = iter(numbers), iter(tensors)
    out: list[Any] = []
    for part in spec.split():
        kind, *rest = part.split("|")
        if kind == "slice":
            start = next(number) if "start" in rest else None
            stop = next(number) if "stop" in rest else None
            step = int(rest[-1]) if rest and rest[-1] not in ("start", "stop") else None
            out.append(slice(start, stop, step))
        elif kind == "int":
            out.append(next(number))
        elif kind == "array":
            out.append(next(array))
        else:
            out.append(None if kind == "new" else Ellipsis)
    return tuple(out)


@op(static=("spec",), sizes=("numbers",))
def _getitem(input: Any, spec: Any, numbers: Any, tensors: Any) -> Any:
    return taken(as_tensor(input), _together(spec, numbers, tensors))


@op(static=("spec",), sizes=("numbers",))
def _setitem(input: Any, spec: Any, numbers: Any, tensors: Any, value: Any) -> Any:
    return replaced(as_tensor(input), _together(spec, numbers, tensors), value)


class Indexing:
    """An operator whose index is taken apart before it runs at once; ``body`` is the one over symbolic values."""

    def __init__(self, body: Callable[..., Any], eager: Callable[..., Any]) -> None:
        functools.update_wrapper(self, body)
        self.body = body
        self.eager = eager

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result on a tensor and an index."""
        return self.body(*args, **kwargs) if building() else self.eager(*args, **kwargs)


def _shape(x: Any) -> Any:
    return x.shape if hasattr(x, "shape") else np.shape(x)


def _getitem_body(input: Any, index: Any) -> Any:
    """``input[index]`` with numpy's meaning.

    ``index``: ints, slices, None, ..., bool masks, tensors or lists of integers, or a tuple of them.
    Errors: IndexError for ints out of range of known sizes and for too many parts; what is known only when it runs is checked then.
    """
    return taken(as_tensor(input), index)


def _setitem_body(input: Any, index: Any, value: Any) -> Any:
    """A tensor that is ``input`` after ``input[index] = value``: the value is cast to its dtype and broadcast to what it replaces.

    Where positions repeat, the last value stays. ``index`` and errors: as for ``getitem``.
    """
    return replaced(as_tensor(input), index, value)


getitem = Indexing(_getitem_body, lambda input, index: _getitem(input, *_apart(index, _shape(input))))
setitem = Indexing(_setitem_body, lambda input, index, value: _setitem(input, *_apart(index, _shape(input)), value))
