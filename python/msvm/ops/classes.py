"""The class forms that MindSpore has beside its functions: ``ops.Concat(axis=1)((a, b))``.

A name of this module may also be called with its tensors at once: ``ops.ResizeNearestNeighbor(x, size=(h, w))``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..frontend.values import SymTensor
from . import activation as a
from . import conv as c
from . import creation as cr
from . import elementwise as e
from . import image as im
from . import indexing as ix
from . import linalg as la
from . import movement as m
from . import normalization as n
from . import pool as p
from . import reduce as r
from ._index import getitem


def is_tensor(v: Any) -> bool:
    """Whether an argument is a tensor, an array, or a sequence that begins with one."""
    if isinstance(v, (tuple, list)) and len(v) > 0:
        v = v[0]
    return isinstance(v, (SymTensor, np.ndarray)) or hasattr(v, "asnumpy")


class Primitive:
    """An operator whose attributes are set; calling it takes the tensors."""

    def __init__(self, form: Form, attributes: dict[str, Any]) -> None:
        self.form = form
        self.attributes = attributes

    def __call__(self, *tensors: Any, **more: Any) -> Any:
        """The operator on tensors."""
        return self.form.function(*tensors, **self.attributes, **more)

    def __repr__(self) -> str:
        return f"{self.form.name}({', '.join(f'{k}={x!r}' for k, x in self.attributes.items())})"


class Form:
    """Makes a ``Primitive`` from attributes, or calls the function if the first argument is a tensor."""

    def __init__(self, name: str, function: Callable[..., Any], attributes: dict[str, str | None]) -> None:
        self.name = self.__name__ = name
        self.function = function
        self.attributes = attributes
        names = ", ".join(attributes)
        self.__doc__ = (
            f"Class form of ``ops.{getattr(function, '__name__', name)}``: {name}({names})(tensors), or called with the tensors first."
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result on tensors, or a ``Primitive`` with these attributes."""
        if args and is_tensor(args[0]):
            return self.function(*args, **kwargs)
        if len(args) > len(self.attributes):
            raise TypeError(f"{self.name}() takes {len(self.attributes)} attributes, found {len(args)}")
        given = dict(zip(self.attributes, args, strict=False))
        for k, x in kwargs.items():
            if k not in self.attributes or k in given:
                raise TypeError(
                    f"{self.name}() takes {', '.join(self.attributes) or 'no attributes'}; found {k!r}{' twice' if k in given else ''}"
                )
            given[k] = x
        return Primitive(self, {self.attributes[k] or k: x for k, x in given.items()})

    def __repr__(self) -> str:
        return f"<msvm operator class {self.name}>"


