"""One model on one engine over one stream of shapes, in this process: prints one line of JSON.

Started by compare.py, once per measurement, so that no run meets the threads, caches or memory of another one.
"""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from corpus import engines
from corpus.more_workloads import MORE_WORKLOADS
from corpus.paths import model_path
from corpus.workloads import STREAMS, WORKLOADS, inputs, stream

WORKLOADS |= MORE_WORKLOADS


def waited_ns() -> int:
    """Nanoseconds for which this process's threads were ready to run and had no core."""
    total = 0
    for task in Path("/proc/self/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[1])
        except OSError:  # the thread has ended, or the kernel doesn't count
            continue
    return total


def peak_memory_mb() -> float:
    """The process's largest resident size so far."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def measure(engine: str, model: str, kind: str, threads: int, scale: float, budget: float) -> dict[str, object]:
    """Times in milliseconds. A shape's first run and its repetitions (the run after another shape left out) are kept apart."""
    keys = stream(model, kind, scale)
    feeds = {key: inputs(model, key) for key in dict.fromkeys(keys)}
    begin = time.perf_counter()
    loaded = engines.load(engine, model_path(model), threads)
    load_ms = 1e3 * (time.perf_counter() - begin)
    first: dict[str, float] = {}
    settled: dict[str, list[float]] = {}
    begin, waited, previous = time.perf_counter(), waited_ns(), None
    for key in keys:
        start = time.perf_counter()
        loaded.run(feeds[key])
        ms = 1e3 * (time.perf_counter() - start)
        name = "x".join(map(str, key))
        if name not in first:
            first[name] = ms
        elif key == previous:
            settled.setdefault(name, []).append(ms)
        previous = key
        if time.perf_counter() - begin > budget:
            break
    wall = time.perf_counter() - begin
    return {
        "version": loaded.version,
        "load_ms": load_ms,
        "first_ms": first,
        "settled_ms": {name: statistics.median(ms) for name, ms in settled.items()},
        "runs": len(first) + sum(map(len, settled.values())),
        "wall_s": wall,
        "starved": (waited_ns() - waited) / 1e9 / wall / threads,
        "peak_mb": peak_memory_mb(),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=list(engines.ENGINES))
    parser.add_argument("model")
    parser.add_argument("stream", choices=STREAMS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--scale", type=float, default=0.5)
    parser.add_argument("--budget", type=float, default=20, help="seconds after which the stream is cut")
    a = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MSVM_NUM_THREADS"):
        os.environ[name] = str(a.threads)
    print(json.dumps(measure(a.engine, a.model, a.stream, a.threads, a.scale, a.budget)))


if __name__ == "__main__":
    main()
