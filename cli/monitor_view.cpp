#include "monitor_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "common.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

enum class Ink { kPlain, kBold, kDim, kRed, kGreen };
constexpr const char* kCodes[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m"};
constexpr size_t kMaxName = 44;
constexpr double kPoor = 0.7;  // a hit rate below which something should be done

const Json& at(const Json& j, const char* key) {
  static const Json none;
  if (!j.is_object()) return none;
  const auto found = j.find(key);
  return found == j.end() ? none : *found;
}
std::string text(const Json& j, const char* key) {
  const Json& v = at(j, key);
  std::string s = v.is_string() ? v.get<std::string>() : std::string();
  std::replace(s.begin(), s.end(), '\n', ' ');
  return s;
}
double number(const Json& j, const char* key) {
  const Json& v = at(j, key);
  return v.is_number() ? v.get<double>() : 0;
}
std::string count(const Json& j, const char* key) { return fmt::format("{:.0f}", number(j, key)); }
std::string ms(const Json& j, const char* key) { return at(j, key).is_number() ? format_ns(number(j, key) * 1e6) : "-"; }
std::string percent(const Json& j, const char* key) { return at(j, key).is_number() ? fmt::format("{:.1f} %", 100 * number(j, key)) : "-"; }

/// Cut to so many characters, each counted as one column; a mark says that there was more.
std::string cut(const std::string& s, size_t width) {
  size_t columns = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if ((static_cast<unsigned char>(s[i]) & 0xc0) == 0x80) continue;
    if (columns++ == width) return s.substr(0, i);
  }
  return s;
}
std::string shortened(const std::string& s) { return s.size() <= kMaxName ? s : cut(s, kMaxName - 3) + "..."; }

class Screen {
 public:
  explicit Screen(const ViewOptions& o) : o_(o) {}
  void line(const std::string& s, Ink ink = Ink::kPlain) {
    if (o_.height > 0 && lines_ >= o_.height) return;
    ++lines_;
    std::string shown = printable(s);
    if (o_.width > 0) shown = cut(shown, static_cast<size_t>(o_.width));
    out_ += o_.colour && ink != Ink::kPlain ? kCodes[static_cast<int>(ink)] + shown + "\x1b[0m\n" : shown + "\n";
  }
  void gap() {
    if (lines_ > 0) line("");
  }
  int room() const { return o_.height > 0 ? std::max(0, o_.height - lines_) : 1 << 20; }
  /// A table whose rows have their own inks.
  void table(std::vector<std::string> header, const std::vector<std::pair<std::vector<std::string>, Ink>>& rows, int limit) {
    Table t(std::move(header));
    for (const auto& r : rows) t.row(r.first);
    const std::string all = t.to_string();
    size_t begin = 0;
    for (int k = -1; begin < all.size() && k < limit; ++k) {
      const size_t end = all.find('\n', begin);
      line(all.substr(begin, end - begin), k < 0 ? Ink::kDim : rows[static_cast<size_t>(k)].second);
      begin = end + 1;
    }
    if (const int more = static_cast<int>(rows.size()) - limit; more > 0) line(fmt::format("... {} more", more), Ink::kDim);
  }
  std::string take() { return std::move(out_); }

 private:
  const ViewOptions& o_;
  std::string out_;
  int lines_ = 0;
};

void header(Screen& s, const Json& state) {
  s.line(fmt::format("{}  pid {}  msvm {}  {}, {} threads  up {}{}", shortened(text(state, "command")), count(state, "pid"), text(state, "msvm"), text(state, "isa"), count(state, "threads"),
                     format_ns(number(state, "uptime_s") * 1e9), at(state, "tracing") == true ? "  tracing" : ""),
         Ink::kBold);
}

void programs(Screen& s, const Json& state) {
  std::vector<std::pair<std::vector<std::string>, Ink>> rows;
  for (const Json& p : at(state, "programs")) {
    const Json& window = at(p, "window");
    const Json& of = number(window, "runs") > 0 ? window : p;
    const Json& latency = at(p, "latency");
    const Json* slowest = &at(latency, "specialised");
    for (const char* tier : {"native", "interpreted"})
      if (number(at(latency, tier), "count") > number(*slowest, "count")) slowest = &at(latency, tier);
    const bool poor = number(of, "runs") > 0 && at(of, "hit_rate").is_number() && number(of, "hit_rate") < kPoor && at(p, "regions").size() > 0;
    rows.push_back({{shortened(text(p, "name")), count(p, "runs"), fmt::format("{:.1f}", number(at(p, "rates"), "runs_per_s")), percent(of, "hit_rate"), percent(of, "specialised_hit_rate"), ms(*slowest, "p50_ms"),
                     ms(*slowest, "p99_ms"), format_bytes(number(p, "code_bytes")), count(p, "failed_runs")},
                    poor ? Ink::kRed : Ink::kPlain});
  }
  s.gap();
  if (rows.empty()) s.line("no programs are loaded", Ink::kDim);
  else s.table({"program", "runs", "a second", "hit rate", "specialised", "p50", "p99", "code", "failed"}, rows, std::max(3, s.room() / 4));
}

