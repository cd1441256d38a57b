"""Modules that are debugged, as text; a line of the listing is found by what stands on it."""

NECK = """module "neck" version 1
opset "" 28, "msvm" 1
symbol N in [1, 64], H multiple_of 4, W multiple_of 4

func @forward(x: f32[N, 8, H, W]) -> (y: f32[N, 4, 2*H, 2*W])
b0:
  R0 "x" = TENSOR_CREATE input 0, [(batch, N), (channel, 8), (height, H), (width, W)]
  R1 = SHAPE_PROPAGATE R0, 2
  R2 = SHAPE_CALC mul R1, 2
  R3: f32[N, 4, H, W] strided = TENSOR_VIEW slice R0, axis 1 from 0 to 4
  R4 = TENSOR_ALLOC [(batch, N), (channel, 4), (height, R2), (width, 2*W)], f32, CPU(0)
  OP_CALL Resize(R3; R2, 2*W) -> R4 {axes: [2, 3], mode: "nearest"}
  TENSOR_FREE R3
  RETURN R4
"""
"""A view, a size that is computed, a call; eight instructions."""

SUM = """module "sum" version 1

func @sum(n: i64) -> (i64)
b0:
  R0 = SCALAR_INPUT 0
  JUMP b1
b1:
  R1: i64 = SCALAR_PHI [b0: 0, b2: R1 + 1]
  R2: i64 = SCALAR_PHI [b0: 0, b2: R3]
  R4 = SHAPE_CALC lt R1, R0
  BRANCH_IF R4, b2, b3
b2:
  R3 = SHAPE_CALC add R2, R1
  JUMP b1
b3:
  RETURN (; R2)
"""
"""The sum of the numbers below n."""

FOREVER = """module "forever" version 1

func @main(i: i64) -> (i64)
b0:
  R0 = SCALAR_INPUT 0
  JUMP b1
b1:
  R1: i64 = SCALAR_PHI [b0: 0, b1: 1 - R1]
  JUMP b1
"""

ROOT = """module "root" version 1
symbol N

func @main(x: f32[N]) -> (y: f32[N])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Sqrt(R0) -> R1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R1) -> R2
  TENSOR_FREE R1
  RETURN R2
"""
"""NaN of what is negative."""

ADD = """module "add" version 1
symbol N, M

func @main(x: f32[N, M], y: f32[N, M], z: f32[N]) -> (o: f32[N, M])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Add(R0, R1) -> R2
  R3 = TENSOR_CREATE input 2
  RETURN R2
"""
"""Inputs whose sizes must agree."""

REFUSED = """module "refused" version 1
symbol N

func @main(x: f32[N]) -> (y: f32[N])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  RETURN R1
"""
"""Returns what nobody has written: not verified."""


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def line_with(client, text, program=0):
    """The line of the listing that holds the text."""
    return next(k for k, line in enumerate(client.request("msvm/listing", program=program)["text"].splitlines(), 1) if text in line)
