// Which instructions touch which storage: what a group may be moved past.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "msvm/jit/function_view.h"

namespace msvm::jit::lowering {

/// An instruction that reads or writes elements of a storage, through whatever view.
struct Touch {
  int32_t instruction;
  bool writes;
};

/// Of a whole function. Views, windows and narrower types share the storage of their source; nothing else does, as the verifier proved.
class Uses {
 public:
  explicit Uses(const FunctionView& view);
  /// The register that owns the storage, as far as this function tells.
  Reg root(Reg tensor) const { return root_[static_cast<size_t>(tensor)]; }
  std::span<const Touch> touches(Reg root) const { return touches_[static_cast<size_t>(root)]; }  // ascending
  /// The register itself, or what it is another view of with the same elements in the same order.
  Reg same_elements(Reg tensor) const { return same_[static_cast<size_t>(tensor)]; }
  /// Whether anything but the members (ascending) reads the storage.
  bool read_outside(Reg root, std::span<const int32_t> members) const;
  /// The first instruction that keeps the members from running at the place of the last one, or -1.
  int32_t obstacle(std::span<const int32_t> members) const;

 private:
  const FunctionView& v_;
  std::vector<Reg> root_, same_;              // by register
  std::vector<std::vector<Touch>> touches_;   // by root
};

}  // namespace msvm::jit::lowering
