"""Six real models agree with ONNX Runtime at one shape after another, in one session."""

import pytest
from corpus.workloads import STREAMS, WORKLOADS, Key, inputs, stream
from model_under_test import MODELS, assert_agree, expected, ours

# Shapes for every run of the suite: the stable one, then ones that switch, each at most this expensive.
FAST = {
    "ppocrv4_det": [(1, 320, 320), (1, 224, 224), (1, 320, 320), (1, 192, 352), (1, 224, 224)],
    "ppocrv4_rec": [(1, 320), (1, 160), (1, 240), (2, 320), (1, 160), (1, 100)],
    "silero_vad": [(1, 16000), (2, 16000), (1, 8000), (8, 16000), (4, 8000), (32, 16000), (1, 16000)],
    "minilm": [(1, 64), (1, 16), (4, 64), (1, 128), (8, 32), (1, 16), (3, 41)],
    "magika": [(1,), (2,), (8,), (1,), (5,)],
    "yolo_neck": [(1, 10, 10), (1, 7, 7), (1, 10, 20), (1, 13, 13), (1, 7, 7), (2, 5, 9)],
}


def check_stream(model: str, keys: list[Key]) -> None:
    """Every step of the stream; the reference is asked once per shape."""
    wanted = {}
    for step, key in enumerate(keys):
        feed = inputs(model, key)
        if key not in wanted:
            wanted[key] = expected(model, key, feed)
        assert wanted[key] is not None, f"{model} {key}: a stream has only shapes that the model takes"
        assert_agree(ours(model).run(feed), wanted[key], f"{model} {key}, step {step}")


@pytest.mark.parametrize("model", MODELS)
def test_switching_shapes(model):
    check_stream(model, FAST[model])


@pytest.mark.slow
@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("model", MODELS)
def test_whole_stream(model, kind):
    keys = stream(model, kind, scale=0.1 if kind == "stable" else 1.0)
    check_stream(model, keys if kind == "random" else keys[::2])  # half of the repetitions, every shape


ODD = [(model, key) for model in MODELS for key in WORKLOADS[model].odd]


@pytest.mark.parametrize(("model", "key"), ODD, ids=[f"{model}-{'x'.join(map(str, key))}" for model, key in ODD])
def test_odd_shapes(model, key):
    """Empty, single, odd and prime sizes: the right answer, or a refusal if there is none; usable afterwards in any case."""
    feed = inputs(model, key)
    wanted = expected(model, key, feed)
    if wanted is None:
        with pytest.raises(Exception, match=r"\S"):
            ours(model).run(feed)
    else:
        assert_agree(ours(model).run(feed), wanted, f"{model} {key}")
    usual = min(WORKLOADS[model].switching)
    feed = inputs(model, usual)
    assert_agree(ours(model).run(feed), expected(model, usual, feed), f"{model} {usual} after {key}")
