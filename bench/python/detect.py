"""A function of 200 lines as people write them: a small detector and tracker, from the pixels of a frame to boxes with names.

``compile_bench.py`` compiles it; it runs as plain Python as well. Branches and loops on sizes and on values, helpers, tuples, lists, dicts.
"""

import math
from typing import Any

import numpy as np

import msvm as ms

STRIDES = (8, 16, 32)
WIDTHS = (16, 24, 32)
CLASSES = 5
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def block(x: Any, weights: Any, name: str, stride: int = 1, activation: str | None = "relu") -> Any:
    """Convolution, bias, activation."""
    y = ms.ops.conv2d(x, weights[f"{name}.weight"], weights[f"{name}.bias"], stride=stride, pad_mode="same")
    if activation == "relu":
        return ms.ops.relu(y)
    if activation == "silu":
        return ms.ops.silu(y)
    return y


def resized(x: Any, like: Any) -> Any:
    """To the sizes of another tensor, nearest."""
    return ms.ops.interpolate(x, size=(like.shape[2], like.shape[3]), mode="nearest")


def grid(height: int, width: int, stride: int) -> Any:
    """Centres of cells, [height * width, 2] as x, y."""
    ys = (ms.ops.arange(height).astype(ms.float32) + 0.5) * stride
    xs = (ms.ops.arange(width).astype(ms.float32) + 0.5) * stride
    y = ms.ops.broadcast_to(ys[:, None], (height, width)).reshape(-1)
    x = ms.ops.broadcast_to(xs[None, :], (height, width)).reshape(-1)
    return ms.ops.stack([x, y], 1)


def areas(boxes: Any) -> Any:
    """Of boxes [N, 4]."""
    return ms.ops.maximum(boxes[:, 2] - boxes[:, 0], 0) * ms.ops.maximum(boxes[:, 3] - boxes[:, 1], 0)


def overlaps(a: Any, b: Any) -> Any:
    """Intersection over union, [N, M]."""
    left_top = ms.ops.maximum(a[:, None, :2], b[None, :, :2])
    right_bottom = ms.ops.minimum(a[:, None, 2:], b[None, :, 2:])
    size = ms.ops.maximum(right_bottom - left_top, 0)
    common = size[:, :, 0] * size[:, :, 1]
    return common / (areas(a)[:, None] + areas(b)[None, :] - common + 1e-9)


