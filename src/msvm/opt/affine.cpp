// Batch normalisation and per-channel factors and sums: into the weights of the convolution before, else spelt as Mul and Add.
#include <algorithm>
#include <cmath>
#include <optional>

#include "msvm/opt/constants.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

/// x * scale + shift per channel (axis 1); vectors of one value count for all channels.
struct Affine {
  std::vector<double> scale, shift;
};

/// The values of a constant that differs along axis 1 of a tensor of that rank only: one, or one per channel.
std::optional<std::vector<double>> per_channel(const Constant* c, int rank) {
  const float* p = floats(c);
  if (!p) return std::nullopt;
  const auto s = sizes(c->type);
  const int64_t n = element_count(s);
  if (n != 1) {
    if (static_cast<int>(s.size()) > rank || static_cast<int>(s.size()) < rank - 1) return std::nullopt;
    const size_t axis = s.size() - static_cast<size_t>(rank) + 1;
    if (s[axis] != n) return std::nullopt;
  } else if (static_cast<int>(s.size()) > rank) {
    return std::nullopt;
  }
  return std::vector<double>(p, p + n);
}

std::optional<Affine> batch_normalization(ValueGraph& g, const Instr& i) {
  if (i.attrs.get_int("training_mode", 0) != 0 || i.uses.size() != 5) return std::nullopt;
  const float* p[4];
  int64_t n = -1;
  for (size_t k = 0; k < 4; ++k) {
    const Constant* c = g.constant(i.uses[k + 1]);
    p[k] = floats(c);
    if (!p[k] || (n >= 0 && element_count(sizes(c->type)) != n)) return std::nullopt;
    n = element_count(sizes(c->type));
  }
  Affine a;
  const double epsilon = i.attrs.get_float("epsilon", 1e-5);
  for (int64_t c = 0; c < n; ++c) {
    const double s = static_cast<double>(p[0][c]) / std::sqrt(static_cast<double>(p[3][c]) + epsilon);
    a.scale.push_back(s);
    a.shift.push_back(static_cast<double>(p[1][c]) - static_cast<double>(p[2][c]) * s);
  }
  return a;
}

std::optional<Affine> as_affine(ValueGraph& g, const Node& n, Reg x) {
  const Instr& i = n.instr;
  if (i.op != Opcode::kOpCall || !may_fuse(i)) return std::nullopt;
  if (i.text == "BatchNormalization") return i.uses[0] == x ? batch_normalization(g, i) : std::nullopt;
  const bool mul = i.text == "Mul", add = i.text == "Add", sub = i.text == "Sub", div = i.text == "Div";
  if ((!mul && !add && !sub && !div) || (i.uses[0] == x && i.uses[1] == x)) return std::nullopt;
  const Reg c = i.uses[0] == x ? i.uses[1] : i.uses[0];
  if ((sub || div) && i.uses[0] != x) return std::nullopt;
  auto v = per_channel(g.constant(c), g.type(x).rank());
  if (!v) return std::nullopt;
  Affine a{{1.0}, {0.0}};
  for (double& d : *v) d = div ? 1.0 / d : sub ? -d : d;
  (mul || div ? a.scale : a.shift) = std::move(*v);
  return a;
}

bool finite(const std::vector<double>& v) {
  for (double d : v)
    if (!std::isfinite(static_cast<float>(d))) return false;
  return true;
}

double at(const std::vector<double>& v, int64_t c) { return v[v.size() == 1 ? 0 : static_cast<size_t>(c)]; }

class ConvFold {
 public:
  ConvFold(ValueGraph& g, Node& conv) : g_(g), conv_(&conv), transposed_(conv.instr.text == "ConvTranspose") {}

  void run() {
    const Reg out = ValueGraph::output(*conv_);
    if (out == kNoReg || !g_.plain(out) || !may_fuse(conv_->instr)) return;
    const Constant* w = g_.constant(conv_->instr.uses[1]);
    bias_ = conv_->instr.uses.size() > 2 ? conv_->instr.uses[2] : kNoReg;
    if (!floats(w) || (bias_ != kNoReg && !floats(g_.constant(bias_)))) return;
    if (transposed_ && conv_->instr.attrs.get_int("group", 1) != 1) return;
    const auto shape = sizes(w->type);
    channels_ = transposed_ ? shape[1] : shape[0];
    count_ = element_count(shape);
    if (count_ > 0) inner_ = count_ / (transposed_ ? shape[0] : 1) / channels_;
    Affine total{std::vector<double>(static_cast<size_t>(channels_), 1.0), std::vector<double>(static_cast<size_t>(channels_), 0.0)};
    std::vector<Node*> folded;
    for (Reg value = out; g_.single_use(value);) {
      Node* next = g_.readers(value)[0];
      const Reg result = ValueGraph::output(*next);
      if (next->block != conv_->block || result == kNoReg || !g_.plain(result) || g_.type(result).shape != g_.type(out).shape) break;
      auto a = as_affine(g_, *next, value);
      if (!a || !fits(*a) || !finite(a->scale) || !finite(a->shift)) break;
      Affine more = total;
      for (int64_t c = 0; c < channels_; ++c) {
        auto i = static_cast<size_t>(c);
        more.scale[i] *= at(a->scale, c);
        more.shift[i] = more.shift[i] * at(a->scale, c) + at(a->shift, c);
      }
      if (!representable(more)) break;
      total = std::move(more);
      folded.push_back(next);
      value = result;
    }
    if (!folded.empty()) apply(total, shape, folded);
  }

