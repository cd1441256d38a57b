// The GIL around work without Python. When the process ends, CPython unwinds threads that ask for the GIL, through frames that can't be
// unwound: here such a thread stops for good instead.
#pragma once
#include "common.h"

namespace msvm::python {

/// True once the interpreter has begun to end: threads that have no GIL then never get it again.
bool interpreter_ends();

/// Gives the GIL away meanwhile.
class FreeGil {
 public:
  FreeGil() : state_(PyEval_SaveThread()) {}
  ~FreeGil();
  FreeGil(const FreeGil&) = delete;
  FreeGil& operator=(const FreeGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Takes the GIL in a thread that gave it away, or never had it.
class HoldGil {
 public:
  HoldGil();
  ~HoldGil() { PyGILState_Release(state_); }
  HoldGil(const HoldGil&) = delete;
  HoldGil& operator=(const HoldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Calls back into Python from within a run. Null: an exception is set.
PyObject* call_python(PyObject* callable, PyObject* args, PyObject* kwargs);

/// Drops a reference from any thread, with or without the GIL. At the interpreter's end the object stays.
void drop_reference(PyObject* o) noexcept;

}  // namespace msvm::python
