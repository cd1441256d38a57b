#include "msvm/bytecode/text_values.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace msvm {
namespace {

template <class T>
std::optional<std::string> element_text(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) return std::nullopt;
    if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
    return fmt::format("{}", v);
  } else {
    return fmt::format("{}", static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(v));
  }
}

template <class T>
std::optional<std::vector<std::string>> texts(std::span<const std::byte> bytes) {
  std::vector<std::string> out;
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T v;
    std::memcpy(&v, bytes.data() + at, sizeof v);
    auto text = element_text(v);
    if (!text) return std::nullopt;
    out.push_back(std::move(*text));
  }
  return out;
}

template <class T>
bool append(std::string_view text, std::vector<std::byte>& out) {
  T v{};
  if (std::is_floating_point_v<T> && (text == "inf" || text == "-inf")) {
    v = text == "inf" ? std::numeric_limits<T>::infinity() : static_cast<T>(-std::numeric_limits<T>::infinity());
  } else {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(v)) return false;
    }
  }
  size_t at = out.size();
  out.resize(at + sizeof v);
  std::memcpy(out.data() + at, &v, sizeof v);
  return true;
}

}  // namespace

std::string float_text(double v) {
  if (std::isnan(v)) {
    auto bits = std::bit_cast<uint64_t>(v);
    return bits == 0x7ff8000000000000u ? "nan" : fmt::format("nan(0x{:016x})", bits);
  }
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string s = fmt::format("{}", v);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

std::optional<std::vector<std::string>> element_texts(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kF64:
      return texts<double>(bytes);
    case DType::kF32:
      return texts<float>(bytes);
    case DType::kI8:
      return texts<int8_t>(bytes);
    case DType::kI16:
      return texts<int16_t>(bytes);
    case DType::kI32:
      return texts<int32_t>(bytes);
    case DType::kI64:
      return texts<int64_t>(bytes);
    case DType::kU8:
      return texts<uint8_t>(bytes);
    case DType::kU16:
      return texts<uint16_t>(bytes);
    case DType::kU32:
      return texts<uint32_t>(bytes);
    case DType::kU64:
      return texts<uint64_t>(bytes);
    case DType::kBool: {
      std::vector<std::string> out;
      for (std::byte b : bytes) {
        if (b > std::byte{1}) return std::nullopt;
        out.push_back(b == std::byte{1} ? "true" : "false");
      }
      return out;
    }
    case DType::kF16:
    case DType::kBF16:
    case DType::kString:
      return std::nullopt;
  }
  return std::nullopt;
}

bool append_element(DType dtype, std::string_view text, std::vector<std::byte>& out) {
  switch (dtype) {
    case DType::kF64:
      return append<double>(text, out);
    case DType::kF32:
      return append<float>(text, out);
    case DType::kI8:
      return append<int8_t>(text, out);
    case DType::kI16:
      return append<int16_t>(text, out);
    case DType::kI32:
      return append<int32_t>(text, out);
    case DType::kI64:
      return append<int64_t>(text, out);
    case DType::kU8:
      return append<uint8_t>(text, out);
    case DType::kU16:
      return append<uint16_t>(text, out);
    case DType::kU32:
      return append<uint32_t>(text, out);
    case DType::kU64:
      return append<uint64_t>(text, out);
    case DType::kBool:
      if (text != "true" && text != "false") return false;
      out.push_back(text == "true" ? std::byte{1} : std::byte{0});
      return true;
    case DType::kF16:
    case DType::kBF16:
    case DType::kString:
      return false;
  }
  return false;
}

}  // namespace msvm
