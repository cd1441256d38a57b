#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Config {
  int cell;  // 0 LSTM, 1 GRU, 2 RNN
  int64_t steps, batch, inputs, hidden;
  std::string direction = "forward";
  bool bias = true, lengths = false, initial = false, peepholes = false, linear_before_reset = false, batch_first = false;
  double clip = 0;
  bool input_forget = false;
};

struct Expected {
  std::vector<double> y, h, c;
};

// The formulas of the standard, one sequence and one step at a time.
Expected expected(const Config& f, const Tensor& x, const Tensor& w, const Tensor& r, const Tensor& b, const Tensor& lengths, const Tensor& h0, const Tensor& c0, const Tensor& p) {
  int64_t gates = f.cell == 0 ? 4 : f.cell == 1 ? 3 : 1, H = f.hidden, D = f.direction == "bidirectional" ? 2 : 1;
  auto xv = x.values(), wv = w.values(), rv = r.values(), bv = b.values(), lv = lengths.values(), hv = h0.values(), cv = c0.values(), pv = p.values();
  Expected e;
  e.y.assign(static_cast<size_t>(f.steps * D * f.batch * H), 0);
  e.h.assign(static_cast<size_t>(D * f.batch * H), 0);
  e.c = e.h;
  auto clip = [&](double v) { return f.clip > 0 ? std::max(-f.clip, std::min(f.clip, v)) : v; };
  for (int64_t d = 0; d < D; ++d)
    for (int64_t n = 0; n < f.batch; ++n) {
      auto state = [&](int64_t j) { return static_cast<size_t>(f.batch_first ? (n * D + d) * H + j : (d * f.batch + n) * H + j); };
      std::vector<double> h(static_cast<size_t>(H)), c(h);
      for (int64_t j = 0; f.initial && j < H; ++j) h[static_cast<size_t>(j)] = hv[state(j)], c[static_cast<size_t>(j)] = cv[state(j)];
      int64_t len = f.lengths ? static_cast<int64_t>(lv[static_cast<size_t>(n)]) : f.steps;
      bool reverse = d == 1 || f.direction == "reverse";
      for (int64_t s = 0; s < len; ++s) {
        int64_t t = reverse ? len - 1 - s : s;
        auto in = [&](int64_t g, int64_t j) {
          double v = f.bias ? bv[static_cast<size_t>(d * 2 * gates * H + g * H + j)] : 0;
          for (int64_t i = 0; i < f.inputs; ++i)
            v += xv[static_cast<size_t>((f.batch_first ? n * f.steps + t : t * f.batch + n) * f.inputs + i)] * wv[static_cast<size_t>(((d * gates + g) * H + j) * f.inputs + i)];
          return v;
        };
        auto back = [&](int64_t g, int64_t j, const std::vector<double>& from) {
          double v = f.bias ? bv[static_cast<size_t>(d * 2 * gates * H + (gates + g) * H + j)] : 0;
          for (int64_t i = 0; i < H; ++i) v += from[static_cast<size_t>(i)] * rv[static_cast<size_t>(((d * gates + g) * H + j) * H + i)];
          return v;
        };
        auto peep = [&](int64_t g, int64_t j, double cell) { return f.peepholes ? pv[static_cast<size_t>(d * 3 * H + g * H + j)] * cell : 0; };
        std::vector<double> next(h), cell(c);
        std::vector<double> reset(h);
        for (int64_t j = 0; f.cell == 1 && j < H; ++j) reset[static_cast<size_t>(j)] *= sigmoid(clip(in(1, j) + back(1, j, h)));
        for (int64_t j = 0; j < H; ++j) {
          size_t k = static_cast<size_t>(j);
          if (f.cell == 0) {
            double i = sigmoid(clip(in(0, j) + back(0, j, h) + peep(0, j, c[k])));
            double forget = f.input_forget ? 1 - i : sigmoid(clip(in(2, j) + back(2, j, h) + peep(2, j, c[k])));
            cell[k] = forget * c[k] + i * std::tanh(clip(in(3, j) + back(3, j, h)));
            next[k] = sigmoid(clip(in(1, j) + back(1, j, h) + peep(1, j, cell[k]))) * std::tanh(cell[k]);
          } else if (f.cell == 1) {
            double z = sigmoid(clip(in(0, j) + back(0, j, h))), q = sigmoid(clip(in(1, j) + back(1, j, h)));
            double candidate = std::tanh(clip(in(2, j) + (f.linear_before_reset ? q * back(2, j, h) : back(2, j, reset))));
            next[k] = (1 - z) * candidate + z * h[k];
          } else {
            next[k] = std::tanh(clip(in(0, j) + back(0, j, h)));
          }
        }
        h = next, c = cell;
        for (int64_t j = 0; j < H; ++j) e.y[static_cast<size_t>((f.batch_first ? (n * f.steps + t) * D + d : (t * D + d) * f.batch + n) * H + j)] = h[static_cast<size_t>(j)];
      }
      for (int64_t j = 0; j < H; ++j) e.h[state(j)] = h[static_cast<size_t>(j)], e.c[state(j)] = c[static_cast<size_t>(j)];
    }
  return e;
}

