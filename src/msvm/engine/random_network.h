// Random networks, for tests: what the optimiser rewrites, in random order, over tensors of run-time sizes.
#pragma once
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "msvm/bytecode/builder.h"
#include "msvm/ops/schema.h"

namespace msvm::testing {

/// One function of x: f32[N, C, H, W] and s: f32[N, C, 1, 1] (C constant): convolutions with what stands around them, pools, products,
/// concats, slices, resizes, reductions, normalisations, elementwise chains, in branches and loops. Verifies, and runs for all N, H, W.
class RandomNetwork {
 public:
  explicit RandomNetwork(unsigned seed) : random_(seed) {
    channels_ = one_of({1, 3, 4, 7, 8, 16, 17});
    n_ = mb_.symbol("N"), h_ = mb_.symbol("H"), w_ = mb_.symbol("W");
    pool_ = {fb_.input("x", f32({n_, i(channels_), h_, w_}))};
    gates_ = {fb_.input("s", f32({n_, i(channels_), i(1), i(1)}))};
    inputs_ = {pool_[0], gates_[0]};
  }
  int64_t channels() const { return channels_; }

  Module build() {
    straight(3 + pick(12));
    if (pick(3) == 0) branch();
    if (pick(3) == 0) loop();
    straight(pick(6));
    std::vector<Reg> results;
    for (int k = 1 + pick(3); k > 0; --k) results.push_back(any());
    if (pick(3) == 0 && gates_.size() > 1) results.push_back(gates_.back());
    if (pick(5) == 0) results.push_back(results[0]);
    for (size_t k = 0; k < results.size(); ++k) {
      TensorType t = fb_.tensor_type(results[k]);
      t.strided = false;
      fb_.output("y" + std::to_string(k), {RegKind::kTensor, t});
    }
    fb_.ret(results);
    if (Status s = fb_.finish(); !s.ok()) return Module();
    return mb_.take();
  }

