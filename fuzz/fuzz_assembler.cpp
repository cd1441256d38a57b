// Any text: read or refused with places; what was read becomes the same canonical text by way of a file and directly.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text.h"

using namespace msvm;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  AssembleResult a = assemble({reinterpret_cast<const char*>(data), size}, "input.msasm");
  for (const Diagnostic& d : a.errors) require(d.place.line > 0 && d.place.column > 0, "an error without a place");
  std::string text = disassemble(a.module);  // also of what is left of a wrong text
  if (!a.errors.empty()) return 0;
  auto bytes = write_module(a.module);
  if (!bytes.ok()) return 0;
  auto read = read_module(*bytes, nullptr);
  require(read.ok(), "what was written can't be read");
  require(disassemble(*read) == text, "the file's text differs");
  AssembleResult b = assemble(text);
  require(b.errors.empty(), "canonical text is refused");
  auto again = write_module(b.module);
  require(again.ok() && *again == *bytes, "canonical text gives another file");
  return 0;
}
