// Random programs, for tests.
#pragma once
#include <random>
#include <utility>
#include <vector>

#include "msvm/bytecode/builder.h"

namespace msvm::testing {

/// Programs of one function f32[N, 4] -> f32[N, 4] in value form, placed: arithmetic, views, fills, lists, branches, switches, nested
/// loops, early exits, critical edges. Whatever comes out must verify, and run for any N.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {
    type_.shape = {mb_.symbol("N"), mb_.dims().constant(4)};
    x_ = fb_.input("x", type_);
  }

  Module build() {
    fb_.output("y", {RegKind::kTensor, type_});
    structured(1 + pick(12), {x_});
    if (Status s = fb_.finish(); !s.ok()) return Module();
    return mb_.take();
  }

 private:
  Reg relu(Reg r) { return fb_.call_alloc("Relu", {r}, {}, {}, {type_})[0]; }
  Dim i(int64_t v) { return mb_.dims().constant(v); }
  int pick(int n) { return n <= 1 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Reg any(const std::vector<Reg>& v) { return v[static_cast<size_t>(pick(static_cast<int>(v.size())))]; }
  Reg cond() { return fb_.compare(static_cast<CalcOp>(static_cast<int>(CalcOp::kEq) + pick(6)), mb_.symbol("N"), i(pick(9))); }

  void straight(std::vector<Reg>& v) {
    for (int n = pick(4); n > 0; --n) {
      Reg a = any(v);
      switch (pick(8)) {
        case 0: v.push_back(relu(a)); break;
        case 1: v.push_back(fb_.call_alloc("Add", {a, any(v)}, {}, {}, {type_})[0]); break;
        case 2: v.push_back(fb_.identity(a)); break;
        case 3: fb_.transpose(a, {1, 0}); break;
        case 4: {  // grown, filled, read
          Reg r = fb_.resize(a, 1, i(6));
          Reg w = fb_.window(r, 1, i(4), i(6));
          TensorType half = type_;
          half.shape[1] = i(2);
          fb_.call("msvm.Fill", {}, {mb_.symbol("N"), i(2)}, {}, {w});
          Reg s = fb_.slice(r, {1}, {i(1)}, {i(5)}, {1});
          v.push_back(relu(s));
          break;
        }
        case 5: {
          Reg list = fb_.list_make(DType::kF32, {a, any(v), a});
          if (pick(2)) list = fb_.list_append(list, any(v));
          Reg e = fb_.list_get(list, i(pick(3)));
          v.push_back(fb_.narrow(e, strided()));
          v.back() = relu(v.back());
          break;
        }
        case 6: v.push_back(fb_.reshape(fb_.reshape(a, {i(4), mb_.symbol("N")}), type_.shape)); break;
        default: v.push_back(fb_.copy(a)); break;
      }
    }
  }
  TensorType strided() {
    TensorType t = type_;
    t.strided = true;
    return t;
  }

  /// Emits into the current block and those it makes; ends with a RETURN. `depth` bounds the size.
  void structured(int depth, std::vector<Reg> v) {
    for (;;) {
      straight(v);
      switch (depth-- <= 0 ? 9 : pick(5)) {
        case 0: branch(v, depth); break;
        case 1: loop(v, depth); break;
        case 2: {  // an arm that ends early
          BlockId out = fb_.new_block(), on = fb_.new_block();
          fb_.branch_if(cond(), out, on);
          fb_.set_block(out);
          if (pick(2)) fb_.trap("no");
          else fb_.ret({any(v)});
          fb_.set_block(on);
          break;
        }
        case 9:
          fb_.ret({any(v)});
          return;
        default: break;
      }
    }
  }

  void branch(std::vector<Reg>& v, int depth) {
    const int arms = 2 + pick(3);
    BlockId join = fb_.new_block();
    std::vector<BlockId> starts;
    std::vector<std::pair<BlockId, std::vector<Reg>>> ends;
    const BlockId from = fb_.current();
    const bool direct = pick(3) == 0;  // one arm goes straight to the join: a critical edge
    for (int k = 0; k < arms; ++k) starts.push_back(k == 0 && direct ? join : fb_.new_block());
    if (arms == 2) {
      fb_.branch_if(cond(), starts[0], starts[1]);
    } else {
      std::vector<int64_t> cases;
      for (int k = 0; k + 1 < arms; ++k) cases.push_back(k);
      fb_.switch_on(mb_.symbol("N"), cases, starts);
    }
    for (BlockId b : starts) {
      if (b == join) {
        ends.emplace_back(from, v);
        continue;
      }
      fb_.set_block(b);
      std::vector<Reg> mine = v;
      straight(mine);
      if (depth > 2 && pick(3) == 0) loop(mine, depth / 2);
      ends.emplace_back(fb_.current(), mine);
      fb_.jump(join);
    }
    fb_.set_block(join);
    std::vector<Reg> phis;
    for (int n = pick(4); n > 0; --n) {
      Reg r = fb_.phi({RegKind::kTensor, type_});
      for (auto& [b, regs] : ends) fb_.add_phi_input(r, {b, any(regs), {}});
      phis.push_back(r);
    }
    v.insert(v.end(), phis.begin(), phis.end());
  }

  void loop(std::vector<Reg>& v, int depth) {
    BlockId head = fb_.new_block(), body = fb_.new_block(), out = fb_.new_block();
    const BlockId before = fb_.current();
    fb_.jump(head);
    fb_.set_block(head);
    Reg round = fb_.phi({RegKind::kI64, {}});
    fb_.add_phi_input(round, {before, kNoReg, i(0)});
    std::vector<Reg> carried, inside = v;
    for (int n = pick(4); n > 0; --n) {
      Reg r = fb_.phi({RegKind::kTensor, type_});
      fb_.add_phi_input(r, {before, any(v), {}});
      carried.push_back(r);
      inside.push_back(r);
    }
    fb_.branch_if(fb_.compare(CalcOp::kLt, fb_.dim(round), i(3)), body, out);
    std::vector<Reg> after = inside;
    fb_.set_block(body);
    straight(inside);
    if (depth > 1 && pick(3) == 0) branch(inside, depth / 2);
    Dim next = fb_.calc(CalcOp::kAdd, fb_.dim(round), i(1));
    const BlockId latch = fb_.current();
    const bool leaves = pick(3) == 0;  // also from the end of the body: critical edges
    if (leaves) fb_.branch_if(cond(), head, out);
    else fb_.jump(head);
    fb_.add_phi_input(round, {latch, kNoReg, next});
    for (Reg r : carried) fb_.add_phi_input(r, {latch, any(inside), {}});
    fb_.set_block(out);
    v = after;
  }

  ModuleBuilder mb_{"random"};
  FunctionBuilder fb_ = mb_.function("main");
  TensorType type_;
  Reg x_;
  std::mt19937 random_;
};

}  // namespace msvm::testing
