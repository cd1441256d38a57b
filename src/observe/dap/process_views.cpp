// msvm/...: what the monitor serves, through the session.
#include <fmt/format.h>

#include "msvm/base/file.h"
#include "msvm/jit/scd.h"
#include "observe/dap/capabilities.h"
#include "observe/dap/requests.h"
#include "observe/dap/tables.h"

namespace msvm::observe::dap {
namespace {

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
constexpr uint64_t kLargestPatch = 64 << 20;

/// Declared SCD of each tensor, in the order in which a run makes them.
Json tensors_json(const Executable& program) {
  Json rows = Json::array();
  const VerifiedModule& verified = program.verified();
  for (size_t f = 0; f < verified.module().functions.size(); ++f) {
    const jit::FunctionView view(verified, static_cast<int32_t>(f));
    for (const jit::TensorScd& t : declared_scd(view, find_regions(view)).tensors)
      rows.push_back({{"function", view.f.name}, {"name", t.name}, {"instruction", t.instruction}, {"place", view.place(t.instruction)}, {"dims", t.dims}, {"counted", t.counted}, {"scd", t.scd}, {"reason", t.reason},
                      {"mend", t.mend}, {"text", to_string(t)}});
  }
  return rows;
}

}  // namespace

Result<Json> msvm_versions(State& s, const Arguments&) {
  std::string patch;
  for (const debug::ProgramInfo& p : s.debugger.programs())
    if (const auto e = s.debugger.executable(p.program)) patch = e->engine().capability_db()->path;
  return versions(patch);
}

Result<Json> msvm_state(State& s, const Arguments&) { return process_state(s); }
Result<Json> msvm_history(State& s, const Arguments&) { return parse_json(s.options.source.history()); }

Result<Json> msvm_scd(State& s, const Arguments&) {
  MSVM_ASSIGN_OR_RETURN(const Json state, process_state(s));
  Json rows = Json::array();
  for (const debug::ProgramInfo& p : s.debugger.programs()) {
    const auto executable = s.debugger.executable(p.program);
    if (!executable) continue;
    Json row{{"program", p.program}, {"name", p.name}, {"tensors", tensors_json(*executable)}};
    for (const Json& seen : state.value("programs", Json::array()))  // what runs showed, by the monitor's names
      if (seen.value("name", "") == p.name)
        for (const char* m : {"id", "cache_mode", "boundaries", "regions"})
          if (seen.contains(m)) row[m] = seen[m];
    rows.push_back(std::move(row));
  }
  return Json{{"programs", std::move(rows)}};
}

Result<Json> msvm_jit_info(State& s, const Arguments&) {
  MSVM_ASSIGN_OR_RETURN(const Json state, process_state(s));
  return Json{{"programs", state.value("programs", Json::array())}, {"queues", state.value("queues", Json::array())}};
}

Result<Json> msvm_memory(State& s, const Arguments&) {
  MSVM_ASSIGN_OR_RETURN(const Json state, process_state(s));
  return Json{{"memory", state.value("memory", Json::array())}};
}

Result<Json> msvm_disassembly(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t program, a.integer("program", 0, kAny));
  MSVM_ASSIGN_OR_RETURN(const int64_t function, a.integer("function", -1, std::numeric_limits<int32_t>::max(), -1));
  MSVM_ASSIGN_OR_RETURN(const int64_t region, a.integer("region", -1, std::numeric_limits<int32_t>::max(), -1));
  MSVM_ASSIGN_OR_RETURN(const std::string entry, a.text("entry", ""));
  MSVM_ASSIGN_OR_RETURN(const std::string text, s.options.source.disassembly(static_cast<uint64_t>(program), static_cast<int32_t>(function), static_cast<int32_t>(region), entry));
  return parse_json(text);
}

Result<Json> msvm_bytecode(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t program, a.integer("program", 0, kAny));
  MSVM_ASSIGN_OR_RETURN(const std::string text, s.options.source.bytecode(static_cast<uint64_t>(program)));
  return parse_json(text);
}

Result<Json> msvm_act(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const std::string action, a.text("action"));
  const Json* body = a.find("body");
  MSVM_RETURN_IF_ERROR(s.options.source.act(action, !body ? "{}" : body->is_string() ? body->get<std::string>() : dump(*body)));
  return Json{{"status", "done"}};
}

Result<Json> msvm_load_capability_patch(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const std::string path, a.text("path"));
  MSVM_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kLargestPatch));
  MSVM_RETURN_IF_ERROR(s.options.source.act("load_capability_patch", text));
  return Json{{"status", "done"}, {"path", path}};
}

}  // namespace msvm::observe::dap
