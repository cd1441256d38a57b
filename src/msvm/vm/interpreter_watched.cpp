// The loop for debuggers.
#include "msvm/vm/loop.h"

namespace msvm::vm {

Status interpret_watched(RunContext& context, Frame& frame, std::vector<Value>& results) {
  return Interpreter<Loop::kDebug>(context, frame, results).run();
}

}  // namespace msvm::vm
