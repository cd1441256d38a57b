// Any text: read or refused with its line; what was read prints to a text that reads back the same. Any bytes as an image: read or refused.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "msvm/jit/image.h"
#include "msvm/loops/loop_program.h"

using namespace msvm;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (auto image = jit::decode_image({reinterpret_cast<const std::byte*>(data), size}); image.ok())
    require(jit::encode_image(*image) == std::vector<std::byte>(reinterpret_cast<const std::byte*>(data), reinterpret_cast<const std::byte*>(data) + size), "an image has two spellings");
  if (size > loops::kMaxText) return 0;
  auto program = loops::parse({reinterpret_cast<const char*>(data), size});
  if (!program.ok()) {
    require(program.status().message().find("line ") == 0, "an error without a line");
    return 0;
  }
  const std::string text = loops::print(*program);
  auto again = loops::parse(text);
  require(again.ok(), "what was printed can't be read");
  require(loops::print(*again) == text, "the text changes");
  return 0;
}
