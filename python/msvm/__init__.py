"""MSVM: runs tensor programs whose shapes are known only at run time.

import msvm
m = msvm.onnx.load("model.onnx")        # or msvm.load("program.msbc")
outputs = m.run({"x": array})           # list of numpy arrays, in the order of m.outputs
"""

from typing import TYPE_CHECKING

from . import onnx
from ._context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from ._core import __version__, memory_stats
from ._errors import Error, FileError, InputError, LimitError, UnsupportedError, VerificationError
from ._program import Program, disassemble, load, save

if TYPE_CHECKING:
    from . import vm

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "Error",
    "FileError",
    "InputError",
    "LimitError",
    "Program",
    "UnsupportedError",
    "VerificationError",
    "__version__",
    "disassemble",
    "get_context",
    "load",
    "memory_stats",
    "onnx",
    "save",
    "set_context",
    "vm",
]


def __getattr__(name: str) -> object:  # what takes time to import waits until it is asked for
    if name == "vm":
        import importlib

        return importlib.import_module(".vm", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
