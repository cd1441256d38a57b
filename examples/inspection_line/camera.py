"""A camera that is drawn here: parts on a belt, most with a label, at 30 frames a second, in resolutions that take turns."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw, ImageFont

Pixels = np.ndarray


@dataclass(frozen=True)
class Mode:
    """A resolution of the camera."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


MODES = (Mode(1920, 1080), Mode(3840, 2160))
_LOTS = ("LOT 4711-03", "LOT 4711-04", "", "LOT 4711-05", "LOT 4712-01", "")
"""What stands on the parts that come by, again and again; "": the label is missing."""


@dataclass(frozen=True)
class Frame:
    number: int
    mode: Mode
    pixels: Pixels
    """uint8 (1, 3, height, width): red, green and blue planes."""
    label: bool
    """Whether the part has one: the truth that the verdict is held against."""


def _part(mode: Mode, lot: str, shift: float) -> Pixels:
    """A metal plate on a belt."""
    w, h = mode.width, mode.height
    rows = np.random.default_rng(7).normal(70, 3, (h, 1, 1))
    picture = Image.fromarray(np.broadcast_to(rows, (h, w, 3)).clip(0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(picture)
    left, top = w * (0.14 + shift), h * 0.22
    pen.rounded_rectangle(
        (left, top, left + w * 0.62, top + h * 0.56), h // 20, fill=(196, 200, 205), outline=(120, 124, 130), width=h // 200
    )
    for x, y in ((0.04, 0.08), (0.58, 0.08), (0.04, 0.48), (0.58, 0.48)):
        x, y, r = left + w * x, top + h * y, h / 45
        pen.ellipse((x - r, y - r, x + r, y + r), fill=(90, 94, 100))
    if lot:
        pen.rectangle((left + w * 0.1, top + h * 0.16, left + w * 0.54, top + h * 0.40), fill=(250, 250, 246))
        pen.text((left + w * 0.12, top + h * 0.19), lot, (20, 20, 24), ImageFont.truetype("DejaVuSans-Bold.ttf", round(h * 0.105)))
        pen.text((left + w * 0.12, top + h * 0.32), "INSPECT SIDE A", (20, 20, 24), ImageFont.truetype("DejaVuSans.ttf", round(h * 0.06)))
    return np.ascontiguousarray(np.asarray(picture).transpose(2, 0, 1)[None])


@dataclass
class Camera:
    """`every`: frames until the resolution switches. `faulty`: frames at which the feed is cut off at widths that change."""

    every: int
    modes: tuple[Mode, ...] = MODES
    faulty: Callable[[int], bool] = lambda _: False
    _drawn: dict[Mode, list[Pixels]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._drawn = {mode: [_part(mode, lot, 0.02 * k) for k, lot in enumerate(_LOTS)] for mode in self.modes}

    def mode(self, number: int) -> Mode:
        """Of the frame with this number."""
        return self.modes[number // self.every % len(self.modes)]

    def frame(self, number: int) -> Frame:
        """Drawn before: taking one costs nothing. A cut-off one is copied."""
        mode, k = self.mode(number), number // 15 % len(_LOTS)
        pixels = self._drawn[mode][k]
        if self.faulty(number):
            mode = Mode(mode.width - mode.width // 20 * (1 + number * 7 % 11), mode.height)
            pixels = np.ascontiguousarray(pixels[..., : mode.width])
        return Frame(number, mode, pixels, bool(_LOTS[k]))
