"""Interpreter, code for all sizes and code for settled sizes agree on the corpus, and each of them ran."""

import numpy as np
import pytest
from corpus import workloads
from corpus.paths import model_path
from corpus.store import ensure
from corpus.workloads import WORKLOADS
from model_under_test import MODELS

import msvm

RELATIVE = 1e-5  # of the largest value of a result: sums of rows in another order
ROUNDS = 5


def run(program: msvm.Program, feed: dict[str, np.ndarray]) -> list[np.ndarray] | str:
    try:
        return [np.asarray(a) for a in program.run(feed)]
    except msvm.Error as e:
        return str(e)


def assert_same(found: list[np.ndarray] | str, wanted: list[np.ndarray] | str, what: str) -> None:
    if isinstance(wanted, str):
        assert found == wanted, what
        return
    assert not isinstance(found, str), f"{what}: {found}"
    for a, b in zip(found, wanted, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), what
        np.testing.assert_allclose(a, b, rtol=0, atol=RELATIVE * max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0))), err_msg=what)


@pytest.mark.parametrize("model", MODELS)
def test_tiers_agree(model):
    ensure([model])
    plain = msvm.onnx.load(model_path(model), num_threads=2, jit_level=0)
    native = msvm.onnx.load(model_path(model), num_threads=2)
    w = WORKLOADS[model]
    keys = list(dict.fromkeys([*w.switching[:3], *w.odd]))
    feeds = {key: workloads.inputs(model, key) for key in keys}
    wanted = {key: run(plain, feed) for key, feed in feeds.items()}
    regions = [0]
    for turn in range(ROUNDS):
        for key in keys:
            assert_same(run(native, feeds[key]), wanted[key], f"{model} at {key}, round {turn}")
        native._core.drain_jit()
        regions.append(native.counters()["native_regions"])
    assert plain.counters()["native_regions"] == 0
    assert regions[-1] > regions[-2] > 0, native.jit_info()
    info = native.jit_info()
    assert "slow path" not in info, info
    assert "tier 1 " in info, info
    if all(isinstance(wanted[key], list) for key in w.switching[:3]):
        assert "tier 2 " in info, info
