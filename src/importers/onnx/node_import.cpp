#include <algorithm>

#include "importers/onnx/importer.h"

namespace msvm::onnx {

NodeImport::NodeImport(GraphImporter& importer, const Node& n, FramePtr f, std::vector<Value> in, size_t num_outputs)
    : im(importer), node(n), frame(std::move(f)), opset(frame->opset(n.domain)), inputs(std::move(in)), outputs(num_outputs), used_(n.attributes.size(), false) {
  while (!inputs.empty() && inputs.back()->kind == ValueKind::kAbsent) inputs.pop_back();
}

std::string NodeImport::label() const {
  std::string name(node.name);
  if (name.empty() && !node.outputs.empty()) name = node.outputs[0];
  return op() + " '" + frame->path + name + "'";
}

// --- inputs ------------------------------------------------------------------------------------------------------------

Status NodeImport::need(size_t i) const {
  return has(i) ? Status() : invalid_argument("input " + std::to_string(i) + " is missing");
}

Result<Reg> NodeImport::tensor(size_t i) {
  MSVM_RETURN_IF_ERROR(need(i));
  return im.tensor(inputs[i]);
}

Result<Reg> NodeImport::optional_tensor(size_t i) {
  if (!has(i)) return kNoReg;
  return im.tensor(inputs[i]);
}

Result<Reg> NodeImport::ranked(size_t i) {
  MSVM_ASSIGN_OR_RETURN(Reg r, tensor(i));
  if (fb().tensor_type(r).unknown_rank) return unsupported("input " + std::to_string(i) + " has a rank that isn't known before it runs");
  return r;
}

Result<std::vector<Dim>> NodeImport::sizes(size_t i) {
  MSVM_RETURN_IF_ERROR(need(i));
  MSVM_ASSIGN_OR_RETURN(Scalars s, im.scalars(inputs[i]));
  std::vector<Dim> out;
  for (const Scalar& e : s.items) {
    if (e.kind != ScalarKind::kInt) return invalid_argument("input " + std::to_string(i) + " must hold integers");
    out.push_back(e.dim);
  }
  return out;
}

bool NodeImport::sizes_possible(size_t i) const {
  if (!has(i)) return false;
  if (inputs[i]->kind == ValueKind::kScalars) return true;
  if (inputs[i]->kind == ValueKind::kConst) return inputs[i]->constant->elements <= kMaxConstScalars;
  if (inputs[i]->kind != ValueKind::kTensor) return false;
  const TensorType& t = im.fb().tensor_type(inputs[i]->reg);
  if (t.unknown_rank || t.rank() > 1) return false;
  return t.rank() == 0 || (t.shape[0].is_const() && t.shape[0].value() <= kMaxScalars);
}

Result<Scalars> NodeImport::known(size_t i) {
  MSVM_RETURN_IF_ERROR(need(i));
  auto s = known_scalars(inputs[i], dims());
  if (!s || !s->is_const()) return unsupported("input " + std::to_string(i) + " must be a constant");
  return *s;
}

std::optional<Scalars> NodeImport::known_if_possible(size_t i) { return has(i) ? known_scalars(inputs[i], dims()) : std::nullopt; }

Result<std::vector<int64_t>> NodeImport::ints(size_t i) {
  MSVM_ASSIGN_OR_RETURN(Scalars s, known(i));
  std::vector<int64_t> out;
  for (const Scalar& e : s.items) {
    if (e.kind != ScalarKind::kInt) return invalid_argument("input " + std::to_string(i) + " must hold integers");
    out.push_back(e.dim.value());
  }
  return out;
}

// --- attributes --------------------------------------------------------------------------------------------------------

const Attribute* NodeImport::attr(std::string_view name) {
  for (size_t i = 0; i < node.attributes.size(); ++i) {
    const Attribute& a = node.attributes[i];
    if (a.name != name) continue;
    used_[i] = true;
    if (a.reference.empty()) return &a;
    auto it = frame->bindings.find(a.reference);
    return it == frame->bindings.end() ? nullptr : it->second;
  }
  return nullptr;
}

namespace {
bool is_kind(const Attribute& a, AttributeKind kind) { return a.kind == kind || a.kind == AttributeKind::kUndefined; }
Status wrong_kind(std::string_view name) { return invalid_argument("attribute '" + std::string(name) + "' has the wrong type"); }
}  // namespace

int64_t NodeImport::int_attr(std::string_view name, int64_t fallback) {
  const Attribute* a = attr(name);
  if (!a) return fallback;
  if (!is_kind(*a, AttributeKind::kInt)) attr_status_ = wrong_kind(name);
  return a->i;
}

double NodeImport::float_attr(std::string_view name, double fallback) {
  const Attribute* a = attr(name);
  if (!a) return fallback;
  if (!is_kind(*a, AttributeKind::kFloat)) attr_status_ = wrong_kind(name);
  return a->f;
}

std::string NodeImport::string_attr(std::string_view name, std::string_view fallback) {
  const Attribute* a = attr(name);
  if (!a) return std::string(fallback);
  if (!is_kind(*a, AttributeKind::kString)) attr_status_ = wrong_kind(name);
  return std::string(a->s);
}

std::vector<int64_t> NodeImport::ints_attr(std::string_view name) {
  const Attribute* a = attr(name);
  if (!a) return {};
  if (!is_kind(*a, AttributeKind::kInts)) attr_status_ = wrong_kind(name);
  return a->ints;
}

std::vector<double> NodeImport::floats_attr(std::string_view name) {
  const Attribute* a = attr(name);
  if (!a) return {};
  if (!is_kind(*a, AttributeKind::kFloats)) attr_status_ = wrong_kind(name);
  return a->floats;
}

Result<DType> NodeImport::dtype_attr(std::string_view name, DType fallback) {
  const Attribute* a = attr(name);
  if (!a) return fallback;
  if (!is_kind(*a, AttributeKind::kInt)) return wrong_kind(name);
  return dtype_of(static_cast<int32_t>(std::clamp<int64_t>(a->i, INT32_MIN, INT32_MAX)));
}

Result<Attributes> NodeImport::attributes_for(const std::string& op) {
  const OpSchema* schema = find_op(op);
  if (!schema) return unsupported("operator " + op + " isn't supported");
  Attributes out;
  for (size_t i = 0; i < node.attributes.size(); ++i) {
    if (used_[i]) continue;
    std::string name(node.attributes[i].name);
    auto spec = std::find_if(schema->attrs.begin(), schema->attrs.end(), [&](const AttrSpec& s) { return s.name == name; });
    if (spec == schema->attrs.end()) continue;  // check_attributes() names it
    const Attribute* a = attr(name);
    if (!a) continue;
    auto expect = [&](AttributeKind kind) { return is_kind(*a, kind) ? Status() : wrong_kind(name); };
    switch (spec->type) {
      case AttrType::kInt: MSVM_RETURN_IF_ERROR(expect(AttributeKind::kInt)); out.set(name, a->i); break;
      case AttrType::kNumber:
      case AttrType::kFloat:
        if (a->kind == AttributeKind::kInt) {
          out.set(name, static_cast<double>(a->i));
          break;
        }
        MSVM_RETURN_IF_ERROR(expect(AttributeKind::kFloat));
        out.set(name, a->f);
        break;
      case AttrType::kString: MSVM_RETURN_IF_ERROR(expect(AttributeKind::kString)); out.set(name, std::string(a->s)); break;
      case AttrType::kInts: MSVM_RETURN_IF_ERROR(expect(AttributeKind::kInts)); out.set(name, a->ints); break;
      case AttrType::kFloats: MSVM_RETURN_IF_ERROR(expect(AttributeKind::kFloats)); out.set(name, a->floats); break;
      case AttrType::kStrings:
        MSVM_RETURN_IF_ERROR(expect(AttributeKind::kStrings));
        out.set(name, std::vector<std::string>(a->strings.begin(), a->strings.end()));
        break;
      case AttrType::kDType: {
        MSVM_RETURN_IF_ERROR(expect(AttributeKind::kInt));
        MSVM_ASSIGN_OR_RETURN(DType t, dtype_of(static_cast<int32_t>(std::clamp<int64_t>(a->i, INT32_MIN, INT32_MAX))));
        out.set(name, t);
        break;
      }
    }
  }
  return out;
}

Status NodeImport::check_attributes() {
  MSVM_RETURN_IF_ERROR(attr_status_);
  std::string unknown;
  for (size_t i = 0; i < node.attributes.size(); ++i)
    if (!used_[i]) unknown += (unknown.empty() ? "'" : ", '") + std::string(node.attributes[i].name) + "'";
  return unknown.empty() ? Status() : unsupported("attribute " + unknown + " isn't supported");
}

Result<std::optional<std::vector<int64_t>>> NodeImport::ints_attr_or_input(std::string_view name, size_t i, int64_t since) {
  if (opset < since) {
    if (!has_attr(name)) return std::optional<std::vector<int64_t>>();
    return std::optional(ints_attr(name));
  }
  if (!has(i)) return std::optional<std::vector<int64_t>>();
  MSVM_ASSIGN_OR_RETURN(auto v, ints(i));
  return std::optional(std::move(v));
}

// --- calls -------------------------------------------------------------------------------------------------------------

Status NodeImport::call_all(const std::string& callee, const std::vector<Reg>& in, const std::vector<Dim>& args, Attributes attrs) {
  std::vector<bool> wanted;
  for (size_t i = 0; i < outputs.size(); ++i) wanted.push_back(wants(i));
  while (wanted.size() > 1 && !wanted.back()) wanted.pop_back();
  if (wanted.empty()) wanted.push_back(true);
  MSVM_ASSIGN_OR_RETURN(std::vector<Reg> out, im.emitter().call(callee, in, args, std::move(attrs), wanted));
  for (size_t i = 0; i < out.size(); ++i) set(i, out[i] == kNoReg ? absent_value() : tensor_value(out[i]));
  for (size_t i = out.size(); i < outputs.size(); ++i) set(i, absent_value());
  return {};
}

Result<Reg> NodeImport::number(double v, DType dtype) {
  if (dtype == DType::kF32 || dtype == DType::kF64) {
    MSVM_ASSIGN_OR_RETURN(ConstPtr c, scalars_to_const({dtype, {}, {float_scalar(v)}}));
    return im.tensor(const_value(std::move(c)));
  }
  Attributes attrs{{"dtype", dtype}};
  if (is_float(dtype)) attrs.set("value", v);
  else attrs.set("value", static_cast<int64_t>(v));
  return call("msvm.Fill", {}, {}, std::move(attrs));
}

Result<Reg> NodeImport::cast(Reg r, DType to) {
  if (fb().tensor_type(r).dtype == to) return r;
  return call("Cast", {r}, {}, {{"to", to}});
}

}  // namespace msvm::onnx
