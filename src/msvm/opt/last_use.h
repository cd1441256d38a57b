// Whether a call is the last to look at a tensor.
#pragma once
#include "msvm/opt/value_graph.h"

namespace msvm::opt {

class LastUse {
 public:
  explicit LastUse(ValueGraph& g) : g_(g) {}
  /// Whether `call` reads `r` once, what `r` is a view of belongs to this function alone, and nothing looks at any of it after the call.
  bool is(Reg r, const Node& call);

 private:
  bool readers_end(Reg r, const Node& call, size_t& seen);
  bool reached(BlockId block);

  ValueGraph& g_;
  BlockId from_ = 0, definition_ = 0;
  std::vector<uint8_t> reached_;  // by block, found when asked for
};

}  // namespace msvm::opt
