#include "msvm/device/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace msvm {
namespace {

/// The number in a file of one line; 0 if there is none ("max" is none).
int64_t number_in(const char* path) {
  std::FILE* f = std::fopen(path, "re");
  if (!f) return 0;
  char text[32] = {};
  const bool read = std::fgets(text, sizeof text, f) != nullptr;
  std::fclose(f);
  return read ? std::strtoll(text, nullptr, 10) : 0;
}

int64_t measure() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  int64_t bytes = pages > 0 && page > 0 ? pages * page : INT64_MAX;
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (const int64_t limit = number_in(path); limit > 0) bytes = std::min(bytes, limit);
  return bytes;
}

}  // namespace

int64_t machine_memory() {
  static const int64_t bytes = measure();
  return bytes;
}

}  // namespace msvm
