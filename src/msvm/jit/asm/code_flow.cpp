#include "msvm/jit/asm/code_flow.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace msvm::jit {
namespace {

using Flow = MachineInstruction::Flow;

/// False if a jump leads out of the code or between instructions.
bool find_blocks(std::span<const MachineInstruction> code, std::vector<CodeBlock>& blocks) {
  std::unordered_map<uint32_t, size_t> at;  // instructions by offset
  std::set<size_t> leaders{0};
  for (size_t i = 0; i < code.size(); ++i) at[code[i].offset] = i;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].flow == Flow::kUnknown) return false;
    if (code[i].flow == Flow::kNext) continue;
    if (i + 1 < code.size()) leaders.insert(i + 1);
    if (code[i].flow == Flow::kReturn) continue;
    const auto target = at.find(code[i].target);
    if (target == at.end()) return false;
    leaders.insert(target->second);
  }
  std::unordered_map<size_t, int32_t> block_at;  // by first instruction
  for (auto k = leaders.begin(); k != leaders.end(); ++k) {
    block_at[*k] = static_cast<int32_t>(blocks.size());
    blocks.push_back({*k, std::next(k) == leaders.end() ? code.size() : *std::next(k), {-1, -1}});
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    const MachineInstruction& last = code[blocks[b].end - 1];
    const bool falls = last.flow == Flow::kNext || last.flow == Flow::kBranch;
    if (falls && b + 1 == blocks.size()) return false;  // over the end
    if (falls) blocks[b].next[0] = static_cast<int32_t>(b + 1);
    if (last.flow == Flow::kJump || last.flow == Flow::kBranch) blocks[b].next[1] = block_at.at(at.at(last.target));
  }
  return true;
}

bool holds(const std::vector<int32_t>& sorted, int32_t block) { return std::binary_search(sorted.begin(), sorted.end(), block); }

/// Strongly connected components by Tarjan's algorithm, without recursion.
class Components {
 public:
  /// Of these blocks; edges into blocks that are `cut` don't count.
  Components(const std::vector<CodeBlock>& blocks, const std::vector<uint8_t>& cut) : blocks_(blocks), cut_(cut), number_(blocks.size(), -1), low_(blocks.size(), 0), in_(blocks.size(), 0), is_open_(blocks.size(), 0) {}

  /// Those in which a block reaches itself, each ascending.
  std::vector<std::vector<int32_t>> find(const std::vector<int32_t>& among) {
    for (const int32_t b : among) in_[at(b)] = 1, number_[at(b)] = -1;
    for (const int32_t b : among)
      if (number_[at(b)] < 0) visit(b);
    for (const int32_t b : among) in_[at(b)] = 0;
    return std::move(found_);
  }

 private:
  struct Visit {
    int32_t block;
    size_t edge = 0;
  };
  static size_t at(int32_t b) { return static_cast<size_t>(b); }
  /// -1: not counted.
  int32_t next(int32_t b, size_t edge) const {
    const int32_t to = blocks_[at(b)].next[edge];
    return to >= 0 && in_[at(to)] && !cut_[at(to)] ? to : -1;
  }
  void begin(int32_t b) {
    number_[at(b)] = low_[at(b)] = count_++;
    open_.push_back(b);
    is_open_[at(b)] = 1;
    visits_.push_back({b});
  }
  void visit(int32_t first) {
    begin(first);
    while (!visits_.empty()) {
      const int32_t b = visits_.back().block;
      if (visits_.back().edge < 2) {
        const int32_t to = next(b, visits_.back().edge++);
        if (to < 0) continue;
        if (number_[at(to)] < 0) begin(to);
        else if (is_open_[at(to)]) low_[at(b)] = std::min(low_[at(b)], number_[at(to)]);
        continue;
      }
      visits_.pop_back();
      if (!visits_.empty()) low_[at(visits_.back().block)] = std::min(low_[at(visits_.back().block)], low_[at(b)]);
      if (low_[at(b)] == number_[at(b)]) close(b);
    }
  }
  void close(int32_t b) {
    const auto first = std::find(open_.begin(), open_.end(), b);
    std::vector<int32_t> component(first, open_.end());
    for (const int32_t c : component) is_open_[at(c)] = 0;
    open_.erase(first, open_.end());
    if (component.size() == 1 && next(b, 0) != b && next(b, 1) != b) return;
    std::sort(component.begin(), component.end());
    found_.push_back(std::move(component));
  }

  const std::vector<CodeBlock>& blocks_;
  const std::vector<uint8_t>& cut_;
  std::vector<int32_t> number_, low_;
  std::vector<uint8_t> in_, is_open_;
  std::vector<int32_t> open_;
  std::vector<Visit> visits_;
  std::vector<std::vector<int32_t>> found_;
  int32_t count_ = 0;
};

std::vector<int32_t> entries_of(const std::vector<CodeBlock>& blocks, const std::vector<int32_t>& loop) {
  std::set<int32_t> entries;
  if (holds(loop, 0)) entries.insert(0);
  for (size_t b = 0; b < blocks.size(); ++b)
    for (const int32_t to : blocks[b].next)
      if (to >= 0 && holds(loop, to) && !holds(loop, static_cast<int32_t>(b))) entries.insert(to);
  return {entries.begin(), entries.end()};
}

}  // namespace

bool CodeFlow::goes_on(int32_t b) const {
  const int32_t l = loop_of[static_cast<size_t>(b)];
  if (l < 0) return false;
  const CodeLoop& loop = loops[static_cast<size_t>(l)];
  for (const int32_t to : blocks[static_cast<size_t>(b)].next)
    if (to >= 0 && (!holds(loop.blocks, to) || (loop.entries.size() == 1 && loop.entries[0] == to))) return true;
  return false;
}

CodeFlow flow_of(std::span<const MachineInstruction> code) {
  CodeFlow f;
  if (code.empty() || !find_blocks(code, f.blocks)) return {};
  f.loop_of.assign(f.blocks.size(), -1);
  std::vector<uint8_t> cut(f.blocks.size(), 0);
  struct Todo {
    std::vector<int32_t> blocks;
    int32_t loop;  // that they are
  };
  std::vector<Todo> todo(1, {{}, -1});
  for (size_t b = 0; b < f.blocks.size(); ++b) todo[0].blocks.push_back(static_cast<int32_t>(b));
  while (!todo.empty()) {
    const Todo next = std::move(todo.back());
    todo.pop_back();
    for (std::vector<int32_t>& blocks : Components(f.blocks, cut).find(next.blocks)) {
      if (next.loop >= 0) f.loops[static_cast<size_t>(next.loop)].inner = false;
      const auto number = static_cast<int32_t>(f.loops.size());
      f.loops.push_back({entries_of(f.blocks, blocks), blocks, true});
      for (const int32_t b : blocks) f.loop_of[static_cast<size_t>(b)] = number;
      if (f.loops.back().entries.empty()) continue;  // nothing leads there
      for (const int32_t b : f.loops.back().entries) cut[static_cast<size_t>(b)] = 1;
      todo.push_back({std::move(blocks), number});
    }
  }
  return f;
}

}  // namespace msvm::jit
