// Running a program over inputs or a stream of shapes: what `run`, `jit-info` and `compile` share.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attach.h"
#include "common.h"
#include "feed.h"
#include "jit_flags.h"

namespace msvm::cli {

struct StreamOptions {
  std::string program, stream, patch;
  std::vector<std::string> inputs, shapes, ranges;
  int runs = 10, threads = 0;
  uint64_t seed = 1;
  int64_t max_bytes = 0, max_instructions = 0;
  double max_seconds = 0;
  OptLevel level;
  bool quiet = false, wait_for_code = false;
  JitFlags jit;
  MonitorFlag monitor;
};
/// PROGRAM and all of these options.
void add_stream_options(CLI::App& command, StreamOptions& options);

struct ShapeTiming {
  std::string shapes;
  std::vector<double> ns;           // the first run of the shape, then the others
  int interpreted = 0, native = 0;  // runs by whether native code took part
  std::string mode() const { return !native ? "interpreter" : !interpreted ? "native" : "interpreter, native"; }
};

/// A loaded program and what a run needs.
struct Loaded {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Executable> program;
  std::unique_ptr<observe::Monitor> monitor;  // null: none was asked for
  double load_ns = 0;
  const Function& f() const { return program->function(); }
};
/// `findings`: where it is not null, what can't be verified.
Result<Loaded> load_program(const StreamOptions& o, Diagnostics* findings = nullptr);
/// Files of `inputs`: NAME=FILE.npy, FILE.npz; by the inputs' names.
Result<std::map<std::string, TensorValue>> load_files(const std::vector<std::string>& specs, Engine& engine);

/// The shapes of each step of `stream` (a file, or the steps themselves), with those of `shapes` where it names none. One step, of
/// `shapes`, if `stream` is empty.
Result<std::vector<Shapes>> stream_steps(const std::string& stream, const std::vector<std::string>& shapes, const Function& f);

struct Streamed {
  std::vector<ShapeTiming> timings;                 // by shape, in order of first run
  std::map<std::string, std::vector<Value>> inputs; // by shape, of the last ones
  std::string last;                                 // shape
  std::vector<Value> results;                       // of the last run
};
/// Runs each step; a progress bar on a terminal.
Result<Streamed> run_stream(const Loaded& loaded, const StreamOptions& o, bool progress);

}  // namespace msvm::cli
