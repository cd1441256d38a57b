#include "msvm/ops/registered.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <shared_mutex>

namespace msvm {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::map<std::string, RegisteredOperator, std::less<>> current;
  std::deque<std::unique_ptr<RegisteredOp>> rows;  // all there ever were
};

Table& table() {
  static Table& t = *new Table;  // programs may outlive everything else
  return t;
}

/// Outputs that the program declares: nothing is known before they are there.
Status infer_registered(InferContext& c) {
  const auto* op = static_cast<const RegisteredOp*>(c.op());
  if (op->traits.shape) return op->traits.shape(c);
  for (size_t i = 0; i < c.num_outputs(); ++i) c.set_unknown_rank(i);
  return {};
}

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

Status check_name(std::string_view name) {
  bool well_formed = name.size() <= 200 && name.find('.') != std::string_view::npos;
  char before = '.';
  for (char c : name) {
    well_formed = well_formed && (letter(c) || (before != '.' && (digit(c) || c == '.')));
    before = c;
  }
  if (!well_formed || before == '.')
    return invalid_argument(fmt::format("an operator is registered under a name like custom.my_filter (words of letters, digits and _, with a dot between), found \"{}\"", name.substr(0, 200)));
  for (std::string_view domain : {"msvm.", "ai.onnx."})
    if (name.starts_with(domain)) return invalid_argument(fmt::format("{}: names that begin with {} are this build's own; take another one", name, domain));
  return {};
}

/// The row's text becomes its own.
void copy_text(RegisteredOp& op) {
  auto own = [&](std::string_view& text) { text = op.strings.emplace_back(text); };
  own(op.name);
  own(op.args_doc);
  own(op.doc);
  for (InputSpec& i : op.inputs) own(i.name);
  for (OutputSpec& o : op.outputs) own(o.name), own(o.attr);
  for (AttrSpec& a : op.attrs) own(a.name), own(a.choices), own(a.doc), own(a.fallback);
}

}  // namespace

Status register_operator(OpSchema schema, RegisteredTraits traits, std::shared_ptr<const OperatorKernel> kernel, bool replace) {
  MSVM_RETURN_IF_ERROR(check_name(schema.name));
  const std::string name(schema.name);
  if (!kernel) return invalid_argument(fmt::format("{}: there is no kernel", name));
  if (schema.outputs.size() > 64) return invalid_argument(fmt::format("{}: {} outputs; at most 64 are possible", name, schema.outputs.size()));
  schema.max_outputs = static_cast<int>(schema.outputs.size());
  if (schema.min_outputs < 0 || schema.min_outputs > schema.max_outputs || schema.min_args > schema.max_args)
    return invalid_argument(fmt::format("{}: the least number of outputs or size arguments is above the most", name));
  if (schema.variadic && schema.inputs.empty()) return invalid_argument(fmt::format("{}: no input that repeats", name));
  schema.infer = infer_registered;
  if (!traits.shape) schema.any_rank = schema.data_dependent = true;
  if (traits.effect) schema.deterministic = false;
  auto row = std::make_unique<RegisteredOp>();
  static_cast<OpSchema&>(*row) = std::move(schema);
  row->traits = std::move(traits);
  row->kernel = kernel;
  copy_text(*row);
  std::shared_ptr<const OperatorKernel> old;  // goes without the lock
  Table& t = table();
  std::unique_lock lock(t.mutex);
  auto& place = t.current[name];
  if (place.kernel && !replace) {
    if (place.kernel->same(*kernel)) return {};
    return invalid_argument(fmt::format("there is an operator {} already: give it another name, or replace it (replace=True)", name));
  }
  old = std::move(place.kernel);
  place = {t.rows.emplace_back(std::move(row)).get(), std::move(kernel)};
  lock.unlock();
  return {};
}

RegisteredOperator find_registered(std::string_view name) {
  if (name.find('.') == std::string_view::npos) return {};
  Table& t = table();
  std::shared_lock lock(t.mutex);
  auto it = t.current.find(name);
  return it == t.current.end() ? RegisteredOperator{} : it->second;
}

const RegisteredOp* as_registered(const OpSchema& op) { return op.infer == infer_registered ? static_cast<const RegisteredOp*>(&op) : nullptr; }

bool has_effect(const OpSchema& op) {
  const RegisteredOp* r = as_registered(op);
  return r ? r->traits.effect || op.outputs.empty() : op.outputs.empty();
}

bool declares_outputs(const OpSchema& op) {
  const RegisteredOp* r = as_registered(op);
  return r && !r->traits.shape;
}

}  // namespace msvm
