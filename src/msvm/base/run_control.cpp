#include "msvm/base/run_control.h"

namespace msvm {
namespace {

thread_local RunControl* t_current = nullptr;

}  // namespace

RunControl* RunControl::current() { return t_current; }
RunControl::Scope::Scope(RunControl* control) : outer_(t_current) { t_current = control; }
RunControl::Scope::~Scope() { t_current = outer_; }

}  // namespace msvm
