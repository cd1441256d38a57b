// JSON of messages: reading without exceptions, and arguments whose errors say what was expected and found.
#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::observe::dap {

using Json = nlohmann::json;

/// Any text; the error says where it stops being JSON, or that it is nested too deeply.
Result<Json> parse_json(std::string_view text);
/// Always valid UTF-8, whatever files named things.
std::string dump(const Json& value);
/// "the number 3", "a list of 2", "\"te...\"": what was found, in few words.
std::string described(const Json& value);

/// The members of an object that somebody sent. `where` goes before the names in messages: "source.".
class Arguments {
 public:
  /// What isn't an object has no members; check() says so.
  explicit Arguments(const Json& object, std::string where = {});
  /// An error unless an object was given.
  Status check() const;

  /// null counts as absent.
  const Json* find(const char* name) const;
  bool has(const char* name) const { return find(name) != nullptr; }

  Result<std::string> text(const char* name) const;
  Result<std::string> text(const char* name, std::string_view absent) const;
  Result<int64_t> integer(const char* name, int64_t low, int64_t high) const;
  Result<int64_t> integer(const char* name, int64_t low, int64_t high, int64_t absent) const;
  Result<bool> flag(const char* name, bool absent) const;
  /// "0x1a" or "26".
  Result<uint64_t> address(const char* name) const;
  /// A list of strings; empty where it is absent.
  Result<std::vector<std::string>> texts(const char* name) const;
  /// {"name": "text"} in the order of names; empty where it is absent.
  Result<std::vector<std::pair<std::string, std::string>>> text_map(const char* name) const;
  /// A list of objects; empty where it is absent.
  Result<std::vector<Arguments>> objects(const char* name) const;
  /// An object; without members where it is absent.
  Result<Arguments> object(const char* name) const;

  /// "source.path: expected a string, found the number 3"
  Status wrong(const char* name, std::string_view expected) const;

 private:
  const Json* object_;
  std::string where_;
};

std::string hex(uint64_t address);
/// A member that is text; empty where there is none.
std::string text_in(const Json& object, const char* name);
/// "0x1a" or "26".
std::optional<uint64_t> parse_address(std::string_view text);

}  // namespace msvm::observe::dap