 private:
  Dim i(int64_t v) { return mb_.dims().constant(v); }
  int pick(int n) { return n <= 1 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int64_t one_of(std::initializer_list<int64_t> list) { return list.begin()[pick(static_cast<int>(list.size()))]; }
  Reg any() { return pick(3) ? pool_.back() : pool_[static_cast<size_t>(pick(static_cast<int>(pool_.size())))]; }
  static TensorType f32(std::vector<Dim> shape) {
    TensorType t;
    t.shape = std::move(shape);
    return t;
  }
  const std::vector<Dim>& shape(Reg r) { return fb_.tensor_type(r).shape; }
  int64_t channels_of(Reg r) { return shape(r)[1].value(); }

  Reg constant(const std::vector<int64_t>& sizes, double low, double high) {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    std::vector<float> v(static_cast<size_t>(n));
    for (float& f : v) f = static_cast<float>(std::uniform_real_distribution<double>(low, high)(random_));
    return fb_.constant(mb_.add_constant("c" + std::to_string(constants_++), DType::kF32, sizes, v.data(), v.size() * sizeof(float)));
  }
  Reg number(double v) {
    const auto f = static_cast<float>(v);
    std::vector<int64_t> sizes(static_cast<size_t>(pick(3)), 1);
    return fb_.constant(mb_.add_constant("n" + std::to_string(constants_++), DType::kF32, sizes, &f, sizeof f));
  }

  Reg call(const std::string& op, const std::vector<Reg>& inputs, Attributes attrs = {}, const std::vector<Dim>& args = {}) {
    class : public ConditionSink {
      Status require(const DimCondition&, std::string_view) override { return {}; }
    } sink;
    std::vector<TensorType> types;
    for (Reg r : inputs) types.push_back(r == kNoReg ? TensorType{} : fb_.tensor_type(r));
    std::vector<const TensorType*> pointers;
    for (size_t k = 0; k < inputs.size(); ++k) pointers.push_back(inputs[k] == kNoReg ? nullptr : &types[k]);
    fb_.set_debug({"", 0, 0, {op + "_" + std::to_string(calls_++)}});
    auto out = infer_call(*find_op(op), mb_.dims(), pointers, args, attrs, 1, sink);
    if (!out.ok()) throw std::runtime_error(op + ": " + out.status().message());
    return fb_.call_alloc(op, inputs, args, std::move(attrs), {(*out)[0]})[0];
  }

  void keep(Reg r) { pool_.push_back(r); }

  Reg convolve(Reg x, int64_t out, int64_t k, int64_t stride, bool depthwise = false) {
    const int64_t in = channels_of(x), pad = k / 2;
    std::vector<Reg> uses{x, constant({out, depthwise ? 1 : in, k, k}, -0.6, 0.6)};
    if (pick(2)) uses.push_back(constant({out}, -1, 1));
    Attributes a;
    if (k > 1 || pick(2)) a.set("pads", std::vector<int64_t>{pad, pad, pad, pad});
    if (stride > 1) a.set("strides", std::vector<int64_t>{stride, stride});
    if (depthwise) a.set("group", in);
    return call("Conv", uses, a);
  }

  Reg activate(Reg x) {
    switch (pick(14)) {
      case 0: return call("Relu", {x});
      case 1: return call("Sigmoid", {x});
      case 2: return call("Mul", {x, call("Sigmoid", {x})});
      case 3: return call("Clip", {x, scalar(0), scalar(6)});
      case 4: return call("HardSwish", {x});
      case 5: return call("LeakyRelu", {x}, {{"alpha", 0.1}});
      case 6: return call("Div", {call("Mul", {x, call("Clip", {call("Add", {x, number(3)}), scalar(0), scalar(6)})}), number(6)});
      case 7: return call("Mul", {call("Mul", {x, call("Add", {call("Erf", {call("Div", {x, number(std::sqrt(2.0))})}), number(1)})}), number(0.5)});
      case 8: return call("Elu", {x});
      case 9: return call("Tanh", {x});
      case 10: return call("HardSigmoid", {x}, {{"alpha", 1.0 / 6}});
      case 11: return call("Max", {x, number(0)});
      case 12: return call("Neg", {call("Abs", {x})});
      default: return call("Mul", {x, call("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})});
    }
  }
  Reg scalar(float v) { return fb_.constant(mb_.add_constant("n" + std::to_string(constants_++), DType::kF32, {}, &v, sizeof v)); }

  Reg binary(Reg x) {
    const char* op = std::initializer_list<const char*>{"Add", "Sub", "Mul", "Max"}.begin()[pick(4)];
    const int64_t c = channels_of(x);
    std::vector<Reg> like;
    for (Reg r : pool_)
      if (shape(r) == shape(x)) like.push_back(r);
    for (Reg r : gates_)
      if (channels_of(r) == c) like.push_back(r);
    Reg other = like.empty() ? number(0.7) : like[static_cast<size_t>(pick(static_cast<int>(like.size())))];
    switch (pick(5)) {
      case 0: other = number(-0.7); break;
      case 1: other = constant({c, 1, 1}, -1, 1); break;
      case 2: other = constant({1, c, 1, 1}, -1, 1); break;
      default: break;
    }
    return pick(2) ? call(op, {x, other}) : call(op, {other, x});
  }

  Reg normalise(Reg x) {
    const int64_t c = channels_of(x);
    return call("BatchNormalization", {x, constant({c}, -1, 1), constant({c}, -1, 1), constant({c}, -1, 1), constant({c}, 0.2, 1)}, {{"epsilon", 1e-3}});
  }

  /// [N, C, H, W] as rows of channels, through a product, and back.
  Reg tokens(Reg x) {
    const std::vector<Dim> s = shape(x);
    const int64_t c = channels_of(x), out = one_of({1, 5, 8, 16});
    Reg rows = fb_.transpose(fb_.reshape(x, {s[0], s[1], mb_.dims().mul(s[2], s[3])}), {0, 2, 1});
    if (pick(3) == 0) rows = layer_norm(rows, c);
    Reg y = call("MatMul", {rows, constant({c, out}, -0.5, 0.5)});
    if (pick(2)) y = call("Add", {y, constant({out}, -1, 1)});
    if (pick(2)) y = activate(y);
    if (out == c && pick(2)) y = call("Add", {rows, y});
    return fb_.reshape(fb_.transpose(y, {0, 2, 1}), {s[0], i(out), s[2], s[3]});
  }
  Reg layer_norm(Reg x, int64_t n) {
    const Attributes last{{"axes", std::vector<int64_t>{-1}}};
    const Reg d = call("Sub", {x, call("ReduceMean", {x}, last)});
    const Reg v = call("ReduceMean", {pick(2) ? call("Pow", {d, number(2)}) : call("Mul", {d, d})}, last);
    Reg y = call("Div", {d, call("Sqrt", {call("Add", {v, number(1e-2)})})});
    if (pick(2)) y = call("Mul", {y, constant({n}, -1, 1)});
    if (pick(2)) y = call("Add", {y, constant({n}, -1, 1)});
    return y;
  }
  Reg vectors(Reg x) {
    const int64_t c = channels_of(x), out = one_of({1, 4, 9});
    Reg v = call("ReduceMean", {call("Relu", {call("MaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}})})},
                 {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}});
    const bool transposed = pick(2);
    Reg y = call("Gemm", {v, transposed ? constant({out, c}, -1, 1) : constant({c, out}, -1, 1), constant({out}, -1, 1)}, transposed ? Attributes{{"transB", int64_t{1}}} : Attributes{});
    y = activate(y);
    return fb_.unsqueeze(y, {2, 3});
  }

  void step() {
    const Reg x = any();
    const std::vector<Dim> s = shape(x);
    const int64_t c = channels_of(x);
    switch (pick(20)) {
      case 0: return keep(convolve(x, one_of({1, 3, 8, 16, 19}), 1, 1));
      case 1: return keep(convolve(x, one_of({2, 8, 16}), 3, 1 + pick(2)));
      case 2: return keep(convolve(x, c, 3, 1, true));
      case 3: return keep(activate(convolve(x, one_of({c, 8}), pick(2) ? 1 : 3, 1)));
      case 4: return keep(normalise(pick(3) ? convolve(x, one_of({c, 8}), 3, 1) : x));
      case 5: {
        Reg y = activate(normalise(convolve(x, c, 3, 1)));
        return keep(pick(2) ? call("Add", {x, y}) : call("Add", {y, x}));
      }
      case 6: return keep(binary(x));
      case 7: return keep(activate(x));
      case 8: {
        std::vector<Reg> parts{x};
        for (Reg r : pool_)
          if (shape(r)[0] == s[0] && shape(r)[2] == s[2] && shape(r)[3] == s[3] && parts.size() < 4 && pick(2)) parts.push_back(r);
        const Reg y = call("Concat", parts, {{"axis", int64_t{1}}});
        return keep(channels_of(y) > 40 ? convolve(y, 8, 1, 1) : y);
      }
      case 9: {
        const int64_t from = pick(static_cast<int>(c)), to = from + 1 + pick(static_cast<int>(c - from));
        return keep(fb_.slice(x, {1}, {i(from)}, {i(to)}, {to - from > 2 ? 1 + pick(2) : 1}));
      }
      case 10: {
        Attributes a{{"axes", std::vector<int64_t>{2, 3}}, {"coordinate_transformation_mode", std::string("asymmetric")}};
        if (pick(2)) a.set("mode", std::string("linear"));
        if (s[2] == h_ && s[3] == w_) {  // up and down again: sizes that others have
          const Reg up = call("Resize", {activate(x)}, a, {mb_.dims().mul(i(2), h_), mb_.dims().mul(i(2), w_)});
          return keep(call("AveragePool", {up}, {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}}));
        }
        return keep(call("Resize", {x}, a, {h_, w_}));
      }
      case 11: return keep(call("MaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
      case 12: {
        const Reg g = call("GlobalAveragePool", {activate(x)});
        gates_.push_back(call("Sigmoid", {convolve(call("Relu", {convolve(g, one_of({1, 4}), 1, 1)}), c, 1, 1)}));
        return keep(call("Mul", {x, gates_.back()}));
      }
      case 13: return keep(tokens(x));
      case 14: gates_.push_back(vectors(x)); return;
      case 15: {
        const Reg padded = call("Pad", {x, scalar(0)}, {}, {i(0), i(0), i(1), i(0), i(0), i(0), i(0), i(1)});
        return keep(call("Conv", {padded, constant({4, c, 2, 2}, -0.5, 0.5)}));
      }
      case 16: {
        std::vector<Reg> uses{x, constant({c, 3, 2, 2}, -0.5, 0.5)};
        if (pick(2)) uses.push_back(constant({3}, -1, 1));
        return keep(normalise(call("ConvTranspose", uses, {{"strides", std::vector<int64_t>{2, 2}}})));
      }
      case 17: return keep(call("Softmax", {x}, {{"axis", int64_t{1}}}));
      case 18: return keep(pick(2) ? fb_.copy(x) : call("Identity", {fb_.identity(x)}));
      default: return keep(fb_.transpose(call("Relu", {fb_.transpose(x, {0, 2, 3, 1})}), {0, 3, 1, 2}));
    }
  }
  void straight(int steps) {
    for (; steps > 0; --steps) step();
  }

  TensorType plain(Reg r) {
    TensorType t = fb_.tensor_type(r);
    t.strided = true;  // whatever comes in
    return t;
  }

  void branch() {
    const Reg x = any();
    const auto before = pool_, gates = gates_;
    const TensorType t = plain(x);
    const BlockId a = fb_.new_block(), b = fb_.new_block(), join = fb_.new_block();
    fb_.branch_if(fb_.compare(CalcOp::kGt, n_, i(1)), a, b);
    std::vector<PhiInput> in;
    for (BlockId arm : {a, b}) {
      fb_.set_block(arm);
      pool_ = before, gates_ = gates;
      straight(1 + pick(3));
      Reg y = call("Add", {x, activate(x)});
      for (Reg r : pool_)
        if (shape(r) == t.shape && pick(2)) y = r;
      in.push_back({fb_.current(), y, {}});
      fb_.jump(join);
    }
    fb_.set_block(join);
    pool_ = before, gates_ = gates;
    const Reg phi = fb_.phi({RegKind::kTensor, t});
    for (const PhiInput& p : in) fb_.add_phi_input(phi, p);
    keep(phi);
  }

  void loop() {
    const Reg x = any();
    const TensorType t = plain(x);
    const BlockId before = fb_.current(), head = fb_.new_block(), body = fb_.new_block(), out = fb_.new_block();
    fb_.jump(head);
    fb_.set_block(head);
    const Reg round = fb_.phi({RegKind::kI64, {}});
    fb_.add_phi_input(round, {before, kNoReg, i(0)});
    const Reg carried = fb_.phi({RegKind::kTensor, t});
    fb_.add_phi_input(carried, {before, x, {}});
    fb_.branch_if(fb_.compare(CalcOp::kLt, fb_.dim(round), i(1 + pick(3))), body, out);
    fb_.set_block(body);
    const auto pool = pool_, gates = gates_;
    keep(carried);
    straight(1 + pick(4));
    Reg y = activate(call("Tanh", {carried}));
    for (Reg r : pool_)
      if (shape(r) == t.shape && pick(2)) y = call("Tanh", {r});
    const Dim next = fb_.calc(CalcOp::kAdd, fb_.dim(round), i(1));
    fb_.add_phi_input(round, {fb_.current(), kNoReg, next});
    fb_.add_phi_input(carried, {fb_.current(), y, {}});
    fb_.jump(head);
    fb_.set_block(out);
    pool_ = pool, gates_ = gates;
    keep(carried);
  }

  ModuleBuilder mb_{"network"};
  FunctionBuilder fb_ = mb_.function("main");
  std::mt19937 random_;
  int64_t channels_ = 1;
  int constants_ = 0, calls_ = 0;
  Dim n_, h_, w_;
  std::vector<Reg> pool_, gates_, inputs_;  // [N, C, H', W'], [N, C, 1, 1]
};

}  // namespace msvm::testing
