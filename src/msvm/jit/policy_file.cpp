#include "msvm/jit/policy_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace msvm::jit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "msvm shape policy";
constexpr size_t kMostBoundaries = 64, kMostBoxes = 64, kMostSizes = 256, kMostRegions = 1 << 16, kMostFileBytes = size_t{64} << 20;

class Reader {
 public:
  explicit Reader(std::string source) : source_(std::move(source)) {}

  Result<ShapePolicy> policy(const Json& j) {
    ShapePolicy p;
    MSVM_RETURN_IF_ERROR(object(j, "", {"format", "version", "program", "regions"}));
    MSVM_ASSIGN_OR_RETURN(const std::string format, text(j, "", "format"));
    if (format != kFormat) return wrong("format", fmt::format("\"{}\"", kFormat), "\"" + format + "\"");
    MSVM_ASSIGN_OR_RETURN(const int64_t version, whole(j["version"], "version", INT64_MIN));
    if (version != kShapePolicyVersion) return wrong("version", std::to_string(kShapePolicyVersion), std::to_string(version));
    MSVM_ASSIGN_OR_RETURN(p.program, text(j, "", "program"));
    MSVM_RETURN_IF_ERROR(array(j["regions"], "regions", kMostRegions));
    for (size_t i = 0; i < j["regions"].size(); ++i) {
      MSVM_ASSIGN_OR_RETURN(RegionPolicy r, region(j["regions"][i], fmt::format("regions[{}]", i)));
      if (p.find(r.function, r.region)) return wrong(fmt::format("regions[{}]", i), "each region once", fmt::format("region {} of @{} again", r.region, r.function));
      p.regions.push_back(std::move(r));
    }
    return p;
  }

  Status wrong(const std::string& where, const std::string& expected, const std::string& found) const {
    return invalid_argument(fmt::format("shape policy {}: {}: expected {}, found {}", source_, where.empty() ? "the file" : where, expected, found));
  }

 private:
  /// All of the keys, and no other.
  Status object(const Json& j, const std::string& where, std::initializer_list<const char*> keys) const {
    if (!j.is_object()) return wrong(where, "an object", j.type_name());
    for (const char* key : keys)
      if (!j.contains(key)) return wrong(where, fmt::format("the key \"{}\"", key), "none");
    for (const auto& [key, value] : j.items())
      if (std::none_of(keys.begin(), keys.end(), [&](const char* k) { return k == key; })) return wrong(where, "known keys only", fmt::format("\"{}\"", key));
    return {};
  }
  Status array(const Json& j, const std::string& where, size_t most) const {
    if (!j.is_array()) return wrong(where, "an array", j.type_name());
    if (j.size() > most) return wrong(where, fmt::format("at most {} elements", most), std::to_string(j.size()));
    return {};
  }
  Result<std::string> text(const Json& j, const std::string& where, const char* key) const {
    if (!j[key].is_string()) return wrong(where.empty() ? key : where + "." + key, "a string", j[key].type_name());
    return j[key].get<std::string>();
  }
  Result<int64_t> whole(const Json& j, const std::string& where, int64_t least) const {
    const bool wraps = j.is_number_unsigned() && j.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    if (!j.is_number_integer() || wraps || j.get<int64_t>() < least) return wrong(where, least == INT64_MIN ? "a whole number" : fmt::format("a whole number from {}", least), j.dump());
    return j.get<int64_t>();
  }
  Result<double> real(const Json& j, const std::string& where, double least, double most) const {
    if (!j.is_number() || !(j.get<double>() >= least && j.get<double>() <= most)) return wrong(where, fmt::format("a number from {:g} to {:g}", least, most), j.dump());
    return j.get<double>();
  }

