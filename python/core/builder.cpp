#include "builder.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "executable.h"
#include "gil.h"
#include "msvm/bytecode/text.h"
#include "msvm/emit/inline.h"

namespace msvm::python {
namespace {

/// A size that isn't a plain number. Keeps the symbols it speaks of alive.
struct PyDim {
  Dim dim;
  std::shared_ptr<DimContext> dims;
};

nb::object dim_out(Dim d, const std::shared_ptr<DimContext>& dims) {
  if (!d.valid()) raise(overflow_error("the arithmetic of a size overflows or divides by zero"));
  if (d.is_const()) return nb::int_(d.value());
  return nb::cast(PyDim{d, dims});
}

template <class Op> Op named(std::optional<Op> op, const std::string& name) {
  if (!op) raise(invalid_argument("there is no operator " + name));
  return *op;
}

RegKind kind_named(const std::string& name) {
  for (RegKind k : {RegKind::kTensor, RegKind::kList, RegKind::kI64, RegKind::kF64, RegKind::kBool})
    if (name == kind_name(k)) return k;
  raise(invalid_argument("there is no kind of register " + name));
}

nb::str kind_object(RegKind k) {
  const std::string_view name = kind_name(k);
  return nb::str(name.data(), name.size());
}

AttrValue attribute(nb::handle h, const std::string& name) {
  if (nb::isinstance<PyDType>(h)) return nb::cast<PyDType&>(h).dtype;
  if (nb::isinstance<nb::float_>(h)) return nb::cast<double>(h);
  if (nb::isinstance<nb::str>(h)) return nb::cast<std::string>(h);
  if (nb::isinstance<nb::tuple>(h) || nb::isinstance<nb::list>(h)) {
    const size_t n = nb::len(h);
    if (n && nb::isinstance<nb::str>(h[0])) return nb::cast<std::vector<std::string>>(h);
    if (n && nb::isinstance<nb::float_>(h[0])) return nb::cast<std::vector<double>>(h);
    std::vector<int64_t> ints;
    if (nb::try_cast(h, ints)) return ints;
  } else if (int64_t i; nb::try_cast(h, i)) {
    return i;
  }
  raise(invalid_argument("attribute " + name + ": expected an int, float, str, dtype or a list of them, found " + std::string(nb::str(h.type()).c_str())));
}

/// Those that are None are left out.
Attributes attributes(const nb::dict& attrs) {
  Attributes a;
  for (auto [key, value] : attrs)
    if (!value.is_none()) {
      const auto name = nb::cast<std::string>(key);
      a.set(name, attribute(value, name));
    }
  return a;
}

class PyBuilder {
 public:
  explicit PyBuilder(const std::string& name) : mb_(name), fb_(mb_.function("main")), emitter_(fb_), dims_(mb_.module().dims) { mb_.module().producer = "msvm.python"; }

  Dim dim(nb::handle h) const {
    if (nb::isinstance<PyDim>(h)) {
      const PyDim& d = nb::cast<const PyDim&>(h);
      if (d.dims != dims_) raise(internal_error("a size of another program"));
      return d.dim;
    }
    int64_t v;
    if (!nb::try_cast(h, v)) raise(overflow_error("a size must fit 64 bits, found " + std::string(nb::repr(h).c_str())));
    return dims_->constant(v);
  }
  std::vector<Dim> dim_list(nb::handle list) const {
    std::vector<Dim> out;
    for (nb::handle h : list) out.push_back(dim(h));
    return out;
  }
  nb::object out(Dim d) const { return dim_out(d, dims_); }
  TensorType tensor_type(const PyDType& dtype, nb::handle shape) const {
    TensorType t;
    t.dtype = dtype.dtype;
    if (shape.is_none()) {
      t.unknown_rank = t.strided = true;
      return t;
    }
    t.shape = dim_list(shape);
    if (t.shape.size() > kMaxRank) raise(invalid_argument("rank " + std::to_string(t.shape.size()) + ": at most " + std::to_string(kMaxRank) + " is possible"));
    return t;
  }
  RegType reg_type(const std::string& kind, nb::handle dtype, nb::handle shape) const {
    RegType t;
    t.kind = kind_named(kind);
    if (t.kind == RegKind::kTensor) t.tensor = tensor_type(nb::cast<const PyDType&>(dtype), shape);
    if (t.kind == RegKind::kList) t.tensor.dtype = nb::cast<const PyDType&>(dtype).dtype;
    return t;
  }
  Reg reg(Reg r) {
    if (r < 0 || static_cast<size_t>(r) >= fb_.function().regs.size()) raise(internal_error("there is no register " + std::to_string(r)));
    return r;
  }

