"""Small programs that the tests share: as assembly text, and as ONNX models."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

import msvm

ADD = """module "add" version 1
symbol N in [0, 64], M

func @main(x: f32[N, M], y: f32[M]) -> (z: f32[N, M])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Add(R0, R1) -> R2
  RETURN R2
"""

SCALARS = """module "scalars" version 1

func @main(i: i64, r: f64, b: bool) -> (i64, f64, bool)
b0:
  R0 = SCALAR_INPUT 0
  R1 = SCALAR_INPUT 1
  R2 = SCALAR_INPUT 2
  RETURN (R1, R2; R0)
"""

FOREVER = """module "forever" version 1

func @main(i: i64) -> (i64)
b0:
  R0 = SCALAR_INPUT 0
  JUMP b1
b1:
  JUMP b1
"""


def assembled(folder: Path, text: str, **options: Any) -> msvm.Program:
    path = folder / "program.msasm"
    path.write_text(text)
    return msvm.load(path, **options)


def copy_program(folder: Path, dtype: str, rank: int) -> msvm.Program:
    """y = x of any sizes."""
    sizes = ", ".join(f"D{i}" for i in range(rank))
    text = f"""module "copy" version 1
func @main(x: {dtype}[{sizes}]) -> (y: {dtype}[{sizes}])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [{sizes}], {dtype}, CPU(0)
  TENSOR_COPY R0 -> R1
  RETURN R1
"""
    return assembled(folder, text)


def model(nodes, inputs, outputs, initializers=(), opset=18, **options) -> onnx.ModelProto:
    """Inputs and outputs as (name, elem_type, shape)."""
    infos = [[helper.make_tensor_value_info(*i) for i in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", infos[0], infos[1], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9, **options)


def relu_add() -> onnx.ModelProto:
    w = helper.make_tensor("w", TensorProto.FLOAT, [4], np.arange(4, dtype=np.float32).tobytes(), raw=True)
    nodes = [helper.make_node("Add", ["x", "w"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
    return model(nodes, [("x", TensorProto.FLOAT, ["N", 4])], [("y", TensorProto.FLOAT, ["N", 4])], [w])


def loaded(folder: Path, proto: onnx.ModelProto, **options: Any) -> msvm.Program:
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return msvm.onnx.load(path, **options)
