// LSTM, GRU and RNN: one walk over time for the reference (any float) and the f32 kernels (packed products, vector activations).
// Declared order of a gate: (chain over inputs + biases) + chain over hidden values.
#include <algorithm>
#include <cmath>
#include <string>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/fma_chain.h"
#include "msvm/kernels/panel_gemm.h"
#include "msvm/kernels/rnn.h"
#include "msvm/kernels/site.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {
namespace {
using namespace rnn;

struct ActivationRow {
  std::string_view name;
  Act kind;
  bool has_alpha, has_beta;
  double alpha, beta;
};
constexpr ActivationRow kActivations[] = {
    {"relu", Act::kRelu, false, false, 0, 0},
    {"tanh", Act::kTanh, false, false, 0, 0},
    {"sigmoid", Act::kSigmoid, false, false, 0, 0},
    {"affine", Act::kAffine, true, true, 1, 0},
    {"leakyrelu", Act::kLeakyRelu, true, false, 0.01, 0},
    {"thresholdedrelu", Act::kThresholdedRelu, true, false, 1, 0},
    {"scaledtanh", Act::kScaledTanh, true, true, 1, 1},
    {"hardsigmoid", Act::kHardSigmoid, true, true, 0.2, 0.5},
    {"elu", Act::kElu, true, false, 1, 0},
    {"softsign", Act::kSoftsign, false, false, 0, 0},
    {"softplus", Act::kSoftplus, false, false, 0, 0},
};

template <class T>
T apply(const Activation& a, T x) {
  const T alpha = static_cast<T>(a.alpha), beta = static_cast<T>(a.beta);
  switch (a.kind) {
    case Act::kRelu: return x > 0 ? x : T{0};
    case Act::kTanh: return std::tanh(x);
    case Act::kSigmoid: return 1 / (1 + std::exp(-x));
    case Act::kAffine: return alpha * x + beta;
    case Act::kLeakyRelu: return x >= 0 ? x : alpha * x;
    case Act::kThresholdedRelu: return x > alpha ? x : T{0};
    case Act::kScaledTanh: return alpha * std::tanh(beta * x);
    case Act::kHardSigmoid: return std::clamp(alpha * x + beta, T{0}, T{1});
    case Act::kElu: return x >= 0 ? x : alpha * (std::exp(x) - 1);
    case Act::kSoftsign: return x / (1 + std::fabs(x));
    case Act::kSoftplus: return x > 20 ? x : std::log1p(std::exp(x));
  }
  return x;
}

Status parse_activations(const KernelCall& call, Shape& s) {
  const int per_direction = s.cell == Cell::kLstm ? 3 : s.cell == Cell::kGru ? 2 : 1;
  const auto& names = call.attrs.get_strings("activations");
  const auto &alphas = call.attrs.get_floats("activation_alpha"), &betas = call.attrs.get_floats("activation_beta");
  if (!names.empty() && static_cast<int64_t>(names.size()) != per_direction * s.directions)
    return invalid_argument(std::string(call.op.name) + ": " + std::to_string(per_direction * s.directions) + " activations are needed, not " + std::to_string(names.size()));
  size_t next_alpha = 0, next_beta = 0;
  for (int64_t d = 0; d < s.directions; ++d)
    for (int i = 0; i < per_direction; ++i) {
      std::string name = s.cell != Cell::kRnn && i == 0 ? "sigmoid" : "tanh";
      if (!names.empty()) {
        name = names[static_cast<size_t>(d * per_direction + i)];
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c); });
      }
      const auto* found = std::find_if(std::begin(kActivations), std::end(kActivations), [&](const ActivationRow& r) { return r.name == name; });
      if (found == std::end(kActivations)) return unsupported(std::string(call.op.name) + ": unknown activation " + name);
      Activation& a = s.activations[d][i];
      a = {found->kind, found->alpha, found->beta};
      if (found->has_alpha && next_alpha < alphas.size()) a.alpha = alphas[next_alpha++];
      if (found->has_beta && next_beta < betas.size()) a.beta = betas[next_beta++];
    }
  return {};
}

