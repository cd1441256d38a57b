// What this processor can do.
#pragma once
#include <string>
#include <string_view>

namespace msvm {

enum class Isa : uint8_t { kScalar, kAvx2, kAvx512 };  // ordered: a later one includes the earlier
std::string_view isa_name(Isa isa);  // "scalar", "avx2", "avx512"

struct CpuFeatures {
  Isa isa = Isa::kScalar;      // the best one, or what MSVM_ISA forces (never more than the machine has)
  bool avx512_vnni = false, avx512_bf16 = false;
  int cores = 1;
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 32 << 20;
  std::string model;
};
const CpuFeatures& cpu_features();

}  // namespace msvm
