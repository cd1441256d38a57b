"""A segmentation net over slices of every size, under a limit of memory."""

import re

import numpy as np
import pytest
from corpus.paths import model_path
from corpus.store import ensure
from corpus.workloads import inputs
from model_under_test import assert_agree, expected

import msvm as ms

LIMIT = 48 << 20


def reserved() -> int:
    return ms.vm.memory_stats()["reserved"]


@pytest.fixture(scope="module")
def others():
    """Bytes of what earlier tests loaded; that only gets less."""
    return reserved()


@pytest.fixture(scope="module")
def net(others):
    ensure(["unet"])
    return ms.onnx.load(str(model_path("unet")), max_memory=LIMIT, num_threads=2)


def test_memory_stays_flat_over_slices_of_every_size(net, others):
    random = np.random.default_rng(3)
    sizes = [(int(h), int(w)) for h, w in random.integers(8, 150, (24, 2))]
    after_turn = []
    for turn in range(3):
        for h, w in sizes:
            [y] = net(np.zeros((1, 3, h, w), np.float32))
            assert y.shape == (1, 4, h, w)
            assert reserved() <= others + LIMIT, (turn, h, w)
        after_turn.append(reserved())
    assert after_turn[2] <= after_turn[0] + (1 << 20)


def test_a_size_that_does_not_fit_is_one_error_and_the_next_one_runs(net):
    feed = inputs("unet", (1, 97, 113))
    [before] = net(*feed.values())
    with pytest.raises(ms.LimitError, match="memory limit") as caught:
        net(np.zeros((1, 3, 400, 400), np.float32))
    needed, _, limit = map(int, re.findall(r"\d{4,}", str(caught.value))[:3])
    assert needed > 50 << 20 and limit == LIMIT
    [after] = net(*feed.values())
    np.testing.assert_array_equal(before, after)
    wanted = expected("unet", (1, 97, 113), feed)
    assert wanted is not None
    assert_agree([after], wanted, "unet behind a size that did not fit")
