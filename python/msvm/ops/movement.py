"""Shapes and the movement of elements. Views where strides can express the result; the dtype stays.

Sizes may be ints, or values known only when the program runs; what must agree and can't be told before is checked then.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from .._errors import InputError, UnsupportedError
from ..frontend import values as v
from ..frontend.lists import SymList
from ..frontend.values import DTYPE, I64, SymInt, SymTensor, as_tensor, emit, sizes_tensor
from ._op import op
from ._promote import promoted, tensor
from ._shape import (
    MAX_RANK,
    as_size,
    as_sizes,
    axes_of,
    axis_of,
    broadcast_shape,
    check,
    clamp,
    known,
    pair,
    product,
    resolve_shape,
    same,
    same_shape,
)


def _sizes_argument(shape: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    """Sizes given one by one or as one sequence."""
    return as_sizes(shape[0], what) if len(shape) == 1 else as_sizes(shape, what)


@op(sizes=("shape",))
def reshape(input: Any, *shape: Any) -> Any:
    """The same elements in row-major order under another shape; one size may be -1: what is left.

    ``shape``: sizes, one by one or as a sequence. ONNX ``Reshape``. Errors: another number of elements.
    """
    x = as_tensor(input)
    target = resolve_shape(x.shape, _sizes_argument(shape, "shape"))
    return x if same_shape(target, x.shape) else v.reshape(x, target)


@op
def reshape_as(input: Any, other: Any) -> Any:
    """The same elements under the shape of ``other``."""
    x, shape = as_tensor(input), as_tensor(other).shape
    return x if same_shape(shape, x.shape) else v.reshape(x, shape)


@op(static=("start_dim", "end_dim"))
def flatten(input: Any, order: str = "C", *, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes start_dim..end_dim merged into one; a tensor of rank 0 becomes one of rank 1. ONNX ``Flatten``."""
    if order != "C":
        raise UnsupportedError(f"flatten: order {order!r}; only 'C' is there: permute the axes first")
    x = as_tensor(input)
    if x.ndim == 0:
        return v.reshape(x, [1])
    first, last = axis_of(start_dim, x.ndim, "start_dim"), axis_of(end_dim, x.ndim, "end_dim")
    if first > last:
        raise InputError(f"flatten: start_dim {start_dim} lies behind end_dim {end_dim}")
    return x if first == last else v.reshape(x, [*x.shape[:first], product(x.shape[first : last + 1]), *x.shape[last + 1 :]])


@op
def ravel(input: Any) -> Any:
    """All elements in row-major order as a tensor of rank 1."""
    x = as_tensor(input)
    return x if x.ndim == 1 else v.reshape(x, [product(x.shape)])


@op(static=("axis",), sizes=("sizes",))
def unflatten(input: Any, axis: int, sizes: Any) -> Any:
    """One axis split into several of the given sizes; one may be -1."""
    x = as_tensor(input)
    axis = axis_of(axis, x.ndim)
    parts = resolve_shape([x.shape[axis]], as_sizes(sizes, "sizes"))
    return v.reshape(x, [*x.shape[:axis], *parts, *x.shape[axis + 1 :]])


def permuted(x: SymTensor, axes: Sequence[int]) -> SymTensor:
    """The view whose axis i is axis ``axes[i]`` of x."""
    return x if list(axes) == list(range(x.ndim)) else v.transpose(x, axes)


@op(static=("axes",))
def permute(input: Any, *axes: Any) -> Any:
    """The axes in another order: axis i of the result is axis ``axes[i]``; reversed if none are given. ONNX ``Transpose``.

    ``axes``: ints, one by one or as a sequence. Errors: InputError unless they are all axes, each once.
    """
    x = as_tensor(input)
    if len(axes) == 1 and (axes[0] is None or not isinstance(axes[0], int)):
        axes = tuple(axes[0]) if axes[0] is not None else ()
        if not axes and x.ndim:
            axes = tuple(reversed(range(x.ndim)))
    elif not axes:
        axes = tuple(reversed(range(x.ndim)))
    if len(axes) != x.ndim:
        raise InputError(f"permute: expected all {x.ndim} axes, found {len(axes)}")
    return permuted(x, axes_of(axes, x.ndim))


