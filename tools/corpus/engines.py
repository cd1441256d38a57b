"""One way to run a model on each engine: ours, and the peers it is compared with."""

import importlib.util
import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np

Feed = dict[str, np.ndarray]


class Engine(Protocol):
    """A loaded model."""

    version: str
    metadata: dict[str, str]  # that the model came with

    def run(self, feed: Feed) -> list[np.ndarray]:
        """Outputs in the model's order."""


class Msvm:
    """Our engine, by its Python module. The number of threads is fixed by the first model that a process loads."""

    def __init__(self, path: Path, threads: int) -> None:
        os.environ.setdefault("MSVM_NUM_THREADS", str(threads))
        import msvm

        self.version: str = getattr(msvm, "__version__", "?")
        self.module: Any = msvm.onnx.load(path)
        self.metadata: dict[str, str] = self.module.metadata

    def run(self, feed: Feed) -> list[np.ndarray]:
        """Outputs in the model's order."""
        return list(self.module.run(feed))


class OnnxRuntime:
    """ONNX Runtime on the CPU; without graph optimisation it is the tests' reference."""

    def __init__(self, path: Path, threads: int, optimise: bool = True) -> None:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        if not optimise:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.version: str = ort.__version__
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.metadata: dict[str, str] = self.session.get_modelmeta().custom_metadata_map

    def run(self, feed: Feed) -> list[np.ndarray]:
        """Outputs in the model's order."""
        return list(self.session.run(None, feed))


class OpenVino:
    """OpenVINO with dynamic shapes, in float32 (its own default may be bfloat16, which is another result)."""

    def __init__(self, path: Path, threads: int) -> None:
        import openvino as ov

        config = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
        self.version: str = ov.__version__.split("-")[0]
        self.metadata: dict[str, str] = {}
        core = ov.Core()
        self.request = core.compile_model(core.read_model(path), "CPU", config).create_infer_request()

    def run(self, feed: Feed) -> list[np.ndarray]:
        """Outputs in the model's order."""
        results = self.request.infer(feed, share_inputs=True, share_outputs=False)
        return [results[i] for i in range(len(results))]


ENGINES = {"msvm": (Msvm, "msvm"), "ort": (OnnxRuntime, "onnxruntime"), "openvino": (OpenVino, "openvino")}


def available(engine: str) -> bool:
    """Whether this Python has the engine's package."""
    return importlib.util.find_spec(ENGINES[engine][1]) is not None


def load(engine: str, path: Path, threads: int = 1) -> Engine:
    """Load the model at `path`."""
    made: Engine = ENGINES[engine][0](path, threads)
    return made
