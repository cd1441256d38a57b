// Bytes with a keyed MAC (BLAKE2b, 256 bits) behind them: whoever has the key wrote exactly these bytes.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::jit {

inline constexpr size_t kMacBytes = 32;

/// The key of one user, in the file "key" of the private folder; erased from memory with the object. Works without locks.
class CodeKey {
 public:
  /// Reads the file, or makes it from the system's random numbers. A key that others could have read or that isn't whole is
  /// replaced.
  static Result<std::unique_ptr<CodeKey>> open(int folder, bool create);
  ~CodeKey();
  CodeKey(const CodeKey&) = delete;
  CodeKey& operator=(const CodeKey&) = delete;

  /// Appends the MAC of all of `bytes`.
  void seal(std::vector<std::byte>& bytes) const;
  /// Without the MAC, if it is right.
  std::optional<std::span<const std::byte>> unseal(std::span<const std::byte> bytes) const;

 private:
  CodeKey() = default;
  using Mac = std::array<unsigned char, kMacBytes>;
  Mac mac(std::span<const std::byte> bytes) const;
  std::array<unsigned char, 32> key_{};
};

/// 128 bits of a hash without a key, in hex: names of files.
std::string name_of(std::span<const std::byte> bytes);

}  // namespace msvm::jit
