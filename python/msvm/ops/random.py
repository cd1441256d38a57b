"""Random values. Each is a function of a key, a uint64 tensor of 2 elements, and comes with the key for the next draw.

The functions without a key (``rand``, ``randn``, ...) take theirs from a generator of the process, seeded by ``set_seed``. Inside a
program that would be the same values at every run, so there they are refused.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .._errors import InputError, UnsupportedError
from ..frontend.values import DTYPE, F32, I64, as_tensor, building, emit
from ._op import op
from ._promote import as_dtype, floating, tensor
from ._shape import as_size, as_sizes

_lock = threading.Lock()
_keys = {"seed": 0, "draws": 0, "starts": 0}


def set_seed(seed: int) -> None:
    """Starts the generator of ``rand``, ``randn`` and the like. ``seed``: an int of 0 to 2**64 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 64:
        raise InputError(f"a seed is an int from 0 to 2**64 - 1, found {seed!r}")
    with _lock:
        _keys.update(seed=seed, draws=0, starts=_keys["starts"] + 1)


def key(seed: int) -> Any:
    """The first key of a seed, as a uint64 array of 2 elements."""
    return np.array([seed, 0], np.uint64)


def _next(name: str, seed: int | None) -> Any:
    if building():
        raise UnsupportedError(
            f"{name} would give the same values at every run of the program; take a key as input and use random_uniform or random_normal"
        )
    if seed is not None:
        return key(seed)
    with _lock:
        _keys["draws"] += 1
        return np.array([_keys["seed"], _keys["draws"] << 32], np.uint64)


def _key(k: Any) -> Any:
    t = as_tensor(k)
    if t.dtype.name != "uint64" or t.ndim != 1:
        raise InputError(f"a key is a uint64 tensor of 2 elements, as random_key makes it; found {t!r}")
    return t


@op(sizes=("size",), static=("low", "high", "dtype"))
def random_uniform(key: Any, size: Any, low: float = 0.0, high: float = 1.0, *, dtype: Any = None) -> Any:
    """Values drawn uniformly from [low, high): (values, next key). Floats, float32 unless ``dtype`` is given.

    ONNX ``RandomUniform`` with a key.
    """
    return emit(
        "RandomUniform",
        [_key(key)],
        as_sizes(size, "size"),
        outputs=2,
        low=float(low),
        high=float(high),
        dtype=F32 if dtype is None else as_dtype(dtype),
    )


@op(sizes=("size",), static=("mean", "scale", "dtype"))
def random_normal(key: Any, size: Any, mean: float = 0.0, scale: float = 1.0, *, dtype: Any = None) -> Any:
    """Values drawn from a normal distribution of standard deviation ``scale``: (values, next key). ONNX ``RandomNormal`` with a key."""
    return emit(
        "RandomNormal",
        [_key(key)],
        as_sizes(size, "size"),
        outputs=2,
        mean=float(mean),
        scale=float(scale),
        dtype=F32 if dtype is None else as_dtype(dtype),
    )


@op(static=("dtype",))
def random_bernoulli(key: Any, p: Any, *, dtype: Any = None) -> Any:
    """1 with the probability that each element of ``p`` gives, else 0: (values, next key). ONNX ``Bernoulli`` with a key."""
    return emit("Bernoulli", [_key(key), floating(p)[0]], outputs=2, dtype=None if dtype is None else as_dtype(dtype))


@op(sizes=("sample_size",), static=("dtype",))
def random_multinomial(key: Any, log_probabilities: Any, sample_size: Any, *, dtype: Any = None) -> Any:
    """Classes drawn by unnormalised log-probabilities [batch, classes]: ([batch, sample_size], next key).

    int64 unless ``dtype`` says int32. ONNX ``Multinomial``.
    """
    args = [as_size(sample_size, "sample_size")]
    return emit(
        "Multinomial", [_key(key), floating(log_probabilities)[0]], args, outputs=2, dtype=I64 if dtype is None else as_dtype(dtype)
    )


def _size(size: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def rand(*size: Any, dtype: Any = None, seed: int | None = None) -> Any:
    """Values drawn uniformly from [0, 1), float32 unless ``dtype`` is given. Not inside a program: see the module."""
    return random_uniform(_next("rand", seed), _size(size), dtype=dtype)[0]


def randn(*size: Any, dtype: Any = None, seed: int | None = None) -> Any:
    """Values drawn from the standard normal distribution, float32 unless ``dtype`` is given. Not inside a program: see the module."""
    return random_normal(_next("randn", seed), _size(size), dtype=dtype)[0]


def uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, seed: int | None = None, dtype: Any = None) -> Any:
    """Values drawn uniformly from [minval, maxval). Not inside a program: see the module."""
    return random_uniform(_next("uniform", seed), tuple(shape), minval, maxval, dtype=dtype)[0]


def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = None) -> Any:
    """Values drawn from a normal distribution. Not inside a program: see the module."""
    return random_normal(_next("normal", seed), tuple(shape), mean, stddev, dtype=dtype)[0]


@op(static=("low", "high", "dtype"))
def _integers_below(values: Any, low: int, high: int, dtype: Any) -> Any:
    span = tensor(float(high - low), DTYPE["float64"])
    scaled = emit("Floor", [emit("Mul", [tensor(values, DTYPE["float64"]), span])])
    return tensor(emit("Add", [tensor(scaled, I64), tensor(low, I64)]), dtype)


def randint(low: int, high: int, size: Any, *, dtype: Any = None, seed: int | None = None) -> Any:
    """Integers drawn uniformly from [low, high), int64 unless ``dtype`` is given. Not inside a program: see the module."""
    if low >= high:
        raise InputError(f"randint: low {low} isn't below high {high}")
    values, _ = random_uniform(_next("randint", seed), tuple(size), dtype="float64")
    return _integers_below(values, low, high, I64 if dtype is None else as_dtype(dtype))


def randperm(n: int, *, dtype: Any = None, seed: int | None = None) -> Any:
    """0 to n - 1 in random order, int64 unless ``dtype`` is given. Not inside a program: see the module."""
    from .elementwise import cast
    from .indexing import argsort

    order = argsort(random_uniform(_next("randperm", seed), (n,), dtype="float64")[0])
    return order if dtype is None else cast(order, dtype)


def bernoulli(input: Any, *, seed: int | None = None, dtype: Any = None) -> Any:
    """1 with the probability that each element gives, else 0. Not inside a program: see the module."""
    return random_bernoulli(_next("bernoulli", seed), input, dtype=dtype)[0]


def multinomial(input: Any, num_samples: int, *, seed: int | None = None) -> Any:
    """Classes drawn, with repetition, by the weights [batch, classes] (or [classes]): int64. Not inside a program: see the module."""
    return _multinomial(_next("multinomial", seed), input, num_samples)


@op(sizes=("num_samples",))
def _multinomial(key: Any, weights: Any, num_samples: Any) -> Any:
    from ..frontend import values as v

    (w,) = floating(weights)
    rows = v.unsqueeze(w, [0]) if w.ndim == 1 else w
    found, _ = random_multinomial(key, emit("Log", [rows]), num_samples)
    return v.squeeze(found, [0]) if w.ndim == 1 else found


random_key = key