@op(static=("axis0", "axis1"))
def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Two axes exchanged."""
    x = as_tensor(input)
    a, b = axis_of(axis0, x.ndim), axis_of(axis1, x.ndim)
    order = list(range(x.ndim))
    order[a], order[b] = order[b], order[a]
    return permuted(x, order)


@op(static=("source", "destination"))
def movedim(x: Any, source: Any, destination: Any) -> Any:
    """The axes ``source`` moved to the places ``destination``; the others keep their order."""
    t = as_tensor(x)
    from_, to = axes_of(source, t.ndim, "source"), axes_of(destination, t.ndim, "destination")
    if len(from_) != len(to):
        raise InputError(f"movedim: {len(from_)} sources, but {len(to)} destinations")
    rest = iter(a for a in range(t.ndim) if a not in from_)
    by_place = dict(builtins.zip(to, from_, strict=True))
    return permuted(t, [by_place[i] if i in by_place else next(rest) for i in range(t.ndim)])


@op
def matrix_transpose(input: Any) -> Any:
    """The last two axes exchanged. Errors: InputError below rank 2."""
    x = as_tensor(input)
    if x.ndim < 2:
        raise InputError(f"matrix_transpose: expected rank 2 or more, found {x.ndim}")
    return permuted(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@op
def t(input: Any) -> Any:
    """The matrix transposed; vectors and scalars stay. Errors: InputError above rank 2."""
    x = as_tensor(input)
    if x.ndim > 2:
        raise InputError(f"t: expected rank 2 or less, found {x.ndim}; use swapaxes or permute")
    return permuted(x, list(reversed(range(x.ndim))))


@op(static=("axis",))
def _squeeze(input: Any, axis: Any) -> Any:
    x = as_tensor(input)
    axes = axes_of(axis, x.ndim)
    for a in axes:
        if isinstance(x.shape[a], int) and x.shape[a] != 1:
            raise InputError(f"squeeze: axis {a} has size {x.shape[a]}, not 1")
    return v.squeeze(x, axes) if axes else x


def squeeze(input: Any, axis: Any = None, *, dim: Any = None) -> Any:
    """Axes of size 1 dropped: those of ``axis`` (int or several), or all.

    In a program the rank must be known: without ``axis``, sizes that are known only when it runs must not be 1. ONNX ``Squeeze``.
    Errors: a listed axis of another size.
    """
    axis = dim if axis is None else axis
    if axis is None:
        x = as_tensor(input) if v.building() else input
        shape = x.shape if hasattr(x, "shape") else _shape_of_list(x)
        axis = tuple(i for i, d in enumerate(shape) if isinstance(d, int) and d == 1)
        for i, d in enumerate(shape):
            if isinstance(d, SymInt):
                check(d != 1, f"squeeze drops all axes of size 1, and axis {i} has turned out to be one: give it axes")
    return _squeeze(input, axis)


def _shape_of_list(x: Any) -> tuple[int, ...]:
    import numpy as np

    return np.shape(x)


@op(static=("axis", "dim"))
def expand_dims(input: Any, axis: Any = None, *, dim: Any = None) -> Any:
    """Axes of size 1 added, at the places ``axis`` (int or several) of the result. ONNX ``Unsqueeze``."""
    x = as_tensor(input)
    axis = dim if axis is None else axis
    if axis is None:
        raise InputError("expand_dims: give axis")
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    if x.ndim + count > MAX_RANK:
        raise InputError(f"rank {x.ndim + count}: at most {MAX_RANK} is possible")
    axes = axes_of(axis, x.ndim + count)
    return v.unsqueeze(x, axes) if axes else x


@op(sizes=("shape",))
def broadcast_to(input: Any, *shape: Any) -> Any:
    """The tensor repeated along axes of size 1, and along new leading axes; -1 keeps a size. A view. ONNX ``Expand``.

    Errors: a size that is neither 1 nor that of the target.
    """
    x = as_tensor(input)
    target = list(_sizes_argument(shape, "shape"))
    if len(target) < x.ndim:
        raise InputError(f"broadcast_to: a tensor of rank {x.ndim} can't have {len(target)} axes")
    if len(target) > MAX_RANK:
        raise InputError(f"rank {len(target)}: at most {MAX_RANK} is possible")
    for k in range(len(target)):
        own = k - (len(target) - x.ndim)
        if isinstance(target[k], int) and target[k] == -1:
            if own < 0:
                raise InputError("broadcast_to: -1 stands for an axis that the tensor doesn't have")
            target[k] = x.shape[own]
        elif isinstance(target[k], int) and target[k] < 0:
            raise InputError(f"a size is {target[k]}")
        elif own >= 0 and isinstance(target[k], int) and isinstance(x.shape[own], int) and x.shape[own] not in (1, target[k]):
            raise InputError(f"broadcast_to: axis {own} of size {x.shape[own]} can't become {target[k]}")
    return broadcast(x, target)


def broadcast(x: SymTensor, shape: Sequence[Any]) -> SymTensor:
    """The view under sizes that are all given."""
    return x if same_shape(x.shape, shape) else v.broadcast_to(x, shape)


@op
def expand_as(input: Any, other: Any) -> Any:
    """The tensor broadcast to the shape of ``other``."""
    return broadcast(as_tensor(input), as_tensor(other).shape)


@op
def broadcast_tensors(*tensors: Any) -> Any:
    """The tensors broadcast to each other, as a tuple."""
    found = [as_tensor(t) for t in tensors]
    shape = broadcast_shape(*(t.shape for t in found))
    return tuple(broadcast(t, shape) for t in found)


def _joined(tensors: Any, name: str) -> list[SymTensor]:
    if not isinstance(tensors, (tuple, list)):
        tensors = unstack(as_tensor(tensors))
    if not tensors:
        raise InputError(f"{name}: expected at least one tensor")
    return promoted(*(as_tensor(t) for t in tensors))


@op(static=("axis",))
def cat(tensors: Any, axis: int = 0) -> Any:
    """Tensors joined one after the other along an axis; dtypes are promoted. ONNX ``Concat``.

    ``tensors``: a tuple or list of equal ranks and equal sizes on the other axes.
    """
    if isinstance(tensors, SymList):
        return tensors.joined("Concat", axis)
    found = _joined(tensors, "cat")
    rank = found[0].ndim
    for k, one in enumerate(found):
        if one.ndim != rank:
            raise InputError(f"cat: tensor 0 has rank {rank}, tensor {k} has rank {one.ndim}")
    axis = axis_of(axis, rank)
    return found[0] if len(found) == 1 else emit("Concat", found, axis=axis)


@op(static=("axis",))
def stack(tensors: Any, axis: int = 0) -> Any:
    """Tensors of one shape joined along a new axis; dtypes are promoted. ONNX has it as ``Unsqueeze`` and ``Concat``."""
    if isinstance(tensors, SymList):
        return tensors.joined("msvm.Stack", axis)
    found = _joined(tensors, "stack")
    for k, one in enumerate(found):
        if one.ndim != found[0].ndim:
            raise InputError(f"stack: tensor 0 has rank {found[0].ndim}, tensor {k} has rank {one.ndim}")
    return emit("msvm.Stack", found, axis=axis_of(axis, found[0].ndim + 1))


def _stacked(name: str, axis: int, least: int, doc: str) -> Any:
    def body(tensors: Any) -> Any:
        found = []
        for one in _joined(tensors, name):
            if one.ndim == 0:
                one = v.reshape(one, [1])
            if one.ndim == 1 and least >= 2:
                one = v.unsqueeze(one, [0] if name != "column_stack" else [1])
            if one.ndim == 2 and least == 3:
                one = v.unsqueeze(one, [2])
            found.append(one)
        at = 0 if name == "hstack" and found[0].ndim == 1 else axis
        return emit("Concat", found, axis=at)

    return op(name=name, doc=doc)(body)


hstack = _stacked("hstack", 1, 1, "Tensors joined along axis 1, vectors along axis 0.")
vstack = _stacked("vstack", 0, 2, "Tensors joined along axis 0; vectors are rows.")
dstack = _stacked("dstack", 2, 3, "Tensors joined along axis 2; vectors are rows, matrices get a last axis.")
column_stack = _stacked("column_stack", 1, 2, "Tensors joined along axis 1; vectors are columns.")


def cut(x: SymTensor, axis: int, start: Any, end: Any) -> SymTensor:
    """The view from start to end along an axis; 0 <= start <= end <= size."""
    if same(start, 0) and same(end, x.shape[axis]):
        return x
    return v.slice_view(x, [axis], [start], [end], [1])


def parts_of(x: SymTensor, sizes: Sequence[Any], axis: int) -> tuple[SymTensor, ...]:
    """Consecutive pieces along an axis, whose sizes must sum up to the axis' own."""
    total: Any = 0
    for s in sizes:
        if not known("ge", s, 0):
            check(s >= 0, "split: a size is negative")
        total = total + s
    if not same(total, x.shape[axis]):
        check(total == x.shape[axis], f"split: the sizes of the parts don't sum up to the size of axis {axis}")
    out, at = [], 0
    for k, s in enumerate(sizes):
        end = x.shape[axis] if k + 1 == len(sizes) else at + s
        out.append(cut(x, axis, at, end))
        at = end
    return tuple(out)


