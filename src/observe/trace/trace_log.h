// A trace, read.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/events/event_stream.h"
#include "observe/trace/bclog_format.h"

namespace msvm::observe {

/// Of a program, as it was when its first event was written.
struct ProgramTable {
  struct Instruction {
    std::string mnemonic, op, place, origins;
  };
  struct Function {
    std::string name;
    std::vector<Instruction> instructions;
  };
  std::string name;
  std::vector<Function> functions;
};

class TraceLog {
 public:
  /// Never fails for what is missing or broken behind the header: damage() says what. `path` in messages.
  static Result<TraceLog> parse(std::span<const std::byte> bytes, const std::string& path);
  static Result<TraceLog> read(const std::string& path);

  const FileHeader& header() const { return header_; }
  /// By their begin.
  const std::vector<Event>& events() const { return events_; }
  std::string_view text(TextId id) const;                   // empty if it is unknown
  const ProgramTable& program(const Event& e) const;        // an empty one if it is unknown
  std::string_view function_name(const Event& e) const;
  const ProgramTable::Instruction* instruction(const Event& e) const;  // null: none
  uint64_t dropped() const { return dropped_; }
  const std::vector<std::string>& damage() const { return damage_; }

  int64_t wall_ns(int64_t ticks) const;
  double seconds(int64_t ticks) const;                      // since the log began
  double nanoseconds(const Event& e) const { return static_cast<double>(static_cast<int64_t>(static_cast<uint64_t>(e.end) - static_cast<uint64_t>(e.begin))) * header_.ns_per_tick; }

 private:
  TraceLog() = default;
  void read_block(const BlockHeader& h, std::span<const std::byte> bytes, size_t offset);
  void parse_programs();

  FileHeader header_;
  std::vector<Event> events_;
  std::unordered_map<TextId, std::string> texts_;
  std::map<TextId, ProgramTable> programs_;
  uint64_t dropped_ = 0;
  std::vector<std::string> damage_;
};

/// The newest .bclog of a folder; the error names the folder.
Result<std::string> newest_log(const std::string& folder);

}  // namespace msvm::observe
