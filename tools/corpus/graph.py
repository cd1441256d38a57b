"""A thin builder over `onnx.helper`: names values, keeps weights, writes the file. No other exporter is needed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from corpus.paths import replace_with

OPSET = 18
Dim = int | str  # a size, or the name (or expression) of a size known only at run time


class Graph:
    """An ONNX graph under construction. Values are referred to by their names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, onnx.TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, dims: Sequence[Dim], dtype: int = TensorProto.FLOAT) -> str:
        """Declare an input and return its name."""
        self._inputs.append(helper.make_tensor_value_info(name, dtype, list(dims)))
        return name

    def output(self, value: str, name: str, dims: Sequence[Dim], dtype: int = TensorProto.FLOAT) -> None:
        """Declare `value`, the result of a node that nothing else uses, as an output under `name`."""
        maker = next(n for n in self._nodes if value in n.output)
        maker.output[list(maker.output).index(value)] = name
        self._outputs.append(helper.make_tensor_value_info(name, dtype, list(dims)))

    def weight(self, name: str, array: np.ndarray) -> str:
        """Keep `array` as an initializer; a name that is known already must come with the same value."""
        if name not in self._weights:
            self._weights[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def ints(self, *values: int) -> str:
        """A one-dimensional int64 constant."""
        return self.weight("int64_" + "_".join(map(str, values)).replace("-", "m"), np.array(values, np.int64))

    def scalar(self, value: float, dtype: type = np.float32) -> str:
        """A rank-0 constant."""
        text = f"{value:g}".replace("-", "m").replace(".", "p").replace("+", "")
        return self.weight(f"{np.dtype(dtype).name}_{text}", np.array(value, dtype))

    def node(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Add a node; returns the name of its first output (the others end in `.1`, `.2`, …). An empty input is left out."""
        value = f"{op.lower()}_{len(self._nodes)}"
        names = [value] + [f"{value}.{i}" for i in range(1, outputs)]
        self._nodes.append(helper.make_node(op, list(inputs), names, name=value, **attributes))
        return value

    def save(self, path: Path) -> None:
        """Check the graph and write it."""
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, list(self._weights.values()))
        model = helper.make_model(graph, producer_name="msvm-corpus", opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.checker.check_model(model)
        replace_with(path, model.SerializeToString(deterministic=True))
