#include "arguments.h"

#include <algorithm>

namespace msvm::python {
namespace {

template <class... Args> [[noreturn]] void raise_type_error(const char* format, Args... args) {
  PyErr_Format(PyExc_TypeError, format, args...);
  throw nb::python_error();
}

/// "'a'", "'a' and 'b'", "'a', 'b', and 'c'"
std::string listed(const std::vector<std::string>& names) {
  std::string s;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i) s += names.size() == 2 ? " and " : i + 1 == names.size() ? ", and " : ", ";
    s += "'" + names[i] + "'";
  }
  return s;
}

}  // namespace

void ParameterList::bind(Scratch& s, PyObject* const* args, size_t count, PyObject* keyword_names) const {
  if (!keyword_names && count == positional && all.size() == positional) {
    s.slots.assign(args, args + count);
    return;
  }
  bind_slowly(s, args, count, keyword_names);
}

size_t ParameterList::find(PyObject* name) const {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].name.ptr() == name) return i;
  for (size_t i = 0; i < all.size(); ++i)
    if (PyUnicode_Compare(all[i].name.ptr(), name) == 0) return i;
  return all.size();
}

void ParameterList::raise_too_many(size_t given) const {
  size_t least = positional;
  while (least > 0 && defaults[least - 1].is_valid()) --least;
  const std::string takes = least == positional ? std::to_string(positional) : "from " + std::to_string(least) + " to " + std::to_string(positional);
  raise_type_error("%s() takes %s positional argument%s but %zu %s given", function.c_str(), takes.c_str(), positional == 1 && least == 1 ? "" : "s", given, given == 1 ? "was" : "were");
}

void ParameterList::raise_missing(const Scratch& s, bool keyword_only_ones) const {
  std::vector<std::string> names;
  const size_t first = keyword_only_ones ? positional + var_positional : 0, last = keyword_only_ones ? first + keyword_only : positional;
  for (size_t i = first; i < last; ++i)
    if (!s.slots[i]) names.push_back(nb::cast<std::string>(all[i].name));
  raise_type_error("%s() missing %zu required %s argument%s: %s", function.c_str(), names.size(), keyword_only_ones ? "keyword-only" : "positional", names.size() == 1 ? "" : "s", listed(names).c_str());
}

void ParameterList::bind_slowly(Scratch& s, PyObject* const* args, size_t count, PyObject* keyword_names) const {
  s.slots.assign(all.size(), nullptr);
  std::copy(args, args + std::min(count, positional), s.slots.begin());
  if (var_positional) {
    const size_t rest = count > positional ? count - positional : 0;
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(rest)));
    if (!tuple.is_valid()) throw nb::python_error();
    for (size_t i = 0; i < rest; ++i) PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(args[positional + i]));
    s.slots[positional] = tuple.ptr();
    s.keep.push_back(std::move(tuple));
  } else if (count > positional) {
    raise_too_many(count);
  }
  nb::object extra;
  if (var_keyword) extra = nb::dict();
  const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keyword_names, k);
    PyObject* value = args[count + static_cast<size_t>(k)];
    const size_t i = find(name);
    const bool collected = (var_positional && i == positional) || (var_keyword && i + 1 == all.size());
    if (i == all.size() || collected) {
      if (!var_keyword) raise_type_error("%s() got an unexpected keyword argument '%U'", function.c_str(), name);
      if (PyDict_SetItem(extra.ptr(), name, value) < 0) throw nb::python_error();
      continue;
    }
    if (s.slots[i]) raise_type_error("%s() got multiple values for argument '%U'", function.c_str(), name);
    s.slots[i] = value;
  }
  if (var_keyword) {
    s.slots.back() = extra.ptr();
    s.keep.push_back(std::move(extra));
  }
  bool missing = false, missing_keyword = false;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!s.slots[i]) s.slots[i] = defaults[i].ptr();
    if (!s.slots[i]) (i < positional ? missing : missing_keyword) = true;
  }
  if (missing) raise_missing(s, false);
  if (missing_keyword) raise_missing(s, true);
}

}  // namespace msvm::python
