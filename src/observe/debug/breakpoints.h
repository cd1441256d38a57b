// Breakpoints: what was asked for, where it is bound, whether it stops. Private to the room.
#pragma once
#include <atomic>
#include <map>
#include <memory>

#include "observe/debug/expression.h"
#include "observe/debug/program_map.h"

namespace msvm::observe::debug {

enum class BreakKind : uint8_t { kSource, kListing, kAddress, kFunction };

/// "5", ">= 5", "% 3"
struct HitCondition {
  enum Op : uint8_t { kAlways, kEqual, kNotLess, kGreater, kLess, kNotGreater, kEvery } op = kAlways;
  uint64_t count = 0;
  bool holds(uint64_t hits) const;
};
Result<HitCondition> parse_hit_condition(std::string_view text);

/// Text with {expressions} in it.
struct LogTemplate {
  std::vector<std::pair<std::string, std::optional<Expression>>> parts;  // text, then the value of an expression
};
Result<LogTemplate> parse_log_template(std::string_view text);

/// Shared by the table and the runs that come by. Immutable but for the count.
struct BreakRule {
  int id = 0;
  BreakKind kind{};
  std::optional<Expression> condition;
  HitCondition hit;
  std::optional<LogTemplate> log;
  std::atomic<uint64_t> hits{0};
};

/// A program's instructions at which there is something to do. Immutable.
struct Armed {
  struct At {
    Place place;
    std::shared_ptr<BreakRule> rule;
  };
  std::vector<std::vector<uint8_t>> marks;  // [function][instruction], where steps begin; a function without any is empty
  std::vector<At> list;
  bool any(int32_t function) const { return static_cast<size_t>(function) < marks.size() && !marks[static_cast<size_t>(function)].empty(); }
  bool at(int32_t function, int32_t instruction) const { return any(function) && marks[static_cast<size_t>(function)][static_cast<size_t>(instruction)]; }
};

using Programs = std::vector<std::shared_ptr<ProgramMap>>;

/// One thread at a time.
class BreakpointTable {
 public:
  struct Wanted {
    BreakKind kind{};
    std::string name;        // file, or function
    uint64_t number = 0;     // program, or address
    int32_t line = 0;
    BreakpointOptions options;
  };
  /// Replaces those of the same kind, and name or program.
  std::vector<Breakpoint> replace(BreakKind kind, const std::string& name, uint64_t number, std::vector<Wanted> wanted, const Programs& programs);
  void clear() { list_.clear(); }
  std::vector<Breakpoint> all() const;
  /// Binds anew, since programs came or went; gives those that have changed.
  std::vector<Breakpoint> rebind(const Programs& programs);
  std::shared_ptr<const Armed> armed(const ProgramMap& program) const;

 private:
  struct Entry {
    Wanted wanted;
    std::shared_ptr<BreakRule> rule;
    std::string error;               // of its expressions
    std::string warning;             // a name in its condition that isn't known where it is bound: it stops there and says so
    std::vector<Place> places;
    int32_t bound_line = 0;
  };
  static void bind(Entry& e, const Programs& programs);
  static Breakpoint view(const Entry& e);

  std::vector<Entry> list_;
  int last_id_ = 0;
};

}  // namespace msvm::observe::debug