  Result<std::vector<int64_t>> boundaries(const Json& j, const std::string& where) const {
    MSVM_RETURN_IF_ERROR(array(j, where, kMostBoundaries));
    std::vector<int64_t> out;
    for (size_t k = 0; k < j.size(); ++k) {
      MSVM_ASSIGN_OR_RETURN(const int64_t b, whole(j[k], fmt::format("{}[{}]", where, k), 0));
      if (k && b <= out.back()) return wrong(fmt::format("{}[{}]", where, k), fmt::format("more than {}", out.back()), std::to_string(b));
      out.push_back(b);
    }
    if (out.empty()) return wrong(where, "at least one boundary", "none");
    return out;
  }

  /// 224 fixes a symbol, [9, 32] bounds it; those that aren't named stay open.
  Result<Box> box(const Json& j, const std::string& where, const std::vector<std::string>& symbols) const {
    if (!j.is_object()) return wrong(where, "an object", j.type_name());
    Box b{std::vector<Extent>(symbols.size())};
    for (const auto& [name, value] : j.items()) {
      const auto at = std::find(symbols.begin(), symbols.end(), name);
      const std::string place = where + "." + name;
      if (at == symbols.end()) return wrong(place, "one of the region's symbols", "\"" + name + "\"");
      Extent& e = b.extents[static_cast<size_t>(at - symbols.begin())];
      if (value.is_array()) {
        if (value.size() != 2) return wrong(place, "a number, or the first and the last of a range", value.dump());
        MSVM_ASSIGN_OR_RETURN(e.min, whole(value[0], place + "[0]", INT64_MIN));
        MSVM_ASSIGN_OR_RETURN(e.max, whole(value[1], place + "[1]", e.min));
      } else {
        MSVM_ASSIGN_OR_RETURN(e.min, whole(value, place, INT64_MIN));
        e.max = e.min;
      }
    }
    if (!b.fixes_something()) return wrong(where, "a symbol that is fixed or bounded", "none");
    return b;
  }

  Result<RegionPolicy> region(const Json& j, const std::string& where) const {
    constexpr double kMostRuns = 1e12;
    RegionPolicy r;
    MSVM_RETURN_IF_ERROR(object(j, where, {"function", "region", "symbols", "boundaries", "boxes", "sizes"}));
    MSVM_ASSIGN_OR_RETURN(r.function, text(j, where, "function"));
    MSVM_ASSIGN_OR_RETURN(const int64_t index, whole(j["region"], where + ".region", 0));
    if (index > INT32_MAX) return wrong(where + ".region", "the number of a region", std::to_string(index));
    r.region = static_cast<int32_t>(index);
    MSVM_RETURN_IF_ERROR(array(j["symbols"], where + ".symbols", kMaxEntrySymbols));
    for (size_t k = 0; k < j["symbols"].size(); ++k) {
      const Json& s = j["symbols"][k];
      if (!s.is_string()) return wrong(fmt::format("{}.symbols[{}]", where, k), "a string", s.type_name());
      r.symbols.push_back(s.get<std::string>());
    }
    if (!j["boundaries"].is_object()) return wrong(where + ".boundaries", "an object", j["boundaries"].type_name());
    for (const auto& [name, list] : j["boundaries"].items()) {
      const std::string place = where + ".boundaries." + name;
      if (std::find(r.symbols.begin(), r.symbols.end(), name) == r.symbols.end()) return wrong(place, "one of the region's symbols", "\"" + name + "\"");
      MSVM_ASSIGN_OR_RETURN(r.boundaries[name], boundaries(list, place));
    }
    MSVM_RETURN_IF_ERROR(array(j["boxes"], where + ".boxes", kMostBoxes));
    for (size_t k = 0; k < j["boxes"].size(); ++k) {
      const std::string place = fmt::format("{}.boxes[{}]", where, k);
      const Json& b = j["boxes"][k];
      MSVM_RETURN_IF_ERROR(object(b, place, {"box", "weight", "saving"}));
      RegionPolicy::WeightedBox& w = r.boxes.emplace_back();
      MSVM_ASSIGN_OR_RETURN(w.box, box(b["box"], place + ".box", r.symbols));
      MSVM_ASSIGN_OR_RETURN(w.weight, real(b["weight"], place + ".weight", 0, kMostRuns));
      MSVM_ASSIGN_OR_RETURN(w.saving, real(b["saving"], place + ".saving", -1e6, 1));
    }
    MSVM_RETURN_IF_ERROR(array(j["sizes"], where + ".sizes", kMostSizes));
    for (size_t k = 0; k < j["sizes"].size(); ++k) {
      const std::string place = fmt::format("{}.sizes[{}]", where, k);
      const Json& s = j["sizes"][k];
      MSVM_RETURN_IF_ERROR(object(s, place, {"values", "weight"}));
      MSVM_RETURN_IF_ERROR(array(s["values"], place + ".values", kMaxEntrySymbols));
      if (s["values"].size() != r.symbols.size()) return wrong(place + ".values", fmt::format("{} numbers, one for each symbol", r.symbols.size()), std::to_string(s["values"].size()));
      RegionPolicy::WeightedSizes& w = r.sizes.emplace_back();
      for (size_t i = 0; i < s["values"].size(); ++i) {
        MSVM_ASSIGN_OR_RETURN(const int64_t v, whole(s["values"][i], fmt::format("{}.values[{}]", place, i), INT64_MIN));
        w.values.push_back(v);
      }
      MSVM_ASSIGN_OR_RETURN(w.weight, real(s["weight"], place + ".weight", 0, kMostRuns));
    }
    return r;
  }

