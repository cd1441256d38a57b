// import-onnx, opt, asm, dis: from one form of a program to another.
#include <fmt/format.h>

#include <chrono>

#include "common.h"
#include "importers/onnx/import.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text_elided.h"

namespace msvm::cli {
namespace {

std::string with_ending(const std::string& path, const char* ending) {
  auto slash = path.rfind('/');
  auto dot = path.rfind('.');
  bool has = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return (has ? path.substr(0, dot) : path) + ending;
}

double ms_since(std::chrono::steady_clock::time_point t) { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count(); }

int import_onnx_command(const std::string& in, std::string out, const OptLevel& level) {
  auto start = std::chrono::steady_clock::now();
  auto module = import_onnx_file(in);
  if (!module.ok()) return report(module.status());
  double imported = ms_since(start);
  auto verified = verify_and_optimize(std::move(*module), level.options(in));
  if (!verified.ok()) return report(verified.status());
  const Module& m = (*verified)->module();
  const double optimized = ms_since(start);
  if (out.empty()) out = with_ending(in, ".msbc");
  if (Status s = write_module(m, out); !s.ok()) return report(s);
  fmt::print("{}: {} instructions, {} constants; import {:.1f} ms, verify and optimise {:.1f} ms, write {:.1f} ms\n", out, count_instructions(m), m.constants.size(), imported,
             optimized - imported, ms_since(start) - optimized);
  return kDone;
}

int opt_command(const std::string& in, const std::string& out, const OptOptions& options) {
  auto module = load_module(in, TextLines::kNone);
  if (!module.ok()) return report(module.status());
  const size_t before = count_instructions(*module);
  auto start = std::chrono::steady_clock::now();
  auto verified = verify_and_optimize(std::move(*module), options);
  if (!verified.ok()) return report(verified.status());
  Module m = (*verified)->module();
  if (out.empty() || out == "-" || out.ends_with(".msasm")) {
    assign_offsets(m);
    return report(write_text(out, disassemble(m, out.empty() || out == "-" ? DisassembleOptions{.max_inline_bytes = kShownBytes} : DisassembleOptions{})));
  }
  if (Status s = write_module(m, out); !s.ok()) return report(s);
  fmt::print("{}: {} instructions of {}; {:.1f} ms\n", out, count_instructions(m), before, ms_since(start));
  return kDone;
}

/// `elided`: a program that holds the constants which the text leaves out, or empty.
Result<Module> assemble_with(const std::string& in, const std::string& elided) {
  if (elided.empty()) return load_module(in, TextLines::kNone);
  MSVM_ASSIGN_OR_RETURN(const std::string text, read_text(in));
  MSVM_ASSIGN_OR_RETURN(const Module constants, load_module(elided, TextLines::kNone));
  AssembleResult r = assemble_elided(text, constants, in == "-" ? "(standard input)" : in, folder_of(in == "-" ? elided : in));
  if (!r.errors.empty()) return malformed(format_diagnostics(r.errors));
  return std::move(r.module);
}

int asm_command(const std::string& in, std::string out, const std::string& elided) {
  if (in == "-" && out.empty()) return report(invalid_argument("text from standard input has no name: say with -o where to write"));
  if (in != "-" && !in.ends_with(".msasm")) return report(invalid_argument(fmt::format("{}: the text to assemble has the ending .msasm", in)));
  auto module = assemble_with(in, elided);
  if (!module.ok()) return report(module.status());
  if (out.empty()) out = with_ending(in, ".msbc");
  if (Status s = write_module(*module, out); !s.ok()) return report(s);
  fmt::print("{}: {} instructions (not verified; `msvm verify {}` does)\n", out, count_instructions(*module), out);
  return kDone;
}

int dis_command(const std::string& in, const std::string& out, bool offsets, bool full) {
  auto module = load_module(in, TextLines::kNone);
  if (!module.ok()) return report(module.status());
  DisassembleOptions options;
  options.offsets = offsets;
  if (!full) options.max_inline_bytes = kShownBytes;
  assign_offsets(*module);
  return report(write_text(out, disassemble(*module, options)));
}

}  // namespace

void add_import_onnx(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("import-onnx", "Turn an ONNX model into a .msbc program");
  auto in = std::make_shared<std::string>(), out = std::make_shared<std::string>();
  c->add_option("model", *in, "the .onnx file")->required();
  c->add_option("-o,--output", *out, "where to write (default: beside the model, .msbc)");
  auto level = std::make_shared<OptLevel>();
  add_opt_option(*c, *level);
  c->footer("Example: msvm import-onnx det.onnx -o det.msbc");
  c->callback([=, &code] { code = import_onnx_command(*in, *out, *level); });
}

void add_opt(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("opt", "Optimise a program");
  auto in = std::make_shared<std::string>(), out = std::make_shared<std::string>();
  auto options = std::make_shared<OptOptions>();
  c->add_option("program", *in, ".msbc, .msasm or .onnx")->required();
  c->add_option("-o,--output", *out, "where to write, .msbc or .msasm (default: text on standard output)");
  c->add_option("--passes", options->passes, "only these passes, in this order: " + fmt::format("{}", fmt::join(pass_names(), ",")))->delimiter(',');
  c->add_flag("!--no-fusion", options->fuse, "no epilogues, no groups of elementwise operators");
  c->add_flag("!--no-layout", options->layout, "every tensor stays row-major");
  c->footer("Example: msvm opt neck.msasm | less");
  c->callback([=, &code] { code = opt_command(*in, *out, *options); });
}

void add_asm(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("asm", "Assemble .msasm text into .msbc");
  auto in = std::make_shared<std::string>(), out = std::make_shared<std::string>(), elided = std::make_shared<std::string>();
  c->add_option("text", *in, "the .msasm file, - for standard input")->required();
  c->add_option("-o,--output", *out, "where to write (default: beside it, .msbc)");
  c->add_option("--constants-of", *elided, "the program whose constants stand for those that the text leaves out");
  c->footer("Example: msvm asm neck.msasm -o neck.msbc");
  c->callback([=, &code] { code = asm_command(*in, *out, *elided); });
}

void add_dis(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("dis", "Disassemble a program");
  auto in = std::make_shared<std::string>(), out = std::make_shared<std::string>();
  auto offsets = std::make_shared<bool>(false), full = std::make_shared<bool>(false);
  c->add_option("program", *in, ".msbc, .msasm or .onnx")->required();
  c->add_option("-o,--output", *out, "where to write (default: standard output)");
  c->add_flag("--offsets", *offsets, "byte offset after each instruction");
  c->add_flag("--full", *full, "constants of any size, so that the text assembles again");
  c->footer("Example: msvm dis det.msbc --offsets | less");
  c->callback([=, &code] { code = dis_command(*in, *out, *offsets, *full); });
}

}  // namespace msvm::cli
