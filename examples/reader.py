"""Reads a picture's text with a detector and a recogniser, each run at whatever size the picture has."""

from collections.abc import Callable
from dataclasses import dataclass

import detect
import numpy as np
import recognise
from PIL import Image

Run = Callable[[dict[str, np.ndarray]], list[np.ndarray]]


@dataclass(frozen=True)
class Reading:
    boxes: list[detect.Box]
    texts: list[str]
    confidence: list[float]


class Reader:
    """`find` and `read` run the detector's and the recogniser's model; `charset` says what its classes mean."""

    def __init__(self, find: Run, read: Run, charset: list[str]) -> None:
        self._find, self._read, self._charset = find, read, charset

    def __call__(self, picture: Image.Image) -> Reading:
        """Boxes in reading order, and the text in each."""
        (probability,) = self._find({"x": detect.prepare(picture)})
        boxes = detect.find_boxes(probability[0, 0], picture.size)
        texts, confidence = [], []
        for box in boxes:
            (steps,) = self._read({"x": recognise.prepare(picture, box)})
            text, sure = recognise.decode(steps[0], self._charset)
            texts.append(text.strip())
            confidence.append(sure)
        return Reading(boxes, texts, confidence)
