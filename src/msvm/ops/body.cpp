#include "msvm/ops/body.h"

#include <fmt/format.h>

#include <charconv>

#include "msvm/base/trim.h"

namespace msvm {
namespace {

constexpr BodyOpInfo kBodyOps[] = {
#define MSVM_BODY_STEP(name, operands, constants, doc) {#name, operands, constants, doc},
#include "msvm/ops/body_steps.def"
#undef MSVM_BODY_STEP
};
constexpr BodyOp kBodyOpIds[] = {
#define MSVM_BODY_STEP(name, ...) BodyOp::k##name,
#include "msvm/ops/body_steps.def"
#undef MSVM_BODY_STEP
};

template <class T>
bool read_number(std::string_view s, T& value) {
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  return error == std::errc() && end == s.data() + s.size() && !s.empty();
}

struct Reader {
  size_t first_input, num_inputs;
  bool has_result;

  Status operand(std::string_view text, size_t step, bool constant, BodyOperand& out) const {
    auto fail = [&](std::string why) { return invalid_argument(fmt::format("body step {}: operand \"{}\" {}", step, text.substr(0, 40), why)); };
    if (text == "y") {
      if (constant) return fail("must be a number");
      if (!has_result) return fail("is the value of a product: this operator has none");
      out = {BodyOperand::kResult, 0, 0};
      return {};
    }
    if (!text.empty() && (text[0] == 'i' || text[0] == 's') && text != "inf") {
      uint16_t index = 0;
      if (!read_number(text.substr(1), index)) return fail("is neither an input i<number> nor a step s<number>");
      if (constant) return fail("must be a number");
      const bool input = text[0] == 'i';
      if (input && (index < first_input || index >= num_inputs)) return fail(fmt::format("isn't an input of the body: those are {} to {}", first_input, static_cast<int64_t>(num_inputs) - 1));
      if (!input && index >= step) return fail("isn't an earlier step");
      out = {input ? BodyOperand::kInput : BodyOperand::kStep, index, 0};
      return {};
    }
    float number = 0;
    if (!read_number(text, number)) return fail("is no operand: y, i<number>, s<number> or a number");
    out = {BodyOperand::kNumber, 0, number};
    return {};
  }

  Status step(std::string_view text, size_t at, BodyStep& out) const {
    const size_t open = text.find('(');
    if (open == std::string_view::npos || text.back() != ')') return invalid_argument(fmt::format("body step {}: expected Name(operand, ...), found \"{}\"", at, text.substr(0, 60)));
    const std::string_view name = trimmed(text.substr(0, open));
    const BodyOp* op = find_body_op(name);
    if (!op) return invalid_argument(fmt::format("body step {}: there is no step {}", at, name.substr(0, 40)));
    out.op = *op;
    const BodyOpInfo& info = body_op_info(*op);
    std::string_view rest = text.substr(open + 1, text.size() - open - 2);
    int count = 0;
    for (bool more = true; more; ++count) {
      const size_t comma = rest.find(',');
      more = comma != std::string_view::npos;
      if (count >= info.operands) return invalid_argument(fmt::format("body step {}: {} takes {} operands", at, info.name, info.operands));
      MSVM_RETURN_IF_ERROR(operand(trimmed(rest.substr(0, comma)), at, count >= info.operands - info.constants, out.operands[static_cast<size_t>(count)]));
      if (more) rest.remove_prefix(comma + 1);
    }
    if (count != info.operands) return invalid_argument(fmt::format("body step {}: {} takes {} operands, not {}", at, info.name, info.operands, count));
    return {};
  }
};

}  // namespace

const BodyOpInfo& body_op_info(BodyOp op) { return kBodyOps[static_cast<size_t>(op)]; }
std::span<const BodyOpInfo> body_ops() { return kBodyOps; }
const BodyOp* find_body_op(std::string_view name) {
  for (size_t i = 0; i < std::size(kBodyOps); ++i)
    if (kBodyOps[i].name == name) return &kBodyOpIds[i];
  return nullptr;
}

Result<Body> parse_body(std::span<const std::string> text, size_t first_input, size_t num_inputs, bool has_result) {
  if (text.size() > kMaxBodySteps) return invalid_argument(fmt::format("body has {} steps: at most {}", text.size(), kMaxBodySteps));
  Body body;
  const Reader reader{first_input, num_inputs, has_result};
  for (size_t i = 0; i < text.size(); ++i) MSVM_RETURN_IF_ERROR(reader.step(trimmed(text[i]), i, body.steps.emplace_back()));
  return body;
}

std::vector<std::string> print_body(const Body& body) {
  std::vector<std::string> lines;
  for (const BodyStep& s : body.steps) {
    const BodyOpInfo& info = body_op_info(s.op);
    std::string line = fmt::format("{}(", info.name);
    for (int k = 0; k < info.operands; ++k) {
      const BodyOperand& o = s.operands[static_cast<size_t>(k)];
      if (k) line += ", ";
      switch (o.kind) {
        case BodyOperand::kResult: line += 'y'; break;
        case BodyOperand::kInput: line += fmt::format("i{}", o.index); break;
        case BodyOperand::kStep: line += fmt::format("s{}", o.index); break;
        case BodyOperand::kNumber: line += fmt::format("{}", o.number); break;  // the shortest text that reads back the same
      }
    }
    lines.push_back(line + ')');
  }
  return lines;
}

}  // namespace msvm
