#include "msvm/jit/asm/code_flow.h"

#include <algorithm>
#include <set>
#include <unordered_map>

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

/// Reverse post-order, without recursion.
std::vector<int32_t> order_of(const std::vector<CodeBlock>& blocks) {
  std::vector<int32_t> order;
  std::vector<uint8_t> seen(blocks.size(), 0);
  std::vector<std::pair<int32_t, int>> stack{{0, 0}};
  seen[0] = 1;
  while (!stack.empty()) {
    auto& [b, k] = stack.back();
    if (k == 2) {
      order.push_back(b);
      stack.pop_back();
      continue;
    }
    const int32_t next = blocks[static_cast<size_t>(b)].next[static_cast<size_t>(k++)];
    if (next >= 0 && !seen[static_cast<size_t>(next)]) {
      seen[static_cast<size_t>(next)] = 1;
      stack.emplace_back(next, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

using Edges = std::vector<std::vector<int32_t>>;  // by block: those before it

/// Immediate dominators as Cooper, Harvey and Kennedy find them; -1 of blocks that nothing reaches.
std::vector<int32_t> dominators(const std::vector<CodeBlock>& blocks, const Edges& before) {
  const std::vector<int32_t> order = order_of(blocks);
  std::vector<int32_t> number(blocks.size(), -1), above(blocks.size(), -1);
  for (size_t k = 0; k < order.size(); ++k) number[static_cast<size_t>(order[k])] = static_cast<int32_t>(k);
  auto meet = [&](int32_t a, int32_t b) {
    while (a != b) {
      int32_t& later = number[static_cast<size_t>(a)] > number[static_cast<size_t>(b)] ? a : b;
      later = above[static_cast<size_t>(later)];
    }
    return a;
  };
  above[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const int32_t b : order) {
      if (b == 0) continue;
      int32_t found = -1;
      for (const int32_t p : before[static_cast<size_t>(b)])
        if (above[static_cast<size_t>(p)] >= 0) found = found < 0 ? p : meet(found, p);
      changed |= above[static_cast<size_t>(b)] != found;
      above[static_cast<size_t>(b)] = found;
    }
  }
  return above;
}

bool dominates(const std::vector<int32_t>& above, int32_t a, int32_t b) {
  while (b != a && b != 0) b = above[static_cast<size_t>(b)];
  return b == a;
}

/// What leads to `from` without passing the header.
void add_body(CodeLoop& loop, int32_t from, const Edges& before, const std::vector<int32_t>& above) {
  std::set<int32_t> body(loop.blocks.begin(), loop.blocks.end());
  std::vector<int32_t> todo{from};
  while (!todo.empty()) {
    const int32_t b = todo.back();
    todo.pop_back();
    if (!body.insert(b).second) continue;
    for (const int32_t p : before[static_cast<size_t>(b)])
      if (above[static_cast<size_t>(p)] >= 0) todo.push_back(p);
  }
  loop.blocks.assign(body.begin(), body.end());
}

}  // namespace

bool CodeFlow::goes_on(int32_t b) const {
  const int32_t l = loop_of[static_cast<size_t>(b)];
  if (l < 0) return false;
  const auto& next = blocks[static_cast<size_t>(b)].next;
  return std::find(next.begin(), next.end(), loops[static_cast<size_t>(l)].header) != next.end();
}

CodeFlow flow_of(std::span<const MachineInstruction> code) {
  CodeFlow f;
  if (code.empty() || !find_blocks(code, f.blocks)) return {};
  Edges before(f.blocks.size());
  for (size_t b = 0; b < f.blocks.size(); ++b)
    for (const int32_t next : f.blocks[b].next)
      if (next >= 0) before[static_cast<size_t>(next)].push_back(static_cast<int32_t>(b));
  const std::vector<int32_t> above = dominators(f.blocks, before);
  std::unordered_map<int32_t, size_t> by_header;
  for (size_t b = 0; b < f.blocks.size(); ++b) {
    if (above[b] < 0) continue;
    for (const int32_t header : f.blocks[b].next) {
      if (header < 0 || !dominates(above, header, static_cast<int32_t>(b))) continue;
      const auto [at, fresh] = by_header.try_emplace(header, f.loops.size());
      if (fresh) f.loops.push_back({header, {header}, true});
      add_body(f.loops[at->second], static_cast<int32_t>(b), before, above);
    }
  }
  f.loop_of.assign(f.blocks.size(), -1);
  for (size_t l = 0; l < f.loops.size(); ++l)
    for (const int32_t b : f.loops[l].blocks) {
      int32_t& of = f.loop_of[static_cast<size_t>(b)];
      if (of < 0 || f.loops[l].blocks.size() < f.loops[static_cast<size_t>(of)].blocks.size()) of = static_cast<int32_t>(l);
    }
  for (size_t l = 0; l < f.loops.size(); ++l)
    for (const int32_t b : f.loops[l].blocks) {
      const auto other = by_header.find(b);
      if (other != by_header.end() && other->second != l) f.loops[l].inner = false;
    }
  return f;
}

}  // namespace msvm::jit
