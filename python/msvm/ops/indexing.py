"""Selection, scattering, search and order."""

from __future__ import annotations

from typing import Any

from .._errors import InputError
from ..frontend import values as v
from ..frontend.values import BOOL, DTYPE, F32, I64, SymTensor, as_tensor, emit
from . import elementwise as e
from ._op import op
from ._promote import integers, promoted, result_dtype, tensor, weak_kind
from ._shape import as_size, axis_of, broadcast_shape, check, product

UINT8 = DTYPE["uint8"]


@op(static=("axis", "batch_dims"))
def gather(input_params: Any, input_indices: Any, axis: int, batch_dims: int = 0) -> Any:
    """Slices along an axis at the positions in ``input_indices`` (integers of any shape); negative ones count from the end.

    The result has the shape of the indices in place of the axis. ONNX ``Gather``. Errors: positions outside the axis, when it runs.
    ``batch_dims``: leading axes that both share.
    """
    x, at = as_tensor(input_params), integers(input_indices, "gather")
    axis = axis_of(axis, x.ndim)
    if batch_dims == 0:
        return emit("Gather", [x, at], axis=axis)
    if batch_dims < 0:
        batch_dims += at.ndim
    if batch_dims > axis:
        raise InputError(f"gather: batch_dims {batch_dims} lies behind axis {axis}")
    order = [*range(batch_dims), axis, *(i for i in range(batch_dims, x.ndim) if i != axis)]
    moved = emit("GatherND", [v.transpose(x, order), v.unsqueeze(at, [at.ndim])], batch_dims=batch_dims)
    # Axes: batch, those of the indices, those before the axis, those after it.
    n, before = at.ndim - batch_dims, axis - batch_dims
    back = [
        *range(batch_dims),
        *(batch_dims + n + i for i in range(before)),
        *(batch_dims + i for i in range(n)),
        *range(batch_dims + n + before, moved.ndim),
    ]
    return v.transpose(moved, back)


