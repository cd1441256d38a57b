#include "msvm/verify/verify.h"

#include <algorithm>

#include "msvm/bytecode/file.h"
#include "msvm/verify/context.h"
#include "msvm/verify/edits.h"

namespace msvm {

struct Verifier {
  static VerifyResult run(Module module, std::vector<verification::Rule>* fired, std::vector<verification::Edits>* edits) {
    using namespace verification;
    VerifyResult result;
    if (!module.dims) module.dims = std::make_shared<DimContext>();
    Report report(module, result.errors, fired, edits);
    ModuleTables tables;
    std::vector<FunctionFacts> facts;
    if (check_module(module, tables, report)) {
      std::vector<uint8_t> sound;
      bool all_sound = true;
      for (size_t i = 0; i < module.functions.size() && !report.full(); ++i) {
        Context c(module, static_cast<int32_t>(i), tables, report);
        sound.push_back(check_structure(c));
        all_sound = all_sound && sound.back();
      }
      if (all_sound) report.allow_offsets();
      for (size_t i = 0; i < sound.size() && !report.full(); ++i) {
        if (!sound[i]) continue;
        Context c(module, static_cast<int32_t>(i), tables, report);
        function(c);
        facts.push_back(std::move(c.facts));
        for (SymbolId s : tables.bound) tables.symbol_def[s] = kUnbound;
        tables.bound.clear();
      }
      if (result.errors.empty()) report.need_offsets();
    }
    if (!result.errors.empty()) return result;
    for (FunctionFacts& f : facts) f.entry_symbol.resize(module.dims->num_symbols(), 0);
    std::shared_ptr<VerifiedModule> verified(new VerifiedModule);
    verified->facts_ = std::move(facts);
    verified->operators_ = std::move(tables.operators);
    verified->module_ = std::make_shared<const Module>(std::move(module));
    result.module = std::move(verified);
    return result;
  }

 private:
  static void function(verification::Context& c) {
    using namespace verification;
    if (!check_control_flow(c)) return;
    check_registers(c);
    check_flow(c);
    auto& entry = c.facts.entry_symbol;
    entry.assign(c.dims.num_symbols(), 0);
    for (SymbolId s : c.tables.bound) entry[s] = c.tables.symbol_def[s] == kAtEntry;
    for (const Instr& i : c.f.blocks[0].instrs)
      if (i.op == Opcode::kScalarInput)
        if (const Dim d = c.facts.reg_value[i.defs[0]]; d.is_symbol()) entry[d.symbol()] = 1;
  }
};

namespace verification {
VerifyResult verify(Module module, std::vector<Rule>* fired, std::vector<Edits>* edits) { return Verifier::run(std::move(module), fired, edits); }
}  // namespace verification

std::vector<MendableFinding> mendable_findings(Module module) {
  std::vector<verification::Edits> edits;
  VerifyResult r = verification::verify(std::move(module), nullptr, &edits);
  std::vector<MendableFinding> out;
  for (size_t i = 0; i < r.errors.size(); ++i) out.push_back({std::move(r.errors[i]), std::move(edits[i])});
  return out;
}

VerifyResult verify(Module module) { return verification::verify(std::move(module), nullptr); }

Status to_status(const Diagnostics& errors) {
  if (errors.empty()) return {};
  return {StatusCode::kVerification, diagnostic_log_line(errors.front()) + "\n" + format_diagnostics(errors)};
}

}  // namespace msvm
