#include "observe/dap/scopes.h"

#include <fmt/format.h>

#include <charconv>

#include "observe/dap/views.h"

namespace msvm::observe::dap {
namespace {

constexpr int32_t kInOneGo = 100;        // registers
constexpr int64_t kMostElements = 1000;  // of a tensor that is unfolded as variables; views ask msvm/tensor for more

std::string list_text(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

Json dims_row(State& s, debug::ThreadId thread, const debug::RegisterView& r) {
  std::vector<Json> rows;
  for (size_t i = 0; i < r.shape.size(); ++i) {
    const debug::DimView& d = r.shape[i];
    const std::string what = d.symbol.empty() || d.symbol == std::to_string(d.value) ? std::to_string(d.value) : fmt::format("{} = {}", d.symbol, d.value);
    rows.push_back(plain_row(fmt::format("[{}]", i), d.axis.empty() || d.axis == d.symbol ? what : fmt::format("{} ({})", what, d.axis)));
  }
  Json row = plain_row("shape", r.text);
  row["variablesReference"] = unfolding(s, thread, std::move(rows));
  return row;
}

/// "[1, 0, 3]" of an element of a row-major tensor.
std::string index_text(int64_t at, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = at % shape[i];
    at /= shape[i];
  }
  return list_text(index);
}

Json elements_row(State& s, debug::FrameRef frame, const std::string& expression) {
  Json row = plain_row("values", "...");
  row["presentationHint"] = {{"lazy", false}, {"attributes", {"readOnly"}}};
  row["variablesReference"] = s.handles.add(frame.thread, Variables{[&s, frame, expression](Part) -> Result<std::vector<Json>> {
    MSVM_ASSIGN_OR_RETURN(const debug::TensorCopy t, s.debugger.tensor(frame, expression, {}, kMostElements));
    std::vector<Json> rows;
    const Json elements = elements_json(t);
    for (const Json& e : elements) rows.push_back(plain_row(index_text(static_cast<int64_t>(rows.size()), t.shape), e.is_string() ? e.get<std::string>() : e.dump()));
    if (t.truncated) rows.push_back(plain_row("...", fmt::format("{} in all", t.total)));
    return rows;
  }, nullptr});
  return row;
}

Json statistics_row(State& s, debug::FrameRef frame, const std::string& expression) {
  Json row = plain_row("statistics", "...");
  row["variablesReference"] = s.handles.add(frame.thread, Variables{[&s, frame, expression](Part) -> Result<std::vector<Json>> {
    MSVM_ASSIGN_OR_RETURN(const debug::TensorCopy t, s.debugger.tensor(frame, expression, {}, 0));
    const debug::Statistics& x = t.statistics;
    std::vector<Json> rows;
    if (x.finite > 0) rows = {plain_row("min", number_text(x.min)), plain_row("max", number_text(x.max)), plain_row("mean", number_text(x.mean))};
    for (const auto& [name, n] : {std::pair{"nan", x.nan}, {"inf", x.inf}, {"zeros", x.zeros}}) rows.push_back(plain_row(name, std::to_string(n)));
    return rows;
  }, nullptr});
  return row;
}

std::vector<Json> tensor_rows(State& s, debug::FrameRef frame, const debug::RegisterView& r) {
  std::vector<Json> rows;
  if (!r.shape.empty() || !r.text.empty()) rows.push_back(dims_row(s, frame.thread, r));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back(plain_row(name, value));
  };
  add("declared", r.declared);
  add("dtype", r.dtype);
  add("device", r.device);
  add("layout", r.layout);
  if (r.address || !r.strides.empty()) add("strides", list_text(r.strides));
  if (r.address) add("memory_addr", hex(r.address));
  add("is_jit_compiled", r.is_jit_compiled ? "true" : "false");
  if (r.address) add("bytes", std::to_string(r.bytes));
  add("owner", r.owner);
  add("reused_from", r.reused_from);
  add("state", r.state);
  if (r.readable && r.reg >= 0) {
    rows.push_back(elements_row(s, frame, fmt::format("R{}", r.reg)));
    rows.push_back(statistics_row(s, frame, fmt::format("R{}", r.reg)));
  }
  return rows;
}

std::string register_name(const debug::RegisterView& r) { return fmt::format("R{}", r.reg); }

/// "R3" or "R3 x": what register_row() names.
std::optional<Reg> register_of(std::string_view name) {
  if (!name.starts_with('R')) return {};
  Reg reg{};
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), reg);
  if (error != std::errc() || (end != name.data() + name.size() && *end != ' ') || reg < 0) return {};
  return reg;
}