  nb::object symbol(const std::string& name, int64_t min, std::optional<int64_t> max, int64_t divisor, int64_t remainder) {
    return out(mb_.symbol(SymbolInfo{.name = name, .min = min, .max = max.value_or(INT64_MAX), .divisor = divisor, .remainder = remainder}));
  }
  nb::object fresh_symbol(const std::string& hint) { return out(mb_.fresh_symbol(hint)); }

  /// As an expression; through an instruction where it would grow beyond what expressions may.
  nb::object calc(const std::string& name, nb::handle a, nb::handle b) {
    const CalcOp op = named(calc_op_from_name(name), name);
    const Dim x = dim(a), y = b.is_none() ? Dim() : dim(b);
    Dim d;
    switch (op) {
      case CalcOp::kAdd: d = dims_->add(x, y); break;
      case CalcOp::kSub: d = dims_->sub(x, y); break;
      case CalcOp::kMul: d = dims_->mul(x, y); break;
      case CalcOp::kFloorDiv: d = dims_->floordiv(x, y); break;
      case CalcOp::kCeilDiv: d = dims_->ceildiv(x, y); break;
      case CalcOp::kMod: d = dims_->mod(x, y); break;
      case CalcOp::kMin: d = dims_->min(x, y); break;
      case CalcOp::kMax: d = dims_->max(x, y); break;
      case CalcOp::kNeg: d = dims_->neg(x); break;
      default: break;
    }
    if (!d.valid() && !(x.is_const() && y.is_const())) d = fb().calc(op, x, y);
    return out(d);
  }
  /// True, False or None: not known before it runs.
  nb::object compare_known(const std::string& name, nb::handle a, nb::handle b) {
    const Dim d = dims_->sub(dim(a), dim(b));
    if (!d.valid()) return nb::none();
    const DimRange r = dims_->range(d);
    auto known = [](bool yes, bool no) -> nb::object { if (!yes && !no) return nb::none();
      return nb::bool_(yes);
    };
    const bool equal = r.min == 0 && r.max == 0, unequal = r.min > 0 || r.max < 0;
    switch (named(calc_op_from_name(name), name)) {
      case CalcOp::kEq: return known(equal, unequal);
      case CalcOp::kNe: return known(unequal, equal);
      case CalcOp::kLt: return known(r.max < 0, r.min >= 0);
      case CalcOp::kLe: return known(r.max <= 0, r.min > 0);
      case CalcOp::kGt: return known(r.min > 0, r.max <= 0);
      case CalcOp::kGe: return known(r.min >= 0, r.max < 0);
      default: return nb::none();
    }
  }
  nb::object range(nb::handle a) {
    const DimRange r = dims_->range(dim(a));
    return nb::make_tuple(r.min, r.max);
  }

  Reg constant(const std::string& name, const PyDType& dtype, nb::ndarray<nb::ro, nb::c_contig> a) {
    std::vector<int64_t> shape;
    for (size_t i = 0; i < a.ndim(); ++i) shape.push_back(static_cast<int64_t>(a.shape(i)));
    constexpr size_t kWorthSharing = 4096;
    if (a.nbytes() < kWorthSharing || reinterpret_cast<uintptr_t>(a.data()) % 64 != 0) return fb().constant(mb_.add_constant(name, dtype.dtype, shape, a.data(), a.nbytes()));
    Constant c;
    c.name = name;
    c.type.dtype = dtype.dtype;
    for (int64_t d : shape) c.type.shape.push_back(dims_->constant(d));
    c.data = static_cast<const std::byte*>(a.data());
    c.bytes = a.nbytes();
    // An ndarray drops its owner under the GIL.
    c.keep_alive = std::make_shared<nb::ndarray<nb::ro, nb::c_contig>>(a);
    return fb().constant(mb_.add_constant(std::move(c)));
  }

