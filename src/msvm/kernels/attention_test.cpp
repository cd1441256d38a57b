#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

// Scores and result of [B, H, S, D] by the formula; mask(b, h, i, j) is added.
std::vector<double> expected(const Tensor& q, const Tensor& k, const Tensor& v, double softcap, const std::function<double(int64_t, int64_t, int64_t, int64_t)>& mask) {
  Shape qs = q.shape(), ks = k.shape(), vs = v.shape();
  auto qv = q.values(), kv = k.values(), vv = v.values();
  std::vector<double> out;
  for (int64_t b = 0; b < qs[0]; ++b)
    for (int64_t h = 0; h < qs[1]; ++h)
      for (int64_t i = 0; i < qs[2]; ++i) {
        int64_t kh = h / (qs[1] / ks[1]);
        std::vector<double> p;
        double sum = 0;
        for (int64_t j = 0; j < ks[2]; ++j) {
          double s = 0;
          for (int64_t d = 0; d < qs[3]; ++d) s += qv[static_cast<size_t>(((b * qs[1] + h) * qs[2] + i) * qs[3] + d)] * kv[static_cast<size_t>(((b * ks[1] + kh) * ks[2] + j) * ks[3] + d)];
          s /= std::sqrt(static_cast<double>(qs[3]));
          if (softcap > 0) s = softcap * std::tanh(s / softcap);
          p.push_back(std::exp(s + mask(b, h, i, j)));
          sum += p.back();
        }
        for (int64_t d = 0; d < vs[3]; ++d) {
          double s = 0;
          for (int64_t j = 0; j < ks[2]; ++j) s += p[static_cast<size_t>(j)] / sum * vv[static_cast<size_t>(((b * vs[1] + kh) * vs[2] + j) * vs[3] + d)];
          out.push_back(s);
        }
      }
  return out;
}

TEST(Attention, PlainCausalGroupedMaskedAndCached) {
  Tensor q = random_tensor({2, 4, 3, 8}, 1), k = random_tensor({2, 2, 5, 8}, 2), v = random_tensor({2, 2, 5, 6}, 3), y(DType::kF32, {2, 4, 3, 6});
  auto none = [](int64_t, int64_t, int64_t, int64_t) { return 0.0; };
  for (const char* name : {"ref_attention"}) {
    Tensor qs = strided(q), ks = strided(k), vs = strided(v);
    Call plain{{&qs, &ks, &vs}, {&y}};
    Status s = plain.run(name);
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_LE(difference(y.values(), expected(q, k, v, 0, none)), 1e-5);
    Call causal{{&q, &k, &v}, {&y}, {{"is_causal", int64_t{1}}, {"softcap", 2.0}}};
    ASSERT_TRUE(causal.run(name).ok());
    EXPECT_LE(difference(y.values(), expected(q, k, v, 2, [](int64_t, int64_t, int64_t i, int64_t j) { return j > i ? -INFINITY : 0.0; })), 1e-5);
    Tensor mask = random_tensor({2, 1, 3, 4}, 4);  // shorter than the keys: the rest is hidden
    auto m = mask.values();
    Call masked{{&q, &k, &v, &mask}, {&y}};
    ASSERT_TRUE(masked.run(name).ok());
    EXPECT_LE(difference(y.values(), expected(q, k, v, 0, [&](int64_t b, int64_t, int64_t i, int64_t j) { return j >= 4 ? -INFINITY : m[static_cast<size_t>((b * 3 + i) * 4 + j)]; })), 1e-5);
    Tensor bools = tensor(DType::kBool, {3, 5}, {1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1});
    auto bv = bools.values();
    Call boolean{{&q, &k, &v, &bools}, {&y}};
    ASSERT_TRUE(boolean.run(name).ok());
    EXPECT_LE(difference(y.values(), expected(q, k, v, 0, [&](int64_t, int64_t, int64_t i, int64_t j) { return bv[static_cast<size_t>(i * 5 + j)] != 0 ? 0.0 : -INFINITY; })), 1e-5);
    // Past rows come first; causal counts from them.
    Tensor pk = random_tensor({2, 2, 3, 8}, 5), pv = random_tensor({2, 2, 3, 6}, 6), present_k(DType::kF32, {2, 2, 8, 8}), present_v(DType::kF32, {2, 2, 8, 6});
    Call cached{{&q, &k, &v, nullptr, &pk, &pv}, {&y, &present_k, &present_v}, {{"is_causal", int64_t{1}}}};
    ASSERT_TRUE(cached.run(name).ok());
    EXPECT_LE(difference(y.values(), expected(q, present_k, present_v, 0, [](int64_t, int64_t, int64_t i, int64_t j) { return j > i + 3 ? -INFINITY : 0.0; })), 1e-5);
    EXPECT_EQ(present_k.values()[0], pk.values()[0]);
    EXPECT_EQ(present_k.values()[3 * 8], k.values()[0]);
    Tensor lengths = tensor(DType::kI64, {2}, {5, 2});
    Call padded{{&q, &k, &v, nullptr, nullptr, nullptr, &lengths}, {&y}};
    ASSERT_TRUE(padded.run(name).ok());
    EXPECT_LE(difference(y.values(), expected(q, k, v, 0, [](int64_t b, int64_t, int64_t, int64_t j) { return b == 1 && j >= 2 ? -INFINITY : 0.0; })), 1e-5);
  }
}

