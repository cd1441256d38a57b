// What compiler and evaluator rely on. Nothing here trusts an index of the program.
#include <fmt/format.h>

#include <optional>

#include "msvm/loops/loop_program.h"

namespace msvm::loops {
namespace {

Status wrong(std::string why) { return malformed(std::move(why)); }

bool good_name(std::string_view name) {
  if (name.empty() || name.size() > 128 || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) return false;
  return true;
}

struct Checker {
  const Kernel& kernel;
  std::vector<std::optional<DType>> values = std::vector<std::optional<DType>>(kMaxSteps), rows = values;  // by number; empty: not yet defined
  std::vector<bool> value_numbers = std::vector<bool>(kMaxSteps), row_numbers = value_numbers;              // in use
  std::vector<std::pair<int32_t, DType>> reductions;                                                        // of this pass, seen after it

  Status size(const Size& s, std::string_view what, bool extent) const {
    if (s.argument >= 0) {
      if (s.argument >= kernel.sizes) return wrong(fmt::format("{} is n{}, but there are {} size arguments", what, s.argument, kernel.sizes));
      if (s.value != 0) return wrong(fmt::format("{} is both a number and an argument", what));
    } else if (s.argument != -1) {
      return wrong(fmt::format("{} names the size argument {}", what, s.argument));
    } else if (extent && s.value < 0) {
      return wrong(fmt::format("{} is {}, an extent is at least 0", what, s.value));
    }
    return {};
  }

  /// The type of an operand; none for a number, which fits any.
  Result<std::optional<DType>> type_of(const Operand& o, bool row) const {
    const auto index = static_cast<size_t>(o.index);
    switch (o.kind) {
      case Operand::kNone: return wrong("an operand is missing");
      case Operand::kNumber: return std::optional<DType>();
      case Operand::kSize:
        if (o.index < 0 || o.index >= kernel.sizes) return wrong(fmt::format("n{} isn't one of the {} size arguments", o.index, kernel.sizes));
        return std::optional<DType>(DType::kI64);
      case Operand::kValue:
        if (row) return wrong(fmt::format("v{} can't be read in a row section: only row scalars and numbers", o.index));
        if (o.index < 0 || index >= kMaxSteps || !values[index]) return wrong(fmt::format("v{} isn't defined before it in this pass", o.index));
        return values[index];
      case Operand::kRow:
        if (o.index < 0 || index >= kMaxSteps || !rows[index]) return wrong(fmt::format("r{} isn't defined before it (a reduction is seen from the next pass on)", o.index));
        return rows[index];
    }
    return wrong("an operand is of no kind");
  }

  Status operand_is(const Step& s, size_t k, DType type, bool row) const {
    MSVM_ASSIGN_OR_RETURN(const auto t, type_of(s.operands[k], row));
    if (t && *t != type) return wrong(fmt::format("operand {} is of {}, expected {}", k, dtype_name(*t), dtype_name(type)));
    return {};
  }

  Status tensor(const Step& s, bool row) const {
    if (s.tensor < 0 || static_cast<size_t>(s.tensor) >= kernel.tensors.size()) return wrong(fmt::format("t{} isn't one of the {} tensors", s.tensor, kernel.tensors.size()));
    const Access& a = kernel.tensors[static_cast<size_t>(s.tensor)];
    if (s.op == Op::kLoad) return s.type == value_type(a.dtype) ? Status() : wrong(fmt::format("t{} loads as {}, not {}", s.tensor, dtype_name(value_type(a.dtype)), dtype_name(s.type)));
    if (!a.written) return wrong(fmt::format("t{} is read only (\"out\" makes it written)", s.tensor));
    if (s.type != a.dtype) return wrong(fmt::format("t{} is of {}, the store says {}", s.tensor, dtype_name(a.dtype), dtype_name(s.type)));
    for (size_t i = 0; i < a.strides.size(); ++i) {
      const bool zero = a.strides[i] == Size::number(0), last = i + 1 == a.strides.size();
      if (zero && !(last && row)) return wrong(fmt::format("t{} is written with stride 0", s.tensor));
    }
    return operand_is(s, 0, value_type(a.dtype), row);
  }

  Status operands(const Step& s, bool row) const {
    const OpInfo& info = op_info(s.op);
    const auto count = static_cast<size_t>(info.operands);
    for (size_t k = count; k < s.operands.size(); ++k)
      if (s.operands[k].kind != Operand::kNone) return wrong(fmt::format("has more than {} operands", count));
    if (s.op == Op::kLoad || s.op == Op::kStore) return tensor(s, row);
    if (s.tensor != -1) return wrong("names a tensor");
    if (!info.allows(s.type)) return wrong(fmt::format("has no result of {}", dtype_name(s.type)));
    if (is_comparison(s.op)) {
      std::optional<DType> type;
      for (size_t k = 0; k < count; ++k) {
        MSVM_ASSIGN_OR_RETURN(const auto t, type_of(s.operands[k], row));
        if (type && t && *type != *t) return wrong(fmt::format("compares {} with {}", dtype_name(*type), dtype_name(*t)));
        if (t) type = t;
      }
      return type ? Status() : wrong("compares numbers alone");
    }
    if (s.op == Op::kCast) {
      MSVM_ASSIGN_OR_RETURN(const auto t, type_of(s.operands[0], row));
      if (!t) return wrong("casts a number: write it in the type it should have");
      if (is_float(*t) && is_integer(s.type)) return wrong("casts a float to an integer");
      return {};
    }
    if (s.op == Op::kIndex && s.type != DType::kI64) return wrong("is always of i64");
    for (size_t k = 0; k < count; ++k) MSVM_RETURN_IF_ERROR(operand_is(s, k, s.op == Op::kSelect && k == 0 ? DType::kBool : s.type, row));
    return {};
  }

