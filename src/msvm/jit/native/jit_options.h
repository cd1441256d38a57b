// What users decide about native code.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm {

enum class CacheMode : uint8_t { kExact, kBucket, kAdaptive };
std::string_view cache_mode_name(CacheMode m);  // "exact", "bucket", "adaptive"

struct JitOptions {
#define MSVM_JIT_OPTION(type, name, value, doc) type name = value;
#include "msvm/jit/native/jit_options.def"
#undef MSVM_JIT_OPTION
  /// Of bucket mode: bucket k is (b[k-1], b[k]], the first one includes 0. For all symbols whose sizes lie within the last boundary …
  std::vector<int64_t> bucket_boundaries;
  /// … or for symbols by name.
  std::map<std::string, std::vector<int64_t>> named_boundaries;
  /// Entries of tiers 1 and 2 serve runs. For comparisons and tests.
  bool tier1 = true, tier2 = true;
  bool plain_counter = false;  // instead of Shape Convergence Degree (trigger.h)
};

/// What is out of range, and what is possible.
Status check(const JitOptions& options);
/// "exact", …; the error names the possible ones.
Result<CacheMode> parse_cache_mode(std::string_view text);
/// "1,8,32,64" for all symbols, "S=32,64;N=1,8" by name. The error names the place.
Status parse_boundaries(std::string_view text, JitOptions& options);

}  // namespace msvm
