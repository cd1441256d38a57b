#include "msvm/vm/tracer.h"

#include <fmt/format.h>

namespace msvm::vm {
namespace {

constexpr size_t kMostShapes = 1 << 14;       // that a session remembers the texts of
constexpr double kLongNanoseconds = 20'000;   // between two records

uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9E3779B97F4A7C15u ^ (h >> 29); }

uint64_t mix(uint64_t h, const TensorMeta& m) {
  h = mix(h, static_cast<uint64_t>(m.dtype) << 16 | static_cast<uint64_t>(m.layout) << 8 | m.rank);
  for (int64_t n : m.dims()) h = mix(h, static_cast<uint64_t>(n));
  return h;
}

std::string shapes_text(std::span<const TensorMeta* const> inputs, std::span<const TensorMeta* const> outputs) {
  std::string text;
  auto list = [&](std::span<const TensorMeta* const> metas) {
    bool first = true;
    for (const TensorMeta* m : metas) {
      text += first ? "" : ", ";
      text += m ? to_string(*m) : "_";
      first = false;
    }
  };
  list(inputs);
  if (outputs.empty()) return text;  // of native code it isn't said here
  text += inputs.empty() ? "-> " : " -> ";
  list(outputs);
  return text;
}

int64_t bytes_of(const TensorMeta* m) { return m ? m->elements() * dtype_bytes(m->dtype) : 0; }

/// Names in the table are separated by tabs and line ends; others don't matter there.
std::string plain(std::string_view text) {
  std::string s(text);
  for (char& c : s)
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  return s;
}

}  // namespace

// A line for each instruction, in order: mnemonic, operator, source line, origins. Lines that begin with '@' begin a function.
std::string Tracer::program_text() const {
  std::string text = plain(module_.name) + "\n";
  for (const msvm::Function& f : module_.functions) {
    text += "@" + plain(f.name) + "\n";
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs) {
        const DebugInfo* d = i.debug > 0 && i.debug < f.debug.size() ? &f.debug[i.debug] : nullptr;
        text += fmt::format("{}\t{}\t{}\t", instr_info(i.op).mnemonic, i.op == Opcode::kOpCall ? plain(i.text) : std::string(),
                            d && !d->file.empty() ? fmt::format("{}:{}", plain(d->file), d->line) : std::string());
        for (size_t k = 0; d && k < d->origins.size(); ++k) text += (k ? ", " : "") + plain(d->origins[k]);
        text += "\n";
      }
  }
  return text;
}

bool Tracer::begin_run(int32_t function, size_t instructions) {
  EventStream& stream = EventStream::process();
  const uint32_t generation = stream.generation();
  if (!generation) return false;
  if (generation != generation_) {
    generation_ = generation;
    program_ = stream.define(program_text());
    instrs_.assign(module_.functions.size(), {});
    regions_.assign(module_.functions.size(), {});
    shapes_.clear();
    long_ = static_cast<int64_t>(kLongNanoseconds / nanoseconds_per_tick());
  }
  ring_ = &stream.ring();
  function_ = function;
  auto& seen = instrs_[static_cast<size_t>(function)];
  seen.resize(instructions);
  ++run_;
  tier_ = 2;
  any_region_ = false;
  begin_ = last_ = ticks();
  return true;
}

Event Tracer::event(EventKind kind, int32_t instruction, int64_t begin) {
  Event e;
  e.begin = begin;
  e.end = last_ = ticks();
  e.kind = kind;
  e.function = static_cast<uint16_t>(function_);
  e.program = program_;
  e.instruction = instruction;
  e.run = run_;
  return e;
}

void Tracer::push(Event e, const Seen& seen) {
  e.name = seen.name;
  e.detail = seen.shapes;
  e.bytes = seen.bytes;
  ring_->push(e);
}

void Tracer::end_run(const Status& status) {
  Event e = event(EventKind::kRun, -1, begin_);
  e.tier = any_region_ ? tier_ : 0;
  if (!status.ok()) e.name = EventStream::process().define(status.message());
  ring_->push(e);
}

void Tracer::between(int32_t instruction, int64_t now) {
  Event e = event(EventKind::kBetween, instruction, last_);
  e.end = now;
  ring_->push(e);
}

