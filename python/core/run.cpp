#include "run.h"

#include <algorithm>
#include <utility>

#include "msvm/base/ticks.h"

namespace msvm::python {
namespace {

constexpr double kLookNs = 20e6;       // between looks for signals
constexpr double kMostLookNs = 70e6;   // where other threads are slow to give the GIL
constexpr int64_t kWaitShare = 10;     // waiting for the GIL takes at most this part of the time

unsigned long g_main_thread = 0;

bool on_main_thread() {
  thread_local const bool main = PyThread_get_thread_ident() == g_main_thread;
  return main;
}

int64_t ticks_of(double ns) { return static_cast<int64_t>(ns / nanoseconds_per_tick()); }

class HostRun;
thread_local HostRun* t_run = nullptr;  // the innermost

/// One run from Python.
class HostRun final : public RunControl {
 public:
  HostRun() : outer_(t_run) {
    t_run = this;
    if (on_main_thread()) look_from(0);
  }
  ~HostRun() override {  // with the GIL
    t_run = outer_;
    Py_XDECREF(type_);
    Py_XDECREF(value_);
    Py_XDECREF(traceback_);
  }

  /// Takes the exception that is set; the first one counts.
  void keep_exception() {
    if (type_) return PyErr_Clear();
    PyErr_Fetch(&type_, &value_, &traceback_);
    PyErr_NormalizeException(&type_, &value_, &traceback_);
    if (traceback_ && value_) PyException_SetTraceback(value_, traceback_);
  }
  bool has_exception() const { return type_ != nullptr; }
  /// Raises it, with where in the program it was.
  [[noreturn]] void raise_exception(const Status& where) {
    if (!where.ok() && value_ && PyErr_GivenExceptionMatches(value_, PyExc_Exception)) {
      PyObject* done = PyObject_CallMethod(value_, "add_note", "O", text(where.message()).ptr());
      if (!done) PyErr_Clear();
      Py_XDECREF(done);
    }
    PyErr_Restore(std::exchange(type_, nullptr), std::exchange(value_, nullptr), std::exchange(traceback_, nullptr));
    throw nb::python_error();
  }

 protected:
  int64_t look() override {
    static const int64_t least = ticks_of(kLookNs), most = ticks_of(kMostLookNs);
    const int64_t asked = ticks();
    if (!std::exchange(begun_, true)) return asked + least;  // short runs don't ask for the GIL
    HoldGil gil;
    const int64_t waited = ticks() - asked;
    if (PyErr_CheckSignals() != 0) {
      keep_exception();
      stop();
    }
    return ticks() + std::clamp(waited * kWaitShare, least, most);
  }

 private:
  HostRun* const outer_;
  bool begun_ = false;
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

}  // namespace

Status run_without_gil(Executable& executable, std::span<const Value> inputs, std::vector<Value>& results, int32_t function) {
  HostRun run;
  Status status;
  {
    FreeGil free;
    status = executable.run(inputs, results, function, &run);
  }
  if (run.has_exception()) {
    results.clear();
    run.raise_exception(status);
  }
  return status;
}

Status end_run_with_python_error(std::string_view where) {
  if (t_run) t_run->keep_exception();
  else PyErr_WriteUnraisable(nullptr);  // a program that C++ runs
  return {StatusCode::kCancelled, std::string(where) + ": a Python exception"};
}

Status end_run_with_python_error(nb::python_error& error, std::string_view where) {
  error.restore();
  return end_run_with_python_error(where);
}

void bind_run(nb::module_&) {
  g_main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

}  // namespace msvm::python
