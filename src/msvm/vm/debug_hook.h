// What a debugger sees of sessions: told of each instruction of a run, on the thread that runs it, which goes on when it returns.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "msvm/vm/interfaces.h"
#include "msvm/vm/session.h"

namespace msvm {

enum class RegisterState : uint8_t {
  kUnset,       // no instruction of this run has given it a value
  kLive,
  kUnwritten,   // a destination: memory without values
  kPartly,      // some of it is written, or it has grown
  kFreed,
  kTaken,       // its memory, or its reference, is another register's now
  kFused,       // its value was never in memory: native code had it in passing
};

struct RegisterLook {
  RegisterState state = RegisterState::kUnset;
  bool native = false;         // native code gave it its value
  Reg by = kNoReg;             // kTaken: whose it is
  int32_t instruction = -1;    // that set it; kFused: the last call of the group
  Reg root = kNoReg;           // of a view: the register whose storage it looks at; else itself
  uint64_t changed = 0;        // RunView::clock() when something last happened to it
  bool readable() const { return state == RegisterState::kLive; }
};

/// Whose memory a tensor lies in.
enum class StorageOwner : uint8_t { kNone, kArena, kPool, kInput, kConstant, kForeign };

/// A run that waits, or is between two instructions. Of the run's thread, or of one that knows that it waits.
class RunView {
 public:
  const Program& program() const;
  const Function& code() const;                  // the function that runs
  int32_t function() const;
  int32_t instruction() const;                   // that comes next; told of a failure or after a step: that one
  std::span<const Value> inputs() const;
  /// Counts what has run.
  uint64_t clock() const;
  const Instr& instr(int32_t index) const;
  int32_t instructions() const;

  // --- registers; any kind but where it says so
  RegisterLook look(Reg r) const;
  int64_t scalar(Reg r) const;                   // an f64 by its bits, a bool as 0 or 1
  /// A tensor's metadata as they are, whatever its state: `data` may only be followed where look() says readable.
  const TensorMeta& tensor(Reg r) const;
  const std::vector<TensorValue>* list(Reg r) const;  // null: empty
  StorageOwner owner(Reg tensor, int32_t& index) const;  // `index`: of the input or constant
  /// Whose memory this one's is now: the operand that it was written over, or what lay there before. kNoReg: nobody's that is known.
  Reg reused_from(Reg tensor) const;
  /// What the step that ran last gave values to.
  const std::vector<Reg>& written() const;
  /// The elements of `part` (of a readable tensor), dense, on the host.
  Result<TensorValue> copy(const TensorMeta& part) const;
  /// Refuses registers on whose values something rests that was proved.
  Status set_scalar(Reg r, int64_t bits);

  /// None while nothing has bound it.
  std::optional<int64_t> symbol(SymbolId s) const;

  // --- the call at instruction()
  struct Call {
    const Instr* instr = nullptr;
    std::vector<const TensorMeta*> inputs;       // lists expanded; null: absent
    std::vector<int64_t> args;
    std::vector<TensorMeta*> outputs;
    uint64_t new_outputs = 0, const_inputs = 0;
    CallState* state = nullptr;
  };
  /// None: it isn't an OP_CALL.
  Result<std::optional<Call>> call() const;
  /// What the OP_CALL at `instruction`, which has run, took.
  std::optional<CallReport> report(int32_t instruction) const;
  Dispatcher& dispatcher() const;

  /// The native code that runs just now, or, before a region's first instruction, would; null: none.
  const RegionEntry* entry() const;
  /// By instruction: its region, -1: none. Empty: the function has no regions.
  std::vector<int32_t> regions() const;
  /// Of its thread: whether there is native code for some sizes.
  bool has_code(int32_t region) const;
  /// Whether the run should end. Of its thread: asks its RunControl.
  bool should_stop() const;

  struct Impl;
  explicit RunView(Impl& impl) : impl_(impl) {}

 private:
  Impl& impl_;
};

/// Told of one run. What isn't ok ends it.
class RunWatch {
 public:
  virtual ~RunWatch() = default;
  /// PHIs of a block are one step: told at the first, before they move. Of a run that was under way the first thing told may be their after().
  virtual Status before(int32_t instruction) = 0;
  virtual Status after(int32_t instruction) = 0;
  /// At a region's first instruction, after before(): whether it is interpreted even if it has native code.
  virtual Result<bool> interprets(int32_t region) = 0;
  /// It ran in native code, as one step: no before() and after() of what is in it. Null: it has native code, but none that serves these sizes; it is
  /// interpreted.
  virtual Status after_region(int32_t region, const RegionEntry* entry) = 0;
  /// Registers are still as they were.
  virtual void failing(int32_t instruction, const Status& status) = 0;
  virtual void ended(const Status& status) = 0;
};

/// Thread-safe: sessions of many threads share it.
class DebugHook {
 public:
  virtual ~DebugHook() = default;
  /// `view` lasts as long as the run, which has begun already where its clock says so. Null: nobody watches this one.
  virtual std::unique_ptr<RunWatch> begin(RunView& view) = 0;
};

}  // namespace msvm
