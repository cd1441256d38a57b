"""MSVM: runs tensor programs whose shapes are known only at run time.

import msvm
m = msvm.onnx.load("model.onnx")        # or msvm.load("program.msbc")
outputs = m.run({"x": array})           # list of numpy arrays, in the order of m.outputs
"""

from . import onnx
from ._core import __version__
from ._errors import Error, FileError, InputError, LimitError, UnsupportedError, VerificationError
from ._program import Program, disassemble, load, memory_stats

__all__ = [
    "Error",
    "FileError",
    "InputError",
    "LimitError",
    "Program",
    "UnsupportedError",
    "VerificationError",
    "__version__",
    "disassemble",
    "load",
    "memory_stats",
    "onnx",
]
