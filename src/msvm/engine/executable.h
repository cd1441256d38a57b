// Inside of an Executable. Private to the room.
#pragma once
#include <mutex>

#include "msvm/engine/dispatcher.h"
#include "msvm/engine/notes.h"
#include "msvm/jit/native/native_program.h"

namespace msvm {

struct PooledSession {
  PooledSession(std::shared_ptr<const Program> program, Devices& devices, const Limits& limits, PackedWeights* weights = nullptr,
                std::unique_ptr<jit::SessionObserver> seen_by = nullptr)
      : observer(std::move(seen_by)), allocator(devices), dispatcher(devices, weights, &program->verified()), profiles(program->module().functions.size()), session(std::move(program), dispatcher, allocator, limits) {
    session.set_observer(observer.get());
  }
  std::unique_ptr<jit::SessionObserver> observer;
  PoolAllocator allocator;
  SessionDispatcher dispatcher;
  std::array<LatencyHistogram, 3> latency;  // by tier; others read it at any time
  // As of the end of the last run: what others may read.
  Counters counters;
  WorkDone work;
  std::vector<std::vector<InstrProfile>> profiles;
  Session session;
};

struct Executable::Impl {
  std::shared_ptr<Engine> engine;
  Devices* devices;
  std::shared_ptr<const Program> program;
  std::unique_ptr<PackedWeights> weights;
  std::shared_ptr<jit::NativeProgram> native;   // null: interpreted only
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<PooledSession>> all;
  std::vector<PooledSession*> idle;
  Limits limits;
  bool profiling = false, thorough = false, planning = true;
  std::shared_ptr<DebugHook> hook;              // of all sessions
  Notes notes;

  PooledSession* take();
  void give(PooledSession* s, int32_t function);
};

}  // namespace msvm
