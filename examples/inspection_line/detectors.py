"""The detector on each engine: from a frame as the camera gives it to a map of where text is. Sampling and scaling are part of it."""

import importlib
import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np

MULTIPLE = 32
"""The net halves sizes five times."""


class Detector(Protocol):
    """What the line calls."""

    name: str

    def __call__(self, pixels: np.ndarray) -> np.ndarray:
        """uint8 (1, 3, H, W) to float32 (1, 1, h, w) in 0…1."""


def sampled(size: int, factor: int) -> int:
    """What every `factor`-th pixel of a side comes to, as a multiple of 32."""
    step = MULTIPLE * factor
    return max(MULTIPLE, (size + step // 2) // step * MULTIPLE)


class Msvm:
    """One function that takes any size: `frame` is the camera's own, so the code that is made for its sizes is named after them."""

    def __init__(self, model: Path, factor: int, threads: int) -> None:
        import msvm as ms

        net = ms.onnx.load(model, num_threads=threads)
        step, half = MULTIPLE * factor, MULTIPLE * factor // 2

        @ms.jit(name="inspect", num_threads=threads)
        def inspect(frame: Any) -> Any:
            size = ((frame.shape[2] + half) // step * 32, (frame.shape[3] + half) // step * 32)
            x = ms.ops.interpolate(frame, size=size, mode="nearest")
            return net(x.astype(ms.float32) * (1 / 127.5) - 1.0)[0]

        self.name = f"msvm {ms.__version__}"
        self.function = inspect

    def __call__(self, pixels: np.ndarray) -> np.ndarray:
        """uint8 (1, 3, H, W) to float32 (1, 1, h, w) in 0…1."""
        return np.asarray(self.function(pixels))


class Torch:
    """The same graph and the same weights as calls of PyTorch, under torch.compile with its defaults, or with one graph per resolution."""

    def __init__(self, model: Path, factor: int, threads: int, dynamic: bool | None) -> None:
        os.environ["OMP_NUM_THREADS"] = str(threads)
        torch: Any = importlib.import_module("torch")
        twin = importlib.import_module("inspection_line.torch_twin").Twin(model)
        torch.set_num_threads(threads)

        def inspect(frame: Any) -> Any:
            size = (sampled(frame.shape[2], factor), sampled(frame.shape[3], factor))
            x = torch.nn.functional.interpolate(frame, size=size, mode="nearest")
            return twin(x.to(torch.float32) * (1 / 127.5) - 1.0)

        self.name = f"torch {torch.__version__}" + (" static" if dynamic is False else "")
        self._torch = torch
        self._run = torch.compile(inspect, dynamic=dynamic)

    def __call__(self, pixels: np.ndarray) -> np.ndarray:
        """uint8 (1, 3, H, W) to float32 (1, 1, h, w) in 0…1."""
        with self._torch.inference_mode():
            result: np.ndarray = self._run(self._torch.from_numpy(pixels)).numpy()
        return result


ENGINES = ("msvm", "torch", "torch-static")


def detector(engine: str, model: Path, factor: int, threads: int) -> Detector:
    """One of `ENGINES`."""
    if engine == "msvm":
        return Msvm(model, factor, threads)
    return Torch(model, factor, threads, False if engine == "torch-static" else None)
