// Breakpoints that the client has set, and what became of each at the servers that were asked. Private to the room.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "observe/dap/merge/side.h"

namespace msvm::observe::dap::merge {

/// What one request has set: the breakpoints of a source, those of functions, those of instructions.
struct BreakpointGroup {
  std::string command;
  Json arguments;
  bool asked[2] = {false, false};      // is it the side's business
  std::vector<int64_t> ids;            // the client's, in the order of the request
  std::vector<Json> found[2];          // a breakpoint of the protocol for each; empty: that side hasn't answered
};

class Breakpoints {
 public:
  /// In place of those with the same key. Good until the next call for the key.
  BreakpointGroup& set(const std::string& key, std::string command, Json arguments, bool python, bool bytecode);
  BreakpointGroup* find(const std::string& key);
  /// A side's answer to the group's request.
  void answered(BreakpointGroup& group, Side side, const Json& body);
  /// All of a group as the client sees them: verified if one of the sides has it.
  Json rows(const BreakpointGroup& group) const;
  /// A side tells of a change: the row now; none: it isn't one of ours.
  std::optional<Json> changed(Side side, const Json& breakpoint);
  /// A breakpoint of a function has met one of its name: the row now; none: that is nothing new.
  std::optional<Json> met(Side side, int64_t id);
  /// The arguments of the group's request, with lines as debugpy has moved them to code; none: it has moved nothing.
  static std::optional<Json> moved(const BreakpointGroup& group);
  /// What the client has asked for; an empty object: it isn't one of ours.
  Json asked_for(Side side, int64_t id);
  /// The client's id; 0: not one of ours.
  int64_t own_id(Side side, int64_t id);
  std::map<std::string, BreakpointGroup>& groups() { return groups_; }

 private:
  Json row(const BreakpointGroup& group, size_t k) const;
  /// The group of a side's id, and which of it; null: not one of ours.
  std::pair<BreakpointGroup*, size_t> place(Side side, int64_t id);

  std::map<std::string, BreakpointGroup> groups_;
  std::map<std::pair<Side, int64_t>, std::pair<std::string, size_t>> places_;  // a side's id -> key of the group, and which of it
  int64_t last_ = 0;
};

}  // namespace msvm::observe::dap::merge
