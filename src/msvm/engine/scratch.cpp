#include "msvm/engine/scratch.h"

#include <algorithm>

namespace msvm {
namespace {
constexpr int64_t kLeast = 1 << 16;
constexpr int64_t kPeriod = 1024;  // calls between two looks at what is held in vain
}  // namespace

Result<std::byte*> Scratch::take(int64_t bytes) {
  if (bytes >= 0 && bytes <= INT64_MAX - 64) bytes = (bytes + 63) / 64 * 64;  // else the pool says what is wrong
  const int64_t room = blocks_.empty() ? -1 : static_cast<int64_t>(blocks_.back()->bytes) - used_;
  if (bytes < 0 || bytes > room) {
    MSVM_ASSIGN_OR_RETURN(StorageRef block, pool_.allocate(bytes < 0 ? bytes : std::max(bytes, kLeast), MemoryOwner::kScratch));
    blocks_.push_back(std::move(block));
    used_ = 0;
  }
  std::byte* p = blocks_.back()->data + used_;
  used_ += bytes;
  wanted_ += std::max<int64_t>(bytes, 1);
  return p;
}

// Several blocks become one that holds as much as they did together.
void Scratch::settle() {
  most_ = std::max(most_, wanted_);
  bool renew = blocks_.size() > 1;
  if (++calls_ >= kPeriod) {
    renew = renew || static_cast<int64_t>(blocks_.back()->bytes) / 4 > std::max(most_, kLeast);
    calls_ = 0;
  } else if (renew) {
    most_ = std::max(most_, wanted_);
  }
  if (renew) {
    blocks_.clear();
    if (auto one = pool_.allocate(std::max(most_, kLeast), MemoryOwner::kScratch); one.ok()) blocks_.push_back(std::move(*one));
  }
  if (calls_ == 0) most_ = 0;
  used_ = wanted_ = 0;
}

}  // namespace msvm