Json scope(State& s, debug::ThreadId thread, std::string name, const char* hint, Variables variables) {
  Json j{{"name", std::move(name)}, {"variablesReference", s.handles.add(thread, std::move(variables))}, {"expensive", false}};
  if (hint) j["presentationHint"] = hint;
  return j;
}

Variables registers_of(State& s, debug::FrameRef frame) {
  return {[&s, frame](Part part) -> Result<std::vector<Json>> {
            constexpr int64_t kAll = std::numeric_limits<int32_t>::max();
            const int64_t count = part.count ? part.count : kAll;
            MSVM_ASSIGN_OR_RETURN(const debug::Registers all, s.debugger.registers(frame, static_cast<int32_t>(std::min(part.start, kAll)), static_cast<int32_t>(std::min(count, kAll))));
            std::vector<Json> rows;
            for (const debug::RegisterView& r : all.registers) rows.push_back(register_row(s, frame, r, register_name(r)));
            return rows;
          },
          [&s, frame](const std::string& name, const std::string& value) -> Result<Json> {
            const auto reg = register_of(name);
            if (!reg) return invalid_argument(fmt::format("name: expected a register such as R3, found \"{}\"", name));
            MSVM_ASSIGN_OR_RETURN(const debug::RegisterView r, s.debugger.set_scalar(frame, *reg, value));
            return Json{{"value", value_text(r)}, {"type", r.kind}, {"variablesReference", 0}};
          },
          false};
}

Variables symbols_of(State& s, debug::FrameRef frame) {
  return {[&s, frame](Part) -> Result<std::vector<Json>> {
            MSVM_ASSIGN_OR_RETURN(const auto all, s.debugger.symbols(frame));
            std::vector<Json> rows;
            for (const debug::SymbolView& v : all) {
              Json row = plain_row(v.name, v.bound ? std::to_string(v.value) : "not bound yet", v.declared);
              if (v.bound) row["evaluateName"] = v.name;
              if (!v.from.empty() || !v.declared.empty()) {
                std::vector<Json> parts;
                if (!v.declared.empty()) parts.push_back(plain_row("declared", v.declared));
                if (!v.from.empty()) parts.push_back(plain_row("from", v.from));
                row["variablesReference"] = unfolding(s, frame.thread, std::move(parts));
              }
              rows.push_back(std::move(row));
            }
            return rows;
          },
          nullptr};
}

Variables constants_of(State& s, debug::FrameRef frame) {
  return {[&s, frame](Part) -> Result<std::vector<Json>> {
            MSVM_ASSIGN_OR_RETURN(const auto all, s.debugger.constants(frame));
            std::vector<Json> rows;
            for (const debug::ConstantView& c : all) rows.push_back(plain_row(c.name, fmt::format("{}, {} B", c.type, c.bytes), c.type));
            return rows;
          },
          nullptr};
}

Variables inputs_of(State& s, debug::FrameRef frame) {
  return {[&s, frame](Part) -> Result<std::vector<Json>> {
            MSVM_ASSIGN_OR_RETURN(const auto call, s.debugger.call(frame));
            std::vector<Json> rows;
            if (!call) return rows;
            for (const debug::OperandView& o : call->inputs) rows.push_back(register_row(s, frame, o.value, o.value.reg < 0 ? o.name : fmt::format("{} (R{})", o.name, o.value.reg)));
            for (size_t i = 0; i < call->arguments.size(); ++i) rows.push_back(plain_row(fmt::format("argument {}", i), call->arguments[i]));
            if (!call->attributes.empty()) rows.push_back(plain_row("attributes", call->attributes));
            return rows;
          },
          nullptr};
}

Variables kernels_of(State& s, debug::FrameRef frame) {
  return {[&s, frame](Part) -> Result<std::vector<Json>> {
            MSVM_ASSIGN_OR_RETURN(const auto call, s.debugger.call(frame));
            std::vector<Json> rows;
            if (!call) return rows;
            for (const KernelVerdict& k : call->candidates) {
              const std::string cost = fmt::format("{:.1f} us{}", k.cost_ns / 1e3, k.through_copy ? ", through dense copies" : "");
              rows.push_back(plain_row(k.kernel, !k.reason.empty() ? k.reason : k.chosen ? cost + " (chosen)" : cost));
            }
            if (!call->note.empty()) rows.push_back(plain_row("note", call->note));
            return rows;
          },
          nullptr};
}

