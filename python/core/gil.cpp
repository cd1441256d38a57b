#include "gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace msvm::python {
namespace {

/// The process ends; nobody waits for this thread.
[[noreturn]] void stay() {
  for (;;) pause();
}

}  // namespace

bool interpreter_ends() {
#if PY_VERSION_HEX >= 0x030D0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

// CPython ends a thread with pthread_exit, which comes here as an exception of its own kind. It must go on being thrown or never return.
FreeGil::~FreeGil() {
  try {
    PyEval_RestoreThread(state_);
  } catch (abi::__forced_unwind&) {
    stay();
  }
}

HoldGil::HoldGil() {
  try {
    state_ = PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    stay();
  }
}

PyObject* call_python(PyObject* callable, PyObject* args, PyObject* kwargs) {
  try {
    return PyObject_Call(callable, args, kwargs);
  } catch (abi::__forced_unwind&) {
    stay();
  }
}

void drop_reference(PyObject* o) noexcept {
  if (!o || interpreter_ends()) return;
  if (PyGILState_Check()) {
    Py_DECREF(o);
    return;
  }
  HoldGil hold;
  Py_DECREF(o);
}

}  // namespace msvm::python