 private:
  bool fits(const Affine& a) const {
    return (a.scale.size() == 1 || static_cast<int64_t>(a.scale.size()) == channels_) && (a.shift.size() == 1 || static_cast<int64_t>(a.shift.size()) == channels_);
  }

  /// Of a weight, by its place.
  size_t channel_of(int64_t i) const { return static_cast<size_t>(i / inner_ % channels_); }

  /// No finite weight or bias leaves the range of a float.
  bool representable(const Affine& a) {
    const float* w = floats(g_.constant(conv_->instr.uses[1]));
    const float* old = bias_ != kNoReg ? floats(g_.constant(bias_)) : nullptr;
    auto overflows = [](float was, double now) { return std::isfinite(was) && !std::isfinite(static_cast<float>(now)); };
    if (largest_.empty()) {
      largest_.assign(static_cast<size_t>(channels_), 0);
      for (int64_t i = 0; i < count_; ++i)
        if (std::isfinite(w[i])) largest_[channel_of(i)] = std::max(largest_[channel_of(i)], std::fabs(w[i]));
    }
    for (size_t c = 0; c < largest_.size(); ++c)
      if (overflows(largest_[c], static_cast<double>(largest_[c]) * a.scale[c]) || overflows(old ? old[c] : 0, (old ? static_cast<double>(old[c]) * a.scale[c] : 0) + a.shift[c])) return false;
    return true;
  }

  void apply(const Affine& a, const std::vector<int64_t>& shape, const std::vector<Node*>& folded) {
    std::vector<const Node*> origins{conv_};
    origins.insert(origins.end(), folded.begin(), folded.end());
    Instr call = conv_->instr;
    call.debug = g_.merge_debug(origins);
    bool scaled = false;
    for (double s : a.scale) scaled |= s != 1.0;
    if (scaled) {
      const Constant* w = g_.constant(conv_->instr.uses[1]);
      Constant c = new_constant(g_, w->name, DType::kF32, shape);
      const float* from = floats(w);
      float* to = mutable_floats(c);
      for (int64_t i = 0; i < count_; ++i) to[i] = static_cast<float>(static_cast<double>(from[i]) * a.scale[channel_of(i)]);
      call.uses[1] = g_.add_constant(std::move(c));
    }
    Constant b = new_constant(g_, bias_ != kNoReg ? g_.constant(bias_)->name : g_.constant(conv_->instr.uses[1])->name + ".bias", DType::kF32, {channels_});
    const float* old = bias_ != kNoReg ? floats(g_.constant(bias_)) : nullptr;
    for (int64_t c = 0; c < channels_; ++c) {
      auto i = static_cast<size_t>(c);
      mutable_floats(b)[i] = static_cast<float>((old ? static_cast<double>(old[i]) * a.scale[i] : 0.0) + a.shift[i]);
    }
    call.uses.resize(3, kNoReg);
    call.uses[2] = g_.add_constant(std::move(b));
    const TensorType type = g_.type(ValueGraph::output(*folded.back()));
    g_.replace_call(*folded.back(), std::move(call), type);
  }

  ValueGraph& g_;
  Node* conv_;
  const bool transposed_;
  Reg bias_ = kNoReg;
  int64_t channels_ = 0, count_ = 0, inner_ = 1;
  std::vector<float> largest_;  // of the finite weights, by channel
};

/// A batch normalisation that found no convolution: Mul and Add, which fuse with what is around them.
void spell_out(ValueGraph& g, Node& n) {
  const Reg out = ValueGraph::output(n);
  if (out == kNoReg || !g.plain(out) || g.type(out).dtype != DType::kF32 || g.type(out).rank() < 2) return;
  if (!may_fuse(n.instr)) return;
  auto a = batch_normalization(g, n.instr);
  if (!a || !finite(a->scale) || !finite(a->shift)) return;
  std::vector<int64_t> shape(static_cast<size_t>(g.type(out).rank()) - 1, 1);
  shape[0] = static_cast<int64_t>(a->scale.size());
  const std::string name = g.function().regs[static_cast<size_t>(out)].name;
  auto constant = [&](const char* what, const std::vector<double>& v) {
    Constant c = new_constant(g, name + what, DType::kF32, shape);
    for (size_t i = 0; i < v.size(); ++i) mutable_floats(c)[i] = static_cast<float>(v[i]);
    return g.add_constant(std::move(c));
  };
  const Reg scale = constant(".scale", a->scale), shift = constant(".shift", a->shift);
  const TensorType type = g.type(out);
  const Reg product = g.emit_call(n, {.op = Opcode::kOpCall, .uses = {n.instr.uses[0], scale}, .text = "Mul", .debug = n.instr.debug}, type);
  g.replace_call(n, {.op = Opcode::kOpCall, .uses = {product, shift}, .text = "Add", .debug = n.instr.debug}, type);
}

}  // namespace

void affine_pass(ValueGraph& g, const PassContext& context) {
  std::vector<Node*> convolutions;
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "Conv") || is_call(&n, "ConvTranspose")) convolutions.push_back(&n);
  });
  for (Node* n : convolutions) ConvFold(g, *n).run();
  if (!context.options.fuse) return;
  g.remove_dead();
  std::vector<Node*> rest;
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "BatchNormalization")) rest.push_back(&n);
  });
  for (Node* n : rest) spell_out(g, *n);
}

}  // namespace msvm::opt
