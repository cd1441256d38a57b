#include "region_facts.h"

#include <fmt/format.h>

#include "msvm/jit/bind.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace msvm::jit;

Json call_json(const FunctionView& view, int32_t instruction) {
  const Instr& x = view.at(instruction);
  Json j = {{"instruction", instruction}, {"operator", x.text}, {"place", view.place(instruction)}, {"origins", Json::array()}};
  for (const std::string& o : view.f.debug[static_cast<size_t>(x.debug)].origins) j["origins"].push_back(o);
  return j;
}

/// What the trigger would say once these sizes came again and again.
Json box_json(const FunctionView& view, const Shapes& shapes, const JitOptions& o, RegionFacts& facts, Status& status) {
  const Region& r = *facts.region;
  Json j = {{"sizes", to_string(shapes)}};
  const auto sizes = InputSizes::bind(view, shapes);
  if (!sizes.ok()) {
    status = sizes.status().with_context(fmt::format("at {}: ", to_string(shapes)));
    return j;
  }
  size_t unknown = 0;
  const auto values = entry_values(r, *sizes, &unknown);
  if (!values) {
    j["verdict"] = "unknown";
    j["reason"] = fmt::format("the shapes give no value to {}, which only a run knows", symbol_name(r, unknown, view.dims()));
    return j;
  }
  Trigger trigger(r, view.dims(), {.jit_threshold = o.jit_threshold, .scd_threshold = o.scd_threshold, .bucket_boundaries = o.bucket_boundaries, .named_boundaries = o.named_boundaries});
  Gain gain;
  if (facts.lowered.groups.empty()) gain.cost = 0;
  Decision d;
  for (size_t k = 0; k < Trigger::kWindow && d.verdict != Verdict::kQueued; ++k) d = trigger.run(*values, gain);
  j["verdict"] = std::string(verdict_name(d.verdict));
  j["box"] = to_string(d.box, r, view.dims());
  j["scd"] = d.scd;
  j["runs"] = trigger.runs();
  j["reason"] = trigger.reason(d);
  if (d.verdict != Verdict::kQueued) return j;
  facts.box = d.box;
  facts.loops = loops::print(specialise(facts.lowered, view, r, d.box));
  j["shares_code"] = facts.loops == loops::print(facts.lowered.program);
  return j;
}

}  // namespace

Json describe_region(const FunctionView& view, const Region& r, const Shapes& shapes, const JitOptions& o, RegionFacts& facts, Status& status) {
  facts.region = &r;
  facts.lowered = lower_region(view, r, {.graph_kernel = o.graph_kernel});
  facts.loops = loops::print(facts.lowered.program);
  Json j = {{"first", r.first()}, {"last", r.last()}, {"calls", r.calls}, {"in_loop", r.loop_depth > 0}, {"symbols", Json::array()}, {"groups", Json::array()}, {"not_fused", Json::array()}};
  for (size_t k = 0; k < r.symbols.size(); ++k) j["symbols"].push_back({{"name", symbol_name(r, k, view.dims())}, {"free", k < kMaxEntrySymbols && (r.free >> k & 1)}});
  for (size_t g = 0; g < facts.lowered.groups.size(); ++g) {
    Json group = {{"kernel", facts.lowered.program.kernels[g].name}, {"note", facts.lowered.notes[g]}, {"members", Json::array()}};
    for (int32_t m : facts.lowered.groups[g].members) group["members"].push_back(call_json(view, m));
    j["groups"].push_back(std::move(group));
  }
  for (const NotFused& n : facts.lowered.why_not) {
    Json call = call_json(view, n.instruction);
    call["reason"] = n.reason;
    j["not_fused"].push_back(std::move(call));
  }
  if (!shapes.empty()) j["code"] = box_json(view, shapes, o, facts, status);
  return j;
}

namespace {

std::string call_text(const Json& c) {
  std::string from;
  for (const Json& o : c["origins"]) from += (from.empty() ? " from " : ", ") + o.get<std::string>();
  const auto place = c["place"].get<std::string>();
  const bool known = !place.starts_with("instruction ") && (" " + from).find(place) == std::string::npos;
  return fmt::format("instruction {} {}{}{}", c["instruction"].get<int>(), c["operator"].get<std::string>(), from, known ? ", " + place : "");
}

}  // namespace

std::string region_text(const Json& r, size_t number) {
  std::string symbols;
  for (const Json& s : r["symbols"]) symbols += (symbols.empty() ? "" : ", ") + s["name"].get<std::string>() + (s["free"].get<bool>() ? " (free)" : "");
  std::string out = fmt::format("region {}: instructions {} to {}, {} call{}{}; symbols: {}\n", number, r["first"].get<int>(), r["last"].get<int>(), r["calls"].get<int>(),
                                r["calls"].get<int>() == 1 ? "" : "s", r["in_loop"].get<bool>() ? ", in a loop" : "", symbols.empty() ? "none" : symbols);
  for (const Json& g : r["groups"]) {
    out += fmt::format("  {}; kernel {}\n", g["note"].get<std::string>(), g["kernel"].get<std::string>());
    for (const Json& m : g["members"]) out += fmt::format("    {}\n", call_text(m));
  }
  if (r["groups"].empty()) out += "  nothing is fused: an entry would have no code of its own, but sizes, checks and memory settled\n";
  for (const Json& n : r["not_fused"]) out += fmt::format("  not fused: {}: {}\n", call_text(n), n["reason"].get<std::string>());
  if (!r.contains("code")) return out;
  const Json& c = r["code"];
  if (!c.contains("box")) return out + fmt::format("  code for {}: {}\n", c["sizes"].get<std::string>(), c["reason"].get<std::string>());
  const auto box = c["box"].get<std::string>();
  if (c["verdict"] == "queued")
    return out + fmt::format("  code for {}: {} after {} runs ({}){}\n", c["sizes"].get<std::string>(), box, c["runs"].get<int64_t>(), c["reason"].get<std::string>(),
                             c["shares_code"].get<bool>() ? "; it is that for all sizes, so it is shared" : "");
  return out + fmt::format("  code for {}: none of its own: {}{}: {}\n", c["sizes"].get<std::string>(), box.empty() ? "" : box + ", ", c["verdict"].get<std::string>(), c["reason"].get<std::string>());
}

}  // namespace msvm::cli
