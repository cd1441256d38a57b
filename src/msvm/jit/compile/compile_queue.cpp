#include "msvm/jit/compile/compile_queue.h"

#include "msvm/jit/compile/compile_thread.h"

namespace msvm::jit {

CompileQueue::CompileQueue(QueueOptions options)
    : options_(std::move(options)), deadline_(options_.deadline), thread_(new Thread(*this)) {}

CompileQueue::~CompileQueue() {
  Thread* t = thread_.load();
  if (t->of_this_process()) t->end();
}

/// In the child of a fork the parent's one is left behind as it was: its lock may be held for ever, its thread doesn't exist here.
CompileQueue::Thread& CompileQueue::thread() const {
  Thread* t = thread_.load();
  if (t->of_this_process()) return *t;
  auto fresh = std::make_unique<Thread>(*this);
  if (thread_.compare_exchange_strong(t, fresh.get())) return *fresh.release();
  return *t;
}

void CompileQueue::submit(CompileJob job) { thread().submit(std::move(job)); }
void CompileQueue::post(Owner owner, Urgency urgency, std::function<void()> work) {
  thread().post(owner, urgency, std::move(work));
}
void CompileQueue::cancel(Owner owner) { thread().cancel(owner); }
QueueView CompileQueue::view() const { return thread().view(); }
void CompileQueue::drain() { thread().drain(); }
void CompileQueue::stop() { thread().stop(); }

void CompileQueue::set_deadline(double seconds) {
  deadline_ = seconds;
  something_changed();
}

}  // namespace msvm::jit