void queues(Screen& s, const Json& state) {
  s.gap();
  for (const Json& q : at(state, "queues")) {
    if (const Json& r = at(q, "running"); r.is_object()) {
      const double progress = std::clamp(number(r, "progress"), 0.0, 1.0);
      const auto filled = static_cast<size_t>(20 * progress + 0.5);
      s.line(fmt::format("compiling  [{:<20}] {:<8} {} of about {}  {} {}", std::string(filled, '#'), text(r, "phase"), ms(r, "elapsed_ms"), ms(r, "estimate_ms"), text(r, "program"), text(r, "label")), Ink::kGreen);
    } else {
      s.line(fmt::format("compiler   idle; {} compiled, {} the longest", count(at(q, "compiled"), "count"), ms(at(q, "compiled"), "max_ms")));
    }
    const Json& next = at(q, "next");
    const bool has_next = next.is_array() && !next.empty();
    if (number(q, "queued") > 0) s.line(fmt::format("queued     {}{}{}", count(q, "queued"), has_next ? "; next: " : "", has_next ? shortened(text(next[0], "label")) : std::string()));
  }
}

void memory(Screen& s, const Json& state) {
  for (const Json& m : at(state, "memory")) {
    std::string owners;
    for (const auto& [name, bytes] : at(m, "by_owner").items())
      if (bytes.is_number() && bytes.get<double>() > 0) owners += fmt::format("{}{} {}", owners.empty() ? "" : ", ", name, format_bytes(bytes.get<double>()));
    s.line(fmt::format("memory     {}: {} in use of {}, peak {}, fragmentation {}{}{}", text(m, "device"), format_bytes(number(m, "in_use")), format_bytes(number(m, "reserved")), format_bytes(number(m, "peak")),
                       percent(m, "fragmentation"), owners.empty() ? "" : "; ", owners));
    if (const std::string hint = text(m, "hint"); !hint.empty()) s.line("           " + hint, Ink::kRed);
  }
}

std::map<std::string, double> hits_of(const Json& state) {
  std::map<std::string, double> out;
  for (const Json& p : at(state, "programs"))
    for (const Json& r : at(p, "regions"))
      for (const Json& e : at(r, "entries")) out[count(p, "id") + "/" + count(r, "function") + "/" + count(r, "region") + "/" + text(e, "name")] = number(e, "hits");
  return out;
}

void entries(Screen& s, const Json& state, const Json& before, int limit) {
  struct Row {
    double rise, hits;
    std::vector<std::string> cells;
  };
  std::vector<Row> all;
  const auto had = hits_of(before);
  for (const Json& p : at(state, "programs"))
    for (const Json& r : at(p, "regions"))
      for (const Json& e : at(r, "entries")) {
        const auto old = had.find(count(p, "id") + "/" + count(r, "function") + "/" + count(r, "region") + "/" + text(e, "name"));
        const double hits = number(e, "hits"), rise = before.is_object() ? hits - (old == had.end() ? 0 : old->second) : 0;
        const std::string alias = text(e, "alias");
        all.push_back({rise, hits,
                       {shortened(alias.empty() ? text(e, "name") : alias), text(e, "box"), count(e, "tier"), count(e, "hits"), rise > 0 ? fmt::format("+{:.0f}", rise) : "", format_bytes(number(e, "code_bytes")),
                        at(e, "shared") == true ? "shared" : text(e, "outcome"), ms(e, "compile_ms"), at(e, "age_s").is_number() ? format_ns(number(e, "age_s") * 1e9) : "-", shortened(text(r, "name"))}});
      }
  std::stable_sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return std::pair(a.rise, a.hits) > std::pair(b.rise, b.hits); });
  s.gap();
  if (all.empty()) {
    s.line("no native code yet", Ink::kDim);
    return;
  }
  std::vector<std::pair<std::vector<std::string>, Ink>> rows;
  for (Row& r : all) rows.emplace_back(std::move(r.cells), r.rise > 0 ? Ink::kGreen : Ink::kPlain);
  s.table({"entry", "box", "tier", "hits", "now", "code", "came", "compiled in", "age", "region"}, rows, limit);
}

std::vector<std::pair<std::string, Ink>> notices(const Json& state) {
  std::vector<std::pair<std::string, Ink>> out;
  for (const Json& a : at(state, "alerts"))
    if (text(a, "state") == "firing") out.emplace_back(fmt::format("ALERT {} since {}: {}", text(a, "rule"), text(a, "since"), text(a, "message")), Ink::kRed);
  for (const Json& w : at(state, "warnings")) {
    const std::string place = text(w, "place"), mend = text(w, "mend"), severity = text(w, "severity");
    out.emplace_back(fmt::format("{} {}{}{}{}", text(w, "time"), text(w, "text"), place.empty() ? "" : " (" + place + ")", mend.empty() ? "" : ": ", mend), severity == "info" ? Ink::kPlain : Ink::kRed);
  }
  return out;
}

}  // namespace

std::string monitor_screen(const Json& state, const Json& before, const ViewOptions& options) {
  Screen s(options);
  const auto told = notices(state);
  const int shown = options.height > 0 ? std::min<int>(static_cast<int>(told.size()), std::max(2, options.height / 4)) : static_cast<int>(told.size());
  header(s, state);
  programs(s, state);
  queues(s, state);
  memory(s, state);
  const int left = s.room() - (shown > 0 ? shown + 1 : 0) - 3;  // the gap, the table's header, what says that there is more
  entries(s, state, before, std::max(1, left));
  if (shown > 0) s.gap();
  for (int k = 0; k < shown; ++k) s.line(told[static_cast<size_t>(k)].first, told[static_cast<size_t>(k)].second);
  return s.take();
}

}  // namespace msvm::cli
