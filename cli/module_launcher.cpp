#include "module_launcher.h"

#include <errno.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "msvm/bytecode/text.h"
#include "msvm/kernels/print.h"
#include "observe/debug/debugger.h"
#include "results.h"

namespace msvm::cli {
namespace {

std::string function_names(const Executable& program) {
  std::string out;
  for (const Function& f : program.functions()) out += (out.empty() ? "" : ", ") + f.name;
  return out;
}

/// A place of their own is what findings of a text have.
Diagnostics findings_of_text(const std::string& path) {
  const auto text = read_text(path);
  if (!text.ok()) return {};
  const auto slash = path.rfind('/');
  return assemble(*text, path, slash == std::string::npos ? "." : path.substr(0, slash + 1)).errors;
}

}  // namespace

Status ModuleLauncher::load(const observe::dap::LaunchArguments& a, Diagnostics& findings) {
  if (!a.cwd.empty() && ::chdir(a.cwd.c_str()) != 0) return {StatusCode::kIo, fmt::format("cwd: {}: {}", a.cwd, std::strerror(errno))};
  for (const auto& [name, value] : a.env)
    if (::setenv(name.c_str(), value.c_str(), 1) != 0) return invalid_argument(fmt::format("env: expected a name of a variable, found \"{}\"", name));
  StreamOptions o;
  o.program = a.program;
  o.shapes = a.shapes;
  o.ranges = a.ranges;
  o.seed = static_cast<uint64_t>(a.seed);
  if (a.optimize) o.level.given = *a.optimize ? 1 : 0;
  for (const auto& [name, file] : a.inputs) o.inputs.push_back(name + "=" + file);
  auto loaded = load_program(o, &findings);
  if (!loaded.ok()) {
    if (findings.empty() && loaded.status().code() == StatusCode::kMalformedFile && a.program.ends_with(".msasm")) findings = findings_of_text(a.program);
    return loaded.status();
  }
  loaded_ = std::move(*loaded);
  const auto& all = loaded_.program->functions();
  const std::string_view wanted = a.function.starts_with('@') ? std::string_view(a.function).substr(1) : std::string_view(a.function);
  if (!wanted.empty()) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Function& f) { return f.name == wanted; });
    if (at == all.end()) return invalid_argument(fmt::format("function: expected one of {}, found \"{}\"", function_names(*loaded_.program), a.function));
    function_ = static_cast<int32_t>(at - all.begin());
  }
  const Function& f = loaded_.program->function(function_);
  MSVM_ASSIGN_OR_RETURN(const auto files, load_files(o.inputs, *loaded_.engine));
  MSVM_ASSIGN_OR_RETURN(const Shapes shapes, parse_shapes(o.shapes, f));
  MSVM_ASSIGN_OR_RETURN(const auto ranges, parse_ranges(o.ranges, f));
  MSVM_ASSIGN_OR_RETURN(inputs_, make_inputs(f, shapes, files, ranges, o.seed, *loaded_.engine));
  runs_ = a.runs;
  output_ = a.output;
  const std::string& name = loaded_.program->name();
  observe::debug::Debugger::process().add(loaded_.program, name.empty() ? "program" : name);
  set_print_sink([say = say_](const PrintCall& call) {
    say(to_text(call));
    return Status();
  });
  return {};
}

Status ModuleLauncher::run_all() {
  const Function& f = loaded_.program->function(function_);
  std::vector<Value> results;
  for (int64_t i = 0; i < runs_; ++i) {
    results.clear();
    MSVM_RETURN_IF_ERROR(loaded_.program->run(inputs_, results, function_, &control_));
  }
  for (size_t i = 0; i < results.size(); ++i) say_(fmt::format("output {}: {}\n", f.outputs[i].name.empty() ? std::to_string(i) : f.outputs[i].name, describe(results[i])));
  return output_.empty() ? Status() : write_outputs(output_, f, results);
}

void ModuleLauncher::start(std::function<void(const Status&)> ended) {
  thread_ = std::thread([this, ended = std::move(ended)] {
    pthread_setname_np(pthread_self(), "main");
    ended(run_all());
  });
}

void ModuleLauncher::stop() {
  control_.stop();
  if (thread_.joinable()) thread_.join();
  set_print_sink({});
}

}  // namespace msvm::cli
