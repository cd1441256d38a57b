// Element types as numpy, DLPack and Python name them.
#pragma once
#include <nanobind/ndarray.h>

#include <optional>

#include "common.h"
#include "msvm/shape/dtype.h"

namespace msvm::python {

std::optional<DType> dtype_of(nb::dlpack::dtype t);
/// bfloat16 goes out as the bits in uint16: numpy has none.
nb::dlpack::dtype dlpack_of(DType t);

/// `msvm.float32` and so on: one object per type, compared by identity.
struct PyDType {
  DType dtype;
};
nb::object dtype_object(DType t);
/// From a DType, a numpy dtype or scalar type, `float`, `int`, `bool`, or a name as "float32" or "f32". Raises TypeError.
DType to_dtype(nb::handle h);
/// By numpy's kind character and bytes per element; nullopt if there is none. bfloat16 has no kind of its own.
std::optional<DType> dtype_of_kind(char kind, int64_t itemsize);
void bind_dtypes(nb::module_& m);

}  // namespace msvm::python