bool has_shape(const TensorMeta& m, std::initializer_list<int64_t> shape) { return std::equal(shape.begin(), shape.end(), m.dims().begin(), m.dims().end()); }

}  // namespace

Status rnn::describe(const KernelCall& call, Cell cell, Shape& s) {
  const std::string op(call.op.name);
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1], &r = *call.inputs[2];
  if (x.rank != 3 || w.rank != 3 || r.rank != 3) return shape_mismatch(op + ": X, W and R have three axes");
  s.cell = cell;
  s.batch_first = call.attrs.get_int("layout", 0) != 0;
  std::string_view direction = call.attrs.get_string("direction", "forward");
  s.directions = direction == "bidirectional" ? 2 : 1;
  s.first_reversed = direction == "reverse";
  s.steps = x.shape[s.batch_first ? 1 : 0];
  s.batch = x.shape[s.batch_first ? 0 : 1];
  s.inputs = x.shape[2];
  s.hidden = r.shape[2];
  s.linear_before_reset = call.attrs.get_int("linear_before_reset", 0) != 0;
  s.input_forget = call.attrs.get_int("input_forget", 0) != 0;
  s.clips = call.attrs.has("clip");
  s.clip = call.attrs.get_float("clip", 0);
  const int64_t g = s.gates() * s.hidden, d = s.directions;
  if (!has_shape(w, {d, g, s.inputs}) || !has_shape(r, {d, g, s.hidden})) return shape_mismatch(op + ": W " + to_string(w) + " or R " + to_string(r) + " doesn't fit X and the direction");
  auto check = [&](size_t i, std::initializer_list<int64_t> shape) -> Status {
    const TensorMeta* m = input_or_null(call, i);
    if (m && !has_shape(*m, shape)) return shape_mismatch(op + ": input " + std::to_string(i) + " has a wrong shape " + to_string(*m));
    return {};
  };
  MSVM_RETURN_IF_ERROR(check(3, {d, 2 * g}));
  MSVM_RETURN_IF_ERROR(check(4, {s.batch}));
  for (size_t i = 5; i <= 6; ++i) {
    if (s.batch_first) {
      MSVM_RETURN_IF_ERROR(check(i, {s.batch, d, s.hidden}));
    } else {
      MSVM_RETURN_IF_ERROR(check(i, {d, s.batch, s.hidden}));
    }
  }
  MSVM_RETURN_IF_ERROR(check(7, {d, 3 * s.hidden}));
  if (!sane_size({s.steps, s.batch, d * s.gates(), s.hidden})) return resource_limit(op + ": " + to_string(x) + " has too many steps for gates of " + to_string(r));
  int64_t y_size = s.steps * d * s.batch * s.hidden, state_size = d * s.batch * s.hidden;
  for (size_t i = 0; i < call.outputs.size(); ++i)
    if (call.outputs[i] && call.outputs[i]->elements() != (i == 0 ? y_size : state_size)) return shape_mismatch(op + ": output " + std::to_string(i) + " has a wrong shape");
  return parse_activations(call, s);
}

namespace {

// Products and activations of the reference.
template <class T>
class PlainMath {
 public:
  PlainMath(KernelCall& call, const Shape& s) : call_(call), s_(s) {}
  Status open() {
    MSVM_ASSIGN_OR_RETURN(w_, dense_input<T>(call_, *call_.inputs[1]));
    MSVM_ASSIGN_OR_RETURN(r_, dense_input<T>(call_, *call_.inputs[2]));
    return {};
  }
  // out [rows, gates * hidden] = x [rows, inputs] by W^T.
  Status project(int64_t d, const T* x, int64_t rows, T* out) const {
    const int64_t n = s_.gates() * s_.hidden;
    const T* w = w_ + d * n * s_.inputs;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < n; ++j) out[i * n + j] = fma_chain(T{}, x + i * s_.inputs, 1, w + j * s_.inputs, 1, s_.inputs);
    return {};
  }
  // out [batch, count * hidden] = h by the transposed gates [first, first + count) of R.
  Status recur(int64_t d, int64_t first, int64_t count, const T* h, T* out) const {
    const int64_t n = count * s_.hidden;
    const T* r = r_ + (d * s_.gates() + first) * s_.hidden * s_.hidden;
    for (int64_t b = 0; b < s_.batch; ++b)
      for (int64_t j = 0; j < n; ++j) out[b * n + j] = fma_chain(T{}, h + b * s_.hidden, 1, r + j * s_.hidden, 1, s_.hidden);
    return {};
  }
  void activate(const Activation& a, T* v, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) v[i] = apply(a, v[i]);
  }

 private:
  KernelCall& call_;
  const Shape& s_;
  const T *w_ = nullptr, *r_ = nullptr;
};

