// Listings of programs as documents: text, lines, addresses; made once a version. Private to the room.
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "observe/dap/json.h"
#include "observe/debug/debugger.h"

namespace msvm::observe::dap {

struct Document {
  debug::Listing listing;
  uint64_t begin = 0;                                       // the program's first address
  std::string text;
  std::vector<std::pair<uint64_t, int32_t>> instructions;   // address, index of the line; ascending

  /// Index in `instructions` of the one at, or that covers, the address; -1 before the first.
  int64_t find(uint64_t address) const;
};

/// Thread-safe.
class Listings {
 public:
  explicit Listings(debug::Debugger& debugger) : debugger_(debugger) {}
  Result<std::shared_ptr<const Document>> get(uint64_t program);

 private:
  debug::Debugger& debugger_;
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<const Document>> made_;
};

/// "msvm://bc/0x100000000/neck": the name is what editors show of it; what can't stand in a uri as it is becomes '_'.
std::string listing_uri(uint64_t program, std::string_view name);
/// The program of such a uri, with any address within it, with or without a name.
std::optional<uint64_t> program_of_uri(std::string_view uri);
/// As the protocol's Source.
Json listing_source(uint64_t program, const std::string& name);

}  // namespace msvm::observe::dap
