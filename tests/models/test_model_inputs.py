"""Wrong inputs are refused by name, and leave the session as it was."""

import numpy as np
import pytest
from corpus.workloads import WORKLOADS, inputs
from model_under_test import MODELS, assert_agree, ours


def spoiled(feed, how):
    """A copy of the feed with its first input made wrong."""
    name, array = next(iter(feed.items()))
    rest = {k: v for k, v in feed.items() if k != name}
    return {
        "missing": rest,
        "unknown": feed | {"no_such_input": array},
        "dtype": feed | {name: array.astype(np.float64)},
        "rank": feed | {name: array[..., None]},
        "not an array": feed | {name: "text"},
    }[how]


@pytest.mark.parametrize("how", ["missing", "unknown", "dtype", "rank", "not an array"])
@pytest.mark.parametrize("model", MODELS)
def test_wrong_input(model, how):
    feed = inputs(model, min(WORKLOADS[model].switching))
    before = ours(model).run(feed)
    name = "no_such_input" if how == "unknown" else next(iter(feed))
    with pytest.raises((ValueError, TypeError, RuntimeError), match=name):
        ours(model).run(spoiled(feed, how))
    assert_agree(ours(model).run(feed), before, f"{model} after a wrong input ({how})")


@pytest.mark.parametrize("model", ["ppocrv4_det", "minilm", "yolo_neck"])
def test_strided_input(model):
    """A view that is not contiguous means the same as its copy."""
    feed = inputs(model, min(WORKLOADS[model].switching))
    strided = {k: np.repeat(v, 2, axis=-1)[..., ::2] for k, v in feed.items()}
    assert not any(v.flags.c_contiguous for v in strided.values())
    assert_agree(ours(model).run(strided), ours(model).run(feed), model)


@pytest.mark.parametrize("model", ["ppocrv4_det", "minilm"])
def test_outputs_are_the_callers(model):
    """Results stay as they are when the model runs again, and input arrays are never written to."""
    first, second = (inputs(model, key) for key in WORKLOADS[model].switching[:2])
    copies = {k: v.copy() for k, v in first.items()}
    outputs = ours(model).run(first)
    kept = [o.copy() for o in outputs]
    ours(model).run(second)
    for o, k in zip(outputs, kept, strict=True):
        np.testing.assert_array_equal(o, k)
    for name, array in first.items():
        np.testing.assert_array_equal(array, copies[name])


@pytest.mark.parametrize("size", ["wrong channels", "wrong length", "out of range"])
def test_impossible_size(size):
    """Sizes that contradict the model or one another."""
    model, feed = {
        "wrong channels": ("ppocrv4_det", {"x": np.zeros((1, 4, 64, 64), np.float32)}),
        "wrong length": ("minilm", {"ids": np.ones((1, 8), np.int64), "mask": np.ones((1, 9), np.int64)}),
        "out of range": ("minilm", {"ids": np.full((1, 8), 30522, np.int64), "mask": np.ones((1, 8), np.int64)}),
    }[size]
    with pytest.raises((ValueError, TypeError, RuntimeError), match=r"\S"):
        ours(model).run(feed)
    usual = inputs(model, min(WORKLOADS[model].switching))
    assert np.isfinite(ours(model).run(usual)[0]).all()
