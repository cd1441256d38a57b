"""ONNX models."""

from __future__ import annotations

import os
from typing import Any

from . import _context, _core
from ._program import Program


def load(path: str | os.PathLike[str], **options: Any) -> Program:
    """Import, verify, optimise and load an ONNX model; options as in the table of ``docs/python.md``.

    ``opt=0`` leaves every operator as the model has it: slower, and each instruction is one node of the graph.

    Raises ``UnsupportedError`` naming every operator of the model that can't be run, ``FileError`` for broken files.
    """
    return Program(_core.load_onnx(os.fsencode(path), _context.options_for("onnx.load", options, opt=1)))
