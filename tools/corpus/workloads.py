"""Which shapes each model is fed, as streams, and how its inputs are made.

A *key* is a tuple of ints that names one set of input shapes; `inputs(model, key)` makes the inputs, seeded by both, so
that every engine sees the same numbers. Streams:

- stable: one shape;
- switching: every few runs another of six shapes, each coming back at least once;
- random: nine of ten runs bring a shape not seen before.
"""

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Key = tuple[int, ...]
Feed = dict[str, np.ndarray]
Rng = np.random.Generator
STREAMS = ("stable", "switching", "random")


@dataclass(frozen=True)
class Workload:
    make: Callable[..., Feed]  # (rng, *key) -> inputs
    stable: Key
    switching: tuple[Key, ...] = ()  # empty: the model has one shape only
    pool: tuple[Key, ...] = ()  # where the random stream takes its shapes from
    cost: int = 1  # streams of expensive models are shortened by this
    odd: tuple[Key, ...] = ()  # for tests: empty, single, odd and prime sizes; some of them no model of this kind can take


def _glyph(rng: Rng, scale: int) -> np.ndarray:
    """(7·scale, 5·scale) ink, 1 where black: some of the strokes of a sixteen-segment letter."""
    g = np.zeros((7, 5), np.float32)
    strokes = [(0, slice(None)), (3, slice(None)), (6, slice(None)), (slice(0, 4), 0), (slice(3, 7), 0), (slice(0, 4), 4), (slice(3, 7), 4)]
    strokes += [(slice(None), 2)]
    for s in rng.permutation(len(strokes))[: rng.integers(3, 6)]:
        g[strokes[s]] = 1
    return np.kron(g, np.ones((scale, scale), np.float32))


def _write_line(rng: Rng, page: np.ndarray, top: int, scale: int) -> None:
    """Draw random words along one line of `page` (height, width)."""
    x = 2 * scale
    while x + 5 * scale <= page.shape[1]:
        if rng.random() < 0.85:  # else a space
            page[top : top + 7 * scale, x : x + 5 * scale] -= 0.8 * _glyph(rng, scale)
        x += 6 * scale


def page(rng: Rng, b: int, h: int, w: int) -> Feed:
    """A light page with lines of dark letters in a few sizes, scaled to -1…1: x (b, 3, h, w)."""
    gray = 0.9 + 0.02 * rng.standard_normal((b, h, w), np.float32)
    for image in gray:
        top = 6
        while top + 7 * (scale := int(rng.integers(2, 5))) <= h:
            _write_line(rng, image, top, scale)
            top += 12 * scale
    return {"x": np.repeat((gray[:, None] - 0.5) / 0.5, 3, axis=1).astype(np.float32)}


