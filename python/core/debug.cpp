#include "debug.h"

#include <memory>
#include <tuple>
#include <utility>

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "gil.h"
#include "observe/dap/findings.h"
#include "observe/dap/server.h"
#include "observe/monitor/options.h"
#include "reports.h"

namespace msvm::python {
namespace {

using observe::debug::Debugger;
namespace dap = observe::dap;

using FrameRow = std::tuple<int64_t, std::string, std::string, int32_t>;
using Row = std::tuple<std::string, std::string, std::string, int64_t>;

dap::HostVariable variable_of(Row row) { return {std::move(std::get<0>(row)), std::move(std::get<1>(row)), std::move(std::get<2>(row)), std::get<3>(row)}; }

/// Questions come on threads that run programs, too: debugpy must neither stop in the answers, nor show them.
class Untraced {
 public:
  Untraced() : state_(PyThreadState_Get()) { PyThreadState_EnterTracing(state_); }
  ~Untraced() { PyThreadState_LeaveTracing(state_); }
  Untraced(const Untraced&) = delete;
  Untraced& operator=(const Untraced&) = delete;

 private:
  PyThreadState* state_;
};

/// Python's frames by msvm._vm.frames. Lives as long as the process.
class PythonFrames final : public dap::HostFrames {
 public:
  static PythonFrames& get() {  // with the GIL
    static auto& frames = *new PythonFrames;
    return frames;
  }

  std::vector<dap::HostFrame> frames(uint64_t thread) override {
    return ask<std::vector<dap::HostFrame>>([&] {
      std::vector<dap::HostFrame> out;
      for (auto& [id, name, file, line] : nb::cast<std::vector<FrameRow>>(all_.attr("frames")(thread))) out.push_back({id, std::move(name), std::move(file), line});
      return out;
    });
  }
  std::vector<dap::HostVariable> variables(int64_t id) override {
    return ask<std::vector<dap::HostVariable>>([&] {
      std::vector<dap::HostVariable> out;
      for (Row& row : nb::cast<std::vector<Row>>(all_.attr("variables")(id))) out.push_back(variable_of(std::move(row)));
      return out;
    });
  }
  Result<dap::HostVariable> evaluate(int64_t frame, const std::string& expression) override {
    Status failed = invalid_argument("Python is ending");
    auto found = ask<std::optional<dap::HostVariable>>([&] { return std::optional(variable_of(nb::cast<Row>(all_.attr("evaluate")(frame, text(expression))))); }, &failed);
    if (found) return std::move(*found);
    return failed;
  }
  void release(uint64_t thread) override {
    ask<bool>([&] { return all_.attr("release")(thread), true; });
  }
  std::string thread_name(uint64_t thread) override {
    return ask<std::string>([&] { return nb::cast<std::string>(module_.attr("thread_name")(thread)); });
  }
  int64_t debugger_id(uint64_t thread) override {
    return ask<int64_t>([&] { return nb::cast<int64_t>(module_.attr("debugger_id")(thread)); }, nullptr, -1);
  }
  uint64_t thread_of_debugger_id(int64_t id) override {
    return ask<uint64_t>([&] { return nb::cast<uint64_t>(module_.attr("thread_of_debugger_id")(id)); });
  }

  std::string library() override { return library_; }
  Status start_debugger(uint16_t port, const std::string& token) override {
    Status failed = invalid_argument("Python is ending");
    const bool begun = ask<bool>([&] { return debugger_.attr("start")(port, text(token)), true; }, &failed);
    return begun ? Status() : failed;
  }
  void stop_debugger() override {
    ask<bool>([&] { return debugger_.attr("stop")(), true; });
  }

 private:
  PythonFrames()
      : module_(nb::module_::import_("msvm._vm.frames")),
        all_(module_.attr("Frames")()),
        debugger_(nb::module_::import_("msvm._vm.host_debugger")),
        library_(nb::cast<std::string>(module_.attr("PACKAGE"))) {}

  /// What `question` gives with the GIL; `otherwise` where Python ends, or an exception comes; what that says goes into `failed`.
  template <class T, class F> T ask(F question, Status* failed = nullptr, T otherwise = {}) {
    if (interpreter_ends()) return otherwise;
    HoldGil gil;
    const Untraced untraced;
    try {
      return question();
    } catch (nb::python_error& e) {
      if (failed) *failed = invalid_argument(nb::str(e.value()).c_str());
    } catch (const std::exception& e) {  // a cast
      if (failed) *failed = invalid_argument(e.what());
    }
    return otherwise;
  }

  const nb::object module_, all_, debugger_;
  const std::string library_;
};

/// CPython has a public way from 3.12 on.
void clear_tracing() {
#if PY_VERSION_HEX >= 0x030C0000
  PyEval_SetTraceAllThreads(nullptr, nullptr);
#else
  for (PyThreadState* t = PyInterpreterState_ThreadHead(PyInterpreterState_Get()); t; t = PyThreadState_Next(t)) (void)_PyEval_SetTrace(t, nullptr, nullptr);
#endif
}

/// One for the process. Guarded by the GIL.
std::shared_ptr<dap::Server>& running() {
  static auto& server = *new std::shared_ptr<dap::Server>;
  return server;
}

void stop() {
  const std::shared_ptr<dap::Server> server = std::exchange(running(), nullptr);
  if (!server) return;
  FreeGil free;  // an answer may wait for it
  server->stop();
}

nb::object place() {
  if (!running() || !running()->running()) return nb::none();
  return nb::make_tuple(text(running()->address()), running()->port(), text(running()->token()));
}

void start(dap::ServerOptions options) {
  stop();
  options.host = &PythonFrames::get();
  running() = unwrap([&] {
    FreeGil free;
    return dap::Server::start(options);
  }());
}

thread_local Diagnostics t_findings;

}  // namespace

void keep_findings(Diagnostics findings) { t_findings = std::move(findings); }

void tell_verification_failed(const std::string& name) {
  const Diagnostics findings = std::exchange(t_findings, {});
  if (findings.empty() || !running()) return;
  running()->tell("msvm/verificationFailed", dap::verification_failed(name, findings));
}

void bind_debug(nb::module_& m) {
  // Before what programs use goes: threads that wait go on.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&stop));
  m.def(
      "start_debugger",
      [](const std::string& address) {
        const observe::Endpoint e = unwrap(observe::parse_endpoint(address, "debug server", 0));
        start({.address = e.address, .port = e.port});
      },
      nb::arg("address"), "In place of the one that runs.");
  m.def("serve_debugger", [](int fd) { start({.fd = fd}); }, nb::arg("fd"), "A client on a connected socket, which is owned from here on.");
  m.def("stop_debugger", &stop);
  m.def("debugger_place", &place, "Address, port and token; None: no server runs.");
  m.def("tell_verification_failed", &tell_verification_failed, nb::arg("name"), "To a debugger: what was found in the module that this thread loaded last.");
  m.def("clear_tracing", &clear_tracing, "No thread has a trace function any more.");
  m.def("hold_runs", [] { Debugger::process().hold_runs(); }, "Runs that begin wait for a client.");
}

}  // namespace msvm::python
