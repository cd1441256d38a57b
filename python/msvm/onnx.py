"""ONNX models."""

from __future__ import annotations

import os

from . import _core
from ._program import Program


def load(path: str | os.PathLike[str], num_threads: int = 0, opt: int = 1, jit_level: int = 2) -> Program:
    """Import, verify, optimise and load an ONNX model. ``num_threads=0`` takes MSVM_NUM_THREADS or all cores.

    ``opt=0`` leaves every operator as the model has it: slower, and each instruction is one node of the graph.

    ``jit_level``: 0 interprets only, 1 makes native code for all sizes, 2 also for sizes that have settled.

    Raises ``UnsupportedError`` naming every operator of the model that can't be run, ``FileError`` for broken files.
    """
    return Program(_core.load_onnx(os.fsencode(path), num_threads, opt, jit_level))
