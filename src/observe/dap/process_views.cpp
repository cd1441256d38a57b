// msvm/...: what the monitor serves, through the session.
#include <fmt/format.h>

#include "msvm/base/file.h"
#include "observe/dap/requests.h"
#include "observe/dap/tables.h"

namespace msvm::observe::dap {
namespace {

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
constexpr uint64_t kLargestPatch = 64 << 20;

/// Rows of `programs` with these members.
Result<Json> of_programs(State& s, std::initializer_list<const char*> members) {
  MSVM_ASSIGN_OR_RETURN(const Json state, process_state(s));
  Json rows = Json::array();
  for (const Json& p : state.at("programs")) {
    Json row = Json::object();
    for (const char* m : members)
      if (p.contains(m)) row[m] = p[m];
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Of the programs' engine; before there is one, what is compiled in.
Json capability_db(State& s) {
  Json out{{"format", CapabilityDb::kFormatVersion}, {"patch", ""}};
  for (const debug::ProgramInfo& p : s.debugger.programs())
    if (const auto e = s.debugger.executable(p.program)) out["patch"] = e->engine().capability_db()->path;
  return out;
}

}  // namespace

Result<Json> msvm_versions(State& s, const Arguments&) {
  return Json{{"msvm", MSVM_VERSION}, {"format", "1.0"}, {"dap", 1}, {"capabilityDb", capability_db(s)}};
}

Result<Json> msvm_state(State& s, const Arguments&) { return process_state(s); }
Result<Json> msvm_history(State& s, const Arguments&) { return parse_json(s.options.source.history()); }

Result<Json> msvm_scd(State& s, const Arguments&) {
  MSVM_ASSIGN_OR_RETURN(Json rows, of_programs(s, {"id", "name", "cache_mode", "boundaries", "regions"}));
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
