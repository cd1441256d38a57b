"""Images [N, C, spatial...]: sampling at other sizes and positions, regions, grids.

Sizes that are known only when the program runs stay bound to the symbols they come from.
"""

from __future__ import annotations

from typing import Any

from .._errors import InputError, UnsupportedError
from ..frontend import values as v
from ..frontend.build import current
from ..frontend.values import F32, I64, SymInt, SymTensor, as_tensor, dim_of, emit, integer
from ._op import op
from ._promote import floating, tensor
from ._shape import as_sizes, axes_of
from .pool import adaptive_average


def _scaled(size: Any, scale: float) -> Any:
    """floor(size * scale)."""
    if float(scale).is_integer():
        return size * int(scale)
    if isinstance(size, int):
        return int(size * scale)
    core = current().core
    product = core.scalar_calc("mul", core.scalar_from_int(dim_of(size)), core.scalar_const(float(scale)))
    return integer(core.scalar_to_int(core.scalar_calc("floor", product)))


_LINEAR_RANKS = {"linear": 3, "bilinear": 4, "trilinear": 5, "bicubic": 4}


def resized(x: SymTensor, axes: list[int], sizes: list[Any], **attrs: Any) -> SymTensor:
    """The operator ``Resize``; nothing where the sizes stay."""
    return emit("Resize", [x, None, None], sizes, axes=axes, **attrs)  # type: ignore[no-any-return]


