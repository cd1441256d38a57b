// numpy arrays and Python scalars to and from values of the engine.
#pragma once
#include "dtypes.h"
#include "msvm/engine/engine.h"

namespace msvm::python {

/// Input `k` of a program. Arrays are borrowed: the caller keeps `h` while the run lasts.
Value value_in(nb::handle h, const Param& p, size_t k, const DimContext& dims, Engine& engine);
/// A numpy array of str; `expected` begins the message if it isn't one.
TensorValue strings_in(nb::handle h, const std::string& expected, Engine& engine);
/// Arrays own their memory.
nb::object value_out(Value& v);
/// An array of objects.
nb::object strings_out(const TensorMeta& t);

}  // namespace msvm::python
