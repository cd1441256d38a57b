"""Processor time of a monitor whose events ten clients read, while a program runs with ever-changing shapes.

Prints a line for each number of clients: the share of one core that the monitor's threads took, and how large a state was. The clients are
a process of their own. Threads' times are those of the kernel (schedstat), so a busy machine doesn't change them much.

    PYTHONPATH=build/release/python build/venv/bin/python bench/python/monitor_bench.py
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np

import msvm as ms

SECONDS = 15.0
GOAL = 0.01

READER = """
import socket, sys, time
host, port = sys.argv[1].removeprefix("http://").rsplit(":", 1)
clients = [socket.create_connection((host, int(port))) for _ in range(int(sys.argv[2]))]
for c in clients:
    c.sendall(b"GET /api/v1/live HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
print("reads", flush=True)
import selectors
s = selectors.DefaultSelector()
for c in clients:
    s.register(c, selectors.EVENT_READ)
while True:
    for key, _ in s.select():
        if not key.fileobj.recv(1 << 20):
            sys.exit("closed")
"""


class Net(ms.nn.Cell):
    """Small, with some native code for each size."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = ms.nn.Dense(64, 64)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        """[N, 64] -> [N, 64]."""
        for _ in range(4):
            x = ms.ops.tanh(ms.ops.exp(self.dense(x)) * 0.1)
        return x


def work(stop: threading.Event) -> None:
    """Thirty runs a second, as a camera has them: the monitor isn't measured by what it waits for."""
    net = Net()
    f = ms.jit(lambda x: net(x), name="net", num_threads=1)
    sizes = [8, 16, 8, 8, 24, 16, 8, 32]
    inputs = {n: ms.Tensor(np.ones((n, 64), np.float32)) for n in sizes}
    n = 0
    while not stop.wait(1 / 30):
        f(inputs[sizes[n % len(sizes)]])
        n += 1


def threads() -> dict[int, tuple[str, int]]:
    """Thread -> name and nanoseconds on a processor."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        try:
            found[int(task.name)] = ((task / "comm").read_text().strip(), int((task / "schedstat").read_text().split()[0]))
        except OSError:
            continue
    return found


def measure(url: str, clients: int, own: set[int]) -> None:
    """A line."""
    reader = subprocess.Popen([sys.executable, "-c", READER, url, str(clients)], stdout=subprocess.PIPE) if clients else None
    if reader:
        assert reader.stdout is not None
        reader.stdout.readline()
    time.sleep(1.0)
    before, begin = threads(), time.perf_counter()
    time.sleep(SECONDS)
    wall, after = time.perf_counter() - begin, threads()
    if reader:
        assert reader.poll() is None, "a client was dropped"
        reader.terminate()
    share = sum(after[t][1] - before[t][1] for t in own if t in after) / 1e9 / wall
    with urllib.request.urlopen(f"{url}/api/v1/state") as answer:
        size = len(answer.read())
    verdict = "" if clients != 10 else f"   goal < {GOAL:.0%}: {'met' if share < GOAL else 'missed'}"
    print(f"{clients:3} clients   {share:8.3%} of a core   state of {size / 1024:.1f} KiB{verdict}", flush=True)


def main() -> None:
    """Prints the lines."""
    stop = threading.Event()
    runner = threading.Thread(target=work, args=(stop,))
    runner.start()
    time.sleep(5.0)
    before = set(threads())
    with ms.vm.start_monitor("127.0.0.1:0") as monitor:
        urllib.request.urlopen(f"{monitor.url}/metrics").read()
        own = {t for t in threads() if t not in before}
        print("threads of the monitor:", ", ".join(sorted(name for t, (name, _) in threads().items() if t in own)))
        for clients in (0, 1, 10):
            measure(monitor.url, clients, own)
    stop.set()
    runner.join()


if __name__ == "__main__":
    main()
