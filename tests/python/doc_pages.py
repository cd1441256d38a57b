"""Runs the Python blocks of a page, in order, as one module read from a file: compiled functions find their source there."""

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
_TEXT = re.compile(r"^```\n(.*?)^```", re.S | re.M)
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


def run_page(page: Path, folder: Path) -> dict:
    """The names that the page's code made. Line n of the file is line n of the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    found = list(_BLOCK.finditer(text))
    assert found, f"{page.name} has no code"
    for block in found:
        first = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[first : first + len(code)] = code
    path = folder / page.name
    path.write_text("\n".join(lines), encoding="utf-8")
    return runpy.run_path(str(path))


def shown(page: Path) -> list[str]:
    """The lines that the page says its code prints: those of the blocks without a language."""
    return [line for block in _TEXT.findall(_BLOCK.sub("", page.read_text(encoding="utf-8"))) for line in block.splitlines()]
