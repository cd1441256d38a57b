"""The detector's ONNX graph as a PyTorch module: one call for each node, the same weights. Needs torch and onnx."""

from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional as F  # noqa: N812 - PyTorch's custom

Attributes = dict[str, Any]


def _conv(x: Any, a: Attributes) -> Any:
    pads = a.get("pads", [0, 0, 0, 0])
    assert pads[:2] == pads[2:]
    bias = x[2] if len(x) > 2 else None
    return F.conv2d(x[0], x[1], bias, a["strides"], pads[:2], a["dilations"], a["group"])


def _conv_transpose(x: Any, a: Attributes) -> Any:
    assert not any(a["pads"])
    return F.conv_transpose2d(x[0], x[1], x[2] if len(x) > 2 else None, a["strides"], groups=a["group"], dilation=a["dilations"])


def _resize(x: Any, a: Attributes) -> Any:
    assert (a["mode"], a["coordinate_transformation_mode"], a["nearest_mode"]) == (b"nearest", b"asymmetric", b"floor")
    scales = [float(s) for s in x[2].tolist()]
    assert scales[:2] == [1, 1]
    return F.interpolate(x[0], scale_factor=scales[2:], mode="nearest")


def _hard_sigmoid(x: Any, a: Attributes) -> Any:
    return torch.clamp(x[0] * a["alpha"] + a["beta"], 0, 1)


OPERATORS: dict[str, Any] = {
    "Add": lambda x, _: x[0] + x[1],
    "Mul": lambda x, _: x[0] * x[1],
    "Div": lambda x, _: x[0] / x[1],
    "Relu": lambda x, _: F.relu(x[0]),
    "Sigmoid": lambda x, _: torch.sigmoid(x[0]),
    "Clip": lambda x, _: torch.clamp(x[0], float(x[1]), float(x[2])),
    "Concat": lambda x, a: torch.cat(x, a["axis"]),
    "GlobalAveragePool": lambda x, _: x[0].mean((2, 3), keepdim=True),
    "HardSigmoid": _hard_sigmoid,
    "BatchNormalization": lambda x, a: F.batch_norm(x[0], x[3], x[4], x[1], x[2], eps=a["epsilon"]),
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Resize": _resize,
}


class Twin(torch.nn.Module):
    """From the graph's one input to its one output."""

    def __init__(self, model: Path) -> None:
        super().__init__()
        graph = onnx.load(model).graph
        self.input, self.output = graph.input[0].name, graph.output[0].name
        self.names: dict[str, str] = {}
        self.plain: dict[str, Any] = {}
        for t in graph.initializer:
            self._keep(t.name, numpy_helper.to_array(t))
        self.calls: list[tuple[str, list[str], str, Attributes]] = []
        for n in graph.node:
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}
            if n.op_type == "Constant":
                self._keep(n.output[0], numpy_helper.to_array(attributes["value"]))
                continue
            if n.op_type not in OPERATORS:
                raise NotImplementedError(f"{n.op_type}: torch_twin.py has no call for it")
            self.calls.append((n.op_type, list(n.input), n.output[0], attributes))
        self.eval()

    def _keep(self, name: str, array: Any) -> None:
        """Weights are buffers; small constants are numbers, as they are when written by hand."""
        if array.size <= 4:
            self.plain[name] = torch.from_numpy(array.copy())
            return
        self.names[name] = f"w{len(self.names)}"
        self.register_buffer(self.names[name], torch.from_numpy(array.copy()))

    def forward(self, x: Any) -> Any:
        """float32 (1, 3, H, W), H and W multiples of 32."""
        values: dict[str, Any] = {self.input: x, "": None}

        def value(name: str) -> Any:
            if name in values:
                return values[name]
            return self.plain[name] if name in self.plain else getattr(self, self.names[name])

        for op, inputs, output, attributes in self.calls:
            values[output] = OPERATORS[op]([value(i) for i in inputs], attributes)
        return values[self.output]
