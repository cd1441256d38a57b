"""Writes the table of docs/options.md anew from the options that the module knows."""

import re
from pathlib import Path

from msvm import _core

PAGE = Path(__file__).resolve().parents[1] / "docs/options.md"
TABLE = re.compile(r"\| option \|.*?(?=\n\n)", re.S)


def shown(default: object) -> str:
    if default in (None, "", []):
        return "–"
    return f"`{default!r}`".replace("'", '"')


def table() -> str:
    head = "| option | values | default | of the | given to | what it does |\n| --- | --- | --- | --- | --- | --- |\n"
    rows = (f"| `{o['name']}` | {o['type']} | {shown(o['default'])} | {o['applies']} | {o['given']} | {o['doc']} |" for o in _core.OPTIONS)
    return head + "\n".join(rows)


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text()))
