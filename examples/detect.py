"""Text detection: from a picture to boxes around its lines of text (DB, Liao et al. 2020, axis-aligned)."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

THRESHOLD = 0.3  # a pixel is text above this
MIN_SCORE = 0.5  # a box is text if its text pixels' mean is above this
UNCLIP = 1.8  # the net predicts shrunken regions; a box grows by area · this / perimeter
MIN_SIDE = 4  # pixels of the probability map


@dataclass(frozen=True)
class Box:
    """A rectangle in the picture's pixels; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int
    score: float


def prepare(picture: Image.Image) -> np.ndarray:
    """The detector's input x (1, 3, H, W) float32 in -1…1, in the order blue, green, red; H and W the next multiples of 32."""
    width, height = (max(32, round(n / 32) * 32) for n in picture.size)
    pixels = np.asarray(picture.convert("RGB").resize((width, height), Image.Resampling.BILINEAR), np.float32)
    return np.ascontiguousarray((pixels[:, :, ::-1] / 127.5 - 1).transpose(2, 0, 1)[None])


def _runs(row: np.ndarray) -> np.ndarray:
    """(n, 2): begin and end of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(np.int8)))
    return edges.reshape(-1, 2)


def regions(mask: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Bounding rectangles (left, top, right, bottom) of the 8-connected regions of a boolean (H, W) mask, topmost first."""
    boxes: list[list[int]] = []
    parent: list[int] = []

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    above: list[tuple[int, int, int]] = []  # begin, end, region of each run of the previous row
    for y in np.flatnonzero(mask.any(axis=1)):
        here = []
        above = [run for run in above if boxes[root(run[2])][3] == y]  # a row may have been skipped
        for begin, end in _runs(mask[y]).tolist():
            touching = sorted({root(r) for b, e, r in above if b <= end and e >= begin})
            if not touching:
                touching = [len(parent)]
                parent.append(len(parent))
                boxes.append([begin, int(y), end, int(y) + 1])
            first = touching[0]
            for other in touching[1:]:
                parent[other] = first
            parts = [boxes[i] for i in touching] + [[begin, int(y), end, int(y) + 1]]
            low, high = np.min(parts, axis=0), np.max(parts, axis=0)
            boxes[first] = [int(low[0]), int(low[1]), int(high[2]), int(high[3])]
            here.append((begin, end, first))
        above = here
    return [(b[0], b[1], b[2], b[3]) for i, b in enumerate(boxes) if parent[i] == i]


def find_boxes(probability: np.ndarray, picture_size: tuple[int, int]) -> list[Box]:
    """Boxes in reading order. `probability`: (H, W) float32, the detector's map; `picture_size`: (width, height)."""
    mask = probability > THRESHOLD
    height, width = mask.shape
    sx, sy = picture_size[0] / width, picture_size[1] / height
    found = []
    for left, top, right, bottom in regions(mask):
        w, h = right - left, bottom - top
        inside = mask[top:bottom, left:right]
        score = float(probability[top:bottom, left:right][inside].mean())
        if min(w, h) < MIN_SIDE or score < MIN_SCORE:
            continue
        grow = w * h * UNCLIP / (2 * (w + h))
        x0, y0 = max(0.0, left - grow), max(0.0, top - grow)
        x1, y1 = min(float(width), right + grow), min(float(height), bottom + grow)
        found.append(Box(int(x0 * sx), int(y0 * sy), round(x1 * sx), round(y1 * sy), score))
    return sorted(found, key=lambda b: ((b.top + b.bottom) // 2, b.left))
