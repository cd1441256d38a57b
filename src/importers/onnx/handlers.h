// The families of handlers: what turns a node into calls where ONNX and the canonical form of ops/ differ.
#pragma once
#include <span>

#include "importers/onnx/importer.h"

namespace msvm::onnx {

struct HandlerRow {
  std::string_view op_type;
  Handler handle;
  std::string_view domain = "";
};
std::span<const HandlerRow> view_handlers();
std::span<const HandlerRow> size_handlers();
std::span<const HandlerRow> math_handlers();
std::span<const HandlerRow> neural_handlers();
std::span<const HandlerRow> image_handlers();
std::span<const HandlerRow> index_handlers();
std::span<const HandlerRow> signal_handlers();
std::span<const HandlerRow> sequence_handlers();
std::span<const HandlerRow> control_flow_handlers();

/// The operator of the same name: tensors as they are, attributes as they are.
Status import_same(NodeImport& n);
/// Input 0 is the output.
Status import_identity(NodeImport& n);
/// Sizes that an input of `count` elements holds; its length is checked at run time if need be.
Result<std::vector<Dim>> sizes_of_length(NodeImport& n, size_t i, size_t count);
/// One integer or float (truncated) of an input of one element.
Result<Dim> one_size(NodeImport& n, size_t i);
/// Product as an expression.
Result<Dim> product(NodeImport& n, std::span<const Dim> sizes);
std::vector<int64_t> all_axes(size_t rank);

}  // namespace msvm::onnx
