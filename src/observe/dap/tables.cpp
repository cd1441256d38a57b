#include "observe/dap/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "msvm/base/trim.h"

namespace msvm::observe::dap {
namespace {

/// A cell of the process's state, which this process made: what isn't there is empty.
std::string cell(const Json& row, const char* name) {
  const Arguments a(row);
  const Json* j = a.find(name);
  if (!j) return {};
  if (j->is_string()) return j->get<std::string>();
  if (j->is_boolean()) return j->get<bool>() ? "yes" : "";
  if (j->is_number_float()) return fmt::format("{:.3g}", j->get<double>());
  if (j->is_number()) return j->dump();
  std::string out;
  if (j->is_array())
    for (const Json& item : *j) out += (out.empty() ? "" : ", ") + (item.is_string() ? item.get<std::string>() : dump(item));
  return out;
}

const Json& list(const Json& row, const char* name) {
  static const Json none = Json::array();
  const Arguments a(row);
  const Json* j = a.find(name);
  return j && j->is_array() ? *j : none;
}

std::vector<std::string> cells(const Json& row, std::initializer_list<const char*> names) {
  std::vector<std::string> out;
  for (const char* n : names) out.push_back(cell(row, n));
  return out;
}

ConsoleTable jit_info(const Json& state) {
  ConsoleTable t{{"program", "region", "signature", "tier", "hits", "compile_ms", "code_bytes", "outcome"}, {}, "no native code yet: ms.vm.slow_path() and ms.vm.scd() say why"};
  for (const Json& p : list(state, "programs"))
    for (const Json& r : list(p, "regions"))
      for (const Json& e : list(r, "entries")) {
        const std::string alias = cell(e, "alias");
        t.rows.push_back({cell(p, "name"), cell(r, "name"), alias.empty() ? cell(e, "name") : alias, cell(e, "tier"), cell(e, "hits"), cell(e, "compile_ms"), cell(e, "code_bytes"), cell(e, "outcome")});
      }
  return t;
}

ConsoleTable scd(const Json& state) {
  ConsoleTable t{{"program", "region", "scd", "symbols", "open", "state"}, {}, "no regions: no program is loaded, or native code is off"};
  for (const Json& p : list(state, "programs"))
    for (const Json& r : list(p, "regions")) {
      std::vector<std::string> row = cells(r, {"name", "scd", "symbols", "open", "state"});
      row.insert(row.begin(), cell(p, "name"));
      t.rows.push_back(std::move(row));
    }
  return t;
}

ConsoleTable memory(const Json& state) {
  ConsoleTable t{{"engine", "device", "in_use", "reserved", "peak", "fragmentation"}, {}, "no engine yet"};
  for (const Json& m : list(state, "memory")) t.rows.push_back(cells(m, {"engine", "device", "in_use", "reserved", "peak", "fragmentation"}));
  return t;
}

ConsoleTable slow_path(const Json& state) {
  ConsoleTable t{{"program", "region", "reason", "place", "scd", "phase", "elapsed_ms", "limit_ms", "instead"}, {}, "nothing ran on a slower path"};
  for (const Json& p : list(state, "programs"))
    for (const Json& r : list(p, "slow_path")) {
      std::vector<std::string> row = cells(r, {"region", "reason", "place", "scd", "phase", "elapsed_ms", "limit_ms", "instead"});
      row.insert(row.begin(), cell(p, "name"));
      t.rows.push_back(std::move(row));
    }
  return t;
}

ConsoleTable kernels(State& s) {
  ConsoleTable t{{"program", "call", "operator", "inputs", "kernel", "cost_us"}, {}, "no call has run yet"};
  for (const debug::ProgramInfo& p : s.debugger.programs()) {
    const auto e = s.debugger.executable(p.program);
    if (!e) continue;
    for (size_t f = 0; f < e->functions().size(); ++f)
      for (const CallExplanation& c : e->explain(static_cast<int32_t>(f)))
        for (const auto& choice : c.choices)
          for (const KernelVerdict& k : choice.kernels)
            if (k.chosen) t.rows.push_back({p.name, std::to_string(c.instruction), c.op, fmt::format("{}", fmt::join(choice.inputs, ", ")), k.kernel, fmt::format("{:.3g}", k.cost_ns / 1e3)});
  }
  return t;
}

constexpr const char* kNames[][2] = {{"jit_info", "native code of all programs"}, {"scd", "how settled shapes are, by region"}, {"memory", "memory of tensors"}, {"kernels", "the kernel of each call, by sizes"}, {"slow_path", "what ran on a slower path, and why"}};

}  // namespace

std::optional<std::string> table_name(std::string_view text) {
  text = trimmed(text);
  constexpr std::string_view kPrefix = "ms.vm.";
  if (!text.starts_with(kPrefix)) return {};
  text.remove_prefix(kPrefix.size());
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return std::string(text);
  return trimmed(text.substr(open)) == "()" ? std::string(text.substr(0, open)) : std::string(text);
}

std::string ConsoleTable::text() const {
  if (rows.empty()) return empty;
  std::vector<size_t> width;
  const auto measure = [&](const std::vector<std::string>& row) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (c >= width.size()) width.push_back(0);
      width[c] = std::max(width[c], row[c].size());
    }
  };
  measure(columns);
  for (const auto& r : rows) measure(r);
  std::string out;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], width[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += (out.empty() ? "" : "\n") + line;
  };
  add(columns);
  for (const auto& r : rows) add(r);
  return out;
}

const std::vector<std::pair<std::string, std::string>>& console_tables() {
  static const auto& all = *[] {
    auto* out = new std::vector<std::pair<std::string, std::string>>;
    for (const auto& [name, what] : kNames) out->emplace_back(fmt::format("ms.vm.{}()", name), what);
    return out;
  }();
  return all;
}

Result<Json> process_state(State& s) {
  MSVM_ASSIGN_OR_RETURN(Json state, parse_json(s.options.source.state()));
  return state;
}

Result<ConsoleTable> console_table(State& s, const std::string& name) {
  if (name == "kernels") return kernels(s);
  MSVM_ASSIGN_OR_RETURN(const Json state, process_state(s));
  if (name == "jit_info") return jit_info(state);
  if (name == "scd") return scd(state);
  if (name == "memory") return memory(state);
  if (name == "slow_path") return slow_path(state);
  std::string names;
  for (const auto& [text, what] : console_tables()) names += (names.empty() ? "" : ", ") + text;
  return invalid_argument(fmt::format("column 7: expected one of {}, found \"{}\"", names, name));
}

}  // namespace msvm::observe::dap
