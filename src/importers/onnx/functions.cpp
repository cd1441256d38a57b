// Calls of functions that the model itself defines: their nodes take the place of the call.
#include <algorithm>

#include "importers/onnx/importer.h"

namespace msvm::onnx {

void GraphImporter::import_function(const FunctionProto& f, NodeImport& call) {
  for (Value& v : call.outputs) v = poison_value();
  if (std::find(active_functions_.begin(), active_functions_.end(), &f) != active_functions_.end()) {
    error(call, invalid_argument("function " + std::string(f.name) + " calls itself"));
    return;
  }
  if (call.inputs.size() > f.inputs.size() || call.outputs.size() > f.outputs.size()) {
    error(call, invalid_argument("function " + std::string(f.name) + " has " + std::to_string(f.inputs.size()) + " inputs and " + std::to_string(f.outputs.size()) + " outputs"));
    return;
  }
  auto frame = std::make_shared<Frame>();
  for (const OpsetImport& o : f.opsets) frame->opsets[o.domain] = o.version;
  if (f.opsets.empty()) frame->opsets = call.frame->opsets;
  for (const Attribute& a : f.attribute_defaults) frame->bindings[a.name] = &a;
  auto bind = [&](std::string_view name) {
    if (const Attribute* a = call.attr(name)) frame->bindings[name] = a;
  };
  for (std::string_view name : f.attributes) bind(name);
  for (const Attribute& a : f.attribute_defaults) bind(a.name);
  if (Status s = call.check_attributes(); !s.ok()) error(call, s);
  std::string name(call.node.name.empty() ? call.node.op_type : call.node.name);
  frame->path = call.frame->path + name + "/";
  if (Status s = enter_nested(); !s.ok()) {
    error(call, s);
    return;
  }

  Scope scope;
  for (size_t i = 0; i < f.inputs.size(); ++i) scope.values.emplace(f.inputs[i], i < call.inputs.size() ? call.inputs[i] : absent_value());
  active_functions_.push_back(&f);
  import_graph(f.body, scope, frame);
  active_functions_.pop_back();
  leave_nested();
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const Value* v = scope.find(f.outputs[i]);
    if (v) call.outputs[i] = *v;
    else error(call, invalid_argument("function " + std::string(f.name) + " doesn't compute its output '" + std::string(f.outputs[i]) + "'"));
  }
}

}  // namespace msvm::onnx
