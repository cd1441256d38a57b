#include "observe/dap/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace msvm::observe::dap {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMostItems = 100'000;

/// Whether brackets nest deeper than values of this protocol do: what is nested without end costs a stack later.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      else if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

const Json& nothing() {
  static const Json none;
  return none;
}

std::string clipped(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else out += c;
  }
  return text.size() > 60 ? out + "..." : out;
}

/// Numbers that are written as 3.0 are integers, too: some clients know no others.
std::optional<int64_t> integer_of(const Json& j) {
  if (j.is_number_unsigned()) return j.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ? std::optional<int64_t>(j.get<int64_t>()) : std::nullopt;
  if (j.is_number_integer()) return j.get<int64_t>();
  if (!j.is_number_float()) return {};
  const double v = j.get<double>();
  return std::trunc(v) == v && std::fabs(v) < 0x1p53 ? std::optional<int64_t>(static_cast<int64_t>(v)) : std::nullopt;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (too_deep(text)) return malformed(fmt::format("JSON that is nested more than {} deep", kMaxDepth));
  Json j = Json::parse(text.begin(), text.end(), nullptr, false);
  if (j.is_discarded()) return malformed(fmt::format("expected JSON, found \"{}\"", clipped(text)));
  return j;
}

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string described(const Json& j) {
  switch (j.type()) {
    case Json::value_t::null:
    case Json::value_t::discarded: return "nothing";
    case Json::value_t::boolean: return j.get<bool>() ? "true" : "false";
    case Json::value_t::string: return fmt::format("\"{}\"", clipped(j.get_ref<const std::string&>()));
    case Json::value_t::array: return fmt::format("a list of {}", j.size());
    case Json::value_t::object: return "an object";
    case Json::value_t::binary: return "bytes";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: return fmt::format("the number {}", j.dump());
  }
  return "nothing";
}

Arguments::Arguments(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {}

Status Arguments::check() const {
  if (object_->is_object() || object_->is_null()) return {};
  return invalid_argument(fmt::format("{}: expected an object, found {}", where_.empty() ? "arguments" : where_.substr(0, where_.size() - 1), described(*object_)));
}

const Json* Arguments::find(const char* name) const {
  if (!object_->is_object()) return nullptr;
  const auto at = object_->find(name);
  return at == object_->end() || at->is_null() ? nullptr : &*at;
}

Status Arguments::wrong(const char* name, std::string_view expected) const {
  const Json* j = find(name);
  return invalid_argument(fmt::format("{}{}: expected {}, found {}", where_, name, expected, described(j ? *j : nothing())));
}

Result<std::string> Arguments::text(const char* name) const {
  const Json* j = find(name);
  if (!j || !j->is_string()) return wrong(name, "a string");
  return j->get<std::string>();
}

Result<std::string> Arguments::text(const char* name, std::string_view absent) const {
  if (!has(name)) return std::string(absent);
  return text(name);
}

Result<int64_t> Arguments::integer(const char* name, int64_t low, int64_t high) const {
  const Json* j = find(name);
  const auto v = j ? integer_of(*j) : std::nullopt;
  if (v && low <= *v && *v <= high) return *v;
  if (low == std::numeric_limits<int64_t>::min() && high == std::numeric_limits<int64_t>::max()) return wrong(name, "an integer");
  return wrong(name, high == std::numeric_limits<int64_t>::max() ? fmt::format("an integer of {} or more", low) : fmt::format("an integer of {} to {}", low, high));
}

Result<int64_t> Arguments::integer(const char* name, int64_t low, int64_t high, int64_t absent) const {
  if (!has(name)) return absent;
  return integer(name, low, high);
}

Result<bool> Arguments::flag(const char* name, bool absent) const {
  const Json* j = find(name);
  if (!j) return absent;
  if (!j->is_boolean()) return wrong(name, "true or false");
  return j->get<bool>();
}

Result<uint64_t> Arguments::address(const char* name) const {
  const Json* j = find(name);
  const auto v = j && j->is_string() ? parse_address(j->get_ref<const std::string&>()) : std::nullopt;
  if (!v) return wrong(name, "an address such as \"0x1a\"");
  return *v;
}

Result<std::vector<std::string>> Arguments::texts(const char* name) const {
  std::vector<std::string> out;
  const Json* j = find(name);
  if (!j) return out;
  if (!j->is_array() || j->size() > kMostItems) return wrong(name, "a list of strings");
  for (const Json& item : *j) {
    if (!item.is_string()) return invalid_argument(fmt::format("{}{}[{}]: expected a string, found {}", where_, name, out.size(), described(item)));
    out.push_back(item.get<std::string>());
  }
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>> Arguments::text_map(const char* name) const {
  std::vector<std::pair<std::string, std::string>> out;
  const Json* j = find(name);
  if (!j) return out;
  if (!j->is_object()) return wrong(name, "an object of strings");
  for (const auto& [key, value] : j->items()) {
    if (!value.is_string()) return invalid_argument(fmt::format("{}{}.{}: expected a string, found {}", where_, name, clipped(key), described(value)));
    out.emplace_back(key, value.get<std::string>());
  }
  return out;
}

Result<std::vector<Arguments>> Arguments::objects(const char* name) const {
  std::vector<Arguments> out;
  const Json* j = find(name);
  if (!j) return out;
  if (!j->is_array() || j->size() > kMostItems) return wrong(name, "a list of objects");
  for (const Json& item : *j) {
    Arguments& a = out.emplace_back(item, fmt::format("{}{}[{}].", where_, name, out.size()));
    if (!item.is_object()) return item.is_null() ? invalid_argument(fmt::format("{}{}[{}]: expected an object, found nothing", where_, name, out.size() - 1)) : a.check();
  }
  return out;
}

Result<Arguments> Arguments::object(const char* name) const {
  const Json* j = find(name);
  Arguments a(j ? *j : nothing(), fmt::format("{}{}.", where_, name));
  MSVM_RETURN_IF_ERROR(a.check());
  return a;
}

std::string text_in(const Json& object, const char* name) {
  const auto text = Arguments(object).text(name, "");
  return text.ok() ? *text : std::string();
}

std::string hex(uint64_t address) { return fmt::format("0x{:x}", address); }

std::optional<uint64_t> parse_address(std::string_view text) {
  const int base = text.starts_with("0x") || text.starts_with("0X") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return v;
}

}  // namespace msvm::observe::dap
