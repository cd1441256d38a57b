// One table: operator -> handler and fold. Operators without a handler are those of ops/ as they are.
#include <map>

#include "importers/onnx/fold.h"
#include "importers/onnx/handlers.h"

namespace msvm::onnx {
namespace {

using Key = std::pair<std::string_view, std::string_view>;

std::map<Key, OperatorRow> make_table() {
  std::map<Key, OperatorRow> table;
  for (const OpSchema* op : all_ops())
    if (op->name.find('.') == std::string_view::npos) table[{"", op->name}] = {nullptr, find_fold(op->name)};
  for (auto rows : {view_handlers(), size_handlers(), math_handlers(), neural_handlers(), image_handlers(), index_handlers(), signal_handlers(), sequence_handlers(), control_flow_handlers()})
    for (const HandlerRow& r : rows) table[{r.domain, r.op_type}] = {r.handle, r.domain.empty() ? find_fold(r.op_type) : nullptr};
  return table;
}

}  // namespace

const OperatorRow* find_operator(std::string_view domain, std::string_view op_type) {
  static const auto* table = new std::map<Key, OperatorRow>(make_table());
  auto it = table->find({domain, op_type});
  return it == table->end() ? nullptr : &it->second;
}

Status import_same(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for(n.op()));
  std::vector<Reg> in;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.optional_tensor(i));
    in.push_back(r);
  }
  return n.call_all(n.op(), in, {}, std::move(attrs));
}

Status import_identity(NodeImport& n) {
  MSVM_RETURN_IF_ERROR(n.need(0));
  n.set(0, n.inputs[0]);
  return {};
}

Result<std::vector<Dim>> sizes_of_length(NodeImport& n, size_t i, size_t count) {
  MSVM_RETURN_IF_ERROR(n.need(i));
  std::vector<Dim> out;
  if (n.sizes_possible(i)) {
    MSVM_ASSIGN_OR_RETURN(out, n.sizes(i));
  } else {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.tensor(i));
    TensorType t = n.fb().tensor_type(r);
    if (!t.unknown_rank && t.rank() != 1) return invalid_argument("input " + std::to_string(i) + " must be a list of sizes");
    t.unknown_rank = false;
    t.shape = {n.constant(static_cast<int64_t>(count))};
    Reg narrow = n.fb().narrow(r, t);
    for (size_t k = 0; k < count; ++k) {
      Reg e = n.fb().read(narrow, {n.constant(static_cast<int64_t>(k))});
      if (n.fb().type(e).kind != RegKind::kI64) return invalid_argument("input " + std::to_string(i) + " must hold integers");
      out.push_back(n.fb().dim(e));
    }
  }
  if (out.size() != count) return invalid_argument("input " + std::to_string(i) + " has " + std::to_string(out.size()) + " elements, " + std::to_string(count) + " are needed");
  return out;
}

Result<Dim> one_size(NodeImport& n, size_t i) {
  MSVM_RETURN_IF_ERROR(n.need(i));
  MSVM_ASSIGN_OR_RETURN(Scalars s, n.im.scalars(n.inputs[i]));
  if (s.items.size() != 1) return invalid_argument("input " + std::to_string(i) + " must have one element");
  const Scalar& e = s.items[0];
  if (e.kind == ScalarKind::kInt) return e.dim;
  if (e.kind == ScalarKind::kBool) return invalid_argument("input " + std::to_string(i) + " must be a number");
  if (e.is_const()) {
    if (!(e.number > -9e18 && e.number < 9e18)) return invalid_argument("input " + std::to_string(i) + " isn't a size");
    return n.constant(static_cast<int64_t>(e.number));
  }
  MSVM_ASSIGN_OR_RETURN(Reg r, n.im.float_reg(e));
  return n.fb().scalar_to_int(r);
}

Result<Dim> product(NodeImport& n, std::span<const Dim> sizes) {
  Dim p = n.dims().product(sizes);
  if (!p.valid()) return overflow_error("the arithmetic of its sizes overflows");
  return p;
}

std::vector<int64_t> all_axes(size_t rank) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

}  // namespace msvm::onnx
