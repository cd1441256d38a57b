"""What a user writes, for type checkers: test_stubs.py has one look at it. It is never run."""

from typing import assert_type

import numpy as np

import msvm as ms

x = ms.Tensor(np.ones((3, 4), np.float32))
i: int = 3
assert_type(x + 1, ms.Tensor)
assert_type(1 / x, ms.Tensor)
assert_type(x + x, ms.Tensor)
assert_type(x @ x.T, ms.Tensor)
assert_type(-x, ms.Tensor)
assert_type(x == 2, ms.Tensor)
assert_type(x < x, ms.Tensor)
assert_type(x[0], ms.Tensor)
assert_type(x[1:, ..., None], ms.Tensor)
x[0] = 3
x += 1
assert_type(x.sum(), ms.Tensor)
assert_type(x.shape, tuple[int, ...])
assert_type(x.max(0), ms.Tensor)
assert_type(x.max(0, return_indices=True), tuple[ms.Tensor, ms.Tensor])
assert_type(x.float(), ms.Tensor)
assert_type(x.reshape(-1).unsqueeze(0), ms.Tensor)
assert_type(x.topk(2), tuple[ms.Tensor, ms.Tensor])
assert_type(ms.ops.relu(x), ms.Tensor)
assert_type(ms.ops.nonzero(x), ms.Tensor)
assert_type(ms.ops.nonzero(x, as_tuple=True), tuple[ms.Tensor, ...])
assert_type(ms.ops.cat([x, x], 1), ms.Tensor)
assert_type(ms.ops.split(x, 2), tuple[ms.Tensor, ...])
assert_type(ms.ops.max_pool2d(x, 2), ms.Tensor)
assert_type(ms.ops.max_pool2d(x, 2, return_indices=True), tuple[ms.Tensor, ms.Tensor])
y = ms.ops.Concat(axis=1)((x, x))
assert_type(ms.nn.Dense(3, 4)(x), ms.Tensor)
assert_type(ms.nn.LSTM(3, 4)(x), tuple[ms.Tensor, tuple[ms.Tensor, ms.Tensor]])
assert_type(ms.float32, ms.DType)
assert_type(ms.bool_, ms.DType)
assert_type(x.dtype, ms.DType)
for row in x:
    assert_type(row, ms.Tensor)
n = ms.mutable(3, name="n")
assert_type(n, ms.Mutable)
assert_type(x[:n], ms.Tensor)


@ms.jit
def f(x: ms.Tensor, k: int = 2, *, scale: float = 1.0) -> ms.Tensor:
    """Doc."""
    return ms.ops.relu(x[:k]) * scale


assert_type(f(x, 3, scale=2.0), ms.Tensor)


@ms.jit(jit_threshold=3, fallback=False)
def g(x: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor]:
    return x, x * 2


assert_type(g(x)[1], ms.Tensor)
f.clear()
text: str = f.bytecode
f.save("a.msbc")


class Net(ms.nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = ms.nn.Dense(3, 4)

    @ms.jit
    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.dense(x).relu()


net = Net()
assert_type(net.construct(x), ms.Tensor)
assert_type(net(x), ms.Tensor)
whole = ms.jit(net)
assert_type(whole(x), ms.Tensor)
h = ms.jit(lambda a: a + 1)
ms.vm.jit_info(f)
rate: float = ms.vm.get_jit_hit_rate(f)
ms.vm.print_scd_analysis(f)
ms.vm.wait_compiled(f, timeout=1.0)
ms.vm.warmup(f)
ms.set_context(mode=ms.GRAPH_MODE)
program = ms.onnx.load("m.onnx")
program.run({"x": np.ones(3)})
a: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = x.asnumpy()
w = ms.Parameter(x, name="w")
assert_type(w * 2, ms.Tensor)
xp = x.__array_namespace__()
ms.array_api.sum(x)
