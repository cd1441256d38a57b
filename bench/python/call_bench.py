"""Nanoseconds of a call from Python to a compiled program, by its arguments; of exchange with numpy; beside numpy and torch.

Prints a table. Times are of this thread's processor, the least of several rounds: others on the machine disturb them less.

    PYTHONPATH=build/release/python build/venv/bin/python bench/python/call_bench.py
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from msvm._core import Dispatcher, Entry, Executable, Mutable, Tensor

from msvm import _core, jit, ops

ROUNDS = 15


def nanoseconds(f: Callable[[], Any], number: int = 4000) -> float:
    """Of one call."""
    for _ in range(200):
        f()
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.thread_time_ns()
        for _ in range(number):
            f()
        best = min(best, (time.thread_time_ns() - begin) / number)
    return best


def program(tensors: int, numbers: int = 0) -> Executable:
    """Relu of the first of so many tensors of rank 1; the others are only taken."""
    b = _core.Builder("call")
    inputs = [b.input(f"x{k}", _core.to_dtype("float32"), [b.symbol(f"N{k}")]) for k in range(tensors)]
    for k in range(numbers):
        b.scalar_input(f"n{k}", "i64")
    (y,) = b.call("Relu", inputs[:1], [], {}, [True])
    _, dtype, shape = b.type(y)
    b.output("y", "tensor", dtype, shape)
    b.ret([y], [])
    return _core.load_module(b.finish(), {"jit_level": "O0"})


@jit
def jitted(x: Any) -> Any:
    """One operator."""
    return ops.relu(x)


def dispatcher(parameters: int, numbers: int = 0) -> Dispatcher:
    """Of one entry: Relu of the first parameter."""

    def miss(signature: Any) -> Entry:
        taken = [("leaf", k) for k, kind in enumerate(signature.kinds) if kind[0] != "const"]
        return Entry(program(len(taken) - numbers, numbers), taken, [], ("leaf", 0))

    return Dispatcher(miss, [f"p{k}" for k in range(parameters)])


def rows() -> list[tuple[str, float, str]]:
    """What, nanoseconds, the aim."""
    a = np.arange(4, dtype=np.float32)
    t = Tensor(a)
    found: list[tuple[str, float, str]] = []

    def row(what: str, f: Callable[[], Any], aim: str = "") -> float:
        ns = nanoseconds(f)
        found.append((what, ns, aim))
        return ns

    def calls(values: list[Any], numbers: int = 0) -> Callable[[], Any]:
        d = dispatcher(len(values), numbers)
        return lambda: d(*values)

    row("an empty Python function", lambda: None)
    one = row("call with 1 Tensor", calls([t]), "<= 2100")
    eight = row("call with 8 Tensors", calls([Tensor(a) for _ in range(8)]))
    found.append(("  each further Tensor", (eight - one) / 7, "<= 100"))
    eight = row("call with 1 Tensor and 7 arrays", calls([t] + [a.copy() for _ in range(7)]))
    found.append(("  each array", (eight - one) / 7, "<= 600"))
    eight = row("call with 1 Tensor and 7 mutables", calls([t] + [Mutable(k) for k in range(7)], 7))
    found.append(("  each mutable", (eight - one) / 7, ""))
    eight = row("call with 1 Tensor and 7 constants", calls([t, 3, "text", None, 2.5, True, (), len]))
    found.append(("  each constant", (eight - one) / 7, ""))
    d = dispatcher(1)
    d(t)
    row("the same by keyword", lambda: d(p0=t))
    row("finding the entry alone", lambda: d.find_entry(t))
    e = program(1)
    row("Executable.run of a list of 1 array", lambda: e.run([a]))
    row("a jitted function of 1 Tensor", lambda: jitted(t), "<= 2100")
    row("an operator at once", lambda: ops.relu(t), "<= 1500 + its kernel")
    row("the same as a method", lambda: t.relu())
    row("Tensor + Tensor", lambda: t + t)
    row("Tensor * 2.0", lambda: t * 2.0)
    row("Tensor[1:]", lambda: t[1:])
    row("Tensor(array)", lambda: Tensor(a))
    row("Tensor.asnumpy()", t.asnumpy)
    row("np.from_dlpack(Tensor)", lambda: np.from_dlpack(t))
    row("np.maximum(array, 0)", lambda: np.maximum(a, 0))
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return found
    x = torch.from_numpy(a)
    with torch.no_grad():
        row("torch.relu", lambda: torch.relu(x))
        row("torch.from_dlpack(Tensor)", lambda: torch.from_dlpack(t))
        row("Tensor(torch.Tensor)", lambda: Tensor(x))
        compiled = torch.compile(torch.relu, dynamic=True)
        row("torch.compile(torch.relu): its guards", lambda: compiled(x))
    return found


def main() -> None:
    """Prints the table."""
    for what, ns, aim in rows():
        print(f"{what:40} {ns:8.0f} ns   {aim}")


if __name__ == "__main__":
    main()
