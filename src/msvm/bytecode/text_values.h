// Numbers as text, exactly: what is printed reads back to the same bits.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/shape/dtype.h"

namespace msvm {

/// The shortest text of a float that isn't mistaken for an integer: "1.0", "1e+30", "inf", "-inf", "nan",
/// "nan(0x7ff8000000000001)".
std::string float_text(double v);

/// Elements of a constant as numbers and true/false; none if that wouldn't be exact (NaNs, bytes of a bool other than 0 and 1)
/// or the dtype has no readable numbers (f16, bf16).
std::optional<std::vector<std::string>> element_texts(DType dtype, std::span<const std::byte> bytes);
/// Appends one element to `out`; false if the text isn't one of the dtype.
bool append_element(DType dtype, std::string_view text, std::vector<std::byte>& out);

}  // namespace msvm
