#include "custom.h"

#include "dtypes.h"
#include "msvm/kernels/c_kernel.h"
#include "msvm/kernels/copy.h"
#include "msvm/kernels/print.h"
#include "run.h"
#include "values.h"

namespace msvm::python {
namespace {

constexpr int kMostOutputs = 32, kMostArgs = 64;

/// A Python object that C++ holds for programs.
class Held {
 public:
  explicit Held(nb::object o) : object_(o.release().ptr()) {}
  ~Held() { drop_reference(object_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  PyObject* get() const { return object_; }

 private:
  PyObject* const object_;
};

nb::object attribute_out(const AttrValue& v) {
  if (auto* i = std::get_if<int64_t>(&v)) return nb::cast(*i);
  if (auto* d = std::get_if<double>(&v)) return nb::cast(*d);
  if (auto* s = std::get_if<std::string>(&v)) return text(*s);
  if (auto* t = std::get_if<DType>(&v)) return dtype_object(*t);
  nb::list list;
  if (auto* l = std::get_if<std::vector<int64_t>>(&v))
    for (int64_t x : *l) list.append(x);
  if (auto* l = std::get_if<std::vector<double>>(&v))
    for (double x : *l) list.append(x);
  if (auto* l = std::get_if<std::vector<std::string>>(&v))
    for (const std::string& x : *l) list.append(text(x));
  return nb::tuple(list);
}

/// An array of memory that lasts as long as the call.
template <class... Access> nb::object view(const TensorMeta& m) {
  static std::byte empty;
  size_t shape[kMaxRank];
  for (size_t i = 0; i < m.rank; ++i) shape[i] = static_cast<size_t>(m.shape[i]);
  nb::ndarray<nb::numpy, Access...> a(m.data ? m.data : &empty, m.rank, shape, nb::handle(), m.strides.data(), dlpack_of(m.dtype));
  return nb::cast(a, nb::rv_policy::reference);
}

/// Views that were handed out. What still refers to one when the call ends gets a copy; views of views can't be helped.
class Views {
 public:
  ~Views() { settle(); }
  nb::object add(nb::object o, std::string name) {
    views_.emplace_back(o, std::move(name));
    return o;
  }
  /// The name of the first that is still referred to, or nothing.
  std::string settle() {
    std::string kept;
    for (auto& [view, name] : views_) {
      if (Py_REFCNT(view.ptr()) == 1) continue;
      if (kept.empty()) kept = name;
      nb::error_scope unchanged;
      try {
        view.attr("__setstate__")(nb::make_tuple(1, view.attr("shape"), view.attr("dtype"), false, view.attr("tobytes")()));
      } catch (nb::python_error&) {
        // No memory for the copy.
      }
    }
    views_.clear();
    return kept;
  }

 private:
  std::vector<std::pair<nb::object, std::string>> views_;
};

/// Calls `run(inputs, args, attrs, outs, dtypes)`: read-only arrays (None: absent), ints, a dict, arrays to fill (None: not there yet) and
/// what they are of; it returns dense arrays in the order of the outputs, or None where it has filled `outs`. ops/_custom.py makes it.
class PyKernel final : public OperatorKernel {
 public:
  explicit PyKernel(nb::object run) : run_(std::move(run)) {}

  Status run(KernelCall& call) const override {
    HoldGil gil;
    const std::string name(call.op.name);
    try {
      Views views;
      Status s = run(call, views, name);
      if (const std::string kept = views.settle(); !kept.empty() && s.ok()) {
        PyErr_SetString(PyExc_RuntimeError, (name + ": the kernel keeps " + kept + " beyond its call, but the memory is the program's; keep a copy of it (x.copy())").c_str());
        return end_run_with_python_error(name);
      }
      return s;
    } catch (nb::python_error& e) {
      return end_run_with_python_error(e, name);
    }
  }
  bool same(const OperatorKernel& other) const override {
    const auto* k = dynamic_cast<const PyKernel*>(&other);
    return k && k->run_.get() == run_.get();
  }

 private:
  Status run(KernelCall& call, Views& views, const std::string& name) const {
    nb::list inputs, args, outs, dtypes;
    for (size_t i = 0; i < call.inputs.size(); ++i) inputs.append(call.inputs[i] ? views.add(view<nb::ro>(*call.inputs[i]), "input " + std::to_string(i)) : nb::none());
    for (int64_t a : call.args) args.append(a);
    nb::dict attrs;
    for (const Attr& a : call.attrs)
      if (a.name != "precision" && a.name != "fusion") attrs[text(a.name)] = attribute_out(a.value);
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const TensorMeta* m = call.outputs[i];
      outs.append(m && has_memory(call, i) ? views.add(view<>(*m), "output " + std::to_string(i)) : nb::none());
      dtypes.append(m ? dtype_object(m->dtype) : nb::none());
    }
    nb::object found;
    {
      nb::tuple all = nb::make_tuple(std::move(inputs), std::move(args), std::move(attrs), std::move(outs), std::move(dtypes));
      PyObject* result = call_python(run_.get(), all.ptr(), nullptr);
      if (!result) return end_run_with_python_error(name);
      found = nb::steal(result);
    }
    if (found.is_none()) return {};
    for (size_t i = 0; i < call.outputs.size(); ++i)
      if (call.outputs[i]) MSVM_RETURN_IF_ERROR(take(call, i, found[i]));
    return {};
  }

  static Status take(KernelCall& call, size_t i, nb::handle from) {
    nb::ndarray<nb::ro, nb::c_contig> a;
    std::optional<DType> dtype;
    if (nb::try_cast(from, a)) dtype = dtype_of(a.dtype());
    if (!dtype || a.ndim() > kMaxRank) return invalid_argument(std::string(call.op.name) + ": output " + std::to_string(i) + ": expected an array, found " + nb::repr(from.type()).c_str());
    TensorMeta source;
    source.dtype = *dtype == DType::kU16 && call.outputs[i]->dtype == DType::kBF16 ? DType::kBF16 : *dtype;
    source.rank = static_cast<uint8_t>(a.ndim());
    for (size_t k = 0; k < a.ndim(); ++k) source.shape[k] = static_cast<int64_t>(a.shape(k));
    if (!set_dense_strides(source)) return overflow_error("sizes overflow");
    source.data = static_cast<std::byte*>(const_cast<void*>(a.data()));
    MSVM_RETURN_IF_ERROR(provide_output(call, i, source.dtype, source.dims()));
    return copy(source, *call.outputs[i], call.workers);
  }

  Held run_;
};

/// A C function; what it is part of is kept.
class HeldCKernel final : public CKernel {
 public:
  HeldCKernel(msvm_kernel kernel, void* state, nb::object keep) : CKernel(kernel, state), keep_(std::move(keep)) {}