// [b, h, s, d] as a view of memory in the order [b, s, h, d].
Tensor heads_inside(const Tensor& t) {
  Shape s = t.shape();
  Tensor u(DType::kF32, {s[0], s[2], s[1], s[3]});
  std::swap(u.meta.shape[1], u.meta.shape[2]);
  std::swap(u.meta.strides[1], u.meta.strides[2]);
  u.set(t.values());
  return u;
}

TEST(Attention, FastKernelsAgreeWithTheReference) {
  struct Sizes {
    int64_t batch, heads, kv_heads, queries, keys, size, value_size;
  };
  for (Sizes s : std::vector<Sizes>{{2, 4, 2, 3, 5, 8, 6}, {1, 3, 3, 17, 17, 32, 32}, {2, 2, 2, 1, 33, 16, 16}, {1, 2, 1, 130, 70, 24, 17}, {1, 1, 1, 300, 1030, 16, 48}, {1, 12, 12, 64, 64, 64, 64}, {0, 2, 2, 3, 3, 4, 4}, {1, 2, 2, 0, 3, 4, 4}, {1, 2, 2, 3, 0, 4, 4}})
    for (int variant = 0; variant < 7; ++variant) {
      Tensor q = random_tensor({s.batch, s.heads, s.queries, s.size}, 1, DType::kF32, -2, 2), k = random_tensor({s.batch, s.kv_heads, s.keys, s.size}, 2, DType::kF32, -2, 2), v = random_tensor({s.batch, s.kv_heads, s.keys, s.value_size}, 3);
      Tensor mask = random_tensor({s.batch, 1, s.queries, s.keys}, 4), per_key = random_tensor({s.batch, 1, 1, s.keys}, 5), shown(DType::kBool, {s.queries, s.keys}), y(DType::kF32, {s.batch, s.heads, s.queries, s.value_size});
      std::vector<double> bits;
      for (int64_t i = 0; i < s.queries * s.keys; ++i) bits.push_back(i / std::max<int64_t>(1, s.keys) != 1 && i * 7 % 5 != 0);  // the second query sees nothing
      shown.set(bits);
      Attributes attrs{{"is_causal", int64_t{variant == 4 || variant == 5}}};
      if (variant == 1) attrs.set("scale", 0.5);
      const Tensor* masks[] = {nullptr, nullptr, &mask, &shown, nullptr, &per_key, &per_key};
      Call call{{&q, &k, &v, masks[variant]}, {&y}, attrs};
      Status r = call.run("ref_attention");
      ASSERT_TRUE(r.ok()) << r.message();
      Tensor qs = heads_inside(q), ks = heads_inside(k), vs = heads_inside(v);
      for (const char* name : {"avx512_attention_f32", "avx2_attention_f32", "avx512_attention_f32_in_order", "avx2_attention_f32_in_order"}) {
        if (!can_run(kernel(name))) continue;
        for (bool inside : {false, true}) {
          Tensor one(DType::kF32, y.shape()), two(DType::kF32, y.shape());
          for (auto [to, threads] : {std::pair{&one, 1}, std::pair{&two, 3}}) {
            Call f{{inside ? &qs : &q, inside ? &ks : &k, inside ? &vs : &v, masks[variant]}, {to}, attrs};
            f.threads = threads;
            Status t = f.run(name);
            ASSERT_TRUE(t.ok()) << t.message();
            ASSERT_TRUE(f.accepted);
          }
          EXPECT_TRUE(same_bits(one, two));
          if (kernel(name).strict_order) { EXPECT_TRUE(same_bits(one, y)) << name << " variant " << variant << " keys " << s.keys; }
          EXPECT_LE(difference(one.values(), y.values()), 2e-6) << name << " variant " << variant << " keys " << s.keys;
        }
      }
    }
}

