"""Shapes and the movement of elements against numpy; reshape and broadcasting also by generated shapes."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ops.oracle import SHAPES, array, assert_same

import msvm
from msvm import ops

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@given(st.data())
@QUICK
def test_reshape(data):
    sizes = data.draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 6]), max_size=4))
    n = int(np.prod(sizes))
    x = np.arange(n).reshape(sizes)
    target, rest = [], n
    while len(target) < 4 and data.draw(st.booleans()):
        d = data.draw(st.sampled_from([k for k in (1, 2, 3, 4, 6) if rest % k == 0]))
        target.append(d)
        rest //= d
    target.append(rest)
    assert_same(ops.reshape(x, tuple(target)), x.reshape(target))
    if n:
        k = data.draw(st.integers(0, len(target) - 1))
        target[k] = -1
        assert_same(ops.reshape(x, *target), x.reshape(target))


def test_reshape_errors():
    x = np.arange(6)
    for bad in [(4,), (4, -1), (-1, -1), (-2, 3), (0, -1)]:
        with pytest.raises(msvm.InputError):
            ops.reshape(x, bad)
    with pytest.raises(msvm.InputError, match="at most 8"):
        ops.reshape(x, (1,) * 8 + (6,))
    assert_same(ops.reshape(np.zeros((0, 3)), (-1, 3)), np.zeros((0, 3)))


@given(st.data())
@QUICK
def test_broadcasting(data):
    full = data.draw(st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4))

    def part():
        kept = full[data.draw(st.integers(0, len(full))) :]
        return [d if data.draw(st.booleans()) else 1 for d in kept]

    a, b = np.ones(part()), np.ones(part())
    assert_same(ops.add(a, b), a + b)
    assert_same(ops.broadcast_tensors(a, b), tuple(np.broadcast_arrays(a, b)))
    shape = np.broadcast_shapes(a.shape, tuple(full))
    assert_same(ops.broadcast_to(a, shape), np.broadcast_to(a, shape))


def test_broadcast_errors():
    x = np.ones((2, 3), np.float32)
    for bad in [(3,), (2, 4), (4, 3), (-1, -1, 3), (2, -2)]:
        with pytest.raises(msvm.InputError):
            ops.broadcast_to(x, bad)
    assert ops.broadcast_to(x, (5, -1, -1)).shape == (5, 2, 3)
    assert ops.expand_as(np.ones((1, 3)), np.ones((4, 3))).shape == (4, 3)


def test_permutations():
    x = array((2, 3, 4))
    for order in itertools.permutations(range(3)):
        assert_same(ops.permute(x, order), x.transpose(order))
        assert_same(ops.transpose(x, *order), x.transpose(order))
    assert_same(ops.transpose(x), x.T)
    for a, b in itertools.product(range(-3, 3), repeat=2):
        assert_same(ops.swapaxes(x, a, b), x.swapaxes(a, b))
        assert_same(ops.movedim(x, a, b), np.moveaxis(x, a, b))
    assert_same(ops.movedim(x, (0, 1), (-1, 0)), np.moveaxis(x, (0, 1), (-1, 0)))
    assert_same(ops.matrix_transpose(x), x.swapaxes(1, 2))
    assert_same(ops.t(x[0]), x[0].T)
    for bad in [(0, 1), (0, 0, 1), (0, 1, 3)]:
        with pytest.raises(msvm.InputError):
            ops.permute(x, bad)


def test_axes_of_size_one():
    x = array((1, 3, 1, 2))
    assert_same(ops.squeeze(x), x.squeeze())
    assert_same(ops.squeeze(x, 0), x.squeeze(0))
    assert_same(ops.squeeze(x, (0, 2)), x.squeeze((0, 2)))
    assert_same(ops.squeeze(x, dim=-2), x.squeeze(-2))
    assert_same(ops.squeeze(array(())), array(()))
    with pytest.raises(msvm.InputError):
        ops.squeeze(x, 1)
    for axis in (0, 1, -1, -4, (0, 2), (-1, 1)):
        assert_same(ops.expand_dims(array((2, 3, 4)), axis), np.expand_dims(array((2, 3, 4)), axis))


@pytest.mark.parametrize("shape", SHAPES)
def test_flatten(shape):
    x = array(shape)
    assert_same(ops.ravel(x), x.ravel())
    assert_same(ops.flatten(x), x.reshape(-1))
    if len(shape) > 2:
        assert_same(ops.flatten(x, start_dim=1), x.reshape(shape[0], int(np.prod(shape[1:]))))
    if shape:
        assert_same(ops.unflatten(np.zeros((2, 12)), 1, (3, -1)), np.zeros((2, 3, 4)))


def test_joining():
    a, b = array((2, 3)), array((2, 3), seed=1)
    for axis in (0, 1, -1):
        assert_same(ops.cat((a, b), axis), np.concatenate((a, b), axis))
        assert_same(ops.concat([a, b[:0] if axis == 0 else b[:, :0]], axis), a)
    for axis in (0, 1, 2, -1):
        assert_same(ops.stack([a, b], axis), np.stack([a, b], axis))
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        assert_same(getattr(ops, name)([a, b]), getattr(np, name)([a, b]))
        assert_same(getattr(ops, name)([a[0], b[0]]), getattr(np, name)([a[0], b[0]]))
    with pytest.raises(msvm.InputError, match="rank"):
        ops.cat([a, a[0]])
    with pytest.raises(msvm.InputError, match="at least one"):
        ops.stack([])


@pytest.mark.parametrize("n", [0, 1, 5, 6, 7])
def test_cutting(n):
    x = array((n, 2))
    for step in (1, 2, 3, 10):
        want = tuple(x[k : k + step] for k in range(0, max(n, 1), step))
        assert_same(ops.split(x, step), want)
    for chunks in (1, 2, 3, 10):
        size = max(-(-n // chunks), 1)
        assert_same(ops.chunk(x, chunks), tuple(x[k : k + size] for k in range(0, max(n, 1), size)))
        assert_same(ops.tensor_split(x, chunks), tuple(np.array_split(x, chunks)))
    assert_same(ops.tensor_split(x, (1, 4)), tuple(np.array_split(x, (1, 4))))
    assert_same(ops.unstack(x), tuple(x))
    assert_same(ops.unbind(x, 1), (x[:, 0], x[:, 1]))
    if n >= 3:
        assert_same(ops.split(x, (1, n - 1)), (x[:1], x[1:]))
        with pytest.raises(msvm.InputError, match="sum up"):
            ops.split(x, (1, n))


def test_order_of_elements():
    x = array((3, 4, 5))
    for axis in (None, 0, 1, -1, (0, 2)):
        assert_same(ops.flip(x, axis), np.flip(x, axis))
    for shift, axis in [(1, 0), (-1, 0), (7, 1), (0, 2), ((1, 2), (0, 1)), (4, None), (-13, None)]:
        assert_same(ops.roll(x, shift, axis), np.roll(x, shift, axis))
    for k in range(-1, 5):
        assert_same(ops.rot90(x, k, (1, 2)), np.rot90(x, k, (1, 2)))
    for empty in (np.zeros((0, 3)), np.zeros((3, 0))):
        assert_same(ops.flip(empty), empty)
        assert_same(ops.roll(empty, 1, 0), empty)


def test_repeating():
    x = array((2, 3))
    for m in [(1, 1), (2, 3), (2,), (2, 1, 3), (0, 1), ()]:
        assert_same(ops.tile(x, m), np.tile(x, m))
    for r, axis in [(2, None), (3, 0), (0, 1), ([1, 2], 0), ([3, 0, 1], 1), (np.array([2, 0, 2]), 1)]:
        assert_same(ops.repeat_interleave(x, r, axis), np.repeat(x, r, axis))


def test_padding():
    x = array((3, 4, 5))
    assert_same(ops.pad(x, (1, 2)), np.pad(x, ((0, 0), (0, 0), (1, 2))))
    assert_same(ops.pad(x, (1, 2, 3, 0), value=7), np.pad(x, ((0, 0), (3, 0), (1, 2)), constant_values=7))
    for mode, name in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")):
        assert_same(ops.pad(x, (1, 2, 2, 1), mode), np.pad(x, ((0, 0), (2, 1), (1, 2)), name))
    assert_same(ops.pad(x, (-1, 1)), np.pad(x[..., 1:], ((0, 0), (0, 0), (0, 1))))
    assert_same(ops.pad(x.astype(np.int8), (0, 1)), np.pad(x.astype(np.int8), ((0, 0), (0, 0), (0, 1))))
    for bad in [(1,), (1, 2) * 4]:
        with pytest.raises(msvm.InputError):
            ops.pad(x, bad)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (2, 3, 4), (0, 3), (1, 1)])
def test_triangles_and_diagonals(shape):
    x = array(shape)
    for k in range(-5, 6):
        assert_same(ops.tril(x, k), np.tril(x, k))
        assert_same(ops.triu(x, k), np.triu(x, k))
        if len(shape) == 2:
            assert_same(ops.diagonal(x, k), np.diagonal(x, k))
            assert_same(ops.diag(x[0] if shape[0] else x.ravel(), k), np.diag(x[0] if shape[0] else x.ravel(), k))
    if len(shape) == 3:
        assert_same(ops.diagonal(x, 1, 0, 2), np.diagonal(x, 1, 0, 2))


def test_blocks():
    x = array((2, 8, 3, 5))
    n, _, h, w = x.shape
    shuffled = x.reshape(n, 2, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, 2, h * 2, w * 2)
    assert_same(ops.pixel_shuffle(x, 2), shuffled)
    assert_same(ops.pixel_unshuffle(shuffled, 2), x)
    assert_same(ops.pixel_shuffle(x[0], 2), shuffled[0])
    dcr = x.reshape(n, 2, 2, 2, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, 2, h * 2, w * 2)
    assert_same(ops.depth_to_space(x, 2), dcr)
    assert_same(ops.space_to_depth(dcr, 2), x)
    assert_same(ops.channel_shuffle(x, 4), x.reshape(n, 4, 2, h, w).swapaxes(1, 2).reshape(x.shape))


def test_sequences():
    x = array((4, 3, 2))
    lens = np.array([1, 4, 2])
    want = x.copy()
    for b, k in enumerate(lens):
        want[:k, b] = x[:k, b][::-1]
    assert_same(ops.reverse_sequence(x, lens, 0, 1), want)


def test_centre():
    x = array((5, 6))
    assert_same(ops.center_crop_pad(x, (3, 6)), x[1:4])
    assert ops.center_crop_pad(x, (8,), (1,)).shape == (5, 8)


def test_unfold_and_fold():
    x = array((2, 3, 6, 7))
    for k, d, p, s in [(2, 1, 0, 1), (3, 2, 1, 2), ((2, 3), 1, (1, 0), (2, 1))]:
        kh, kw = (k, k) if isinstance(k, int) else k
        ph, pw = (p, p) if isinstance(p, int) else p
        sh, sw = (s, s) if isinstance(s, int) else s
        y = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
        oh, ow = (y.shape[2] - d * (kh - 1) - 1) // sh + 1, (y.shape[3] - d * (kw - 1) - 1) // sw + 1
        want = np.stack(
            [y[:, :, i * d : i * d + (oh - 1) * sh + 1 : sh, j * d : j * d + (ow - 1) * sw + 1 : sw] for i in range(kh) for j in range(kw)],
            2,
        ).reshape(2, 3 * kh * kw, oh * ow)
        assert_same(ops.unfold(x, k, d, p, s), want)
        back = np.zeros_like(y)
        columns = want.reshape(2, 3, kh, kw, oh, ow)
        for i in range(kh):
            for j in range(kw):
                back[:, :, i * d : i * d + (oh - 1) * sh + 1 : sh, j * d : j * d + (ow - 1) * sw + 1 : sw] += columns[:, :, i, j]
        assert_same(ops.fold(want, (6, 7), k, d, p, s), back[:, :, ph : ph + 6, pw : pw + 7])


def test_asking_for_shapes():
    x = array((2, 3, 4))
    assert ops.shape(x) == (2, 3, 4)
    assert ops.numel(x) == 24
    assert ops.rank(x) == 3
    assert_same(ops.shape_tensor(x), np.array([2, 3, 4]))