 private:
  Held keep_;
};

void add(const std::string& name, std::shared_ptr<OperatorKernel> kernel, bool pure, bool replace) {
  std::vector<std::string> names;
  for (int i = 0; i < kMostOutputs; ++i) names.push_back("output" + std::to_string(i));
  OpSchema row{.name = name, .inputs = {{"inputs", kNotString, 0, true}}, .variadic = true, .max_args = kMostArgs, .args_doc = "sizes", .min_outputs = 0, .doc = "Registered from Python."};
  for (const std::string& n : names) row.outputs.push_back({n});
  Status s;
  {
    FreeGil free;  // the kernel that was replaced takes it
    s = register_operator(std::move(row), {.any_attributes = true, .effect = !pure}, std::move(kernel), replace);
  }
  unwrap(s);
}

// --- print ---------------------------------------------------------------------------------------------------------------

nb::object printed(const TensorMeta& m, Views& views) {
  if (m.dtype == DType::kString) return strings_out(m);
  if (m.dtype != DType::kBF16) return views.add(view<nb::ro>(m), "");
  nb::module_ np = nb::module_::import_("numpy");
  nb::object bits = views.add(view<nb::ro>(m), "").attr("astype")("uint32");
  return np.attr("left_shift")(bits, 16).attr("view")("float32").attr("reshape")(bits.attr("shape"));
}

Status print_to_python(const PrintCall& call) {
  HoldGil gil;
  try {
    Views views;
    nb::list values;
    for (const TensorMeta* m : call.tensors) values.append(m ? printed(*m, views) : nb::none());
    for (int64_t s : call.sizes) values.append(s);
    nb::object write = nb::module_::import_("msvm._print").attr("write");
    nb::tuple all = nb::make_tuple(text(call.format), std::move(values));
    PyObject* done = call_python(write.ptr(), all.ptr(), nullptr);
    if (!done) return end_run_with_python_error("print");
    Py_DECREF(done);
    return {};
  } catch (nb::python_error& e) {
    return end_run_with_python_error(e, "print");
  }
}

}  // namespace

void bind_custom(nb::module_& m) {
  m.def(
      "register_operator", [](const std::string& name, nb::callable run, bool pure, bool replace) { add(name, std::make_shared<PyKernel>(std::move(run)), pure, replace); }, nb::arg("name"), nb::arg("run"),
      nb::arg("pure") = true, nb::arg("replace") = false);
  m.def(
      "register_c_operator",
      [](const std::string& name, uintptr_t kernel, uintptr_t state, nb::object keep, bool pure, bool replace) {
        if (!kernel) raise(invalid_argument(name + ": the address of the kernel is null"));
        add(name, std::make_shared<HeldCKernel>(reinterpret_cast<msvm_kernel>(kernel), reinterpret_cast<void*>(state), std::move(keep)), pure, replace);
      },
      nb::arg("name"), nb::arg("kernel"), nb::arg("state"), nb::arg("keep").none(), nb::arg("pure") = true, nb::arg("replace") = false);
  set_print_sink(print_to_python);
}

}  // namespace msvm::python
