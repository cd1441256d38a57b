#include "explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "common.h"

namespace msvm::cli {

std::vector<CallExplanation> explanations(const Executable& program, const std::string& name) {
  std::vector<CallExplanation> calls = program.explain();
  auto has = [&](const std::string& s) { return s.find(name) != std::string::npos; };
  std::erase_if(calls, [&](const CallExplanation& c) { return !has(c.op) && std::none_of(c.origins.begin(), c.origins.end(), has); });
  return calls;
}

std::string explanation_tables(const std::vector<CallExplanation>& calls) {
  std::string out;
  for (const CallExplanation& c : calls) {
    out += fmt::format("\ninstruction {}: {}", c.instruction, printable(c.op));
    for (size_t k = 0; k < c.origins.size(); ++k) out += fmt::format("{} {}", k ? "," : " from", printable(c.origins[k]));
    out += "\n";
    for (const auto& choice : c.choices) {
      out += fmt::format("  {}\n", fmt::join(choice.inputs, ", "));
      Table t({"    kernel", "expected", ""});
      for (const KernelVerdict& k : choice.kernels) {
        std::string note = k.chosen ? "chosen" : "";
        if (!k.reason.empty()) note += (note.empty() ? "" : "; ") + k.reason;
        if (k.through_copy && k.reason.empty()) note += note.empty() ? "through dense copies" : "; through dense copies";
        t.row({"    " + k.kernel, k.reason.empty() ? format_ns(k.cost_ns) : "-", note});
      }
      out += t.to_string();
    }
  }
  return out.empty() ? "\nno call to explain\n" : out;
}

nlohmann::ordered_json explanation_json(const std::vector<CallExplanation>& calls) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const CallExplanation& c : calls) {
    Json shapes = Json::array();
    for (const auto& choice : c.choices) {
      Json kernels = Json::array();
      for (const KernelVerdict& k : choice.kernels) {
        Json one{{"kernel", k.kernel}, {"chosen", k.chosen}};
        if (k.reason.empty()) one["expected_ns"] = k.cost_ns;
        else one["reason"] = k.reason;
        if (k.through_copy) one["through_copy"] = true;
        kernels.push_back(std::move(one));
      }
      shapes.push_back({{"inputs", choice.inputs}, {"kernels", std::move(kernels)}});
    }
    list.push_back({{"instruction", c.instruction}, {"operator", c.op}, {"origins", c.origins}, {"shapes", std::move(shapes)}});
  }
  return list;
}

}  // namespace msvm::cli