Variables locals_of(State& s, debug::ThreadId thread, int64_t host) {
  return {[&s, thread, host](Part) -> Result<std::vector<Json>> {
            std::vector<Json> rows;
            if (!s.options.host) return rows;
            for (const HostVariable& v : s.options.host->variables(host)) {
              Json row = plain_row(v.name, v.value, v.type);
              if (v.children) row["variablesReference"] = s.handles.add(thread, locals_of(s, thread, v.children));
              rows.push_back(std::move(row));
            }
            return rows;
          },
          nullptr};
}

}  // namespace

Json plain_row(std::string name, std::string value, std::string type) {
  Json row{{"name", std::move(name)}, {"value", std::move(value)}, {"variablesReference", 0}};
  if (!type.empty()) row["type"] = std::move(type);
  return row;
}

int64_t unfolding(State& s, debug::ThreadId thread, std::vector<Json> rows) {
  if (rows.empty()) return 0;
  return s.handles.add(thread, Variables{[rows = std::move(rows)](Part) -> Result<std::vector<Json>> { return rows; }, nullptr});
}

Json register_row(State& s, debug::FrameRef frame, const debug::RegisterView& r, std::string name) {
  const bool tensor = r.kind == "TensorMeta";
  Json row = plain_row(std::move(name), value_text(r), r.kind);
  if (r.reg >= 0) row["evaluateName"] = register_name(r);
  if (tensor && r.address) row["memoryReference"] = hex(r.address);
  if (tensor && r.reg >= 0) row["variablesReference"] = s.handles.add(frame.thread, Variables{[&s, frame, r](Part) -> Result<std::vector<Json>> { return tensor_rows(s, frame, r); }, nullptr});
  Json attributes = Json::array();
  if (tensor || r.kind == "list") attributes.push_back("readOnly");
  row["presentationHint"] = {{"kind", "data"}, {"attributes", std::move(attributes)}};
  if (!r.name.empty()) row["type"] = fmt::format("{} {}", r.kind, r.name);
  if (r.changed) row["changed"] = true;
  return row;
}

Json value_row(State& s, debug::FrameRef frame, const debug::Value& v, std::string name, const std::string& expression) {
  Json row = plain_row(std::move(name), v.text, v.type);
  if (v.kind == debug::Value::Kind::kList) {
    std::vector<Json> rows;
    for (size_t i = 0; i < v.items.size(); ++i) rows.push_back(value_row(s, frame, v.items[i], fmt::format("[{}]", i), {}));
    row["variablesReference"] = unfolding(s, frame.thread, std::move(rows));
  } else if (v.kind == debug::Value::Kind::kTensor) {
    if (v.reg != kNoReg) {
      if (const auto r = s.debugger.registers(frame, v.reg, 1); r.ok() && r->registers.size() == 1) row["variablesReference"] = register_row(s, frame, r->registers[0], {})["variablesReference"];
    } else if (!expression.empty()) {
      std::vector<Json> rows{elements_row(s, frame, expression), statistics_row(s, frame, expression)};
      row["variablesReference"] = unfolding(s, frame.thread, std::move(rows));
    }
  }
  return row;
}

Result<Json> scopes_of(State& s, const Frame& frame) {
  const debug::ThreadId thread = frame.at.thread;
  Json rows = Json::array();
  if (frame.kind == Frame::kHost) {
    rows.push_back(scope(s, thread, "Locals", "locals", locals_of(s, thread, frame.host)));
    return rows;
  }
  if (frame.kind == Frame::kBytecode) {
    Json& registers = rows.emplace_back(scope(s, thread, "Registers", "registers", registers_of(s, frame.at)));
    MSVM_ASSIGN_OR_RETURN(const debug::Registers none, s.debugger.registers(frame.at, 0, 0));
    if (none.total > kInOneGo) registers["indexedVariables"] = none.total;  // asked for in parts
    MSVM_ASSIGN_OR_RETURN(const auto call, s.debugger.call(frame.at));
    if (call) {
      rows.push_back(scope(s, thread, "Inputs of " + call->op, nullptr, inputs_of(s, frame.at)));
      rows.push_back(scope(s, thread, "Kernels", nullptr, kernels_of(s, frame.at)));
    }
  }
  rows.push_back(scope(s, thread, "Symbols", nullptr, symbols_of(s, frame.at)));
  rows.push_back(scope(s, thread, "Constants", nullptr, constants_of(s, frame.at)));
  return rows;
}

}  // namespace msvm::observe::dap
