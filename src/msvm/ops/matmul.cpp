// Matrix products.
#include <algorithm>

#include "msvm/ops/einsum.h"
#include "msvm/ops/families.h"
#include "msvm/ops/matmul.h"

namespace msvm {

Result<EinsumEquation> parse_einsum(std::string_view equation, size_t num_inputs) {
  EinsumEquation e;
  e.inputs.emplace_back();
  bool explicit_output = false;
  for (size_t i = 0; i < equation.size(); ++i) {
    char ch = equation[i];
    std::string& term = explicit_output ? e.output : e.inputs.back();
    if (ch == ' ') continue;
    if (ch == ',' && !explicit_output) {
      e.inputs.emplace_back();
    } else if (ch == '-' && !explicit_output && equation.substr(i, 2) == "->") {
      explicit_output = true;
      ++i;
    } else if (ch == '.' && equation.substr(i, 3) == "..." && term.find('.') == std::string::npos) {
      term += '.';
      i += 2;
    } else if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')) {
      term += ch;
    } else {
      return attr_error("equation \"{}\": unexpected '{}' at position {}", equation, ch, i);
    }
  }
  if (e.inputs.size() != num_inputs)
    return attr_error("equation \"{}\" has {} terms for {} inputs", equation, e.inputs.size(), num_inputs);
  std::string all;
  for (const std::string& term : e.inputs) all += term;
  if (explicit_output) {
    for (size_t i = 0; i < e.output.size(); ++i) {
      if (all.find(e.output[i]) == std::string::npos && e.output[i] != '.')
        return attr_error("equation \"{}\": output label '{}' is in no input", equation, e.output[i]);
      if (e.output.find(e.output[i], i + 1) != std::string::npos)
        return attr_error("equation \"{}\": output label '{}' occurs twice", equation, e.output[i]);
    }
    return e;
  }
  if (all.find('.') != std::string::npos) e.output = ".";
  std::sort(all.begin(), all.end());
  for (char ch : all)
    if (ch != '.' && std::count(all.begin(), all.end(), ch) == 1) e.output += ch;
  return e;
}

Result<std::vector<Dim>> matmul_shape(InferContext& c, size_t a_index, size_t b_index, bool transposed) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, a_index, 1, kMaxRank));
  MSVM_RETURN_IF_ERROR(require_rank_between(c, b_index, 1, kMaxRank));
  const auto &a = c.input(a_index).shape, &b = c.input(b_index).shape;
  const size_t inner = b.size() == 1 ? 0 : b.size() - (transposed ? 1 : 2), columns = b.size() - (transposed ? 2 : 1);
  MSVM_RETURN_IF_ERROR(require_equal(c, a.back(), b[inner], "the inner sizes of the matrices are equal"));
  size_t batch_a = a.size() < 2 ? 0 : a.size() - 2, batch_b = b.size() < 2 ? 0 : b.size() - 2, batch = std::max(batch_a, batch_b);
  std::vector<Dim> shape;
  shape.reserve(batch + 2);
  for (size_t i = 0; i < batch; ++i) {
    Dim from_a = i + batch_a >= batch ? a[i + batch_a - batch] : c.constant(1);
    Dim from_b = i + batch_b >= batch ? b[i + batch_b - batch] : c.constant(1);
    MSVM_ASSIGN_OR_RETURN(Dim d, c.broadcast(from_a, from_b, "the batch sizes of the matrices are equal or 1"));
    shape.push_back(d);
  }
  if (a.size() > 1) shape.push_back(a[a.size() - 2]);
  if (b.size() > 1) shape.push_back(b[columns]);
  return shape;
}

namespace {

Status infer_matmul(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, matmul_shape(c, 0, 1));
  c.set_shape(0, std::move(shape));
  return {};
}