  Status step(const Step& s, bool row) {
    if (static_cast<size_t>(s.op) > static_cast<size_t>(Op::kReduceProd)) return wrong("is no operation");
    if (static_cast<size_t>(s.type) >= kNumDTypes) return wrong("has no dtype");
    if (row && (s.op == Op::kIndex || is_reduction(s.op))) return wrong("stands in a row section");
    MSVM_RETURN_IF_ERROR(operands(s, row));
    if (s.op == Op::kStore) return s.result == -1 ? Status() : wrong("has a result");
    const bool to_row = row || is_reduction(s.op);
    if (s.result < 0 || static_cast<size_t>(s.result) >= kMaxSteps) return wrong(fmt::format("result {} is outside 0 to {}", s.result, kMaxSteps - 1));
    const auto number = static_cast<size_t>(s.result);
    auto& used = to_row ? row_numbers : value_numbers;
    if (used[number]) return wrong(fmt::format("{}{} is defined twice", to_row ? 'r' : 'v', number));
    used[number] = true;
    if (is_reduction(s.op)) reductions.emplace_back(s.result, s.type);
    else (to_row ? rows : values)[number] = s.type;
    return {};
  }

  Status head() const {
    if (!good_name(kernel.name)) return wrong("its name must be 1 to 128 letters, digits, _ and ., not a digit first");
    if (kernel.sizes < 0 || static_cast<size_t>(kernel.sizes) > kMaxSizes) return wrong(fmt::format("{} size arguments, the limit is {}", kernel.sizes, kMaxSizes));
    if (kernel.tensors.empty() || kernel.tensors.size() > kMaxTensors) return wrong(fmt::format("{} tensors, expected 1 to {}", kernel.tensors.size(), kMaxTensors));
    if (kernel.outer.size() > kMaxOuter) return wrong(fmt::format("{} outer axes, the limit is {}", kernel.outer.size(), kMaxOuter));
    if (kernel.passes.size() > kMaxPasses) return wrong(fmt::format("{} passes, the limit is {}", kernel.passes.size(), kMaxPasses));
    for (size_t i = 0; i < kernel.outer.size(); ++i) MSVM_RETURN_IF_ERROR(size(kernel.outer[i], fmt::format("extent {}", i), true));
    MSVM_RETURN_IF_ERROR(size(kernel.inner, "the row's extent", true));
    for (size_t t = 0; t < kernel.tensors.size(); ++t) {
      const Access& a = kernel.tensors[t];
      if (static_cast<size_t>(a.dtype) >= kNumDTypes || a.dtype == DType::kString) return wrong(fmt::format("t{} has no dtype that loops know", t));
      if (a.strides.size() != kernel.outer.size() + 1) return wrong(fmt::format("t{} has {} strides, expected {}: one per outer axis and the row's", t, a.strides.size(), kernel.outer.size() + 1));
      for (size_t i = 0; i < a.strides.size(); ++i) MSVM_RETURN_IF_ERROR(size(a.strides[i], fmt::format("stride {} of t{}", i, t), false));
    }
    return {};
  }

  Status check() {
    MSVM_RETURN_IF_ERROR(head());
    size_t steps = 0;
    for (size_t p = 0; p < kernel.passes.size(); ++p) {
      const Pass& pass = kernel.passes[p];
      std::fill(values.begin(), values.end(), std::nullopt);
      for (size_t i = 0; i < pass.steps.size(); ++i) {
        if (++steps > kMaxSteps) return wrong(fmt::format("more than {} steps", kMaxSteps));
        if (Status s = step(pass.steps[i], pass.row); !s.ok()) {
          const bool known = static_cast<size_t>(pass.steps[i].op) <= static_cast<size_t>(Op::kReduceProd);
          return s.with_context(fmt::format("pass {}, step {}: {}", p, i, known ? std::string(op_info(pass.steps[i].op).name) + " " : ""));
        }
      }
      for (const auto& [number, type] : reductions) rows[static_cast<size_t>(number)] = type;
      reductions.clear();
    }
    return {};
  }
};

}  // namespace

Status check(const Kernel& kernel) { return Checker{kernel}.check().with_context(fmt::format("kernel {}: ", good_name(kernel.name) ? kernel.name : "?")); }

Status check(const Program& program) {
  if (program.kernels.size() > kMaxKernels) return wrong(fmt::format("{} kernels, the limit is {}", program.kernels.size(), kMaxKernels));
  for (const Kernel& kernel : program.kernels) MSVM_RETURN_IF_ERROR(check(kernel));
  return {};
}

}  // namespace msvm::loops
