"""ONNX models that pages of the docs load: small, with seeded weights."""

import numpy as np
import onnx
from onnx import numpy_helper, parser

_DETECTOR = """<ir_version: 9, opset_import: ["": 18]>
detector (float[N, 3, H, W] images) => (float[N, A, 4] boxes, float[N, A] scores)
{
  a = Conv<kernel_shape = [4, 4], strides = [4, 4]>(images, w1, b1)
  b = Relu(a)
  c = Conv<kernel_shape = [8, 8], strides = [8, 8]>(b, w2, b2)
  d = Relu(c)
  head = Conv<kernel_shape = [1, 1]>(d, w3, b3)
  score, cx, cy, bw, bh = Split<axis = 1, num_outputs = 5>(head)
  h = Shape<start = 2, end = 3>(head)
  w = Shape<start = 3, end = 4>(head)
  zero = Constant<value_int = 0>()
  one = Constant<value_int = 1>()
  h0 = Squeeze(h)
  w0 = Squeeze(w)
  rows = Range(zero, h0, one)
  columns = Range(zero, w0, one)
  grid_y = Cast<to = 1>(rows)
  grid_x = Cast<to = 1>(columns)
  last = Constant<value_ints = [1]>()
  grid_column = Unsqueeze(grid_y, last)
  sx = Sigmoid(cx)
  sy = Sigmoid(cy)
  px = Add(sx, grid_x)
  py = Add(sy, grid_column)
  stride = Constant<value_float = 32.0>()
  x = Mul(px, stride)
  y = Mul(py, stride)
  ew = Exp(bw)
  eh = Exp(bh)
  half = Constant<value_float = 24.0>()
  hw = Mul(ew, half)
  hh = Mul(eh, half)
  x1 = Sub(x, hw)
  y1 = Sub(y, hh)
  x2 = Add(x, hw)
  y2 = Add(y, hh)
  corners = Concat<axis = 1>(x1, y1, x2, y2)
  flat_boxes = Constant<value_ints = [0, 4, -1]>()
  listed = Reshape(corners, flat_boxes)
  boxes = Transpose<perm = [0, 2, 1]>(listed)
  flat_scores = Constant<value_ints = [0, -1]>()
  flat = Reshape(score, flat_scores)
  scores = Sigmoid(flat)
}
"""


def detector() -> onnx.ModelProto:
    """Images [N, 3, H, W] with H and W multiples of 32 to boxes [N, A, 4] (x1, y1, x2, y2) and scores [N, A], one box per 32x32 cell."""
    rng = np.random.default_rng(6)
    model = parser.parse_model(_DETECTOR)
    for k, (n, c, size) in enumerate(((8, 3, 4), (16, 8, 8), (5, 16, 1)), 1):
        weight = rng.standard_normal((n, c, size, size), np.float32) * np.float32((2 / (c * size * size)) ** 0.5)
        bias = rng.standard_normal(n, np.float32) / np.float32(4)
        model.graph.initializer.extend([numpy_helper.from_array(weight, f"w{k}"), numpy_helper.from_array(bias, f"b{k}")])
    onnx.checker.check_model(model, full_check=True)
    return model
