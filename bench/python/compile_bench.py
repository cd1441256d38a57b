"""Milliseconds from a Python function of 200 lines (``detect.py``) to verified bytecode, by part; none of it was compiled before.

Prints a table: wall clock and this process's processor time, medians. Each compilation has a module of its own, so that nothing is known
of it.

    PYTHONPATH=build/release/python build/venv/bin/python bench/python/compile_bench.py
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msvm._jit import rebuilder
from msvm.frontend.compile import compile_function

import msvm as ms
from msvm import _core

FUNCTION = Path(__file__).with_name("detect.py")
REPETITIONS = 20


def fresh(folder: Path, number: int) -> Any:
    """The function's module under another name, and a line further down, which makes it other code."""
    path = folder / f"detect{number}.py"
    path.write_text("\n" * number + FUNCTION.read_text(encoding="utf-8"), encoding="utf-8")
    os.utime(path, (0, 0))  # as a file that was there before the process
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Times:
    """Of one part: wall clock and processor, in milliseconds."""

    def __init__(self, part: str, aim: str = "") -> None:
        self.part, self.aim = part, aim
        self.wall: list[float] = []
        self.processor: list[float] = []

    def of(self, f: Callable[[], Any]) -> Any:
        """Calls it."""
        wall, processor = time.perf_counter_ns(), time.process_time_ns()
        result = f()
        self.processor.append((time.process_time_ns() - processor) / 1e6)
        self.wall.append((time.perf_counter_ns() - wall) / 1e6)
        return result

    def row(self) -> str:
        """A line of the table; the first time is the cold one, and not in the medians."""
        wall, processor = statistics.median(self.wall[1:]), statistics.median(self.processor[1:])
        return f"{self.part:44} {wall:8.1f} {processor:8.1f} {min(self.wall[1:]):8.1f} {self.wall[0]:8.1f}   {self.aim}"


def measure(folder: Path) -> list[Times]:
    """Each part of each compilation."""
    front = Times("front end: source to bytecode")
    verified = Times("verification; program as it stands")
    both = Times("source to verified bytecode", "< 30")
    optimised = Times("verification and optimiser: program to run")
    first = Times("a first call without its run: all of it")
    for number in range(REPETITIONS + 1):
        module = fresh(folder, number)
        f = ms.jit(module.detect)
        signature = f.signature(*module.arguments())

        def compiled() -> Any:
            return compile_function(f.__msvm_function__, signature.kinds, signature.names, rebuilder(signature)).module  # noqa: B023

        bytecode = front.of(compiled)
        verified.of(lambda: _core.load_module(bytecode, {"opt": 0}))  # noqa: B023
        both.wall.append(front.wall[-1] + verified.wall[-1])
        both.processor.append(front.processor[-1] + verified.processor[-1])
        again = compiled()
        optimised.of(lambda: _core.load_module(again, {}))  # noqa: B023
        first.wall.append(front.wall[-1] + optimised.wall[-1])
        first.processor.append(front.processor[-1] + optimised.processor[-1])
    return [front, verified, both, optimised, first]


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as name:
        parts = measure(Path(name))
    print(f"{'ms; median of ' + str(REPETITIONS):44} {'wall':>8} {'cpu':>8} {'least':>8} {'cold':>8}   aim")
    for part in parts:
        print(part.row())


if __name__ == "__main__":
    main()
