#include "msvm/device/capability_db.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace msvm {
namespace {

using Json = nlohmann::ordered_json;

std::string section_key(const KernelCapability& k) {
  std::string key;
  for (char c : k.op) key += c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key + "_" + (k.any_dtype ? "any" : std::string(dtype_name(k.dtype)));
}

std::optional<Isa> isa_from_name(std::string_view s) {
  for (Isa i : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512})
    if (isa_name(i) == s) return i;
  return std::nullopt;
}

Json cost_json(const CostClass& c) {
  Json j;
  j["min_work"] = c.min_work;
  if (c.max_work != INT64_MAX) j["max_work"] = c.max_work;
  j["overhead_ns"] = c.overhead_ns;
  j["work_per_ns"] = std::min(c.work_per_ns, std::numeric_limits<double>::max());  // JSON has no infinity
  return j;
}

/// Reads fields strictly: wrong types and unknown keys are errors that name their place.
class Reader {
 public:
  explicit Reader(std::string source) : source_(std::move(source)) {}

  Status error(const std::string& where, const std::string& what) const {
    return invalid_argument(fmt::format("capability patch {}: {}: {}", source_, where, what));
  }

  Status known_keys(const Json& j, const std::string& where, std::initializer_list<std::string_view> keys) const {
    if (!j.is_object()) return error(where, "expected an object");
    for (const auto& [key, value] : j.items()) {
      bool known = false;
      for (std::string_view k : keys) known |= k == key;
      if (!known) return error(where, fmt::format("unknown key \"{}\"", key));
    }
    return {};
  }

  template <class T>
  Status number(const Json& j, const std::string& where, const char* key, T& out) const {
    if (!j.contains(key)) return {};
    const Json& v = j[key];
    const bool wraps = v.is_number_unsigned() && v.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    const bool fits = std::is_integral_v<T> ? v.is_number_integer() && !wraps : v.is_number();
    if (!fits) return error(where + "." + key, std::is_integral_v<T> ? "expected an integer" : "expected a number");
    out = v.get<T>();
    return {};
  }

  /// What the file repeats for people is what the build says.
  Status same(const Json& j, const std::string& where, const char* key, std::string_view expected) const {
    if (!j.contains(key) || (j[key].is_string() && j[key].get<std::string>() == expected)) return {};
    return error(where + "." + key, fmt::format("expected \"{}\"", expected));
  }

  Status costs(const Json& list, const std::string& where, std::vector<CostClass>& out) const {
    if (!list.is_array()) return error(where, "expected an array");
    for (size_t i = 0; i < list.size(); ++i) {
      std::string at = fmt::format("{}[{}]", where, i);
      MSVM_RETURN_IF_ERROR(known_keys(list[i], at, {"min_work", "max_work", "overhead_ns", "work_per_ns"}));
      CostClass c;
      MSVM_RETURN_IF_ERROR(number(list[i], at, "min_work", c.min_work));
      MSVM_RETURN_IF_ERROR(number(list[i], at, "max_work", c.max_work));
      MSVM_RETURN_IF_ERROR(number(list[i], at, "overhead_ns", c.overhead_ns));
      MSVM_RETURN_IF_ERROR(number(list[i], at, "work_per_ns", c.work_per_ns));
      if (!(c.work_per_ns > 0) || !(c.overhead_ns >= 0) || c.min_work > c.max_work) return error(at, "overhead_ns >= 0, work_per_ns > 0 and min_work <= max_work are needed");
      out.push_back(c);
    }
    return {};
  }

 private:
  std::string source_;
};

}  // namespace

void CapabilityDb::add(KernelCapability k) {
  std::string key = section_key(k);
  auto& section = sections_[key];
  places_[k.name] = {std::move(key), section.size()};
  section.push_back(std::move(k));
}

const KernelCapability* CapabilityDb::find(std::string_view kernel) const {
  auto at = places_.find(kernel);
  return at == places_.end() ? nullptr : &sections_.at(at->second.first)[at->second.second];
}

