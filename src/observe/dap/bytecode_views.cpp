// msvm/...: bytecode, registers, calls and tensors, in full.
#include <fmt/format.h>

#include "observe/dap/requests.h"
#include "observe/dap/views.h"

namespace msvm::observe::dap {
namespace {

constexpr int64_t kMostElements = 1 << 20;

Result<uint64_t> program_of(State& s, const Arguments& a) {
  if (a.has("address")) {
    MSVM_ASSIGN_OR_RETURN(const uint64_t address, a.address("address"));
    return address >> 32;
  }
  if (a.has("program")) {
    MSVM_ASSIGN_OR_RETURN(const int64_t program, a.integer("program", 0, std::numeric_limits<int32_t>::max()));
    return static_cast<uint64_t>(program);
  }
  const auto all = s.debugger.programs();
  if (all.empty()) return Status(StatusCode::kNotFound, "no program is loaded");
  return all.front().program;
}

/// "TENSOR_CREATE" of "  R0 = TENSOR_CREATE input 0".
std::string opcode_of(const debug::ListingLine& l, const Executable& e) {
  const Function& f = e.function(l.function);
  int32_t at = 0;
  for (const Block& b : f.blocks) {
    const auto n = static_cast<int32_t>(b.instrs.size());
    if (l.instruction < at + n) return std::string(instr_info(b.instrs[static_cast<size_t>(l.instruction - at)].op).mnemonic);
    at += n;
  }
  return {};
}

Json operands_json(const std::vector<debug::OperandView>& operands) {
  Json rows = Json::array();
  for (const debug::OperandView& o : operands) {
    Json row = register_json(o.value);
    row["operand"] = o.name;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<Json> msvm_listing(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const uint64_t program, program_of(s, a));
  MSVM_ASSIGN_OR_RETURN(const auto document, s.listings.get(program));
  const auto executable = s.debugger.executable(program);
  if (!executable) return Status(StatusCode::kNotFound, fmt::format("program {} is gone", program));
  const debug::Listing& l = document->listing;
  Json rows = Json::array();
  for (size_t i = 0; i < l.lines.size(); ++i) {
    const debug::ListingLine& x = l.lines[i];
    if (x.instruction < 0) continue;
    rows.push_back({{"line", s.line_out(static_cast<int32_t>(i) + 1)}, {"address", hex(x.address)}, {"offset", x.offset}, {"instruction", x.instruction}, {"function", x.function}, {"opcode", opcode_of(x, *executable)},
                    {"tier", x.tier}, {"region", x.region < 0 ? Json(nullptr) : Json(x.region)}, {"signature", x.signature}, {"place", x.file.empty() ? "" : fmt::format("{}:{}", x.file, x.line)}, {"origins", x.origins}});
  }
  return Json{{"uri", listing_uri(program, l.name)}, {"address", hex(program << 32)}, {"program", program}, {"name", l.name}, {"text", document->text}, {"lines", std::move(rows)}, {"version", l.version}};
}

Result<Json> msvm_registers(State& s, const Arguments& a) {
  constexpr int64_t kAll = std::numeric_limits<int32_t>::max();
  MSVM_ASSIGN_OR_RETURN(const debug::FrameRef frame, frame_of(s, a));
  MSVM_ASSIGN_OR_RETURN(const int64_t first, a.integer("first", 0, kAll, 0));
  MSVM_ASSIGN_OR_RETURN(const int64_t count, a.integer("count", 0, kAll, 16));
  MSVM_ASSIGN_OR_RETURN(const debug::Registers r, s.debugger.registers(frame, static_cast<int32_t>(first), static_cast<int32_t>(count)));
  Json rows = Json::array();
  for (const debug::RegisterView& v : r.registers) rows.push_back(register_json(v));
  return Json{{"threadId", frame.thread}, {"total", r.total}, {"place", place_json(r.place)}, {"registers", std::move(rows)}};
}

Result<Json> msvm_buffers(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const debug::FrameRef frame, frame_of(s, a));
  MSVM_ASSIGN_OR_RETURN(const auto all, s.debugger.buffers(frame));
  Json rows = Json::array();
  for (const debug::BufferView& b : all) {
    Json registers = Json::array();
    for (const Reg r : b.registers) registers.push_back(fmt::format("R{}", r));
    rows.push_back({{"address", hex(b.address)}, {"bytes", b.bytes}, {"owner", b.owner}, {"registers", std::move(registers)}, {"reused_from", b.reused_from}});
  }
  return rows;
}

Result<Json> msvm_call(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const debug::FrameRef frame, frame_of(s, a));
  MSVM_ASSIGN_OR_RETURN(const auto call, s.debugger.call(frame));
  if (!call) return Json(nullptr);
  Json candidates = Json::array();
  for (const KernelVerdict& k : call->candidates) candidates.push_back(kernel_json(k));
  return Json{{"op", call->op}, {"attributes", call->attributes}, {"inputs", operands_json(call->inputs)}, {"outputs", operands_json(call->outputs)}, {"arguments", call->arguments},
              {"candidates", std::move(candidates)}, {"note", call->note}, {"origins", call->origins}};
}

Result<Json> msvm_tensor(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const std::string expression, a.text("expression"));
  MSVM_ASSIGN_OR_RETURN(const std::string slice, a.text("slice", ""));
  MSVM_ASSIGN_OR_RETURN(const int64_t max, a.integer("max", 0, kMostElements, 4096));
  MSVM_ASSIGN_OR_RETURN(const debug::FrameRef frame, frame_of(s, a));
  MSVM_ASSIGN_OR_RETURN(const debug::TensorCopy t, s.debugger.tensor(frame, expression, slice, max));
  return Json{{"dtype", dtype_name(t.dtype)}, {"shape", t.shape}, {"strides", t.strides}, {"total", t.total}, {"values", elements_json(t)}, {"truncated", t.truncated}, {"statistics", statistics_json(t.statistics)}};
}

