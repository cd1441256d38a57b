#include "observe/trace/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "observe/trace/mode.h"

namespace msvm::observe {
namespace {

using Json = nlohmann::ordered_json;
using Key = std::tuple<std::string, std::string, int32_t>;  // program, function, instruction

struct Collected {
  std::string op, place;
  std::vector<double> us;
  std::map<std::pair<TextId, int>, int64_t> served;  // by name and tier
};

std::map<Key, Collected> collect(const TraceLog& log) {
  std::map<std::tuple<TextId, uint16_t, int32_t>, Collected> by_id;  // texts are looked up once for each, not for each event
  std::map<std::tuple<TextId, uint16_t, int32_t>, Event> any;
  for (const Event& e : log.events()) {
    if (e.kind != EventKind::kRun && e.kind != EventKind::kCall && e.kind != EventKind::kNative && e.kind != EventKind::kCopy) continue;
    const std::tuple id(e.program, e.function, e.kind == EventKind::kRun ? -1 : e.instruction);
    Collected& c = by_id[id];
    if (c.us.empty()) any[id] = e;
    c.us.push_back(log.nanoseconds(e) * 1e-3);
    ++c.served[{e.kind == EventKind::kRun ? 0 : e.name, e.tier}];
  }
  std::map<Key, Collected> out;
  for (auto& [id, c] : by_id) {
    const Event& e = any[id];
    Collected& to = out[{log.program(e).name, std::string(log.function_name(e)), std::get<2>(id)}];
    if (const auto* i = std::get<2>(id) < 0 ? nullptr : log.instruction(e)) {
      to.op = i->op.empty() ? i->mnemonic : i->op;
      to.place = i->place;
    }
    to.us.insert(to.us.end(), c.us.begin(), c.us.end());
    for (const auto& [served, count] : c.served) to.served[served] += count;
  }
  return out;
}

Comparison::Side side_of(const TraceLog& log, Collected& c) {
  Comparison::Side s;
  if (c.us.empty()) return s;
  s.count = static_cast<int64_t>(c.us.size());
  for (double v : c.us) s.total_ms += v * 1e-3;
  const auto middle = c.us.begin() + static_cast<std::ptrdiff_t>(c.us.size() / 2);
  std::nth_element(c.us.begin(), middle, c.us.end());
  s.median_us = *middle;
  const auto most = std::max_element(c.served.begin(), c.served.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  s.name = log.text(most->first.first);
  s.tier = most->first.second;
  return s;
}

double change(const Comparison& c) { return std::abs(c.after.median_us - c.before.median_us); }

Json side_json(const Comparison::Side& s) { return {{"count", s.count}, {"median_us", s.median_us}, {"total_ms", s.total_ms}, {"mode", mode_name(s.tier)}, {"name", s.name}}; }

std::string time_text(const Comparison::Side& s) {
  if (s.count == 0) return "-";
  return s.median_us < 1000 ? fmt::format("{:.1f} us", s.median_us) : fmt::format("{:.2f} ms", s.median_us * 1e-3);
}

}  // namespace

std::vector<Comparison> compare(const TraceLog& before, const TraceLog& after) {
  std::map<Key, Collected> a = collect(before), b = collect(after);
  std::map<Key, Comparison> rows;
  for (auto& [key, c] : a) {
    Comparison& row = rows[key];
    row.op = c.op;
    row.place = c.place;
    row.before = side_of(before, c);
  }
  for (auto& [key, c] : b) {
    Comparison& row = rows[key];
    if (!c.op.empty()) row.op = c.op;
    if (!c.place.empty()) row.place = c.place;
    row.after = side_of(after, c);
  }
  std::vector<Comparison> out;
  for (auto& [key, row] : rows) {
    std::tie(row.program, row.function, row.instruction) = key;
    out.push_back(std::move(row));
  }
  std::stable_sort(out.begin(), out.end(), [](const Comparison& x, const Comparison& y) {
    if ((x.instruction < 0) != (y.instruction < 0)) return x.instruction < 0;
    return change(x) > change(y);
  });
  return out;
}

std::string to_text(const std::vector<Comparison>& rows, size_t most) {
  std::string out = fmt::format("{:>10} {:>10} {:>7}  {:<12} {:<12} {:>6}  {:<24} {}\n", "before", "after", "ratio", "mode before", "mode after", "instr", "what", "place");
  for (size_t k = 0; k < std::min(most, rows.size()); ++k) {
    const Comparison& r = rows[k];
    const std::string what = r.instruction < 0 ? fmt::format("runs of {} @{}", r.program, r.function) : r.op;
    out += fmt::format("{:>10} {:>10} {:>7}  {:<12} {:<12} {:>6}  {:<24} {}\n", time_text(r.before), time_text(r.after), r.ratio() > 0 ? fmt::format("{:.2f}", r.ratio()) : "-",
                       r.before.count ? mode_name(r.before.tier) : "-", r.after.count ? mode_name(r.after.tier) : "-", r.instruction < 0 ? "" : std::to_string(r.instruction), what, r.place);
  }
  if (rows.size() > most) out += fmt::format("… and {} more\n", rows.size() - most);
  return out;
}

std::string to_json(const std::vector<Comparison>& rows) {
  std::string out = "[";
  for (const Comparison& r : rows) {
    Json j = {{"program", r.program}, {"function", r.function}};
    if (r.instruction >= 0) j["instruction"] = r.instruction;
    j["operator"] = r.op;
    j["place"] = r.place;
    j["before"] = side_json(r.before);
    j["after"] = side_json(r.after);
    if (r.ratio() > 0) j["ratio"] = r.ratio();
    out += (out.size() > 1 ? ",\n " : "") + j.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return out + "]";
}

}  // namespace msvm::observe
