#include "msvm/device/cpu_features.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace msvm {

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return "scalar";
    case Isa::kAvx2: return "avx2";
    case Isa::kAvx512: return "avx512";
  }
  return "unknown";
}

namespace {

std::string read_small_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream s;
  if (in) s << in.rdbuf();
  return s.str();
}

/// "max 100000", "50000 100000" (cgroup v2's cpu.max): processors rounded up, or 0 = no limit.
int quota_from(const std::string& quota, const std::string& period) {
  char* end = nullptr;
  double q = std::strtod(quota.c_str(), &end);
  if (end == quota.c_str() || q <= 0) return 0;
  double p = std::strtod(period.c_str(), nullptr);
  if (!(p > 0)) return 0;
  return static_cast<int>(std::clamp((q + p - 1) / p, 1.0, 65536.0));
}

/// The smallest CPU quota of this process's control group and its parents; 0 = none.
int cgroup_cpus() {
  int best = 0;
  auto take = [&](int n) {
    if (n > 0 && (best == 0 || n < best)) best = n;
  };
  std::istringstream groups(read_small_file("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    size_t a = line.find(':'), b = a == std::string::npos ? a : line.find(':', a + 1);
    if (b == std::string::npos) continue;
    std::string controllers = line.substr(a + 1, b - a - 1), path = line.substr(b + 1);
    bool v2 = controllers.empty();
    if (!v2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    for (int depth = 0; depth < 64; ++depth) {
      if (v2) {
        std::istringstream f(read_small_file("/sys/fs/cgroup" + path + "/cpu.max"));
        std::string quota, period;
        if (f >> quota >> period) take(quota_from(quota, period));
      } else {
        std::string base = "/sys/fs/cgroup/cpu" + path;
        take(quota_from(read_small_file(base + "/cpu.cfs_quota_us"), read_small_file(base + "/cpu.cfs_period_us")));
      }
      if (path.empty() || path == "/") break;
      path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
    }
  }
  return best;
}

int usable_cores() {
  int n = 0;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
  if (n <= 0) n = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (int quota = cgroup_cpus(); quota > 0) n = std::min(n, quota);
  return std::max(n, 1);
}

int64_t cache_bytes(int name, int64_t fallback) {
  long v = sysconf(name);
  return v > 0 ? v : fallback;
}

CpuFeatures detect() {
  CpuFeatures f;
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl");
  // Every processor with AVX2 also converts halves; a virtual machine may hide it.
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C)) avx2 = avx512 = false;
  f.isa = avx512 ? Isa::kAvx512 : avx2 ? Isa::kAvx2 : Isa::kScalar;
  if (avx512) {
    f.avx512_vnni = __builtin_cpu_supports("avx512vnni");
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) f.avx512_bf16 = (a >> 5) & 1;
  }
  char brand[49] = {};
  for (unsigned i = 0; i < 3; ++i)
    if (__get_cpuid(0x80000002u + i, &a, &b, &c, &d)) {
      unsigned regs[4] = {a, b, c, d};
      std::memcpy(brand + 16 * i, regs, 16);
    }
  f.model = brand;
  f.model.erase(0, f.model.find_first_not_of(' '));
  while (!f.model.empty() && f.model.back() == ' ') f.model.pop_back();
#endif
  if (f.model.empty()) f.model = "unknown processor";
  if (const char* forced = std::getenv("MSVM_ISA")) {
    for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512})
      if (isa_name(isa) == forced) f.isa = std::min(f.isa, isa);
  }
  if (f.isa != Isa::kAvx512) f.avx512_vnni = f.avx512_bf16 = false;
  f.cores = usable_cores();
  f.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, f.l1_bytes);
  f.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, f.l2_bytes);
  f.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, f.l3_bytes);
  return f;
}

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures f = detect();
  return f;
}

}  // namespace msvm
