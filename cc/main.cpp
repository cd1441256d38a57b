// msvm-cc: loop programs to native code. As a process of its own for the JIT (--serve), or by hand.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/file.h"
#include "msvm/jit/compiler/compile.h"
#include "msvm/jit/compiler/compile_request.h"

namespace {

constexpr std::string_view kUsage =
    "usage: msvm-cc [--isa avx2|avx512] FILE.loops -o IMAGE     compile a loop program to an image of native code\n"
    "       msvm-cc [--isa avx2|avx512] FILE.loops --asm|--ir   print its assembly or LLVM's IR\n"
    "       msvm-cc --serve                                     answer requests on stdin (used by msvm)\n";

struct Arguments {
  std::string isa = __builtin_cpu_supports("avx512bw") ? "avx512" : "avx2", input, output;
  bool assembly = false, ir = false, serve = false;
};

int fail(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}
int usage(const std::string& message) {
  std::fprintf(stderr, "error: %s\n%s", message.c_str(), kUsage.data());
  return 2;
}

int print(const msvm::Result<std::string>& text) {
  if (!text.ok()) return fail(text.status().message());
  return std::fwrite(text->data(), 1, text->size(), stdout) == text->size() ? 0 : fail("writing to stdout");
}

int compile(const Arguments& a) {
  const auto isa = msvm::compiler::isa_from_name(a.isa);
  if (!isa.ok()) return fail(isa.status().message());
  const auto file = msvm::read_text_file(a.input, msvm::loops::kMaxText);
  if (!file.ok()) return fail(file.status().message());
  const auto program = msvm::loops::parse(*file);
  if (!program.ok()) return fail(a.input + ": " + program.status().message());
  if (a.ir) return print(msvm::compiler::compile_to_ir(*program, *isa));
  if (a.assembly) return print(msvm::compiler::compile_to_assembly(*program, *isa));
  const auto image = msvm::compiler::compile(*program, *isa);
  if (!image.ok()) return fail(a.input + ": " + image.status().message());
  const msvm::Status written = msvm::write_file_atomically(a.output, *image);
  return written.ok() ? 0 : fail(written.message());
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool takes_value = word == "--isa" || word == "-o";
    if (takes_value && i + 1 == argc) return usage(std::string(word) + " needs a value");
    if (word == "--help" || word == "-h") return std::fwrite(kUsage.data(), 1, kUsage.size(), stdout) == kUsage.size() ? 0 : 1;
    if (word == "--serve") a.serve = true;
    else if (word == "--asm") a.assembly = true;
    else if (word == "--ir") a.ir = true;
    else if (word == "--isa") a.isa = argv[++i];
    else if (word == "-o") a.output = argv[++i];
    else if (word.size() > 1 && word[0] == '-') return usage("unknown option " + std::string(word));
    else if (!a.input.empty()) return usage("more than one file");
    else a.input = word;
  }
  if (a.serve) return argc == 2 ? msvm::jit::serve_stdio(msvm::compiler::compile_request) : usage("--serve stands alone");
  if (a.input.empty()) return usage("no file");
  if (!a.assembly && !a.ir && a.output.empty()) return usage("-o, --asm or --ir is needed");
  return compile(a);
}
