#include "msvm/jit/compiler/pass_emitter.h"

#include "msvm/jit/compiler/ir.h"
#include "msvm/jit/compiler/steps.h"

namespace msvm::compiler {

using llvm::Value;
using loops::Op;
using loops::Operand;
using loops::Step;

namespace {

bool is_number(const loops::Size& s, int64_t n) { return s == loops::Size::number(n); }

llvm::Constant* constant(llvm::Type* type, const Operand& o, DType dtype) {
  if (is_float(dtype)) return llvm::ConstantFP::get(type, o.number);
  return llvm::ConstantInt::get(type, dtype == DType::kBool ? o.number != 0 : static_cast<uint64_t>(o.integer));
}

}  // namespace

llvm::BasicBlock* PassEmitter::block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, b_.GetInsertBlock()->getParent()); }

/// Made once, before the loops.
Value* PassEmitter::splat(Value* scalar, int lanes) {
  if (lanes == 1) return scalar;
  Value*& v = splats_[scalar];
  if (!v) {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(enter_->getTerminator());
    v = b_.CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
  }
  return v;
}

PassEmitter::Typed PassEmitter::operand(const Operand& o, DType type, int lanes, const Values& values) {
  switch (o.kind) {
    case Operand::kNone: return {nullptr, type};
    case Operand::kNumber: return {constant(value_type_of(b_.getContext(), type, lanes), o, type), type};
    case Operand::kSize: return {splat(k_.sizes[static_cast<size_t>(o.index)], lanes), DType::kI64};
    case Operand::kRow: {
      const Typed r = k_.rows.at(o.index);
      return {splat(r.first, lanes), r.second};
    }
    case Operand::kValue: break;
  }
  if (const auto found = values.find(o.index); found != values.end()) return found->second;
  const Typed scalar = constant_.at(o.index);
  return {splat(scalar.first, lanes), scalar.second};
}

Value* PassEmitter::step(const Step& s, const Columns& at, const Values& values) {
  if (s.op == Op::kLoad) return emit_load(b_, k_.tensors[static_cast<size_t>(s.tensor)], at);
  if (s.op == Op::kIndex) {
    if (at.lanes == 1) return at.first;
    llvm::Type* type = value_type_of(b_.getContext(), DType::kI64, at.lanes);
    return b_.CreateAdd(b_.CreateVectorSplat(static_cast<unsigned>(at.lanes), at.first), b_.CreateStepVector(type));
  }
  DType source = s.type;
  if (loops::is_comparison(s.op) || s.op == Op::kCast)
    for (const Operand& o : s.operands)
      if (o.kind != Operand::kNone && o.kind != Operand::kNumber) source = operand(o, s.type, at.lanes, values).second;
  const DType own = loops::is_comparison(s.op) ? source : s.type;
  std::array<Value*, 3> operands{};
  for (size_t i = 0; i < 3; ++i) operands[i] = operand(s.operands[i], s.op == Op::kSelect && i == 0 ? DType::kBool : own, at.lanes, values).first;
  return emit_step(b_, s.op, s.type, source, operands);
}

void PassEmitter::row_section() {
  const Columns first{1, b_.getInt64(0), nullptr};
  for (const Step& s : pass_.steps) {
    at_line_of(s);
    if (s.op == Op::kStore) emit_store(b_, k_.tensors[static_cast<size_t>(s.tensor)], first, operand(s.operands[0], loops::value_type(s.type), 1, {}).first);
    else k_.rows[s.result] = {step(s, first, {}), s.type};
  }
}

/// What doesn't depend on the column is done once a row.
void PassEmitter::constant_steps() {
  for (const Step& s : pass_.steps) {
    if (s.op == Op::kStore || s.op == Op::kIndex || loops::is_reduction(s.op)) continue;
    bool same = s.op != Op::kLoad || is_number(k_.kernel.tensors[static_cast<size_t>(s.tensor)].strides.back(), 0);
    for (const Operand& o : s.operands) same = same && (o.kind != Operand::kValue || constant_.count(o.index));
    if (!same) continue;
    at_line_of(s);
    constant_[s.result] = {step(s, {1, b_.getInt64(0), nullptr}, {}), s.type};
  }
}

