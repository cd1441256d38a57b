// Where images outlive the process.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "msvm/jit/compile/outcome.h"

namespace msvm::jit {

/// Called by the JIT thread. Must work in the child of a fork that happened at any time, so no lock is held in a call. A store that
/// can't do something does nothing.
class CodeStore {
 public:
  virtual ~CodeStore() = default;
  /// The image of an equal request, whole and unaltered, or null.
  virtual Image load(std::span<const std::byte> request) = 0;
  virtual void store(std::span<const std::byte> request, std::span<const std::byte> image, std::string_view label) = 0;
};

}  // namespace msvm::jit
