#include "observe/trace/perfetto.h"

#include <fmt/format.h>

#include <set>

#include "msvm/base/json_text.h"
#include "observe/trace/mode.h"

namespace msvm::observe {
namespace {

constexpr uint32_t kCompilerTrack = 1;  // no thread of a program has this number

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string title(const TraceLog& log, const Event& e) {
  const auto* i = log.instruction(e);
  const std::string op = i ? (i->op.empty() ? i->mnemonic : i->op) : std::string();
  switch (e.kind) {
    case EventKind::kRun: return fmt::format("{} @{}", log.program(e).name, log.function_name(e));
    case EventKind::kRegion: return fmt::format("region {} ({})", e.region, mode_name(e.tier));
    case EventKind::kCall: return op;
    case EventKind::kNative: return fmt::format("native code up to {}", op);
    case EventKind::kCopy: return "copy";
    case EventKind::kBetween: return "sizes, views, memory";
    case EventKind::kCompile: return fmt::format("compile {}", log.text(e.name));
    case EventKind::kJit: return std::string(log.text(e.name));
    case EventKind::kSlowPath: return fmt::format("slow path: {}", log.text(e.name));
    case EventKind::kNote: return fmt::format("{}: {}", log.text(e.name), log.text(e.detail));
  }
  return "";
}

std::string arguments(const TraceLog& log, const Event& e) {
  std::string out;
  auto text = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) out += fmt::format("{}\"{}\":{}", out.empty() ? "" : ",", key, json(value));
  };
  auto number = [&](std::string_view key, double value) {
    if (value != 0) out += fmt::format("{}\"{}\":{:.6g}", out.empty() ? "" : ",", key, value);
  };
  if (const auto* i = log.instruction(e)) {
    out += fmt::format("\"instruction\":{}", e.instruction);
    text("place", i->place);
    text("origins", i->origins);
  }
  text("mode", mode_name(e));
  text(e.kind == EventKind::kCall ? "kernel" : "name", log.text(e.name));
  text("detail", log.text(e.detail));
  number("bytes", static_cast<double>(e.bytes));
  const double ns = log.nanoseconds(e);
  if (e.work > 0 && ns > 0) number("gflops", e.work / ns);
  return out;
}

}  // namespace

Status write_perfetto(const TraceLog& log, std::FILE* out) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const uint32_t pid = log.header().pid;
  text += fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"msvm"}}}})", pid);
  text += fmt::format(",\n" R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"compiler"}}}})", pid, kCompilerTrack);
  std::set<uint32_t> threads;
  for (const Event& e : log.events()) {
    if (threads.insert(e.thread).second) text += fmt::format(",\n" R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"thread {}"}}}})", pid, e.thread, e.thread);
    const bool lasts = e.kind != EventKind::kJit && e.kind != EventKind::kSlowPath && e.kind != EventKind::kNote;
    text += fmt::format(",\n" R"({{"ph":"{}","name":{},"cat":"{}","pid":{},"tid":{},"ts":{:.3f},)", lasts ? "X" : "i", json(title(log, e)), event_info(e.kind).name, pid,
                        e.kind == EventKind::kCompile ? kCompilerTrack : e.thread, log.seconds(e.begin) * 1e6);
    text += lasts ? fmt::format("\"dur\":{:.3f},", log.nanoseconds(e) * 1e-3) : std::string("\"s\":\"t\",");
    text += "\"args\":{" + arguments(log, e) + "}}";
    if (text.size() > (1u << 16)) {
      if (std::fwrite(text.data(), 1, text.size(), out) != text.size()) return {StatusCode::kIo, "the trace can't be written"};
      text.clear();
    }
  }
  text += "\n]}\n";
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) return {StatusCode::kIo, "the trace can't be written"};
  return {};
}

}  // namespace msvm::observe
