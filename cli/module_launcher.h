// A .msbc, .msasm or .onnx program that is debugged in this process, in a thread of its own.
#pragma once
#include <mutex>
#include <thread>

#include "msvm/base/run_control.h"
#include "observe/dap/launch.h"
#include "stream.h"

namespace msvm::cli {

class ModuleLauncher final : public observe::dap::Launcher {
 public:
  /// `say`: what the program prints, and its results; a line, with its end.
  explicit ModuleLauncher(std::function<void(const std::string&)> say) : say_(std::move(say)) {}
  ~ModuleLauncher() override { stop(); }
  Status load(const observe::dap::LaunchArguments& arguments, Diagnostics& findings) override;
  void start(std::function<void(const Status&)> ended) override;
  void stop() override;

 private:
  Status run_all();

  const std::function<void(const std::string&)> say_;
  Loaded loaded_;
  int32_t function_ = 0;
  int64_t runs_ = 1;
  std::string output_;
  std::vector<Value> inputs_;
  RunControl control_;
  std::thread thread_;
};

}  // namespace msvm::cli
