"""Functions as people write them: compiled, at many sizes with one program, they give what running them operator by operator gives."""

import numpy as np
import pytest

import msvm as ms

ops = ms.ops
rng = np.random.default_rng(3)
W = ms.Tensor(rng.standard_normal((8, 8), np.float32))
FILTERS = ms.Tensor(rng.standard_normal((4, 3, 3, 3), np.float32))


def attention(s):
    q, k = s @ W, s @ W.T
    return ops.scaled_dot_product_attention(q, k, s), ops.softmax(q @ k.swapaxes(-1, -2) / 8**0.5, -1) @ s


def recurrent_by_index(s):
    state = ops.zeros((s.shape[1], 8))
    outputs = []
    for t in range(s.shape[0]):
        state = ops.tanh(s[t] @ W + state @ W.T)
        outputs.append(state)
    return ops.stack(outputs), state


def recurrent_over_elements(s):
    state = ops.zeros((s.shape[1], 8))
    for x in s:
        state = ops.tanh(x @ W + state @ W.T)
    return state


def greatest_sum(s):
    best = s[0].sum()
    for k in range(1, s.shape[0]):
        c = s[k].sum()
        best = c if c > best else best
    return best


def chosen_by_data(s):
    k = s.sum((1, 2)).argmax()
    return s[k], s[k.item()], s[int(k) :]


def suppression_loop(s):
    boxes = ops.cat((s[:, 0, :2], s[:, 0, :2] + s[:, 1, :2].abs() + 0.1), 1)
    scores = s[:, 0, 4]
    alive = scores > -100
    kept = []
    while alive.any():
        j = ops.where(alive, scores, -1e9).argmax().item()
        kept.append(boxes[j])
        low = ops.maximum(boxes[:, :2], boxes[j, :2])
        high = ops.minimum(boxes[:, 2:], boxes[j, 2:])
        common = (high - low).clip(0, None).prod(1)
        area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
        alive = alive & (common / (area + area[j] - common) <= 0.3)
    return ops.stack(kept)


def cache_that_grows(s):
    cache = ops.zeros((0, 8))
    k = 0
    while cache.shape[0] < 2 * s.shape[0] + 1:
        cache = ops.cat((cache, s[k % s.shape[0]][:1]))
        k += 1
    return cache


def tiles(image):
    found = []
    for y in range(0, image.shape[2], 8):
        for x in range(0, image.shape[3], 8):
            found.append(ops.interpolate(image[:, :, y : y + 8, x : x + 8], size=(8, 8), mode="bilinear"))
    return ops.cat(found, 0)


def pyramid(image):
    levels = [image]
    for _ in range(3):
        levels.append(ops.avg_pool2d(levels[-1], 2, 2))
    total = levels[-1]
    for level in levels[-2::-1]:
        total = ops.interpolate(total, size=level.shape[-2:], mode="nearest") + level
    return total


def halved_until_small(image):
    k = 0
    while image.shape[2] > 4 and image.shape[3] > 4:
        image = ops.max_pool2d(image, 2, 2)
        k += 1
    return image, k


def early_return(image):
    for k in range(image.shape[0]):
        if image[k].sum() > 0:
            return image[k], k
    return image.sum(0), -1


def sizes_from_data(image):
    positive = image[0, 0] > 0
    places = ops.nonzero(positive)
    return places.shape[0], image[0, 1][positive].sum(), places[:3]


def padded_to_a_multiple(image):
    h, w = image.shape[2:]
    y = ops.pad(image, (0, -w % 32, 0, -h % 32))
    assert y.shape[2] % 32 == 0 and y.shape[3] % 32 == 0
    return y.reshape(y.shape[0], y.shape[1], y.shape[2] // 32, 32, y.shape[3] // 32, 32).mean((3, 5))


def sorted_values(image):
    values, at = ops.sort(image.reshape(-1), 0, True)
    return values[:5], at[:5], ops.unique(at % 7), (ops.cumsum(values, 0) > 2).sum()


def convolutions(image):
    return ops.conv2d(image, FILTERS, stride=2, pad_mode="pad", padding=1), ops.conv2d(image, FILTERS, pad_mode="same", stride=2)


def normalised(image):
    mean, variance = image.mean((0, 2, 3), True), image.var((0, 2, 3), keepdims=True)
    return (image - mean) / ops.sqrt(variance + 1e-5)


def elements_assigned(image):
    y = image * 1
    y += 2
    y[:, 0] = 7
    y[:, 1:, ::2] *= 3
    y[y > 5] = -1
    return y


def sequences(r):
    return (r.integers(0, 7), r.integers(2, 4), 8)


def images(r):
    return (r.integers(0, 4), 3, r.integers(1, 40), r.integers(1, 40))


FUNCTIONS = {
    sequences: (
        attention,
        recurrent_by_index,
        recurrent_over_elements,
        greatest_sum,
        chosen_by_data,
        suppression_loop,
        cache_that_grows,
    ),
    images: (
        tiles,
        pyramid,
        halved_until_small,
        early_return,
        sizes_from_data,
        padded_to_a_multiple,
        sorted_values,
        convolutions,
        normalised,
        elements_assigned,
    ),
}


def outcome(f, x):
    """Arrays, or the kind of the error."""
    try:
        result = f(x)
    except (ms.Error, ArithmeticError, LookupError, TypeError, ValueError) as e:
        return ValueError if isinstance(e, ValueError) else type(e)
    return [np.asarray(v) for v in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize(("shape", "f"), [(s, f) for s, all_of in FUNCTIONS.items() for f in all_of], ids=lambda f: f.__name__)
def test_compiled_is_eager(shape, f):
    compiled = ms.jit(f)
    results = 0
    for seed in range(25):
        r = np.random.default_rng(seed)
        x = ms.Tensor(r.standard_normal(shape(r), np.float32))
        want, got = outcome(f, x), outcome(compiled, x)
        assert type(want) is type(got), (x.shape, want, got)
        if not isinstance(want, list):
            assert want is got, x.shape
            continue
        results += 1
        assert [(a.dtype, a.shape) for a in got] == [(a.dtype, a.shape) for a in want], x.shape
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4, err_msg=str(x.shape))
    assert results >= 15
    assert len(compiled.executables()) == 1
