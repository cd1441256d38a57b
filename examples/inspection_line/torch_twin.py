"""The detector's ONNX graph as a PyTorch module: for each node what PyTorch has for it, the same weights. Needs torch and onnx."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import numpy_helper
from torch import nn

Attributes = dict[str, Any]
Constants = dict[str, Any]


def _with_weights(module: Any, weight: Any, bias: Any) -> Any:
    module.weight.data = weight
    if bias is not None:
        module.bias.data = bias
    return module


def _conv(n: Any, a: Attributes, c: Constants) -> Any:
    w, b = c[n.input[1]], c[n.input[2]] if len(n.input) > 2 else None
    pads = a.get("pads", [0, 0, 0, 0])
    assert pads[:2] == pads[2:]
    groups = a["group"]
    made = nn.Conv2d(w.shape[1] * groups, w.shape[0], w.shape[2:], a["strides"], pads[:2], a["dilations"], groups, bias=b is not None)
    return _with_weights(made, w, b)


def _conv_transpose(n: Any, a: Attributes, c: Constants) -> Any:
    w, b = c[n.input[1]], c[n.input[2]] if len(n.input) > 2 else None
    assert not any(a["pads"]) and a["group"] == 1
    return _with_weights(nn.ConvTranspose2d(w.shape[0], w.shape[1], w.shape[2:], a["strides"], bias=b is not None), w, b)


def _batch_norm(n: Any, a: Attributes, c: Constants) -> Any:
    weight, bias, mean, variance = (c[i] for i in n.input[1:])
    made = _with_weights(nn.BatchNorm2d(len(weight), eps=a["epsilon"]), weight, bias)
    made.running_mean, made.running_var = mean, variance
    return made


def _resize(n: Any, a: Attributes, c: Constants) -> Any:
    assert (a["mode"], a["coordinate_transformation_mode"], a["nearest_mode"]) == (b"nearest", b"asymmetric", b"floor")
    scales = tuple(c[n.input[2]].tolist())
    assert scales[:2] == (1, 1)
    return nn.Upsample(scale_factor=scales[2:], mode="nearest")


class _HardSigmoid(nn.Module):  # type: ignore[misc]
    def __init__(self, alpha: float, beta: float) -> None:
        super().__init__()
        self.alpha, self.beta = alpha, beta

    def forward(self, x: Any) -> Any:
        """clamp(alpha · x + beta, 0, 1)."""
        return torch.clamp(x * self.alpha + self.beta, 0, 1)


class _Concat(nn.Module):  # type: ignore[misc]
    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, *xs: Any) -> Any:
        """Along the axis."""
        return torch.cat(xs, self.axis)


class _Binary(nn.Module):  # type: ignore[misc]
    """Of two tensors, or of one and a number, as it is when written by hand."""

    def __init__(self, function: Any, number: float | None, first: bool) -> None:
        super().__init__()
        self.function, self.number, self.first = function, number, first

    def forward(self, *xs: Any) -> Any:
        """The function of both."""
        if self.number is None:
            return self.function(xs[0], xs[1])
        return self.function(self.number, xs[0]) if self.first else self.function(xs[0], self.number)


def _binary(function: Any) -> Callable[[Any, Attributes, Constants], Any]:
    def make(n: Any, _: Attributes, c: Constants) -> Any:
        known = [c.get(i) for i in n.input]
        number = next((float(k) for k in known if k is not None and k.numel() == 1), None)
        return _Binary(function, number, known[0] is not None and number is not None)

    return make


MODULES: dict[str, Callable[[Any, Attributes, Constants], Any]] = {
    "Add": _binary(torch.add),
    "Mul": _binary(torch.mul),
    "Div": _binary(torch.div),
    "Relu": lambda n, a, c: nn.ReLU(),
    "Sigmoid": lambda n, a, c: nn.Sigmoid(),
    "Clip": lambda n, a, c: nn.Hardtanh(float(c[n.input[1]]), float(c[n.input[2]])),
    "Concat": lambda n, a, c: _Concat(a["axis"]),
    "GlobalAveragePool": lambda n, a, c: nn.AdaptiveAvgPool2d(1),
    "HardSigmoid": lambda n, a, c: _HardSigmoid(a["alpha"], a["beta"]),
    "BatchNormalization": _batch_norm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Resize": _resize,
}
INSIDE = {"Conv", "ConvTranspose", "BatchNormalization", "Resize", "Clip"}
"""Those whose constants are in the module."""


class Twin(nn.Module):  # type: ignore[misc]
    """From the graph's one input to its one output."""

    def __init__(self, model: Path) -> None:
        super().__init__()
        graph = onnx.load(model).graph
        constants = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in graph.initializer}
        self.parts = nn.ModuleList()
        self.wires: list[list[int | str]] = []
        places: dict[str, int] = {graph.input[0].name: 0}
        for n in graph.node:
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}
            if n.op_type == "Constant":
                constants[n.output[0]] = torch.from_numpy(numpy_helper.to_array(attributes["value"]).copy())
                continue
            if n.op_type not in MODULES:
                raise NotImplementedError(f"{n.op_type}: torch_twin.py has nothing for it")
            self.parts.append(MODULES[n.op_type](n, attributes, constants))
            self.wires.append(self._sources(n, places, constants))
            places[n.output[0]] = len(places)
        self.last = places[graph.output[0].name]
        self.eval()

    def _sources(self, n: Any, places: dict[str, int], constants: Constants) -> list[int | str]:
        """Places of values; names of the buffers that hold constants."""
        found: list[int | str] = []
        for name in n.input[:1] if n.op_type in INSIDE else n.input:
            if name in places:
                found.append(places[name])
            elif constants[name].numel() > 1:
                buffer = f"constant{len(list(self.buffers(recurse=False)))}"
                self.register_buffer(buffer, constants[name])
                found.append(buffer)
        return found

    def forward(self, x: Any) -> Any:
        """float32 (1, 3, H, W), H and W multiples of 32."""
        values = [x]
        for part, sources in zip(self.parts, self.wires, strict=True):
            values.append(part(*(values[s] if isinstance(s, int) else getattr(self, s) for s in sources)))
        return values[self.last]
