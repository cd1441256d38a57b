// The loop for all but debuggers, whose instantiation lies in a file of its own: it changes nothing of what the compiler makes of these.
#include "msvm/vm/loop.h"

namespace msvm::vm {

Status interpret(RunContext& context, Frame& frame, std::vector<Value>& results, bool profile) {
  if (context.tracer) [[unlikely]] {
    if (profile) return Interpreter<Loop::kProfileAndTrace>(context, frame, results).run();
    return Interpreter<Loop::kTrace>(context, frame, results).run();
  }
  if (profile) return Interpreter<Loop::kProfile>(context, frame, results).run();
  return Interpreter<Loop::kPlain>(context, frame, results).run();
}

Status dry_run(RunContext& context, Frame& frame, const Code* region, RegionRecord& record, int32_t& instr) {
  std::vector<Value> none;
  return Interpreter<Loop::kDry>(context, frame, record, none).run_region(region, instr);
}

}  // namespace msvm::vm
