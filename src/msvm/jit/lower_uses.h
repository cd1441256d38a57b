// Which instructions touch which storage, and through which views: what a group may be moved past, and what it must store.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "msvm/jit/regions.h"

namespace msvm::jit::lowering {

/// A tensor as elements of another: along axis a of the view runs axis[a] of `base`; -1: none, it is of size 1 or broadcast.
struct Seen {
  Reg base;
  std::vector<int> axis;
  bool sure = true;  // false: whether an axis is broadcast depends on sizes
};

/// Of one region. Views, windows and narrower types share the storage of their source; nothing else does, as the verifier proved.
class Uses {
 public:
  Uses(const FunctionView& view, const Region& region);
  /// The register that owns the storage, as far as this function tells.
  Reg root(Reg tensor) const;
  /// Instructions of the region that write to the storage, ascending.
  std::span<const int32_t> writers(Reg root) const;
  /// Whether anything but the members (ascending) reads the storage.
  bool read_outside(Reg root, std::span<const int32_t> members) const;
  /// The first instruction that keeps the members from running at the place of the last one, or -1.
  int32_t obstacle(std::span<const int32_t> members) const;
  /// Down to the first tensor whose elements can't be named by axes any more.
  Seen seen(Reg tensor) const;

 private:
  const FunctionView& v_;
  std::unordered_map<Reg, std::vector<int32_t>> readers_, writers_;  // by root
  std::unordered_set<Reg> read_elsewhere_;  // roots
};

}  // namespace msvm::jit::lowering