TEST(Recurrent, MatchesTheFormulas) {
  std::vector<Config> list;
  for (int cell = 0; cell < 3; ++cell) {
    list.push_back({cell, 5, 1, 3, 4});
    list.push_back({cell, 4, 3, 5, 7, "reverse", true, true, true});
    list.push_back({cell, 6, 2, 16, 17, "bidirectional", true, true, true, cell == 0});
    list.push_back({cell, 3, 2, 4, 5, "bidirectional", false, false, false, false, true, true});
    list.push_back({cell, 3, 2, 4, 5, "forward", true, true, true, cell == 0, cell == 1, true, 0.3});
    list.push_back({cell, 0, 2, 3, 4, "forward", true, false, true});
    list.push_back({cell, 2, 0, 3, 4});
    list.push_back({cell, 3, 1, 64, 128, "forward", true, false, true, false, true});
  }
  list.push_back({0, 3, 2, 3, 4, "forward", true, false, false, false, false, false, 0, true});
  for (int cell = 0; cell < 2; ++cell) {
    list.push_back({cell, 3, 8, 10, 203, "forward", true, false, true, false, true});  // a step's hidden values are shared by threads
    list.push_back({cell, 5, 1, 9, 33, "bidirectional", true, true, true, false, true});
    list.push_back({cell, 4, 3, 16, 16, "bidirectional", true, false, true, false, true, true});
  }
  const char* names[][3] = {{"ref_lstm", "avx512_lstm_f32_packed", "avx2_lstm_f32_packed"}, {"ref_gru", "avx512_gru_f32_packed", "avx2_gru_f32_packed"}, {"ref_rnn", "avx512_rnn_f32_packed", "avx2_rnn_f32_packed"}};
  for (const Config& f : list) {
    int64_t gates = f.cell == 0 ? 4 : f.cell == 1 ? 3 : 1, H = f.hidden, D = f.direction == "bidirectional" ? 2 : 1;
    Tensor x = random_tensor(f.batch_first ? Shape{f.batch, f.steps, f.inputs} : Shape{f.steps, f.batch, f.inputs}, 1), w = random_tensor({D, gates * H, f.inputs}, 2, DType::kF32, -.5, .5), r = random_tensor({D, gates * H, H}, 3, DType::kF32, -.5, .5);
    Shape state = f.batch_first ? Shape{f.batch, D, H} : Shape{D, f.batch, H};
    Tensor b = random_tensor({D, 2 * gates * H}, 4), h0 = random_tensor(state, 5), c0 = random_tensor(state, 6), p = random_tensor({D, 3 * H}, 7), lengths(DType::kI32, {f.batch});
    std::vector<double> l;
    for (int64_t n = 0; n < f.batch; ++n) l.push_back(static_cast<double>(std::max<int64_t>(0, f.steps - n)));
    lengths.set(l);
    Expected want = expected(f, x, w, r, b, lengths, h0, c0, p);
    Attributes a{{"direction", f.direction}, {"hidden_size", H}, {"layout", int64_t{f.batch_first}}, {"linear_before_reset", int64_t{f.linear_before_reset}}, {"input_forget", int64_t{f.input_forget}}};
    if (f.clip > 0) a.set("clip", f.clip);
    for (const char* name : names[f.cell])
      for (int threads : {1, 2}) {
        if (!can_run(kernel(name))) continue;
        Tensor y(DType::kF32, f.batch_first ? Shape{f.batch, f.steps, D, H} : Shape{f.steps, D, f.batch, H}), h(DType::kF32, state), c(DType::kF32, state), xs = strided(x), ws = strided(w);
        Call call{{&xs, threads == 1 ? &w : &ws, &r, f.bias ? &b : nullptr, f.lengths ? &lengths : nullptr, f.initial ? &h0 : nullptr}, {&y, &h}, a};
        if (f.cell == 0) {
          call.inputs.push_back(f.initial ? &c0 : nullptr);
          call.inputs.push_back(f.peepholes ? &p : nullptr);
          call.outputs.push_back(&c);
        }
        call.threads = threads;
        call.const_inputs = threads == 1 ? 6 : 0;
        for (int twice = 0; twice < 2; ++twice) {
          Status s = call.run(name);
          ASSERT_TRUE(s.ok()) << s.message();
          // Within 2e-6 per gate, over a few steps.
          EXPECT_LE(difference(y.values(), want.y), 1e-5) << name << " " << f.direction;
          EXPECT_LE(difference(h.values(), want.h), 1e-5) << name;
          if (f.cell == 0) {
            EXPECT_LE(difference(c.values(), want.c), 1e-5) << name;
          }
        }
        Call last = {{&x, &w, &r}, {nullptr, &h}, a};
        EXPECT_TRUE(last.run(name).ok());
      }
  }
}

