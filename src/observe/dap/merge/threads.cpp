#include "observe/dap/merge/threads.h"

namespace msvm::observe::dap::merge {
namespace {

constexpr int64_t kOnlyInBytecode = 1 << 20;  // ids of threads that debugpy doesn't know begin here

}  // namespace

Thread& Threads::of_python(int64_t id) {
  const int64_t own = by_python_.try_emplace(id, id).first->second;
  Thread& t = all_[own];
  t.id = own;
  t.python = id;
  return t;
}

Thread& Threads::of_bytecode(int64_t id, int64_t host) {
  const auto known = by_bytecode_.find(id);
  if (known == by_bytecode_.end() && host <= 0) {
    const int64_t own = by_bytecode_[id] = kOnlyInBytecode + id;
    Thread& t = all_[own];
    t.id = own;
    t.bytecode = id;
    return t;
  }
  if (known != by_bytecode_.end()) {
    Thread& t = all_.at(known->second);
    if (host <= 0 || t.python == host) return t;
    const auto theirs = by_python_.find(host);  // debugpy has come to know it
    if (t.stopped || theirs == by_python_.end()) {
      if (theirs != by_python_.end()) all_.erase(theirs->second);
      by_python_[host] = t.id;
      t.python = host;
      return t;
    }
    all_.erase(t.id);
  }
  Thread& t = of_python(host);
  t.bytecode = id;
  by_bytecode_[id] = t.id;
  return t;
}

Thread* Threads::find(int64_t id) {
  const auto at = all_.find(id);
  return at == all_.end() ? nullptr : &at->second;
}

int64_t Threads::erase_python(int64_t id) {
  const auto known = by_python_.find(id);
  if (known == by_python_.end()) return id;
  const int64_t own = known->second;
  by_python_.erase(known);
  const auto at = all_.find(own);
  if (at == all_.end()) return own;
  if (at->second.bytecode >= 0) by_bytecode_.erase(at->second.bytecode);
  all_.erase(at);
  return own;
}

}  // namespace msvm::observe::dap::merge
