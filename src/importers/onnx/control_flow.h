// What If, Loop and Scan share: values that meet in a PHI, and the loop that Loop and Scan become.
#pragma once
#include "importers/onnx/importer.h"

namespace msvm::onnx {

/// The type of a PHI over both: an axis that differs gets a fresh symbol, ranks that differ make the rank unknown.
Result<TensorType> join_types(GraphImporter& im, const TensorType& a, const TensorType& b);

/// A condition as a scalar: constant, expression, or read from a tensor of one element.
Result<Scalar> condition(NodeImport& n, const Value& v);

/// A graph within the node's scope.
Result<std::vector<Value>> import_body(NodeImport& n, const Graph& g, Scope& scope);

struct ScanInput {
  Reg tensor;
  int64_t axis;
  bool backwards;
};
struct ScanOutput {
  int64_t axis = 0;
  bool backwards = false;
};

/// for (i = 0; i < trips && cond; ++i): the body takes [i, cond,] carried values, slices; gives [cond,] carried values, outputs.
struct LoopSpec {
  const Graph* body = nullptr;
  bool is_loop = true;                  // Loop: i and cond are inputs, cond an output of the body
  Dim trips;                            // invalid: no limit
  Scalar cond = bool_scalar(true);
  std::vector<Value> initial;
  std::vector<ScanInput> scans;
  std::vector<ScanOutput> outputs;
};
/// Sets the node's outputs: final carried values, then the stacked outputs.
Status emit_loop(NodeImport& n, const LoopSpec& spec);

Status import_if(NodeImport& n);
Status import_loop(NodeImport& n);
Status import_scan(NodeImport& n);

}  // namespace msvm::onnx
