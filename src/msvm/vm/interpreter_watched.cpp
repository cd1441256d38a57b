// The loop for debuggers.
#include "msvm/vm/loop.h"

namespace msvm::vm {

Status interpret_watched(RunContext& context, Frame& frame, std::vector<Value>& results, bool profile) {
  return Interpreter<Loop::kDebug>(context, frame, results, profile).run();
}

}  // namespace msvm::vm
