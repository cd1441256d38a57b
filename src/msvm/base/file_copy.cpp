#include "msvm/base/file_copy.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "msvm/base/file.h"

namespace msvm {
namespace {

struct Copy {
  std::byte* data;
  std::span<const std::byte> stored;
};

/// All copies that are there, by their first byte.
struct Copies {
  std::mutex mutex;
  std::map<const std::byte*, Copy> all;
};
Copies& copies() {
  static auto* const c = new Copies;  // copies may go while the process ends
  return *c;
}

std::optional<Copy> find(const std::byte* first) {
  std::lock_guard lock(copies().mutex);
  const auto it = copies().all.find(first);
  return it == copies().all.end() ? std::nullopt : std::optional(it->second);
}

void fill(const Copy& c) {
  std::memcpy(c.data, c.stored.data(), c.stored.size());
  drop_mapped_pages(c.stored);  // once in memory is enough
}

}  // namespace

std::shared_ptr<const std::byte> copy_of_file(std::span<const std::byte> stored, std::shared_ptr<const void> file) {
  if (stored.empty()) return nullptr;
  void* p = ::mmap(nullptr, stored.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  const Copy c{static_cast<std::byte*>(p), stored};
  fill(c);
  std::lock_guard lock(copies().mutex);
  copies().all.emplace(c.data, c);
  return {c.data, [size = stored.size(), file = std::move(file)](const std::byte* q) {
            std::lock_guard inner(copies().mutex);
            copies().all.erase(q);
            ::munmap(const_cast<std::byte*>(q), size);
          }};
}

bool drop_copy(const std::byte* first) {
  const auto c = find(first);
  if (c) ::madvise(c->data, c->stored.size(), MADV_DONTNEED);
  return c.has_value();
}

void fill_copy(const std::byte* first) {
  if (const auto c = find(first)) fill(*c);
}

bool is_copy(const std::byte* first) { return find(first).has_value(); }

}  // namespace msvm