/// A scale or zero point of a matrix: one value, a vector of `along`, or as many axes as the matrix with 1 on the summed one.
Status require_matrix_parameter(InferContext& c, size_t index, size_t matrix, bool rows) {
  const TensorType* t = c.input_or_null(index);
  if (!t || t->rank() == 0) return {};
  const auto& m = c.input(matrix).shape;
  Dim one = c.constant(1);
  if (t->rank() == 1) {
    Dim along = m.size() < 2 ? one : rows ? m[m.size() - 2] : m.back();
    return require_broadcast_to(c, t->shape[0], along,
                                "a scale or zero point is one value, or one for each row of A or column of B");
  }
  if (t->shape.size() != m.size())
    return shape_error("{} must be one value, a vector, or have rank {} like {}, but has rank {}", c.input_name(index), m.size(),
                       c.input_name(matrix), t->rank());
  for (size_t i = 0; i < m.size(); ++i) {
    bool summed = i == (rows ? m.size() - 1 : m.size() - 2);
    MSVM_RETURN_IF_ERROR(
        require_broadcast_to(c, t->shape[i], summed ? one : m[i],
                             "scales and zero points have size 1 on the summed axis, and the matrix' own or 1 elsewhere"));
  }
  return {};
}

Status infer_matmul_integer(InferContext& c) {
  MSVM_RETURN_IF_ERROR(infer_matmul(c));
  MSVM_RETURN_IF_ERROR(require_matrix_parameter(c, 2, 0, true));
  return require_matrix_parameter(c, 3, 1, false);
}

Status infer_qlinear_matmul(InferContext& c) {  // a, scale, zero; b, scale, zero; y's scale, zero
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, matmul_shape(c, 0, 3));
  for (size_t i : {size_t{1}, size_t{2}}) MSVM_RETURN_IF_ERROR(require_matrix_parameter(c, i, 0, true));
  for (size_t i : {size_t{4}, size_t{5}}) MSVM_RETURN_IF_ERROR(require_matrix_parameter(c, i, 3, false));
  for (size_t i : {size_t{6}, size_t{7}})
    MSVM_RETURN_IF_ERROR(require_broadcast_to(c, c.input(i).shape, shape, "scale and zero point of y can be broadcast to it"));
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_gemm(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 2));
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, 2));
  size_t ta = c.attrs().get_int("transA", 0) != 0, tb = c.attrs().get_int("transB", 0) != 0;
  const auto &a = c.input(0).shape, &b = c.input(1).shape;
  MSVM_RETURN_IF_ERROR(require_equal(c, a[1 - ta], b[tb], "the inner sizes of the matrices are equal"));
  std::vector<Dim> shape{a[ta], b[1 - tb]};
  if (c.has_input(2)) MSVM_RETURN_IF_ERROR(require_broadcast_to(c, c.input(2).shape, shape, "C can be broadcast to the product"));
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_einsum(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(EinsumEquation e, parse_einsum(c.attrs().get_string("equation", ""), c.num_inputs()));
  std::array<Dim, 128> size;       // by label; invalid: not seen
  std::array<Dim, kMaxRank> rest;  // axes of the ellipsis, from the right
  rest.fill(c.constant(1));
  size_t rest_rank = 0;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    const auto& shape = c.input(i).shape;
    const std::string& term = e.inputs[i];
    bool ellipsis = term.find('.') != std::string::npos;
    size_t named = term.size() - (ellipsis ? 1 : 0);
    if (ellipsis ? shape.size() < named : shape.size() != named)
      return shape_error("term \"{}\" names {} axes{}, but input {} has rank {}", term, named, ellipsis ? " or more" : "", i,
                         shape.size());
    size_t hidden = shape.size() - named, axis = 0;
    for (char ch : term) {
      if (ch == '.') {
        for (size_t k = 0; k < hidden; ++k) {
          Dim& d = rest[hidden - 1 - k];
          MSVM_ASSIGN_OR_RETURN(d, c.broadcast(d, shape[axis + k], "sizes that an ellipsis stands for are equal or 1"));
        }
        rest_rank = std::max(rest_rank, hidden);
        axis += hidden;
        continue;
      }
      Dim& d = size[static_cast<size_t>(ch)];
      if (!d.valid()) {
        d = shape[axis];
      } else if (term.find(ch) != term.rfind(ch)) {  // a diagonal
        MSVM_RETURN_IF_ERROR(require_equal(c, d, shape[axis], "axes of one input with one label have the same size"));
        d = more_known(d, shape[axis]);
      } else {
        MSVM_ASSIGN_OR_RETURN(d, c.broadcast(d, shape[axis], "sizes of axes with one label are equal or 1"));
      }
      ++axis;
    }
  }
  std::vector<Dim> shape;
  for (char ch : e.output) {
    if (ch != '.') {
      shape.push_back(size[static_cast<size_t>(ch)]);
    } else {
      for (size_t k = rest_rank; k > 0; --k) shape.push_back(rest[k - 1]);
    }
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_det(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  const auto& x = c.input(0).shape;
  MSVM_RETURN_IF_ERROR(require_equal(c, x[x.size() - 2], x.back(), "the matrices are square"));
  c.set_shape(0, std::vector<Dim>(x.begin(), x.end() - 2));
  return {};
}

}  // namespace

