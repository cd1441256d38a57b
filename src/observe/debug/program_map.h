// One program of the process: its numbers and names, for places, addresses and lines. Private to the room.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "observe/debug/types.h"

namespace msvm::observe::debug {

/// Made when somebody first asks: a program that nobody debugs pays for none of it.
class ProgramMap {
 public:
  ProgramMap(uint64_t given, std::string called, const std::shared_ptr<Executable>& program) : number(given), name(std::move(called)), program_(program) {}

  const uint64_t number;
  const std::string name;
  std::shared_ptr<Executable> executable() const { return program_.lock(); }
  bool loaded() const { return !program_.expired(); }
  bool is(const std::shared_ptr<Executable>& e) const { return !program_.owner_before(e) && !e.owner_before(program_); }

  uint64_t begin() const { return number << 32; }
  uint64_t address(int32_t function, int32_t instruction) const;
  const std::vector<uint32_t>& offsets(int32_t function) const { return offsets()[static_cast<size_t>(function)]; }
  std::optional<Place> at(uint32_t offset) const;
  ProgramInfo info() const;

  struct Origin {
    std::string file;
    int32_t line = 0, column = 0;
    std::vector<std::string> origins;
  };
  struct FunctionMap {
    std::string name;
    std::vector<int32_t> step;             // by instruction: where its step begins: itself, of a PHI the first one of its block
    std::vector<uint32_t> origin;          // by instruction: index into `origins`
    std::vector<Origin> origins;
    std::vector<std::pair<int32_t, std::string>> calls;  // instruction, operator
  };
  /// Empty if the program went before anybody asked.
  const std::vector<FunctionMap>& functions() const {
    make();
    return functions_;
  }
  const Origin& origin(int32_t function, int32_t instruction) const;

  /// With the tiers of the moment. Empty if the program is gone.
  Listing listing() const;
  std::map<std::string, std::string> short_names() const;
  /// Line, from 1, of an instruction.
  int32_t line_of(int32_t function, int32_t instruction) const;
  /// The first instruction on the line or after it, in the same function.
  std::optional<Place> at_line(int32_t line) const;
  std::atomic<uint64_t> version{1};        // of the listing
  std::weak_ptr<DebugHook> hook;           // of the program, once it has had one. With the inspector's mutex

 private:
  void make() const;
  void find_lines() const;
  const std::vector<std::vector<uint32_t>>& offsets() const {
    make();
    return offsets_;
  }

  const std::weak_ptr<Executable> program_;
  mutable std::once_flag made_, lines_once_;
  mutable std::vector<std::vector<uint32_t>> offsets_;
  mutable std::vector<FunctionMap> functions_;
  struct Line {
    int32_t function = -1, instruction = -1;
  };
  mutable std::vector<Line> lines_;
  mutable std::vector<std::vector<int32_t>> line_of_;  // [function][instruction]
};

/// Whether two names mean one file: the same, or one ends with the other behind a slash.
bool same_file(std::string_view a, std::string_view b);

}  // namespace msvm::observe::debug