TEST(Attention, NotANumberStaysInItsRow) {
  Tensor q = random_tensor({1, 1, 3, 8}, 1), k = random_tensor({1, 1, 20, 8}, 2), v = random_tensor({1, 1, 20, 4}, 3), y(DType::kF32, {1, 1, 3, 4}), mask = random_tensor({3, 20}, 4);
  for (bool all : {false, true}) {
    auto m = mask.values();
    for (size_t j = 0; j < 20; ++j)
      if (all || j == 17) m[20 + j] = NAN;
    mask.set(m);
    for (const char* name : {"ref_attention", "avx512_attention_f32", "avx2_attention_f32"}) {
      if (!can_run(kernel(name))) continue;
      Call call{{&q, &k, &v, &mask}, {&y}};
      ASSERT_TRUE(call.run(name).ok());
      auto got = y.values();
      for (size_t i = 0; i < 12; ++i) EXPECT_EQ(std::isnan(got[i]), i / 4 == 1) << name << i;
    }
  }
}

TEST(Attention, FastKernelsRefuse) {
  Tensor q = random_tensor({1, 2, 3, 8}, 1), past = random_tensor({1, 2, 3, 8}, 2), y(DType::kF32, {1, 2, 3, 8}), shorter = random_tensor({3, 2}, 3);
  for (const char* name : {"avx512_attention_f32", "avx2_attention_f32"}) {
    Call softcap{{&q, &q, &q}, {&y}, {{"softcap", 2.0}}}, cached{{&q, &q, &q, nullptr, &past, &past}, {&y}}, mask{{&q, &q, &q, &shorter}, {&y}};
    for (Call* call : {&softcap, &cached, &mask}) {
      EXPECT_TRUE(call->run(name).ok());
      EXPECT_FALSE(call->accepted);
    }
  }
}

TEST(Attention, PackedHeads) {
  Tensor q = random_tensor({1, 3, 8}, 1), k = random_tensor({1, 4, 8}, 2), v = random_tensor({1, 4, 6}, 3), y(DType::kF32, {1, 3, 6});
  Call call{{&q, &k, &v}, {&y}, {{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}}};
  ASSERT_TRUE(call.run("ref_attention").ok());
  auto heads = [](const Tensor& t, int64_t d) {  // [1, S, 2 d] to [1, 2, S, d]
    int64_t s = t.shape()[1];
    auto x = t.values();
    std::vector<double> out;
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < s; ++i)
        for (int64_t j = 0; j < d; ++j) out.push_back(x[static_cast<size_t>(i * 2 * d + h * d + j)]);
    return tensor(DType::kF32, {1, 2, s, d}, out);
  };
  auto want = expected(heads(q, 4), heads(k, 4), heads(v, 3), 0, [](int64_t, int64_t, int64_t, int64_t) { return 0.0; });
  EXPECT_LE(difference(heads(y, 3).values(), want), 1e-5);
  for (const char* name : {"avx512_attention_f32", "avx2_attention_f32"}) {
    if (!can_run(kernel(name))) continue;
    y.set(std::vector<double>(18, 0));
    ASSERT_TRUE(call.run(name).ok());
    ASSERT_TRUE(call.accepted);
    EXPECT_LE(difference(heads(y, 3).values(), want), 1e-5);
  }
}

TEST(RotaryEmbedding, HalvesNeighboursAndPositions) {
  Tensor x = random_tensor({1, 2, 3, 6}, 1), cosines = random_tensor({5, 2}, 2), sines = random_tensor({5, 2}, 3), ids = tensor(DType::kI64, {1, 3}, {4, 0, 2}), y(DType::kF32, {1, 2, 3, 6});
  auto v = x.values(), c = cosines.values(), s = sines.values();
  for (bool interleaved : {false, true}) {
    Call call{{&x, &cosines, &sines, &ids}, {&y}, {{"rotary_embedding_dim", int64_t{4}}, {"interleaved", int64_t{interleaved}}}};
    Status st = call.run("ref_rotary_embedding");
    ASSERT_TRUE(st.ok()) << st.message();
    auto got = y.values();
    const size_t position[] = {4, 0, 2};
    for (size_t h = 0; h < 2; ++h)
      for (size_t i = 0; i < 3; ++i) {
        size_t at = (h * 3 + i) * 6;
        for (size_t d = 0; d < 2; ++d) {
          size_t p = interleaved ? 2 * d : d, q = interleaved ? 2 * d + 1 : d + 2;
          double cs = c[position[i] * 2 + d], sn = s[position[i] * 2 + d];
          EXPECT_NEAR(got[at + p], cs * v[at + p] - sn * v[at + q], 1e-6);
          EXPECT_NEAR(got[at + q], sn * v[at + p] + cs * v[at + q], 1e-6);
        }
        EXPECT_EQ(got[at + 4], v[at + 4]);
      }
  }
  Tensor far = tensor(DType::kI64, {1, 3}, {5, 0, 0});
  Call bad{{&x, &cosines, &sines, &far}, {&y}, {{"rotary_embedding_dim", int64_t{4}}}};
  EXPECT_EQ(bad.run("ref_rotary_embedding").code(), StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace msvm
