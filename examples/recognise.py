"""Text recognition: from a cut-out line of text to a string (CTC)."""

from collections.abc import Mapping

import numpy as np
from detect import Box
from PIL import Image

HEIGHT = 48  # pixels; the recogniser takes any width


def charset(metadata: Mapping[str, str]) -> list[str]:
    """What each class of the recogniser stands for, from the model's metadata; class 0 is CTC's blank, the last one a space."""
    if "character" not in metadata:
        raise ValueError("the recogniser has no list of characters in its metadata")
    return ["", *metadata["character"].split("\n"), " "]


def prepare(picture: Image.Image, box: Box) -> np.ndarray:
    """The recogniser's input x (1, 3, 48, W) float32 in -1…1, blue first; W follows from the box."""
    line = picture.convert("RGB").crop((box.left, box.top, box.right, box.bottom))
    width = max(8, round(line.width * HEIGHT / max(1, line.height)))
    pixels = np.asarray(line.resize((width, HEIGHT), Image.Resampling.BILINEAR), np.float32)
    return np.ascontiguousarray((pixels[:, :, ::-1] / 127.5 - 1).transpose(2, 0, 1)[None])


def decode(probabilities: np.ndarray, characters: list[str]) -> tuple[str, float]:
    """The text and its mean probability. `probabilities`: (steps, classes); repeats are merged, blanks dropped."""
    if probabilities.shape[1] != len(characters):
        raise ValueError(f"the recogniser has {probabilities.shape[1]} classes, the charset {len(characters)}")
    best = probabilities.argmax(axis=1)
    keep = (best != 0) & (best != np.concatenate(([0], best[:-1])))
    confidence = float(probabilities.max(axis=1)[keep].mean()) if keep.any() else 0.0
    return "".join(characters[i] for i in best[keep]), confidence
