#include "observe/trace/trace_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "msvm/base/file.h"
#include "observe/trace/encode.h"

namespace msvm::observe {
namespace {

constexpr uint64_t kMaxFileBytes = 8ull << 30;
constexpr size_t kMostDamage = 20;  // that is told

/// Splits off the text up to `end`, or all of it.
std::string_view next(std::string_view& rest, char end) {
  const size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

// As Tracer::program_text() writes it.
ProgramTable parse_program(std::string_view text) {
  ProgramTable p;
  p.name = next(text, '\n');
  while (!text.empty()) {
    std::string_view line = next(text, '\n');
    if (line.starts_with('@')) {
      p.functions.push_back({std::string(line.substr(1)), {}});
    } else if (!p.functions.empty()) {
      ProgramTable::Instruction i;
      for (std::string* part : {&i.mnemonic, &i.op, &i.place, &i.origins}) *part = next(line, '\t');
      p.functions.back().instructions.push_back(std::move(i));
    }
  }
  return p;
}

bool plausible(const FileHeader& h) { return std::isfinite(h.ns_per_tick) && h.ns_per_tick > 0 && h.ns_per_tick < 1e6 && std::isfinite(h.core_gflops); }

int64_t clamped(double v) { return v > 9e18 ? INT64_MAX : v < -9e18 ? INT64_MIN : static_cast<int64_t>(v); }

}  // namespace

Result<TraceLog> TraceLog::read(const std::string& path) {
  MSVM_ASSIGN_OR_RETURN(const auto bytes, read_file(path, kMaxFileBytes));
  return parse(bytes, path);
}

Result<TraceLog> TraceLog::parse(std::span<const std::byte> bytes, const std::string& path) {
  TraceLog log;
  FileHeader& h = log.header_;
  const FileHeader mine;
  if (bytes.size() < sizeof(h)) return malformed(fmt::format("{}: expected a trace (.bclog), found {} bytes", path, bytes.size()));
  std::memcpy(&h, bytes.data(), sizeof(h));
  if (std::memcmp(h.magic, mine.magic, sizeof(h.magic)) != 0) return malformed(path + ": this is not a trace (.bclog)");
  if (h.version != mine.version) return malformed(fmt::format("{}: a trace of version {}; this program reads version {}", path, h.version, mine.version));
  if (h.checksum != checksum_of(h) || !plausible(h)) return malformed(path + ": the header of the trace is damaged");

  for (size_t at = sizeof(h); at < bytes.size();) {
    const auto rest = bytes.subspan(at);
    auto damaged = [&](std::string what) {
      if (log.damage_.size() < kMostDamage) log.damage_.push_back(fmt::format("at byte {}: {}", at, what));
    };
    BlockHeader b;
    const bool whole = rest.size() >= sizeof(b);
    if (whole) std::memcpy(&b, rest.data(), sizeof(b));
    const bool block = whole && std::memcmp(b.magic, BlockHeader().magic, sizeof(b.magic)) == 0 && b.bytes <= kMaxBlockBytes;
    if (block && b.bytes <= rest.size() - sizeof(b)) {
      const auto payload = rest.subspan(sizeof(b), b.bytes);
      if (b.checksum == checksum_of(b, payload)) {
        log.read_block(b, payload, at);
        at += sizeof(b) + b.bytes;
        continue;
      }
      damaged("a block whose checksum is wrong");
    } else if (block || !whole) {
      damaged("the file ends within a block, as it does where the writer was killed");
    } else {
      damaged("expected a block");
    }
    const auto next = std::search(rest.begin() + 1, rest.end(), reinterpret_cast<const std::byte*>(BlockHeader().magic), reinterpret_cast<const std::byte*>(BlockHeader().magic) + 4);
    at += static_cast<size_t>(next - rest.begin());
  }
  std::stable_sort(log.events_.begin(), log.events_.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  log.parse_programs();
  return log;
}

void TraceLog::read_block(const BlockHeader& h, std::span<const std::byte> bytes, size_t offset) {
  ByteReader in(bytes);
  dropped_ = std::max(dropped_, h.dropped);
  std::vector<std::pair<TextId, std::string>> texts;
  switch (h.type) {
    case BlockType::kTexts: decode_texts(in, h.count, texts); break;
    case BlockType::kEvents: decode_events(in, h.count, events_); break;
    case BlockType::kRaw:
      for (uint32_t k = 0; k < h.count && header_.event_bytes == sizeof(Event); ++k) {
        const auto raw = in.bytes(sizeof(Event));
        if (raw.empty()) break;
        Event e;
        std::memcpy(static_cast<void*>(&e), raw.data(), sizeof(e));
        if (static_cast<size_t>(e.kind) < kEventInfo.size() && e.tier <= 2) events_.push_back(e);
      }
      break;
    default: in.fail("a block of an unknown type");
  }
  for (auto& [id, text] : texts) texts_[id] = std::move(text);
  if (!in.ok() && damage_.size() < kMostDamage) damage_.push_back(fmt::format("at byte {}: {}", offset, in.status().message()));
}

void TraceLog::parse_programs() {
  for (const Event& e : events_)
    if (e.program && !programs_.contains(e.program))
      if (const auto text = texts_.find(e.program); text != texts_.end()) programs_[e.program] = parse_program(text->second);
}

std::string_view TraceLog::text(TextId id) const {
  const auto it = texts_.find(id);
  return it == texts_.end() ? std::string_view() : it->second;
}

const ProgramTable& TraceLog::program(const Event& e) const {
  static const ProgramTable none;
  const auto it = programs_.find(e.program);
  return it == programs_.end() ? none : it->second;
}

std::string_view TraceLog::function_name(const Event& e) const {
  const ProgramTable& p = program(e);
  return e.function < p.functions.size() ? std::string_view(p.functions[e.function].name) : std::string_view();
}

const ProgramTable::Instruction* TraceLog::instruction(const Event& e) const {
  const ProgramTable& p = program(e);
  if (e.instruction < 0 || e.function >= p.functions.size()) return nullptr;
  const auto& all = p.functions[e.function].instructions;
  return static_cast<size_t>(e.instruction) < all.size() ? &all[static_cast<size_t>(e.instruction)] : nullptr;
}

double TraceLog::seconds(int64_t ticks) const { return (static_cast<double>(ticks) - static_cast<double>(header_.ticks)) * header_.ns_per_tick * 1e-9; }

int64_t TraceLog::wall_ns(int64_t ticks) const {
  int64_t wall = 0;
  const int64_t since = clamped(std::round(seconds(ticks) * 1e9));
  return __builtin_add_overflow(header_.wall_ns, since, &wall) ? header_.wall_ns : wall;
}

Result<std::string> newest_log(const std::string& folder) {
  std::error_code error;
  std::filesystem::path newest;
  std::filesystem::file_time_type time;
  for (const auto& f : std::filesystem::directory_iterator(folder, error)) {
    if (f.path().extension() != ".bclog") continue;
    std::error_code gone;
    const auto changed = f.last_write_time(gone);
    if (!gone && (newest.empty() || changed > time)) {
      newest = f.path();
      time = changed;
    }
  }
  if (newest.empty()) return Status(StatusCode::kNotFound, folder + ": there is no trace (.bclog); MSVM_BC_TRACE=1 or msvm.vm.enable_bc_trace() write one");
  return newest.string();
}

}  // namespace msvm::observe
