// debug: a debugger in the terminal.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>

#include "common.h"
#include "completion.h"
#include "debug_console.h"
#include "debug_front.h"
#include "line_editor.h"

namespace msvm::cli {
namespace {

using observe::dap::Json;
using observe::dap::Output;
using observe::dap::Peer;

/// Gives what is sent to whoever takes it, without a wire between them.
class Direct final : public Output {
 public:
  void connect(Peer* to) { to_ = to; }
  void send(const Json& message) override {
    if (to_) to_->receive(message);
  }

 private:
  Peer* to_ = nullptr;
};

struct Options {
  std::string program, function, output, script, python, native;
  std::vector<std::string> shapes, inputs, ranges, args, commands;
  int64_t runs = 1, seed = 1, attach = 0;
  OptLevel level;
};

Result<Json> launch_arguments(const Options& o) {
  Json a{{"program", o.program}, {"stopOnEntry", true}, {"shapes", o.shapes}, {"ranges", o.ranges}, {"runs", o.runs}, {"seed", o.seed}, {"args", o.args}, {"console", "internalConsole"}};
  for (const auto& [name, text] : {std::pair{"function", o.function}, {"output", o.output}, {"python", o.python}, {"native", o.native}})
    if (!text.empty()) a[name] = text;
  if (o.level.given >= 0) a["optimize"] = o.level.given > 0;
  Json inputs = Json::object();
  for (const std::string& s : o.inputs) {
    const size_t equals = s.find('=');
    if (equals == std::string::npos) return invalid_argument(fmt::format("--input {}: NAME=FILE.npy is expected", s));
    inputs[s.substr(0, equals)] = s.substr(equals + 1);
  }
  a["inputs"] = std::move(inputs);
  return a;
}

/// Commands that were given beforehand, shown as if they were typed. At the first that fails: its error, with its place.
class Script {
 public:
  static Result<Script> read(const Options& o) {
    Script s;
    if (!o.script.empty()) {
      MSVM_ASSIGN_OR_RETURN(const std::string text, read_text(o.script));
      std::istringstream in(text);
      int n = 0;
      for (std::string line; std::getline(in, line);) s.lines_.push_back({fmt::format("{}:{}", o.script, ++n), line});
    }
    for (const std::string& c : o.commands) s.lines_.push_back({fmt::format("-e \"{}\"", c), c});
    return s;
  }

  /// Breakpoints that stand first are set before anything runs.
  Status prepare(DebugConsole& console) {
    while (next_ < lines_.size() && DebugConsole::prepares(lines_[next_].text)) MSVM_RETURN_IF_ERROR(do_next(console).status());
    return {};
  }
  /// False: `quit`.
  Result<bool> run(DebugConsole& console) {
    while (next_ < lines_.size()) {
      MSVM_ASSIGN_OR_RETURN(const bool more, do_next(console));
      if (!more) return false;
    }
    return true;
  }
  /// Of breakpoints that never found their place; those that were typed are told here.
  Status outcome(const DebugConsole& console) const {
    std::string text;
    for (const auto& [number, why] : console.never_bound()) {
      const std::string what = fmt::format("breakpoint {} found no place in what was loaded: ", number);
      const auto set = set_.find(number);
      if (set == set_.end()) fmt::print("{}{}\n", what, printable(why));
      else text += fmt::format("{}{}: {}{}", text.empty() ? "" : "\n", lines_[set->second].place, what, lines_[set->second].text);
    }
    return text.empty() ? Status() : invalid_argument(text);
  }

 private:
  struct Line {
    std::string place, text;
  };

  Result<bool> do_next(DebugConsole& console) {
    const size_t at = next_++;
    const auto& [place, text] = lines_[at];
    fmt::print("(msvm) {}\n", printable(text));
    if (text.find_first_not_of(" \t\r") == std::string::npos) return true;  // doesn't repeat
    const int before = console.last_breakpoint();
    auto more = console.command(text);
    if (console.last_breakpoint() > before) set_.emplace(console.last_breakpoint(), at);
    if (!more.ok()) return invalid_argument(fmt::format("{}: {}", place, more.status().message()));
    return more;
  }

