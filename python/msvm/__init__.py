"""MSVM: runs tensor programs whose shapes are known only at run time.

import msvm
m = msvm.onnx.load("model.onnx")        # or msvm.load("program.msbc")
outputs = m.run({"x": array})           # list of numpy arrays, in the order of m.outputs
"""

import importlib
import os
from typing import TYPE_CHECKING

from . import onnx, ops
from ._context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from ._core import DTYPES, DType, Mutable, Tensor, __version__, from_dlpack, from_numpy, memory_stats
from ._errors import Error, FileError, InputError, LimitError, RangeError, UnsupportedError, VerificationError
from ._jit import JitFunction, jit
from ._methods import install
from ._mutable import Symbol, mutable, symbolic_add, symbolic_floordiv, symbolic_mul, symbolic_sub
from ._program import Program, disassemble, load, save
from .frontend.values import SymTensor

if TYPE_CHECKING:
    from . import array_api, nn, vm
    from .nn import Parameter, ParameterTuple, load_checkpoint, load_param_into_net, save_checkpoint
    from .ops import set_seed

    bfloat16: DType
    float16: DType
    float32: DType
    float64: DType
    int8: DType
    int16: DType
    int32: DType
    int64: DType
    uint8: DType
    uint16: DType
    uint32: DType
    uint64: DType

install(Tensor)
install(SymTensor)
bool_ = next(t for t in DTYPES if t.name == "bool")
globals().update({t.name: t for t in DTYPES if t.name not in ("bool", "string")})

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "DType",
    "Error",
    "FileError",
    "InputError",
    "JitFunction",
    "LimitError",
    "Mutable",
    "Parameter",
    "ParameterTuple",
    "Program",
    "RangeError",
    "Symbol",
    "Tensor",
    "UnsupportedError",
    "VerificationError",
    "__version__",
    "array_api",
    "bool_",
    "disassemble",
    "from_dlpack",
    "from_numpy",
    "get_context",
    "jit",
    "load",
    "load_checkpoint",
    "load_param_into_net",
    "memory_stats",
    "mutable",
    "nn",
    "onnx",
    "ops",
    "save",
    "save_checkpoint",
    "set_context",
    "set_seed",
    "symbolic_add",
    "symbolic_floordiv",
    "symbolic_mul",
    "symbolic_sub",
    "vm",
    *(t.name for t in DTYPES if t.name not in ("bool", "string")),
]

def value_and_grad(*_: object, **__: object) -> object:
    """Isn't there: programs aren't differentiated. Raises ``UnsupportedError``."""
    raise UnsupportedError(
        "value_and_grad: programs aren't differentiated; train elsewhere, export to ONNX, and load that (docs/recipes/from_torch.md)"
    )


grad = value_and_grad
_LATER = ("vm", "nn", "array_api")
"""What takes time to import waits until it is asked for."""
_FROM = {
    "Parameter": "nn",
    "ParameterTuple": "nn",
    "load_checkpoint": "nn",
    "load_param_into_net": "nn",
    "save_checkpoint": "nn",
    "set_seed": "ops",
}
"""Names that MindSpore has at the top, and where they are here."""

if not TYPE_CHECKING:  # checkers know the names from above

    def __getattr__(name: str) -> object:
        if name in _LATER:
            return importlib.import_module(f".{name}", __name__)
        if name in _FROM:
            return getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

if _alerts_file := os.environ.get("MSVM_ALERTS"):
    from ._vm.alerts.files import load_at_start

    load_at_start(_alerts_file)
if os.environ.get("MSVM_DEBUG"):
    from ._vm.debug import start_from_environment as _start_debugger

    _start_debugger()
if os.environ.get("MSVM_MONITOR"):
    from ._vm.monitor import start_from_environment

    start_from_environment()
