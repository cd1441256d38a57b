// A trace from a stranger: as a whole file, and as the bytes of blocks whose checksums are right. Never a crash, always an answer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "observe/trace/csv.h"
#include "observe/trace/perfetto.h"
#include "observe/trace/summary.h"

using namespace msvm;
using namespace msvm::observe;

namespace {

std::FILE* nowhere() {
  static std::FILE* f = std::fopen("/dev/null", "w");
  return f;
}

void use(std::span<const std::byte> bytes) {
  auto log = TraceLog::parse(bytes, "fuzz.bclog");
  if (!log.ok()) return;
  (void)write_csv(*log, nowhere());
  (void)write_perfetto(*log, nowhere());
  const TraceSummary s = summarize(*log);
  (void)to_text(s, *log);
  (void)to_json(s, *log);
}

void append(std::vector<std::byte>& file, BlockType type, uint32_t count, std::span<const std::byte> bytes) {
  BlockHeader h;
  h.type = type;
  h.count = count;
  h.bytes = static_cast<uint32_t>(bytes.size());
  h.checksum = checksum_of(h, bytes);
  const auto head = std::as_bytes(std::span(&h, 1));
  file.insert(file.end(), head.begin(), head.end());
  file.insert(file.end(), bytes.begin(), bytes.end());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span all(reinterpret_cast<const std::byte*>(data), size);
  use(all);
  if (size < 3) return 0;
  // Two blocks of types and counts that the input chooses.
  FileHeader h;
  h.event_bytes = sizeof(Event);
  h.checksum = checksum_of(h);
  const auto head = std::as_bytes(std::span(&h, 1));
  std::vector<std::byte> file(head.begin(), head.end());
  const auto rest = all.subspan(3);
  const size_t cut = rest.size() * data[2] / 256;
  append(file, static_cast<BlockType>(1 + data[0] % 3), data[1], rest.first(cut));
  append(file, static_cast<BlockType>(1 + data[0] / 3 % 3), data[1] * 7u, rest.subspan(cut));
  use(file);
  return 0;
}
