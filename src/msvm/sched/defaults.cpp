// The compiled-in capability database: this machine and the kernels of this build.
#include <bit>

#include "msvm/sched/scheduler.h"

namespace msvm {

CapabilityDb default_capability_db() {
  CapabilityDb db;
  const CpuFeatures& cpu = cpu_features();
  db.hardware.model = cpu.model;
  db.hardware.isa = cpu.isa;
  db.hardware.cores = cpu.cores;
  db.hardware.l1_bytes = cpu.l1_bytes;
  db.hardware.l2_bytes = cpu.l2_bytes;
  db.hardware.l3_bytes = cpu.l3_bytes;
  for (const KernelInfo& k : all_kernels()) {
    if (k.isa > cpu.isa) continue;
    KernelCapability c;
    c.name = k.name;
    c.op = k.op;
    c.isa = k.isa;
    c.any_dtype = std::popcount(k.dtypes) != 1;
    if (!c.any_dtype) c.dtype = static_cast<DType>(std::countr_zero(k.dtypes));
    c.costs = {{0, INT64_MAX, k.default_overhead_ns, 1.0 / k.default_ns_per_work}};
    db.add(std::move(c));
  }
  return db;
}

}  // namespace msvm
