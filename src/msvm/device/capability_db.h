// The capability database: what a device's hardware and kernels can do and what they were measured to cost.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/device/cpu_features.h"
#include "msvm/shape/tensor_type.h"

namespace msvm {

/// A kernel's measured class for a range of work sizes: cost = overhead + work / rate.
struct CostClass {
  int64_t min_work = 0, max_work = INT64_MAX;  // elements or multiply-adds, as the kernel defines
  double overhead_ns = 0;
  double work_per_ns = 1;
};

struct KernelCapability {
  std::string name;                 // "avx512_matmul_f32_generic"
  std::string op;                   // "MatMul"
  DType dtype = DType::kF32;        // of the first input
  bool any_dtype = false;
  Isa isa = Isa::kScalar;
  bool enabled = true;              // a patch may take a kernel out
  std::vector<CostClass> costs;
};

struct HardwareLimits {
  std::string model;
  Isa isa = Isa::kScalar;
  int cores = 1;
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0, memory_bytes = 0;
  double peak_gflops_f32 = 0, memory_gb_per_s = 0;
};

/// Sections are keyed "<op lower case>_<dtype>", e.g. matmul_f32 ("any" for kernels of any dtype).
class CapabilityDb {
 public:
  static constexpr int kFormatVersion = 1;
  HardwareLimits hardware;
  Device device;
  std::string path;                 // where a patch came from; empty = compiled in
  void add(KernelCapability k);
  const KernelCapability* find(std::string_view kernel) const;
  const std::map<std::string, std::vector<KernelCapability>>& sections() const { return sections_; }

  std::string to_json() const;
  /// Replaces whole sections: kernels that a section of the patch doesn't name are taken out. Refuses another device, ISA or
  /// format, unknown keys, sections and kernels, and wrong types, naming each; nothing of a refused patch is taken.
  Status apply_patch_json(std::string_view json, const std::string& source);
  Status apply_patch_file(const std::string& path);

 private:
  std::map<std::string, std::vector<KernelCapability>> sections_;
  std::map<std::string, std::pair<std::string, size_t>, std::less<>> places_;  // kernel -> section and position in it
};

}  // namespace msvm