void Tracer::look(Seen& seen, const Instr& instruction, Metas inputs, Metas outputs) {
  uint64_t key = mix(reinterpret_cast<uintptr_t>(&instruction), inputs.size());
  for (const TensorMeta* m : inputs) key = m ? mix(key, *m) : mix(key, 0);
  for (const TensorMeta* m : outputs) key = m ? mix(key, *m) : mix(key, 0);
  if (key == seen.key) return;
  seen.key = key;
  if (shapes_.size() >= kMostShapes) shapes_.clear();
  auto [it, fresh] = shapes_.try_emplace(key);
  if (fresh) {
    it->second.text = EventStream::process().define(shapes_text(inputs, outputs));
    for (const TensorMeta* m : inputs) it->second.bytes += bytes_of(m);
    for (const TensorMeta* m : outputs) it->second.bytes += bytes_of(m);
  }
  seen.shapes = it->second.text;
  seen.bytes = it->second.bytes;
}

void Tracer::look(Seen& seen, std::span<const int64_t> values) {
  uint64_t key = mix(1, values.size());
  for (int64_t v : values) key = mix(key, static_cast<uint64_t>(v));
  if (key == seen.key) return;
  seen.key = key;
  if (shapes_.size() >= kMostShapes) shapes_.clear();
  auto [it, fresh] = shapes_.try_emplace(key);
  if (fresh) it->second.text = EventStream::process().define(fmt::format("[{}]", fmt::join(values, ", ")));
  seen.shapes = it->second.text;
}

void Tracer::name(Seen& seen, const RegionEntry& entry) {
  const uint64_t hash = std::hash<std::string>()(entry.name);  // entries come and go, others may lie where they lay
  if (seen.named_after == hash) return;
  seen.named_after = hash;
  seen.name = EventStream::process().define(entry.name);
}

void Tracer::call(const Frame& frame, const Code& c, const CallReport& report, int64_t begin) {
  Event e = event(EventKind::kCall, c.instr, begin);
  const auto site = static_cast<size_t>(c.a);
  Seen& seen = instrs_[static_cast<size_t>(function_)][static_cast<size_t>(c.instr)];
  if (seen.named_after != reinterpret_cast<uintptr_t>(report.kernel)) {
    seen.named_after = reinterpret_cast<uintptr_t>(report.kernel);
    seen.name = EventStream::process().define(report.kernel);
  }
  e.work = report.work;
  look(seen, *frame.function->calls[site].instr, frame.call_inputs[site], frame.call_outputs[site]);
  push(e, seen);
}

void Tracer::copy(const Frame& frame, const Code& c, int64_t begin) {
  const Event e = event(EventKind::kCopy, c.instr, begin);
  Seen& seen = instrs_[static_cast<size_t>(function_)][static_cast<size_t>(c.instr)];
  const TensorMeta *in = &frame.tensors[static_cast<size_t>(c.b)].meta, *out = &frame.tensors[static_cast<size_t>(c.a)].meta;
  look(seen, *frame.function->instrs[static_cast<size_t>(c.instr)], {&in, 1}, {&out, 1});
  push(e, seen);
}

void Tracer::native(const Frame& frame, const RegionGroup& group, const RegionEntry& entry, const RegionPlan::Step& step, int64_t begin) {
  const auto last = static_cast<size_t>(group.members.back());
  Event e = event(EventKind::kNative, group.members.back(), begin);
  e.tier = static_cast<uint8_t>(entry.tier);
  e.work = operations_of(group, step);
  Seen& seen = instrs_[static_cast<size_t>(function_)][last];
  name(seen, entry);
  const Function& f = *frame.function;
  pointers_.clear();
  for (Reg r : group.pointers) pointers_.push_back(&frame.tensors[static_cast<size_t>(f.tensor_slot[static_cast<size_t>(r)])].meta);
  look(seen, *f.instrs[last], pointers_, {});
  push(e, seen);
}

void Tracer::region(const Frame& frame, int32_t region, const RegionEntry* entry, int64_t begin) {
  const RegionInfo& info = frame.function->regions[static_cast<size_t>(region)];
  Event e = event(EventKind::kRegion, info.spec->begin, begin);
  e.region = region;
  e.tier = entry ? static_cast<uint8_t>(entry->tier) : 0;
  tier_ = std::min(tier_, e.tier);
  any_region_ = true;
  auto& all = regions_[static_cast<size_t>(function_)];
  if (all.empty()) all.resize(frame.function->regions.size());
  Seen& seen = all[static_cast<size_t>(region)];
  if (entry) {
    name(seen, *entry);
  } else {
    seen.named_after = seen.name = 0;
  }
  look(seen, std::span(frame.regions[static_cast<size_t>(region)].values).first(info.symbols.size()));
  push(e, seen);
}

}  // namespace msvm::vm
