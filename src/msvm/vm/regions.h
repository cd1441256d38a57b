// Regions of a function whose code may change while sessions run it: the JIT publishes, sessions read, nobody waits.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/vm/region_code.h"

namespace msvm {

class Program;
namespace vm {
struct Function;
}

/// Says which snapshot a session runs from: what it names isn't freed. Written by its session only.
struct RegionHazard {
  std::atomic<const RegionSnapshot*> snapshot{nullptr};
};

/// The regions of one function of a program. Belongs to the program (Program::attach), lives as long.
class RegionTable {
 public:
  /// Decodes the function once more, with the regions' borders marked. Fails if it can't be laid out like the first time.
  static Result<std::unique_ptr<RegionTable>> create(const Program& program, int32_t function, std::vector<RegionSpec> regions);
  ~RegionTable();
  const vm::Function& code() const { return *code_; }
  const std::vector<RegionSpec>& regions() const { return regions_; }

  /// Replaces what dispatch sees of a region. Thread-safe. What was published before is freed once no session runs from it.
  void publish(size_t region, std::vector<std::shared_ptr<const RegionEntry>> entries);

  /// For sessions.
  const RegionSnapshot* enter(size_t region, RegionHazard& hazard) const;
  void join(RegionHazard* hazard);
  void leave(RegionHazard* hazard);

 private:
  RegionTable() = default;
  void reclaim();

  std::unique_ptr<vm::Function> code_;
  std::vector<RegionSpec> regions_;
  std::vector<std::atomic<const RegionSnapshot*>> slots_;
  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<const RegionSnapshot>> current_, retired_;
  std::vector<RegionHazard*> hazards_;
};

}  // namespace msvm
