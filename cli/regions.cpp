// explain: per region what is fused, what isn't and why, which sizes would get code; its loop program, IR and annotated assembly.
#include <fmt/format.h>

#include "compiler.h"
#include "jit_flags.h"
#include "region_facts.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace msvm::jit;

struct ExplainOptions {
  std::string program, function, isa;
  std::vector<std::string> shapes;
  int region = -1;
  bool loops = false, ir = false, assembly = false, json = false;
  OptLevel level;
  JitFlags jit;
  bool wants_code() const { return loops || ir || assembly; }
};

/// Above each kernel's label: the calls that it does.
std::string with_sources(const std::string& assembly, const Json& region) {
  std::string out;
  for (size_t at = 0; at < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', at), assembly.size());
    const std::string line = assembly.substr(at, end - at);
    for (const Json& g : region["groups"]) {
      const auto kernel = g["kernel"].get<std::string>();
      if (!line.starts_with(kernel + ":") && !line.starts_with("\"" + kernel + "\":")) continue;
      out += fmt::format("\n# {}\n", g["note"].get<std::string>());
      for (const Json& m : g["members"]) {
        out += fmt::format("#   instruction {} {}, {}", m["instruction"].get<int>(), m["operator"].get<std::string>(), m["place"].get<std::string>());
        for (const Json& o : m["origins"])
          if (o != m["place"]) out += ", " + o.get<std::string>();
        out += "\n";
      }
    }
    out += line + "\n";
    at = end + 1;
  }
  return out;
}

Status add_code(const ExplainOptions& o, const RegionFacts& facts, Json& region) {
  if (facts.lowered.groups.empty()) return {};
  if (o.loops) region["loops"] = facts.loops;
  if (o.ir) {
    MSVM_ASSIGN_OR_RETURN(region["ir"], run_compiler(facts.loops, CompilerText::kIr, o.jit.compiler, o.isa));
  }
  if (o.assembly) {
    MSVM_ASSIGN_OR_RETURN(const std::string text, run_compiler(facts.loops, CompilerText::kAssembly, o.jit.compiler, o.isa));
    region["assembly"] = with_sources(text, region);
  }
  return {};
}

Status explain(const ExplainOptions& o) {
  MSVM_ASSIGN_OR_RETURN(const JitOptions options, o.jit.get());
  MSVM_ASSIGN_OR_RETURN(Module module, load_module(o.program));
  MSVM_ASSIGN_OR_RETURN(const auto verified, verify_and_optimize(std::move(module), o.level.options(o.program)));
  const Module& m = verified->module();
  Json j = {{"file", o.program}, {"functions", Json::array()}};
  std::string text;
  bool found_function = false, found_region = o.region < 0;
  for (size_t f = 0; f < m.functions.size(); ++f) {
    if (!o.function.empty() ? m.functions[f].name != o.function : !o.shapes.empty() && f > 0) continue;
    found_function = true;
    const FunctionView view(*verified, static_cast<int32_t>(f));
    MSVM_ASSIGN_OR_RETURN(const Shapes shapes, parse_shapes(o.shapes, view.f));
    const FunctionRegions found = find_regions(view);
    Json function = {{"function", view.f.name}, {"regions", Json::array()}};
    text += fmt::format("{}function @{}: {} region{}\n", text.empty() ? "" : "\n", view.f.name, found.regions.size(), found.regions.size() == 1 ? "" : "s");
    for (size_t k = 0; k < found.regions.size(); ++k) {
      if (o.region >= 0 && static_cast<size_t>(o.region) != k) continue;
      found_region = true;
      RegionFacts facts;
      Status status;
      Json region = describe_region(view, found.regions[k], shapes, options, facts, status);
      MSVM_RETURN_IF_ERROR(status);
      region["region"] = k;
      MSVM_RETURN_IF_ERROR(add_code(o, facts, region));
      text += region_text(region, k);
      if (o.wants_code()) text += fmt::format("  the code below is that for {}\n", !facts.box ? "all sizes" : to_string(*facts.box, found.regions[k], view.dims()));
      for (const char* part : {"loops", "ir", "assembly"})
        if (region.contains(part)) text += "\n" + region[part].get<std::string>() + "\n";
      function["regions"].push_back(std::move(region));
    }
    j["functions"].push_back(std::move(function));
  }
  if (!found_function) return invalid_argument(fmt::format("--function {}: the program has none of that name", o.function));
  if (!found_region) return invalid_argument(fmt::format("--region {}: there is none of that number", o.region));
  if (o.json) fmt::print("{}\n", j.dump(1, ' ', false, Json::error_handler_t::replace));
  else fmt::print("{}", printable(text));
  return {};
}

}  // namespace

void add_explain(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("explain", "Why regions get native code, or not: what is fused, which sizes count; loop program, IR, assembly");
  auto o = std::make_shared<ExplainOptions>();
  c->add_option("program", o->program, ".msbc, .msasm or .onnx")->required();
  c->add_option("-s,--shape", o->shapes, "NAME=1x3x480x640: would these sizes get code of their own? (repeatable, one for each input)");
  c->add_option("--function", o->function, "only this one (default: all; with --shape the first)");
  c->add_option("--region", o->region, "only this one")->check(CLI::NonNegativeNumber);
  c->add_flag("--loops", o->loops, "also the loop program that the compiler gets, for these sizes if they would get code of their own");
  c->add_flag("--ir", o->ir, "also LLVM's IR of it");
  c->add_flag("--asm", o->assembly, "also its assembly, with the loop program's lines and the calls they come from");
  c->add_option("--isa", o->isa, "of --ir and --asm; default: this machine's")->check(CLI::IsMember({"avx2", "avx512"}));
  add_opt_option(*c, o->level);
  add_code_flags(*c, o->jit);
  c->add_flag("--json", o->json, "everything as JSON");
  c->footer("Examples:\n  msvm explain det.onnx -s x=1x3x480x640\n  msvm explain det.onnx --region 0 --asm");
  c->callback([=, &code] { code = report(explain(*o)); });
}

}  // namespace msvm::cli
