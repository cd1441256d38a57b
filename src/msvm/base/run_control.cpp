#include "msvm/base/run_control.h"

#include "msvm/base/ticks.h"

namespace msvm {
namespace {

thread_local RunControl* t_current = nullptr;

}  // namespace

bool RunControl::look_at_clock() {
  int64_t now = ticks();
  if (now >= next_look_) {
    next_look_ = look();
    now = ticks();
  }
  polls_ = next_look_ == INT64_MAX ? kNever : now - last_ < kQuick ? kPolls : 1;
  last_ = now;
  return stopped();
}

RunControl* RunControl::current() { return t_current; }
RunControl::Scope::Scope(RunControl* control) : outer_(t_current) { t_current = control; }
RunControl::Scope::~Scope() { t_current = outer_; }

}  // namespace msvm
