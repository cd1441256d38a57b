#include "gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace msvm::python {
namespace {

[[noreturn]] void wait_for_the_end() {
  for (;;) pause();
}

}  // namespace

bool interpreter_ends() { return !Py_IsInitialized() || _Py_IsFinalizing(); }

void take_gil(PyThreadState* state) noexcept {
  // A daemon thread that asks for the GIL of an interpreter that ends is ended by unwinding its stack. Destructors that run then
  // would touch Python's objects without the GIL, and noexcept frames would abort the process.
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

GilHold::GilHold() {
  try {
    state_ = PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

PyObject* call_python(PyObject* callable, PyObject* args, PyObject* kwargs) noexcept {
  try {
    return PyObject_Call(callable, args, kwargs);
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

void drop_reference(PyObject* o) noexcept {
  if (!o || interpreter_ends()) return;
  if (PyGILState_Check()) {
    Py_DECREF(o);
    return;
  }
  try {
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(o);
    PyGILState_Release(state);
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

}  // namespace msvm::python
