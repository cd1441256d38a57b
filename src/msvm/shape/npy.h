// numpy's array files: what stands before the elements.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "msvm/shape/dtype.h"

namespace msvm {

/// Of version 1, C order, native bytes; its length is a multiple of 64. bf16, which numpy doesn't know, as u2.
std::string npy_header(DType dtype, std::span<const int64_t> shape);

}  // namespace msvm
