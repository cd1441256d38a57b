// verify: all findings of a program, where they stand in its text, and the edits that mend them.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "common.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text.h"
#include "msvm/bytecode/text_elided.h"
#include "msvm/verify/edits.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  std::string path, elided;  // elided: a program with the constants that a text leaves out
  bool json = false, data = false;
};

/// The text that lines and columns count in: the file's own, else the disassembly that `dis` prints.
struct ProgramText {
  std::string text;
  std::vector<std::vector<int32_t>> lines;  // of instructions, by function
};

Json findings_json(const Diagnostics& list) { return Json::parse(diagnostics_to_json(list)); }

Json place_json(const TextPlace& p) { return {{"line", p.line}, {"column", p.column}, {"end_line", p.end_line}, {"end_column", p.end_column}}; }

void add_edits(Json& finding, const StatementTexts& texts, const MendableFinding& m) {
  if (const auto place = texts.place(m.finding.place.instruction)) finding["text"] = place_json(*place);
  if (m.edits.empty()) return;
  const auto edits = texts.edits(m.edits);
  if (!edits) return;
  Json list = Json::array();
  for (const TextEdit& e : *edits) {
    Json edit = place_json(e.place);
    edit["new_text"] = e.text;
    list.push_back(std::move(edit));
  }
  finding["edits"] = std::move(list);
}

/// Findings with `text` and `edits` beside what diagnostics_to_json() gives.
Json with_text(const std::vector<MendableFinding>& found, const Module& module, const ProgramText& program) {
  Diagnostics plain;
  for (const MendableFinding& m : found) plain.push_back(m.finding);
  Json all = findings_json(plain);
  std::map<std::string, StatementTexts> texts;  // by function
  for (size_t f = 0; f < module.functions.size() && f < program.lines.size(); ++f) texts.try_emplace("@" + module.functions[f].name, program.text, program.lines[f]);
  for (size_t k = 0; k < found.size(); ++k)
    if (auto t = texts.find(found[k].finding.place.function); t != texts.end()) add_edits(all[k], t->second, found[k]);
  return all;
}

int print(const Json& findings) {
  std::string out = "[";
  for (const Json& f : findings) out += (out.size() > 1 ? ",\n " : "") + f.dump(-1, ' ', false, Json::error_handler_t::replace);
  fmt::print("{}]\n", out);
  return findings.empty() ? kDone : kFailed;
}

int unreadable(const std::string& path, const Status& s) {
  const Diagnostic d{s.code() == StatusCode::kMalformedFile ? DiagCode::kBadFile : DiagCode::kImport, {.file = path}, s.message(), {}, {}, {}};
  print(findings_json({d}));
  return exit_code_of(s);
}

/// The disassembly, with lines as far as it can be read back.
ProgramText text_of(const std::string& path, const Module& module) {
  ProgramText out{disassemble(module, {.max_inline_bytes = kShownBytes}), {}};
  AssembleResult again = assemble_elided(out.text, module, path, folder_of(path));
  if (again.errors.empty()) out.lines = std::move(again.instruction_lines);
  return out;
}

Result<AssembleResult> assembled(const std::string& text, const VerifyOptions& o) {
  if (o.elided.empty()) return assemble(text, o.path, folder_of(o.path));
  MSVM_ASSIGN_OR_RETURN(const Module constants, load_module(o.elided, TextLines::kNone));
  return assemble_elided(text, constants, o.path, folder_of(o.path == "-" ? o.elided : o.path));
}

bool is_text(const std::string& path) { return path == "-" || path.ends_with(".msasm"); }

int json_of_text(const VerifyOptions& o) {
  auto text = read_text(o.path);
  if (!text.ok()) return unreadable(o.path, text.status());
  auto r = assembled(*text, o);
  if (!r.ok()) return unreadable(o.elided, r.status());
  if (!r->errors.empty()) return print(findings_json(r->errors));
  const ProgramText program{std::move(*text), std::move(r->instruction_lines)};
  lines_as_debug_info(r->module, program.lines, o.path);
  return print(with_text(mendable_findings(r->module), r->module, program));
}

int json_of(const VerifyOptions& o) {
  if (is_text(o.path)) return json_of_text(o);
  auto module = load_module(o.path, TextLines::kNone, o.data);
  if (!module.ok()) return unreadable(o.path, module.status());
  assign_offsets(*module);
  const ProgramText program = text_of(o.path, *module);  // before verifying, which adds symbols
  return print(with_text(mendable_findings(*module), *module, program));
}

int verify_command(const VerifyOptions& o) {
  if (!o.elided.empty() && !(is_text(o.path) && o.json)) return report(invalid_argument("--constants-of goes with a text and --json"));
  if (o.json) return json_of(o);
  auto module = load_module(o.path, TextLines::kAsDebugInfo, o.data);
  if (!module.ok()) return report(module.status());
  const auto start = std::chrono::steady_clock::now();
  const VerifyResult v = verify(std::move(*module));
  if (!v.module) {
    fmt::print(stderr, "{}\n{} error{}\n", to_status(v.errors).message(), v.errors.size(), v.errors.size() == 1 ? "" : "s");
    return kFailed;
  }
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  size_t proved = 0, planned = 0;
  for (size_t f = 0; f < v.module->module().functions.size(); ++f) {
    proved += v.module->facts(static_cast<int32_t>(f)).proved;
    planned += v.module->facts(static_cast<int32_t>(f)).planned;
  }
  fmt::print("{}: verified in {:.2f} ms; {} instructions, {} conditions proved, {} left to run-time checks\n", o.path, ms, count_instructions(v.module->module()), proved, planned);
  return kDone;
}

}  // namespace

void add_verify(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("verify", "Check a program; all findings of the file");
  auto o = std::make_shared<VerifyOptions>();
  c->add_option("program", o->path, ".msbc, .msasm or .onnx, - for a text on standard input")->required();
  c->add_flag("--json", o->json, "findings as JSON, with their places in the text and the edits that mend them");
  c->add_flag("--data", o->data, "also compare the constants' bytes with their digests");
  c->add_option("--constants-of", o->elided, "with a text and --json: the program whose constants stand for those that the text leaves out");
  c->footer("Example: msvm verify det.msbc");
  c->callback([=, &code] { code = verify_command(*o); });
}

}  // namespace msvm::cli