/// All steps at some columns; reductions go into `sums`.
void PassEmitter::steps(const Columns& at, std::vector<Value*>& sums, bool scalar) {
  Values values;
  size_t sum = 0;
  for (const Step& s : pass_.steps) {
    at_line_of(s);
    if (s.op == Op::kStore) {
      emit_store(b_, k_.tensors[static_cast<size_t>(s.tensor)], at, operand(s.operands[0], loops::value_type(s.type), at.lanes, values).first);
    } else if (loops::is_reduction(s.op)) {
      Value* v = operand(s.operands[0], s.type, at.lanes, values).first;
      if (at.mask) v = b_.CreateSelect(at.mask, v, scalar ? sums_[sum].scalar_start : sums_[sum].vector_start);
      sums[sum] = emit_reduction(b_, s.op, s.type, v, sums[sum]);
      ++sum;
    } else if (!constant_.count(s.result)) {
      values[s.result] = {step(s, at, values), s.type};
    }
  }
}

PassEmitter::Loop PassEmitter::open(llvm::BasicBlock* from, Value* begin, const std::vector<Value*>& sums) {
  Loop loop{b_.GetInsertBlock(), b_.CreatePHI(b_.getInt64Ty(), 2), {}};
  loop.column->addIncoming(begin, from);
  for (Value* start : sums) {
    loop.sums.push_back(b_.CreatePHI(start->getType(), 2));
    loop.sums.back()->addIncoming(start, from);
  }
  return loop;
}

void PassEmitter::close(const Loop& loop, int64_t by, Value* end, const std::vector<Value*>& sums, llvm::BasicBlock* next) {
  Value* column = b_.CreateAdd(loop.column, b_.getInt64(static_cast<uint64_t>(by)));
  loop.column->addIncoming(column, b_.GetInsertBlock());
  for (size_t i = 0; i < sums.size(); ++i) loop.sums[i]->addIncoming(sums[i], b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(column, end), loop.block, next);
}

/// Halves onto halves.
Value* PassEmitter::across_lanes(const Sum& sum, Value* v) {
  for (int half = k_.lanes / 2; half >= 1; half /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < half; ++i) low.push_back(i), high.push_back(half + i);
    v = emit_reduction(b_, sum.step->op, sum.step->type, b_.CreateShuffleVector(v, low), b_.CreateShuffleVector(v, high));
  }
  return b_.CreateExtractElement(v, uint64_t{0});
}

bool PassEmitter::strided() const {
  for (const Step& s : pass_.steps)
    if (s.tensor >= 0) {
      const loops::Size& stride = k_.kernel.tensors[static_cast<size_t>(s.tensor)].strides.back();
      if (!is_number(stride, 1) && !is_number(stride, 0)) return true;
    }
  return false;
}

bool PassEmitter::masked_rest() const {
  if (strided()) return false;
  for (const Step& s : pass_.steps)
    if (s.tensor >= 0 && !k_.masks_all && dtype_bytes(k_.kernel.tensors[static_cast<size_t>(s.tensor)].dtype) < 4) return false;
  return true;
}

/// Several accumulators hide the time an addition takes; several vectors of short steps share the loop's own instructions.
int PassEmitter::vectors_at_once() const {
  int cost = 0;
  for (const Step& s : pass_.steps)
    if (s.result < 0 || !constant_.count(s.result) || loops::is_reduction(s.op)) cost += loops::is_reduction(s.op) ? 1 : step_cost(s.op);
  if (strided()) return 1;
  return cost <= 12 ? 4 : cost <= 40 ? 2 : 1;
}

