"""ONNX models."""

from __future__ import annotations

import os

from . import _core
from ._program import Program


def load(path: str | os.PathLike[str], num_threads: int = 0) -> Program:
    """Import, verify and load an ONNX model. ``num_threads=0`` takes MSVM_NUM_THREADS or all cores.

    Raises ``UnsupportedError`` naming every operator of the model that can't be run, ``FileError`` for broken files.
    """
    return Program(_core.load_onnx(os.fsencode(path), num_threads))