def line(rng: Rng, b: int, w: int, h: int = 48) -> Feed:
    """One line of letters per row of the batch, scaled to -1…1: x (b, 3, h, w)."""
    gray = 0.9 + 0.02 * rng.standard_normal((b, h, w), np.float32)
    for image in gray:
        if h >= 30:
            _write_line(rng, image, (h - 28) // 2, 4)
    return {"x": np.repeat((gray[:, None] - 0.5) / 0.5, 3, axis=1).astype(np.float32)}


def image(name: str, low: float, high: float, channels: int = 3) -> Callable[..., Feed]:
    """Uniform noise (b, channels, h, w)."""

    def make(rng: Rng, b: int, h: int, w: int) -> Feed:
        return {name: rng.uniform(low, high, (b, channels, h, w)).astype(np.float32)}

    return make


def tokens(rng: Rng, b: int, s: int, vocabulary: int = 30522) -> tuple[np.ndarray, np.ndarray]:
    """ids and mask, both (b, s) int64; rows after the first are padded, each by another length."""
    mask = np.ones((b, s), np.int64)
    for i in range(1, b):
        mask[i, max(1, s - (3 * i) % max(s, 1)) :] = 0
    return rng.integers(1, vocabulary, (b, s)), mask


def _sentences(rng: Rng, b: int, s: int) -> Feed:
    ids, mask = tokens(rng, b, s)
    return {"ids": ids, "mask": mask}


def _voice(rng: Rng, b: int, rate: int, n: int = -1) -> Feed:
    """A chunk of `rate` Hz sound: `n` samples, by default what the model expects (context and 32 ms)."""
    n = (576 if rate == 16000 else 288) if n < 0 else n
    sound, state = (0.1 * rng.standard_normal(shape, np.float32) for shape in ((b, n), (2, b, 128)))
    return {"input": sound, "state": state, "sr": np.array(rate, np.int64)}


def _file_bytes(rng: Rng, b: int) -> Feed:
    return {"bytes": rng.integers(0, 257, (b, 2048)).astype(np.int32)}  # 256: padding


def _features(rng: Rng, b: int, h: int, w: int) -> Feed:
    sizes = {"p3": (128, 4), "p4": (256, 2), "p5": (512, 1)}
    return {name: rng.standard_normal((b, c, k * h, k * w), np.float32) for name, (c, k) in sizes.items()}


def _frames(rng: Rng, b: int, s: int) -> Feed:
    return {"x": rng.standard_normal((b, s, 80), np.float32)}


def _one(*sizes: tuple[int, int]) -> tuple[Key, ...]:
    return tuple((1, h, w) for h, w in sizes)


PAGES = _one((224, 224), (320, 320), (416, 416), (320, 640), (480, 480), (640, 640))
PAGE_POOL = tuple((1, h, w) for h in range(192, 641, 32) for w in range(192, 641, 32))
LINES = ((1, 160), (1, 240), (1, 320), (1, 480), (1, 640), (2, 320))
VOICES = ((1, 16000), (2, 16000), (8, 16000), (1, 8000), (4, 8000), (32, 16000))
BATCHES = tuple((b,) for b in (1, 2, 4, 8, 16, 32))

WORKLOADS: dict[str, Workload] = {
    "ppocrv4_det": Workload(
        page,
        stable=(1, 320, 320),
        switching=PAGES,
        pool=PAGE_POOL,
        cost=2,
        odd=((0, 64, 64), (1, 32, 32), (3, 32, 96), (1, 33, 47), (1, 97, 64), (1, 101, 103), (1, 31, 1), (1, 0, 64), (2, 224, 352)),
    ),
    "ppocrv4_rec": Workload(
        line,
        stable=(1, 320),
        switching=LINES,
        pool=tuple((1, 64 + 4 * i) for i in range(200)),
        odd=((0, 320), (1, 1), (1, 7), (1, 8), (1, 9), (1, 61), (3, 127), (5, 33), (1, 0), (1, 320, 47), (1, 320, 32), (1, 320, 31)),
    ),
    "silero_vad": Workload(
        _voice,
        stable=(1, 16000),
        switching=VOICES,
        pool=tuple((b, rate) for b in range(1, 101) for rate in (16000, 8000)),
        odd=(
            (0, 16000),
            (0, 8000),
            (3, 8000),
            (7, 16000),
            (1, 16000, 577),
            (1, 16000, 509),
            (2, 8000, 101),
            (1, 16000, 0),
            (1, 11025),
            (1, 16000, 97),
            (1, 8000, 65),
        ),
    ),
    "minilm": Workload(
        _sentences,
        stable=(1, 64),
        switching=((1, 16), (1, 32), (1, 64), (1, 128), (4, 64), (8, 32)),
        pool=tuple((b, s) for b in range(1, 5) for s in range(8, 129)),
        odd=((0, 16), (1, 1), (1, 2), (3, 7), (2, 97), (5, 13), (1, 0), (0, 0), (1, 512), (1, 513)),
    ),
    "magika": Workload(
        _file_bytes,
        stable=(1,),
        switching=BATCHES,
        pool=tuple((b,) for b in range(1, 65)),
        cost=2,
        odd=((0,), (3,), (7,), (13,)),
    ),
    "yolo_neck": Workload(
        _features,
        stable=(1, 10, 10),
        switching=_one((7, 7), (10, 10), (13, 13), (10, 20), (15, 15), (20, 20)),
        pool=tuple((1, h, w) for h in range(5, 21) for w in range(5, 21)),
        odd=((0, 5, 5), (2, 1, 1), (1, 1, 13), (3, 7, 3), (1, 11, 17), (1, 0, 4)),
    ),
    "unet": Workload(
        image("x", 0, 1),
        stable=(1, 160, 160),
        switching=_one((96, 96), (128, 128), (160, 160), (161, 190), (192, 192), (224, 224)),
        pool=tuple((1, h, w) for h in range(96, 256, 11) for w in range(96, 256, 11)),
        cost=2,
        odd=((0, 32, 32), (1, 8, 8), (1, 7, 9), (2, 53, 31), (1, 97, 113), (3, 17, 40)),
    ),
    "resnet50": Workload(
        image("x", -2, 2),
        stable=(1, 224, 224),
        switching=((1, 192, 192), (1, 224, 224), (1, 256, 256), (2, 224, 224), (1, 320, 320), (1, 224, 320)),
        pool=tuple((1, h, w) for h in range(128, 353, 16) for w in range(128, 353, 16)),
        cost=2,
        odd=((0, 64, 64), (1, 1, 1), (1, 37, 53), (3, 32, 33), (2, 97, 31)),
    ),
    "bilstm": Workload(
        _frames,
        stable=(1, 100),
        switching=((1, 50), (1, 100), (1, 200), (2, 100), (4, 50), (1, 400)),
        pool=tuple((b, s) for b in range(1, 5) for s in range(20, 201)),
        odd=((0, 5), (1, 1), (3, 7), (5, 31), (1, 0)),
    ),
    "bert_base": Workload(
        _sentences,
        stable=(1, 64),
        switching=((1, 16), (1, 32), (1, 48), (1, 64), (1, 96), (1, 128)),
        pool=tuple((b, s) for b in (1, 2) for s in range(8, 129)),
        cost=4,
        odd=((0, 16), (1, 1), (3, 7)),
    ),
}


def inputs(model: str, key: Key) -> Feed:
    """The model's named inputs for this key; the same numbers every time."""
    rng = np.random.default_rng(zlib.crc32(repr((model, key)).encode()))
    return WORKLOADS[model].make(rng, *key)


def stream(model: str, kind: str, scale: float = 1.0) -> list[Key]:
    """The keys to run, in order. `scale` and the model's cost set the length."""
    w = WORKLOADS[model]
    scale /= w.cost
    if kind == "stable" or not w.switching:
        return [w.stable] * max(10, int(200 * scale))
    order = random.Random(20260304)
    if kind == "switching":
        segments = [k for _ in range(max(2, int(4 * scale))) for k in order.sample(w.switching, len(w.switching))]
        return [k for k in segments for _ in range(10)]
    if kind == "random":
        fresh = iter(order.sample(w.pool, len(w.pool)))
        keys: list[Key] = []
        for i in range(max(40, int(200 * scale))):
            new = next(fresh, None) if i % 10 != 9 else None
            keys.append(new or order.choice(keys))
        return keys
    raise ValueError(f"no stream is called {kind!r}; there are {', '.join(STREAMS)}")
