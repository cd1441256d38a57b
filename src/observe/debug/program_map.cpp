#include "observe/debug/program_map.h"

#include <algorithm>
#include <set>

#include "observe/snapshot/bytecode_lines.h"

namespace msvm::observe::debug {
namespace {

ProgramMap::FunctionMap map_of(const Function& f) {
  ProgramMap::FunctionMap m;
  m.name = f.name;
  for (const DebugInfo& d : f.debug) m.origins.push_back({d.file, d.line, d.column, d.origins});
  for (const Block& block : f.blocks) {
    const auto first = static_cast<int32_t>(m.step.size());
    for (const Instr& i : block.instrs) {
      const auto at = static_cast<int32_t>(m.step.size());
      m.step.push_back(instr_info(i.op).has(kPhi) ? first : at);
      m.origin.push_back(i.debug < f.debug.size() ? i.debug : 0);
      if (i.op == Opcode::kOpCall) m.calls.emplace_back(at, i.text);
    }
  }
  return m;
}

}  // namespace

void ProgramMap::make() const {
  std::call_once(made_, [&] {
    const auto program = executable();
    if (!program) return;
    offsets_ = program->offsets();
    for (const Function& f : program->functions()) functions_.push_back(map_of(f));
  });
}

uint64_t ProgramMap::address(int32_t function, int32_t instruction) const {
  if (function < 0 || static_cast<size_t>(function) >= offsets().size()) return begin();
  const auto& list = offsets(function);
  return instruction < 0 || static_cast<size_t>(instruction) >= list.size() ? begin() : begin() | list[static_cast<size_t>(instruction)];
}

std::optional<Place> ProgramMap::at(uint32_t offset) const {
  make();
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
  for (const auto& f : offsets())
    for (uint32_t o : f) last = std::max<uint64_t>(last, o);
  return {number, name, begin(), (begin() | last) + 1, loaded()};
}

const ProgramMap::Origin& ProgramMap::origin(int32_t function, int32_t instruction) const {
  const FunctionMap& f = functions()[static_cast<size_t>(function)];
  return f.origins[f.origin[static_cast<size_t>(instruction)]];
}

/// What stands for each file in comments: its own name, where no other file has the same; whole paths make lines too wide to read.
std::map<std::string, std::string> ProgramMap::short_names() const {
  const auto own_name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  std::map<std::string, std::set<std::string>> paths;  // by that name
  for (const FunctionMap& f : functions())
    for (const Origin& o : f.origins) paths[own_name(o.file)].insert(o.file);
  std::map<std::string, std::string> out;
  for (const auto& [name_of_file, files] : paths)
    if (files.size() == 1 && !name_of_file.empty() && *files.begin() != name_of_file) out[*files.begin()] = name_of_file;
  return out;
}

Listing ProgramMap::listing() const {
  Listing out;
  out.program = number;
  out.name = name;
  out.version = version.load();
  const auto program = executable();
  if (!program) return out;
  const JitView jit = program->jit_view();
  const auto shorter = short_names();
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
    if (const auto it = shorter.find(o.file); it != shorter.end())
      if (const size_t comment = line.text.rfind("; " + o.file + ":"); comment != std::string::npos) line.text.replace(comment + 2, o.file.size(), it->second);
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
    for (const FunctionMap& f : functions()) line_of_.emplace_back(f.step.size(), 0);
    if (!program) return;
    for (const BytecodeLine& l : bytecode_lines(*program)) {
      lines_.push_back({l.function, l.instruction});
      if (l.instruction >= 0) line_of_[static_cast<size_t>(l.function)][static_cast<size_t>(l.instruction)] = static_cast<int32_t>(lines_.size());
    }
  });
}

int32_t ProgramMap::line_of(int32_t function, int32_t instruction) const {
  find_lines();
  return static_cast<size_t>(function) < line_of_.size() ? line_of_[static_cast<size_t>(function)][static_cast<size_t>(instruction)] : 0;
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
