"""The models under test on our engine, and what they should answer."""

import functools
import os

import numpy as np
from corpus import engines
from corpus.paths import model_path
from corpus.store import SPINE, ensure
from corpus.workloads import Feed, Key

MODELS = SPINE
RELATIVE, ABSOLUTE = 1e-3, 1e-4
# Which engine is tested. "ort" tests the tests: its optimised form must pass them against its plain one.
ENGINE = os.environ.get("MSVM_TEST_ENGINE", "msvm")

# Where ONNX Runtime is no guide, the operators' definitions are: the (empty) outputs' shapes, or None for a refusal.
BY_DEFINITION: dict[tuple[str, Key], list[tuple[int, ...]] | None] = {
    # It ends the whole process when an LSTM's batch is 0.
    ("silero_vad", (0, 16000)): [(0, 1), (2, 0, 128)],
    ("silero_vad", (0, 8000)): [(0, 1), (2, 0, 128)],
    # It refuses convolutions over nothing, and a Reshape to -1 beside 0, although all sizes follow.
    ("ppocrv4_det", (1, 0, 64)): [(1, 1, 0, 64)],
    ("yolo_neck", (1, 0, 4)): [(1, 255, 0, 16), (1, 255, 0, 8), (1, 255, 0, 4)],
    ("ppocrv4_rec", (0, 320)): [(0, 40, 6625)],
    # A pooling window larger than its input fits nowhere; ONNX Runtime rounds the number of places towards 0, and so up to one.
    ("ppocrv4_rec", (1, 1)): None,
    ("ppocrv4_rec", (1, 320, 32)): None,
    ("ppocrv4_rec", (1, 320, 31)): None,
}


@functools.cache
def ours(model: str) -> engines.Engine:
    """One session per model for the whole test run, so that every test meets what the ones before left behind."""
    ensure([model])
    return engines.load(ENGINE, model_path(model), threads=2)


@functools.cache
def reference(model: str) -> engines.Engine:
    """ONNX Runtime with one thread and no graph optimisation."""
    ensure([model])
    return engines.OnnxRuntime(model_path(model), threads=1, optimise=False)


def expected(model: str, key: Key, feed: Feed) -> list[np.ndarray] | None:
    """What the model answers, or None where it can't take these shapes."""
    if (model, key) in BY_DEFINITION:
        shapes = BY_DEFINITION[model, key]
        return None if shapes is None else [np.zeros(shape, np.float32) for shape in shapes]
    try:
        return reference(model).run(feed)
    except Exception as e:  # onnxruntime raises a class per status code, without a common base of its own
        if type(e).__module__.startswith("onnxruntime."):
            return None
        raise


def assert_agree(actual: list[np.ndarray], wanted: list[np.ndarray], what: str) -> None:
    """Same number of outputs, dtypes, shapes, and values within the tolerance (relative to each value)."""
    assert len(actual) == len(wanted), f"{what}: {len(actual)} outputs, expected {len(wanted)}"
    for i, (a, w) in enumerate(zip(actual, wanted, strict=True)):
        assert (a.dtype, a.shape) == (w.dtype, w.shape), f"{what}, output {i}"
        np.testing.assert_allclose(a, w, RELATIVE, ABSOLUTE, err_msg=f"{what}, output {i}")
