#include "observe/dap/merge/threads.h"

namespace msvm::observe::dap::merge {
namespace {

constexpr int64_t kOnlyInBytecode = 1 << 20;  // ids of threads that debugpy doesn't know begin here

}  // namespace

Thread& Threads::of_python(int64_t id) {
  Thread& t = all_[id];
  t.id = t.python = id;
  return t;
}

Thread& Threads::of_bytecode(int64_t id, int64_t host) {
  const auto known = by_bytecode_.find(id);
  if (host <= 0) {
    const int64_t own = known != by_bytecode_.end() ? known->second : kOnlyInBytecode + id;
    by_bytecode_[id] = own;
    Thread& t = all_[own];
    t.id = own;
    t.bytecode = id;
    return t;
  }
  if (known != by_bytecode_.end() && known->second != host) all_.erase(known->second);  // debugpy has come to know it
  by_bytecode_[id] = host;
  Thread& t = of_python(host);
  t.bytecode = id;
  return t;
}

Thread* Threads::find(int64_t id) {
  const auto at = all_.find(id);
  return at == all_.end() ? nullptr : &at->second;
}

void Threads::erase_python(int64_t id) {
  const auto at = all_.find(id);
  if (at == all_.end()) return;
  if (at->second.bytecode >= 0) by_bytecode_.erase(at->second.bytecode);
  all_.erase(at);
}

}  // namespace msvm::observe::dap::merge