// The same on packed panels.
class PackedMath {
 public:
  PackedMath(KernelCall& call, const Shape& s, Isa isa) : call_(call), s_(s), v_(*vector_kernels(isa)), g_(*gemm_kernels(isa)) {}
  Status open() {
    const int64_t n = s_.gates() * s_.hidden, h = s_.hidden;
    MSVM_ASSIGN_OR_RETURN(const float* w, dense_input<float>(call_, *call_.inputs[1]));
    MSVM_ASSIGN_OR_RETURN(const float* r, dense_input<float>(call_, *call_.inputs[2]));
    w_size_ = panels_size(s_.inputs, n);
    MSVM_ASSIGN_OR_RETURN(w_, packed_input(call_, 1, 1, w_size_ * s_.directions, [&](float* to) {
      for (int64_t d = 0; d < s_.directions; ++d) pack_all_panels(g_, call_.workers, w + d * n * s_.inputs, 1, s_.inputs, s_.inputs, n, to + d * w_size_);
    }));
    // GRU needs its last gate apart from the first two.
    parts_ = s_.cell == Cell::kGru ? 2 : 1;
    int64_t first_gates = s_.cell == Cell::kGru ? 2 : s_.gates();
    r_first_ = panels_size(h, first_gates * h);
    r_size_ = r_first_ + (parts_ == 2 ? panels_size(h, h) : 0);
    MSVM_ASSIGN_OR_RETURN(r_, packed_input(call_, 2, 2, r_size_ * s_.directions, [&](float* to) {
      for (int64_t d = 0; d < s_.directions; ++d) {
        const float* from = r + d * n * h;
        pack_all_panels(g_, call_.workers, from, 1, h, h, first_gates * h, to + d * r_size_);
        if (parts_ == 2) pack_all_panels(g_, call_.workers, from + 2 * h * h, 1, h, h, h, to + d * r_size_ + r_first_);
      }
    }));
    return {};
  }
  Status project(int64_t d, const float* x, int64_t rows, float* out) const { return multiply(x, rows, s_.inputs, w_ + d * w_size_, s_.gates() * s_.hidden, out); }
  Status recur(int64_t d, int64_t first, int64_t count, const float* h, float* out) const {
    return multiply(h, s_.batch, s_.hidden, r_ + d * r_size_ + (first > 0 ? r_first_ : 0), count * s_.hidden, out);
  }
  void activate(const Activation& a, float* v, int64_t n) const {
    if (a.kind == Act::kSigmoid) return v_.sigmoid(v, n, v);
    if (a.kind == Act::kTanh) return v_.tanh(v, n, v);
    for (int64_t i = 0; i < n; ++i) v[i] = apply(a, v[i]);
  }

 private:
  Status multiply(const float* a, int64_t m, int64_t k, const float* panels, int64_t n, float* out) const {
    PanelGemm t;
    t.m = m, t.n = n, t.k = k;
    t.a = a, t.a_row = k;
    t.packed_b(panels);
    t.c = out, t.c_row = n;
    return gemm_batch(call_, g_, 1, m, n, k, [&](int64_t) { return t; });
  }

  KernelCall& call_;
  const Shape& s_;
  const VectorKernels& v_;
  const GemmKernels& g_;
  const float *w_ = nullptr, *r_ = nullptr;
  int64_t w_size_ = 0, r_first_ = 0, r_size_ = 0, parts_ = 1;
};