  nb::tuple type(Reg r) {
    const RegType& t = fb_.type(reg(r));
    if (t.kind == RegKind::kList) return nb::make_tuple("list", dtype_object(t.tensor.dtype), nb::none());
    if (t.kind != RegKind::kTensor) return nb::make_tuple(kind_object(t.kind), nb::none(), nb::none());
    if (t.tensor.unknown_rank) return nb::make_tuple("tensor", dtype_object(t.tensor.dtype), nb::none());
    nb::list shape;
    for (Dim d : t.tensor.shape) shape.append(out(d));
    return nb::make_tuple("tensor", dtype_object(t.tensor.dtype), nb::tuple(shape));
  }

  nb::object call(const std::string& op, const std::vector<Reg>& inputs, nb::handle args, const nb::dict& attrs, const std::vector<bool>& wanted) {
    std::vector<Reg> outs = unwrap(emitter().call(op, inputs, dim_list(args), attributes(attrs), wanted));
    for (Reg& r : outs)
      if (r != kNoReg) r = compact(r);
    return nb::cast(outs);
  }

  /// Sizes whose expressions have grown get a register: where operators stack up, expressions would double with each.
  Reg compact(Reg r) {
    constexpr uint32_t kLarge = 40;
    if (fb_.type(r).kind != RegKind::kTensor) return r;
    TensorType t = fb_.tensor_type(r);
    bool changed = false;
    for (Dim& d : t.shape) {
      if (!d.node() || d.node()->weight <= kLarge) continue;
      auto [it, fresh] = compacted_.try_emplace({d.key(), fb_.current()});
      if (fresh) {
        // A register whose value nobody looks through: the verifier would put the expression in its place.
        it->second = fb().select(fb().compare(CalcOp::kGe, d, dims_->constant(1)), d, dims_->constant(0));
        fb().shape_assert(fb().compare(CalcOp::kGe, it->second, dims_->constant(0)), "a size isn't negative");
      }
      d = it->second;
      changed = true;
    }
    return changed ? fb().narrow(r, t) : r;
  }

  nb::object call_declared(const std::string& op, const std::vector<Reg>& inputs, nb::handle args, const nb::dict& attrs, nb::handle types) {
    Attributes a = attributes(attrs);
    std::vector<std::optional<TensorType>> outs;
    for (nb::handle type : types) {
      TensorType t;
      t.dtype = nb::cast<const PyDType&>(type[0]).dtype;
      for (nb::handle size : type[1]) t.shape.push_back(size.is_none() ? Dim() : dim(size));
      if (t.shape.size() > kMaxRank) raise(invalid_argument(op + ": rank " + std::to_string(t.shape.size()) + ": at most " + std::to_string(kMaxRank) + " is possible"));
      outs.emplace_back(std::move(t));
    }
    return nb::cast(unwrap(emitter().call_declared(op, inputs, dim_list(args), std::move(a), std::move(outs))));
  }