Result<Json> msvm_save_tensor(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const std::string expression, a.text("expression"));
  MSVM_ASSIGN_OR_RETURN(const std::string slice, a.text("slice", ""));
  MSVM_ASSIGN_OR_RETURN(const std::string path, a.text("path"));
  if (path.empty() || path.find('\0') != std::string::npos) return a.wrong("path", "the path of a .npy file");
  MSVM_ASSIGN_OR_RETURN(const debug::FrameRef frame, frame_of(s, a));
  MSVM_ASSIGN_OR_RETURN(const int64_t bytes, s.debugger.save_npy(frame, expression, slice, path));
  return Json{{"path", path}, {"bytes", bytes}};
}

Result<Json> msvm_status(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t thread, a.integer("threadId", 0, std::numeric_limits<int32_t>::max(), 0));
  return status_json(s, static_cast<debug::ThreadId>(thread));
}

Result<Json> msvm_stop_at_next_run(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const bool on, a.flag("on", true));
  MSVM_ASSIGN_OR_RETURN(int64_t thread, a.integer("threadId", 0, std::numeric_limits<int32_t>::max(), 0));
  if (a.has("hostThread")) {
    MSVM_ASSIGN_OR_RETURN(const int64_t id, a.integer("hostThread", 0, std::numeric_limits<int64_t>::max()));
    const uint64_t handle = s.options.host ? s.options.host->thread_of_debugger_id(id) : 0;
    if (!handle) return Status(StatusCode::kNotFound, fmt::format("hostThread: there is no thread {}", id));
    thread = s.debugger.thread_of(handle);
  }
  s.debugger.stop_at_next_run(static_cast<debug::ThreadId>(thread), on);
  return Json{{"armed", on}, {"threadId", thread}};
}

}  // namespace msvm::observe::dap
