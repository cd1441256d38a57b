"""Calls a second of a jitted convolutional net from two Python threads beside one, each run with one thread of the engine.

Prints a table. Rounds of one and of two threads alternate; the ratio is the median of the rounds' ratios. On a busy machine the two
threads don't get two cores: ``cores`` is the processor time of the round over its wall clock, which says how many they had, and
``work`` the calls a second of processor time with two threads over that with one: 1 where they don't hinder each other.

    PYTHONPATH=build/release/python build/venv/bin/python bench/python/threads_bench.py
"""

from __future__ import annotations

import importlib
import os
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import msvm as ms

SECONDS = 1.0
ROUNDS = 9
AIM = 1.8


def convolution(out: int, inner: int) -> np.ndarray:
    """Weights [out, inner, 3, 3] that keep the size of values."""
    return (np.random.default_rng(out).standard_normal((out, inner, 3, 3)) * (2 / (9 * inner)) ** 0.5).astype(np.float32)


WEIGHTS = [convolution(16, 3), convolution(32, 16), convolution(64, 32)]


class Net(ms.nn.Cell):
    """Three convolutions; about a millisecond for 16 images of 64 x 64."""

    def __init__(self) -> None:
        super().__init__()
        shapes = [w.shape for w in WEIGHTS]
        self.layers = ms.nn.CellList([ms.nn.Conv2d(inner, out, 3, stride=2, pad_mode="same") for out, inner, _, _ in shapes])
        for layer, w in zip(self.layers, WEIGHTS, strict=True):
            layer.weight.set_data(ms.Tensor(w))

    def construct(self, x: Any) -> Any:
        """Logits [N, 64] of images [N, 3, H, W]."""
        for layer in self.layers:
            x = ms.ops.relu(layer(x))
        return x.mean((2, 3))


@ms.jit
def empty(x: Any) -> Any:
    """What a call costs beside its work."""
    return ms.ops.relu(x)


def calls_in(f: Callable[[Any], Any], values: list[Any]) -> tuple[float, float]:
    """Calls a second of so many threads, and a second of processor time."""
    counts = [0] * len(values)
    ready = threading.Barrier(len(values) + 1)
    end = [0.0]

    def work(k: int) -> None:
        x = values[k]
        ready.wait()
        n = 0
        while time.perf_counter() < end[0]:
            f(x)
            n += 1
        counts[k] = n

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(values))]
    for t in threads:
        t.start()
    wall, processor = time.perf_counter(), time.process_time()
    end[0] = wall + SECONDS
    ready.wait()
    for t in threads:
        t.join()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return sum(counts) / wall, sum(counts) / processor


def row(what: str, f: Callable[[Any], Any], values: list[Any], aim: str = "") -> None:
    """Measures, and prints a line."""
    for x in values * 50:
        f(x)
    ones, twos, works, cores = [], [], [], []
    for _ in range(ROUNDS):
        one, one_work = calls_in(f, values[:1])
        two, two_work = calls_in(f, values)
        ones.append(one)
        twos.append(two)
        works.append(two_work / one_work)
        cores.append(two / two_work)
    ratios = [b / a for a, b in zip(ones, twos, strict=True)]
    median = statistics.median
    rates = f"{1e6 / median(ones):8.1f} {median(ones):10.0f} {median(twos):10.0f}"
    print(f"{what:34} {rates} {median(ratios):7.2f} {max(ratios):7.2f} {median(cores):7.2f} {median(works):7.2f}   {aim}", flush=True)


def in_torch(image: np.ndarray) -> None:
    """The same net there, where it is installed."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    weights = [torch.from_numpy(w) for w in WEIGHTS]

    def net(x: Any) -> Any:
        for w in weights:
            x = torch.relu(torch.conv2d(torch.nn.functional.pad(x, (0, 1, 0, 1)), w, stride=2))
        return x.mean((2, 3))

    row("torch eager: net of three layers", net, [torch.from_numpy(image.copy()) for _ in range(2)])


def main() -> None:
    """Prints the table."""
    image = np.random.default_rng(1).random((1, 3, 64, 64), np.float32)
    net = Net()

    @ms.jit(num_threads=1)
    def infer(x: Any) -> Any:
        return net(x)

    columns = ("us", "1 thread", "2 threads", "ratio", "best", "cores", "work")
    head = f"{'calls a second':34} {columns[0]:>8} {columns[1]:>10} {columns[2]:>10} "
    print(head + " ".join(f"{c:>7}" for c in columns[3:]) + "   aim of the ratio")
    large = [ms.Tensor(image.repeat(16, 0)) for _ in range(2)]
    for x in large:
        infer(x)
    row("net of three layers, 16 images", infer, large, f">= {AIM}")
    row("net of three layers", infer, [ms.Tensor(image) for _ in range(2)], "")
    row("a call of one small operator", ms.jit(empty, num_threads=1), [ms.Tensor(np.ones(4, np.float32)) for _ in range(2)])
    matrix = np.ones((200, 200), np.float32)
    row("numpy: a product of matrices", lambda x: x @ x, [matrix, matrix.copy()])
    in_torch(image)


if __name__ == "__main__":
    main()
