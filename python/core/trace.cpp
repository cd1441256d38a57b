#include "trace.h"

#include "gil.h"
#include "observe/trace/csv.h"
#include "observe/trace/perfetto.h"
#include "observe/trace/recorder.h"
#include "observe/trace/summary.h"

namespace msvm::python {
namespace {

using observe::Recorder;
using observe::TraceLog;

/// What `f` gives, without the GIL; its error raised.
template <class F>
auto apart(F&& f) {
  auto result = [&] {
    FreeGil free;
    return f();
  }();
  return unwrap(std::move(result));
}

Result<std::string> convert(const std::string& log, const std::string& out, Status (*write)(const TraceLog&, std::FILE*)) {
  MSVM_ASSIGN_OR_RETURN(const TraceLog trace, TraceLog::read(log));
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(out.c_str(), "wb"), std::fclose);
  if (!file) return Status(StatusCode::kIo, out + ": it can't be written");
  MSVM_RETURN_IF_ERROR(write(trace, file.get()).with_context(out + ": "));
  return out;
}

}  // namespace

void bind_trace(nb::module_& m) {
  m.def(
      "start_trace",
      [](const nb::bytes& folder, int64_t max_bytes, int max_files) {
        if (max_bytes < 1 || max_files < 1) raise(invalid_argument("a trace has at least one file of at least one byte"));
        return text(apart([&] { return Recorder::process().start_trace({path_of(folder), max_bytes, max_files}); }));
      },
      nb::arg("folder"), nb::arg("max_bytes"), nb::arg("max_files"), "Path of the log.");
  m.def("stop_trace", [] { return text(apart([] { return Result<std::string>(Recorder::process().stop_trace()); })); }, "Path of the log; empty if there was none.");
  m.def("flush_trace", [] { return text(apart([] { return Result<std::string>(Recorder::process().flush()); })); }, "Path of the log; empty if there is none.");
  m.def("tracing", [] { return Recorder::process().tracing(); });
  m.def("last_trace", [] { return text(Recorder::process().last_log()); }, "Path of the log that is written, or was written last; empty if there was none.");
  m.def("trace_trouble", [] { return text(Recorder::process().trouble()); }, "Why a trace ended by itself; empty if it didn't.");
  m.def("newest_trace", [](const nb::bytes& folder) { return text(unwrap(observe::newest_log(path_of(folder)))); }, nb::arg("folder"));
  m.def(
      "trace_to_csv", [](const nb::bytes& log, const nb::bytes& out) { return text(apart([&] { return convert(path_of(log), path_of(out), observe::write_csv); })); }, nb::arg("log"), nb::arg("out"));
  m.def(
      "trace_to_perfetto", [](const nb::bytes& log, const nb::bytes& out) { return text(apart([&] { return convert(path_of(log), path_of(out), observe::write_perfetto); })); }, nb::arg("log"),
      nb::arg("out"));
  m.def(
      "trace_summary",
      [](const nb::bytes& path) {
        const auto both = apart([&]() -> Result<std::pair<std::string, std::string>> {
          MSVM_ASSIGN_OR_RETURN(const TraceLog log, TraceLog::read(path_of(path)));
          const observe::TraceSummary s = observe::summarize(log);
          return std::pair(observe::to_text(s, log), observe::to_json(s, log));
        });
        return nb::make_tuple(text(both.first), text(both.second));
      },
      nb::arg("log"), "As text, and as JSON.");
  m.def("trace_columns", [] {
    nb::list out;
    for (const auto& c : observe::trace_columns()) out.append(nb::make_tuple(text(std::string(c.name)), text(std::string(c.doc))));
    return out;
  });
  m.def("trace_note", [](const std::string& kind, const std::string& what) { Recorder::process().note(kind, what); }, nb::arg("kind"), nb::arg("text"));
  m.def(
      "start_flight_recorder",
      [](double seconds, const nb::bytes& folder, bool on_crash) {
        observe::FlightOptions options{.seconds = seconds, .folder = path_of(folder), .on_crash = on_crash};
        if (Status s = Recorder::process().start_flight(options); !s.ok()) raise(s);
      },
      nb::arg("seconds"), nb::arg("folder"), nb::arg("on_crash"));
  m.def("stop_flight_recorder", [] { Recorder::process().stop_flight(); });
  m.def("flight_recorder", [] { return Recorder::process().flying(); });
  m.def("dump_flight_recorder", [](const std::string& reason) { return text(apart([&] { return Recorder::process().dump_flight(reason); })); }, nb::arg("reason"), "Path of the dump.");
}

}  // namespace msvm::python
