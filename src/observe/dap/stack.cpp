// Frames, their scopes, and listings as sources.
#include <fmt/format.h>

#include "observe/dap/requests.h"
#include "observe/dap/scopes.h"
#include "observe/dap/views.h"

namespace msvm::observe::dap {
namespace {

std::string bytecode_name(const debug::FrameInfo& f) { return fmt::format("BC-Instruction: {} offset 0x{:x}", f.opcode, f.offset); }

Json bytecode_frame(State& s, debug::ThreadId thread, int depth, const debug::FrameInfo& f) {
  return {{"id", s.handles.add(Frame{{thread, depth}, Frame::kBytecode})}, {"name", bytecode_name(f)}, {"source", listing_source(f.place.program, f.program)}, {"line", s.line_out(f.listing_line)},
          {"column", s.columns_from_1 ? 1 : 0}, {"instructionPointerReference", hex(f.address)}};
}

/// What was called: where the instruction comes from, as far as that is known.
Json call_frame(State& s, debug::ThreadId thread, int depth, const debug::FrameInfo& f) {
  Json j{{"id", s.handles.add(Frame{{thread, depth}, Frame::kCall})}, {"name", f.call}, {"line", f.file.empty() ? 0 : s.line_out(f.line)}, {"column", f.file.empty() ? 0 : f.column > 0 ? f.column - !s.columns_from_1 : s.columns_from_1}};
  if (!f.file.empty()) j["source"] = file_source(f.file);
  else j["presentationHint"] = "label";
  return j;
}

Json host_frame(State& s, debug::ThreadId thread, const HostFrame& f) {
  Json j{{"id", s.handles.add(Frame{{thread, 0}, Frame::kHost, f.id})}, {"name", f.name}, {"line", s.line_out(f.line)}, {"column", s.columns_from_1 ? 1 : 0}};
  if (!f.file.empty()) j["source"] = file_source(f.file);
  return j;
}

}  // namespace

Result<Json> stack_trace(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const debug::ThreadId thread, thread_of(a));
  constexpr int64_t kMany = std::numeric_limits<int32_t>::max();
  MSVM_ASSIGN_OR_RETURN(const int64_t start, a.integer("startFrame", 0, kMany, 0));
  MSVM_ASSIGN_OR_RETURN(const int64_t levels, a.integer("levels", 0, kMany, 0));  // 0: all
  MSVM_ASSIGN_OR_RETURN(const auto frames, s.debugger.frames(thread));
  std::vector<HostFrame> host;
  if (s.options.host)
    for (const debug::ThreadInfo& t : s.debugger.threads())
      if (t.thread == thread) host = s.options.host->frames(t.handle);
  // Only frames that are asked for get a number.
  Json rows = Json::array();
  int64_t at = 0;
  const auto add = [&](auto make) {
    if (at >= start && (levels == 0 || at < start + levels)) rows.push_back(make());
    ++at;
  };
  for (size_t depth = 0; depth < frames.size(); ++depth) {
    add([&] { return bytecode_frame(s, thread, static_cast<int>(depth), frames[depth]); });
    if (host.empty()) add([&] { return call_frame(s, thread, static_cast<int>(depth), frames[depth]); });
  }
  for (const HostFrame& f : host) add([&] { return host_frame(s, thread, f); });
  return Json{{"stackFrames", std::move(rows)}, {"totalFrames", at}};
}

Result<Json> scopes(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t id, a.integer("frameId", 1, std::numeric_limits<int64_t>::max()));
  MSVM_ASSIGN_OR_RETURN(const Frame frame, s.handles.frame(id));
  MSVM_ASSIGN_OR_RETURN(Json rows, scopes_of(s, frame));
  return Json{{"scopes", std::move(rows)}};
}

Result<Json> source(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const Arguments source, a.object("source"));
  MSVM_ASSIGN_OR_RETURN(const std::string path, source.text("path"));
  const auto program = program_of_uri(path);
  if (!program) return source.wrong("path", "a listing such as msvm://bc/0x0");
  MSVM_ASSIGN_OR_RETURN(const auto document, s.listings.get(*program));
  return Json{{"content", document->text}, {"mimeType", "text/x-msasm"}};
}

Result<Json> loaded_sources(State& s, const Arguments&) {
  Json rows = Json::array();
  for (const debug::ProgramInfo& p : s.debugger.programs()) rows.push_back(listing_source(p.program, p.name));
  return Json{{"sources", std::move(rows)}};
}

}  // namespace msvm::observe::dap
