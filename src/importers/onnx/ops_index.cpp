// Search and indexing: counts that ONNX passes as tensors become arguments.
#include "importers/onnx/handlers.h"

namespace msvm::onnx {
namespace {

Status top_k(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  Dim k;
  if (n.opset < 10) {
    k = n.constant(n.int_attr("k", 1));
  } else {
    MSVM_ASSIGN_OR_RETURN(k, one_size(n, 1));
  }
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("TopK"));
  return n.call_all("TopK", {x}, {k}, std::move(attrs));
}

Status one_hot(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg indices, n.tensor(0));
  MSVM_ASSIGN_OR_RETURN(Dim depth, one_size(n, 1));
  MSVM_ASSIGN_OR_RETURN(Reg values, n.tensor(2));
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("OneHot"));
  return n.call_all("OneHot", {indices, values}, {depth}, std::move(attrs));
}

Status scatter(NodeImport& n) {
  std::vector<Reg> in;
  for (size_t i = 0; i < 3; ++i) {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.tensor(i));
    in.push_back(r);
  }
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("ScatterElements"));
  return n.call_all("ScatterElements", in, {}, std::move(attrs));
}

constexpr HandlerRow kRows[] = {
    {"TopK", top_k},
    {"OneHot", one_hot},
    {"Scatter", scatter},
};

}  // namespace

std::span<const HandlerRow> index_handlers() { return kRows; }

}  // namespace msvm::onnx
