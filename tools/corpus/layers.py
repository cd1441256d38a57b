"""Convolutional layers with seeded weights whose activations stay near unit variance at every depth.

Batch norms are folded into the convolutions, as exporters do. Instead of running data through the net to calibrate them,
each value carries its second moment E[x²]: a layer's weights are drawn with variance 1 / (fan_in · E[x²]), which makes
its outputs' variance `gain²` whatever the depth. (He et al. 2015, with the moments of ReLU and SiLU under N(0, 1).)
"""

from dataclasses import dataclass

import numpy as np

from corpus.graph import Graph

RELU_MOMENT = 0.5  # E[relu(x)²] for x ~ N(0, 1)
SILU_MOMENT = 0.3557  # E[silu(x)²], likewise


@dataclass(frozen=True)
class Act:
    """An activation of shape (batch, channels, height, width), float32."""

    value: str
    channels: int
    moment: float  # E[x²]


class ConvNet(Graph):
    """A graph with seeded convolutions."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name)
        self._rng = np.random.default_rng(seed)
        self._layers = 0

    def _draw(self, *shape: int, std: float) -> np.ndarray:
        return (self._rng.standard_normal(shape, np.float32) * np.float32(std)).astype(np.float32)

    def conv(self, x: Act, channels: int, kernel: int = 1, stride: int = 1, gain: float = 1.0) -> Act:
        """`kernel`x`kernel` convolution, padded by half the kernel; output variance `gain²`."""
        self._layers += 1
        std = gain / np.sqrt(x.channels * kernel * kernel * x.moment)
        w = self.weight(f"conv{self._layers}.weight", self._draw(channels, x.channels, kernel, kernel, std=float(std)))
        b = self.weight(f"conv{self._layers}.bias", self._draw(channels, std=0.1 * gain))
        y = self.node(
            "Conv", x.value, w, b, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, dilations=[1, 1], group=1
        )
        return Act(y, channels, gain * gain)

    def batch_norm(self, x: Act) -> Act:
        """An inference-mode batch norm that was not folded, with statistics that fit a unit-variance input."""
        self._layers += 1
        c, name = x.channels, f"bn{self._layers}"
        scale = np.float32(1) + self._draw(c, std=0.1)
        var = np.float32(1) + np.abs(self._draw(c, std=0.1))
        parts = {"weight": scale, "bias": self._draw(c, std=0.1), "running_mean": self._draw(c, std=0.1), "running_var": var}
        y = self.node("BatchNormalization", x.value, *(self.weight(f"{name}.{k}", v) for k, v in parts.items()), epsilon=1e-5)
        return Act(y, c, x.moment)

    def relu(self, x: Act) -> Act:
        """max(x, 0) of a value that is about normally distributed."""
        return Act(self.node("Relu", x.value), x.channels, RELU_MOMENT * x.moment)

    def silu(self, x: Act) -> Act:
        """x · sigmoid(x), as exporters write it."""
        return Act(self.node("Mul", x.value, self.node("Sigmoid", x.value)), x.channels, SILU_MOMENT * x.moment)

    def concat(self, *xs: Act) -> Act:
        """Along the channels."""
        channels = sum(x.channels for x in xs)
        moment = sum(x.channels * x.moment for x in xs) / channels
        return Act(self.node("Concat", *(x.value for x in xs), axis=1), channels, moment)

    def double(self, x: Act) -> Act:
        """Nearest-neighbour upsampling by two, as torch exports it."""
        scales = self.weight("scales_2x", np.array([1, 1, 2, 2], np.float32))
        y = self.node("Resize", x.value, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        return Act(y, x.channels, x.moment)
