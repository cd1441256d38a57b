// compile: native code ahead of time, for chosen sizes, as a signed bundle.
#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "stream.h"

namespace msvm::cli {
namespace {

struct CompileOptions {
  StreamOptions stream;
  std::string output;
  std::vector<std::string> ranges;
  bool tier1_only = false, json = false;
};

/// "H=32:640": both included; either may be left out.
Result<std::map<std::string, Extent>> parse_extents(const std::vector<std::string>& specs) {
  std::map<std::string, Extent> out;
  for (const std::string& s : specs) {
    const auto wrong = [&] { return invalid_argument(fmt::format("--range-of {}: SYMBOL=LOW:HIGH is expected, as in H=32:640", s)); };
    const size_t equals = s.find('='), colon = s.find(':', equals == std::string::npos ? 0 : equals);
    if (equals == std::string::npos || equals == 0 || colon == std::string::npos) return wrong();
    auto number = [&](size_t begin, size_t end, int64_t& v) {
      if (begin == end) return true;
      const auto [stop, error] = std::from_chars(s.data() + begin, s.data() + end, v);
      return error == std::errc() && stop == s.data() + end;
    };
    Extent e{0, INT64_MAX};
    if (!number(equals + 1, colon, e.min) || !number(colon + 1, s.size(), e.max)) return wrong();
    if (e.min < 0 || e.min > e.max) return invalid_argument(fmt::format("--range-of {}: 0 <= LOW <= HIGH is needed", s));
    out[s.substr(0, equals)] = e;
  }
  return out;
}

Status compile(CompileOptions o) {
  MSVM_ASSIGN_OR_RETURN(const auto extents, parse_extents(o.ranges));
  if (o.tier1_only && (!extents.empty() || !o.stream.shapes.empty() || !o.stream.stream.empty()))
    return invalid_argument("--tier1-only makes the code for all sizes; --shape, --stream and --range-of say for which others");
  MSVM_ASSIGN_OR_RETURN(const Loaded loaded, load_program(o.stream));
  Executable& program = *loaded.program;
  std::vector<Shapes> steps{{}};
  if (!o.tier1_only) {
    MSVM_ASSIGN_OR_RETURN(steps, stream_steps(o.stream.stream, o.stream.shapes, loaded.f()));
  }
  for (const Shapes& s : steps) MSVM_RETURN_IF_ERROR(program.make_code(s, extents).with_context(s.empty() ? "" : fmt::format("at {}: ", to_string(s))));
  const JitView view = program.jit_view();
  if (view.evicted) return resource_limit(fmt::format("{} of the entries were evicted while others were made: choose fewer shapes, or ranges", view.evicted));
  MSVM_ASSIGN_OR_RETURN(const size_t images, program.write_bundle(o.output));
  if (o.json) {
    nlohmann::ordered_json j = {{"bundle", o.output}, {"images", images}, {"compile_ms", view.compile_ms}, {"entries", nlohmann::ordered_json::array()}};
    for (const JitRegionView& r : view.regions)
      for (const JitEntryView& e : r.entries) j["entries"].push_back({{"name", e.name}, {"region", r.name}, {"box", e.box}, {"tier", e.tier}, {"code_bytes", e.code_bytes}, {"shared", e.shared}});
    fmt::print("{}\n", j.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return {};
  }
  Table t({"entry", "tier", "code"});
  for (const JitRegionView& r : view.regions)
    for (const JitEntryView& e : r.entries) t.row({e.name, std::to_string(e.tier), !e.code_bytes ? "none of its own" : (e.shared ? "shared, " : "") + format_bytes(static_cast<double>(e.code_bytes))});
  fmt::print("{}{}: {} image{} of native code, compiled in {}\n", view.regions.empty() ? "" : t.to_string(), printable(o.output), images, images == 1 ? "" : "s", format_ns(view.compile_ms * 1e6));
  return {};
}

}  // namespace

void add_compile(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("compile", "Make native code for chosen sizes now, as a bundle that `run --bundle` takes");
  auto o = std::make_shared<CompileOptions>();
  c->add_option("program", o->stream.program, ".msbc, .msasm or .onnx")->required();
  c->add_option("-o,--output", o->output, "the bundle")->required();
  c->add_option("-s,--shape", o->stream.shapes, "NAME=1x3x480x640: also code for these sizes (repeatable, one for each input)");
  c->add_option("--stream", o->stream.stream, "several such steps: a file, or the steps themselves separated by ;");
  c->add_option("--range-of", o->ranges, "SYMBOL=LOW:HIGH: one code for these values of a symbol (repeatable)");
  c->add_flag("--tier1-only", o->tier1_only, "only the code for all sizes");
  add_opt_option(*c, o->stream.level);
  c->add_option("--capability-db", o->stream.patch, "a capability patch to apply");
  add_compile_flags(*c, o->stream.jit);
  c->add_flag("--json", o->json, "what was made, as JSON");
  c->footer("Example: msvm compile det.onnx -o det.native --stream 'x=1x3x320x320; x=1x3x480x640'");
  c->callback([=, &code] { code = report(compile(*o)); });
}

}  // namespace msvm::cli
