// What the interpreter needs from below: it declares, scheduler and device implement, the engine wires.
#pragma once
#include <memory>
#include <span>

#include "msvm/base/function_ref.h"
#include "msvm/base/status.h"
#include "msvm/base/storage.h"
#include "msvm/bytecode/module.h"
#include "msvm/shape/tensor_meta.h"

namespace msvm {

/// What memory is asked for: statistics tell them apart.
enum class MemoryUse : uint8_t { kTensor, kResult, kArena };

/// Memory for tensors. Thread-safe.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least `bytes`; of strings an array of `bytes / dtype_bytes` empty ones. A device that isn't there is an error.
  virtual Result<StorageRef> allocate(Device device, DType dtype, int64_t bytes, MemoryUse use) = 0;
};

/// Gives memory for outputs that a call allocates (`new`).
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual Status allocate_output(size_t index, DType dtype, std::span<const int64_t> shape) = 0;
};

/// What a dispatcher keeps per call site and session: the remembered choice, packed weights.
class CallState {
 public:
  virtual ~CallState() = default;
};

/// One call with actual metadata. Lists were expanded.
struct CallFrame {
  const Instr* instr;
  std::span<const TensorMeta* const> inputs;   // nullptr: absent
  std::span<const int64_t> args;
  std::span<TensorMeta* const> outputs;        // nullptr: absent; of `new` outputs only dtype and device are set
  uint64_t new_outputs = 0;                    // bit i: output i is to be allocated
  uint64_t const_inputs = 0;                   // bit i: input i is a module constant
  OutputSink* sink = nullptr;
};

/// What ran, for tables and traces. Names live as long as the dispatcher.
struct CallReport {
  const char* kernel = "";
  double work = 0;   // operations, as kernels/operations.h counts them
  double bytes = 0;  // of operands and results, each once
  bool fallback = false;  // its own kernel is missing; this one served
};

/// Runs operators and copies. Used by one session, hence by one thread at a time. A device may do its work later, in the order in
/// which it was asked: fetch() and finish() wait for it.
class Dispatcher {
 public:
  virtual ~Dispatcher() = default;
  /// Once per call site and session. Fails if no kernel can ever serve it.
  virtual Result<std::unique_ptr<CallState>> prepare(const Module& module, const Function& function, const Instr& call) = 0;
  virtual Status dispatch(CallState& state, CallFrame& frame) = 0;
  virtual CallReport last_report(const CallState& state) const = 0;
  /// The whole copy of TENSOR_COPY and RESIZE: any strides, layouts, devices; same shape and dtype.
  virtual Status copy(const TensorMeta& source, const TensorMeta& destination) = 0;
  /// The bytes of a tensor of one element that isn't on the host.
  virtual Status fetch(const TensorMeta& element, std::byte* to) = 0;
  /// body(begin, end) over [0, count) on the host's workers, in pieces that don't depend on their number; returns when all are done.
  virtual void split(int64_t count, double nanoseconds_per_item, FunctionRef<void(int64_t, int64_t)> body) = 0;
  /// Everything that this session asked for is done, or failed with what this returns.
  virtual Status finish() = 0;
};

}  // namespace msvm