template <class T>
void clip(const Shape& s, T* v, int64_t n) {
  if (!s.clips) return;
  const T c = static_cast<T>(std::fabs(s.clip));
  for (int64_t i = 0; i < n; ++i) v[i] = v[i] > c ? c : v[i] < -c ? -c : v[i];
}

// Walks one direction over time. `gates` holds x W^T for all rows; `length[b]` steps count for batch row b.
template <class T, class Math>
class Walk {
 public:
  Walk(const Shape& s, const Math& math, int64_t d, const T* bias, const T* peepholes) : s_(s), math_(math), d_(d), bias_(bias), p_(peepholes) {}

  // Scratch: products [batch, gates * hidden], and [batch, hidden].
  Status run(T* gates, const int64_t* length, T* h, T* c, T* y, T* products, T* reset) const {
    const int64_t n = s_.gates() * s_.hidden;
    const bool reversed = d_ == 1 || s_.first_reversed;
    for (int64_t step = 0; step < s_.steps; ++step) {
      MSVM_RETURN_IF_ERROR(math_.recur(d_, 0, s_.cell == Cell::kGru ? 2 : s_.gates(), h, products));
      if (s_.cell == Cell::kGru) {
        MSVM_RETURN_IF_ERROR(gru(gates, length, step, reversed, h, y, products, reset));
        continue;
      }
      for (int64_t b = 0; b < s_.batch; ++b) {
        int64_t t = time(step, length[b], reversed);
        T* hb = h + b * s_.hidden;
        if (step < length[b]) {
          T* g = gates + s_.row(t, b) * n;
          for (int64_t j = 0; j < n; ++j) g[j] += products[b * n + j];
          if (s_.cell == Cell::kLstm) lstm(g, hb, c + b * s_.hidden);
          else simple(g, hb);
        }
        emit(t, b, step < length[b], hb, y);
      }
    }
    return {};
  }

 private:
  static int64_t time(int64_t step, int64_t length, bool reversed) { return reversed && step < length ? length - 1 - step : step; }
  void emit(int64_t t, int64_t b, bool active, const T* h, T* y) const {
    if (!y) return;
    T* to = y + s_.y_at(t, d_, b);
    if (active) std::copy(h, h + s_.hidden, to);
    else std::fill(to, to + s_.hidden, T{});
  }
  void simple(T* g, T* h) const {
    clip(s_, g, s_.hidden);
    math_.activate(s_.activations[d_][0], g, s_.hidden);
    std::copy(g, g + s_.hidden, h);
  }
  void lstm(T* g, T* h, T* c) const {
    const int64_t n = s_.hidden;
    const Activation* act = s_.activations[d_];
    T *i = g, *o = g + n, *f = g + 2 * n, *z = g + 3 * n;
    if (p_)
      for (int64_t j = 0; j < n; ++j) {
        i[j] += p_[j] * c[j];
        f[j] += p_[2 * n + j] * c[j];
      }
    clip(s_, i, n);
    math_.activate(act[0], i, n);
    if (s_.input_forget) {
      for (int64_t j = 0; j < n; ++j) f[j] = 1 - i[j];
    } else {
      clip(s_, f, n);
      math_.activate(act[0], f, n);
    }
    clip(s_, z, n);
    math_.activate(act[1], z, n);
    for (int64_t j = 0; j < n; ++j) {
      c[j] = f[j] * c[j] + i[j] * z[j];
      if (p_) o[j] += p_[n + j] * c[j];
      h[j] = c[j];
    }
    clip(s_, o, n);
    math_.activate(act[0], o, n);
    math_.activate(act[2], h, n);
    for (int64_t j = 0; j < n; ++j) h[j] = o[j] * h[j];
  }
  Status gru(T* gates, const int64_t* length, int64_t step, bool reversed, T* h, T* y, T* products, T* reset) const {
    const int64_t n = s_.hidden;
    const Activation* act = s_.activations[d_];
    const T* rb = bias_ ? bias_ + 5 * n : nullptr;  // the recurrent bias of the last gate
    for (int64_t b = 0; b < s_.batch; ++b) {
      if (step >= length[b]) {
        std::copy(h + b * n, h + (b + 1) * n, reset + b * n);
        continue;
      }
      T* g = gates + s_.row(time(step, length[b], reversed), b) * 3 * n;
      for (int64_t j = 0; j < 2 * n; ++j) g[j] += products[b * 2 * n + j];
      clip(s_, g, 2 * n);
      math_.activate(act[0], g, 2 * n);
      for (int64_t j = 0; j < n; ++j) reset[b * n + j] = s_.linear_before_reset ? h[b * n + j] : g[n + j] * h[b * n + j];
    }
    MSVM_RETURN_IF_ERROR(math_.recur(d_, 2, 1, reset, products));
    for (int64_t b = 0; b < s_.batch; ++b) {
      int64_t t = time(step, length[b], reversed);
      T* hb = h + b * n;
      if (step < length[b]) {
        T* g = gates + s_.row(t, b) * 3 * n;
        T* z = g + 2 * n;
        for (int64_t j = 0; j < n; ++j) {
          T r = products[b * n + j];
          z[j] += s_.linear_before_reset ? g[n + j] * (rb ? r + rb[j] : r) : r;
        }
        clip(s_, z, n);
        math_.activate(act[1], z, n);
        for (int64_t j = 0; j < n; ++j) hb[j] = (1 - g[j]) * z[j] + g[j] * hb[j];
      }
      emit(t, b, step < length[b], hb, y);
    }
    return {};
  }

