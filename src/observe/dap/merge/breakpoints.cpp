#include "observe/dap/merge/breakpoints.h"

#include "observe/dap/json.h"

namespace msvm::observe::dap::merge {
namespace {

bool verified(const Json& b) {
  const auto v = b.find("verified");
  return v != b.end() && v->is_boolean() && v->get<bool>();
}

}  // namespace

BreakpointGroup& Breakpoints::set(const std::string& key, std::string command, Json arguments, bool python, bool bytecode) {
  std::erase_if(places_, [&](const auto& place) { return place.second.first == key; });
  BreakpointGroup& g = groups_[key];
  g = {};
  g.command = std::move(command);
  g.arguments = std::move(arguments);
  g.asked[0] = python;
  g.asked[1] = bytecode;
  const auto rows = g.arguments.find("breakpoints");
  const size_t n = rows != g.arguments.end() && rows->is_array() ? rows->size() : 0;
  for (size_t k = 0; k < n; ++k) g.ids.push_back(++last_);
  return g;
}

BreakpointGroup* Breakpoints::find(const std::string& key) {
  const auto at = groups_.find(key);
  return at == groups_.end() ? nullptr : &at->second;
}

void Breakpoints::answered(BreakpointGroup& group, Side side, const Json& body) {
  std::string key;
  for (const auto& [name, g] : groups_)
    if (&g == &group) key = name;
  std::vector<Json>& found = group.found[static_cast<int>(side)];
  found.assign(group.ids.size(), Json::object());
  const auto rows = body.find("breakpoints");
  if (rows == body.end() || !rows->is_array()) return;
  for (size_t k = 0; k < found.size() && k < rows->size(); ++k) {
    if (!(*rows)[k].is_object()) continue;
    found[k] = (*rows)[k];
    if (const auto id = found[k].find("id"); id != found[k].end() && id->is_number_integer()) places_[{side, id->get<int64_t>()}] = {key, k};
  }
}

Json Breakpoints::row(const BreakpointGroup& group, size_t k) const {
  const Json* best = nullptr;
  for (const Side side : kSides) {
    const auto& found = group.found[static_cast<int>(side)];
    if (k < found.size() && (!best || (verified(found[k]) && !verified(*best)))) best = &found[k];
  }
  Json out = best ? *best : Json::object();
  out["id"] = group.ids[k];
  out["verified"] = best && verified(*best);
  // Verified by the other side, and yet of no use in bytecode: a condition that only Python can read.
  const auto& bytecode = group.found[static_cast<int>(Side::kBytecode)];
  if (best && k < bytecode.size() && best != &bytecode[k] && text_in(bytecode[k], "reason") == "failed") out["message"] = "in bytecode: " + text_in(bytecode[k], "message");
  if (!best && group.asked[static_cast<int>(Side::kBytecode)]) out["message"] = "waits for the program to import msvm";
  return out;
}

Json Breakpoints::rows(const BreakpointGroup& group) const {
  Json out = Json::array();
  for (size_t k = 0; k < group.ids.size(); ++k) out.push_back(row(group, k));
  return out;
}

std::optional<Json> Breakpoints::changed(Side side, const Json& breakpoint) {
  const auto id = breakpoint.find("id");
  if (id == breakpoint.end() || !id->is_number_integer()) return {};
  const auto place = places_.find({side, id->get<int64_t>()});
  if (place == places_.end()) return {};
  const auto& [key, k] = place->second;
  BreakpointGroup* g = find(key);
  if (!g || k >= g->found[static_cast<int>(side)].size()) return {};
  g->found[static_cast<int>(side)][k] = breakpoint;
  return row(*g, k);
}

int64_t Breakpoints::own_id(Side side, int64_t id) const {
  const auto place = places_.find({side, id});
  if (place == places_.end()) return 0;
  const auto group = groups_.find(place->second.first);
  return group == groups_.end() || place->second.second >= group->second.ids.size() ? 0 : group->second.ids[place->second.second];
}

}  // namespace msvm::observe::dap::merge
