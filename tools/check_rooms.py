#!/usr/bin/env python3
"""Hold every #include of src/ against the rooms and arrows of src/CMakeLists.txt; a test of the suite.

A room may include its own headers and those of the rooms it names there, directly or through them. Prints each arrow
that points the wrong way and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
ROOM = re.compile(r"msvm_room\((\w+)\s+DIR\s+(\S+)(?:\s+USES\s+([\w ]+?))?(?:\s+LIBS[^)]*)?\)")
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.M)
# Libraries that only some rooms may touch: what a header's name starts with -> rooms.
LIBRARIES = {
    "nlohmann/": {"device", "base", "jit", "snapshot", "trace", "monitor", "dap"},
    "protozero/": {"onnx"},
    "sodium": {"disk"},
    "llvm/": {"compiler"},
    "boost/": {"monitor"},
    "openssl/": {"monitor"},
    "Zydis/": {"asm"},
}


def read_rooms() -> dict[str, tuple[str, list[str]]]:
    """Room -> (folder under src, rooms it names)."""
    text = (SRC / "CMakeLists.txt").read_text()
    return {name: (folder, (uses or "").split()) for name, folder, uses in ROOM.findall(text)}


def reachable(room: str, rooms: dict[str, tuple[str, list[str]]]) -> set[str]:
    seen: set[str] = set()
    todo = [room]
    while todo:
        r = todo.pop()
        if r not in seen:
            seen.add(r)
            todo += rooms[r][1]
    return seen


def main() -> int:
    rooms = read_rooms()
    folders = {folder: name for name, (folder, _) in rooms.items()}
    bad = 0
    for name, (folder, _) in rooms.items():
        allowed = reachable(name, rooms)
        for path in sorted((SRC / folder).glob("*")):
            if path.suffix not in {".h", ".cpp", ".inc", ".def"} or path.name.endswith("_test.cpp"):
                continue
            text = path.read_text()
            for include in INCLUDE.findall(text):
                room = folders.get(str(Path(include).parent))
                if room is None or room not in allowed:
                    print(f"{path.relative_to(ROOT)}: room {name} must not include {include}")
                    bad += 1
            for prefix, who in LIBRARIES.items():
                if f"#include <{prefix}" in text and name not in who:
                    print(f"{path.relative_to(ROOT)}: room {name} must not include <{prefix}...>")
                    bad += 1
    print(f"{len(rooms)} rooms, {bad} wrong arrows")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
