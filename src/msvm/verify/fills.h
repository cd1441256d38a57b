// Which part of a tensor its windows have written.
#pragma once
#include "msvm/verify/sizes.h"

namespace msvm::verification {

/// Disjoint, non-adjacent intervals along one axis.
struct Fill {
  struct Part {
    Dim from, to;
    bool operator==(const Part&) const = default;
  };
  int axis = 0;
  std::vector<Part> parts;
  bool operator==(const Fill&) const = default;
};

constexpr size_t kMaxFillParts = 16;

enum class AddPart : uint8_t { kAdded, kOtherAxis, kMayOverlap, kTooManyParts };

/// Adds [from, to); what can't be proved disjoint is refused.
AddPart add_part(const Sizes& sizes, Fill& fill, int axis, Dim from, Dim to);
bool covers(const Sizes& sizes, const Fill& fill, int axis, Dim from, Dim to);
/// One part from 0 to `size`, proved.
bool is_complete(const Sizes& sizes, Context& c, const Fill& fill, Dim size);
std::string to_text(const Context& c, const Fill& fill);

}  // namespace msvm::verification
