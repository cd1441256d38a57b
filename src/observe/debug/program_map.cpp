#include "observe/debug/program_map.h"

#include <algorithm>

#include "msvm/bytecode/cfg.h"
#include "observe/snapshot/bytecode_lines.h"

namespace msvm::observe::debug {
namespace {

ProgramMap::FunctionMap map_of(const Function& f) {
  ProgramMap::FunctionMap m;
  m.name = f.name;
  for (const DebugInfo& d : f.debug) m.origins.push_back({d.file, d.line, d.column, d.origins});
  const ControlFlow cfg(f);
  for (size_t b = 0; b < f.blocks.size(); ++b) {
    const auto block = static_cast<BlockId>(b);
    const auto first = static_cast<int32_t>(m.step.size());
    for (const Instr& i : f.blocks[b].instrs) {
      const auto at = static_cast<int32_t>(m.step.size());
      m.step.push_back(instr_info(i.op).has(kPhi) ? first : at);
      m.block.push_back(block);
      m.origin.push_back(i.debug < f.debug.size() ? i.debug : 0);
      if (i.op == Opcode::kOpCall) m.calls.emplace_back(at, i.text);
    }
    m.last.push_back(static_cast<int32_t>(m.step.size()) - 1);
    auto& successors = m.successors.emplace_back();
    auto& back = m.back.emplace_back();
    if (!cfg.reachable(block)) continue;
    for (BlockId to : cfg.successors(block)) {
      successors.push_back(to);
      if (cfg.is_back_edge(block, to)) back.push_back(to);
    }
  }
  return m;
}

}  // namespace

ProgramMap::ProgramMap(uint64_t n, std::string given, const std::shared_ptr<Executable>& program)
    : number(n), name(std::move(given)), program_(program), offsets_(program->offsets()) {
  for (const Function& f : program->functions()) functions_.push_back(map_of(f));
}

// The loop's header, and all from which the edge back can be reached without passing it.
std::vector<uint8_t> ProgramMap::FunctionMap::loop_of(int32_t instruction) const {
  const auto from = static_cast<size_t>(block[static_cast<size_t>(instruction)]);
  if (last[from] != instruction || back[from].empty()) return {};
  const int32_t header = back[from][0];
  std::vector<std::vector<int32_t>> predecessors(successors.size());
  for (size_t b = 0; b < successors.size(); ++b)
    for (int32_t to : successors[b]) predecessors[static_cast<size_t>(to)].push_back(static_cast<int32_t>(b));
  std::vector<uint8_t> in(successors.size());
  in[static_cast<size_t>(header)] = 1;
  std::vector<int32_t> todo;
  for (size_t b = 0; b < back.size(); ++b)
    if (std::find(back[b].begin(), back[b].end(), header) != back[b].end()) todo.push_back(static_cast<int32_t>(b));
  while (!todo.empty()) {
    const auto b = static_cast<size_t>(todo.back());
    todo.pop_back();
    if (std::exchange(in[b], 1)) continue;
    todo.insert(todo.end(), predecessors[b].begin(), predecessors[b].end());
  }
  return in;
}

uint64_t ProgramMap::address(int32_t function, int32_t instruction) const {
  if (function < 0 || static_cast<size_t>(function) >= offsets_.size()) return begin();
  const auto& list = offsets_[static_cast<size_t>(function)];
  return instruction < 0 || static_cast<size_t>(instruction) >= list.size() ? begin() : begin() | list[static_cast<size_t>(instruction)];
}

std::optional<Place> ProgramMap::at(uint32_t offset) const {
  std::optional<Place> best;
  uint32_t found = 0;
  for (size_t f = 0; f < offsets_.size(); ++f)
    for (size_t i = 0; i < offsets_[f].size(); ++i)
      if (const uint32_t o = offsets_[f][i]; o <= offset && (!best || o >= found)) {
        best = Place{number, static_cast<int32_t>(f), static_cast<int32_t>(i)};
        found = o;
      }
  return best;
}

ProgramInfo ProgramMap::info() const {
  uint64_t last = 0;
  for (const auto& f : offsets_)
    for (uint32_t o : f) last = std::max<uint64_t>(last, o);
  return {number, name, begin(), (begin() | last) + 1, loaded()};
}

const ProgramMap::Origin& ProgramMap::origin(int32_t function, int32_t instruction) const {
  const FunctionMap& f = functions_[static_cast<size_t>(function)];
  return f.origins[f.origin[static_cast<size_t>(instruction)]];
}

Listing ProgramMap::listing() const {
  Listing out;
  out.program = number;
  out.name = name;
  out.version = version.load();
  const auto program = executable();
  if (!program) return out;
  const JitView jit = program->jit_view();
  for (BytecodeLine& l : bytecode_lines(*program)) {
    ListingLine& line = out.lines.emplace_back();
    line.text = std::move(l.text);
    line.function = l.function;
    line.instruction = l.instruction;
    line.region = l.region;
    if (l.instruction < 0) continue;
    line.address = address(l.function, l.instruction);
    line.offset = static_cast<uint32_t>(line.address);
    const Origin& o = origin(l.function, l.instruction);
    line.file = o.file;
    line.line = o.line;
    line.origins = o.origins;
    for (const JitRegionView& r : jit.regions) {
      if (r.function != l.function || r.region != l.region) continue;
      for (const JitEntryView& e : r.entries) {
        if (e.tier <= line.tier) continue;
        line.tier = e.tier;
        line.signature = e.alias.empty() ? e.name : e.alias;
      }
    }
  }
  return out;
}

// The text's lines never change, only tiers do.
void ProgramMap::find_lines() const {
  std::call_once(lines_once_, [&] {
    const auto program = executable();
    for (const FunctionMap& f : functions_) line_of_.emplace_back(f.step.size(), 0);
    if (!program) return;
    for (const BytecodeLine& l : bytecode_lines(*program)) {
      lines_.push_back({l.function, l.instruction});
      if (l.instruction >= 0) line_of_[static_cast<size_t>(l.function)][static_cast<size_t>(l.instruction)] = static_cast<int32_t>(lines_.size());
    }
  });
}

int32_t ProgramMap::line_of(int32_t function, int32_t instruction) const {
  find_lines();
  return line_of_[static_cast<size_t>(function)][static_cast<size_t>(instruction)];
}

std::optional<Place> ProgramMap::at_line(int32_t line) const {
  find_lines();
  if (line < 1) return std::nullopt;
  for (auto k = static_cast<size_t>(line) - 1; k < lines_.size(); ++k) {
    if (lines_[k].instruction >= 0) return Place{number, lines_[k].function, lines_[k].instruction};
    if (lines_[k].function != lines_[static_cast<size_t>(line) - 1].function) break;
  }
  return std::nullopt;
}

bool same_file(std::string_view a, std::string_view b) {
  auto trim = [](std::string_view s) {
    while (s.starts_with("./")) s.remove_prefix(2);
    return s;
  };
  a = trim(a);
  b = trim(b);
  if (a.size() < b.size()) std::swap(a, b);
  if (b.empty() || !a.ends_with(b)) return false;
  return a.size() == b.size() || a[a.size() - b.size() - 1] == '/';
}

}  // namespace msvm::observe::debug
