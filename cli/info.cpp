// info: what a program holds.
#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "common.h"
#include "module_info.h"
#include "tables.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

Json params_json(const std::vector<Param>& list, const DimContext& dims) {
  Json out = Json::array();
  for (const Param& p : list) out.push_back({{"name", p.name}, {"type", to_string(p.type, dims)}});
  return out;
}

Json describe(const VerifiedModule& v, const std::string& path) {
  const Module& m = v.module();
  Json j;
  j["file"] = path;
  j["name"] = m.name;
  j["producer"] = m.producer;
  j["opt_level"] = m.opt_level;
  for (const OpsetVersion& o : m.opsets) j["opsets"][o.domain.empty() ? "onnx" : o.domain] = o.version;
  size_t bytes = 0;
  for (const Constant& c : m.constants) bytes += c.bytes;
  j["constants"] = {{"count", m.constants.size()}, {"bytes", bytes}};
  j["symbols"] = Json::array();
  for (size_t s = 0; s < m.dims->num_symbols(); ++s) {
    const SymbolInfo& i = m.dims->symbol_info(static_cast<SymbolId>(s));
    if (i.is_register()) continue;
    Json e = {{"name", i.name}, {"min", i.min}};
    if (i.max != INT64_MAX) e["max"] = i.max;
    if (i.divisor != 1) e["divisor"] = i.divisor, e["remainder"] = i.remainder;
    j["symbols"].push_back(e);
  }
  for (size_t f = 0; f < m.functions.size(); ++f) {
    const Function& fn = m.functions[f];
    std::map<std::string, int64_t> operators, mnemonics;
    for (const Block& b : fn.blocks)
      for (const Instr& i : b.instrs) {
        ++mnemonics[std::string(instr_info(i.op).mnemonic)];
        if (i.op == Opcode::kOpCall) ++operators[i.text];
      }
    j["functions"].push_back({{"name", fn.name}, {"inputs", params_json(fn.inputs, *m.dims)}, {"outputs", params_json(fn.outputs, *m.dims)}, {"blocks", fn.blocks.size()},
                              {"instructions", mnemonics}, {"operators", operators}, {"proved", v.facts(static_cast<int32_t>(f)).proved},
                              {"run_time_checks", v.facts(static_cast<int32_t>(f)).planned}});
  }
  j["metadata"] = m.metadata;
  return j;
}

/// "N", "W in [1, 64]", "T multiple of 32 plus 8"
std::string symbol_text(const Json& s) {
  std::string out = s["name"].get<std::string>();
  if (s.contains("max")) out += fmt::format(" in [{}, {}]", s["min"].get<int64_t>(), s["max"].get<int64_t>());
  else if (s["min"].get<int64_t>() > 0) out += fmt::format(" >= {}", s["min"].get<int64_t>());
  if (s.contains("divisor")) out += fmt::format(" multiple of {}", s["divisor"].get<int64_t>());
  if (s.contains("remainder") && s["remainder"].get<int64_t>() != 0) out += fmt::format(" plus {}", s["remainder"].get<int64_t>());
  return out;
}

std::string text_of(const Json& j) {
  const auto by = j["producer"].get<std::string>();
  std::string out;
  out += fmt::format("{}  module \"{}\"{}\n", j["file"].get<std::string>(), j["name"].get<std::string>(), by.empty() ? by : " by " + by);
  out += fmt::format("constants: {} with {}\n", j["constants"]["count"].get<size_t>(), format_bytes(j["constants"]["bytes"].get<double>()));
  std::string symbols;
  for (const Json& s : j["symbols"]) symbols += (symbols.empty() ? "" : ", ") + symbol_text(s);
  out += fmt::format("symbols: {}\n", symbols.empty() ? "none" : symbols);
  for (const Json& f : j["functions"]) {
    out += fmt::format("\nfunction @{}: {} blocks, {} conditions proved, {} run-time checks\n", f["name"].get<std::string>(), f["blocks"].get<size_t>(), f["proved"].get<size_t>(),
               f["run_time_checks"].get<size_t>());
    for (const Json& p : f["inputs"]) out += fmt::format("  input   {}: {}\n", p["name"].get<std::string>(), p["type"].get<std::string>());
    for (const Json& p : f["outputs"]) out += fmt::format("  output  {}: {}\n", p["name"].get<std::string>(), p["type"].get<std::string>());
    auto counts = [](const Json& map) {
      std::string list;
      for (const auto& [k, v] : map.items()) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", k, v.get<int64_t>());
      return list;
    };
    out += fmt::format("  instructions: {}\n  operators: {}\n", counts(f["instructions"]), counts(f["operators"]));
    if (f.contains("checks"))
      for (const Json& c : f["checks"]) out += fmt::format("  check   {}\n", c.get<std::string>());
  }
  return out;
}

int info_command(const std::string& path, bool json, bool constraints) {
  auto module = load_module(path);
  if (!module.ok()) return report(module.status());
  VerifyResult v = verify(std::move(*module));
  if (!v.module) return report(to_status(v.errors));
  Json j = describe(*v.module, path);
  if (constraints) {
    const Module& m = v.module->module();
    for (size_t f = 0; f < m.functions.size(); ++f)
      for (const RuntimeCheck& c : v.module->facts(static_cast<int32_t>(f)).checks)
        j["functions"][f]["checks"].push_back(fmt::format("instruction {}: {}  ({})", c.instruction, to_string(c.condition, *m.dims), c.what));
  }
  fmt::print("{}", json ? j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n" : printable(text_of(j)));
  return kDone;
}

}  // namespace

std::string module_info(const VerifiedModule& v, const std::string& path) { return describe(v, path).dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

void add_info(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("info", "What a program holds: symbols, functions, weights, checks");
  auto in = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false), constraints = std::make_shared<bool>(false);
  auto tables = std::make_shared<bool>(false);
  c->add_option("program", *in, ".msbc, .msasm or .onnx");
  c->add_flag("--json", *json, "as JSON");
  c->add_flag("--instructions", *tables, "no program, but what programs are made of: the tables of instructions and operators");
  c->add_flag("--constraints", *constraints, "list the conditions that are checked at run time");
  c->footer("Example: msvm info det.msbc --constraints");
  c->callback([=, &code] {
    if (*tables) return fmt::print("{}", *json ? tables_json() : tables_text());
    if (in->empty()) throw CLI::RequiredError("program");
    code = info_command(*in, *json, *constraints);
  });
}

}  // namespace msvm::cli
