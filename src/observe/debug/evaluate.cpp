#include "observe/debug/evaluate.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <variant>

#include "msvm/base/checked.h"
#include "observe/debug/elements.h"
#include "observe/debug/names.h"
#include "observe/debug/registers.h"

namespace msvm::observe::debug {
namespace {

enum class Fn : uint8_t { kShape, kStrides, kRank, kDtype, kDevice, kLayout, kBytes, kAddress, kState, kLen, kMin, kMax, kMean, kSum, kAnyNan, kAnyInf, kAbs, kInt, kFloat };

struct FnRow {
  Fn fn;
  FunctionDoc doc;
};
constexpr FnRow kFunctions[] = {
    {Fn::kShape, {"shape", "shape(R3): its sizes"}},
    {Fn::kStrides, {"strides", "strides(R3): in elements"}},
    {Fn::kRank, {"rank", "rank(R3): how many axes"}},
    {Fn::kDtype, {"dtype", "dtype(R3): \"f32\""}},
    {Fn::kDevice, {"device", "device(R3): \"CPU(0)\""}},
    {Fn::kLayout, {"layout", "layout(R3): \"row-major\" or \"nhwc\""}},
    {Fn::kBytes, {"bytes", "bytes(R3): of its elements"}},
    {Fn::kAddress, {"address", "address(R3): of its first element"}},
    {Fn::kState, {"state", "state(R3): \"live\", \"freed\", ..."}},
    {Fn::kLen, {"len", "len(x): elements of a list or tensor"}},
    {Fn::kMin, {"min", "min(R3) or min(a, b, ...)"}},
    {Fn::kMax, {"max", "max(R3) or max(a, b, ...)"}},
    {Fn::kMean, {"mean", "mean(R3): of its finite elements"}},
    {Fn::kSum, {"sum", "sum(R3): of its finite elements"}},
    {Fn::kAnyNan, {"any_nan", "any_nan(R3): whether an element is NaN"}},
    {Fn::kAnyInf, {"any_inf", "any_inf(R3): whether an element is infinite"}},
    {Fn::kAbs, {"abs", "abs(x)"}},
    {Fn::kInt, {"int", "int(x): towards 0"}},
    {Fn::kFloat, {"float", "float(x)"}},
};

struct Tensor {
  Reg reg = kNoReg;
  RegisterLook look;
  TensorMeta meta;
  bool whole = true;
};
struct List {
  std::vector<int64_t> items;
};
struct TensorList {
  Reg reg = kNoReg;
  int64_t length = 0;
};
using Any = std::variant<int64_t, double, bool, std::string, List, Tensor, TensorList>;

std::string_view kind_of(const Any& v) {
  constexpr std::string_view kNames[] = {"an i64", "an f64", "a bool", "a text", "a list of sizes", "a tensor", "a list"};
  return kNames[v.index()];
}

template <class Make>
Result<Any> integer(const Expression& e, std::optional<int64_t> v, Make&& what) {
  if (v) return Any(*v);
  return error_at(e.column, fmt::format("{} leaves 64 bits", what()));
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

class Evaluator {
 public:
  explicit Evaluator(const RunView* view) : view_(view) {}

  Result<Any> eval(const Expression& e) {
    switch (e.op) {
      case Op::kInt: return Any(e.integer);
      case Op::kFloat: return Any(e.real);
      case Op::kBool: return Any(e.integer != 0);
      case Op::kText: return Any(e.text);
      case Op::kName: return name(e);
      case Op::kCall: return call(e);
      case Op::kIndex: return index(e);
      case Op::kNeg: return negative(e);
      case Op::kNot: {
        MSVM_ASSIGN_OR_RETURN(bool b, truth(e.operands[0]));
        return Any(!b);
      }
      case Op::kAnd:
      case Op::kOr: {
        MSVM_ASSIGN_OR_RETURN(bool left, truth(e.operands[0]));
        if (left == (e.op == Op::kOr)) return Any(left);
        MSVM_ASSIGN_OR_RETURN(bool right, truth(e.operands[1]));
        return Any(right);
      }
      default: return binary(e);
    }
  }

  Result<bool> truth(const Expression& e) {
    MSVM_ASSIGN_OR_RETURN(Any v, eval(e));
    if (const auto* b = std::get_if<bool>(&v)) return *b;
    if (const auto* i = std::get_if<int64_t>(&v)) return *i != 0;
    if (const auto* d = std::get_if<double>(&v)) return *d != 0;
    return error_at(e.column, fmt::format("expected a condition, found {}", kind_of(v)));
  }

  Result<Tensor> tensor(const Expression& e) {
    MSVM_ASSIGN_OR_RETURN(Any v, eval(e));
    if (auto* t = std::get_if<Tensor>(&v)) return *t;
    return error_at(e.column, fmt::format("expected a tensor, found {}", kind_of(v)));
  }

  /// Its elements may be read; those of a device were copied.
  Result<Part> readable(const Expression& e, const Tensor& t) {
    if (!t.look.readable()) return error_at(e.column, fmt::format("R{} is {}: only its metadata can be looked at", t.reg, state_text(*view_, t.look)));
    Part p{t.reg, t.meta, {}};
    if (t.meta.device.kind == DeviceKind::kCpu) return p;
    MSVM_ASSIGN_OR_RETURN(p.copy, view_->copy(t.meta));
    p.meta = p.copy.meta;
    return p;
  }

 private:
  Result<Any> name(const Expression& e) {
    if (!view_) return error_at(e.column, fmt::format("'{}' needs a thread that is stopped", e.text));
    if (const auto r = find_register(*view_, e.text)) return value_of(e, *r);
    if (const auto s = find_symbol(e.text, *view_->program().module().dims)) {
      if (const auto v = view_->symbol(*s)) return Any(*v);
      return error_at(e.column, fmt::format("symbol {} has no value yet: nothing has bound it", e.text));
    }
    return no_such_name(e, view_->code());
  }

  Result<Any> value_of(const Expression& e, Reg r) {
    const RegisterLook look = view_->look(r);
    const RegKind kind = view_->code().regs[static_cast<size_t>(r)].type.kind;
    if (kind == RegKind::kTensor) {
      if (look.state == RegisterState::kUnset) return error_at(e.column, fmt::format("R{} has no value yet", r));
      return Any(Tensor{r, look, view_->tensor(r)});
    }
    if (look.state != RegisterState::kLive) return error_at(e.column, look.state == RegisterState::kUnset ? fmt::format("R{} has no value yet", r) : fmt::format("R{} is {}", r, state_text(*view_, look)));
    switch (kind) {
      case RegKind::kI64: return Any(view_->scalar(r));
      case RegKind::kF64: return Any(std::bit_cast<double>(view_->scalar(r)));
      case RegKind::kBool: return Any(view_->scalar(r) != 0);
      default: {
        const auto* items = view_->list(r);
        return Any(TensorList{r, items ? static_cast<int64_t>(items->size()) : 0});
      }
    }
  }

  Result<double> real(const Expression& e) {
    MSVM_ASSIGN_OR_RETURN(Any v, eval(e));
    return real(e, v);
  }
  static Result<double> real(const Expression& e, const Any& v) {
    if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
    if (const auto* d = std::get_if<double>(&v)) return *d;
    if (const auto* b = std::get_if<bool>(&v)) return *b ? 1.0 : 0.0;
    return error_at(e.column, fmt::format("expected a number, found {}{}", kind_of(v), std::holds_alternative<Tensor>(v) ? ": use an element, as R3[0], or min, max, mean" : ""));
  }
  Result<int64_t> whole(const Expression& e) {
    MSVM_ASSIGN_OR_RETURN(Any v, eval(e));
    if (const auto* i = std::get_if<int64_t>(&v)) return *i;
    return error_at(e.column, fmt::format("expected an i64, found {}", kind_of(v)));
  }

  Result<Any> negative(const Expression& e) {
    MSVM_ASSIGN_OR_RETURN(Any v, eval(e.operands[0]));
    if (const auto* i = std::get_if<int64_t>(&v)) return integer(e, checked_sub(0, *i), [&] { return fmt::format("-({})", *i); });
    MSVM_ASSIGN_OR_RETURN(double d, real(e.operands[0], v));
    return Any(-d);
  }

  Result<Any> binary(const Expression& e) {
    MSVM_ASSIGN_OR_RETURN(Any a, eval(e.operands[0]));
    MSVM_ASSIGN_OR_RETURN(Any b, eval(e.operands[1]));
    const bool compares = e.op >= Op::kEq && e.op <= Op::kGe;
    if (compares) return compare(e, a, b);
    const auto *i = std::get_if<int64_t>(&a), *j = std::get_if<int64_t>(&b);
    if (i && j && e.op != Op::kDiv) {
      switch (e.op) {
        case Op::kAdd: return integer(e, checked_add(*i, *j), [&] { return fmt::format("{} + {}", *i, *j); });
        case Op::kSub: return integer(e, checked_sub(*i, *j), [&] { return fmt::format("{} - {}", *i, *j); });
        case Op::kMul: return integer(e, checked_mul(*i, *j), [&] { return fmt::format("{} * {}", *i, *j); });
        default: break;
      }
      if (*j == 0) return error_at(e.column, "a division by zero");
      if (*j == -1) return e.op == Op::kMod ? Result<Any>(Any(int64_t{0})) : integer(e, checked_sub(0, *i), [&] { return fmt::format("{} // -1", *i); });
      return Any(e.op == Op::kFloorDiv ? floor_div(*i, *j) : *i - floor_div(*i, *j) * *j);
    }
    MSVM_ASSIGN_OR_RETURN(double x, real(e.operands[0], a));
    MSVM_ASSIGN_OR_RETURN(double y, real(e.operands[1], b));
    switch (e.op) {
      case Op::kAdd: return Any(x + y);
      case Op::kSub: return Any(x - y);
      case Op::kMul: return Any(x * y);
      case Op::kFloorDiv:
      case Op::kMod:
      case Op::kDiv:
        if (y == 0) return error_at(e.column, "a division by zero");
        if (e.op == Op::kDiv) return Any(x / y);
        return Any(e.op == Op::kFloorDiv ? std::floor(x / y) : x - std::floor(x / y) * y);
      default: return error_at(e.column, "an operator that isn't known");
    }
  }

  template <class T>
  static bool compared(Op op, const T& a, const T& b) {
    switch (op) {
      case Op::kEq: return a == b;
      case Op::kNe: return a != b;
      case Op::kLt: return a < b;
      case Op::kLe: return a <= b;
      case Op::kGt: return a > b;
      default: return a >= b;
    }
  }

  Result<Any> compare(const Expression& e, const Any& a, const Any& b) {
    if (const auto *i = std::get_if<int64_t>(&a), *j = std::get_if<int64_t>(&b); i && j) return Any(compared(e.op, *i, *j));
    if (const auto *s = std::get_if<std::string>(&a), *t = std::get_if<std::string>(&b); s && t) return Any(compared(e.op, *s, *t));
    if (const auto *s = std::get_if<List>(&a), *t = std::get_if<List>(&b); s && t && (e.op == Op::kEq || e.op == Op::kNe)) return Any(compared(e.op, s->items, t->items));
    if (a.index() != b.index() && (std::holds_alternative<std::string>(a) || std::holds_alternative<std::string>(b)))
      return error_at(e.column, fmt::format("{} can't be compared with {}", kind_of(a), kind_of(b)));
    MSVM_ASSIGN_OR_RETURN(double x, real(e.operands[0], a));
    MSVM_ASSIGN_OR_RETURN(double y, real(e.operands[1], b));
    return Any(compared(e.op, x, y));
  }

  // --- functions -------------------------------------------------------------------------------------------------------
  Result<Any> call(const Expression& e) {
    const FnRow* row = nullptr;
    for (const FnRow& f : kFunctions)
      if (f.doc.name == e.text) row = &f;
    if (!row) {
      std::string names;
      for (const FnRow& f : kFunctions) names += (names.empty() ? "" : ", ") + std::string(f.doc.name);
      return error_at(e.column, fmt::format("there is no function '{}'; there are {}", e.text, names));
    }
    const bool many = row->fn == Fn::kMin || row->fn == Fn::kMax;
    if (e.operands.empty() || (e.operands.size() > 1 && !many))
      return error_at(e.column, fmt::format("{} takes {}, found {} arguments", e.text, many ? "a tensor, or two numbers or more" : "one argument", e.operands.size()));
    if (e.operands.size() > 1) return least(e, row->fn == Fn::kMin);
    const Expression& of = e.operands[0];
    switch (row->fn) {
      case Fn::kAbs: {
        MSVM_ASSIGN_OR_RETURN(Any v, eval(of));
        if (const auto* i = std::get_if<int64_t>(&v); i && *i < 0) return integer(e, checked_sub(0, *i), [&] { return fmt::format("abs({})", *i); });
        if (std::holds_alternative<int64_t>(v)) return v;
        MSVM_ASSIGN_OR_RETURN(double d, real(of, v));
        return Any(std::fabs(d));
      }
      case Fn::kInt: {
        MSVM_ASSIGN_OR_RETURN(Any v, eval(of));
        if (std::holds_alternative<int64_t>(v)) return v;
        MSVM_ASSIGN_OR_RETURN(double d, real(of, v));
        if (!(std::fabs(d) < 0x1p63)) return error_at(e.column, fmt::format("{} is no i64", real_text(d)));
        return Any(static_cast<int64_t>(d));
      }
      case Fn::kFloat: {
        MSVM_ASSIGN_OR_RETURN(double d, real(of));
        return Any(d);
      }
      case Fn::kLen: {
        MSVM_ASSIGN_OR_RETURN(Any v, eval(of));
        if (const auto* l = std::get_if<List>(&v)) return Any(static_cast<int64_t>(l->items.size()));
        if (const auto* l = std::get_if<TensorList>(&v)) return Any(l->length);
        if (const auto* s = std::get_if<std::string>(&v)) return Any(static_cast<int64_t>(s->size()));
        if (const auto* t = std::get_if<Tensor>(&v)) return Any(t->meta.elements());
        return error_at(of.column, fmt::format("expected a list or a tensor, found {}", kind_of(v)));
      }
      default: break;
    }
    MSVM_ASSIGN_OR_RETURN(Tensor t, tensor(of));
    switch (row->fn) {
      case Fn::kShape: return Any(List{{t.meta.shape.begin(), t.meta.shape.begin() + t.meta.rank}});
      case Fn::kStrides: return Any(List{{t.meta.strides.begin(), t.meta.strides.begin() + t.meta.rank}});
      case Fn::kRank: return Any(int64_t{t.meta.rank});
      case Fn::kDtype: return Any(std::string(dtype_name(t.meta.dtype)));
      case Fn::kDevice: return Any(to_string(t.meta.device));
      case Fn::kLayout: return Any(std::string(layout_text(t.meta.layout)));
      case Fn::kBytes: return Any(t.meta.elements() * dtype_bytes(t.meta.dtype));
      case Fn::kAddress: return Any(static_cast<int64_t>(reinterpret_cast<uintptr_t>(t.meta.data)));
      case Fn::kState: return Any(state_text(*view_, t.look));
      default: break;
    }
    MSVM_ASSIGN_OR_RETURN(Part p, readable(of, t));
    if (p.meta.dtype == DType::kString) return error_at(of.column, "texts have no figures");
    if (const auto whole = row->fn == Fn::kMin || row->fn == Fn::kMax || row->fn == Fn::kSum ? whole_figures(p.meta) : std::nullopt) {
      const __int128 found = row->fn == Fn::kMin ? whole->min : row->fn == Fn::kMax ? whole->max : whole->sum;
      if (found >= INT64_MIN && found <= INT64_MAX) return Any(static_cast<int64_t>(found));
      return Any(static_cast<double>(found));
    }
    const Statistics s = statistics_of(p.meta, false);
    if (row->fn == Fn::kAnyNan) return Any(s.nan > 0);
    if (row->fn == Fn::kAnyInf) return Any(s.inf > 0);
    if (s.finite == 0 && row->fn != Fn::kSum) return error_at(of.column, s.count ? "no element is finite" : "there are no elements");
    const double found = row->fn == Fn::kMin ? s.min : row->fn == Fn::kMax ? s.max : row->fn == Fn::kMean ? s.mean : s.mean * static_cast<double>(s.finite);
    if (!is_float(p.meta.dtype) && row->fn != Fn::kMean && std::fabs(found) < 0x1p53) return Any(static_cast<int64_t>(found));
    return Any(found);
  }

  Result<Any> least(const Expression& e, bool smallest) {
    MSVM_ASSIGN_OR_RETURN(Any best, eval(e.operands[0]));
    for (size_t k = 1; k < e.operands.size(); ++k) {
      MSVM_ASSIGN_OR_RETURN(Any v, eval(e.operands[k]));
      MSVM_ASSIGN_OR_RETURN(double a, real(e.operands[0], best));
      MSVM_ASSIGN_OR_RETURN(double b, real(e.operands[k], v));
      if (smallest ? b < a : b > a) best = v;
    }
    return best;
  }

  // --- indices ---------------------------------------------------------------------------------------------------------
  Result<Any> index(const Expression& e) {
    MSVM_ASSIGN_OR_RETURN(Any v, eval(e.operands[0]));
    if (const auto* l = std::get_if<List>(&v)) {
      if (e.indices.size() != 1 || e.indices[0].range || !e.indices[0].from) return error_at(e.column, "a list of sizes takes one index");
      MSVM_ASSIGN_OR_RETURN(int64_t i, whole(*e.indices[0].from));
      const auto n = static_cast<int64_t>(l->items.size());
      const int64_t at = i < 0 ? i + n : i;
      if (at < 0 || at >= n) return error_at(e.indices[0].from->column, fmt::format("index {} of {} sizes", i, n));
      return Any(l->items[static_cast<size_t>(at)]);
    }
    if (const auto* l = std::get_if<TensorList>(&v)) return item(e, *l);
    const auto* t = std::get_if<Tensor>(&v);
    if (!t) return error_at(e.column, fmt::format("{} has no elements", kind_of(v)));
    MSVM_ASSIGN_OR_RETURN(TensorMeta part, cut(e.column, t->meta, e.indices));
    Tensor out = *t;
    out.meta = part;
    out.whole = false;
    if (part.rank > 0) return Any(out);
    MSVM_ASSIGN_OR_RETURN(Part p, readable(e, out));
    if (!p.meta.data) return error_at(e.column, "the tensor has no memory");
    switch (dtype_info(p.meta.dtype).kind) {
      case DTypeKind::kFloat: return Any(real_at(p.meta.dtype, p.meta.data));
      case DTypeKind::kBool: return Any(integer_at(p.meta.dtype, p.meta.data) != 0);
      case DTypeKind::kString: return Any(*reinterpret_cast<const std::string*>(p.meta.data));
      default:
        if (p.meta.dtype == DType::kU64 && integer_at(p.meta.dtype, p.meta.data) < 0) return Any(real_at(p.meta.dtype, p.meta.data));
        return Any(integer_at(p.meta.dtype, p.meta.data));
    }
  }

  Result<Any> item(const Expression& e, const TensorList& l) {
    if (e.indices.size() != 1 || e.indices[0].range || !e.indices[0].from) return error_at(e.column, "a list takes one index");
    MSVM_ASSIGN_OR_RETURN(int64_t i, whole(*e.indices[0].from));
    const int64_t at = i < 0 ? i + l.length : i;
    const auto* items = view_->list(l.reg);
    if (at < 0 || at >= l.length || !items) return error_at(e.indices[0].from->column, fmt::format("index {} of a list of {}", i, l.length));
    RegisterLook look = view_->look(l.reg);
    return Any(Tensor{l.reg, look, (*items)[static_cast<size_t>(at)].meta, false});
  }

 public:
  Result<TensorMeta> cut(int32_t column, const TensorMeta& m, const std::vector<Expression::Index>& indices) {
    if (indices.size() > m.rank) return error_at(column, fmt::format("{} indices for a tensor of rank {}", indices.size(), m.rank));
    std::vector<Range> ranges;
    for (size_t a = 0; a < indices.size(); ++a) {
      const Expression::Index& i = indices[a];
      std::optional<int64_t> from, to, step;
      if (i.from) {
        MSVM_ASSIGN_OR_RETURN(from, whole(*i.from));
      }
      if (i.to) {
        MSVM_ASSIGN_OR_RETURN(to, whole(*i.to));
      }
      if (i.step) {
        MSVM_ASSIGN_OR_RETURN(step, whole(*i.step));
      }
      auto r = range_of(m.shape[a], i.range, from, to, step);
      if (!r.ok()) return error_at(i.from ? i.from->column : column, fmt::format("axis {}: {}", a, r.status().message()));
      ranges.push_back(*r);
    }
    return part_of(m, ranges);
  }

 private:
  const RunView* view_;
};

Value to_value(const Any& any, Evaluator& evaluator, const Expression& e, const RunView* view) {
  Value v;
  if (const auto* i = std::get_if<int64_t>(&any)) {
    v.kind = Value::Kind::kInt;
    v.integer = *i;
    v.text = fmt::format("{}", *i);
    v.type = "i64";
  } else if (const auto* d = std::get_if<double>(&any)) {
    v.kind = Value::Kind::kFloat;
    v.real = *d;
    v.text = real_text(*d);
    v.type = "f64";
  } else if (const auto* b = std::get_if<bool>(&any)) {
    v.kind = Value::Kind::kBool;
    v.boolean = *b;
    v.text = *b ? "true" : "false";
    v.type = "bool";
  } else if (const auto* s = std::get_if<std::string>(&any)) {
    v.kind = Value::Kind::kText;
    v.text = *s;
    v.type = "text";
  } else if (const auto* l = std::get_if<List>(&any)) {
    v.kind = Value::Kind::kList;
    v.text = fmt::format("[{}]", fmt::join(l->items, ", "));
    v.type = "sizes";
    for (int64_t item : l->items) v.items.push_back({.kind = Value::Kind::kInt, .integer = item, .real = 0, .boolean = false, .text = fmt::format("{}", item), .type = "i64", .items = {}, .reg = kNoReg});
  } else if (const auto* list = std::get_if<TensorList>(&any)) {
    v.kind = Value::Kind::kList;
    v.type = "list";
    v.text = fmt::format("list of {}", list->length);
    if (const auto* items = view->list(list->reg))
      for (const TensorValue& t : *items) {
        Value& item = v.items.emplace_back();
        item.kind = Value::Kind::kTensor;
        item.text = item.type = to_string(t.meta);
      }
  } else {
    const auto& t = std::get<Tensor>(any);
    v.kind = Value::Kind::kTensor;
    v.type = to_string(t.meta);
    v.reg = t.whole ? t.reg : kNoReg;
    v.text = t.whole ? shape_text(*view, t.reg) : v.type;
    if (!t.look.readable()) v.text += fmt::format(" ({})", state_text(*view, t.look));
    else if (t.meta.device.kind == DeviceKind::kCpu || !t.whole)
      if (auto p = evaluator.readable(e, t); p.ok()) v.text += " " + elements_text(p->meta, kShownElements);
  }
  return v;
}

}  // namespace

Result<Value> evaluate(const Expression& e, const RunView* view) {
  Evaluator evaluator(view);
  MSVM_ASSIGN_OR_RETURN(Any v, evaluator.eval(e));
  return to_value(v, evaluator, e, view);
}

Result<bool> holds(const Expression& e, const RunView* view) { return Evaluator(view).truth(e); }

Result<Part> tensor_part(const Expression& e, const RunView& view) {
  Evaluator evaluator(&view);
  MSVM_ASSIGN_OR_RETURN(Tensor t, evaluator.tensor(e));
  return evaluator.readable(e, t);
}

Result<Part> tensor_part(std::string_view expression, std::string_view slice, const RunView& view) {
  MSVM_ASSIGN_OR_RETURN(Expression e, parse(expression));
  Evaluator evaluator(&view);
  MSVM_ASSIGN_OR_RETURN(Tensor t, evaluator.tensor(e));
  auto indices = parse_indices(slice);
  if (!indices.ok()) return indices.status().with_context("slice: ");
  auto part = evaluator.cut(1, t.meta, *indices);
  if (!part.ok()) return part.status().with_context("slice: ");
  t.meta = *part;
  return evaluator.readable(e, t);
}

std::optional<Reg> find_register(const RunView& view, std::string_view name) {
  const Function& f = view.code();
  if (const auto r = register_number(name)) return *r >= 0 && static_cast<size_t>(*r) < f.regs.size() ? r : std::nullopt;
  // Of several of that name the one that was set last.
  std::optional<Reg> best;
  uint64_t latest = 0;
  auto offer = [&](Reg r) {
    const RegisterLook l = view.look(r);
    const uint64_t at = l.state == RegisterState::kUnset ? 0 : l.changed + 1;
    if (!best || at > latest) {
      best = r;
      latest = at;
    }
  };
  for (size_t r = 0; r < f.regs.size(); ++r)
    if (!f.regs[r].name.empty() && f.regs[r].name == name) offer(static_cast<Reg>(r));
  if (best) return best;
  for (size_t k = 0; k < f.inputs.size(); ++k) {
    if (f.inputs[k].name != name) continue;
    for (int32_t i = 0; i < view.instructions(); ++i) {
      const Instr& in = view.instr(i);
      const bool takes = (in.op == Opcode::kTensorCreate && create_kind(in) == CreateKind::kInput) || in.op == Opcode::kScalarInput;
      if (takes && in.imms[0] == static_cast<int64_t>(k)) return in.defs[0];
    }
  }
  return std::nullopt;
}

std::span<const FunctionDoc> functions() {
  static const std::vector<FunctionDoc> docs = [] {
    std::vector<FunctionDoc> d;
    for (const FnRow& f : kFunctions) d.push_back(f.doc);
    return d;
  }();
  return docs;
}

}  // namespace msvm::observe::debug