  /// A PHI whose type holds all of them: sizes that differ are new symbols, another rank makes it any.
  Reg phi_of(const std::vector<Reg>& regs) {
    TensorType t = fb_.tensor_type(reg(regs.at(0)));
    t.filled.reset();
    for (Reg r : regs) {
      const TensorType& o = fb_.tensor_type(reg(r));
      t.strided |= o.strided;
      if (o.unknown_rank || o.rank() != t.rank()) t.unknown_rank = true;
    }
    if (t.unknown_rank) {
      t.shape.clear();
      t.strided = true;
    }
    for (size_t i = 0; i < t.shape.size(); ++i) {
      bool differ = false;
      for (Reg r : regs) differ |= fb_.tensor_type(r).shape[i] != t.shape[i];
      if (differ) t.shape[i] = mb_.fresh_symbol("d");
    }
    return fb().phi({RegKind::kTensor, t});
  }
  /// A loop's PHI: of the type of `r`, but for the axes that change from turn to turn.
  Reg phi_varying(Reg r, const std::vector<int>& axes, bool strided, bool any_rank) {
    TensorType t = fb_.tensor_type(reg(r));
    t.filled.reset();
    t.strided |= strided || any_rank;
    t.unknown_rank |= any_rank;
    if (t.unknown_rank) t.shape.clear();
    for (int axis : axes)
      if (axis < t.rank()) t.shape[static_cast<size_t>(axis)] = mb_.fresh_symbol("d");
    return fb().phi({RegKind::kTensor, t});
  }

  /// The program of a file as part of this one. Arguments and results: registers, and sizes where the program has integers.
  nb::list inline_program(const PyExecutable& program, nb::handle arguments) {
    if (!program.file) raise(unsupported("a program that came from no file can't be called within another; call the function that it was made of"));
    std::shared_ptr<const VerifiedModule> callee;
    {
      FreeGil free;
      auto read = program.file->read_again();
      if (read.ok()) callee = std::move(*read);
      else failed_ = read.status();
    }
    if (!callee) raise(std::exchange(failed_, Status()));
    const Function& f = callee->module().functions.at(0);
    std::vector<InlineValue> values;
    size_t k = 0;
    for (nb::handle h : arguments) {
      if (k < f.inputs.size() && f.inputs[k].type.kind == RegKind::kI64) values.push_back({kNoReg, dim(h)});
      else values.push_back({reg(nb::cast<Reg>(h)), {}});
      ++k;
    }
    nb::list results;
    for (const InlineValue& v : unwrap(inline_function(fb(), callee->module(), values))) {
      if (v.dim.valid()) results.append(nb::make_tuple("i64", out(v.dim)));
      else results.append(nb::make_tuple(kind_object(fb_.type(v.reg).kind), v.reg));
    }
    return results;
  }

  PyModule* finish() {
    unwrap(fb_.finish());
    return new PyModule{mb_.take()};
  }

  FunctionBuilder& fb() {
    if (moved_) {
      fb_.set_debug(place_);
      moved_ = false;
    }
    return fb_;
  }
  Emitter& emitter() { return fb(), emitter_; }
  /// Where instructions that follow come from. Most places have none.
  void set_origins(const std::string& file, const std::vector<std::string>& functions) {
    place_.file = file;
    place_.origins = functions;
    moved_ = true;
  }
  void set_line(int32_t line, int32_t column) {
    place_.line = line;
    place_.column = column;
    moved_ = true;
  }

  /// How far the program is made. What is made after it can be forgotten, as often as wanted.
  struct Mark {
    FunctionBuilder::Mark function;
    std::map<std::pair<uintptr_t, BlockId>, Dim> compacted;
  };
  Mark mark() { return {fb_.mark(), compacted_}; }
  void rollback(const Mark& m) {
    fb_.rollback(m.function);
    compacted_ = m.compacted;
    moved_ = true;
  }