  const std::string source_;
};

double rounded(double v) { return std::round(v * 1e4) / 1e4; }

}  // namespace

const RegionPolicy* ShapePolicy::find(std::string_view function, int32_t region) const {
  for (const RegionPolicy& r : regions)
    if (r.function == function && r.region == region) return &r;
  return nullptr;
}

std::string to_json(const ShapePolicy& policy) {
  Json j{{"format", kFormat}, {"version", kShapePolicyVersion}, {"program", policy.program}, {"regions", Json::array()}};
  for (const RegionPolicy& r : policy.regions) {
    Json o{{"function", r.function}, {"region", r.region}, {"symbols", r.symbols}, {"boundaries", Json::object()}, {"boxes", Json::array()}, {"sizes", Json::array()}};
    for (const auto& [name, list] : r.boundaries) o["boundaries"][name] = list;
    for (const auto& b : r.boxes) {
      Json box = Json::object();
      for (size_t k = 0; k < r.symbols.size(); ++k) {
        const Extent& e = b.box.extents[k];
        if (e.open()) continue;
        if (e.min == e.max) box[r.symbols[k]] = e.min;
        else box[r.symbols[k]] = Json::array({e.min, e.max});
      }
      o["boxes"].push_back({{"box", std::move(box)}, {"weight", rounded(b.weight)}, {"saving", rounded(b.saving)}});
    }
    for (const auto& s : r.sizes) o["sizes"].push_back({{"values", s.values}, {"weight", rounded(s.weight)}});
    j["regions"].push_back(std::move(o));
  }
  return j.dump(1) + "\n";
}

Result<ShapePolicy> parse_shape_policy(std::string_view json, const std::string& source) {
  Reader reader(source);
  // Nothing here is nested deeper, and a parser that recurses must not be led on.
  constexpr int kDepth = 8;
  const Json j = Json::parse(json, [](int depth, Json::parse_event_t, Json&) { return depth <= kDepth; }, false);
  if (j.is_discarded()) return reader.wrong("", "JSON", "something else");
  return reader.policy(j);
}

Result<ShapePolicy> load_shape_policy(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') return parse_shape_policy(text, "given as text");
  std::ifstream in(text, std::ios::binary | std::ios::ate);
  if (!in) return invalid_argument(fmt::format("shape policy {}: the file can't be read", text));
  if (in.tellg() < 0 || static_cast<uint64_t>(in.tellg()) > kMostFileBytes) return invalid_argument(fmt::format("shape policy {}: expected at most {} bytes", text, kMostFileBytes));
  in.seekg(0);
  std::ostringstream all;
  all << in.rdbuf();
  return parse_shape_policy(all.str(), text);
}

}  // namespace msvm::jit
