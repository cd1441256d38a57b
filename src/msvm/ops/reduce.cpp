// Reductions over listed axes.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

Status infer_reduce(InferContext& c) {
  const auto& in = c.input(0).shape;
  MSVM_ASSIGN_OR_RETURN(AxisList axes, normalize_axes(c, c.attrs().get_ints("axes"), c.rank(0)));
  bool keep = c.attrs().get_int("keepdims", 1) != 0;
  std::vector<Dim> shape;
  shape.reserve(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (!axes.has(static_cast<int>(i))) {
      shape.push_back(in[i]);
    } else if (keep) {
      shape.push_back(c.constant(1));
    }
  }
  c.set_shape(0, std::move(shape));
  return {};
}

}  // namespace

void add_reduce_ops(OpTable& table) {
  struct Row {
    std::string_view name;
    int since;
    DTypeSet dtypes;
    std::string_view doc;
  };
  static constexpr Row kRows[] = {
      {"ReduceSum", 13, kNumeric, "Sum over the axes; 0 of nothing."},
      {"ReduceMean", 18, kNumeric, "Mean over the axes; NaN of nothing for floats, an error for integers."},
      {"ReduceProd", 18, kNumeric, "Product over the axes; 1 of nothing."},
      {"ReduceMax", 20, kNotString, "Greatest over the axes; of nothing -inf or the least value of the dtype."},
      {"ReduceMin", 20, kNotString, "Least over the axes; of nothing +inf or the greatest value of the dtype."},
      {"ReduceL1", 18, kNumeric, "Sum of the absolute values over the axes."},
      {"ReduceL2", 18, kNumeric, "Square root of the sum of squares over the axes."},
      {"ReduceLogSum", 18, kNumeric, "Logarithm of the sum over the axes."},
      {"ReduceLogSumExp", 18, kNumeric,
       "Logarithm of the sum of exponentials over the axes, computed so that it doesn't overflow."},
      {"ReduceSumSquare", 18, kNumeric, "Sum of squares over the axes."},
  };
  for (const Row& r : kRows)
    table.add({.name = r.name,
               .since = r.since,
               .op_class = OpClass::kReduction,
               .inputs = {{"X", r.dtypes, 'T'}},
               .outputs = {{"Y", 'T'}},
               .hazards = r.name == "ReduceMean" ? kDivisionHazard : kNoHazard,
               .attrs = {required(axes_attr("", "the axes to reduce; none if empty")),
                         flag_attr("keepdims", "1", "whether reduced axes stay, with size 1")},
               .infer = infer_reduce,
               .doc = r.doc});
}

}  // namespace msvm
