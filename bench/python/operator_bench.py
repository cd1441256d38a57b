"""Nanoseconds that an operator called at once takes over its kernel; beside numpy and, where installed, torch.

Prints a table of the least of several rounds. The kernel's time is that of the calls in a profiled program of this operator alone, which
reads the clock around each (20 to 40 ns); the others are of this thread's processor.

    PYTHONPATH=build/release/python build/venv/bin/python bench/python/operator_bench.py
"""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from call_bench import nanoseconds

import msvm as ms

AIM = 1500
ROUNDS, RUNS = 20, 300
SAME = "the same"
R = np.random.default_rng(0)


def some(*shape: int) -> np.ndarray:
    """Numbers in [0.5, 1.5)."""
    return R.random(shape, np.float32) + np.float32(0.5)


CASES = [
    ("o.relu(x)", "np.maximum(x, 0)", "t.relu(x)", [some(4)]),
    ("o.exp(x)", "np.exp(x)", "t.exp(x)", [some(4)]),
    ("x + y", SAME, SAME, [some(4), some(4)]),
    ("x + y", SAME, SAME, [some(4, 4), some(4)]),
    ("x * 2.0", SAME, SAME, [some(4)]),
    ("x > 0.5", SAME, SAME, [some(4)]),
    ("o.maximum(x, y)", "np.maximum(x, y)", "t.maximum(x, y)", [some(4), some(4)]),
    ("x @ y", SAME, SAME, [some(4, 4), some(4, 4)]),
    ("x.sum()", SAME, SAME, [some(4, 4)]),
    ("x.mean(1)", SAME, SAME, [some(4, 4)]),
    ("o.softmax(x, -1)", None, "t.softmax(x, -1)", [some(4, 4)]),
    ("o.layer_norm(x, (8,), y, z)", None, "t.layer_norm(x, (8,), y, z)", [some(4, 8), some(8), some(8)]),
    ("o.conv2d(x, y)", None, "t.conv2d(x, y)", [some(1, 3, 8, 8), some(4, 3, 3, 3)]),
    ("o.cat((x, y))", "np.concatenate((x, y))", "t.cat((x, y))", [some(4), some(4)]),
    ("x.reshape(2, 8)", SAME, SAME, [some(4, 4)]),
    ("x.T", SAME, SAME, [some(4, 4)]),
    ("x.astype(ms.int32)", "x.astype(np.int32)", "x.to(t.int32)", [some(4)]),
    ("x[1:]", SAME, SAME, [some(4)]),
    ("x[1]", SAME, SAME, [some(4, 4)]),
    ("x[:, None]", SAME, SAME, [some(4)[:, None]]),
    ("x[x > 1.0]", SAME, SAME, [some(4)]),
]
"""Expression, the same of numpy and of torch, what x, y, z are."""


def functions(folder: Path) -> list[Callable[..., Any]]:
    """The expressions as functions of x, y, z, in a file."""
    names = ["x", "y", "z"]
    lines = ["import msvm as ms", "o = ms.ops"]
    for k, (expression, _, _, arrays) in enumerate(CASES):
        lines.append(f"def f{k}({', '.join(names[: len(arrays)])}): return {expression}")
    path = folder / "expressions.py"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("expressions", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [getattr(module, f"f{k}") for k in range(len(CASES))]


def kernel_nanoseconds(function: Callable[..., Any], values: list[ms.Tensor]) -> float:
    """Of the calls in a program of it."""
    f = ms.jit(function, jit_level="O0", opt=0)
    for _ in range(200):
        f(*values)
    (program,) = f.executables()
    program.set_profiling(True)
    best, before = float("inf"), 0.0
    for _ in range(ROUNDS):
        for _ in range(RUNS):
            f(*values)
        total = float(sum(row["nanoseconds"] for row in program.profile() if row["mnemonic"] == "OP_CALL"))
        best = min(best, (total - before) / RUNS)
        before = total
    return best


def evaluated(expression: str | None, library: str, module: Any, values: list[Any]) -> float | None:
    """Of an expression; None where there is none, or no such library."""
    if expression is None or module is None:
        return None
    names = {library: module, **dict(zip("xyz", values, strict=False))}
    return nanoseconds(eval(f"lambda: {expression}", names))


def torch_or_none() -> Any:
    """The module, with gradients off."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    torch.set_grad_enabled(False)
    return torch


def text(ns: float | None) -> str:
    """A column."""
    return f"{'':>8}" if ns is None else f"{ns:8.0f}"


def main() -> None:
    """Prints the table."""
    torch = torch_or_none()
    print(f"{'ns':28} {'at once':>8} {'kernel':>8} {'over it':>8} {'numpy':>8} {'torch':>8}   over it: <= {AIM}")
    with tempfile.TemporaryDirectory() as folder:
        made = functions(Path(folder))
        for function, (expression, in_numpy, in_torch, arrays) in zip(made, CASES, strict=True):
            values = [ms.Tensor(v) for v in arrays]
            at_once = nanoseconds(lambda: function(*values))  # noqa: B023
            kernel = kernel_nanoseconds(function, values)
            numpy = evaluated(expression if in_numpy is SAME else in_numpy, "np", np, arrays)
            tensors = [] if torch is None else [torch.from_numpy(v) for v in arrays]
            peer = evaluated(expression if in_torch is SAME else in_torch, "t", torch, tensors)
            print(f"{expression:28}", *map(text, (at_once, kernel, at_once - kernel, numpy, peer)), flush=True)


if __name__ == "__main__":
    main()
