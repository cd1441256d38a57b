#include "observe/debug/breakpoints.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "msvm/base/trim.h"
#include "observe/debug/names.h"

namespace msvm::observe::debug {

// --- what is asked for -------------------------------------------------------------------------------------------------

bool HitCondition::holds(uint64_t hits) const {
  switch (op) {
    case kAlways: return true;
    case kEqual: return hits == count;
    case kNotLess: return hits >= count;
    case kGreater: return hits > count;
    case kLess: return hits < count;
    case kNotGreater: return hits <= count;
    case kEvery: return hits % count == 0;
  }
  return true;
}

Result<HitCondition> parse_hit_condition(std::string_view text) {
  const std::string given(text);
  text = trimmed(text);
  HitCondition c;
  if (text.empty()) return c;
  c.op = HitCondition::kEqual;
  constexpr std::pair<std::string_view, HitCondition::Op> kSigns[] = {{"==", HitCondition::kEqual}, {">=", HitCondition::kNotLess},
                                                                      {"<=", HitCondition::kNotGreater}, {">", HitCondition::kGreater},
                                                                      {"<", HitCondition::kLess}, {"%", HitCondition::kEvery}, {"=", HitCondition::kEqual}};
  for (const auto& [sign, op] : kSigns)
    if (text.starts_with(sign)) {
      c.op = op;
      text.remove_prefix(sign.size());
      break;
    }
  text = trimmed(text);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), c.count);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() || (c.op == HitCondition::kEvery && c.count == 0))
    return invalid_argument(fmt::format("hit condition '{}': expected a count, as 5, >= 5 or % 3", given));
  return c;
}

Result<LogTemplate> parse_log_template(std::string_view text) {
  LogTemplate t;
  std::string plain;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '{') {
      plain += text[k];
      continue;
    }
    const size_t end = text.find('}', k);
    if (end == std::string_view::npos) return invalid_argument(fmt::format("log message: '{{' at column {} has no '}}'", k + 1));
    auto e = parse(text.substr(k + 1, end - k - 1));
    if (!e.ok()) return e.status().with_context(fmt::format("log message, {{expression}} at column {}: ", k + 1));
    t.parts.emplace_back(std::move(plain), std::move(*e));
    plain.clear();
    k = end;
  }
  if (!plain.empty()) t.parts.emplace_back(std::move(plain), std::nullopt);
  return t;
}

namespace {

Status read_rule(const BreakpointOptions& o, BreakRule& rule) {
  if (!o.condition.empty()) {
    auto e = parse(o.condition);
    if (!e.ok()) return e.status().with_context("condition: ");
    rule.condition = std::move(*e);
  }
  MSVM_ASSIGN_OR_RETURN(rule.hit, parse_hit_condition(o.hit_condition));
  if (!o.log_message.empty()) {
    MSVM_ASSIGN_OR_RETURN(rule.log, parse_log_template(o.log_message));
  }
  return {};
}

bool same(const BreakpointTable::Wanted& a, const BreakpointTable::Wanted& b) {
  return a.kind == b.kind && a.name == b.name && a.number == b.number && a.line == b.line && a.options.condition == b.options.condition &&
         a.options.hit_condition == b.options.hit_condition && a.options.log_message == b.options.log_message;
}

/// "model.py:47"
bool names_line(const std::string& origin, std::string_view file, int32_t line) {
  const size_t colon = origin.rfind(':');
  return colon != std::string::npos && origin.substr(colon + 1) == std::to_string(line) && same_file(std::string_view(origin).substr(0, colon), file);
}

}  // namespace

// --- where it is bound -------------------------------------------------------------------------------------------------

