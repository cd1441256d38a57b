// The GIL: left and taken back in ways that are safe while the interpreter ends.
#pragma once
#include "common.h"

namespace msvm::python {

/// True once the interpreter has begun to end: threads that have no GIL then never get it again.
bool interpreter_ends();
/// PyEval_RestoreThread; where the interpreter ends meanwhile, the thread waits for the end of the process instead of unwinding.
void take_gil(PyThreadState* state) noexcept;

/// Without the GIL while it lives.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { take_gil(state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the GIL while it lives, in a thread that left it or never had it.
class GilHold {
 public:
  GilHold();
  ~GilHold() { PyGILState_Release(state_); }
  GilHold(const GilHold&) = delete;
  GilHold& operator=(const GilHold&) = delete;

 private:
  PyGILState_STATE state_;
};

/// PyObject_Call for Python code that a run calls, on whatever thread. Null: an exception is set.
PyObject* call_python(PyObject* callable, PyObject* args, PyObject* kwargs = nullptr) noexcept;

/// Drops a reference from any thread, with or without the GIL. At the interpreter's end the object stays.
void drop_reference(PyObject* o) noexcept;

}  // namespace msvm::python
