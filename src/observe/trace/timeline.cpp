#include "observe/trace/timeline.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "msvm/base/utc_text.h"
#include "observe/trace/mode.h"
#include "observe/trace/summary.h"

namespace msvm::observe {
namespace {

using Json = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "columns are written as they stand in memory");

constexpr size_t padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

/// Numbers of texts in the order in which they come.
class Texts {
 public:
  explicit Texts(const TraceLog& log) : log_(log) {}
  uint32_t number(TextId id) {
    if (id == 0) return 0;
    const auto [it, fresh] = numbers_.try_emplace(id, static_cast<uint32_t>(list_.size()));
    if (!fresh) return it->second;
    // A text is defined anew in each generation of a log.
    const auto [same, first] = by_text_.try_emplace(std::string(log_.text(id)), it->second);
    if (first) list_.push_back(same->first);
    else it->second = same->second;
    return it->second;
  }
  const Json& list() const { return list_; }

 private:
  const TraceLog& log_;
  std::map<TextId, uint32_t> numbers_;
  std::map<std::string, uint32_t> by_text_ = {{"", 0}};
  Json list_ = Json::array({""});
};

class Programs {
 public:
  explicit Programs(const TraceLog& log) : log_(log) {}
  uint16_t number(const Event& e) {
    if (e.program == 0) return 0;
    const auto [it, fresh] = numbers_.try_emplace(e.program, uint16_t{0});
    if (!fresh) return it->second;
    const ProgramTable& p = log_.program(e);
    const auto same = by_name_.find(p.name);
    if (same != by_name_.end()) return it->second = same->second;
    if (list_.size() >= UINT16_MAX) return 0;
    Json functions = Json::array();
    for (const auto& f : p.functions) {
      Json instructions = Json::array();
      for (const auto& i : f.instructions) instructions.push_back({i.mnemonic, i.op, i.place, i.origins});
      functions.push_back({{"name", f.name}, {"instructions", std::move(instructions)}});
    }
    list_.push_back({{"name", p.name}, {"functions", std::move(functions)}});
    it->second = static_cast<uint16_t>(list_.size());
    by_name_.emplace(p.name, it->second);
    return it->second;
  }
  const Json& list() const { return list_; }

 private:
  const TraceLog& log_;
  std::map<TextId, uint16_t> numbers_;
  std::map<std::string, uint16_t> by_name_;
  Json list_ = Json::array();
};

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, double>) return "f64";
  else if constexpr (std::is_same_v<T, float>) return "f32";
  else if constexpr (std::is_same_v<T, uint32_t>) return "u32";
  else if constexpr (std::is_same_v<T, int32_t>) return "i32";
  else if constexpr (std::is_same_v<T, uint16_t>) return "u16";
  else return "u8";
}

/// Columns side by side in one buffer.
class Columns {
 public:
  explicit Columns(size_t rows) : rows_(rows) {}
  template <class T, class Get>
  void add(std::string_view name, const std::vector<Event>& events, Get get) {
    const size_t offset = bytes_.size();
    bytes_.resize(offset + padded(rows_ * sizeof(T)));
    for (size_t k = 0; k < rows_; ++k) {
      const T value = get(events[k]);
      std::memcpy(bytes_.data() + offset + k * sizeof(T), &value, sizeof(T));
    }
    table_.push_back({{"name", name}, {"type", type_name<T>()}, {"offset", offset}});
  }
  const Json& table() const { return table_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  size_t rows_;
  std::vector<std::byte> bytes_;
  Json table_ = Json::array();
};

double microseconds(const TraceLog& log, const Event& e) { return log.nanoseconds(e) * 1e-3; }

Columns columns_of(const TraceLog& log, Texts& texts, Programs& programs) {
  const auto& events = log.events();
  Columns c(events.size());
  c.add<double>("begin", events, [&](const Event& e) { return log.seconds(e.begin) * 1e6; });
  c.add<double>("duration", events, [&](const Event& e) { return microseconds(log, e); });
  c.add<double>("bytes", events, [](const Event& e) { return static_cast<double>(e.bytes); });
  c.add<float>("gflop", events, [](const Event& e) { return static_cast<float>(e.work * 1e-9); });
  c.add<int32_t>("instruction", events, [](const Event& e) { return e.instruction; });
  c.add<int32_t>("region", events, [](const Event& e) { return e.region; });
  c.add<uint32_t>("name", events, [&](const Event& e) { return texts.number(e.name); });
  c.add<uint32_t>("detail", events, [&](const Event& e) { return texts.number(e.detail); });
  c.add<uint32_t>("thread", events, [](const Event& e) { return e.thread; });
  c.add<uint32_t>("run", events, [](const Event& e) { return e.run; });
  c.add<uint16_t>("program", events, [&](const Event& e) { return programs.number(e); });
  c.add<uint16_t>("function", events, [](const Event& e) { return e.function; });
  c.add<uint8_t>("kind", events, [](const Event& e) { return static_cast<uint8_t>(e.kind); });
  c.add<uint8_t>("tier", events, [](const Event& e) { return e.tier; });
  return c;
}

}  // namespace

Status write_timeline(const TraceLog& log, std::FILE* out, size_t most_outliers) {
  Texts texts(log);
  Programs programs(log);
  const Columns columns = columns_of(log, texts, programs);
  const TraceSummary s = summarize(log, most_outliers);
  Json j = {{"format", 1}, {"pid", log.header().pid}, {"began", utc_text(log.wall_ns(log.events().empty() ? 0 : log.events().front().begin), 6)}, {"seconds", s.seconds},
            {"core_gflops", s.core_gflops}, {"dropped", s.dropped}, {"damage", log.damage()}, {"events", log.events().size()}};
  j["kinds"] = Json::array();
  for (const EventInfo& i : kEventInfo) j["kinds"].push_back(i.name);
  j["modes"] = kTierNames;
  j["texts"] = texts.list();
  j["programs"] = programs.list();
  j["outliers"] = Json::array();
  for (const Outlier& o : s.outliers) j["outliers"].push_back({{"event", o.event}, {"usual_us", o.usual_ns * 1e-3}, {"cause", o.cause}});
  j["summary"] = Json::parse(to_json(s, log));
  j["columns"] = columns.table();
  std::string line = j.dump(-1, ' ', false, Json::error_handler_t::replace);
  line.append(padded(line.size() + 1) - line.size() - 1, ' ');
  line += '\n';
  const auto put = [&](const void* data, size_t bytes) { return std::fwrite(data, 1, bytes, out) == bytes; };
  if (!put(line.data(), line.size()) || !put(columns.bytes().data(), columns.bytes().size()) || std::fflush(out) != 0) return {StatusCode::kIo, "the timeline can't be written"};
  return {};
}

}  // namespace msvm::observe
