// Pictures of the JIT at one moment: what jit_info, the command line and the monitor show.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/jit/compile/compile_queue.h"
#include "msvm/jit/native/jit_options.h"

namespace msvm {

/// One entry's row.
struct JitEntryView {
  std::string name;         // signature
  std::string alias;        // "jit_1920x1080"; empty: none
  std::string box;          // "N*_H224_W224"
  int tier = 1;
  int64_t hits = 0;
  int64_t code_bytes = 0;   // 0: no kernels of its own
  bool shared = false;      // its code is that of another entry
  std::string outcome;      // "compiled", "from disk", "" without kernels
  double compile_ms = 0;
  double age_seconds = 0;   // since dispatch knows it
  std::optional<double> last_hit_seconds;  // ago; none without a hit
};

/// Sizes that a region ran with.
struct JitShapeView {
  std::vector<int64_t> values;  // of JitRegionView::symbols
  int64_t runs = 0;
  int tier = 0;                 // that serves them now, and by which entry
  std::string entry;
};

struct JitRegionView {
  int32_t function = 0, region = 0;
  std::string name;                      // "@main instructions 3 to 141"
  std::vector<std::pair<int32_t, int32_t>> instructions;  // [begin, end) of the function's, in order
  std::string place;                     // of its first instruction: "model.py:47"
  std::vector<std::string> symbols;
  std::vector<std::string> open;         // of them, those that the last candidate left open
  std::vector<std::string> broken;       // where sizes stop following from others, and what would help; looked for while `hint` isn't empty
  int calls = 0, fused_calls = 0;
  std::vector<std::string> fused;        // a sentence per group
  std::vector<std::string> not_fused;    // "OP (model.onnx:12): why"
  std::string verdict;                   // "low SCD": `state` in short
  std::string state;                     // why the last run's sizes have no code of their own, or that they have
  double scd = 0;                        // of the last candidate
  int64_t runs = 0, native = 0, specialised = 0;
  double interpreted_ms = 0, native_ms = 0;  // in all
  std::vector<JitEntryView> entries;     // as dispatch asks them
  std::vector<JitShapeView> shapes;      // the most frequent, at most 32
};

/// Why something ran, or stayed, on a slower path.
struct SlowPathView {
  double seconds = 0;                    // since the program was loaded
  std::string region, reason, place;     // "model.py:47"
  // Of compilations that failed:
  double scd = 0;                        // of the region's last candidate
  std::string phase;                     // in which it ended; empty: none
  double elapsed_ms = 0, limit_ms = 0;   // of the compilation, and what it might have taken
  std::string instead;                   // what runs now: "interpreter", or the name of an entry
};
/// {"program": …, "region": …, …}: a line of the slow-path log, without its time.
std::string to_json(const SlowPathView& s, std::string_view program);

enum class JitEventKind : uint8_t { kAnalysed, kCompiled, kPatched, kEvicted, kFailed, kRetired };
struct JitEventView {
  double seconds = 0;                    // since the program was loaded
  JitEventKind kind;
  std::string what;
};
std::string_view event_name(JitEventKind k);

/// Hit rate: region runs in native code / region runs. Specialised: those by a box that fixes something.
struct JitView {
  std::string program;
  jit::Owner owner = 0;                  // of its jobs in the queue
  double seconds = 0;                    // since the program was loaded: when the picture was taken
  std::vector<JitRegionView> regions;
  int64_t runs = 0, native = 0, specialised = 0;
  int64_t window_runs = 0, window_native = 0, window_specialised = 0;  // the latest 1000 or so
  int64_t code_bytes = 0, cache_bytes = 0;
  int64_t compiled = 0, from_disk = 0, failed = 0, evicted = 0;
  double compile_ms = 0;                 // in all
  std::map<std::string, int64_t> failed_by_reason;  // "timed out", …
  std::vector<SlowPathView> slow_path;   // the latest
  std::vector<JitEventView> events;      // the latest
  CacheMode cache_mode = CacheMode::kExact;
  std::map<std::string, std::vector<int64_t>> boundaries;  // of symbols, as given or learnt
  std::string hint;                      // what would help; empty: nothing is wrong
  double hit_rate() const { return runs ? static_cast<double>(native) / static_cast<double>(runs) : 0; }
  double specialised_hit_rate() const { return runs ? static_cast<double>(specialised) / static_cast<double>(runs) : 0; }
};

/// A region's code has changed while its program may be running.
struct PatchNotice {
  int32_t function = 0, region = 0;
  int32_t begin = 0;        // the region's first instruction
  std::string name;         // of the entry that is new; empty: entries went
  std::string alias;        // "jit_1920x1080"; empty: none
  int old_tier = 0, new_tier = 0;  // of the region's best entry; 0: none
};

/// For people.
std::string to_text(const JitView& view);

}  // namespace msvm
