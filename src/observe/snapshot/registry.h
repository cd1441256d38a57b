// The engines and programs of the process that are watched. Private to the room.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "msvm/engine/engine.h"
#include "observe/snapshot/growth.h"
#include "observe/snapshot/rates.h"
#include "observe/snapshot/snapshot.h"

namespace msvm::observe {

/// Thread-safe. Holds nothing alive; what is gone is forgotten at the next look.
class Registry {
 public:
  void add(const std::shared_ptr<Engine>& engine);
  void add(const std::shared_ptr<Executable>& program, const std::string& name);
  Snapshot take();
  /// What take() gave last if that isn't older than `age`, else a new one.
  std::shared_ptr<const Snapshot> recent(std::chrono::milliseconds age);
  std::shared_ptr<Executable> find(uint64_t program);
  std::vector<std::shared_ptr<Engine>> engines();
  /// For the time of a fork.
  std::mutex& mutex() { return mutex_; }

 private:
  struct WatchedEngine {
    int id;
    std::weak_ptr<Engine> engine;
    Growth growth;
  };
  struct WatchedProgram {
    uint64_t id;
    std::string name;  // no two that live have the same
    std::weak_ptr<Executable> program;
    Rates rates;
    std::optional<std::chrono::system_clock::time_point> low_since;  // hit rate
  };
  void tidy();  // with mutex_ held
  std::string unique(const std::string& name);

  std::mutex mutex_;
  int last_engine_ = -1;
  uint64_t last_program_ = 0;
  std::vector<WatchedEngine> engines_;
  std::vector<WatchedProgram> programs_;
  std::unordered_set<std::string> names_;  // of programs_
  std::shared_ptr<const Snapshot> last_;
};

}  // namespace msvm::observe
