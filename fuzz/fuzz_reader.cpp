// A file from a stranger: read, written again, printed and read back, verified. Never a crash; what was read is kept exactly.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text.h"
#include "msvm/verify/verify.h"

using namespace msvm;

namespace {

void require(bool holds, const char* what, const std::string& detail = "") {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", what, detail.c_str());
  std::abort();
}

void check_round_trip(const Module& m) {
  auto bytes = write_module(m);
  require(bytes.ok(), "what was read can't be written", bytes.ok() ? "" : bytes.status().message());
  auto again = read_module(*bytes, nullptr);
  require(again.ok(), "what was written can't be read", again.ok() ? "" : again.status().message());
  auto third = write_module(*again);
  require(third.ok() && *third == *bytes, "the second file differs from the first");

  std::string text = disassemble(m);
  if (text.size() > 1 << 18) return;
  AssembleResult a = assemble(text);
  for (const Diagnostic& d : a.errors)
    if (d.message.find("nested too deeply") != std::string::npos) return;  // printed, but not read
  require(a.errors.empty(), "the text can't be read back", a.errors.empty() ? "" : format_diagnostics(a.errors));
  auto from_text = write_module(a.module);
  require(from_text.ok() && *from_text == *bytes, "the file made from the text differs", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto module = read_module({reinterpret_cast<const std::byte*>(data), size}, nullptr);
  if (!module.ok()) return 0;
  for (Constant& c : module->constants) c.digest = 0;  // a wrong one is kept by files, but not by text
  check_round_trip(*module);
  VerifyResult verified = verify(std::move(*module));
  require(!verified.module == !verified.errors.empty(), "errors and a verified module, or neither");
  return 0;
}
