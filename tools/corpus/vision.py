"""Vision graphs with seeded weights: a YOLOv5s neck, a U-Net and ResNet50."""

from pathlib import Path

from corpus.graph import Dim
from corpus.layers import Act, ConvNet

SEED = 20260301


def _cbs(g: ConvNet, x: Act, channels: int, kernel: int = 1, stride: int = 1) -> Act:
    """Convolution, (folded) batch norm, SiLU."""
    return g.silu(g.conv(x, channels, kernel, stride))


def _c3(g: ConvNet, x: Act, channels: int) -> Act:
    """YOLOv5's C3 without shortcut: one bottleneck beside a bypass."""
    half = channels // 2
    a = _cbs(g, _cbs(g, _cbs(g, x, half), half), half, 3)
    return _cbs(g, g.concat(a, _cbs(g, x, half)), channels)


def build_yolo_neck(path: Path) -> None:
    """YOLOv5s' PAN neck and three 1x1 heads over features at strides 8, 16 and 32.

    Inputs: p3 (b, 128, 4h, 4w), p4 (b, 256, 2h, 2w), p5 (b, 512, h, w). Outputs: three maps of 255 channels, same sizes. All float32.
    """
    g = ConvNet("yolo_neck", SEED)

    def feature(name: str, channels: int, k: int) -> tuple[Act, list[Dim]]:
        hw: list[Dim] = [f"{k}*{s}" if k > 1 else s for s in ("h", "w")]
        return Act(g.input(name, ["b", channels, *hw]), channels, 1.0), hw

    (p3, hw3), (p4, hw4), (p5, hw5) = feature("p3", 128, 4), feature("p4", 256, 2), feature("p5", 512, 1)
    t5 = _cbs(g, p5, 256)
    t4 = _cbs(g, _c3(g, g.concat(g.double(t5), p4), 256), 128)
    x3 = _c3(g, g.concat(g.double(t4), p3), 128)
    x4 = _c3(g, g.concat(_cbs(g, x3, 128, 3, 2), t4), 256)
    x5 = _c3(g, g.concat(_cbs(g, x4, 256, 3, 2), t5), 512)
    for name, x, hw in (("out3", x3, hw3), ("out4", x4, hw4), ("out5", x5, hw5)):
        g.output(g.conv(x, 255).value, name, ["b", 255, *hw])
    g.save(path)


def build_unet(path: Path) -> None:
    """Four-level U-Net whose decoder resizes to the skip's own size, so every height and width works.

    Input: x (b, 3, h, w). Output: y (b, 4, h, w), a softmax over 4 classes. All float32. Batch norms are kept as nodes.
    """
    g = ConvNet("unet", SEED)
    widths = [32, 64, 128, 256]

    def block(x: Act, channels: int) -> Act:
        for _ in range(2):
            x = g.relu(g.batch_norm(g.conv(x, channels, 3)))
        return x

    x = block(Act(g.input("x", ["b", 3, "h", "w"]), 3, 1.0), widths[0])
    skips = [x]
    for c in widths[1:]:
        pooled = Act(g.node("MaxPool", x.value, kernel_shape=[2, 2], strides=[2, 2]), x.channels, 1.0)
        x = block(pooled, c)
        skips.append(x)
    for skip in skips[-2::-1]:
        sizes = g.node("Concat", g.node("Shape", x.value, start=0, end=2), g.node("Shape", skip.value, start=2, end=4), axis=0)
        up = g.node("Resize", x.value, "", "", sizes, mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
        x = block(g.concat(skip, Act(up, x.channels, x.moment)), skip.channels)
    g.output(g.node("Softmax", g.conv(x, 4).value, axis=1), "y", ["b", 4, "h", "w"])
    g.save(path)


def _bottleneck(g: ConvNet, x: Act, width: int, stride: int) -> Act:
    """ResNet v1.5 bottleneck; the branch is damped, so that sixteen of them don't blow up."""
    y = g.relu(g.conv(x, width))
    y = g.relu(g.conv(y, width, 3, stride))
    y = g.conv(y, 4 * width, gain=0.5)
    if stride != 1 or x.channels != 4 * width:
        x = g.conv(x, 4 * width, stride=stride)
    return g.relu(Act(g.node("Add", y.value, x.value), 4 * width, 2 * (x.moment + 0.25)))


def build_resnet50(path: Path) -> None:
    """ResNet50. Input: x (b, 3, h, w). Output: y (b, 1000). All float32."""
    g = ConvNet("resnet50", SEED)
    x = g.relu(g.conv(Act(g.input("x", ["b", 3, "h", "w"]), 3, 1.0), 64, 7, 2))
    x = Act(g.node("MaxPool", x.value, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64, 1.0)
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for i in range(blocks):
            x = _bottleneck(g, x, width, 2 if stage and i == 0 else 1)
    pooled = g.node("Flatten", g.node("GlobalAveragePool", x.value), axis=1)
    w = g.weight("fc.weight", g._draw(1000, 2048, std=float(1 / (2048 * x.moment) ** 0.5)))
    b = g.weight("fc.bias", g._draw(1000, std=0.1))
    g.output(g.node("Gemm", pooled, w, b, transB=1), "y", ["b", 1000])
    g.save(path)
