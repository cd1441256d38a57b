#include "observe/dap/merge/breakpoints.h"

#include <fmt/core.h>

#include "observe/dap/json.h"

namespace msvm::observe::dap::merge {
namespace {

bool verified(const Json& b) {
  const auto v = b.find("verified");
  return v != b.end() && v->is_boolean() && v->get<bool>();
}

/// The breakpoint as the client asked for it; an empty object: it isn't one.
Json asked(const BreakpointGroup& g, size_t k) {
  const auto rows = g.arguments.find("breakpoints");
  return rows != g.arguments.end() && rows->is_array() && k < rows->size() && (*rows)[k].is_object() ? (*rows)[k] : Json::object();
}

/// Where debugpy has put it, as it takes only lines with code; none: where it was asked for.
std::optional<int64_t> moved_line(const BreakpointGroup& g, size_t k) {
  const auto& found = g.found[static_cast<int>(Side::kPython)];
  if (g.command != "setBreakpoints" || k >= found.size() || !verified(found[k])) return {};
  const Json wanted = asked(g, k).value("line", Json()), line = found[k].value("line", Json());
  if (!wanted.is_number_integer() || !line.is_number_integer() || wanted == line) return {};
  return line.get<int64_t>();
}

}  // namespace

std::optional<Json> Breakpoints::moved(const BreakpointGroup& group) {
  std::optional<Json> out;
  for (size_t k = 0; k < group.ids.size(); ++k) {
    const auto line = moved_line(group, k);
    if (!line) continue;
    if (!out) out = group.arguments;
    (*out)["breakpoints"][k]["line"] = *line;
  }
  return out;
}

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
  if (verified(out)) out.erase("reason");
  const auto at = [&](Side side) { return k < group.found[static_cast<int>(side)].size() ? group.found[static_cast<int>(side)][k] : Json::object(); };
  const Json python = at(Side::kPython), bytecode = at(Side::kBytecode);
  if (const auto line = moved_line(group, k)) out["message"] = fmt::format("line {} has no code: it is at line {}", asked(group, k)["line"].get<int64_t>(), *line);
  // Verified by the other side, and yet of no use in bytecode: a condition that only Python can read.
  const bool unread = text_in(bytecode, "reason") == "failed" || (verified(bytecode) && !text_in(bytecode, "message").empty());
  if (verified(python) && unread) out["message"] = "in bytecode: " + text_in(bytecode, "message");
  if (verified(out)) return out;
  if (!best && group.asked[static_cast<int>(Side::kBytecode)]) out["message"] = "waits for the program to import msvm";
  else if (text_in(python, "reason") == "failed" && text_in(bytecode, "reason") != "failed") out["message"] = "in Python: " + text_in(python, "message");
  else if (text_in(python, "reason") == "pending" && !text_in(bytecode, "message").empty()) out["message"] = text_in(bytecode, "message");
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
  const auto [group, k] = place(side, id->get<int64_t>());
  if (!group || k >= group->found[static_cast<int>(side)].size()) return {};
  group->found[static_cast<int>(side)][k] = breakpoint;
  return row(*group, k);
}

std::optional<Json> Breakpoints::met(Side side, int64_t id) {
  const auto [group, k] = place(side, id);
  if (!group || k >= group->found[static_cast<int>(side)].size()) return {};
  Json& found = group->found[static_cast<int>(side)][k];
  if (text_in(found, "reason") != "pending") return {};
  found["verified"] = true;
  found.erase("reason");
  found.erase("message");
  return row(*group, k);
}

Json Breakpoints::asked_for(Side side, int64_t id) {
  const auto [group, k] = place(side, id);
  return group ? asked(*group, k) : Json::object();
}

int64_t Breakpoints::own_id(Side side, int64_t id) {
  const auto [group, k] = place(side, id);
  return group ? group->ids[k] : 0;
}

std::pair<BreakpointGroup*, size_t> Breakpoints::place(Side side, int64_t id) {
  const auto known = places_.find({side, id});
  if (known == places_.end()) return {};
  BreakpointGroup* group = find(known->second.first);
  const size_t k = known->second.second;
  if (!group || k >= group->ids.size()) return {};
  return {group, k};
}

}  // namespace msvm::observe::dap::merge
