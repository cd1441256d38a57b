#include "msvm/kernels/body_program.h"

#include <algorithm>

#include "msvm/kernels/site.h"

namespace msvm {

BodyProgram::BodyProgram(Body body) : body_(std::move(body)) {
  const size_t n = body_.steps.size();
  row_of_.assign(n, -1);
  reads_result_ = n == 0;
  std::vector<size_t> last_use(n, 0);
  for (size_t s = 0; s < n; ++s) {
    const BodyStep& step = body_.steps[s];
    ns_ += body_step_ns(step.op);
    for (int k = 0; k < kBodyStepShapes[static_cast<size_t>(step.op)].operands; ++k) {
      const BodyOperand& o = step.operands[static_cast<size_t>(k)];
      if (o.kind == BodyOperand::kInput) inputs_.push_back(o.index);
      if (o.kind == BodyOperand::kResult) reads_result_ = true;
      if (o.kind == BodyOperand::kStep) last_use[o.index] = s;
    }
  }
  std::sort(inputs_.begin(), inputs_.end());
  inputs_.erase(std::unique(inputs_.begin(), inputs_.end()), inputs_.end());
  // A step may write over the row of an operand that dies with it.
  std::vector<int> free_rows;
  for (size_t s = 0; s + 1 < n; ++s) {
    for (size_t e = 0; e < s; ++e)
      if (last_use[e] == s && row_of_[e] >= 0) free_rows.push_back(row_of_[e]);
    if (last_use[s] == 0) {
      // Nobody reads it; a row all the same.
      last_use[s] = s + 1;
    }
    if (free_rows.empty()) {
      row_of_[s] = static_cast<int>(rows_++);
    } else {
      row_of_[s] = free_rows.back();
      free_rows.pop_back();
    }
  }
}

void BodyProgram::run(const VectorKernels& v, const float* y, std::span<const BodyRow> inputs, float* out, int64_t n, float* scratch) const {
  const size_t steps = body_.steps.size();
  if (n <= 0) return;
  if (steps == 0) {
    if (y && y != out) std::copy(y, y + n, out);
    return;
  }
  const BodyKernels& kernels = &v == &kVectorKernelsAvx512 ? kBodyKernelsAvx512 : kBodyKernelsAvx2;
  // Steps of numbers alone are done once; their values are numbers too.
  uint64_t numbers = 0;
  float values[kMaxBodySteps];
  auto row = [&](const BodyOperand& o, int64_t i) -> BodyRow {
    switch (o.kind) {
      case BodyOperand::kResult: return {y + i, 1};
      case BodyOperand::kInput: return {inputs[o.index].data + i * inputs[o.index].step, inputs[o.index].step};
      case BodyOperand::kStep:
        if (numbers >> o.index & 1) return {values + o.index, 0};
        return {scratch + row_of_[o.index] * kTile, 1};
      case BodyOperand::kNumber: return {&o.number, 0};
    }
    return {};
  };
  auto step = [&](size_t s, int64_t i, float* to, int64_t m) {
    const BodyStep& b = body_.steps[s];
    const BodyStepShape shape = kBodyStepShapes[static_cast<size_t>(b.op)];
    const int rows = shape.operands - shape.constants;
    const BodyRow first = row(b.operands[0], i);
    BodyRow second;
    int kind = BodyKernels::kRows;
    if (rows == 2) {
      second = row(b.operands[1], i);
      if (m > 1) kind = first.step == 0 ? BodyKernels::kNumberA : second.step == 0 ? BodyKernels::kNumberB : BodyKernels::kRows;
    }
    const float p = shape.constants > 0 ? b.operands[static_cast<size_t>(rows)].number : 0.0f, q = shape.constants > 1 ? b.operands[static_cast<size_t>(rows) + 1].number : 0.0f;
    kernels.step[static_cast<size_t>(b.op)][kind](first.data, second.data, p, q, to, m);
  };
  for (size_t s = 0; s < steps; ++s) {
    const BodyStep& b = body_.steps[s];
    const BodyStepShape shape = kBodyStepShapes[static_cast<size_t>(b.op)];
    bool number = true;
    for (int k = 0; k < shape.operands - shape.constants; ++k) number = number && row(b.operands[static_cast<size_t>(k)], 0).step == 0;
    if (!number) continue;
    step(s, 0, values + s, 1);
    numbers |= uint64_t{1} << s;
  }
  if (numbers >> (steps - 1) & 1) {
    std::fill(out, out + n, values[steps - 1]);
    return;
  }
  if (steps == 1) return step(0, 0, out, n);
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t m = std::min(kTile, n - i);
    for (size_t s = 0; s < steps; ++s)
      if (!(numbers >> s & 1)) step(s, i, s + 1 == steps ? out + i : scratch + row_of_[s] * kTile, m);
  }
}

namespace {

struct BodySite final : KernelSiteState {
  bool parsed = false;
  Status refused;
  std::unique_ptr<BodyProgram> program;
  size_t first_input = 0;
};

}  // namespace

Result<const BodyProgram*> body_program(KernelCall& call, size_t first_input, bool has_result) {
  BodySite& site = PackedConstants::at(call).part<BodySite>();
  if (!site.parsed) {
    site.parsed = true;
    const auto& text = call.attrs.get_strings("body");
    if (!text.empty()) {
      auto body = parse_body(text, first_input, call.inputs.size(), has_result);
      if (body.ok()) site.program = std::make_unique<BodyProgram>(std::move(*body));
      else site.refused = body.status();
    }
  }
  if (!site.refused.ok()) return site.refused;
  return const_cast<const BodyProgram*>(site.program.get());
}

}  // namespace msvm
