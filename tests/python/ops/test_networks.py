"""Products, convolutions, pools, normalisations, images, recurrent networks and attention, against references written in numpy."""

import itertools
import math

import numpy as np
import pytest
from ops.oracle import FLOATS, INTS, array, assert_same

import msvm
from msvm import ops


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# --- products ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, "bool"])
def test_matmul(dtype):
    for a, b in [
        ((2, 3), (3, 4)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (3,)),
        ((5, 2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((2, 1, 2, 3), (5, 3, 4)),
        ((0, 3), (3, 4)),
        ((2, 0), (0, 4)),
    ]:
        x, y = array(a, dtype, -2, 2), array(b, dtype, -2, 2, seed=1)
        assert_same(ops.matmul(x, y), np.matmul(x, y), what=f"{dtype} {a} {b}", rtol=1e-2 if dtype == "float16" else None)


def test_other_products():
    a, b, v = array((3, 4)), array((4, 5), seed=1), array((4,), seed=2)
    batch = array((2, 3, 4))
    assert_same(ops.mm(a, b), a @ b)
    assert_same(ops.mv(a, v), a @ v)
    assert_same(ops.bmm(batch, array((2, 4, 5))), batch @ array((2, 4, 5)))
    assert_same(ops.addmm(array((5,)), a, b, beta=2, alpha=3), 2 * array((5,)) + 3 * (a @ b))
    assert_same(ops.baddbmm(np.float32(1) + np.zeros((2, 3, 5), np.float32), batch, array((2, 4, 5))), 1 + batch @ array((2, 4, 5)))
    assert_same(ops.gemm(a, b.T, array((5,)), alpha=0.5, beta=2.0, transpose_b=True), 0.5 * (a @ b) + 2 * array((5,)))
    assert_same(ops.dense(batch, b.T, array((5,))), batch @ b + array((5,)))
    assert_same(ops.bias_add(batch, array((3,))), batch + array((3,))[:, None])
    for p, q in [((3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 3, 4), (5, 4, 2)), ((), (3,))]:
        assert_same(ops.dot(array(p), array(q)), np.dot(array(p), array(q)))
    assert_same(ops.inner(batch, a), np.inner(batch, a))
    assert_same(ops.outer(v, a), np.outer(v, a))
    for axes in (0, 1, 2, ([0, 1], [1, 0]), ([-1], [0])):
        y = array((4, 3, 4)) if axes == ([0, 1], [1, 0]) else array((3, 4, 2)) if axes == 2 else array((4, 3))
        assert_same(ops.tensordot(a, y, axes), np.tensordot(a, y, axes), what=str(axes))
    assert_same(ops.vecdot(batch, a), (batch * a).sum(-1))
    assert_same(ops.vecdot(batch, batch, axis=1), (batch * batch).sum(1))
    assert_same(ops.kron(a, b), np.kron(a, b))
    assert_same(ops.kron(v, a), np.kron(v, a))
    assert_same(ops.cross(array((5, 3)), array((5, 3), seed=1)), np.cross(array((5, 3)), array((5, 3), seed=1)))
    assert_same(ops.trace(a, 1), np.trace(a, 1))
    assert_same(ops.det(array((2, 4, 4), "float64")), np.linalg.det(array((2, 4, 4), "float64")), rtol=1e-9)
    for equation, shapes in {
        "ij,jk->ik": [(3, 4), (4, 5)],
        "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
        "ii->i": [(4, 4)],
        "ij->": [(3, 4)],
        "i,j->ij": [(3,), (4,)],
        "...ij,...jk->...ik": [(2, 3, 4), (4, 5)],
        "ij,kj": [(2, 3), (4, 3)],
    }.items():
        xs = [array(s, seed=k) for k, s in enumerate(shapes)]
        assert_same(ops.einsum(equation, *xs), np.einsum(equation, *xs), what=equation)
    for bad in (
        lambda: ops.matmul(a, a),
        lambda: ops.mm(batch, batch),
        lambda: ops.matmul(np.float32(1), a),
        lambda: ops.einsum("ij,jk", a),
    ):
        with pytest.raises(msvm.InputError):
            bad()


# --- convolutions and pools ----------------------------------------------------------------------------------------------


def conv_reference(x, w, b=None, stride=1, pads=((0, 0), (0, 0)), dilation=1, groups=1):
    n, c = x.shape[:2]
    k = w.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    out = [(x.shape[2 + i] - dilation * (k[i] - 1) - 1) // stride + 1 for i in range(len(k))]
    y = np.zeros((n, w.shape[0], *out), np.float64)
    per_in, per_out = c // groups, w.shape[0] // groups
    for g in range(groups):
        for at in itertools.product(*(range(d) for d in k)):
            window = x[
                (
                    slice(None),
                    slice(g * per_in, (g + 1) * per_in),
                    *(slice(a * dilation, a * dilation + (o - 1) * stride + 1, stride) for a, o in zip(at, out, strict=True)),
                )
            ]
            y[:, g * per_out : (g + 1) * per_out] += np.einsum(
                "nc...,oc->no...", window, w[(slice(g * per_out, (g + 1) * per_out), slice(None), *at)]
            )
    if b is not None:
        y += b.reshape(1, -1, *[1] * len(k))
    return y.astype(w.dtype)


def same_pads(size, k, stride, dilation):
    total = max((-(-size // stride) - 1) * stride + dilation * (k - 1) + 1 - size, 0)
    return (total // 2, total - total // 2)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_convolutions(n):
    conv = getattr(ops, f"conv{n}d")
    sizes = (9, 7, 5)[:n]
    for stride, dilation, groups, dtype in [
        (1, 1, 1, "float32"),
        (2, 1, 1, "float64"),
        (1, 2, 1, "float32"),
        (2, 1, 2, "float32"),
        (1, 1, 4, "float32"),
    ]:
        x, w, b = array((2, 4, *sizes), dtype), array((8, 4 // groups, *[3] * n), dtype, seed=1), array((8,), dtype, seed=2)
        for mode in ("valid", "same", "pad"):
            pads = {"valid": [(0, 0)] * n, "same": [same_pads(s, 3, stride, dilation) for s in sizes], "pad": [(2, 2)] * n}[mode]
            want = conv_reference(x, w, b, stride, pads, dilation, groups)
            assert_same(
                conv(x, w, b, stride, mode, 2 if mode == "pad" else 0, dilation, groups),
                want,
                what=f"{n} {stride} {dilation} {groups} {mode}",
                rtol=1e-4,
            )
    assert_same(conv(x[0], w, None, 1, "valid", 0, 1, 4), conv_reference(x, w, None, 1, [(0, 0)] * n, 1, 4)[0], rtol=1e-4)
    assert conv(x[:0], w, None, groups=4).shape[0] == 0


def test_convolution_arguments():
    x, w = array((1, 2, 6, 6)), array((3, 2, 3, 3))
    assert_same(ops.conv2d(x, w, pad_mode="pad", padding=(1, 2, 0, 3)), conv_reference(x, w, None, 1, ((1, 2), (0, 3))), rtol=1e-4)
    assert_same(ops.conv2d(x, w, pad_mode="pad", padding=(1, 2)), conv_reference(x, w, None, 1, ((1, 1), (2, 2))), rtol=1e-4)
    for bad, message in [
        ({"padding": 1}, 'use pad_mode="pad"'),
        ({"pad_mode": "full"}, "'same', 'valid' or 'pad'"),
        ({"stride": (1, 2, 3)}, "expected an int or 2 ints"),
        ({"groups": 5}, ""),
    ]:
        with pytest.raises(msvm.InputError, match=message):
            ops.conv2d(x, w, **bad)
    with pytest.raises(msvm.InputError, match="rank 3, expected 4"):
        ops.conv2d(x, w[0])


def test_transposed_convolution():
    for stride, padding, extra, groups in [(1, 0, 0, 1), (2, 1, 1, 1), (3, 0, 0, 2)]:
        x, w, b = array((2, 4, 5, 4)), array((4, 6 // groups, 3, 3), seed=1), array((6,), seed=2)
        h, wd = ((s - 1) * stride + 3 + extra for s in x.shape[2:])
        full = np.zeros((2, 6, h, wd))
        for g, i, j in itertools.product(range(groups), range(3), range(3)):
            part = np.einsum(
                "nchw,co->nohw", x[:, g * 4 // groups : (g + 1) * 4 // groups], w[g * 4 // groups : (g + 1) * 4 // groups, :, i, j]
            )
            full[:, g * 6 // groups : (g + 1) * 6 // groups, i : i + 4 * stride + 1 : stride, j : j + 3 * stride + 1 : stride] += part
        want = full[:, :, padding : h - padding, padding : wd - padding] + b[:, None, None]
        got = ops.conv_transpose2d(x, w, b, stride, "pad", padding, extra, groups)
        assert_same(got, want.astype(np.float32), rtol=1e-4, what=f"{stride} {padding} {extra} {groups}")


def test_deformable_and_causal_convolution():
    x, w = array((1, 2, 6, 6)), array((3, 2, 3, 3))
    offsets = np.zeros((1, 18, 4, 4), np.float32)
    assert_same(ops.deform_conv2d(x, w, offsets), conv_reference(x, w), rtol=1e-4)
    offsets[:, 1::2] = 1.0
    moved = np.zeros_like(x)
    moved[..., :-1] = x[..., 1:]
    assert_same(
        ops.deform_conv2d(x, w, offsets, mask=np.full((1, 9, 4, 4), 0.5, np.float32)), conv_reference(moved, w) * np.float32(0.5), rtol=1e-4
    )
    s, k = array((2, 3, 7)), array((3, 1, 4), seed=1)
    want = conv_reference(s, k, None, 1, ((3, 0),), 1, 3)
    y, state = ops.causal_conv_with_state(s, k)
    assert_same(y, want, rtol=1e-4)
    assert_same(state, s[..., -3:])


def windows(x, k, s, d=1):
    out = [(x.shape[2 + i] - d * (k - 1) - 1) // s + 1 for i in range(x.ndim - 2)]
    return np.stack(
        [
            x[(slice(None), slice(None), *(slice(a * d, a * d + (o - 1) * s + 1, s) for a, o in zip(at, out, strict=True)))]
            for at in itertools.product(range(k), repeat=x.ndim - 2)
        ],
        -1,
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_pools(n):
    x = array((2, 3, *(8, 7, 6)[:n]))
    for k, s in [(2, 2), (3, 1), (3, 2)]:
        w = windows(x, k, s)
        assert_same(getattr(ops, f"max_pool{n}d")(x, k, s), w.max(-1))
        assert_same(getattr(ops, f"avg_pool{n}d")(x, k, s), w.mean(-1))
        assert_same(getattr(ops, f"max_pool{n}d")(x[0], k, s), w[0].max(-1))
    padded = np.pad(x, ((0, 0), (0, 0), *[(1, 1)] * n))
    assert_same(getattr(ops, f"avg_pool{n}d")(x, 3, 2, 1), windows(padded, 3, 2).mean(-1))
    count = windows(np.pad(np.ones_like(x), ((0, 0), (0, 0), *[(1, 1)] * n)), 3, 2).sum(-1)
    assert_same(getattr(ops, f"avg_pool{n}d")(x, 3, 2, 1, count_include_pad=False), windows(padded, 3, 2).sum(-1) / count)
    assert_same(getattr(ops, f"avg_pool{n}d")(x, 2, divisor_override=3), windows(x, 2, 2).sum(-1) / np.float32(3))
    values, at = getattr(ops, f"max_pool{n}d")(x, 2, return_indices=True)
    flat = x.reshape(2, 3, -1)
    assert_same(np.take_along_axis(flat, np.asarray(at).reshape(2, 3, -1), 2).reshape(np.asarray(values).shape), np.asarray(values))
    back = getattr(ops, f"max_unpool{n}d")(values, at, 2, output_size=x.shape[2:])
    want = np.zeros_like(flat)
    np.put_along_axis(want, np.asarray(at).reshape(2, 3, -1), np.asarray(values).reshape(2, 3, -1), 2)
    assert_same(back, want.reshape(x.shape))
    if n < 3:
        assert_same(getattr(ops, f"lp_pool{n}d")(x, 2, 2), np.sqrt((windows(x, 2, 2) ** 2).sum(-1)))


def test_global_pools():
    x = array((2, 3, 4, 5))
    assert_same(ops.global_avg_pool(x), x.mean((2, 3), keepdims=True))
    assert_same(ops.global_max_pool(x), x.max((2, 3), keepdims=True))
    assert_same(ops.global_lp_pool(x), np.sqrt((x * x).sum((2, 3), keepdims=True)))


def bins(n, count):
    return [slice(i * n // count, -(-(i + 1) * n // count)) for i in range(count)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, (3, 5), (None, 2), 10])
def test_adaptive_pools(size):
    x = array((2, 3, 7, 8))
    h, w = (size, size) if isinstance(size, int) else size
    rows, columns = bins(7, h or 7), bins(8, w or 8)
    for name, f in (("adaptive_avg_pool2d", np.mean), ("adaptive_max_pool2d", np.max)):
        want = np.stack([np.stack([f(x[:, :, r, c], axis=(2, 3)) for c in columns], -1) for r in rows], -2)
        assert_same(getattr(ops, name)(x, size), want)
    if isinstance(size, int):
        assert_same(ops.adaptive_avg_pool1d(x[0], size), np.stack([x[0][:, :, c].mean(-1) for c in bins(8, size)], -1))


# --- normalisations ------------------------------------------------------------------------------------------------------


def test_normalisations():
    x = array((2, 6, 3, 5))
    w, b, m, var = array((6,), seed=1), array((6,), seed=2), array((6,), seed=3), array((6,), "float32", 0.5, 2, seed=4)

    def channels(t):
        return t.reshape(-1, 1, 1)

    assert_same(ops.batch_norm(x, m, var, w, b), (x - channels(m)) / np.sqrt(channels(var) + 1e-5) * channels(w) + channels(b))
    y, mean, variance = ops.batch_norm(x, m, var, w, b, training=True, momentum=0.25)
    own, own_var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    assert_same(y, (x - channels(own)) / np.sqrt(channels(own_var) + 1e-5) * channels(w) + channels(b), rtol=1e-4)
    assert_same(mean, 0.75 * m + 0.25 * own)
    assert_same(variance, 0.75 * var + 0.25 * own_var, rtol=1e-3)
    for axes, shape in (((3,), (5,)), ((2, 3), (3, 5))):
        g, c = array(shape, seed=5), array(shape, seed=6)
        want = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
        assert_same(ops.layer_norm(x, shape, g, c), want * g + c, rtol=1e-4)
        assert_same(ops.layer_norm(x, shape), want, rtol=1e-4)
        assert_same(ops.rms_norm(x, g), x / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-6) * g, rtol=1e-4)
    grouped = x.reshape(2, 3, -1)
    want = ((grouped - grouped.mean(-1, keepdims=True)) / np.sqrt(grouped.var(-1, keepdims=True) + 1e-5)).reshape(x.shape) * channels(
        w
    ) + channels(b)
    assert_same(ops.group_norm(x, 3, w, b), want, rtol=1e-4)
    want = (x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)
    assert_same(ops.instance_norm(x), want, rtol=1e-4)
    assert_same(ops.lp_normalization(x, 1), x / np.sqrt((x * x).sum(1, keepdims=True)))
    assert_same(ops.l2_normalize(x, 1), x / np.sqrt((x * x).sum(1, keepdims=True)))
    assert_same(ops.normalize(x, 1.0, 1), x / np.abs(x).sum(1, keepdims=True))
    squares = np.pad(x * x, ((0, 0), (2, 2), (0, 0), (0, 0)))
    total = sum(squares[:, k : k + 6] for k in range(5))
    assert_same(ops.lrn(x, 2, 1.0, 0.3, 0.5), x / np.sqrt(1 + np.float32(0.3) * total))
    assert_same(ops.local_response_norm(x, 5, 0.3, 0.5, 1.0), x / np.sqrt(1 + np.float32(0.06) * total))
    want = (x - x.mean((0, 2, 3), keepdims=True)) / x.std((0, 2, 3), keepdims=True)
    assert_same(ops.mean_variance_normalization(x), want, rtol=1e-4)
    assert_same(ops.dropout(x, 0.5), x)
    with pytest.raises(msvm.InputError, match="training isn't there"):
        ops.dropout(x, 0.5, training=True)
    with pytest.raises(msvm.InputError):
        ops.layer_norm(x, (4,))


# --- images --------------------------------------------------------------------------------------------------------------


def positions(n, out, mode, scale=None):
    i = np.arange(out, dtype=np.float64)
    ratio = 1 / scale if scale else n / out
    if mode == "corners":
        return i * (n - 1) / (out - 1) if out > 1 else i * 0
    return (i + 0.5) * ratio - 0.5 if mode == "half" else i * ratio


def linear_axis(x, axis, p):
    n = x.shape[axis]
    p = np.clip(p, 0, n - 1)
    low = np.floor(p).astype(int)
    high = np.minimum(low + 1, n - 1)
    f = (p - low).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
    return np.take(x, low, axis) * (1 - f) + np.take(x, high, axis) * f


@pytest.mark.parametrize("size", [(8, 10), (3, 4), (5, 1), (4, 5), (13, 2)])
def test_interpolation(size):
    x = array((2, 3, 4, 5))
    rows, columns = (np.floor(positions(n, o, "plain")).astype(int) for n, o in zip((4, 5), size, strict=True))
    nearest = x[:, :, rows][..., columns]
    assert_same(ops.interpolate(x, size), nearest)
    assert_same(
        ops.interpolate(x.astype(np.uint8), size), nearest.astype(np.uint8) if False else x.astype(np.uint8)[:, :, rows][..., columns]
    )
    assert_same(ops.ResizeNearestNeighbor(size)(x), nearest)
    assert_same(ops.ResizeNearestNeighbor(x, size=size), nearest)
    assert_same(ops.resize(x, size, coordinate_transformation_mode="asymmetric", nearest_mode="floor"), nearest)
    exact = [np.floor(positions(n, o, "half") + 0.5).astype(int).clip(0, n - 1) for n, o in zip((4, 5), size, strict=True)]
    assert_same(ops.interpolate(x, size, mode="nearest-exact"), x[:, :, exact[0]][..., exact[1]])
    for corners in (None, True):
        p = [positions(n, o, "corners" if corners else "half") for n, o in zip((4, 5), size, strict=True)]
        want = linear_axis(linear_axis(x.astype(np.float64), 2, p[0]), 3, p[1]).astype(np.float32)
        assert_same(ops.interpolate(x, size, mode="bilinear", align_corners=corners), want)
    p = [positions(n, o, "plain") for n, o in zip((4, 5), size, strict=True)]
    want = linear_axis(linear_axis(x.astype(np.float64), 2, p[0]), 3, p[1]).astype(np.float32)
    assert_same(ops.ResizeBilinear(size)(x), want)
    assert_same(ops.interpolate(x, size, mode="area"), ops.adaptive_avg_pool2d(x, size))
    assert ops.interpolate(x, size, mode="bicubic").shape == (2, 3, *size)


def test_interpolation_by_factors():
    x = array((1, 2, 4, 6))
    for f in (2, 0.5, 1.5, 0.7, (2.0, 0.5)):
        fs = (f, f) if isinstance(f, int | float) else f
        size = tuple(math.floor(n * g) for n, g in zip((4, 6), fs, strict=True))
        rows, columns = (
            np.minimum(np.floor(positions(n, o, "plain", g)), n - 1).astype(int) for n, o, g in zip((4, 6), size, fs, strict=True)
        )
        assert_same(ops.interpolate(x, scale_factor=f), x[:, :, rows][..., columns], what=str(f))
        assert_same(ops.interpolate(x, scale_factor=f, recompute_scale_factor=True), ops.interpolate(x, size), what=str(f))
        p = [positions(n, o, "half", g) for n, o, g in zip((4, 6), size, fs, strict=True)]
        want = linear_axis(linear_axis(x.astype(np.float64), 2, p[0]), 3, p[1]).astype(np.float32)
        assert_same(ops.interpolate(x, scale_factor=f, mode="bilinear"), want, what=str(f))
    line, cube = array((1, 2, 7)), array((1, 1, 2, 3, 4))
    assert_same(ops.interpolate(line, 9, mode="linear"), linear_axis(line, 2, positions(7, 9, "half")).astype(np.float32))
    assert ops.interpolate(cube, scale_factor=2, mode="trilinear").shape == (1, 1, 4, 6, 8)
    for bad in (
        {},
        {"size": 3, "scale_factor": 2},
        {"size": (1, 2, 3)},
        {"size": 4, "mode": "linear"},
        {"size": 4, "mode": "sinc"},
        {"size": 4, "align_corners": True},
        {"scale_factor": -1},
    ):
        with pytest.raises(msvm.InputError):
            ops.interpolate(x, **bad)


def bilinear(plane, y, x):
    h, w = plane.shape
    if y < -1 or y > h or x < -1 or x > w:
        return 0.0
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    i, j = int(y), int(x)
    a, b = y - i, x - j
    i1, j1 = min(i + 1, h - 1), min(j + 1, w - 1)
    return plane[i, j] * (1 - a) * (1 - b) + plane[i1, j] * a * (1 - b) + plane[i, j1] * (1 - a) * b + plane[i1, j1] * a * b


@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align(aligned):
    x = array((2, 2, 8, 9))
    boxes = np.array([[0, 1.0, 1.0, 6.0, 5.0], [1, 0.5, 2.0, 7.5, 7.0], [1, 2, 2, 2.5, 2.5]], np.float32)
    size, ratio = (3, 2), 2
    want = np.zeros((3, 2, *size))
    for k, (n, x1, y1, x2, y2) in enumerate(boxes):
        off = 0.5 if aligned else 0.0
        x1, y1, x2, y2 = (v * 0.5 * 2 - off for v in (x1, y1, x2, y2))
        w, h = x2 - x1, y2 - y1
        if not aligned:
            w, h = max(w, 1), max(h, 1)
        for c, i, j in itertools.product(range(2), range(size[0]), range(size[1])):
            samples = [
                bilinear(x[int(n), c], y1 + (i + (a + 0.5) / ratio) * h / size[0], x1 + (j + (b + 0.5) / ratio) * w / size[1])
                for a, b in itertools.product(range(ratio), repeat=2)
            ]
            want[k, c, i, j] = np.mean(samples)
    assert_same(ops.roi_align(x, boxes, size, 1.0, ratio, aligned), want.astype(np.float32), rtol=1e-4)
    assert_same(
        ops.roi_align(x, boxes[:, 1:], size, 1.0, ratio, aligned, batch_indices=np.array([0, 1, 1])), want.astype(np.float32), rtol=1e-4
    )
    assert ops.roi_align(x, boxes[:0], size).shape == (0, 2, 3, 2)


def test_grids():
    x = array((2, 3, 4, 5))
    theta = np.tile(np.array([[1, 0, 0], [0, 1, 0]], np.float32), (2, 1, 1))
    grid = ops.affine_grid(theta, (2, 3, 4, 5), True)
    assert_same(ops.grid_sample(x, grid, align_corners=True), x, rtol=1e-4)
    mirrored = np.asarray(grid) * np.array([-1, 1], np.float32)
    assert_same(ops.grid_sample(x, mirrored, align_corners=True), x[..., ::-1], rtol=1e-4)
    assert_same(ops.grid_sample(x, mirrored, "nearest", align_corners=True), x[..., ::-1], rtol=1e-4)


def test_crops():
    images = array((2, 6, 7, 3))
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.4, 0.8, 1.0]], np.float32)
    y = ops.crop_and_resize(images, boxes, np.array([1, 0]), (6, 7))
    assert_same(np.asarray(y)[0], images[1], rtol=1e-4)
    p, q = 1.0 + np.arange(6) * 3.0 / 5, 2.4 + np.arange(7) * 3.6 / 6
    assert_same(np.asarray(y)[1], linear_axis(linear_axis(images[0].astype(np.float64), 0, p), 1, q).astype(np.float32), rtol=1e-4)
    pooled = ops.max_roi_pool(images.transpose(0, 3, 1, 2).copy(), np.array([[0, 0, 0, 6, 5]], np.float32), (1, 1))
    assert_same(pooled, images[:1].max((1, 2), keepdims=True).transpose(0, 3, 1, 2))


# --- recurrent networks and attention ------------------------------------------------------------------------------------


def lstm_reference(x, h, c, wi, wh, bi, bh):
    out = []
    for t in range(x.shape[0]):
        i, f, g, o = np.split(x[t] @ wi.T + h @ wh.T + bi + bh, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out), h, c


def gru_reference(x, h, wi, wh, bi, bh):
    out = []
    for t in range(x.shape[0]):
        ri, zi, ni = np.split(x[t] @ wi.T + bi, 3, 1)
        rh, zh, nh = np.split(h @ wh.T + bh, 3, 1)
        r, z = sigmoid(ri + rh), sigmoid(zi + zh)
        n = np.tanh(ni + r * nh)
        h = (1 - z) * n + z * h
        out.append(h)
    return np.stack(out), h


def weights(gates, hidden, size, seed):
    return [
        array(s, low=-0.5, high=0.5, seed=seed + k)
        for k, s in enumerate([(gates * hidden, size), (gates * hidden, hidden), (gates * hidden,), (gates * hidden,)])
    ]


def test_recurrent_networks():
    x, h, c = array((5, 2, 3)), array((1, 2, 4), seed=1), array((1, 2, 4), seed=2)
    w, back = weights(4, 4, 3, 10), weights(4, 4, 3, 20)
    y, hn, cn = lstm_reference(x, h[0], c[0], *w)
    assert_same(ops.lstm(x, (h, c), *w), (y, (hn[None], cn[None])), rtol=1e-4)
    assert_same(ops.lstm(x.swapaxes(0, 1).copy(), (h, c), *w, batch_first=True)[0], y.swapaxes(0, 1), rtol=1e-4)
    assert_same(ops.lstm(x[:, 0], (h[:, 0], c[:, 0]), *w)[0], y[:, 0], rtol=1e-4)
    zero = np.zeros((2, 4), np.float32)
    forward, backward = lstm_reference(x, zero, zero, *w), lstm_reference(x[::-1], zero, zero, *back)
    both = ops.lstm(x, None, *[(a, b) for a, b in zip(w, back, strict=True)])
    assert_same(both[0], np.concatenate([forward[0], backward[0][::-1]], 2), rtol=1e-4)
    assert_same(both[1][0], np.stack([forward[1], backward[1]]), rtol=1e-4)
    assert_same(ops.lstm(x, None, *back, reverse=True)[0], backward[0][::-1], rtol=1e-4)
    no_bias = lstm_reference(x, zero, zero, *w[:2], 0, 0)
    assert_same(ops.lstm(x, None, *w[:2])[0], no_bias[0], rtol=1e-4)
    w = weights(3, 4, 3, 30)
    y, hn = gru_reference(x, h[0], *w)
    assert_same(ops.gru(x, h, *w), (y, hn[None]), rtol=1e-4)
    w = weights(1, 4, 3, 40)
    state, out = h[0], []
    for t in range(5):
        state = np.tanh(x[t] @ w[0].T + state @ w[1].T + w[2] + w[3])
        out.append(state)
    assert_same(ops.rnn(x, h, *w), (np.stack(out), state[None]), rtol=1e-4)
    y, hn = ops.rnn(x, h, *w, sequence_lens=np.array([2, 5]))
    assert_same(np.asarray(hn)[0, 0], out[1][0], rtol=1e-4)


def attention_reference(q, k, v, mask=None, causal=False, scale=None):
    scores = q @ k.swapaxes(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True) @ v).astype(q.dtype)


def test_attention():
    q, k, v = (array((2, 4, 5, 8), seed=s) for s in range(3))
    assert_same(ops.scaled_dot_product_attention(q, k, v), attention_reference(q, k, v), rtol=1e-4)
    assert_same(ops.scaled_dot_product_attention(q, k, v, is_causal=True), attention_reference(q, k, v, causal=True), rtol=1e-4)
    assert_same(ops.scaled_dot_product_attention(q, k, v, scale=0.3), attention_reference(q, k, v, scale=0.3), rtol=1e-4)
    for mask in (np.tri(5, dtype=bool), array((5, 5), seed=9), array((2, 1, 5, 5), seed=9)):
        assert_same(ops.scaled_dot_product_attention(q, k, v, mask), attention_reference(q, k, v, mask), rtol=1e-4)
    assert_same(ops.scaled_dot_product_attention(q[:, 0], k[:, 0], v[:, 0]), attention_reference(q[:, 0], k[:, 0], v[:, 0]), rtol=1e-4)
    grouped = ops.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True)
    assert_same(grouped, attention_reference(q, k[:, :2].repeat(2, 1), v[:, :2].repeat(2, 1)), rtol=1e-4)
    y, present, _ = ops.attention(q, k[:, :, 3:], v[:, :, 3:], None, k[:, :, :3], v[:, :, :3], outputs=3)
    assert_same(y, attention_reference(q, k, v), rtol=1e-4)
    assert_same(present, k)


def test_rotary_embedding():
    x = array((2, 3, 5, 8))
    angle = np.arange(5)[:, None] * 10.0 ** -np.arange(4)
    c, s = (np.tile(f(angle).astype(np.float32), (2, 1, 1)) for f in (np.cos, np.sin))
    a, b = x[..., :4], x[..., 4:]
    want = np.concatenate([a * c[:, None] - b * s[:, None], b * c[:, None] + a * s[:, None]], -1)
    assert_same(ops.rotary_embedding(x, c, s), want)
    assert_same(ops.rotary_embedding(x, c[0], s[0], np.tile(np.arange(5), (2, 1))), want)


def cubic_axis(x, axis, p):
    a, n = -0.75, x.shape[axis]
    low = np.floor(p).astype(int)
    t = p - low

    def weight(d):
        d = np.abs(d)
        return np.where(d <= 1, (a + 2) * d**3 - (a + 3) * d**2 + 1, np.where(d < 2, a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a, 0))

    shape = [-1 if k == axis else 1 for k in range(x.ndim)]
    return sum(np.take(x, np.clip(low + k, 0, n - 1), axis) * weight(t - k).reshape(shape) for k in (-1, 0, 1, 2))


def test_cubic_interpolation():
    x, size = array((1, 2, 5, 6), "float64"), (8, 4)
    for corners in (False, True):
        p = [positions(n, o, "corners" if corners else "half") for n, o in zip((5, 6), size, strict=True)]
        want = cubic_axis(cubic_axis(x, 2, p[0]), 3, p[1])
        assert_same(ops.interpolate(x, size, mode="bicubic", align_corners=corners), want, rtol=1e-6)
        assert_same(ops.resize_bicubic(x, size, corners, not corners), want, rtol=1e-6)
    assert_same(ops.upsample(x, size, mode="bicubic"), ops.interpolate(x, size, mode="bicubic"))


@pytest.mark.parametrize("n", [1, 3])
def test_transposed_convolution_over_other_axes(n):
    sizes = (5, 4, 3)[:n]
    x, w = array((2, 3, *sizes), "float64"), array((3, 2, *[2] * n), "float64", seed=1)
    want = np.zeros((2, 2, *(2 * s for s in sizes)))
    for at in itertools.product(range(2), repeat=n):
        want[(slice(None), slice(None), *(slice(a, None, 2) for a in at))] += np.einsum(
            "nc...,co->no...", x, w[(slice(None), slice(None), *at)]
        )
    assert_same(getattr(ops, f"conv_transpose{n}d")(x, w, None, 2), want)


def test_adaptive_pools_over_other_axes():
    x = array((2, 3, 4, 5, 7))
    assert_same(ops.adaptive_avg_pool3d(x, (2, 5, None)), x.reshape(2, 3, 2, 2, 5, 7).mean(3))
    line = x[0, :, :, 0]
    assert_same(ops.adaptive_max_pool1d(line, 3), np.stack([line[..., b].max(-1) for b in bins(7, 3)], -1))


def test_half_precision():
    for name in ("float16", "bfloat16"):
        digits = 2.0**-10 if name == "float16" else 2.0**-7
        a, b = (ops.cast(array((5, 8), seed=s), name) for s in range(2))
        wide = [np.asarray(ops.cast(t, "float32")) for t in (a, b)]
        for f, want in [
            (ops.add, wide[0] + wide[1]),
            (ops.mul, wide[0] * wide[1]),
            (lambda x, y: ops.matmul(x, ops.t(y)), wide[0] @ wide[1].T),
            (lambda x, y: ops.softmax(x, -1), np.exp(wide[0]) / np.exp(wide[0]).sum(-1, keepdims=True)),
            (lambda x, y: ops.maximum(x, y), np.maximum(wide[0], wide[1])),
            (lambda x, y: x * 2 - 1.5, wide[0] * 2 - 1.5),
            (lambda x, y: ops.sum(x, 1), wide[0].sum(1)),
        ]:
            got = f(a, b)
            assert got.dtype.name == name
            assert_same(ops.cast(got, "float32"), want, rtol=2 * digits, atol=4 * digits)
        assert ops.add(a, np.ones(8, np.float32)).dtype.name == "float32"
    assert ops.add(ops.cast(a, "float16"), ops.cast(b, "bfloat16")).dtype.name == "float32"
