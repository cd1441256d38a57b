"""Pages of text drawn here, at any resolution: what the demo reads."""

from dataclasses import dataclass, field

from PIL import Image, ImageDraw, ImageFont

FONTS = {
    "sans": "DejaVuSans.ttf",
    "bold": "DejaVuSans-Bold.ttf",
    "serif": "DejaVuSerif.ttf",
    "serif bold": "DejaVuSerif-Bold.ttf",
    "mono": "DejaVuSansMono.ttf",
}


@dataclass(frozen=True)
class Line:
    """A line of text; positions and sizes in pixels at scale 1."""

    x: int
    y: int
    size: int
    font: str
    text: str
    colour: str = ""


@dataclass(frozen=True)
class Page:
    name: str
    width: int
    height: int
    paper: str
    ink: str
    lines: tuple[Line, ...]
    rules: tuple[tuple[int, int, int, int], ...] = field(default=())  # thin lines from (x, y) to (x, y)

    def draw(self, scale: float = 1.0) -> Image.Image:
        """The page as an RGB picture, `scale` times as large."""
        picture = Image.new("RGB", (round(self.width * scale), round(self.height * scale)), self.paper)
        pen = ImageDraw.Draw(picture)
        for rule in self.rules:
            pen.line([round(v * scale) for v in rule], fill=self.ink, width=max(1, round(scale)))
        for line in self.lines:
            font = ImageFont.truetype(FONTS[line.font], max(6, round(line.size * scale)))
            pen.text((line.x * scale, line.y * scale), line.text, font=font, fill=line.colour or self.ink)
        return picture

    @property
    def text(self) -> list[str]:
        """The lines, as they should be read."""
        return [line.text for line in self.lines]


def _receipt() -> Page:
    entries = [("Espresso", "2.40"), ("Cappuccino", "3.20"), ("Almond croissant", "2.95"), ("Still water", "1.80"), ("Total", "10.35")]
    lines = [Line(40, 34, 34, "bold", "CORNER CAFE"), Line(40, 84, 18, "sans", "17 Harbour Street")]
    for i, (what, price) in enumerate(entries):
        y, font = 150 + 48 * i + (20 if what == "Total" else 0), "bold" if what == "Total" else "mono"
        lines += [Line(40, y, 20, font, what), Line(300, y, 20, font, price)]
    lines += [Line(40, 470, 18, "sans", "Thank you, come again!"), Line(40, 512, 14, "mono", "Receipt 004217")]
    return Page("receipt", 416, 576, "#fdfaf3", "#2a2a2e", tuple(lines), ((40, 126, 376, 126), (40, 350, 376, 350)))


def _slide() -> Page:
    lines = (
        Line(60, 44, 52, "bold", "Shapes change", "#0b3d91"),
        Line(60, 118, 52, "bold", "The program stays", "#0b3d91"),
        Line(64, 214, 26, "sans", "Every picture has another size"),
        Line(64, 262, 26, "sans", "Every sentence has another length"),
        Line(64, 310, 26, "sans", "One module runs them all"),
        Line(64, 400, 20, "serif", "No padding, no buckets, no second model"),
        Line(64, 470, 15, "mono", "page 12 of 48"),
        Line(720, 470, 15, "mono", "October 2026"),
    )
    return Page("slide", 960, 528, "#ffffff", "#22262e", lines, ((60, 192, 900, 192), (60, 450, 900, 450)))


def _sign() -> Page:
    lines = (
        Line(34, 26, 46, "bold", "Platform 9", "#ffd23f"),
        Line(36, 98, 24, "sans", "Trains to the airport"),
        Line(36, 140, 24, "sans", "every 15 minutes"),
    )
    return Page("sign", 416, 192, "#12355b", "#ffffff", lines)


def _letter() -> Page:
    lines = (
        Line(56, 46, 30, "serif bold", "Dear reader"),
        Line(56, 110, 19, "serif", "this letter was drawn by a program and is read"),
        Line(56, 148, 19, "serif", "back by another one. It is set in a small size,"),
        Line(56, 186, 19, "serif", "in lines of different lengths,"),
        Line(56, 224, 19, "serif", "and none of them is the same as the next."),
        Line(56, 296, 19, "serif", "With kind regards"),
        Line(56, 334, 22, "serif bold", "The machine"),
    )
    return Page("letter", 640, 400, "#f6f1e7", "#33271a", lines)


def _label() -> Page:
    lines = (
        Line(36, 24, 40, "mono", "SN 7702-48-MX", "#8c1c13"),
        Line(36, 92, 22, "bold", "Handle with care"),
        Line(36, 136, 22, "sans", "Keep dry"),
        Line(400, 92, 22, "bold", "12.5 kg"),
        Line(400, 136, 22, "sans", "Made in 2026"),
    )
    return Page("label", 640, 192, "#efe9dc", "#1f1f1f", lines, ((372, 92, 372, 164),))


PAGES = (_slide(), _receipt(), _letter(), _sign(), _label())