  const Shape& s_;
  const Math& math_;
  const int64_t d_;
  const T* bias_;
  const T* p_;
};

template <class T, class Math>
Status run_recurrent(KernelCall& call, const Shape& s, Math& math) {
  MSVM_RETURN_IF_ERROR(math.open());
  const int64_t n = s.gates() * s.hidden, rows = s.steps * s.batch, state = s.batch * s.hidden;
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, *call.inputs[0]));
  const T *bias = nullptr, *peepholes = nullptr;
  if (const TensorMeta* m = input_or_null(call, 3)) {
    MSVM_ASSIGN_OR_RETURN(bias, dense_input<T>(call, *m));
  }
  if (const TensorMeta* m = input_or_null(call, 7)) {
    MSVM_ASSIGN_OR_RETURN(peepholes, dense_input<T>(call, *m));
  }
  MSVM_ASSIGN_OR_RETURN(int64_t* length, scratch_array<int64_t>(call.memory, s.batch));
  std::fill(length, length + s.batch, s.steps);
  if (const TensorMeta* m = input_or_null(call, 4)) {
    read_elements(*m, length);
    for (int64_t b = 0; b < s.batch; ++b)
      if (length[b] < 0 || length[b] > s.steps) return out_of_range(std::string(call.op.name) + ": sequence length " + std::to_string(length[b]) + " is outside [0, " + std::to_string(s.steps) + "]");
  }
  DenseOutput<T> y, y_h, y_c;
  MSVM_RETURN_IF_ERROR(y.open(call, output_or_null(call, 0)));
  MSVM_RETURN_IF_ERROR(y_h.open(call, output_or_null(call, 1)));
  MSVM_RETURN_IF_ERROR(y_c.open(call, output_or_null(call, 2)));
  MSVM_ASSIGN_OR_RETURN(T * gates, scratch_array<T>(call.memory, rows * n));
  MSVM_ASSIGN_OR_RETURN(T * products, scratch_array<T>(call.memory, s.batch * n));
  MSVM_ASSIGN_OR_RETURN(T * states, scratch_array<T>(call.memory, 3 * state));
  T *h = states, *c = states + state, *reset = states + 2 * state;
  const T *initial_h = nullptr, *initial_c = nullptr;
  if (const TensorMeta* m = input_or_null(call, 5)) {
    MSVM_ASSIGN_OR_RETURN(initial_h, dense_input<T>(call, *m));
  }
  if (const TensorMeta* m = input_or_null(call, 6)) {
    MSVM_ASSIGN_OR_RETURN(initial_c, dense_input<T>(call, *m));
  }
  for (int64_t d = 0; d < s.directions; ++d) {
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t j = 0; j < s.hidden; ++j) {
        h[b * s.hidden + j] = initial_h ? initial_h[s.state_at(d, b) + j] : T{};
        c[b * s.hidden + j] = initial_c ? initial_c[s.state_at(d, b) + j] : T{};
      }
    MSVM_RETURN_IF_ERROR(math.project(d, x, rows, gates));
    const T* both = bias ? bias + d * 2 * n : nullptr;
    if (both) {
      // The recurrent bias joins here, but for the gate that GRU resets after the product.
      int64_t joined = s.cell == Cell::kGru && s.linear_before_reset ? 2 * s.hidden : n;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < joined; ++j) gates[i * n + j] += both[j] + both[n + j];
        for (int64_t j = joined; j < n; ++j) gates[i * n + j] += both[j];
      }
    }
    Walk<T, Math> walk(s, math, d, both, peepholes ? peepholes + d * 3 * s.hidden : nullptr);
    MSVM_RETURN_IF_ERROR(walk.run(gates, length, h, c, y.data(), products, reset));
    for (int64_t b = 0; b < s.batch; ++b) {
      if (y_h) std::copy(h + b * s.hidden, h + (b + 1) * s.hidden, y_h.data() + s.state_at(d, b));
      if (y_c) std::copy(c + b * s.hidden, c + (b + 1) * s.hidden, y_c.data() + s.state_at(d, b));
    }
  }
  if (y) y.commit();
  if (y_h) y_h.commit();
  if (y_c) y_c.commit();
  return {};
}

