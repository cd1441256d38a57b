// A loaded program, as Python sees it.
#pragma once
#include <functional>

#include "engines.h"
#include "options.h"

namespace msvm::python {

/// The file that a program came from, to read it again.
class ProgramFile {
 public:
  ProgramFile(std::string path, Result<Module> (*read)(const std::string&));
  Result<Module> read() const { return read_(path_); }
  /// As the file was when it was loaded; an error if it has changed since.
  Result<std::shared_ptr<const VerifiedModule>> read_again() const;

 private:
  std::string state() const;
  std::string path_, state_;
  Result<Module> (*read_)(const std::string&);
};

class PyExecutable {
 public:
  PyExecutable(std::shared_ptr<Engine> engine, std::shared_ptr<Executable> executable, LoadOptions options = {})
      : engine_(std::move(engine)), executable_(std::move(executable)), options_(std::move(options)) {}

  Engine& engine() { return *engine_; }
  Executable& executable() { return *executable_; }
  /// What it was loaded with.
  const LoadOptions& options() const { return options_; }
  /// Null if it came from no file.
  std::shared_ptr<const ProgramFile> file;
  const Function& function() const { return executable_->function(); }
  nb::list names(const std::vector<Param>& list) const;
  nb::list types(const std::vector<Param>& list) const;
  nb::dict metadata() const;
  nb::str jit_info() const;
  void drain_jit();
  /// Until the JIT has nothing left to do, or so many seconds (negative: without end); whether it has. Signals are served meanwhile.
  bool wait_compiled(double seconds);
  /// Arrays by position. The GIL is free while it runs.
  nb::list run(nb::list arrays);
  nb::list profile();
  nb::dict counters();

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Executable> executable_;
  const LoadOptions options_;
};

/// Verifies, optimises and loads what `read` gives; without the GIL.
PyExecutable* load(const std::function<Result<Module>()>& read, const LoadOptions& options);

void bind_executable(nb::module_& m);

}  // namespace msvm::python
