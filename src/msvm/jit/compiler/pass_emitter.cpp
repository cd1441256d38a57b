#include "msvm/jit/compiler/pass_emitter.h"

#include <algorithm>

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
  at_line_of(pass_);
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

/// each(reduction, place of its first part)
template <class Each>
void PassEmitter::each_reduction(const Each& each) const {
  size_t at = 0;
  for (const Reduction& r : reductions_) {
    each(r, at);
    at += r.parts();
  }
}
std::vector<Value*> PassEmitter::starts(int lanes) const {
  std::vector<Value*> out;
  for (const Reduction& r : reductions_) r.start(b_.getContext(), lanes, out);
  return out;
}
void PassEmitter::merge(std::span<Value*> into, std::span<Value* const> other) {
  each_reduction([&](const Reduction& r, size_t at) {
    at_line_of(r.step());
    r.merge(b_, into.subspan(at, r.parts()), other.subspan(at, r.parts()));
  });
  at_line_of(pass_);
}

/// All steps at some columns; `sums` are the parts of all reductions.
void PassEmitter::steps(const Columns& at, std::span<Value*> sums) {
  Values values;
  auto reduction = reductions_.begin();
  for (const Step& s : pass_.steps) {
    at_line_of(s);
    if (s.op == Op::kStore) {
      emit_store(b_, k_.tensors[static_cast<size_t>(s.tensor)], at, operand(s.operands[0], loops::value_type(s.type), at.lanes, values).first);
    } else if (loops::is_reduction(s.op)) {
      reduction->add(b_, operand(s.operands[0], s.type, at.lanes, values).first, at.mask, sums.first(reduction->parts()));
      sums = sums.subspan(reduction->parts());
      ++reduction;
    } else if (!constant_.count(s.result)) {
      values[s.result] = {step(s, at, values), s.type};
    }
  }
  at_line_of(pass_);
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
  const int most = masked_rest() ? 4 : 2;  // what is left goes one by one
  return std::min(most, cost <= 12 ? 4 : cost <= 40 ? 2 : 1);
}

void PassEmitter::walk(Value* begin, Value* end) {
  for (const Step& s : pass_.steps)
    if (loops::is_reduction(s.op)) {
      reductions_.emplace_back(s, k_.masks_all);
      parts_ += reductions_.back().parts();
    }
  at_line_of(pass_);
  auto *main = block("columns"), *after_main = block("after"), *rest = block("rest"), *finish = block("finish"), *done = block("row");
  auto* before = b_.GetInsertBlock();
  enter_ = block("enter");
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), enter_, done);

  b_.SetInsertPoint(enter_);
  constant_steps();
  at_line_of(pass_);
  enter_ = b_.GetInsertBlock();
  const int unroll = vectors_at_once(), step = unroll * k_.lanes;
  Value* whole = b_.CreateAnd(b_.CreateSub(end, begin), b_.getInt64(~(static_cast<uint64_t>(step) - 1)));
  Value* main_end = b_.CreateAdd(begin, whole);
  b_.CreateCondBr(b_.CreateICmpNE(whole, b_.getInt64(0)), main, after_main);

  // The main loop: a set of accumulators per vector.
  std::vector<Value*> first;
  for (int u = 0; u < unroll; ++u)
    for (Value* v : starts(k_.lanes)) first.push_back(v);
  b_.SetInsertPoint(main);
  const Loop loop = open(enter_, begin, first);
  std::vector<Value*> sums(loop.sums.begin(), loop.sums.end());
  for (int u = 0; u < unroll; ++u)
    steps({k_.lanes, u ? b_.CreateAdd(loop.column, b_.getInt64(static_cast<uint64_t>(u * k_.lanes))) : loop.column, nullptr}, std::span(sums).subspan(static_cast<size_t>(u) * parts_, parts_));
  auto* main_last = b_.GetInsertBlock();
  close(loop, step, main_end, sums, after_main);

  // Pair by pair they become one set.
  b_.SetInsertPoint(after_main);
  sums = join(first, enter_, sums, main_last);
  for (size_t n = static_cast<size_t>(unroll) / 2; n >= 1; n /= 2)
    for (size_t u = 0; u < n; ++u) merge(std::span(sums).subspan(u * parts_, parts_), std::span(sums).subspan((u + n) * parts_, parts_));
  sums.resize(parts_);
  auto* after_last = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(main_end, end), rest, finish);

  // What is left: masked vectors, or single elements with accumulators of their own.
  const bool masked = masked_rest();
  b_.SetInsertPoint(rest);
  const std::vector<Value*> rest_first = masked ? sums : starts(1);
  const Loop left = open(after_last, main_end, rest_first);
  std::vector<Value*> rest_sums(left.sums.begin(), left.sums.end());
  const Columns at{masked ? k_.lanes : 1, left.column, masked ? mask(b_.CreateSub(end, left.column)) : nullptr};
  steps(at, rest_sums);
  auto* rest_last = b_.GetInsertBlock();
  close(left, at.lanes, end, rest_sums, finish);

  b_.SetInsertPoint(finish);
  if (masked) sums = join(sums, after_last, rest_sums, rest_last);
  else rest_sums = join(rest_first, after_last, rest_sums, rest_last);
  std::vector<Value*> results;
  each_reduction([&](const Reduction& r, size_t place) {
    at_line_of(r.step());
    r.across_lanes(b_, std::span(sums).subspan(place, r.parts()));
  });
  if (!masked) merge(sums, rest_sums);
  each_reduction([&](const Reduction& r, size_t place) {
    at_line_of(r.step());
    results.push_back(r.result(b_, std::span(sums).subspan(place, r.parts())));
  });
  at_line_of(pass_);
  auto* finish_last = b_.GetInsertBlock();
  b_.CreateBr(done);

  b_.SetInsertPoint(done);
  std::vector<Value*> empty;
  const std::vector<Value*> nothing = starts(1);
  each_reduction([&](const Reduction& r, size_t place) { empty.push_back(nothing[place]); (void)r; });
  results = join(empty, before, results, finish_last);
  for (size_t i = 0; i < results.size(); ++i) k_.rows[reductions_[i].step().result] = {results[i], reductions_[i].step().type};
}

/// Values that come from two blocks.
std::vector<Value*> PassEmitter::join(const std::vector<Value*>& a, llvm::BasicBlock* from_a, const std::vector<Value*>& b, llvm::BasicBlock* from_b) {
  std::vector<Value*> out;
  for (size_t i = 0; i < a.size(); ++i) {
    auto* phi = b_.CreatePHI(a[i]->getType(), 2);
    phi->addIncoming(a[i], from_a);
    phi->addIncoming(b[i], from_b);
    out.push_back(phi);
  }
  return out;
}

/// Of the first `left` lanes.
Value* PassEmitter::mask(Value* left) {
  Value* count = b_.CreateTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, b_.getInt64(static_cast<uint64_t>(k_.lanes))), b_.getInt32Ty());
  return b_.CreateICmpULT(b_.CreateStepVector(value_type_of(b_.getContext(), DType::kI32, k_.lanes)), b_.CreateVectorSplat(static_cast<unsigned>(k_.lanes), count));
}

}  // namespace msvm::compiler