@op(static=("axis",))
def take(input: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    """Elements at positions of the flattened tensor, or slices along an axis, at integers of any shape. ONNX ``Gather``."""
    if mode != "raise":
        raise InputError(f"take: mode {mode!r}; only 'raise' is there")
    x = as_tensor(input)
    if axis is None:
        x, axis = v.reshape(x, [product(x.shape)]), 0
    return emit("Gather", [x, integers(indices, "take")], axis=axis_of(axis, x.ndim))


@op(static=("axis",))
def index_select(input: Any, axis: int, index: Any) -> Any:
    """Slices along an axis at the positions in a vector of integers. ONNX ``Gather``."""
    x, at = as_tensor(input), integers(index, "index_select")
    if at.ndim > 1:
        raise InputError(f"index_select: index has rank {at.ndim}; expected 1")
    return emit("Gather", [x, v.reshape(at, [1]) if at.ndim == 0 else at], axis=axis_of(axis, x.ndim))


@op(static=("dim",))
def gather_elements(input: Any, dim: int, index: Any) -> Any:
    """Elements whose position along an axis stands in ``index``, and is the index's own on the others. ONNX ``GatherElements``.

    ``index``: integers of the rank of ``input``; the result has its shape.
    """
    x = as_tensor(input)
    return emit("GatherElements", [x, integers(index, "gather_elements")], axis=axis_of(dim, x.ndim))


@op(static=("axis",))
def take_along_axis(input: Any, indices: Any, axis: int | None = -1) -> Any:
    """As ``gather_elements``, where the other axes of both broadcast; of the flattened tensor where ``axis`` is None."""
    from .movement import broadcast

    x, at = as_tensor(input), integers(indices, "take_along_axis")
    if axis is None:
        x, axis = v.reshape(x, [product(x.shape)]), 0
    axis = axis_of(axis, x.ndim)
    if at.ndim != x.ndim:
        raise InputError(f"take_along_axis: the indices have rank {at.ndim}, the tensor {x.ndim}")
    others = broadcast_shape(
        [1 if i == axis else d for i, d in enumerate(x.shape)], [1 if i == axis else d for i, d in enumerate(at.shape)]
    )
    wide = [broadcast(t, [t.shape[i] if i == axis else d for i, d in enumerate(others)]) for t in (x, at)]
    return emit("GatherElements", wide, axis=axis)


@op(static=("batch_dims",))
def gather_nd(input_x: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Slices at the positions that the tuples along the last axis of ``indices`` give. ONNX ``GatherND``."""
    return emit("GatherND", [as_tensor(input_x), integers(indices, "gather_nd")], batch_dims=batch_dims)


_REDUCTIONS = {
    None: "none",
    "none": "none",
    "add": "add",
    "sum": "add",
    "mul": "mul",
    "multiply": "mul",
    "prod": "mul",
    "max": "max",
    "amax": "max",
    "min": "min",
    "amin": "min",
}


def _reduction(name: Any) -> str:
    if name not in _REDUCTIONS:
        raise InputError(f"reduction is None, 'add', 'mul', 'max' or 'min'; found {name!r}")
    return _REDUCTIONS[name]


def _update(t: Any, dtype: Any) -> SymTensor:
    """An update in the dtype of what it goes into; where that would lose its kind it is an error."""
    found = result_dtype(t)
    if weak_kind(t) is None and " biuf".find(found.kind) > " biuf".find(dtype.kind) and not (found.kind == "u" and dtype.kind == "i"):
        raise InputError(f"values of dtype {found.name} can't be written into {dtype.name}; cast one of them")
    return tensor(t, dtype)


def scattered_elements(x: SymTensor, at: SymTensor, values: SymTensor, axis: int, reduction: str) -> SymTensor:
    """The operator ``ScatterElements``."""
    return emit("ScatterElements", [x, at, values], axis=axis, reduction=reduction)


@op(static=("axis", "reduction"))
def tensor_scatter_elements(input_x: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "none") -> Any:
    """``input_x`` with single elements replaced or combined, at positions along an axis. ONNX ``ScatterElements``.

    ``indices``: integers, ``updates``: values of the same shape, or a number. ``reduction``: none, add, mul, max, min.
    """
    x, at = as_tensor(input_x), integers(indices, "tensor_scatter_elements")
    values = _update(updates, x.dtype)
    if values.ndim == 0 and at.ndim:
        values = v.broadcast_to(values, at.shape)
    return scattered_elements(x, at, values, axis_of(axis, x.ndim), _reduction(reduction))


@op(static=("axis", "reduce"))
def scatter(input: Any, axis: int, index: Any, src: Any, *, reduce: str | None = None) -> Any:
    """``input`` with the elements of ``src`` written at positions along an axis. ONNX ``ScatterElements``."""
    return tensor_scatter_elements(input, index, src, axis, _reduction(reduce))


@op(static=("axis",))
def index_add(input: Any, axis: int, index: Any, source: Any) -> Any:
    """``input`` with the slices of ``source`` added at the positions along an axis in a vector of integers."""
    x = as_tensor(input)
    axis = axis_of(axis, x.ndim)
    values = _update(source, x.dtype)
    at = integers(index, "index_add")
    shape = [1] * x.ndim
    shape[axis] = at.shape[0]
    return scattered_elements(x, v.broadcast_to(v.reshape(at, shape), values.shape), values, axis, "add")


def _scatter_nd(name: str, reduction: str, what: str) -> Any:
    def body(input_x: Any, indices: Any, updates: Any) -> Any:
        x, at = as_tensor(input_x), integers(indices, name)
        return emit("ScatterND", [x, at, _update(updates, x.dtype)], reduction=reduction)

    return op(
        name=name,
        doc=f"""``input_x`` with slices {what} ``updates``, at the positions that the tuples along the last axis of ``indices`` give.

    The shape of ``updates`` is that of ``indices`` without its last axis, then that of a slice. ONNX ``ScatterND``.
    """,
    )(body)


tensor_scatter_update = _scatter_nd("tensor_scatter_update", "none", "replaced by")
tensor_scatter_add = _scatter_nd("tensor_scatter_add", "add", "increased by")
tensor_scatter_mul = _scatter_nd("tensor_scatter_mul", "mul", "multiplied by")
tensor_scatter_max = _scatter_nd("tensor_scatter_max", "max", "raised to at least")
tensor_scatter_min = _scatter_nd("tensor_scatter_min", "min", "limited to at most")


@op
def tensor_scatter_sub(input_x: Any, indices: Any, updates: Any) -> Any:
    """``input_x`` with slices decreased by ``updates``; as ``tensor_scatter_add``."""
    return tensor_scatter_add(input_x, indices, e.neg(updates))


@op(sizes=("shape",))
def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Zeros of the given shape to which ``updates`` are added at the positions in ``indices``. ONNX ``ScatterND``."""
    from .creation import filled

    values = as_tensor(updates)
    return emit("ScatterND", [filled(shape, 0, values.dtype), integers(indices, "scatter_nd"), values], reduction="add")


@op(static=("axis", "mode"))
def tensor_scatter(past_cache: Any, update: Any, write_indices: Any = None, *, axis: int = -2, mode: str = "linear") -> Any:
    """A key or value cache with ``update`` written along the sequence axis, for each batch element from its write index on.

    ONNX ``TensorScatter``.
    """
    x = as_tensor(past_cache)
    at = None if write_indices is None else integers(write_indices, "tensor_scatter")
    return emit("TensorScatter", [x, tensor(as_tensor(update), x.dtype), at], axis=axis, mode=mode)


@op
def masked_fill(input_x: Any, mask: Any, value: Any) -> Any:
    """``value`` where the mask is true, else the tensor's own elements. ``value``: a number or a tensor of rank 0. ONNX ``Where``."""
    x = as_tensor(input_x)
    return emit("Where", [e.truth(mask), _update(value, x.dtype), x])


@op
def masked_select(input: Any, mask: Any) -> Any:
    """The elements where the mask is true, as a vector; both broadcast. ONNX ``Compress``."""
    from .movement import broadcast

    x, m = as_tensor(input), e.truth(mask)
    shape = broadcast_shape(x.shape, m.shape)
    x, m = broadcast(x, shape), broadcast(m, shape)
    return emit("Compress", [v.reshape(x, [product(shape)]), v.reshape(m, [product(shape)])], axis=0)


@op(static=("axis",))
def compress(condition: Any, input: Any, axis: int | None = None) -> Any:
    """The slices along an axis (elements of the flattened tensor if None) where the vector ``condition`` is true. ONNX ``Compress``."""
    x = as_tensor(input)
    return emit("Compress", [x, e.truth(condition)], axis=None if axis is None else axis_of(axis, x.ndim))


@op(static=("as_tuple",))
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Positions of the elements that aren't zero, in row-major order: one row for each element; or a tuple of one vector per axis.

    ONNX ``NonZero``.
    """
    x = as_tensor(input)
    found = emit("NonZero", [x if x.ndim else v.reshape(x, [1])])
    if as_tuple:
        return tuple(v.squeeze(v.slice_view(found, [0], [k], [k + 1], [1]), [0]) for k in range(max(x.ndim, 1)))
    return v.transpose(found, [1, 0])


argwhere = nonzero


@op(static=("axis", "sorted", "return_inverse", "return_counts", "return_index"))
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    axis: int | None = None,
    return_index: bool = False,
) -> Any:
    """The different elements (or slices along an axis), in order or by first occurrence; then a tuple with what else is asked for:
    where each occurs first, which of them each element is (in the shape of ``input``), how often each occurs. ONNX ``Unique``.
    """
    x = as_tensor(input)
    wanted = [True, return_index, return_inverse, return_counts]
    y, first, inverse, counts = emit("Unique", [x], outputs=wanted, axis=axis, sorted=int(sorted))
    if inverse is not None and axis is None:
        inverse = v.reshape(inverse, x.shape)
    out = tuple(t for t in (y, first, inverse, counts) if t is not None)
    return out if len(out) > 1 else y


@op(static=("return_idx", "return_counts", "axis"))
def unique_consecutive(input: Any, return_idx: bool = False, return_counts: bool = False, axis: int | None = None) -> Any:
    """The elements that differ from the one before, of the flattened tensor.

    With ``return_idx`` also which of them each element is, with ``return_counts`` how long each run is.
    """
    if axis is not None:
        raise InputError("unique_consecutive: only the flattened tensor (axis=None) is there")
    x = as_tensor(input)
    flat = v.reshape(x, [product(x.shape)])
    n = flat.shape[0]
    last = v.maximum(n - 1, 0)
    differs = emit("Not", [emit("Equal", [v.slice_view(flat, [0], [n - last], [n], [1]), v.slice_view(flat, [0], [0], [last], [1])])])
    first = emit("msvm.Fill", [], [n - last], dtype=BOOL, value=1)
    begins = emit("Concat", [first, differs], axis=0)
    out = [emit("Compress", [flat, begins], axis=0)]
    if return_idx or return_counts:
        run = emit("Sub", [emit("CumSum", [tensor(begins, I64)], axis=0), tensor(1, I64)])
        if return_idx:
            out.append(v.reshape(run, x.shape))
        if return_counts:
            zeros = emit("msvm.Fill", [], [out[0].shape[0]], dtype=I64, value=0)
            ones = emit("msvm.Fill", [], [n], dtype=I64, value=1)
            out.append(emit("ScatterElements", [zeros, run, ones], axis=0, reduction="add"))
    return tuple(out) if len(out) > 1 else out[0]


def _sortable(t: SymTensor) -> SymTensor:
    return tensor(t, UINT8) if t.dtype.kind == "b" else t


@op(static=("dim", "largest", "sorted"), sizes=("k",))
def topk(input: Any, k: Any, dim: int | None = None, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest (or smallest) elements along an axis (the last if None) and their positions as int64; of equal ones the first.

    ONNX ``TopK``.

    Errors: k above the size of the axis.
    """
    x = as_tensor(input)
    axis = axis_of(-1 if dim is None else dim, x.ndim)
    values, at = emit("TopK", [_sortable(x)], [as_size(k, "k")], outputs=2, axis=axis, largest=int(largest), sorted=int(sorted))
    return tensor(values, x.dtype), at


def _sort(x: SymTensor, axis: int, descending: bool) -> tuple[SymTensor, SymTensor]:
    if x.ndim == 0:
        axis_of(axis, 1)
        return x, tensor(0, I64)
    axis = axis_of(axis, x.ndim)
    values, at = emit("TopK", [_sortable(x)], [x.shape[axis]], outputs=2, axis=axis, largest=int(descending), sorted=1)
    return tensor(values, x.dtype), at


@op(static=("axis", "descending", "stable"))
def sort(input_x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Elements along an axis in order, and where each came from as int64: (values, indices), as in MindSpore.

    Equal ones keep their order. ONNX ``TopK``.
    """
    return _sort(as_tensor(input_x), axis, descending)


@op(static=("axis", "descending", "stable"))
def argsort(input: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Positions, as int64, that put the elements along an axis in order. Equal ones keep their order. ONNX ``TopK``."""
    return _sort(as_tensor(input), axis, descending)[1]


@op
def msort(input: Any) -> Any:
    """Elements along the first axis in order."""
    return _sort(as_tensor(input), 0, False)[0]


@op(static=("axis", "keepdims"))
def median(input: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """The lower median along an axis and its position: (values, indices)."""
    x = as_tensor(input)
    axis = axis_of(axis, x.ndim)
    values, at = _sort(x, axis, False)
    middle = (x.shape[axis] - 1) // 2
    out = [v.slice_view(t, [axis], [middle], [middle + 1], [1]) for t in (values, at)]
    return tuple(t if keepdims else v.squeeze(t, [axis]) for t in out)


@op(static=("axis", "keepdims"))
def mode(input: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """The most frequent element along an axis, of several the least, and its last position as int64: (values, indices).

    ``input``: rank 1 or more, the axis not empty. NaNs count one by one.
    """
    x = as_tensor(input)
    axis = axis_of(axis, x.ndim)
    values, at = _sort(x, axis, False)
    n = x.shape[axis]
    check(n > 0, "mode: the axis is empty")
    later, earlier = v.slice_view(values, [axis], [1], [n], [1]), v.slice_view(values, [axis], [0], [n - 1], [1])
    changes = tensor(emit("Not", [emit("Equal", [later, earlier])]), I64)
    place = v.reshape(emit("msvm.Iota", [], [0, n, 1], dtype=I64), [n if a == axis else 1 for a in range(x.ndim)])
    starts = emit("Mul", [changes, v.slice_view(place, [axis], [1], [n], [1])])
    first = v.slice_view(at, [axis], [0], [1], [1])
    starts = emit("Concat", [emit("Sub", [first, first]), starts], axis=axis)
    start, _ = emit("msvm.CumMax", [starts], outputs=2, axis=axis)  # of the run of equal elements that each one is in
    longest = emit("ArgMax", [emit("Sub", [place, start])], axis=axis, keepdims=1)
    out = [emit("GatherElements", [t, longest], axis=axis) for t in (values, at)]
    return tuple(t if keepdims else v.squeeze(t, [axis]) for t in out)


@op(static=("right", "dtype"))
def searchsorted(sorted_sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, sorter: Any = None) -> Any:
    """Where each value would be inserted into a sorted vector: before equal elements, or with ``right`` behind. int64.

    ``sorted_sequence``: a vector, or a tensor whose last axis is sorted and whose other sizes are those of ``values``.
    """
    if sorter is not None:
        raise InputError("searchsorted: sorter isn't there; gather the sequence first")
    a, x = promoted(sorted_sequence, values)
    n = a.ndim - 1
    if n and x.ndim != a.ndim:
        raise InputError(f"searchsorted: the sequence has rank {a.ndim}, the values {x.ndim}")
    row = v.unsqueeze(a, [n]) if n else a
    beyond = emit("GreaterOrEqual" if right else "Greater", [v.unsqueeze(x, [x.ndim]), row])
    found = emit("ReduceSum", [tensor(beyond, I64)], axes=[x.ndim], keepdims=0)
    return tensor(found, DTYPE["int32"]) if out_int32 else found


@op(static=("right",))
def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Any:
    """In which of the intervals between sorted boundaries each element lies, as int64."""
    return searchsorted(boundaries, input, right=right)


@op(static=("axis",), sizes=("depth",))
def one_hot(indices: Any, depth: Any, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Any:
    """``on_value`` at the position an index gives along a new axis of size ``depth``, ``off_value`` elsewhere. ONNX ``OneHot``.

    ``indices``: integers of any shape; those outside [-depth, depth) give ``off_value`` only. The dtype is that of the two values.
    """
    at = integers(indices, "one_hot")
    on, off = promoted(on_value, off_value)
    both = emit("msvm.Stack", [v.reshape(off, []), v.reshape(on, [])], axis=0)
    return emit("OneHot", [at, both], [as_size(depth, "depth")], axis=axis_of(axis, at.ndim + 1))


@op(sizes=("minlength",))
def bincount(input: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """How often each value 0, 1, ... occurs in a vector of integers that aren't negative, or the sum of its weights."""
    x = integers(input, "bincount")
    if x.ndim != 1:
        raise InputError(f"bincount: expected rank 1, found {x.ndim}")
    top = emit("ReduceMax", [emit("Concat", [x, tensor([-1], I64)], axis=0)], axes=[0], keepdims=0)
    low = emit("ReduceMin", [emit("Concat", [x, tensor([0], I64)], axis=0)], axes=[0], keepdims=0)
    check(v.read(low) >= 0, "bincount: a value is negative")
    n = v.maximum(v.read(top) + 1, as_size(minlength, "minlength"))
    values = emit("msvm.Fill", [], x.shape, dtype=I64, value=1) if weights is None else as_tensor(weights)
    zeros = emit("msvm.Fill", [], [n], dtype=values.dtype, value=0)
    return emit("ScatterElements", [zeros, x, values], axis=0, reduction="add")


@op(static=("center_point_box",))
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_boxes_per_class: Any = 0,
    iou_threshold: Any = 0.0,
    score_threshold: Any = None,
    *,
    center_point_box: int = 0,
) -> Any:
    """For each batch element and class the boxes by falling score, without those that overlap a better one too much.

    ONNX ``NonMaxSuppression``.

    ``boxes`` [batch, n, 4], ``scores`` [batch, classes, n]. Result: int64 rows of batch, class, box.
    """
    limit = tensor(max_output_boxes_per_class, I64)
    iou = tensor(iou_threshold, F32)
    least = None if score_threshold is None else tensor(score_threshold, F32)
    return emit("NonMaxSuppression", [tensor(boxes, F32), tensor(scores, F32), limit, iou, least], center_point_box=center_point_box)


@op
def nms(boxes: Any, scores: Any, iou_threshold: Any) -> Any:
    """Positions, by falling score, of the boxes [n, 4] (x1, y1, x2, y2) that overlap no better one by more than the threshold. int64.

    ONNX ``NonMaxSuppression``, as torchvision's ``nms``.
    """
    b, s = tensor(boxes, F32), tensor(scores, F32)
    if b.ndim != 2 or s.ndim != 1:
        raise InputError(f"nms: expected boxes [n, 4] and scores [n], found rank {b.ndim} and {s.ndim}")
    n = b.shape[0]
    rows = emit("NonMaxSuppression", [v.unsqueeze(b, [0]), v.unsqueeze(s, [0, 1]), tensor(n, I64), tensor(iou_threshold, F32), None])
    return v.squeeze(v.slice_view(rows, [1], [2], [3], [1]), [1])


@op
def isin(elements: Any, test_elements: Any) -> Any:
    """Whether each element is one of the test elements. The result is bool in the shape of ``elements``."""
    a, b = promoted(elements, test_elements)
    among = emit("Equal", [v.unsqueeze(a, [a.ndim]), v.reshape(b, [product(b.shape)])])
    return emit("ReduceMax", [among], axes=[a.ndim], keepdims=0)
