"""What a trace, and the flight recorder, cost: settled runs of real models, and of programs of a few operators, on against off.

Blocks of runs take turns, off first, then on; a figure is the median over the rounds of on / off. The last table has nanoseconds a record:
the difference of a small program's runs over the records that a run writes.

    PYTHONPATH=build/release/python:tools build/venv/bin/python bench/python/trace_bench.py [--threads 1] [--models ppocrv4_det minilm]
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from corpus.paths import model_path
from corpus.store import SPINE, ensure
from corpus.workloads import inputs, stream

import msvm as ms

ROUNDS, BLOCK_SECONDS = 15, 0.15


def block(run: Callable[[], Any], count: int) -> float:
    """Seconds of a run: the median of ``count``."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def compared(run: Callable[[], Any], switch: Callable[[bool], Any]) -> tuple[float, float]:
    """Seconds of a run when off, and on / off."""
    count = max(3, round(BLOCK_SECONDS / max(1e-7, block(run, 20))))
    off, ratios = [], []
    for _ in range(ROUNDS):
        switch(False)
        block(run, max(2, count // 10))
        off.append(block(run, count))
        switch(True)
        block(run, max(2, count // 10))
        ratios.append(block(run, count) / off[-1])
    switch(False)
    return statistics.median(off), statistics.median(ratios)


def small_programs() -> dict[str, ms.Program]:
    """Chains of so many calls that no pass can make fewer."""

    def chain(n: int) -> Any:
        @ms.jit(name=f"chain {n}", jit_level="O0")
        def f(x: Any) -> Any:
            for _ in range(n):
                x = ms.ops.softmax(x, -1)
            return x

        return f

    return {f"{n} calls of softmax": chain(n) for n in (1, 16)}


def records_of_a_run(run: Callable[[], Any]) -> float:
    """As the log of ten runs says."""
    ms.vm.enable_bc_trace(True)
    for _ in range(10):
        run()
    path = ms.vm.bc_trace_to_csv()
    ms.vm.enable_bc_trace(False)
    with Path(path).open(newline="", encoding="utf-8") as f:
        return sum(1 for _ in csv.DictReader(f)) / 10


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=list(SPINE))
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    ensure(args.models)
    os.chdir(tempfile.mkdtemp())
    switches: dict[str, Callable[[bool], Any]] = {
        "trace": ms.vm.enable_bc_trace,
        "flight recorder": lambda on: ms.vm.enable_flight_recorder(on, on_crash=False),
    }
    print(f"{'program':28} {'ms off':>9}  " + "  ".join(f"{name + ' on / off':>24}" for name in switches), flush=True)
    shares: dict[str, list[float]] = {name: [] for name in switches}
    for model in args.models:
        program = ms.onnx.load(str(model_path(model)), num_threads=args.threads)
        feed = inputs(model, stream(model, "switching", 0.4)[0])
        for _ in range(5):
            program(feed)
        ms.vm.wait_compiled(program, timeout=60)
        found = {name: compared(lambda: program(feed), switch) for name, switch in switches.items()}  # noqa: B023
        for name, (_, ratio) in found.items():
            shares[name].append(ratio)
        off = next(iter(found.values()))[0]
        print(f"{model:28} {off * 1e3:9.3f}  " + "  ".join(f"{ratio:24.4f}" for _, ratio in found.values()), flush=True)
    if args.models:
        print(f"{'geometric mean':28} {'':9}  " + "  ".join(f"{statistics.geometric_mean(r):24.4f}" for r in shares.values()))
    print(f"\n{'program':28} {'us off':>9}  {'records a run':>14}  {'ns a record':>12}")
    x = ms.Tensor(np.ones((4, 8), np.float32))
    for name, f in small_programs().items():
        f(x)
        off, ratio = compared(lambda: f(x), ms.vm.enable_bc_trace)  # noqa: B023
        records = records_of_a_run(lambda: f(x))  # noqa: B023
        print(f"{name:28} {off * 1e6:9.2f}  {records:14.1f}  {off * (ratio - 1) / records * 1e9:12.1f}", flush=True)


if __name__ == "__main__":
    main()
