// Constants of a program in the forms that its kernels want. Private to the room.
#pragma once
#include <map>
#include <mutex>
#include <vector>

#include "msvm/bytecode/module.h"
#include "msvm/device/buffer_pool.h"
#include "msvm/engine/raw_constants.h"
#include "msvm/kernels/kernel.h"

namespace msvm {

/// One per program, shared by its sessions; thread-safe. Buffers come from `pool`, are counted there as weights, and stay until the
/// program goes. Module and pool must outlive it.
class PackedWeights {
 public:
  /// `raw` of that module.
  PackedWeights(const Module& module, RawConstants raw, BufferPool& pool);
  /// See KernelMemory::packed_constant. Only the first caller packs; others that want a buffer meanwhile wait. Pages of the raw constant
  /// that a file backs are given back, those of a copy if RawConstants says so.
  Result<const std::byte*> get(const TensorMeta& source, const PackedFormat& format, int64_t bytes, FunctionRef<void(std::byte*)> pack);
  /// Bit i: the raw bytes of the call's input i may be given back; whoever reads them asks keep_raw() first.
  uint64_t may_be_given_back(const Function& function, const Instr& call) const { return raw_.inputs_of(module_, function, call); }
  /// The raw bytes at `data` are there, and stay.
  void keep_raw(const std::byte* data);
  /// Those of all constants.
  void keep_all_raw();

 private:
  struct Raw {
    size_t bytes = 0;
    bool may_go = false, gone = false;
  };
  struct Entry {
    TensorMeta source;
    PackedFormat format;
    int64_t bytes;
    StorageRef storage;
  };
  const Module& module_;
  const RawConstants raw_;
  BufferPool& pool_;
  std::mutex mutex_;
  std::map<const std::byte*, Raw> constants_;  // by first byte
  std::multimap<const std::byte*, Entry> entries_;
};

}  // namespace msvm
