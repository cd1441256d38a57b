"""Pictures that show what was found and read."""

from collections.abc import Sequence
from pathlib import Path

from detect import Box
from PIL import Image, ImageDraw, ImageFont

FOUND = (214, 40, 90)
PANEL, TEXT, FAINT = "#f2f4f8", "#1c2330", "#78808f"


def _font(name: str, size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(name, max(7, round(size)))


def mark_boxes(page: Image.Image, boxes: list[Box]) -> Image.Image:
    """The page with a tinted, framed rectangle over each box."""
    shade = Image.new("RGBA", page.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(shade)
    for b in boxes:
        pen.rounded_rectangle((b.left, b.top, b.right - 1, b.bottom - 1), 4, fill=(*FOUND, 36), outline=(*FOUND, 255), width=2)
    return Image.alpha_composite(page.convert("RGBA"), shade).convert("RGB")


def _fit(pen: ImageDraw.ImageDraw, text: str, width: float, height: float) -> ImageFont.FreeTypeFont:
    """The font in which the text is as wide as its box, but not higher."""
    wide = pen.textlength(text, font=_font("DejaVuSans.ttf", 100))
    return _font("DejaVuSans.ttf", min(0.9 * height, 100 * width / max(1.0, wide)))


def show_reading(page: Image.Image, boxes: list[Box], texts: list[str], caption: str) -> Image.Image:
    """Left the page with its boxes, right what was read, each text where it stood; a caption above."""
    width, height = page.size
    gap = round(0.025 * width) + 6
    head = 2 * gap
    sheet = Image.new("RGB", (2 * width + 3 * gap, height + head + gap), PANEL)
    pen = ImageDraw.Draw(sheet)
    pen.text((gap, head / 2), caption, font=_font("DejaVuSans.ttf", 0.9 * gap), fill=FAINT, anchor="lm")
    sheet.paste(mark_boxes(page, boxes), (gap, head))
    right = width + 2 * gap
    pen.rectangle((right, head, right + width - 1, head + height - 1), fill="white")
    for b, text in zip(boxes, texts, strict=True):
        middle = head + (b.top + b.bottom) / 2
        pen.text((right + b.left, middle), text, font=_fit(pen, text, b.right - b.left, b.bottom - b.top), fill=TEXT, anchor="lm")
    return sheet


def montage(sheets: Sequence[Image.Image], width: int) -> Image.Image:
    """Two columns of pictures, each scaled to `width` pixels; the shorter column takes the next one."""
    scaled = [s.resize((width, round(s.height * width / s.width)), Image.Resampling.LANCZOS) for s in sheets]
    tops = [0, 0]
    places = []
    for s in scaled:
        column = tops.index(min(tops))
        places.append((column * width, tops[column]))
        tops[column] += s.height
    board = Image.new("RGB", (2 * width, max(tops)), PANEL)
    for s, place in zip(scaled, places, strict=True):
        board.paste(s, place)
    return board


def save(picture: Image.Image, path: Path) -> None:
    """Write a PNG, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, optimize=True)
