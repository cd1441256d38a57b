"""Python programs that are debugged; a line is found by the mark in its comment."""

import textwrap


def line_of(path, mark):
    """The number of the line that holds ``# mark``."""
    return next(k for k, line in enumerate(path.read_text().splitlines(), 1) if line.endswith(f"# {mark}"))


def written(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


CALLS = """
    import numpy as np
    import msvm as ms

    @ms.jit
    def mixed(x, w):
        y = ms.ops.matmul(x, w)   # product
        z = y + 1.0               # sum
        return z * 2.0

    def main():
        x = np.ones((2, 3), np.float32)
        w = np.ones((3, 4), np.float32)
        seen = "here"
        first = mixed(x, w)       # call
        second = mixed(x, w)      # again
        print("total", float(np.asarray(first).sum()), float(np.asarray(second).sum()))   # after

    main()
"""
"""Two calls of a jitted function; prints ``total 64.0 64.0``."""

MISMATCH = """
    import numpy as np
    import msvm as ms

    @ms.jit
    def add(x, y):
        return x + y              # fails

    def main():
        add(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))
        try:
            add(np.ones((2, 3), np.float32), np.ones((2, 4), np.float32))
        except Exception as e:
            print("caught", type(e).__name__)
        print("over")

    main()
"""

NAN = """
    import numpy as np
    import msvm as ms

    @ms.jit
    def root(x):
        y = x - 1.0
        return ms.ops.sqrt(y)

    print("first", float(np.asarray(root(np.ones((3,), np.float32))).sum()))
    root(np.zeros((3,), np.float32))
    print("over")
"""

LOOP = """
    import os, sys, time
    import numpy as np
    import msvm as ms

    @ms.jit
    def work(x):
        y = x * 2.0               # inside
        return ms.ops.relu(y + 1.0)

    x = np.ones((64, 64), np.float32)
    end = time.monotonic() + float(sys.argv[1]) if len(sys.argv) > 1 else 1e18
    runs = 0
    while time.monotonic() < end:
        out = work(x)
        runs += 1                 # counted
        if os.path.exists(__file__ + ".stop"):
            break
    print("sum", float(np.asarray(out).sum()), runs > 0)
"""
"""Runs for argv[1] seconds, or until a file NAME.stop is there."""

THREADS = """
    import threading
    import numpy as np
    import msvm as ms

    @ms.jit
    def triple(x):
        return x * 3.0            # inside

    def work(k):
        x = np.full((4,), k, np.float32)
        total = 0.0
        for _ in range(3):
            total += float(np.asarray(triple(x)).sum())
        results[k] = total        # done

    results = {}
    workers = [threading.Thread(target=work, args=(k,), name=f"worker {k}") for k in (1, 2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    print("results", results[1], results[2])
"""

PLAIN = """
    import sys

    def add(a, b):
        return a + b              # inside

    total = 0
    for k in range(5):
        total = add(total, k)     # call
    print("total", total, sys.argv[1:])
"""

REFUSED = """
    import msvm as ms

    def main():
        print("begin")
        ms.load(sys.argv[1])      # load
        print("never")

    import sys
    main()
"""

BITS = """
    import sys
    import numpy as np
    import msvm as ms

    @ms.jit(precision="strict")
    def layer(x, w):
        y = ms.ops.matmul(x, w)   # inside
        return ms.ops.softmax(ms.ops.tanh(y) * 1.7, axis=-1).sum(axis=0)

    random = np.random.default_rng(3)
    w = random.standard_normal((37, 29)).astype(np.float32)
    sums = [np.asarray(layer(random.standard_normal((n, 37)).astype(np.float32), w)) for n in (1, 5, 64, 5, 5, 5)]
    np.save(sys.argv[1], np.stack(sums))
"""
"""Saves results over several sizes, one of them often enough for native code, to the file that is named."""
