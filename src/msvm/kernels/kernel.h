// What a kernel is: one implementation of an operator, with the conditions under which it may be chosen.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/device/cpu_features.h"
#include "msvm/device/workers.h"
#include "msvm/ops/schema.h"
#include "msvm/shape/tensor_meta.h"

namespace msvm {

/// Names the contents of a packed constant completely, together with the constant's shape and strides.
struct PackedFormat {
  std::string_view op;     // lives as long as the process
  int key = 0;             // of the format, chosen by the kernels of that operator
  int64_t variant = 0;     // whatever else the bytes depend on
  bool operator==(const PackedFormat&) const = default;
};

/// Gives memory for outputs whose sizes only the kernel knows, for scratch and for packed weights.
class KernelMemory {
 public:
  virtual ~KernelMemory() = default;
  /// Binds output `index` of the call to fresh dense memory of that shape; the meta in `outputs[index]` is filled in.
  virtual Status allocate_output(size_t index, DType dtype, std::span<const int64_t> shape) = 0;
  /// 64-byte aligned, uninitialised, valid until the call returns.
  virtual Result<std::byte*> scratch(int64_t bytes) = 0;
  /// The bytes that `pack` makes of a constant of the program, 64-byte aligned: made once for all call sites, sessions and threads, then
  /// only read, kept as long as the program. Takes a lock: callers remember the pointer. Null: `source` is no constant of a program, or
  /// there is no program; the caller keeps its own.
  virtual Result<const std::byte*> packed_constant(const TensorMeta& source, const PackedFormat& format, int64_t bytes, FunctionRef<void(std::byte*)> pack) {
    (void)source, (void)format, (void)bytes, (void)pack;
    return static_cast<const std::byte*>(nullptr);
  }
  /// Before a kernel reads the bytes of a constant that SiteOptions::may_be_given_back names.
  virtual void keep_raw(const TensorMeta& constant) { (void)constant; }
};

/// State that a kernel keeps at one call site of one session (packed weights, precomputed tables). Freed with the session.
struct KernelSiteState {
  virtual ~KernelSiteState() = default;
};

struct KernelCall {
  const OpSchema& op;
  const Attributes& attrs;
  std::span<const TensorMeta* const> inputs;   // nullptr: absent optional input
  std::span<const int64_t> args;
  std::span<TensorMeta* const> outputs;        // destinations; nullptr: absent output. Data-dependent ones come unset
  uint64_t const_inputs;                       // bit i: input i is a constant of the module (same bytes at every call)
  WorkerPool& workers;
  KernelMemory& memory;
  std::unique_ptr<KernelSiteState>& site;      // null at first; a kernel checks that it is its own (dynamic_cast)
  bool strict;                                 // one declared order of every sum
};

/// Writes every element of every output. Takes any strides unless its conditions say otherwise, sizes of 0, rank 0.
/// Checks value hazards (indices, division, casts). Never reads outside its inputs.
using KernelFn = Status (*)(KernelCall&);

/// Conditions that the scheduler checks before the kernel's own `accepts`.
struct KernelInfo {
  std::string_view name;      // "ref_add", "avx512_matmul_f32_generic"
  std::string_view op;
  KernelFn run = nullptr;
  DTypeSet dtypes = kAny;     // of the first input (or, without inputs, of the first output)
  Isa isa = Isa::kScalar;
  bool dense_inputs = false;  // all inputs dense row-major (outputs of calls always are what the type says)
  bool strict_order = true;   // sums in the operator's declared order
  uint64_t packed_inputs = 0; // bit i: if input i is constant (and dense), only what packed_input() is given to pack reads its elements
  /// Further conditions on the actual metadata; null = none.
  bool (*accepts)(const KernelCall&) = nullptr;
  /// Amount of work for the cost classes; null = elements of the first output (or input).
  double (*work)(const KernelCall&) = nullptr;
  double default_ns_per_work = 1.0;
  double default_overhead_ns = 100.0;
};

/// All kernels of this build. Reference kernels come first; each operator has exactly one.
std::span<const KernelInfo> all_kernels();
/// The reference kernel of an operator, or null.
const KernelInfo* reference_kernel(std::string_view op);

// Each family file has one function of this form, called by registry.cpp.
using KernelList = std::vector<KernelInfo>;

}  // namespace msvm
