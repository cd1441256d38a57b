#include "observe/dap/views.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

namespace msvm::observe::dap {

std::string number_text(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", v);
}

namespace {

Json number_json(double v) { return std::isfinite(v) ? Json(v) : Json(number_text(v)); }

}  // namespace

Json place_json(debug::Place p) { return {{"program", p.program}, {"function", p.function}, {"instruction", p.instruction}, {"address", hex(debug::address_of(p))}}; }

Json file_source(const std::string& file) {
  Json s{{"name", std::filesystem::path(file).filename().string()}};
  std::error_code error;
  const auto path = std::filesystem::absolute(file, error);
  if (!error && std::filesystem::is_regular_file(path, error)) s["path"] = path.lexically_normal().string();
  else s["presentationHint"] = "deemphasize";
  return s;
}

Json breakpoint_json(const State& state, const debug::Breakpoint& b) {
  Json j{{"id", b.id}, {"verified", b.verified}};
  if (!b.message.empty()) j["message"] = b.message;
  if (!b.verified) j["reason"] = b.failed ? "failed" : "pending";
  if (b.line > 0) j["line"] = state.line_out(b.line);
  if (!b.file.empty()) j["source"] = file_source(b.file);
  if (!b.places.empty()) j["instructionReference"] = hex(debug::address_of(b.places[0]));
  return j;
}

Json breakpoints_json(const State& state, const std::vector<debug::Breakpoint>& breakpoints) {
  Json rows = Json::array();
  for (const debug::Breakpoint& b : breakpoints) rows.push_back(breakpoint_json(state, b));
  return {{"breakpoints", std::move(rows)}};
}

Json register_json(const debug::RegisterView& r) {
  Json shape = Json::array();
  for (const debug::DimView& d : r.shape) shape.push_back({{"axis", d.axis}, {"symbol", d.symbol}, {"value", d.value}});
  return {{"reg", r.reg < 0 ? std::string() : fmt::format("R{}", r.reg)}, {"name", r.name}, {"kind", r.kind}, {"text", r.text}, {"declared", r.declared}, {"shape", std::move(shape)}, {"dtype", r.dtype},
          {"device", r.device}, {"layout", r.layout}, {"strides", r.strides}, {"memory_addr", r.address ? Json(hex(r.address)) : Json(nullptr)}, {"is_jit_compiled", r.is_jit_compiled}, {"bytes", r.bytes},
          {"owner", r.owner}, {"reused_from", r.reused_from}, {"state", r.state}, {"changed", r.changed}, {"value", r.value}};
}

Json kernel_json(const KernelVerdict& k) {
  Json j{{"kernel", k.kernel}, {"chosen", k.chosen}, {"cost_ns", k.reason.empty() ? Json(k.cost_ns) : Json(nullptr)}, {"reason", k.reason}};
  if (k.through_copy) j["through_copy"] = true;
  return j;
}

Json statistics_json(const debug::Statistics& s) {
  Json edges = Json::array();
  for (const double e : s.histogram.edges) edges.push_back(number_json(e));
  const bool known = s.finite > 0;
  return {{"count", s.count}, {"min", known ? number_json(s.min) : Json(nullptr)}, {"max", known ? number_json(s.max) : Json(nullptr)}, {"mean", known ? number_json(s.mean) : Json(nullptr)}, {"nan", s.nan},
          {"inf", s.inf}, {"zeros", s.zeros}, {"histogram", {{"edges", std::move(edges)}, {"counts", s.histogram.counts}}}};
}

Json elements_json(const debug::TensorCopy& t) {
  Json out = Json::array();
  for (const double v : t.reals) out.push_back(number_json(v));
  for (const int64_t v : t.integers) {
    if (t.dtype == DType::kBool) out.push_back(v != 0);
    else if (t.dtype == DType::kU64) out.push_back(static_cast<uint64_t>(v));
    else out.push_back(v);
  }
  for (const std::string& v : t.strings) out.push_back(v);
  return out;
}

std::string value_text(const debug::RegisterView& r) {
  if (r.kind != "TensorMeta") return r.value.empty() ? r.state : r.value;
  const std::string text = r.shape.empty() && r.text.empty() ? r.declared : r.dtype + r.text;
  return r.state == "live" ? text : fmt::format("{} ({})", text, r.state);
}

Json status_json(State& s, debug::ThreadId thread) {
  const std::vector<debug::ThreadInfo> all = s.debugger.threads();
  const debug::ThreadInfo* of = nullptr;
  for (const debug::ThreadInfo& t : all)
    if (thread == debug::kAnyThread ? !of || (t.stop && !of->stop) : t.thread == thread) of = &t;
  std::string signature;
  Json address;
  const bool waits = of && of->stop;
  if (waits) {
    if (const auto frames = s.debugger.frames(of->thread); frames.ok() && !frames->empty()) {
      signature = (*frames)[0].entry;
      address = hex((*frames)[0].address);
    }
  } else {
    std::lock_guard lock(s.mutex);
    if (s.last_patch.new_tier > 0) signature = s.last_patch.signature;
  }
  return {{"text", signature.empty() ? "MS-VM: BC-Interpreter Mode" : fmt::format("MS-VM: JIT Mode ({})", signature)}, {"mode", signature.empty() ? "interpreter" : "jit"}, {"signature", signature}, {"address", std::move(address)},
          {"running", !waits}};
}

}  // namespace msvm::observe::dap
