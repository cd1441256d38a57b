// A loaded program, as Python sees it.
#pragma once
#include "engines.h"

namespace msvm::python {

class PyExecutable {
 public:
  PyExecutable(std::shared_ptr<Engine> engine, std::shared_ptr<Executable> executable) : engine_(std::move(engine)), executable_(std::move(executable)) {}

  Engine& engine() { return *engine_; }
  Executable& executable() { return *executable_; }
  const Function& function() const { return executable_->function(); }
  nb::list names(const std::vector<Param>& list) const;
  nb::list types(const std::vector<Param>& list) const;
  nb::dict metadata() const;
  nb::str jit_info() const;
  void drain_jit();
  /// Arrays by position. The GIL is free while it runs.
  nb::list run(nb::list arrays);
  nb::list profile();
  nb::dict counters();

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Executable> executable_;
};

/// Runs it without the GIL: every call of a program from Python goes through here.
Status run_without_gil(PyExecutable& e, std::span<const Value> inputs, std::vector<Value>& results);

/// What a program is loaded with.
struct LoadOptions {
  int num_threads = 0;
  int opt = 0;
  int jit_level = 2;
};
/// Verifies, optimises and loads what `read` gives; without the GIL.
PyExecutable* load(const std::function<Result<Module>()>& read, const LoadOptions& options);

void bind_executable(nb::module_& m);

}  // namespace msvm::python
