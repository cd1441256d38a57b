// What `launch` is asked for, and whoever loads and runs it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "msvm/base/diagnostic.h"
#include "observe/dap/json.h"

namespace msvm::observe::dap {

struct LaunchArguments {
  std::string program;                                       // .py, .msbc, .msasm, .onnx
  std::vector<std::string> args;                             // of a Python program
  std::string cwd, python;                                   // empty: as this process; the interpreter of the path
  std::vector<std::pair<std::string, std::string>> env;
  bool stop_on_entry = false;
  std::vector<std::pair<std::string, std::string>> inputs;   // input -> .npy file
  std::vector<std::string> shapes, ranges;                   // "x=1x3x64x64"; "x=0:10"
  std::string function;                                      // empty: the first
  std::string output;                                        // where the last run's results go, .npz or .npy; empty: nowhere
  int64_t runs = 1, seed = 1;
  std::optional<bool> optimize;                              // absent: models from ONNX are
  bool native_stays = false;                                 // native code isn't stepped down
  bool no_debug = false;
};
Result<LaunchArguments> read_launch(const Arguments& arguments);

/// Loads and runs one program in this process. Its methods are called by one thread.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Loads and verifies; the program is known to the inspector then. `findings`: what of it can't be verified, with an error.
  virtual Status load(const LaunchArguments& arguments, Diagnostics& findings) = 0;
  /// Once, after load(): the runs begin in a thread of their own. `ended` is called there, with the first failure.
  virtual void start(std::function<void(const Status&)> ended) = 0;
  /// Ends runs that go on, and waits until they have; `ended` has been called then, or never will be.
  virtual void stop() = 0;
};

}  // namespace msvm::observe::dap
