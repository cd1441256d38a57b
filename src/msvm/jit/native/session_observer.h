// What watches a session's regions, and what the engine asks it about one run.
#pragma once
#include <algorithm>

#include "msvm/vm/region_code.h"

namespace msvm::jit {

/// Of one session. Between runs, on the thread that has the session, the engine asks for the slowest tier that any region of the last run
/// ran in.
class SessionObserver : public RegionObserver {
 public:
  void run_begins() { slowest_ = kNoRegion; }
  /// 0 where no region ran: all was interpreted.
  int slowest_tier() const { return slowest_ == kNoRegion ? 0 : slowest_; }

 protected:
  void region_ran_in(int tier) { slowest_ = std::min(slowest_, tier); }

 private:
  static constexpr int kNoRegion = 3;
  int slowest_ = kNoRegion;
};

}  // namespace msvm::jit