template <Cell kCell>
Status ref_recurrent(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) -> Status {
    using T = decltype(zero);
    Shape s;
    MSVM_RETURN_IF_ERROR(describe(call, kCell, s));
    PlainMath<T> math(call, s);
    return run_recurrent<T>(call, s, math);
  });
}

template <Isa kIsa, Cell kCell>
Status fast_recurrent(KernelCall& call) {
  Shape s;
  MSVM_RETURN_IF_ERROR(describe(call, kCell, s));
  if (is_plain(call, s)) return run_plain(call, s, kIsa);
  PackedMath math(call, s, kIsa);
  return run_recurrent<float>(call, s, math);
}

double recurrent_work(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1], &r = *call.inputs[2];
  if (x.rank != 3) return 0;
  return static_cast<double>(x.shape[0] * x.shape[1]) * static_cast<double>(w.elements() + r.elements());
}

}  // namespace

void add_rnn_kernels(KernelList& list) {
  KernelInfo k{.dtypes = kFloats, .work = recurrent_work, .default_ns_per_work = 1.2};
  auto add = [&](std::string_view name, std::string_view op, KernelFn run) {
    k.name = name, k.op = op, k.run = run;
    list.push_back(k);
  };
  add("ref_lstm", "LSTM", ref_recurrent<Cell::kLstm>);
  add("ref_gru", "GRU", ref_recurrent<Cell::kGru>);
  add("ref_rnn", "RNN", ref_recurrent<Cell::kRnn>);
  k.dtypes = bit(DType::kF32), k.strict_order = false, k.packed_inputs = 0b110, k.default_ns_per_work = 0.06, k.default_overhead_ns = 1000, k.isa = Isa::kAvx512;
  add("avx512_lstm_f32_packed", "LSTM", fast_recurrent<Isa::kAvx512, Cell::kLstm>);
  add("avx512_gru_f32_packed", "GRU", fast_recurrent<Isa::kAvx512, Cell::kGru>);
  add("avx512_rnn_f32_packed", "RNN", fast_recurrent<Isa::kAvx512, Cell::kRnn>);
  k.isa = Isa::kAvx2;
  add("avx2_lstm_f32_packed", "LSTM", fast_recurrent<Isa::kAvx2, Cell::kLstm>);
  add("avx2_gru_f32_packed", "GRU", fast_recurrent<Isa::kAvx2, Cell::kGru>);
  add("avx2_rnn_f32_packed", "RNN", fast_recurrent<Isa::kAvx2, Cell::kRnn>);
}

}  // namespace msvm