@op(static=("axis",), sizes=("split_size_or_sections",))
def _split(input: Any, split_size_or_sections: Any, axis: int, count: int | None) -> Any:
    x = as_tensor(input)
    axis = axis_of(axis, x.ndim)
    size = x.shape[axis]
    if count is None:
        return parts_of(x, as_sizes(split_size_or_sections, "split_size_or_sections"), axis)
    step = as_size(split_size_or_sections, "split_size_or_sections")
    if isinstance(step, SymInt) and count > 1:
        check(step > 0, "split: the size of a part isn't positive")
    out = []
    for k in range(count):
        out.append(cut(x, axis, clamp(step * k, 0, size), clamp(step * (k + 1), 0, size) if k + 1 < count else size))
    return tuple(out)


def split(tensor: Any, split_size_or_sections: Any, axis: int = 0) -> Any:
    """The tensor cut along an axis into a tuple of parts: of one size each (the last may be smaller), or of the given sizes.

    ONNX ``Split``. In a program, the number of parts must be known before it runs: with one size for all, that size and the axis' own.
    """
    if isinstance(split_size_or_sections, (tuple, list)):
        return _split(tensor, tuple(split_size_or_sections), axis, None)
    n = _known_size(tensor, axis, "split")
    step = split_size_or_sections
    if isinstance(step, SymInt):
        raise UnsupportedError("split: the number of parts must be known before the program runs; give a list of sizes")
    step = as_size(step, "split_size_or_sections")
    if step <= 0:
        raise InputError(f"split: the size of a part is {step}; it must be positive")
    return _split(tensor, step, axis, builtins.max(1, -(-n // step)))


def _known_size(x: Any, axis: int, name: str) -> int:
    """A size that decides how many results there are."""
    shape = x.shape if hasattr(x, "shape") else as_tensor(x).shape if v.building() else _shape_of_list(x)
    n = shape[axis_of(axis, len(shape))]
    if isinstance(n, SymInt):
        raise UnsupportedError(
            f"{name}: axis {axis} has the size {n}, which is known only when the program runs; then the number of results isn't"
        )
    return int(n)


@op(static=("chunks", "axis"))
def chunk_exact(input: Any, chunks: int, axis: int = 0) -> Any:
    """Equal parts along an axis, as a tuple. Errors: a size that ``chunks`` doesn't divide."""
    x = as_tensor(input)
    axis = axis_of(axis, x.ndim)
    size = x.shape[axis]
    if isinstance(size, int) and size % chunks:
        raise InputError(f"axis {axis} of size {size} can't be split into {chunks} equal parts")
    if not isinstance(size, int):
        check(size % chunks == 0, f"axis {axis} can't be split into {chunks} equal parts")
    step = size // chunks
    return parts_of(x, [step] * (chunks - 1) + [size - step * (chunks - 1)], axis)


def chunk(input: Any, chunks: int, axis: int = 0) -> Any:
    """The tensor cut along an axis into at most ``chunks`` parts of ceil(size / chunks), the last smaller; a tuple.

    In a program where the size is known only when it runs, there are exactly ``chunks`` parts, and the last ones may be empty.
    """
    if chunks <= 0:
        raise InputError(f"chunk: chunks is {chunks}; it must be positive")
    shape = input.shape if hasattr(input, "shape") else _shape_of_list(input)
    n = shape[axis_of(axis, len(shape))]
    if isinstance(n, SymInt):
        return _split(input, (n + (chunks - 1)) // chunks, axis, chunks)
    return split(input, builtins.max(1, -(-n // chunks)), axis)


@op(static=("axis", "count"))
def _unstack(input: Any, axis: int, count: int) -> Any:
    x = as_tensor(input)
    axis = axis_of(axis, x.ndim)
    return tuple(v.squeeze(cut(x, axis, k, k + 1), [axis]) for k in range(count))


def unstack(input: Any, axis: int = 0) -> Any:
    """The slices along an axis, without it, as a tuple. In a program its size must be known before it runs."""
    return _unstack(input, axis, _known_size(input, axis, "unstack"))


def _section_points(n: int, indices_or_sections: Any, name: str) -> list[int]:
    """Sizes of the parts that numpy's ``array_split`` makes."""
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise InputError(f"{name}: the number of sections is {indices_or_sections}; it must be positive")
        base, extra = divmod(n, indices_or_sections)
        return [base + (k < extra) for k in range(indices_or_sections)]
    out, at = [], 0
    for point in [*(slice(None, p).indices(n)[1] for p in indices_or_sections), n]:
        out.append(builtins.max(point - at, 0))
        at = builtins.max(point, at)
    return out


def tensor_split(input: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """The tensor cut along an axis into that many parts, the first ones larger by 1, or at the given positions; a tuple."""
    return _split(input, tuple(_section_points(_known_size(input, axis, "tensor_split"), indices_or_sections, "tensor_split")), axis, None)


@op(static=("axis", "dims"))
def flip(input: Any, dims: Any = None, *, axis: Any = None) -> Any:
    """The order of the elements reversed along axes (all if none are given). ONNX ``Slice`` with steps of -1."""
    x = as_tensor(input)
    axes = axes_of(dims if axis is None else axis, x.ndim)
    if not axes:
        return x
    n = len(axes)
    return emit("Slice", [x], [-1] * n + [-(1 << 62)] * n, axes=list(axes), steps=[-1] * n)


@op(static=("dims",), sizes=("shifts",))
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along axes by ``shifts``, from one end to the other; over the flattened tensor where ``dims`` is None."""
    x = as_tensor(input)
    if dims is None:
        return v.reshape(roll(v.reshape(x, [product(x.shape)]), shifts, 0), x.shape)
    axes = axes_of_repeated(dims, x.ndim)
    by = as_sizes(shifts, "shifts")
    if len(by) != len(axes):
        raise InputError(f"roll: {len(by)} shifts, but {len(axes)} axes")
    for axis, shift in builtins.zip(axes, by, strict=True):
        n = x.shape[axis]
        if isinstance(n, int) and n == 0:
            continue
        at = (-shift) % (n if known("gt", n, 0) else v.maximum(n, 1))
        if isinstance(at, int) and at == 0:
            continue
        x = emit("Concat", [v.slice_view(x, [axis], [at], [n], [1]), v.slice_view(x, [axis], [0], [at], [1])], axis=axis)
    return x


def axes_of_repeated(axes: Any, rank: int) -> tuple[int, ...]:
    """Axes of which one may come twice."""
    return tuple(axis_of(a, rank) for a in (axes if isinstance(axes, (tuple, list)) else (axes,)))


@op(sizes=("multiples",))
def tile(input: Any, *multiples: Any) -> Any:
    """The tensor repeated along its axes; missing leading axes or multiples count as 1. ONNX ``Tile``. Errors: negative multiples."""
    x = as_tensor(input)
    by = list(_sizes_argument(multiples, "multiples"))
    for m in by:
        if isinstance(m, int) and m < 0:
            raise InputError(f"tile: a multiple is {m}")
    if len(by) < x.ndim:
        by = [1] * (x.ndim - len(by)) + by
    if len(by) > MAX_RANK:
        raise InputError(f"rank {len(by)}: at most {MAX_RANK} is possible")
    if len(by) > x.ndim:
        x = v.unsqueeze(x, range(len(by) - x.ndim))
    return x if builtins.all(same(m, 1) for m in by) or not by else emit("Tile", [x], by)


@op(static=("axis",), sizes=("repeats",))
def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element (slice along an axis) repeated in place; over the flattened tensor where ``axis`` is None.

    ``repeats``: a size, or one for each element as a tensor or sequence of integers, of a length that is that of the axis.
    """
    x = as_tensor(input)
    if axis is None:
        x, axis = v.reshape(x, [product(x.shape)]), 0
    axis = axis_of(axis, x.ndim)
    if isinstance(repeats, (tuple, list)) and len(repeats) == 1:
        repeats = repeats[0]
    if isinstance(repeats, (int, SymInt)):
        if isinstance(repeats, int) and repeats < 0:
            raise InputError(f"repeat_interleave: repeats is {repeats}")
        wide = list(x.shape)
        wide.insert(axis + 1, repeats)
        return v.reshape(v.broadcast_to(v.unsqueeze(x, [axis + 1]), wide), [*x.shape[:axis], x.shape[axis] * repeats, *x.shape[axis + 1 :]])
    counts = tensor(as_tensor(repeats), I64)
    if counts.ndim != 1:
        raise InputError(f"repeat_interleave: repeats has rank {counts.ndim}; expected 1")
    # Element i of the result comes from the slice whose running total first exceeds i.
    ends = emit("CumSum", [counts], axis=0)
    total = v.read(emit("ReduceSum", [counts], axes=[0], keepdims=0))
    places = emit("msvm.Iota", [], [0, total, 1], dtype=I64)
    before = emit("GreaterOrEqual", [v.unsqueeze(places, [1]), v.unsqueeze(ends, [0])])
    source = emit("ReduceSum", [emit("Cast", [before], to=I64)], axes=[1], keepdims=0)
    return emit("Gather", [x, source], axis=axis)


_PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "edge": "edge", "circular": "wrap", "wrap": "wrap"}


@op(static=("mode",), sizes=("padding",))
def pad(input_x: Any, padding: Any, mode: str = "constant", value: Any = None) -> Any:
    """Elements added around the last axes. ONNX ``Pad``.

    ``padding``: (begin, end) of the last axis, then of the one before, and so on, as in MindSpore; negative ones crop.
    ``mode``: "constant" (``value``, else 0), "reflect", "replicate" (or "edge"), "circular" (or "wrap").
    """
    x = as_tensor(input_x)
    amounts = as_sizes(padding, "padding")
    if len(amounts) % 2 or len(amounts) > 2 * x.ndim:
        raise InputError(f"pad: expected a begin and an end for each of at most {x.ndim} axes, found {len(amounts)} values")
    if mode not in _PAD_MODES:
        raise InputError(f"pad: mode is one of {', '.join(_PAD_MODES)}; found {mode!r}")
    begins, ends = [0] * x.ndim, [0] * x.ndim
    for k in range(len(amounts) // 2):
        begins[x.ndim - 1 - k], ends[x.ndim - 1 - k] = amounts[2 * k], amounts[2 * k + 1]
    return padded(x, begins, ends, mode, value)


def padded(x: SymTensor, begins: Sequence[Any], ends: Sequence[Any], mode: str = "constant", value: Any = None) -> SymTensor:
    """Elements added before and after each axis."""
    if builtins.all(isinstance(a, int) and a == 0 for a in (*begins, *ends)):
        return x
    if mode != "constant" and value is not None:
        raise InputError(f"pad: mode {mode!r} takes no value")
    fill = tensor(value, x.dtype) if value is not None else None
    return emit("Pad", [x, fill], [*begins, *ends], mode=_PAD_MODES[mode])


@op(sizes=("diagonal",))
def tril(input: Any, diagonal: Any = 0) -> Any:
    """The lower triangle of each matrix (last two axes), up to a diagonal above the main one; the rest is 0. ONNX ``Trilu``."""
    return _triangle(input, diagonal, 0)


@op(sizes=("diagonal",))
def triu(input: Any, diagonal: Any = 0) -> Any:
    """The upper triangle of each matrix (last two axes), from a diagonal above the main one on; the rest is 0. ONNX ``Trilu``."""
    return _triangle(input, diagonal, 1)


def _triangle(input: Any, diagonal: Any, upper: int) -> SymTensor:
    x = as_tensor(input)
    if x.ndim < 2:
        raise InputError(f"{'triu' if upper else 'tril'}: expected rank 2 or more, found {x.ndim}")
    return emit("Trilu", [x], [as_size(diagonal, "diagonal")], upper=upper)


@op(static=("offset", "dim1", "dim2"))
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonals of the matrices in two axes, as the last axis of the result; positive offsets lie above the main one."""
    x = as_tensor(input)
    a, b = axis_of(dim1, x.ndim), axis_of(dim2, x.ndim)
    if a == b:
        raise InputError("diagonal: both axes are the same")
    x = permuted(x, [*(i for i in range(x.ndim) if i not in (a, b)), a, b])
    rows, columns = x.shape[-2:]
    down, right = builtins.max(-offset, 0), builtins.max(offset, 0)
    n = v.maximum(v.minimum(rows - down, columns - right), 0)
    flat = v.reshape(x, [*x.shape[:-2], rows * columns])
    # The next element of a diagonal lies columns + 1 further.
    places = emit("msvm.Iota", [], [down * columns + right, n, columns + 1], dtype=I64)
    return emit("Gather", [flat, places], axis=x.ndim - 2)


@op(static=("offset",))
def diag(input: Any, offset: int = 0) -> Any:
    """A vector as the diagonal of a square matrix of zeros; or the diagonal of a matrix."""
    x = as_tensor(input)
    if x.ndim == 2:
        return diagonal(x, offset)
    if x.ndim != 1:
        raise InputError(f"diag: expected rank 1 or 2, found {x.ndim}")
    n = x.shape[0] + builtins.abs(offset)
    placed = padded(x, [builtins.max(offset, 0)], [builtins.max(-offset, 0)])
    square = v.broadcast_to(v.unsqueeze(placed, [0]), [n, n])
    eye = emit("EyeLike", [emit("msvm.Fill", [], [n, n], dtype=DTYPE["bool"], value=0)], dtype=DTYPE["bool"], k=offset)
    return emit("Where", [eye, square, tensor(0, x.dtype)])


@op(static=("dims", "k"))
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """The tensor turned by 90 degrees k times in the plane of two axes, from the first towards the second."""
    x = as_tensor(input)
    a, b = axes_of(dims, x.ndim)
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return flip(x, (a, b))
    return flip(swapaxes(x, a, b), a) if k == 1 else swapaxes(flip(x, a), a, b)


@op(static=("block_size", "mode"))
def depth_to_space(input: Any, block_size: int, mode: str = "DCR") -> Any:
    """Blocks of channels of [N, C, H, W] moved into height and width. ONNX ``DepthToSpace``. Errors: C isn't a multiple of block_size²."""
    return emit("DepthToSpace", [as_tensor(input)], blocksize=block_size, mode=mode)


@op(static=("block_size", "mode"))
def space_to_depth(input: Any, block_size: int, mode: str = "DCR") -> Any:
    """Blocks of height and width of [N, C, H, W] moved into channels. ONNX ``SpaceToDepth``.

    Errors: H or W isn't a multiple of block_size.
    """
    return emit("SpaceToDepth", [as_tensor(input)], blocksize=block_size, mode=mode)


@op(static=("upscale_factor",))
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """[..., C r², H, W] to [..., C, H r, W r] (W. Shi et al. 2016). ONNX ``DepthToSpace`` in mode CRD.

    Errors: channels that r² doesn't divide.
    """
    return _on_batch(lambda x: emit("DepthToSpace", [x], blocksize=upscale_factor, mode="CRD"), as_tensor(input))


@op(static=("downscale_factor",))
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """[..., C, H r, W r] to [..., C r², H, W], the inverse of ``pixel_shuffle``. Errors: sizes that r doesn't divide."""
    return _on_batch(lambda x: emit("SpaceToDepth", [x], blocksize=downscale_factor, mode="CRD"), as_tensor(input))


def _on_batch(f: Any, x: SymTensor) -> SymTensor:
    """``f`` of [N, C, H, W] on a tensor with any leading axes."""
    if x.ndim < 3:
        raise InputError(f"expected rank 3 or more, found {x.ndim}")
    if x.ndim == 4:
        return f(x)  # type: ignore[no-any-return]
    y = f(v.reshape(x, [product(x.shape[:-3]), *x.shape[-3:]]))
    return v.reshape(y, [*x.shape[:-3], *y.shape[1:]])


@op(static=("groups",))
def channel_shuffle(x: Any, groups: int) -> Any:
    """Channels (axis 1) regrouped: [N, g, C / g, ...] with the axes of the groups exchanged. Errors: C isn't a multiple of groups."""
    t = as_tensor(x)
    n, c, *rest = t.shape
    if isinstance(c, int) and c % groups:
        raise InputError(f"channel_shuffle: {c} channels aren't a multiple of {groups}")
    apart = v.reshape(t, [n, groups, c // groups, *rest])
    return v.reshape(swapaxes(apart, 1, 2), t.shape)


@op(static=("seq_dim", "batch_dim"))
def reverse_sequence(x: Any, seq_lengths: Any, seq_dim: int, batch_dim: int = 0) -> Any:
    """The first seq_lengths[b] elements of each sequence b reversed. Axes are 0 and 1, one each. ONNX ``ReverseSequence``."""
    t = as_tensor(x)
    return emit(
        "ReverseSequence",
        [t, tensor(as_tensor(seq_lengths), I64)],
        time_axis=axis_of(seq_dim, t.ndim),
        batch_axis=axis_of(batch_dim, t.ndim),
    )


@op(static=("axes",), sizes=("size",))
def center_crop_pad(input: Any, size: Any, axes: Any = None) -> Any:
    """Cropped or padded with 0 around the centre to the given sizes of some axes (all if None). ONNX ``CenterCropPad``."""
    x = as_tensor(input)
    axes = axes_of(axes, x.ndim)
    sizes = as_sizes(size, "size")
    if len(sizes) != len(axes):
        raise InputError(f"center_crop_pad: {len(sizes)} sizes, but {len(axes)} axes")
    return emit("CenterCropPad", [x], sizes, axes=list(axes))


@op
def shape_tensor(input: Any) -> Any:
    """The sizes as a tensor of rank 1 and dtype int64. ONNX ``Shape``."""
    return sizes_tensor(as_tensor(input).shape)


@op
def numel(input: Any) -> Any:
    """The number of elements, as an int. ONNX ``Size``."""
    return as_tensor(input).size


@op
def rank(input: Any) -> Any:
    """The number of axes, as an int."""
    return as_tensor(input).ndim


def shape(input: Any) -> Any:
    """The sizes, as a tuple."""
    return input.shape if hasattr(input, "shape") else as_tensor(input).shape if v.building() else _shape_of_list(input)


@op(static=("kernel_size", "dilation", "padding", "stride"))
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Sliding blocks of [N, C, H, W] as columns [N, C kh kw, L] (im2col)."""
    x = as_tensor(input)
    if x.ndim != 4:
        raise InputError(f"unfold: expected rank 4, found {x.ndim}")
    k, d, p, s = (
        pair(a, 2, w) for a, w in ((kernel_size, "kernel_size"), (dilation, "dilation"), (padding, "padding"), (stride, "stride"))
    )
    n, c = x.shape[:2]
    x = padded(x, [0, 0, *p], [0, 0, *p])
    out = [(x.shape[2 + i] - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i in (0, 1)]
    for o in out:
        check(o >= 1, "unfold: the kernel is larger than the image")
    rows = []
    for i in range(k[0]):
        for j in range(k[1]):
            at, step = (i * d[0], j * d[1]), (s[0], s[1])
            rows.append(v.slice_view(x, [2, 3], at, [at[a] + (out[a] - 1) * step[a] + 1 for a in (0, 1)], step))
    blocks = emit("msvm.Stack", rows, axis=2)
    return v.reshape(blocks, [n, c * (k[0] * k[1]), out[0] * out[1]])


@op(static=("kernel_size", "dilation", "padding", "stride"), sizes=("output_size",))
def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Columns [N, C kh kw, L] summed into the image [N, C, H, W] they were cut from. ONNX ``Col2Im``."""
    k, d, p, s = (
        pair(a, 2, w) for a, w in ((kernel_size, "kernel_size"), (dilation, "dilation"), (padding, "padding"), (stride, "stride"))
    )
    sizes = as_sizes(output_size, "output_size")
    if len(sizes) == 1:
        sizes = sizes * 2
    return emit("Col2Im", [as_tensor(input)], [*sizes, *k], dilations=d, pads=[*p, *p], strides=s)


# The other names that MindSpore and numpy have for the same operators.
concat = concatenate = cat
transpose = permute
unsqueeze, unbind, swapdims, moveaxis, expand = expand_dims, unstack, swapaxes, movedim, broadcast_to

im2col, col2im = unfold, fold