void BreakpointTable::bind(Entry& e, const Programs& programs) {
  const Wanted& w = e.wanted;
  e.places.clear();
  e.warning.clear();
  e.bound_line = w.line;
  for (const auto& p : programs) {
    if (!p->loaded()) continue;
    auto add = [&](int32_t function, int32_t instruction) {
      const auto& f = p->functions()[static_cast<size_t>(function)];
      e.places.push_back({p->number, function, f.step[static_cast<size_t>(instruction)]});
      const auto program = p->executable();
      if (!program || !e.rule->condition || !e.warning.empty()) return;
      if (Status s = known_names(*e.rule->condition, program->function(function), program->dims()); !s.ok()) e.warning = "condition: " + s.message();
    };
    switch (w.kind) {
      case BreakKind::kSource:
        for (size_t f = 0; f < p->functions().size(); ++f) {
          const auto& map = p->functions()[f];
          for (size_t i = 0; i < map.origin.size(); ++i) {
            const auto& o = map.origins[map.origin[i]];
            const bool here = (o.line == w.line && same_file(o.file, w.name)) || std::any_of(o.origins.begin(), o.origins.end(), [&](const auto& s) { return names_line(s, w.name, w.line); });
            if (!here) continue;
            add(static_cast<int32_t>(f), static_cast<int32_t>(i));
            break;
          }
        }
        break;
      case BreakKind::kListing:
        if (p->number != w.number) break;
        if (const auto place = p->at_line(w.line)) {
          add(place->function, place->instruction);
          e.bound_line = p->line_of(e.places.back().function, e.places.back().instruction);
        }
        break;
      case BreakKind::kAddress:
        if (p->number != w.number >> 32) break;
        if (const auto place = p->at(static_cast<uint32_t>(w.number)); place && p->address(place->function, place->instruction) == w.number) add(place->function, place->instruction);
        break;
      case BreakKind::kFunction: {
        const std::string_view name = w.name.starts_with('@') ? std::string_view(w.name).substr(1) : std::string_view(w.name);
        for (size_t f = 0; f < p->functions().size(); ++f) {
          const auto& map = p->functions()[f];
          if (map.name == name) add(static_cast<int32_t>(f), 0);
          for (const auto& [at, op] : map.calls)
            if (op == w.name) add(static_cast<int32_t>(f), at);
        }
        break;
      }
    }
  }
}

Breakpoint BreakpointTable::view(const Entry& e) {
  Breakpoint b;
  b.id = e.rule->id;
  b.places = e.places;
  b.failed = !e.error.empty();
  b.verified = !b.failed && !e.places.empty();
  b.hits = e.rule->hits.load(std::memory_order_relaxed);
  b.line = e.bound_line;
  if (e.wanted.kind == BreakKind::kSource) b.file = e.wanted.name;
  if (b.failed) b.message = e.error;
  else if (b.verified) b.message = e.warning;
  else
    switch (e.wanted.kind) {
      case BreakKind::kSource: b.message = fmt::format("no instruction of a loaded program comes from line {} of {}", e.wanted.line, e.wanted.name); break;
      case BreakKind::kListing: b.message = fmt::format("no instruction stands on line {} of program {} or after it", e.wanted.line, e.wanted.number); break;
      case BreakKind::kAddress: b.message = fmt::format("no instruction begins at 0x{:x}", e.wanted.number); break;
      case BreakKind::kFunction: b.message = fmt::format("no loaded program has a function @{0} or calls an operator {0}", e.wanted.name); break;
    }
  return b;
}

std::vector<Breakpoint> BreakpointTable::replace(BreakKind kind, const std::string& name, uint64_t number, std::vector<Wanted> wanted, const Programs& programs) {
  std::vector<Entry> old;
  std::erase_if(list_, [&](Entry& e) {
    const bool gone = e.wanted.kind == kind && (kind == BreakKind::kSource ? same_file(e.wanted.name, name) : kind != BreakKind::kListing || e.wanted.number == number);
    if (gone) old.push_back(std::move(e));
    return gone;
  });
  std::vector<Breakpoint> out;
  for (Wanted& w : wanted) {
    Entry e;
    const auto known = std::find_if(old.begin(), old.end(), [&](const Entry& o) { return o.rule && same(o.wanted, w); });
    if (known != old.end()) {  // it keeps its number and its count
      e = std::move(*known);
      known->rule = nullptr;
    } else {
      e.rule = std::make_shared<BreakRule>();
      e.rule->id = ++last_id_;
      e.rule->kind = kind;
      if (Status s = read_rule(w.options, *e.rule); !s.ok()) e.error = s.message();
      e.wanted = std::move(w);
    }
    bind(e, programs);
    out.push_back(view(e));
    list_.push_back(std::move(e));
  }
  return out;
}

std::vector<Breakpoint> BreakpointTable::all() const {
  std::vector<Breakpoint> out;
  for (const Entry& e : list_) out.push_back(view(e));
  return out;
}

std::vector<Breakpoint> BreakpointTable::rebind(const Programs& programs) {
  std::vector<Breakpoint> changed;
  for (Entry& e : list_) {
    const auto before = e.places;
    bind(e, programs);
    if (before != e.places) changed.push_back(view(e));
  }
  return changed;
}

std::shared_ptr<const Armed> BreakpointTable::armed(const ProgramMap& program) const {
  auto a = std::make_shared<Armed>();
  if (list_.empty()) return a;
  a->marks.resize(program.functions().size());
  for (const Entry& e : list_) {
    if (!e.error.empty()) continue;
    for (const Place& p : e.places) {
      if (p.program != program.number) continue;
      const auto f = static_cast<size_t>(p.function);
      a->marks[f].resize(program.functions()[f].step.size());
      a->marks[f][static_cast<size_t>(p.instruction)] = 1;
      a->list.push_back({p, e.rule});
    }
  }
  return a;
}

}  // namespace msvm::observe::debug