def detect(image: Any, weights: Any, known: Any, side: Any, confidence: Any, overlap: Any, rounds: Any) -> Any:
    """Boxes [K, 4] in pixels of the frame [H, W, 3] of bytes, classes, scores, their index among the known boxes [M, 4], and statistics.

    side: the longer side of what the network sees; rounds: how often boxes are refined.
    """
    assert image.ndim == 3 and image.shape[2] == 3, f"a frame is [H, W, 3], found {image.shape}"
    assert side >= 32, f"the longer side is 32 at least, found {side}"
    height, width, _ = image.shape
    longest = max(height, width)
    statistics: dict[str, Any] = {}

    # Normalise.
    pixels = ms.ops.permute(image, (2, 0, 1))[None].astype(ms.float32) / 255
    channels = []
    for c in range(3):
        channels.append((pixels[:, c : c + 1] - MEAN[c]) / STD[c])
    pixels = ms.ops.cat(channels, 1)
    statistics["brightness"] = pixels.mean()
    if statistics["brightness"] < -1.5:
        pixels = pixels * 2.0 + 1.0
    elif statistics["brightness"] > 1.5:
        pixels = pixels * 0.5 - 0.5

    # Fit into the side, and pad to a multiple of the largest stride.
    h = max(height * side // longest, 1)
    w = max(width * side // longest, 1)
    x = pixels
    if h != height or w != width:
        x = ms.ops.interpolate(pixels, size=(h, w), mode="bilinear")
    below = -h % STRIDES[-1]
    beside = -w % STRIDES[-1]
    if below > 0 or beside > 0:
        x = ms.ops.pad(x, (0, beside, 0, below))

    # Backbone: three levels.
    x = block(x, weights, "stem", stride=2, activation="silu")
    x = ms.ops.max_pool2d(x, 2, 2)
    levels = []
    for k, channels_of_level in enumerate(WIDTHS):
        x = block(x, weights, f"down{k}", stride=2, activation="silu")
        for turn in range(2):
            y = block(x, weights, f"level{k}.{turn}.a")
            y = block(y, weights, f"level{k}.{turn}.b", activation=None)
            x = ms.ops.relu(x + y)
        gate = ms.ops.sigmoid(x.mean((2, 3), keep_dims=True) * (1 / math.sqrt(channels_of_level)))
        x = x * gate
        levels.append(x)

    # Neck: from the top down, then from the bottom up.
    lateral = []
    for k in range(len(WIDTHS)):
        lateral.append(ms.ops.conv2d(levels[k], weights[f"lateral{k}.weight"], weights[f"lateral{k}.bias"]))
    top = lateral[-1]
    neck = [top]
    for k in range(len(WIDTHS) - 2, -1, -1):
        top = lateral[k] + resized(top, lateral[k])
        top = block(top, weights, f"merge{k}", activation="silu")
        neck = [top, *neck]
    bottom = neck[0]
    features = [bottom]
    for k in range(1, len(WIDTHS)):
        bottom = ms.ops.max_pool2d(bottom, 2, 2)
        if bottom.shape[2] != neck[k].shape[2] or bottom.shape[3] != neck[k].shape[3]:
            bottom = resized(bottom, neck[k])
        bottom = bottom + neck[k]
        features.append(bottom)

    # Heads, decoded to boxes of the frame.
    all_boxes = []
    all_scores = []
    all_classes = []
    cells = 0
    for feature, stride in zip(features, STRIDES, strict=True):
        out = ms.ops.conv2d(feature, weights["head.weight"], weights["head.bias"])
        rows, columns = out.shape[2], out.shape[3]
        cells += rows * columns
        flat = ms.ops.permute(out.reshape(4 + CLASSES, rows * columns), (1, 0))
        centres = grid(rows, columns, stride)
        reach = ms.ops.exp(ms.ops.clip(flat[:, :4], -4.0, 4.0)) * stride
        low = centres - reach[:, :2]
        high = centres + reach[:, 2:]
        likely = ms.ops.softmax(flat[:, 4:], -1)
        best = likely.argmax(1)
        all_boxes.append(ms.ops.cat([low, high], 1))
        all_scores.append(ms.ops.amax(likely, 1))
        all_classes.append(best)
    boxes = ms.ops.cat(all_boxes, 0)
    scores = ms.ops.cat(all_scores, 0)
    classes = ms.ops.cat(all_classes, 0)
    statistics["cells"] = cells

    # Keep likely ones, fewer than a thousand.
    chosen = ms.ops.nonzero(scores > confidence)[:, 0]
    if chosen.shape[0] > 1000:
        _, order = ms.ops.topk(scores[chosen], 1000)
        chosen = chosen[order]
    boxes, scores, classes = boxes[chosen], scores[chosen], classes[chosen]
    statistics["likely"] = boxes.shape[0]

    # Suppress what overlaps, in the frame's own pixels.
    scale = longest / side
    limit = ms.ops.stack([width, height, width, height]).astype(ms.float32)
    boxes = ms.ops.minimum(ms.ops.maximum(boxes * scale, 0), limit)
    kept = ms.ops.nms(boxes, scores, overlap)
    boxes, scores, classes = boxes[kept], scores[kept], classes[kept]
    if boxes.shape[0] == 0:
        nothing = ms.ops.zeros(0).astype(ms.int64)
        statistics["turns"] = 0
        statistics["colours"] = ms.ops.zeros(0, 3).astype(ms.float32)
        statistics["lost"] = known.shape[0]
        statistics["dark"], statistics["bright"] = (0, 0), (0, 0)
        statistics["mostly"] = -1
        return boxes, classes, scores, nothing, statistics

    # Draw boxes towards what the frame shows in them.
    turn = 0
    moved = ms.ops.amax(limit)
    while turn < rounds and moved > 0.25:
        sides = ms.ops.maximum(boxes[:, 2:] - boxes[:, :2], 1)
        middle = (boxes[:, :2] + boxes[:, 2:]) / 2
        pull = ms.ops.tanh((limit[None, :2] / 2 - middle) / limit[None, :2])
        step = pull * sides * 0.05
        after = ms.ops.cat([boxes[:, :2] + step, boxes[:, 2:] + step], 1)
        after = ms.ops.minimum(ms.ops.maximum(after, 0), limit)
        moved = ms.ops.amax(ms.ops.abs(after - boxes))
        boxes = after
        turn += 1
    statistics["turns"] = turn

    # Mean colour of each box, at most sixteen.
    colours = []
    for k in range(min(boxes.shape[0], 16)):
        x1 = boxes[k, 0].floor().astype(ms.int64).item()
        y1 = boxes[k, 1].floor().astype(ms.int64).item()
        x2 = max(boxes[k, 2].ceil().astype(ms.int64).item(), x1 + 1)
        y2 = max(boxes[k, 3].ceil().astype(ms.int64).item(), y1 + 1)
        if x1 >= width or y1 >= height:
            colours.append(ms.ops.zeros(3).astype(ms.float32))
            continue
        colours.append(pixels[0, :, y1:y2, x1:x2].mean((1, 2)))
    statistics["colours"] = ms.ops.stack(colours)

    # Which known box is it? The best that overlaps enough, or none.
    if known.shape[0] > 0:
        shared = overlaps(boxes, known)
        owner = shared.argmax(1)
        sure = ms.ops.amax(shared, 1) > 0.3
        owner = ms.ops.where(sure, owner, ms.ops.full_like(owner, -1))
        claimed = 0
        for k in range(known.shape[0]):
            if (owner == k).any():
                claimed += 1
        statistics["lost"] = known.shape[0] - claimed
    else:
        owner = ms.ops.full_like(classes, -1)
        statistics["lost"] = 0

    # Where the frame is darkest and brightest: the halves are searched in turn, down to eight pixels.
    grey = image.astype(ms.float32).mean(2)
    spots = {}
    for name, sign in (("dark", -1.0), ("bright", 1.0)):
        top, left = 0, 0
        rows, columns = height, width
        while rows > 8 or columns > 8:
            if rows >= columns:
                half = rows // 2
                first = grey[top : top + half, left : left + columns].mean() * sign
                second = grey[top + half : top + rows, left : left + columns].mean() * sign
                if second > first:
                    top += half
                    rows -= half
                else:
                    rows = half
            else:
                half = columns // 2
                first = grey[top : top + rows, left : left + half].mean() * sign
                second = grey[top : top + rows, left + half : left + columns].mean() * sign
                if second > first:
                    left += half
                    columns -= half
                else:
                    columns = half
        spots[name] = (top + rows // 2, left + columns // 2)
    statistics["dark"], statistics["bright"] = spots["dark"], spots["bright"]

    # How many of each class, and the class seen most.
    counts = []
    for c in range(CLASSES):
        of_class = classes == c
        counts.append(of_class.astype(ms.int64).sum())
    counts = ms.ops.stack(counts)
    most = counts.argmax(0).item()
    if counts[most].item() * 2 > boxes.shape[0]:
        statistics["mostly"] = most
    else:
        statistics["mostly"] = -1

    # Larger boxes first where scores are the same to two digits.
    rank = ms.ops.round(scores * 100) * 1e6 + areas(boxes) / (height * width)
    order = ms.ops.argsort(-rank)
    return boxes[order], classes[order], scores[order], owner[order], statistics


def arguments(height: int = 120, width: int = 160) -> tuple[Any, ...]:
    """A frame and weights to call it with."""
    rng = np.random.default_rng(3)
    weights: dict[str, np.ndarray] = {}

    def add(name: str, out: int, inner: int, kernel: int) -> None:
        w = rng.standard_normal((out, inner, kernel, kernel)) * (1.4 / (inner * kernel * kernel) ** 0.5)
        weights[f"{name}.weight"] = w.astype(np.float32)
        weights[f"{name}.bias"] = np.zeros(out, np.float32)

    add("stem", 12, 3, 3)
    before = 12
    for k, width_of_level in enumerate(WIDTHS):
        add(f"down{k}", width_of_level, before, 3)
        for turn in range(2):
            add(f"level{k}.{turn}.a", width_of_level, width_of_level, 3)
            add(f"level{k}.{turn}.b", width_of_level, width_of_level, 3)
        add(f"lateral{k}", 24, width_of_level, 1)
        before = width_of_level
    for k in range(len(WIDTHS) - 1):
        add(f"merge{k}", 24, 24, 3)
    add("head", 4 + CLASSES, 24, 1)
    image = rng.integers(0, 256, (height, width, 3), np.uint8)
    known = np.array([[0, 0, 40, 40], [50, 50, 90, 90]], np.float32)
    return image, weights, known, ms.mutable(128), ms.mutable(0.2), ms.mutable(0.5), ms.mutable(4)
