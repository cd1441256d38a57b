// What the adaptive mode has learnt, as a file: saved, shipped, and loaded before the first run.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/jit/box.h"

namespace msvm::jit {

/// Of one region. Boxes and sizes follow `symbols`.
struct RegionPolicy {
  std::string function;
  int32_t region = 0;
  std::vector<std::string> symbols;
  /// By symbol; as those of bucket mode, but learnt. Symbols without an entry are taken exactly.
  std::map<std::string, std::vector<int64_t>> boundaries;
  struct WeightedBox {
    Box box;
    double weight = 0;  // runs that count, lately
    double saving = 0;  // share of the time without it
  };
  std::vector<WeightedBox> boxes;
  struct WeightedSizes {
    std::vector<int64_t> values;
    double weight = 0;
  };
  std::vector<WeightedSizes> sizes;
};

struct ShapePolicy {
  std::string program;
  std::vector<RegionPolicy> regions;
  const RegionPolicy* find(std::string_view function, int32_t region) const;
};

constexpr int kShapePolicyVersion = 1;

/// docs/scd.md describes the form.
std::string to_json(const ShapePolicy& policy);
/// Strict: the error names the place, what was expected and what was found. `source` is what errors call it.
Result<ShapePolicy> parse_shape_policy(std::string_view json, const std::string& source);
/// `text` is JSON (it begins with '{') or the path of a file.
Result<ShapePolicy> load_shape_policy(const std::string& text);

}  // namespace msvm::jit