def _matmul(x: Any, y: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    return la.matmul(m.swapaxes(x, -1, -2) if transpose_a else x, m.swapaxes(y, -1, -2) if transpose_b else y)


def _conv2d(
    x: Any, weight: Any, bias: Any = None, *, stride: Any = 1, pad_mode: str = "valid", pad: Any = 0, dilation: Any = 1, group: int = 1
) -> Any:
    return c.conv2d(x, weight, bias, stride, pad_mode, pad, dilation, group)


def _conv2d_class(x: Any, weight: Any, bias: Any = None, **attributes: Any) -> Any:
    for unused in ("out_channel", "kernel_size", "mode", "data_format"):
        attributes.pop(unused, None)
    return _conv2d(x, weight, bias, **attributes)


def _pool(function: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    def call(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid") -> Any:
        return function(x, kernel_size, strides, pad_mode=pad_mode.lower(), **fixed)

    return call


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: Any = (), keep_dims: bool = False) -> Any:
        return function(x, axis, keep_dims)

    return call


def _softmax_axis(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: Any = -1) -> Any:
        return function(x, axis[0] if isinstance(axis, tuple) else axis)

    return call


def _arg_with_value(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: int = 0, keep_dims: bool = False) -> Any:
        values, at = function(x, axis, keep_dims)
        return at, values

    return call


def _arg(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: Any = -1, output_type: Any = None) -> Any:
        at = function(x, axis)
        return at if output_type is None else e.cast(at, output_type)

    return call


def _pad(x: Any, paddings: Any) -> Any:
    return m.pad(x, tuple(amount for pair in reversed(paddings) for amount in pair))


def _slice(x: Any, begin: Any, size: Any) -> Any:
    return getitem(x, tuple(slice(b, None if isinstance(s, int) and s == -1 else b + s) for b, s in zip(begin, size, strict=True)))


def _split(x: Any, axis: int = 0, output_num: int = 1) -> Any:
    return m.chunk_exact(x, output_num, axis)


def _cumulative(x: Any, axis: int) -> Any:
    return e.cumsum(x, axis)


def _batch_norm(
    x: Any, scale: Any, bias: Any, mean: Any, variance: Any, *, is_training: bool = False, epsilon: float = 1e-5, momentum: float = 0.1
) -> Any:
    return n.batch_norm(x, mean, variance, scale, bias, is_training, momentum, epsilon)


def _layer_norm(x: Any, gamma: Any, beta: Any, *, begin_norm_axis: int = 1, begin_params_axis: int = 1, epsilon: float = 1e-7) -> Any:
    shape = m.shape(x)
    return n.layer_norm(x, tuple(shape[begin_norm_axis % len(shape) :]), gamma, beta, epsilon)


def _fill(dtype: Any, shape: Any, value: Any) -> Any:
    return cr.full(shape, value, dtype=dtype)


def _roi_align(
    features: Any, rois: Any, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int = 2, roi_end_mode: int = 1
) -> Any:
    del roi_end_mode
    return im.roi_align(features, rois, (pooled_height, pooled_width), spatial_scale, sample_num)


def _topk(x: Any, k: Any, sorted: bool = True) -> Any:
    return ix.topk(x, k, sorted=sorted)


def _linear_resize(x: Any, size: Any, coordinate_transformation_mode: str = "align_corners") -> Any:
    return im.resize(x, size, mode="linear", coordinate_transformation_mode=coordinate_transformation_mode)


def _broadcast_to(x: Any, shape: Any) -> Any:
    return m.broadcast_to(x, shape)


def _gelu(x: Any) -> Any:
    return a.gelu(x, "tanh")


def _div_no_nan(x: Any, y: Any) -> Any:
    return e.where(e.equal(y, 0), 0.0, e.div(x, y))


_TABLE: dict[str, tuple[Callable[..., Any], dict[str, str | None] | str]] = {
    "Abs": (e.abs, ""),
    "ACos": (e.acos, ""),
    "Acosh": (e.acosh, ""),
    "Add": (e.add, ""),
    "AddN": (e.addn, ""),
    "Asin": (e.asin, ""),
    "Asinh": (e.asinh, ""),
    "Atan": (e.atan, ""),
    "Atan2": (e.atan2, ""),
    "Atanh": (e.atanh, ""),
    "BitwiseAnd": (e.bitwise_and, ""),
    "BitwiseOr": (e.bitwise_or, ""),
    "BitwiseXor": (e.bitwise_xor, ""),
    "Cast": (e.cast, ""),
    "Ceil": (e.ceil, ""),
    "Cos": (e.cos, ""),
    "Cosh": (e.cosh, ""),
    "Div": (e.div, ""),
    "DivNoNan": (_div_no_nan, ""),
    "Equal": (e.equal, ""),
    "Erf": (e.erf, ""),
    "Erfc": (e.erfc, ""),
    "Exp": (e.exp, ""),
    "Expm1": (e.expm1, ""),
    "Floor": (e.floor, ""),
    "FloorDiv": (e.floor_divide, ""),
    "FloorMod": (e.remainder, ""),
    "Greater": (e.greater, ""),
    "GreaterEqual": (e.greater_equal, ""),
    "Identity": (e.identity, ""),
    "IsFinite": (e.isfinite, ""),
    "IsInf": (e.isinf, ""),
    "IsNan": (e.isnan, ""),
    "Less": (e.less, ""),
    "LessEqual": (e.less_equal, ""),
    "Log": (e.log, ""),
    "Log1p": (e.log1p, ""),
    "LogicalAnd": (e.logical_and, ""),
    "LogicalNot": (e.logical_not, ""),
    "LogicalOr": (e.logical_or, ""),
    "LogicalXor": (e.logical_xor, ""),
    "Maximum": (e.maximum, ""),
    "Minimum": (e.minimum, ""),
    "Mod": (e.remainder, ""),
    "Mul": (e.mul, ""),
    "Neg": (e.neg, ""),
    "NotEqual": (e.not_equal, ""),
    "Pow": (e.pow, ""),
    "RealDiv": (e.div, ""),
    "Reciprocal": (e.reciprocal, ""),
    "Round": (e.round, ""),
    "Rsqrt": (e.rsqrt, ""),
    "Select": (e.where, ""),
    "Sigmoid": (e.sigmoid, ""),
    "Sign": (e.sign, ""),
    "Sin": (e.sin, ""),
    "Sinh": (e.sinh, ""),
    "Sqrt": (e.sqrt, ""),
    "Square": (e.square, ""),
    "Sub": (e.sub, ""),
    "Tan": (e.tan, ""),
    "Tanh": (e.tanh, ""),
    "Trunc": (e.trunc, ""),
    "Xlogy": (e.xlogy, ""),
    "CumSum": (_cumulative, ""),
    "CumProd": (e.cumprod, ""),
    "Elu": (a.elu, "alpha"),
    "GeLU": (_gelu, ""),
    "HSigmoid": (a.hardsigmoid, ""),
    "HSwish": (a.hardswish, ""),
    "LeakyReLU": (a.leaky_relu, "alpha"),
    "LogSoftmax": (a.log_softmax, "axis"),
    "Mish": (a.mish, ""),
    "PReLU": (a.prelu, ""),
    "ReLU": (a.relu, ""),
    "ReLU6": (a.relu6, ""),
    "SeLU": (a.selu, ""),
    "SiLU": (a.silu, ""),
    "Softmax": (_softmax_axis(a.softmax), "axis"),
    "Softplus": (a.softplus, ""),
    "Softsign": (a.softsign, ""),
    "HShrink": (a.hardshrink, "lambd"),
    "SoftShrink": (a.softshrink, "lambd"),
    "ArgMaxWithValue": (_arg_with_value(r.max), "axis keep_dims"),
    "ArgMinWithValue": (_arg_with_value(r.min), "axis keep_dims"),
    "Argmax": (_arg(r.argmax), "axis output_type"),
    "Argmin": (_arg(r.argmin), "axis output_type"),
    "ReduceAll": (_reduction(r.all), "keep_dims"),
    "ReduceAny": (_reduction(r.any), "keep_dims"),
    "ReduceMax": (_reduction(r.amax), "keep_dims"),
    "ReduceMean": (_reduction(r.mean), "keep_dims"),
    "ReduceMin": (_reduction(r.amin), "keep_dims"),
    "ReduceProd": (_reduction(r.prod), "keep_dims"),
    "ReduceSum": (_reduction(r.sum), "keep_dims"),
    "BatchMatMul": (_matmul, "transpose_a transpose_b"),
    "BiasAdd": (la.bias_add, ""),
    "Einsum": (lambda operands, equation: la.einsum(equation, *operands), "equation"),
    "MatMul": (_matmul, "transpose_a transpose_b"),
    "BroadcastTo": (_broadcast_to, "shape"),
    "Concat": (m.cat, "axis"),
    "DepthToSpace": (m.depth_to_space, "block_size"),
    "ExpandDims": (m.expand_dims, ""),
    "Flatten": (lambda x: m.flatten(x, start_dim=1), ""),
    "Pad": (_pad, "paddings"),
    "Rank": (m.rank, ""),
    "Reshape": (m.reshape, ""),
    "ReverseV2": (m.flip, {"axis": "axis"}),
    "ReverseSequence": (m.reverse_sequence, {"seq_dim": None, "batch_dim": None}),
    "Shape": (m.shape, ""),
    "Slice": (_slice, ""),
    "SpaceToDepth": (m.space_to_depth, "block_size"),
    "Split": (_split, "axis output_num"),
    "Squeeze": (m.squeeze, "axis"),
    "Stack": (m.stack, "axis"),
    "Tile": (m.tile, ""),
    "Transpose": (m.permute, ""),
    "Tril": (m.tril, "diagonal"),
    "Triu": (m.triu, "diagonal"),
    "Unstack": (m.unstack, "axis"),
    "Size": (m.numel, ""),
    "DynamicShape": (m.shape_tensor, ""),
    "TensorShape": (m.shape_tensor, ""),
    "Gather": (ix.gather, "batch_dims"),
    "GatherD": (ix.gather_elements, ""),
    "GatherNd": (ix.gather_nd, ""),
    "MaskedFill": (ix.masked_fill, ""),
    "MaskedSelect": (ix.masked_select, ""),
    "OneHot": (ix.one_hot, "axis"),
    "ScatterNd": (ix.scatter_nd, ""),
    "Sort": (ix.sort, "axis descending"),
    "TensorScatterAdd": (ix.tensor_scatter_add, ""),
    "TensorScatterElements": (ix.tensor_scatter_elements, {"axis": None, "reduction": None}),
    "TensorScatterMax": (ix.tensor_scatter_max, ""),
    "TensorScatterMin": (ix.tensor_scatter_min, ""),
    "TensorScatterMul": (ix.tensor_scatter_mul, ""),
    "TensorScatterSub": (ix.tensor_scatter_sub, ""),
    "TensorScatterUpdate": (ix.tensor_scatter_update, ""),
    "TopK": (_topk, "sorted"),
    "NonZero": (ix.nonzero, ""),
    "Unique": (lambda x: ix.unique(x, False, True), ""),
    "AdaptiveAvgPool2D": (p.adaptive_avg_pool2d, "output_size"),
    "AvgPool": (_pool(p.avg_pool2d, count_include_pad=False), "kernel_size strides pad_mode"),
    "MaxPool": (_pool(p.max_pool2d), "kernel_size strides pad_mode"),
    "Conv2D": (_conv2d_class, "out_channel kernel_size mode pad_mode pad stride dilation group data_format"),
    "BatchNorm": (_batch_norm, "is_training epsilon momentum"),
    "LayerNorm": (_layer_norm, "begin_norm_axis begin_params_axis epsilon"),
    "L2Normalize": (n.l2_normalize, "axis epsilon"),
    "LRN": (n.lrn, "depth_radius bias alpha beta"),
    "CropAndResize": (im.crop_and_resize, ""),
    "GridSampler2D": (im.grid_sample, {"interpolation_mode": "mode", "padding_mode": None, "align_corners": None}),
    "Resize": (im.resize, "size"),
    "ResizeBicubic": (im.resize_bicubic, {"align_corners": None, "half_pixel_centers": None}),
    "ResizeBilinear": (im.resize_bilinear, "size align_corners half_pixel_centers"),
    "ResizeBilinearV2": (im.resize_bilinear, {"align_corners": None, "half_pixel_centers": None}),
    "ResizeLinear1D": (_linear_resize, {"coordinate_transformation_mode": None}),
    "ResizeNearestNeighbor": (im.resize_nearest_neighbor, "size align_corners"),
    "ResizeNearestNeighborV2": (im.resize_nearest_neighbor, {"align_corners": None, "half_pixel_centers": None}),
    "ROIAlign": (_roi_align, "pooled_height pooled_width spatial_scale sample_num roi_end_mode"),
    "Eye": (cr.eye, ""),
    "Fill": (_fill, ""),
    "LinSpace": (cr.linspace, ""),
    "Ones": (lambda shape, dtype: cr.ones(shape, dtype=dtype), ""),
    "OnesLike": (cr.ones_like, ""),
    "Range": (cr.arange, ""),
    "Zeros": (lambda shape, dtype: cr.zeros(shape, dtype=dtype), ""),
    "ZerosLike": (cr.zeros_like, ""),
}

FORMS: dict[str, Form] = {
    name: Form(name, function, dict.fromkeys(attributes.split()) if isinstance(attributes, str) else attributes)
    for name, (function, attributes) in _TABLE.items()
}
