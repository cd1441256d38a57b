// The JIT of an engine: its queue and thread, its code on disk, the images in memory.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "msvm/jit/compile/compile_queue.h"
#include "msvm/jit/image.h"
#include "msvm/jit/native/jit_options.h"
#include "msvm/jit/native/jit_view.h"
#include "msvm/jit/native/kept_code.h"
#include "msvm/vm/session.h"

namespace msvm::jit {

class NativeProgram;

/// What the engine tells the JIT about the machine.
struct NativeTarget {
  std::string isa;            // "avx2", "avx512"; else no kernels are made
  ImageIsa image_isa = ImageIsa::kAvx2;
  bool kernels = false;
};

struct NativeJitOptions {
  NativeTarget target;
  std::string compiler;       // path of the compiler; empty: found beside the program, or MSVM_CC
  std::string cache_folder;   // of code; empty: the user's
  bool disk_cache = true;
  bool strict = false;
  bool eager = false;         // compile at normal priority, without a budget of CPU time
  double compile_timeout = 2.0;
};

/// Thread-safe. Threads and processes start with the first job.
class NativeJit : public std::enable_shared_from_this<NativeJit> {
 public:
  explicit NativeJit(NativeJitOptions options);
  ~NativeJit();
  std::shared_ptr<NativeProgram> add(std::shared_ptr<const Program> program, const JitOptions& options);
  const NativeJitOptions& options() const { return options_; }
  CompileQueue& queue() { return *queue_; }
  KeptCode& kept() { return *kept_; }
  QueueView queue_view() const { return queue_->view(); }
  /// Kernels are chosen by other rules from now on: all entries are retired and made again, and what failed may be tried again.
  void capabilities_changed();
  /// Waits until nothing is left to do; for tests and warm-up.
  void drain();

  /// For programs, on the JIT thread: the image of these bytes, shared with whoever has it.
  Result<std::shared_ptr<const NativeImage>> map(const std::string& key, const std::vector<std::byte>& bytes);
  std::shared_ptr<const NativeImage> find_image(const std::string& key);
  std::string flags() const;

 private:
  const NativeJitOptions options_;
  mutable std::mutex mutex_;
  const std::shared_ptr<KeptCode> kept_;
  std::map<std::string, std::weak_ptr<const NativeImage>> images_;  // by the text of the loop program
  std::vector<std::weak_ptr<NativeProgram>> programs_;
  std::unique_ptr<CompileQueue> queue_;  // last: its thread uses the rest
};

}  // namespace msvm::jit