std::string CapabilityDb::to_json() const {
  Json j;
  j["format"] = kFormatVersion;
  j["device"] = to_string(device);
  j["isa"] = isa_name(hardware.isa);
  j["hardware"] = {{"model", hardware.model},       {"cores", hardware.cores},         {"l1_bytes", hardware.l1_bytes},
                   {"l2_bytes", hardware.l2_bytes}, {"l3_bytes", hardware.l3_bytes},   {"memory_bytes", hardware.memory_bytes},
                   {"peak_gflops_f32", hardware.peak_gflops_f32}, {"memory_gb_per_s", hardware.memory_gb_per_s}};
  if (!path.empty()) j["patched_from"] = path;
  Json& sections = j["sections"] = Json::object();
  for (const auto& [key, list] : sections_) {
    Json& s = sections[key] = Json::array();
    for (const KernelCapability& k : list) {
      Json e = {{"name", k.name}, {"op", k.op}, {"isa", isa_name(k.isa)}};
      if (!k.enabled) e["enabled"] = false;
      e["costs"] = Json::array();
      for (const CostClass& c : k.costs) e["costs"].push_back(cost_json(c));
      s.push_back(std::move(e));
    }
  }
  return j.dump(1) + "\n";
}

// Everything is read and checked before anything changes.
Status CapabilityDb::apply_patch_json(std::string_view text, const std::string& source) {
  Reader r(source);
  Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded()) return r.error("file", "it isn't JSON");
  MSVM_RETURN_IF_ERROR(r.known_keys(j, "file", {"format", "device", "isa", "hardware", "patched_from", "sections"}));
  if (!j.contains("format") || !j["format"].is_number_integer() || j["format"].get<int64_t>() != kFormatVersion)
    return r.error("format", fmt::format("expected {}", kFormatVersion));
  if (!j.contains("device") || !j["device"].is_string() || j["device"].get<std::string>() != to_string(device))
    return r.error("device", fmt::format("it is for {}, this database describes {}", j.value("device", Json("nothing")).dump(), to_string(device)));
  if (j.contains("isa")) {
    auto isa = j["isa"].is_string() ? isa_from_name(j["isa"].get<std::string>()) : std::nullopt;
    if (!isa) return r.error("isa", "expected \"scalar\", \"avx2\" or \"avx512\"");
    if (*isa != hardware.isa) return r.error("isa", fmt::format("it is for {}, this machine runs {}", isa_name(*isa), isa_name(hardware.isa)));
  }
  if (!j.contains("sections") || !j["sections"].is_object()) return r.error("sections", "expected an object");
  std::map<std::string, std::vector<KernelCapability>> fresh;
  for (const auto& [key, list] : j["sections"].items()) {
    auto old = sections_.find(key);
    if (old == sections_.end()) return r.error("sections", fmt::format("there is no section \"{}\"; `msvm cap dump` lists them", key));
    if (!list.is_array()) return r.error("sections." + key, "expected an array");
    std::vector<KernelCapability> section = old->second;
    for (KernelCapability& k : section) k.enabled = false;  // what the patch doesn't name is taken out
    std::set<std::string> named;
    for (size_t i = 0; i < list.size(); ++i) {
      std::string at = fmt::format("sections.{}[{}]", key, i);
      MSVM_RETURN_IF_ERROR(r.known_keys(list[i], at, {"name", "op", "isa", "enabled", "costs"}));
      if (!list[i].contains("name") || !list[i]["name"].is_string()) return r.error(at, "expected a name");
      auto name = list[i]["name"].get<std::string>();
      auto k = std::find_if(section.begin(), section.end(), [&](const KernelCapability& c) { return c.name == name; });
      if (k == section.end()) return r.error(at, fmt::format("this build has no kernel \"{}\" in {}", name, key));
      if (!named.insert(name).second) return r.error(at, fmt::format("\"{}\" is named twice", name));
      MSVM_RETURN_IF_ERROR(r.same(list[i], at, "op", k->op));
      MSVM_RETURN_IF_ERROR(r.same(list[i], at, "isa", isa_name(k->isa)));
      k->enabled = true;
      if (list[i].contains("enabled")) {
        if (!list[i]["enabled"].is_boolean()) return r.error(at + ".enabled", "expected true or false");
        k->enabled = list[i]["enabled"].get<bool>();
      }
      if (list[i].contains("costs")) {
        k->costs.clear();
        MSVM_RETURN_IF_ERROR(r.costs(list[i]["costs"], at + ".costs", k->costs));
      }
    }
    fresh[key] = std::move(section);
  }
  for (auto& [key, section] : fresh) sections_[key] = std::move(section);
  path = source;
  return {};
}

Status CapabilityDb::apply_patch_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return {StatusCode::kIo, fmt::format("capability patch {}: can't be opened", file)};
  std::ostringstream text;
  text << in.rdbuf();
  return apply_patch_json(text.str(), file);
}

}  // namespace msvm
