// Arguments of a call bound to parameters, as Python binds them.
#pragma once
#include <string>
#include <vector>

#include "key.h"

namespace msvm::python {

/// Parameters in Python's order: positional ones, `*args`, those by keyword only, `**kwargs`.
struct ParameterList {
  std::string function;                // for messages
  std::vector<Parameter> all;
  std::vector<nb::object> defaults;    // null: none
  size_t positional = 0, keyword_only = 0;
  bool var_positional = false, var_keyword = false;

  /// Fills `s.slots`, a value per parameter. Raises TypeError as Python does.
  void bind(Scratch& s, PyObject* const* args, size_t count, PyObject* keyword_names) const;

 private:
  size_t find(PyObject* name) const;
  [[noreturn]] void raise_too_many(size_t given) const;
  [[noreturn]] void raise_missing(const Scratch& s, bool keyword_only_ones) const;
  void bind_slowly(Scratch& s, PyObject* const* args, size_t count, PyObject* keyword_names) const;
};

}  // namespace msvm::python
