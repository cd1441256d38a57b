// What every binding needs: text of any bytes, Status to exception.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <string_view>
#include <utility>

#include "msvm/base/status.h"

namespace msvm::python {

namespace nb = nanobind;

/// Names and messages may hold any bytes: those that aren't UTF-8 come as \xNN.
nb::str text(std::string_view s);
/// str(h.attribute)
std::string shown(nb::handle h, const char* attribute);
/// As the exception of msvm._errors for its code.
[[noreturn]] void raise(const Status& s);
template <class T> T unwrap(Result<T> r) {
  if (!r.ok()) raise(r.status());
  return std::move(r).value();
}
inline void unwrap(const Status& s) {
  if (!s.ok()) raise(s);
}
/// Refuses zero bytes.
std::string path_of(const nb::bytes& path);

}  // namespace msvm::python