 private:
  ModuleBuilder mb_;
  FunctionBuilder fb_;
  Emitter emitter_;
  std::shared_ptr<DimContext> dims_;
  DebugInfo place_;
  bool moved_ = false;  // fb_ doesn't know yet
  Status failed_;
  std::map<std::pair<uintptr_t, BlockId>, Dim> compacted_;  // by expression and block
};

}  // namespace

void bind_builder(nb::module_& m) {
  using B = PyBuilder;
  nb::class_<PyModule>(m, "Module").def("disassemble", [](const PyModule& p) { return text(disassemble(p.module, {.max_inline_bytes = 256})); });
  nb::class_<PyDim>(m, "Dim")
      .def("__str__", [](const PyDim& d) { return d.dims->to_string(d.dim); })
      .def("__repr__", [](const PyDim& d) { return d.dims->to_string(d.dim); })
      .def("__eq__", [](const PyDim& a, nb::handle b) { return nb::isinstance<PyDim>(b) && nb::cast<const PyDim&>(b).dim == a.dim; }, nb::is_operator())
      .def("__hash__", [](const PyDim& d) { return DimHash()(d.dim) & INT64_MAX; });
  nb::class_<B::Mark>(m, "BuilderMark").def_prop_ro("registers", [](const B::Mark& k) { return k.function.regs; });
  nb::class_<B>(m, "Builder")
      .def(nb::init<const std::string&>())
      .def("symbol", &B::symbol, nb::arg("name"), nb::arg("min") = 0, nb::arg("max") = nb::none(), nb::arg("divisor") = 1, nb::arg("remainder") = 0)
      .def("fresh_symbol", &B::fresh_symbol)
      .def("calc", &B::calc, nb::arg("op"), nb::arg("a"), nb::arg("b") = nb::none())
      .def("compare_known", &B::compare_known)
      .def("range", &B::range)
      .def("compare", [](B& b, const std::string& op, nb::handle x, nb::handle y) { return b.fb().compare(named(calc_op_from_name(op), op), b.dim(x), b.dim(y)); })
      .def("logic", [](B& b, const std::string& op, Reg x, Reg y) { return b.fb().logic(named(calc_op_from_name(op), op), x, y); }, nb::arg("op"), nb::arg("a"), nb::arg("b") = kNoReg)
      .def("select", [](B& b, Reg cond, nb::handle x, nb::handle y) { return b.out(b.fb().select(cond, b.dim(x), b.dim(y))); })
      .def("dim", [](B& b, Reg r) { return b.out(b.fb().dim(b.reg(r))); })
      .def("input", [](B& b, const std::string& name, const PyDType& dtype, nb::handle shape, const std::vector<std::string>& axes) { return b.fb().input(name, b.tensor_type(dtype, shape), axes); },
           nb::arg("name"), nb::arg("dtype"), nb::arg("shape").none(), nb::arg("axes") = std::vector<std::string>())
      .def("scalar_input", [](B& b, const std::string& name, const std::string& kind) { return b.fb().scalar_input(name, kind_named(kind)); })
      .def("output", [](B& b, const std::string& name, const std::string& kind, nb::handle dtype, nb::handle shape) { b.fb().output(name, b.reg_type(kind, dtype, shape)); }, nb::arg("name"), nb::arg("kind"),
           nb::arg("dtype") = nb::none(), nb::arg("shape") = nb::none())
      .def("new_block", [](B& b) { return b.fb().new_block(); })
      .def("set_block", [](B& b, BlockId k) { b.fb().set_block(k); })
      .def("current", [](B& b) { return b.fb().current(); })
      .def("terminated", [](B& b) { return b.fb().terminated(); })
      .def("jump", [](B& b, BlockId k) { b.fb().jump(k); })
      .def("branch_if", [](B& b, Reg cond, BlockId yes, BlockId no) { b.fb().branch_if(cond, yes, no); })
      .def("trap", [](B& b, const std::string& message) { b.fb().trap(message); })
      .def("ret", [](B& b, const std::vector<Reg>& regs, nb::handle dims) { b.fb().ret(regs, b.dim_list(dims)); }, nb::arg("regs"), nb::arg("dims") = nb::make_tuple())
      .def("constant", &B::constant)
      .def("type", &B::type)
      .def("call", &B::call)
      .def("narrow", [](B& b, Reg r, const PyDType& dtype, nb::handle shape) {
        TensorType t = b.tensor_type(dtype, shape);
        t.strided |= b.fb().tensor_type(b.reg(r)).strided;
        return b.fb().narrow(r, t);
      })
      .def("call_declared", &B::call_declared)
      .def("identity", [](B& b, Reg r) { return b.fb().identity(b.reg(r)); })
      .def("copy", [](B& b, Reg r) { return b.fb().copy(b.reg(r)); })
      .def("slice", [](B& b, Reg r, const std::vector<int64_t>& axes, nb::handle from, nb::handle to, const std::vector<int64_t>& steps) { return b.fb().slice(b.reg(r), axes, b.dim_list(from), b.dim_list(to), steps); })
      .def("reshape", [](B& b, Reg r, nb::handle shape) { return b.fb().reshape(b.reg(r), b.dim_list(shape)); })
      .def("transpose", [](B& b, Reg r, const std::vector<int64_t>& permutation) { return b.fb().transpose(b.reg(r), permutation); })
      .def("broadcast", [](B& b, Reg r, nb::handle shape) { return b.fb().broadcast(b.reg(r), b.dim_list(shape)); })
      .def("squeeze", [](B& b, Reg r, const std::vector<int64_t>& axes) { return b.fb().squeeze(b.reg(r), axes); })
      .def("unsqueeze", [](B& b, Reg r, const std::vector<int64_t>& axes) { return b.fb().unsqueeze(b.reg(r), axes); })
      .def("read", [](B& b, Reg r, nb::handle index) { return b.fb().read(b.reg(r), b.dim_list(index)); })
      .def("list_make", [](B& b, const PyDType& dtype, const std::vector<Reg>& items) { return b.fb().list_make(dtype.dtype, items); })
      .def("list_append", [](B& b, Reg list, Reg item) { return b.fb().list_append(b.reg(list), b.reg(item)); })
      .def("list_get", [](B& b, Reg list, nb::handle index) { return b.fb().list_get(b.reg(list), b.dim(index)); })
      .def("list_length", [](B& b, Reg list) { return b.out(b.fb().list_length(b.reg(list))); })
      .def("captured", [](B& b, const std::string& name, int64_t value) {  // a burned-in int that the SCD report names
        Instr i;
        i.op = Opcode::kScalarConst;
        i.defs = {b.fb().new_reg({RegKind::kI64, {}})};
        i.imms = {value};
        i.text = name;
        const Reg r = i.defs[0];
        b.fb().append(std::move(i));
        return b.out(b.fb().dim(r));
      })
      .def("scalar_const", [](B& b, double v) { return b.fb().scalar_const(v); })
      .def("scalar_const_bool", [](B& b, bool v) { return b.fb().scalar_const_bool(v); })
      .def("scalar_calc", [](B& b, const std::string& op, Reg x, Reg y) { return b.fb().scalar_calc(named(scalar_op_from_name(op), op), b.reg(x), y); }, nb::arg("op"), nb::arg("a"), nb::arg("b") = kNoReg)
      .def("scalar_from_int", [](B& b, nb::handle d) { return b.fb().scalar_from_int(b.dim(d)); })
      .def("scalar_to_int", [](B& b, Reg r) { return b.out(b.fb().scalar_to_int(b.reg(r))); })
      .def("shape_assert", [](B& b, Reg cond, const std::string& message) { b.fb().shape_assert(b.reg(cond), message); })
      .def("phi", [](B& b, const std::string& kind, nb::handle dtype, nb::handle shape) { return b.fb().phi(b.reg_type(kind, dtype, shape)); }, nb::arg("kind"), nb::arg("dtype") = nb::none(),
           nb::arg("shape") = nb::none())
      .def("phi_of", &B::phi_of)
      .def("phi_varying", &B::phi_varying)
      .def("is_strided", [](B& b, Reg r) { return b.fb().tensor_type(b.reg(r)).strided; })
      .def("add_phi_reg", [](B& b, Reg phi, BlockId from, Reg value) { b.fb().add_phi_input(b.reg(phi), {from, value, {}}); })
      .def("add_phi_dim", [](B& b, Reg phi, BlockId from, nb::handle value) { b.fb().add_phi_input(b.reg(phi), {from, kNoReg, b.dim(value)}); })
      .def("set_origins", &B::set_origins)
      .def("set_line", &B::set_line)
      .def("set_name", [](B& b, Reg r, const std::string& name) { b.fb().set_name(b.reg(r), name); })
      .def("inline_program", &B::inline_program)
      .def("mark", &B::mark)
      .def("rollback", &B::rollback)
      .def("finish", &B::finish);
}

}  // namespace msvm::python
