#include "msvm/engine/sim_stream.h"

namespace msvm {

void SimStream::push(std::string what, std::function<Status()> job) {
  device_.queue->push([this, what = std::move(what), job = std::move(job)] {
    if (!failed_.ok()) return;
    if (Status s = job(); !s.ok()) failed_ = s.with_context(to_string(device_.device) + ": " + what + ": ");
    scratch_.reset();
  });
}

Status SimStream::wait() {
  device_.queue->wait();
  ++epoch_;
  return std::exchange(failed_, Status());
}

Status SimStream::run(std::string what, std::function<Status()> job) {
  push(std::move(what), std::move(job));
  return wait();
}

}  // namespace msvm
