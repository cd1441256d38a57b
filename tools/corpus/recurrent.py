"""An acoustic model's shape: two bidirectional LSTM layers with seeded weights."""

from pathlib import Path

import numpy as np

from corpus.graph import Graph

SEED = 20260303


def build_bilstm(path: Path) -> None:
    """Input: x (b, s, 80) float32. Output: y (b, s, 64) float32, log-probabilities. Hidden size 256 in each direction."""
    g = Graph("bilstm")
    rng = np.random.default_rng(SEED)
    hidden = 256

    def uniform(*shape: int, gain: float = 1) -> np.ndarray:
        return np.float32(gain / hidden**0.5) * rng.uniform(-1, 1, shape).astype(np.float32)

    x = g.node("Transpose", g.input("x", ["b", "s", 80]), perm=[1, 0, 2])
    batch = g.node("Shape", x, start=1, end=2)
    zeros = g.node("ConstantOfShape", g.node("Concat", g.ints(2), batch, g.ints(hidden), axis=0))
    for layer, inputs in enumerate((80, 2 * hidden)):
        w = g.weight(f"lstm{layer}.W", uniform(2, 4 * hidden, inputs, gain=4))
        r = g.weight(f"lstm{layer}.R", uniform(2, 4 * hidden, hidden))
        b = g.weight(f"lstm{layer}.B", uniform(2, 8 * hidden))
        y = g.node("LSTM", x, w, r, b, "", zeros, zeros, outputs=3, direction="bidirectional", hidden_size=hidden)
        x = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]), g.ints(0, 0, 2 * hidden))
    y = g.node("Transpose", x, perm=[1, 0, 2])
    y = g.node("MatMul", y, g.weight("out.weight", uniform(2 * hidden, 64, gain=8)))
    y = g.node("Add", y, g.weight("out.bias", uniform(64)))
    g.output(g.node("LogSoftmax", y, axis=-1), "y", ["b", "s", 64])
    g.save(path)
