// Numbers that are inputs of programs, not constants of them.
#pragma once
#include <nanobind/nanobind.h>

#include "common.h"

namespace msvm::python {

/// An int, float or bool with the expression that it comes from, or a tuple of such. Never changes.
struct PyMutable {
  nb::object value;     // int, float, bool; a tuple of Mutables
  nb::object name;      // str or None
  nb::object op;        // "+", "-", ... or None: a leaf
  nb::object operands;  // tuple of Mutables and numbers; () at a leaf
};

/// Null if it isn't one.
PyMutable* mutable_of(PyObject* o);
/// Symbols for the axes of an array of this shape: mutables that gave sizes on this thread since the last call, in order, each to
/// an axis of its size. None if there is none. Forgets them.
nb::object take_axis_symbols(const int64_t* shape, size_t rank);
void bind_mutable(nb::module_& m);

}  // namespace msvm::python