@op(sizes=("size",), static=("scale_factor", "mode", "align_corners", "recompute_scale_factor", "antialias"))
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    *,
    antialias: bool = False,
) -> Any:
    """The image sampled at other spatial sizes, as torch and MindSpore do. ONNX ``Resize``.

    ``input`` [N, C, ...]; ``size``: one for all spatial axes or one each, or ``scale_factor``: floats, sizes become floor(size * factor).
    ``mode``: "nearest" (position floor(i * in / out)), "nearest-exact" (centres), "linear" (rank 3), "bilinear" and "bicubic" (rank 4),
    "trilinear" (rank 5), "area" (means over bins). ``align_corners``: corner elements keep their places. Integers stay for "nearest" only.
    """
    if mode not in ("nearest", "nearest-exact", "area", *_LINEAR_RANKS):
        raise InputError(f"interpolate: mode {mode!r} isn't there")
    nearest = mode in ("nearest", "nearest-exact")
    x = as_tensor(input) if nearest else floating(input)[0]
    n = x.ndim - 2
    if n < 1:
        raise InputError(f"interpolate: expected rank 3 or more, found {x.ndim}")
    if mode in _LINEAR_RANKS and x.ndim != _LINEAR_RANKS[mode]:
        raise InputError(f"interpolate: mode {mode!r} takes rank {_LINEAR_RANKS[mode]}, found {x.ndim}")
    if align_corners is not None and mode not in _LINEAR_RANKS:
        raise InputError(f"interpolate: align_corners can't be given with mode {mode!r}")
    if (size is None) == (scale_factor is None):
        raise InputError("interpolate: give either size or scale_factor")
    scales = None
    if scale_factor is not None:
        factors = list(scale_factor) if isinstance(scale_factor, (tuple, list)) else [scale_factor] * n
        if len(factors) != n or any(isinstance(f, v.Symbolic) or f <= 0 for f in factors):
            raise InputError(f"interpolate: scale_factor is one positive number or {n}, found {scale_factor!r}")
        sizes = [_scaled(d, f) for d, f in zip(x.shape[2:], factors, strict=True)]
        if not recompute_scale_factor and mode != "area":
            scales = [float(f) for f in factors]
    else:
        sizes = list(as_sizes(size, "size"))
        if len(sizes) == 1:
            sizes = sizes * n
        if len(sizes) != n:
            raise InputError(f"interpolate: expected {n} sizes, found {len(sizes)}")
    if mode == "area":
        return adaptive_average(x, sizes)
    axes = list(range(2, x.ndim))
    if mode == "nearest":
        return resized(x, axes, sizes, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor", scales=scales)
    if mode == "nearest-exact":
        return resized(
            x, axes, sizes, mode="nearest", coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_ceil", scales=scales
        )
    coordinates = "align_corners" if align_corners else "half_pixel"
    return resized(
        x,
        axes,
        sizes,
        mode="cubic" if mode == "bicubic" else "linear",
        coordinate_transformation_mode=coordinates,
        scales=scales,
        antialias=int(antialias),
    )


def upsample(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None) -> Any:
    """``interpolate`` under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


@op(sizes=("size",), static=("align_corners", "half_pixel_centers"))
def resize_nearest_neighbor(input_x: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Any:
    """[N, C, H, W] at the size (height, width), by the nearest neighbour. ONNX ``Resize``.

    Position i of the result reads floor(i * in / out), or with ``align_corners`` round(i * (in - 1) / (out - 1)).
    """
    x = as_tensor(input_x)
    sizes = _two(size, "resize_nearest_neighbor", x)
    if align_corners:
        return resized(x, [2, 3], sizes, mode="nearest", coordinate_transformation_mode="align_corners", nearest_mode="round_prefer_ceil")
    mode = "half_pixel" if half_pixel_centers else "asymmetric"
    return resized(x, [2, 3], sizes, mode="nearest", coordinate_transformation_mode=mode, nearest_mode="floor")


def _positions(align_corners: bool, half_pixel_centers: bool) -> str:
    return "align_corners" if align_corners else "half_pixel" if half_pixel_centers else "asymmetric"


def _two(size: Any, name: str, x: SymTensor) -> list[Any]:
    sizes = list(as_sizes(size, "size"))
    if len(sizes) != 2 or x.ndim != 4:
        raise InputError(f"{name}: expected a tensor [N, C, H, W] and a size (height, width), found rank {x.ndim} and {len(sizes)} sizes")
    return sizes


@op(sizes=("size",), static=("align_corners", "half_pixel_centers"))
def resize_bilinear(input: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Any:
    """[N, C, H, W] at the size (height, width), by linear interpolation.

    Positions are i * in / out, those of centres, or those of corners. ONNX ``Resize``.
    """
    (x,) = floating(input)
    return resized(
        x,
        [2, 3],
        _two(size, "resize_bilinear", x),
        mode="linear",
        coordinate_transformation_mode=_positions(align_corners, half_pixel_centers),
    )


@op(sizes=("size",), static=("align_corners", "half_pixel_centers"))
def resize_bicubic(images: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Any:
    """[N, C, H, W] at the size (height, width), by the cubic filter.

    Positions are i * in / out, those of centres, or those of corners. ONNX ``Resize``.
    """
    (x,) = floating(images)
    return resized(
        x,
        [2, 3],
        _two(size, "resize_bicubic", x),
        mode="cubic",
        coordinate_transformation_mode=_positions(align_corners, half_pixel_centers),
    )


_RESIZE = (
    "mode",
    "coordinate_transformation_mode",
    "nearest_mode",
    "axes",
    "cubic_coeff_a",
    "exclude_outside",
    "extrapolation_value",
    "antialias",
    "scales",
)


@op(sizes=("size",), static=_RESIZE)
def resize(
    input: Any,
    size: Any = None,
    *,
    scales: Any = None,
    roi: Any = None,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    axes: Any = None,
    cubic_coeff_a: float = -0.75,
    exclude_outside: bool = False,
    extrapolation_value: float = 0.0,
    antialias: bool = False,
) -> Any:
    """A tensor sampled at other sizes, with all that ONNX ``Resize`` offers and its defaults.

    ``size``: of the resized axes: ``axes``, or the last ones, as many as there are sizes; or ``scales``: floats, sizes become floor(size
    * scale).
    """
    x = as_tensor(input)
    if mode != "nearest":
        (x,) = floating(x)
    if (size is None) == (scales is None):
        raise InputError("resize: give either size or scales")
    factors = None
    if scales is not None:
        factors = [float(f) for f in (scales if isinstance(scales, (tuple, list)) else (scales,))]
    sizes = list(as_sizes(size, "size")) if size is not None else []
    count = len(sizes) or len(factors or [])
    if count > x.ndim:
        raise InputError(f"resize: {count} sizes for a tensor of rank {x.ndim}")
    chosen = list(axes_of(axes, x.ndim)) if axes is not None else list(range(x.ndim - count, x.ndim))
    if factors is not None:
        sizes = [_scaled(x.shape[a], f) for a, f in zip(chosen, factors, strict=True)]
    if len(chosen) != len(sizes):
        raise InputError(f"resize: {len(sizes)} sizes, but {len(chosen)} axes")
    attrs: dict[str, Any] = {
        "mode": mode,
        "coordinate_transformation_mode": coordinate_transformation_mode,
        "scales": factors,
        "antialias": int(antialias),
    }
    if mode == "nearest":
        attrs["nearest_mode"] = nearest_mode
    if mode == "cubic":
        attrs["cubic_coeff_a"] = float(cubic_coeff_a)
    if exclude_outside:
        attrs["exclude_outside"] = 1
    if coordinate_transformation_mode == "tf_crop_and_resize":
        attrs["extrapolation_value"] = float(extrapolation_value)
    return emit("Resize", [x, None, None if roi is None else tensor(roi, F32)], sizes, axes=chosen, **attrs)


@op(static=("mode", "padding_mode", "align_corners"))
def grid_sample(input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False) -> Any:
    """``input`` [N, C, spatial...] read at the positions in ``grid`` [N, out..., axes], which run from -1 to 1, last axis first.

    ONNX ``GridSample``.

    ``mode``: "bilinear", "nearest", "bicubic"; ``padding_mode``: "zeros", "border", "reflection".
    """
    modes = {"bilinear": "linear", "linear": "linear", "nearest": "nearest", "bicubic": "cubic", "cubic": "cubic"}
    if mode not in modes:
        raise InputError(f"grid_sample: mode is one of {', '.join(modes)}; found {mode!r}")
    x, g = floating(input, grid)
    return emit("GridSample", [x, g], mode=modes[mode], padding_mode=padding_mode, align_corners=int(align_corners))


@op(sizes=("size",), static=("align_corners",))
def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Any:
    """Positions for ``grid_sample`` that a linear map [N, 2, 3] (or [N, 3, 4]) gives for an image of the size N, C, [D,] H, W.

    ONNX ``AffineGrid``.
    """
    (t,) = floating(theta)
    return emit("AffineGrid", [t], as_sizes(size, "size"), align_corners=int(align_corners))


@op(static=("output_size", "spatial_scale", "sampling_ratio", "aligned", "mode"))
def roi_align(
    input: Any,
    boxes: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
    *,
    batch_indices: Any = None,
    mode: str = "avg",
) -> Any:
    """Mean (or maximum) of interpolated samples in each cell of a grid over each region. ONNX ``RoiAlign``.

    ``input`` [N, C, H, W]; ``boxes`` [K, 5] (batch element, x1, y1, x2, y2), or [K, 4] with ``batch_indices`` [K] (all 0 if absent).
    ``output_size``: an int or (height, width) of the grid. ``spatial_scale``: from coordinates of boxes to those of ``input``.
    ``sampling_ratio``: samples along each side of a cell; 0 or less: by its size. ``aligned`` shifts by half an element. Result [K, C,
    height, width].
    """
    x, rois = floating(input, boxes)
    at = None if batch_indices is None else tensor(as_tensor(batch_indices), I64)
    rois, at = _regions(rois, at)
    height, width = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
    if isinstance(height, SymInt) or isinstance(width, SymInt):
        raise UnsupportedError("roi_align: output_size must be known before the program runs")
    return emit(
        "RoiAlign",
        [x, rois, at],
        output_height=height,
        output_width=width,
        spatial_scale=float(spatial_scale),
        sampling_ratio=max(sampling_ratio, 0),
        mode=mode,
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
    )


def _regions(rois: SymTensor, at: SymTensor | None) -> tuple[SymTensor, SymTensor]:
    """Corners [K, 4] and batch elements [K]."""
    if rois.ndim != 2 or not (isinstance(rois.shape[1], SymInt) or rois.shape[1] in (4, 5)):
        raise InputError(f"expected boxes [K, 5] or [K, 4], found {rois!r}")
    five = at is None and (rois.shape[1] == 5 if isinstance(rois.shape[1], int) else True)
    if five:
        n = rois.shape[1]
        if isinstance(n, SymInt):
            v.require(n == 5, "boxes have another number of columns than 5; give batch_indices with boxes [K, 4]")
        first = v.squeeze(v.slice_view(rois, [1], [0], [1], [1]), [1])
        return v.slice_view(rois, [1], [1], [5], [1]), tensor(first, I64)
    if at is None:
        at = emit("msvm.Fill", [], [rois.shape[0]], dtype=I64, value=0)
    return rois, at


@op(static=("output_size", "spatial_scale"))
def max_roi_pool(input: Any, rois: Any, output_size: Any, spatial_scale: float = 1.0) -> Any:
    """The greatest element in each cell of a grid over each region [K, 5] (batch element, x1, y1, x2, y2). ONNX ``MaxRoiPool``."""
    size = [output_size] * 2 if isinstance(output_size, int) else list(output_size)
    return emit("MaxRoiPool", floating(input, rois), pooled_shape=size, spatial_scale=float(spatial_scale))


@op
def crop_and_resize(image: Any, boxes: Any, box_indices: Any, crop_size: Any) -> Any:
    """Regions of images [N, H, W, C], each at the size (height, width) by linear interpolation: [K, height, width, C].

    ``boxes`` [K, 4]: y1, x1, y2, x2 from 0 to 1; ``box_indices`` [K]: which image.
    """
    x, b = floating(image, boxes)
    at = tensor(as_tensor(box_indices), I64)
    n, h, w, _ = x.shape
    height, width = as_sizes(crop_size, "crop_size")
    k = b.shape[0]
    picked = emit("Gather", [v.transpose(x, [0, 3, 1, 2]), at], axis=0)
    del n

    def positions(first: int, count: Any, size: Any) -> SymTensor:
        low, high = (v.slice_view(b, [1], [i], [i + 1], [1]) for i in (first, first + 2))
        steps = tensor(emit("msvm.Iota", [], [0, count, 1], dtype=I64), b.dtype)
        gaps = tensor(v.maximum(count - 1, 1), b.dtype)
        fraction = emit("Div", [steps, gaps])
        if isinstance(count, int) and count == 1:
            fraction = emit("Add", [fraction, tensor(0.5, b.dtype)])
        place = emit("Add", [low, emit("Mul", [emit("Sub", [high, low]), v.unsqueeze(fraction, [0])])])
        del size
        two, one = tensor(2.0, b.dtype), tensor(1.0, b.dtype)
        return emit("Sub", [emit("Mul", [place, two]), one])

    rows = v.broadcast_to(v.unsqueeze(positions(0, height, h), [2]), [k, height, width])
    columns = v.broadcast_to(v.unsqueeze(positions(1, width, w), [1]), [k, height, width])
    grid = emit("msvm.Stack", [columns, rows], axis=3)
    y = emit("GridSample", [picked, grid], mode="linear", padding_mode="zeros", align_corners=1)
    return v.transpose(y, [0, 2, 3, 1])
