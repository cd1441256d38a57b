"""Pools over windows of [N, C, spatial...], of fixed size or of a fixed number."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import InputError
from ..frontend import values as v
from ..frontend.values import F64, I64, SymTensor, as_tensor, emit
from ._op import op
from ._promote import floating, promoted, tensor
from ._shape import as_size, as_sizes, pair, product, same
from .conv import _pads

STATIC = (
    "kernel_size",
    "stride",
    "padding",
    "dilation",
    "return_indices",
    "ceil_mode",
    "count_include_pad",
    "pad_mode",
    "norm_type",
    "divisor_override",
)


def _batched(name: str, n: int, x: SymTensor) -> tuple[SymTensor, bool]:
    if x.ndim == n + 1:
        return v.unsqueeze(x, [0]), True
    if x.ndim != n + 2:
        raise InputError(f"{name}: input has rank {x.ndim}, expected {n + 2} (or {n + 1} without a batch)")
    return x, False


def _window(n: int, kernel_size: Any, stride: Any, pad_mode: str | None, padding: Any) -> dict[str, Any]:
    kernel = pair(kernel_size, n, "kernel_size")
    mode = pad_mode or "pad"
    return {"kernel_shape": kernel, "strides": kernel if stride is None else pair(stride, n, "stride"), **_pads(mode, padding, n)}


def _max_pool(name: str, n: int) -> Any:
    def body(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        *,
        pad_mode: str | None = None,
    ) -> Any:
        (x,) = promoted(input)
        x, alone = _batched(name, n, x)
        attrs = _window(n, kernel_size, stride, pad_mode, padding)
        y, at = emit(
            "MaxPool", [x], outputs=[True, return_indices], dilations=pair(dilation, n, "dilation"), ceil_mode=int(ceil_mode), **attrs
        )
        if at is not None:
            # Positions within each plane: ONNX counts over the whole tensor.
            at = emit("Mod", [at, tensor(v.maximum(product(x.shape[2:]), 1), I64)])
        found = [v.squeeze(t, [0]) if alone else t for t in (y, at) if t is not None]
        return tuple(found) if return_indices else found[0]

    return op(
        name=name,
        doc=f"""The greatest element of each window over {n} spatial axes; padding doesn't count. ONNX ``MaxPool``.

    ``input`` [N, C, ...]. ``stride`` is ``kernel_size`` unless given. With ``return_indices`` also the positions within each channel's
    plane, as int64.
    """,
        static=STATIC,
    )(body)


max_pool1d, max_pool2d, max_pool3d = (_max_pool(f"max_pool{n}d", n) for n in (1, 2, 3))


def _avg_pool(name: str, n: int) -> Any:
    def body(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int = 0,
        *,
        pad_mode: str | None = None,
    ) -> Any:
        (x,) = floating(input)
        x, alone = _batched(name, n, x)
        attrs = _window(n, kernel_size, stride, pad_mode, padding)
        y = emit("AveragePool", [x], ceil_mode=int(ceil_mode), count_include_pad=int(count_include_pad or bool(divisor_override)), **attrs)
        if divisor_override:
            y = emit("Mul", [y, tensor(float(np.prod(attrs["kernel_shape"])) / divisor_override, y.dtype)])
        return v.squeeze(y, [0]) if alone else y

    return op(
        name=name,
        doc=f"""The mean of each window over {n} spatial axes. ONNX ``AveragePool``.

    ``input`` [N, C, ...]. ``stride`` is ``kernel_size`` unless given; ``count_include_pad``: whether padding counts as zeros.
    """,
        static=STATIC,
    )(body)


avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(f"avg_pool{n}d", n) for n in (1, 2, 3))


def _lp_pool(name: str, n: int) -> Any:
    def body(x: Any, norm_type: int, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        (t,) = floating(x)
        t, alone = _batched(name, n, t)
        y = emit("LpPool", [t], p=int(norm_type), ceil_mode=int(ceil_mode), **_window(n, kernel_size, stride, None, 0))
        return v.squeeze(y, [0]) if alone else y

    return op(
        name=name,
        doc=f"The p-norm (p = ``norm_type``) of each window over {n} spatial axes of [N, C, ...]. ONNX ``LpPool``.",
        static=STATIC,
    )(body)


lp_pool1d, lp_pool2d = (_lp_pool(f"lp_pool{n}d", n) for n in (1, 2))


def _max_unpool(name: str, n: int) -> Any:
    def body(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Any:
        (t,) = floating(x)
        t, alone = _batched(name, n, t)
        at = tensor(as_tensor(indices), I64)
        at = v.unsqueeze(at, [0]) if alone else at
        attrs = _window(n, kernel_size, stride, None, padding)
        kernel, strides, pads = attrs["kernel_shape"], attrs["strides"], attrs["pads"]
        n_batch, channels = t.shape[:2]
        if output_size is not None:
            sizes = list(as_sizes(output_size, "output_size"))[-n:]
            flat = [n_batch, channels, product(t.shape[2:])]
            plane = emit("msvm.Fill", [], [n_batch, channels, product(sizes)], dtype=t.dtype, value=0)
            y = emit("ScatterElements", [plane, v.reshape(at, flat), v.reshape(t, flat)], axis=2)
            y = v.reshape(y, [n_batch, channels, *sizes])
        else:
            sizes = [(t.shape[2 + i] - 1) * strides[i] - 2 * pads[i] + kernel[i] for i in range(n)]
            # The operator counts positions over the whole result.
            offsets = emit("msvm.Iota", [], [0, n_batch * channels, product(sizes)], dtype=I64)
            at = emit("Add", [at, v.reshape(offsets, [n_batch, channels, *[1] * n])])
            y = emit("MaxUnpool", [t, at], [n_batch, channels, *sizes], kernel_shape=kernel, strides=strides, pads=pads)
        return v.squeeze(y, [0]) if alone else y

    return op(
        name=name,
        doc=f"""Each element put where the positions of ``max_pool{n}d`` say, zeros elsewhere. ONNX ``MaxUnpool``.

    ``indices``: positions within each channel's plane. Spatial sizes: (size - 1) * stride - 2 * padding + kernel, unless ``output_size``
    is given.
    """,
        static=STATIC,
        sizes=("output_size",),
    )(body)


max_unpool1d, max_unpool2d, max_unpool3d = (_max_unpool(f"max_unpool{n}d", n) for n in (1, 2, 3))


def _global(name: str, operator: str, what: str) -> Any:
    def body(input: Any) -> Any:
        return emit(operator, floating(input))

    return op(name=name, doc=f"{what} over all positions of each channel: [N, C, ...] to [N, C, 1...]. ONNX ``{operator}``.")(body)


global_avg_pool = _global("global_avg_pool", "GlobalAveragePool", "The mean")
global_max_pool = _global("global_max_pool", "GlobalMaxPool", "The greatest element")


@op(static=("p",))
def global_lp_pool(input: Any, p: int = 2) -> Any:
    """The p-norm over all positions of each channel: [N, C, ...] to [N, C, 1...]. ONNX ``GlobalLpPool``."""
    return emit("GlobalLpPool", floating(input), p=p)


def _bins(size: Any, count: Any) -> tuple[SymTensor, SymTensor]:
    """Whether position j lies in bin i, as bools [count, size], and how many lie in each, as float64 [count].

    Bin i reaches from floor(i * size / count) to ceil((i + 1) * size / count).
    """
    i = emit("msvm.Iota", [], [0, count, 1], dtype=I64)
    n, k, one = tensor(size, I64), tensor(v.maximum(count, 1), I64), tensor(1, I64)
    begin = emit("Div", [emit("Mul", [i, n]), k])
    end = emit("Div", [emit("Add", [emit("Mul", [emit("Add", [i, one]), n]), emit("Sub", [k, one])]), k])
    j = emit("msvm.Iota", [], [0, size, 1], dtype=I64)
    inside = emit("And", [emit("GreaterOrEqual", [j, v.unsqueeze(begin, [1])]), emit("Less", [j, v.unsqueeze(end, [1])])])
    return inside, tensor(emit("Sub", [end, begin]), F64)


def _adaptive_sizes(name: str, n: int, output_size: Any, x: SymTensor) -> list[Any]:
    sizes = list(output_size) if isinstance(output_size, (tuple, list)) else [output_size] * n
    if len(sizes) != n:
        raise InputError(f"{name}: expected {n} sizes, found {len(sizes)}")
    return [x.shape[2 + i] if s is None else as_size(s, "output_size") for i, s in enumerate(sizes)]


def adaptive_average(x: SymTensor, sizes: list[Any]) -> SymTensor:
    """Means over bins of all axes behind the first two, by a product with a matrix of weights for each axis."""
    n = len(sizes)
    if all(isinstance(s, int) and s == 1 for s in sizes):
        return emit("ReduceMean", [x], axes=list(range(2, 2 + n)), keepdims=1)
    for k, count in enumerate(sizes):
        axis = 2 + k
        if same(count, x.shape[axis]):
            continue
        if isinstance(count, int) and count == 1:
            x = emit("ReduceMean", [x], axes=[axis], keepdims=1)
            continue
        inside, number = _bins(x.shape[axis], count)
        weights = tensor(emit("Div", [tensor(inside, F64), v.unsqueeze(number, [1])]), x.dtype)
        order = [a for a in range(x.ndim) if a != axis] + [axis]
        y = emit("MatMul", [_permuted(x, order), v.transpose(weights, [1, 0])])
        x = _permuted(y, [order.index(a) for a in range(x.ndim)])
    return x


def _permuted(t: SymTensor, order: list[int]) -> SymTensor:
    return t if order == list(range(t.ndim)) else v.transpose(t, order)


def _adaptive_avg(name: str, n: int) -> Any:
    def body(input: Any, output_size: Any) -> Any:
        (x,) = floating(input)
        x, alone = _batched(name, n, x)
        y = adaptive_average(x, _adaptive_sizes(name, n, output_size, x))
        return v.squeeze(y, [0]) if alone else y

    return op(
        name=name,
        doc=f"""Means over as many bins as ``output_size`` says (one size, or one per axis; None keeps it), over {n} spatial axes
    of [N, C, ...].

    Bin i reaches from floor(i * size / count) to ceil((i + 1) * size / count).
    """,
        sizes=("output_size",),
    )(body)


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_adaptive_avg(f"adaptive_avg_pool{n}d", n) for n in (1, 2, 3))


def _adaptive_max(name: str, n: int) -> Any:
    def body(input: Any, output_size: Any) -> Any:
        (x,) = promoted(input)
        x, alone = _batched(name, n, x)
        for k, count in enumerate(_adaptive_sizes(name, n, output_size, x)):
            axis = 2 + k
            if isinstance(count, int) and count == 1:
                x = emit("ReduceMax", [x], axes=[axis], keepdims=1)
            elif not same(count, x.shape[axis]):
                inside, _ = _bins(x.shape[axis], count)
                mask = v.reshape(inside, [count, *(1 if a != axis else x.shape[axis] for a in range(axis, x.ndim))])
                least = tensor(-np.inf, x.dtype) if x.dtype.kind == "f" else tensor(int(np.iinfo(x.dtype.numpy).min), x.dtype)
                x = emit("ReduceMax", [emit("Where", [mask, v.unsqueeze(x, [axis]), least])], axes=[axis + 1], keepdims=0)
        return v.squeeze(x, [0]) if alone else x

    return op(
        name=name,
        doc=f"The greatest element of each of as many bins as ``output_size`` says, over {n} spatial axes of [N, C, ...]; "
        "bins as for averages.",
        sizes=("output_size",),
    )(body)


adaptive_max_pool1d, adaptive_max_pool2d = (_adaptive_max(f"adaptive_max_pool{n}d", n) for n in (1, 2))