void PassEmitter::walk(Value* begin, Value* end) {
  for (const Step& s : pass_.steps)
    if (loops::is_reduction(s.op)) {
      llvm::Type* vector = value_type_of(b_.getContext(), s.type, k_.lanes);
      sums_.push_back({&s, reduction_start(s.op, s.type, vector), reduction_start(s.op, s.type, vector->getScalarType())});
    }
  auto *main = block("columns"), *after_main = block("after"), *rest = block("rest"), *finish = block("finish"), *done = block("row");
  auto* before = b_.GetInsertBlock();
  enter_ = block("enter");
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), enter_, done);

  b_.SetInsertPoint(enter_);
  constant_steps();
  enter_ = b_.GetInsertBlock();
  const int unroll = vectors_at_once(), step = unroll * k_.lanes;
  Value* whole = b_.CreateAnd(b_.CreateSub(end, begin), b_.getInt64(~(static_cast<uint64_t>(step) - 1)));
  Value* main_end = b_.CreateAdd(begin, whole);
  b_.CreateCondBr(b_.CreateICmpNE(whole, b_.getInt64(0)), main, after_main);

  // The main loop: a set of accumulators per vector.
  std::vector<Value*> starts;
  for (int u = 0; u < unroll; ++u)
    for (const Sum& s : sums_) starts.push_back(s.vector_start);
  b_.SetInsertPoint(main);
  const Loop loop = open(enter_, begin, starts);
  std::vector<Value*> sums(loop.sums.begin(), loop.sums.end());
  for (int u = 0; u < unroll; ++u) {
    std::vector<Value*> part(sums.begin() + u * static_cast<long>(sums_.size()), sums.begin() + (u + 1) * static_cast<long>(sums_.size()));
    steps({k_.lanes, u ? b_.CreateAdd(loop.column, b_.getInt64(static_cast<uint64_t>(u * k_.lanes))) : loop.column, nullptr}, part, false);
    std::copy(part.begin(), part.end(), sums.begin() + u * static_cast<long>(sums_.size()));
  }
  auto* main_last = b_.GetInsertBlock();
  close(loop, step, main_end, sums, after_main);

  // Their sum, pair by pair.
  b_.SetInsertPoint(after_main);
  std::vector<Value*> merged;
  for (size_t i = 0; i < sums.size(); ++i) {
    auto* phi = b_.CreatePHI(sums[i]->getType(), 2);
    phi->addIncoming(starts[i], enter_);
    phi->addIncoming(sums[i], main_last);
    merged.push_back(phi);
  }
  for (size_t n = static_cast<size_t>(unroll); n > 1; n /= 2)
    for (size_t u = 0; u < n / 2; ++u)
      for (size_t i = 0; i < sums_.size(); ++i)
        merged[u * sums_.size() + i] = emit_reduction(b_, sums_[i].step->op, sums_[i].step->type, merged[u * sums_.size() + i], merged[(u + n / 2) * sums_.size() + i]);
  merged.resize(sums_.size());
  auto* after_last = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(main_end, end), rest, finish);

  // What is left: masked vectors, or single elements with sums of their own.
  const bool masked = masked_rest();
  b_.SetInsertPoint(rest);
  std::vector<Value*> rest_starts;
  for (size_t i = 0; i < sums_.size(); ++i) rest_starts.push_back(masked ? merged[i] : sums_[i].scalar_start);
  const Loop left = open(after_last, main_end, rest_starts);
  std::vector<Value*> rest_sums(left.sums.begin(), left.sums.end());
  Columns at{masked ? k_.lanes : 1, left.column, nullptr};
  if (masked) {
    llvm::Type* lane = value_type_of(b_.getContext(), DType::kI32, k_.lanes);
    Value* count = b_.CreateTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(end, left.column), b_.getInt64(static_cast<uint64_t>(k_.lanes))), b_.getInt32Ty());
    at.mask = b_.CreateICmpULT(b_.CreateStepVector(lane), b_.CreateVectorSplat(static_cast<unsigned>(k_.lanes), count));
  }
  steps(at, rest_sums, !masked);
  auto* rest_last = b_.GetInsertBlock();
  close(left, at.lanes, end, rest_sums, finish);

  b_.SetInsertPoint(finish);
  std::vector<Value*> results;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis;
  for (size_t i = 0; i < sums_.size(); ++i) {
    auto *vector = b_.CreatePHI(merged[i]->getType(), 2), *scalar = masked ? nullptr : b_.CreatePHI(rest_sums[i]->getType(), 2);
    vector->addIncoming(merged[i], after_last);
    vector->addIncoming(masked ? rest_sums[i] : merged[i], rest_last);
    if (scalar) {
      scalar->addIncoming(rest_starts[i], after_last);
      scalar->addIncoming(rest_sums[i], rest_last);
    }
    phis.emplace_back(vector, scalar);
  }
  for (size_t i = 0; i < sums_.size(); ++i) {
    Value* sum = across_lanes(sums_[i], phis[i].first);
    results.push_back(phis[i].second ? emit_reduction(b_, sums_[i].step->op, sums_[i].step->type, phis[i].second, sum) : sum);
  }
  auto* finish_last = b_.GetInsertBlock();
  b_.CreateBr(done);

  b_.SetInsertPoint(done);
  for (size_t i = 0; i < sums_.size(); ++i) {
    auto* phi = b_.CreatePHI(results[i]->getType(), 2);
    phi->addIncoming(sums_[i].scalar_start, before);
    phi->addIncoming(results[i], finish_last);
    k_.rows[sums_[i].step->result] = {phi, sums_[i].step->type};
  }
}

}  // namespace msvm::compiler