TEST(Recurrent, ThreadsChangeNothing) {
  for (auto [name, gates, both] : std::vector<std::tuple<const char*, int64_t, bool>>{{"avx512_lstm_f32_packed", 4, false}, {"avx512_gru_f32_packed", 3, false}, {"avx2_lstm_f32_packed", 4, false}, {"avx512_lstm_f32_packed", 4, true}}) {
    if (!can_run(kernel(name))) continue;
    const int64_t d = both ? 2 : 1, hidden = 250;
    Tensor x = random_tensor({4, 6, 40}, 1), w = random_tensor({d, gates * hidden, 40}, 2), r = random_tensor({d, gates * hidden, hidden}, 3), one(DType::kF32, {4, d, 6, hidden}), other(DType::kF32, {4, d, 6, hidden});
    Attributes attrs{{"linear_before_reset", int64_t{1}}, {"direction", std::string(both ? "bidirectional" : "forward")}};
    for (int threads : {1, 2, 3}) {
      Call call{{&x, &w, &r}, {threads == 1 ? &one : &other}, attrs};
      call.threads = threads;
      call.const_inputs = 6;
      ASSERT_TRUE(call.run(name).ok());
      if (threads > 1) { EXPECT_TRUE(same_bits(one, other)) << name << threads; }
    }
  }
}

TEST(Recurrent, ActivationsAndErrors) {
  Tensor x = tensor(DType::kF32, {1, 1, 1}, {2}), w = tensor(DType::kF32, {1, 1, 1}, {1}), r = tensor(DType::kF32, {1, 1, 1}, {0}), y(DType::kF32, {1, 1, 1, 1}), h(DType::kF32, {1, 1, 1});
  auto value = [&](std::string name, std::vector<double> alpha, std::vector<double> beta) {
    Call call{{&x, &w, &r}, {&y, &h}, {{"activations", std::vector<std::string>{name}}, {"activation_alpha", alpha}, {"activation_beta", beta}}};
    EXPECT_TRUE(call.run("ref_rnn").ok());
    return y.values()[0];
  };
  EXPECT_NEAR(value("Affine", {3}, {1}), 7, 1e-6);
  EXPECT_NEAR(value("Relu", {}, {}), 2, 1e-6);
  EXPECT_NEAR(value("ScaledTanh", {2}, {0.5}), 2 * std::tanh(1.0), 1e-6);
  EXPECT_NEAR(value("HardSigmoid", {}, {}), 0.9, 1e-6);
  EXPECT_NEAR(value("Softsign", {}, {}), 2.0 / 3, 1e-6);
  EXPECT_NEAR(value("Softplus", {}, {}), std::log1p(std::exp(2.0)), 1e-6);
  EXPECT_NEAR(value("ThresholdedRelu", {3}, {}), 0, 1e-6);
  Call unknown{{&x, &w, &r}, {&y, &h}, {{"activations", std::vector<std::string>{"Nope"}}}};
  EXPECT_EQ(unknown.run("ref_rnn").code(), StatusCode::kUnsupported);
  Tensor lengths = tensor(DType::kI32, {1}, {2});
  Call beyond{{&x, &w, &r, nullptr, &lengths}, {&y, &h}};
  EXPECT_EQ(beyond.run("ref_rnn").code(), StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace msvm