  std::vector<Line> lines_;
  size_t next_ = 0;
  std::map<int, size_t> set_;  // breakpoints, and the lines that set them
};

/// False: nothing comes any more, or `quit`.
bool do_line(DebugConsole& console, const std::string& line) {
  const auto more = console.command(line);
  if (more.ok()) return *more;
  std::fflush(stdout);
  fmt::print(stderr, "error: {}\n", printable(more.status().message()));
  return true;
}

void interact(DebugConsole& console) {
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
    LineEditor editor([&](const std::string& line) { return console.completions(line); });
    for (;;) {
      const auto line = editor.read(console.prompt());
      if (!line) return fmt::print("\n");
      DebugConsole::forget_interrupt();
      if (!do_line(console, *line)) return;
    }
  }
  for (std::string line; std::getline(std::cin, line);) {
    fmt::print("(msvm) {}\n", printable(line));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (!do_line(console, line)) return;
    std::fflush(stdout);
  }
}

int debug(const Options& o) {
  if (o.program.empty() == (o.attach == 0)) {
    report(invalid_argument("expected a program, or --attach PID"));
    return kUsage;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // whoever reads along sees what has happened
  struct sigaction on_interrupt {};
  on_interrupt.sa_handler = [](int) {
    DebugConsole::interrupt();
    LineEditor::discard();  // at the prompt it ends nothing
  };
  if (isatty(STDIN_FILENO)) on_interrupt.sa_flags = SA_RESTART;
  sigaction(SIGINT, &on_interrupt, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  Direct to_console, to_front;
  auto script = Script::read(o);
  if (!script.ok()) return report(script.status());
  DebugFront front(to_console, [] {});
  DebugConsole console(to_front, isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR"));
  to_console.connect(&console.client());
  to_front.connect(&front);
  const auto finish = [&](Status s) {
    const bool failed = console.exit_code() != 0;  // not by being ended here
    if (s.ok()) s = script->outcome(console);
    console.end();
    front.closed();
    if (!s.ok()) return report(s);
    return static_cast<int>(failed ? kFailed : kDone);
  };
  const auto before = [&] { return script->prepare(console); };
  if (o.attach) {
    if (Status s = console.begin("attach", {{"processId", o.attach}}, before); !s.ok()) return finish(s);
  } else {
    auto arguments = launch_arguments(o);
    if (!arguments.ok()) return report(arguments.status());
    if (Status s = console.begin("launch", std::move(*arguments), before); !s.ok()) return finish(s);
  }
  const auto more = script->run(console);
  if (!more.ok()) return finish(more.status());
  if (!*more) return finish({});
  interact(console);
  return finish({});
}

}  // namespace

void add_debug(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("debug", "Debug a program in the terminal: `help` there lists the commands");
  auto o = std::make_shared<Options>();
  c->add_option("program", o->program, ".msbc, .msasm, .onnx or .py");
  c->add_option("args", o->args, "of a Python program");
  c->add_option("--attach", o->attach, "the PID of a process with a debug server (MSVM_DEBUG, ms.vm.start_debugger())")->check(CLI::Validator([](std::string& text) { return text.find_first_not_of("0123456789") == std::string::npos && text.find_first_not_of('0') != std::string::npos ? "" : fmt::format("expected the PID of a process, a number from 1, found \"{}\"", text); }, ""))->type_name(kAttachable);
  c->add_option("-s,--shape", o->shapes, "NAME=1x3x480x640: fill this input with seeded numbers (repeatable)")->allow_extra_args(false);
  c->add_option("-i,--input", o->inputs, "NAME=FILE.npy (repeatable)")->allow_extra_args(false);
  c->add_option("--range", o->ranges, "NAME=LOW:HIGH for those numbers")->allow_extra_args(false);
  c->add_option("--seed", o->seed, "of the numbers")->check(CLI::NonNegativeNumber);
  c->add_option("--function", o->function, "which one (default: the first)");
  c->add_option("-n,--runs", o->runs, "how many")->check(CLI::Range(1, 1000000));
  c->add_option("-o,--output", o->output, "write the last run's results (.npz, or .npy for one)");
  add_opt_option(*c, o->level);
  c->add_option("--native", o->native, "stepDown: native code is interpreted where there is something to stop at (default); stay: it stays")->check(CLI::IsMember({"stepDown", "stay"}));
  c->add_option("--python", o->python, "the interpreter of a Python program");
  c->add_option("-x,--commands", o->script, "a file with commands to begin with, breakpoints before anything runs; the first that fails ends the session")->allow_extra_args(false);
  c->add_option("-e,--execute", o->commands, "a command to begin with, after those of the file (repeatable)")->allow_extra_args(false);
  c->footer("Examples:\n  msvm debug neck.msbc --shape x=1x128x32x32\n  msvm debug detect.py\n  msvm debug --attach 4711");
  c->callback([=, &code] { code = debug(*o); });
}

}  // namespace msvm::cli