void add_matmul_ops(OpTable& table) {
  table.add({.name = "MatMul",
             .since = 13,
             .op_class = OpClass::kContraction,
             .inputs = {{"A", kMatMulTypes, 'T'}, {"B", kMatMulTypes, 'T'}},
             .outputs = {{"Y", 'T'}},
             .infer = infer_matmul,
             .doc = "Matrix product of the last two axes, broadcasting the others, as numpy.matmul."});
  table.add(
      {.name = "MatMulInteger",
       .since = 10,
       .op_class = OpClass::kQuantize,
       .inputs = {{"A", kBytes, 'A'}, {"B", kBytes, 'B'}, {"a_zero_point", kBytes, 'A', true}, {"b_zero_point", kBytes, 'B', true}},
       .outputs = {{"Y", 0, DType::kI32}},
       .infer = infer_matmul_integer,
       .doc = "Matrix product of integers less their zero points, in 32 bits."});
  constexpr DTypeSet kScale = bit(DType::kF32) | bit(DType::kF16) | bit(DType::kBF16);
  table.add({.name = "QLinearMatMul",
             .since = 21,
             .op_class = OpClass::kQuantize,
             .inputs = {{"a", kBytes, 'A'},
                        {"a_scale", kScale, 'S'},
                        {"a_zero_point", kBytes, 'A'},
                        {"b", kBytes, 'B'},
                        {"b_scale", kScale, 'S'},
                        {"b_zero_point", kBytes, 'B'},
                        {"y_scale", kScale, 'S'},
                        {"y_zero_point", kBytes, 'Y'}},
             .outputs = {{"y", 'Y'}},
             .infer = infer_qlinear_matmul,
             .doc = "Matrix product of quantized matrices, quantized."});
  table.add({.name = "Gemm",
             .since = 13,
             .op_class = OpClass::kContraction,
             .inputs = {{"A", kMatMulTypes, 'T'}, {"B", kMatMulTypes, 'T'}, {"C", kMatMulTypes, 'T', true}},
             .outputs = {{"Y", 'T'}},
             .attrs = {float_attr("alpha", "1.0", "factor of the product"), float_attr("beta", "1.0", "factor of C"),
                       flag_attr("transA", "0", "1 transposes A"), flag_attr("transB", "0", "1 transposes B")},
             .infer = infer_gemm,
             .doc = "alpha * A * B + beta * C of matrices, with C broadcast."});
  table.add({.name = "Einsum",
             .since = 12,
             .op_class = OpClass::kContraction,
             .inputs = {{"inputs", kNumeric, 'T'}},
             .variadic = true,
             .min_variadic = 1,
             .outputs = {{"output", 'T'}},
             .attrs = {{.name = "equation",
                        .type = AttrType::kString,
                        .required = true,
                        .doc = "labels of the axes of each input, and of the result after ->"}},
             .infer = infer_einsum,
             .doc = "Sum of products over the labels that the result doesn't have."});
  table.add({.name = "Det",
             .since = 22,
             .op_class = OpClass::kReduction,
             .inputs = {{"X", kFloats, 'T'}},
             .outputs = {{"Y", 'T'}},
             .infer = infer_det,
             .doc = "Determinant of the matrices in the last two axes."});
}

}  // namespace msvm
