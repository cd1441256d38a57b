#include "msvm/jit/native/jit_options.h"

#include <fmt/format.h>

#include <charconv>

#include "msvm/jit/policy_file.h"

namespace msvm {
namespace {

constexpr CacheMode kModes[] = {CacheMode::kExact, CacheMode::kBucket, CacheMode::kAdaptive};

Status check_list(const std::vector<int64_t>& list, const std::string& whose) {
  constexpr size_t kMost = 64;
  if (list.size() > kMost) return invalid_argument(fmt::format("bucket_boundaries{}: {} boundaries, at most {} are possible", whose, list.size(), kMost));
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i] < 0 || (i && list[i] <= list[i - 1]))
      return invalid_argument(fmt::format("bucket_boundaries{}: {} at position {}: boundaries are not negative and ascend", whose, list[i], i));
  return {};
}

Status parse_list(std::string_view text, std::vector<int64_t>& out) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    int64_t v = 0;
    const auto [p, error] = std::from_chars(text.data() + at, text.data() + end, v);
    if (error != std::errc() || p != text.data() + end || at == end)
      return invalid_argument(fmt::format("bucket boundaries: '{}' is no whole number; write them as 1,8,32 or S=32,64;N=1,8", text.substr(at, end - at)));
    out.push_back(v);
    at = end + 1;
  }
  return {};
}

}  // namespace

std::string_view cache_mode_name(CacheMode m) {
  switch (m) {
    case CacheMode::kExact: return "exact";
    case CacheMode::kBucket: return "bucket";
    case CacheMode::kAdaptive: return "adaptive";
  }
  return "";
}

Result<CacheMode> parse_cache_mode(std::string_view text) {
  for (CacheMode m : kModes)
    if (cache_mode_name(m) == text) return m;
  return invalid_argument(fmt::format("cache_mode is '{}': exact, bucket or adaptive is possible", text));
}

Status parse_boundaries(std::string_view text, JitOptions& options) {
  options.bucket_boundaries.clear();
  options.named_boundaries.clear();
  if (text.find('=') == std::string_view::npos) return parse_list(text, options.bucket_boundaries);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(';', at), text.size()), equals = text.find('=', at);
    if (equals >= end || equals == at) return invalid_argument(fmt::format("bucket boundaries: '{}' is not NAME=numbers", text.substr(at, end - at)));
    MSVM_RETURN_IF_ERROR(parse_list(text.substr(equals + 1, end - equals - 1), options.named_boundaries[std::string(text.substr(at, equals - at))]));
    at = end + 1;
  }
  return {};
}

Status check(const JitOptions& o) {
  if (o.jit_level < 0 || o.jit_level > 2) return invalid_argument(fmt::format("jit_level is {}: 0, 1 or 2 is possible", o.jit_level));
  if (o.jit_threshold < 1 || o.jit_threshold > 64) return invalid_argument(fmt::format("jit_threshold is {}: 1 to 64 is possible", o.jit_threshold));
  if (!(o.scd_threshold >= 0 && o.scd_threshold <= 1)) return invalid_argument(fmt::format("scd_threshold is {}: 0 to 1 is possible", o.scd_threshold));
  if (!(o.compile_timeout > 0 && o.compile_timeout <= 3600)) return invalid_argument(fmt::format("compile_timeout is {}: more than 0 and at most 3600 s is possible", o.compile_timeout));
  if (o.cache_bytes < 0) return invalid_argument(fmt::format("cache_bytes is {}: it can't be negative", o.cache_bytes));
  MSVM_RETURN_IF_ERROR(check_list(o.bucket_boundaries, ""));
  for (const auto& [name, list] : o.named_boundaries) MSVM_RETURN_IF_ERROR(check_list(list, "[" + name + "]"));
  if (o.cache_mode == CacheMode::kBucket && o.bucket_boundaries.empty() && o.named_boundaries.empty())
    return invalid_argument("cache_mode is bucket, but there are no bucket_boundaries");
  if (o.cache_mode != CacheMode::kBucket && (!o.bucket_boundaries.empty() || !o.named_boundaries.empty()))
    return invalid_argument(fmt::format("bucket_boundaries are given, but cache_mode is {}", cache_mode_name(o.cache_mode)));
  if (o.shape_policy.empty()) return {};
  if (o.cache_mode != CacheMode::kAdaptive) return invalid_argument(fmt::format("a shape_policy is given, but cache_mode is {}", cache_mode_name(o.cache_mode)));
  const auto policy = jit::load_shape_policy(o.shape_policy);
  return policy.ok() ? Status{} : policy.status();
}

}  // namespace msvm
