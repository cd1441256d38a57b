import numpy as np

import msvm as ms


@ms.jit
def neck(x: ms.Tensor, w: ms.Tensor) -> ms.Tensor:
    y = ms.ops.conv2d(x, w, pad_mode="same")
    y = ms.ops.relu(y)
    return y * 2.0 + 1.0


def main() -> None:
    rng = np.random.default_rng(0)
    w = ms.Tensor(rng.random((4, 3, 3, 3), np.float32))
    for step in range(12):
        x = ms.Tensor(rng.random((2, 3, 64, 64), np.float32))
        y = neck(x, w)
        print(step, y.shape)
        if step == 6:
            ms.vm.wait_compiled(neck, timeout=60)


main()
