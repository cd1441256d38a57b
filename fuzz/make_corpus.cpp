// make_corpus TEXTS CORPUS: assembles each .msasm file of a folder into CORPUS/NAME.msbc.
#include <cstdio>
#include <filesystem>

#include "msvm/base/file.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text.h"

using namespace msvm;
namespace fs = std::filesystem;

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: make_corpus TEXTS CORPUS\n"), 2;
  fs::create_directories(argv[2]);
  for (const auto& e : fs::directory_iterator(argv[1])) {
    const std::string path = e.path().string();
    if (!path.ends_with(".msasm") || path.ends_with(".in.msasm")) continue;
    auto text = read_text_file(path);
    if (!text.ok()) return std::fprintf(stderr, "%s\n", text.status().message().c_str()), 1;
    AssembleResult a = assemble(*text, path);
    std::string out = std::string(argv[2]) + "/" + e.path().stem().string() + ".msbc";
    if (!a.errors.empty()) return std::fprintf(stderr, "%s\n", format_diagnostics(a.errors).c_str()), 1;
    if (Status s = write_module_file(a.module, out); !s.ok()) return std::fprintf(stderr, "%s\n", s.message().c_str()), 1;
    std::printf("%s\n", out.c_str());
  }
  return 0;
}
