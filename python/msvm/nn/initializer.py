"""First values of parameters, by name. Random ones follow the seed of ``msvm.ops.set_seed``, one stream for each parameter made."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._errors import InputError
from ..ops._promote import as_dtype
from ..ops.random import _keys

Array = np.ndarray[Any, Any]
_lock = threading.Lock()
_made = {"start": -1, "count": 0}


def generator(seed: int | None = None) -> np.random.Generator:
    """A stream of random numbers: of a seed, or the next one of the process's seed."""
    if seed is not None:
        return np.random.default_rng(seed)
    with _lock:
        if _made["start"] != _keys["starts"]:
            _made.update(start=_keys["starts"], count=0)
        _made["count"] += 1
        return np.random.default_rng([_keys["seed"], _made["count"]])


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs an element of a weight [out, in, kernel...] is between."""
    if len(shape) < 2:
        n = shape[0] if shape else 1
        return n, n
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


class Initializer:
    """Makes the first elements of a parameter of a shape."""

    def __init__(self, make: Callable[[np.random.Generator, tuple[int, ...]], Array], seed: int | None = None) -> None:
        self._make = make
        self._seed = seed

    def __call__(self, shape: Sequence[int]) -> Array:
        """Elements as float64."""
        return np.asarray(self._make(generator(self._seed), tuple(shape)), np.float64)


def Constant(value: float) -> Initializer:  # noqa: N802 - named as MindSpore names it
    """One value everywhere."""
    return Initializer(lambda rng, shape: np.full(shape, value))


def Normal(sigma: float = 0.01, mean: float = 0.0, seed: int | None = None) -> Initializer:  # noqa: N802
    """From a normal distribution."""
    return Initializer(lambda rng, shape: rng.normal(mean, sigma, shape), seed)


def _truncated(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    values = rng.standard_normal(shape)
    while (outside := np.abs(values) > 2).any():
        values[outside] = rng.standard_normal(int(outside.sum()))
    return values


def TruncatedNormal(sigma: float = 0.01, mean: float = 0.0, seed: int | None = None) -> Initializer:  # noqa: N802
    """From a normal distribution, without what lies more than two standard deviations off."""
    return Initializer(lambda rng, shape: mean + sigma * _truncated(rng, shape), seed)


def Uniform(scale: float = 0.07, seed: int | None = None) -> Initializer:  # noqa: N802
    """Evenly from [-scale, scale)."""
    return Initializer(lambda rng, shape: rng.uniform(-scale, scale, shape), seed)


def XavierUniform(gain: float = 1.0, seed: int | None = None) -> Initializer:  # noqa: N802
    """Evenly from within gain * sqrt(6 / (fan in + fan out)) (X. Glorot, Y. Bengio 2010)."""

    def make(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        bound = gain * math.sqrt(6 / max(sum(fans(shape)), 1))
        return rng.uniform(-bound, bound, shape)

    return Initializer(make, seed)


def XavierNormal(gain: float = 1.0, seed: int | None = None) -> Initializer:  # noqa: N802
    """Normal with gain * sqrt(2 / (fan in + fan out)) (X. Glorot, Y. Bengio 2010)."""
    return Initializer(lambda rng, shape: rng.normal(0, gain * math.sqrt(2 / max(sum(fans(shape)), 1)), shape), seed)


def _gain(negative_slope: float, nonlinearity: str) -> float:
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + negative_slope**2))
    gains = {"relu": math.sqrt(2), "tanh": 5 / 3, "sigmoid": 1.0, "linear": 1.0}
    if nonlinearity not in gains:
        raise InputError(f"an initializer's nonlinearity is leaky_relu, {', '.join(gains)}; found {nonlinearity!r}")
    return gains[nonlinearity]


def HeUniform(negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", seed: int | None = None) -> Initializer:  # noqa: N802
    """Evenly from within gain * sqrt(3 / fan) (K. He et al. 2015)."""

    def make(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        bound = _gain(negative_slope, nonlinearity) * math.sqrt(3 / max(fans(shape)[mode == "fan_out"], 1))
        return rng.uniform(-bound, bound, shape)

    return Initializer(make, seed)


def HeNormal(negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", seed: int | None = None) -> Initializer:  # noqa: N802
    """Normal with gain / sqrt(fan) (K. He et al. 2015)."""

    def make(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return rng.normal(0, _gain(negative_slope, nonlinearity) / math.sqrt(max(fans(shape)[mode == "fan_out"], 1)), shape)

    return Initializer(make, seed)


def Identity() -> Initializer:  # noqa: N802
    """The unit matrix."""
    return Initializer(lambda rng, shape: np.eye(shape[0], shape[-1]))


def Orthogonal(gain: float = 1.0, seed: int | None = None) -> Initializer:  # noqa: N802
    """Rows (or columns) that are orthogonal to each other (A. Saxe et al. 2013)."""

    def make(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        rows, columns = shape[0], math.prod(shape[1:])
        q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))
        return gain * (q.T if rows < columns else q).reshape(shape)

    return Initializer(make, seed)


_BY_NAME: dict[str, Callable[[], Initializer]] = {
    "zeros": lambda: Constant(0.0),
    "ones": lambda: Constant(1.0),
    "normal": Normal,
    "truncatednormal": TruncatedNormal,
    "uniform": Uniform,
    "xavieruniform": XavierUniform,
    "xaviernormal": XavierNormal,
    "heuniform": HeUniform,
    "henormal": HeNormal,
    "identity": Identity,
    "orthogonal": Orthogonal,
}


def initializer(init: Any, shape: Sequence[int], dtype: Any = "float32") -> _core.Tensor:
    """A tensor of a shape and dtype.

    ``init``: a name (zeros, ones, normal, truncated_normal, uniform, xavier_uniform, xavier_normal, he_uniform, he_normal, identity,
    orthogonal), an ``Initializer``, a number, or a tensor or array of that shape. Errors: InputError for anything else.
    """
    to = as_dtype(dtype)
    if isinstance(init, str):
        found = _BY_NAME.get(init.replace("_", "").lower())
        if found is None:
            raise InputError(f"there is no initializer {init!r}; names are {', '.join(_BY_NAME)}")
        init = found()
    if isinstance(init, (bool, int, float)):
        init = Constant(float(init))
    if isinstance(init, Initializer):
        return _core.Tensor(init(shape), to)
    given = init if isinstance(init, _core.Tensor) else _core.Tensor(np.asarray(init))
    if given.shape != tuple(shape):
        raise InputError(f"the first values of a parameter have shape {given.shape}, expected {tuple(shape)}")
    return given if given.dtype is to else _core.Tensor(given.asnumpy().astype(to.numpy), to)
