#include "observe/dap/listings.h"

#include <algorithm>
#include <cctype>

namespace msvm::observe::dap {
namespace {

constexpr std::string_view kPrefix = "msvm://bc/";
constexpr size_t kMostKept = 16;

}  // namespace

int64_t Document::find(uint64_t address) const {
  const auto after = std::upper_bound(instructions.begin(), instructions.end(), address, [](uint64_t a, const auto& i) { return a < i.first; });
  return after - instructions.begin() - 1;
}

Result<std::shared_ptr<const Document>> Listings::get(uint64_t program) {
  {
    std::lock_guard lock(mutex_);
    const auto at = made_.find(program);
    if (at != made_.end() && at->second->listing.version == debugger_.listing_version(program) && debugger_.executable(program)) return at->second;
  }
  auto d = std::make_shared<Document>();
  MSVM_ASSIGN_OR_RETURN(d->listing, debugger_.listing(program));
  d->begin = program << 32;
  for (size_t i = 0; i < d->listing.lines.size(); ++i) {
    const debug::ListingLine& l = d->listing.lines[i];
    d->text += l.text;
    d->text += '\n';
    if (l.instruction >= 0) d->instructions.emplace_back(l.address, static_cast<int32_t>(i));
  }
  std::stable_sort(d->instructions.begin(), d->instructions.end());
  std::lock_guard lock(mutex_);
  if (made_.size() >= kMostKept) made_.clear();
  made_[program] = d;
  return std::shared_ptr<const Document>(d);
}

std::string listing_uri(uint64_t program, std::string_view name) {
  constexpr size_t kMost = 80;
  std::string uri = std::string(kPrefix) + hex(program << 32);
  if (name.empty()) return uri;
  uri += '/';
  for (const char c : name.substr(0, kMost)) uri += std::isalnum(static_cast<unsigned char>(c)) || c == '-' ? c : '_';  // no dot: it has no file's language
  return uri;
}

std::optional<uint64_t> program_of_uri(std::string_view uri) {
  if (!uri.starts_with(kPrefix)) return {};
  uri.remove_prefix(kPrefix.size());
  const auto address = parse_address(uri.substr(0, uri.find('/')));
  return address ? std::optional<uint64_t>(*address >> 32) : std::nullopt;
}

Json listing_source(uint64_t program, const std::string& name) { return {{"name", name + " bytecode"}, {"path", listing_uri(program, name)}}; }

}  // namespace msvm::observe::dap
