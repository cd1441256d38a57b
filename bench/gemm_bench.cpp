// GFLOP/s of f32 matrix products and their share of a core's peak, per thread; gigabytes a second of B where one row is multiplied.
//   gemm_bench [threads] [filter]
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernel_memory.h"
#include "msvm/kernels/families.h"

namespace {
using namespace msvm;
using bench::Buffer, bench::Memory;

constexpr double kPeak = 117;  // GFLOP/s of one core of the machine that figures are written down for

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
// One thread is timed by what it ran, so that others on the machine count less.
double clock_of(int threads) {
  if (threads > 1) return now();
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int g_threads = 1;
const char* g_filter = "";

void measure(const std::string& name, const std::string& label, std::vector<const TensorMeta*> inputs, TensorMeta* output, const Attributes& attrs, uint64_t constants, double macs, double bytes = 0) {
  static WorkerPool workers(g_threads);
  if (!std::strstr((label + " " + name).c_str(), g_filter)) return;
  const KernelInfo* k = nullptr;
  for (const KernelInfo& one : all_kernels())
    if (one.name == name) k = &one;
  if (!k || static_cast<int>(k->isa) > static_cast<int>(cpu_features().isa)) return;
  OpSchema schema;
  schema.name = k->op;
  std::vector<TensorMeta*> outputs = {output};
  Memory memory;
  std::unique_ptr<KernelSiteState> site;
  KernelCall call{schema, attrs, inputs, {}, outputs, constants, workers, memory, site, false};
  if (k->accepts && !k->accepts(call)) return;
  std::vector<double> times;
  int repeats = 0;  // short calls are timed together
  for (double end = now() + 0.25; now() < end || times.size() < 9;) {
    const int calls = std::max(repeats, 1);
    const double t = clock_of(g_threads);
    for (int i = 0; i < calls; ++i) {
      memory.reset();
      if (const Status s = k->run(call); !s.ok()) {
        std::printf("%s: %s\n", name.c_str(), s.message().c_str());
        return;
      }
    }
    const double took = (clock_of(g_threads) - t) / calls;
    if (times.size() == 3 && repeats == 0) {
      repeats = std::clamp(static_cast<int>(2e-5 / took), 1, 1000);
      times.clear();
    }
    times.push_back(took);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2], best = times[0], flops = 2 * macs / 1e9;
  std::printf("%-34s %-28s %9.2f us", label.c_str(), name.c_str(), median * 1e6);
  if (macs > 0)
    std::printf(" %6.1f GFLOP/s %5.1f %%  best %6.1f %5.1f %%", flops / median, flops / median / kPeak / g_threads * 100, flops / best, flops / best / kPeak / g_threads * 100);
  if (bytes > 0) std::printf("  %5.1f GB/s", bytes / median / 1e9);
  std::printf("\n");
}

void product(int64_t m, int64_t k, int64_t n, bool constant = true) {
  Buffer a({m, k}), b({k, n}), c({m, n});
  char label[64];
  std::snprintf(label, sizeof label, "%ldx%ldx%ld%s", static_cast<long>(m), static_cast<long>(k), static_cast<long>(n), constant ? "" : ", B not packed");
  for (const char* name : {"avx512_matmul_f32_generic", "avx2_matmul_f32_generic"})
    measure(name, label, {&a.meta, &b.meta}, &c.meta, {}, constant ? 2 : 0, static_cast<double>(m * k * n), m == 1 ? static_cast<double>(k * n * 4) : 0);
}

// Another B each time, from main memory.
void streamed(int64_t m, int64_t k, int64_t n) {
  if (!std::strstr(" from memory avx512_matmul_f32_generic", g_filter)) return;
  const int64_t count = 200000000 / (k * n * 4);
  Buffer a({count, m, k}), b({count, k, n}), c({count, m, n});
  const std::string label = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + " from memory";
  for (const char* name : {"avx512_matmul_f32_generic", "avx2_matmul_f32_generic"})
    measure(name, label, {&a.meta, &b.meta}, &c.meta, {}, 2, static_cast<double>(count * m * k * n), static_cast<double>(count * k * n * 4));
}

void linear(int64_t m, int64_t k, int64_t n, std::vector<std::string> body, bool residual) {
  Buffer a({m, k}), b({k, n}), bias({n}), other({m, n}), c({m, n});
  std::string label = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + " bias";
  for (const auto& step : body) label += " " + step;
  Attributes attrs;
  attrs.set("body", body);
  std::vector<const TensorMeta*> in{&a.meta, &b.meta, &bias.meta};
  if (residual) in.push_back(&other.meta);
  for (const char* name : {"avx512_fused_matmul_f32", "avx2_fused_matmul_f32"}) measure(name, label, in, &c.meta, attrs, 6, static_cast<double>(m * k * n));
}

// Scores and values of attention heads, [batch * heads, rows, size]; keys transposed as a view.
void heads(int64_t batch, int64_t rows, int64_t size) {
  Buffer q({batch, rows, size}), k({batch, rows, size}), v({batch, rows, size}), scores({batch, rows, rows}), y({batch, rows, size});
  TensorMeta turned = k.meta;
  std::swap(turned.shape[1], turned.shape[2]);
  std::swap(turned.strides[1], turned.strides[2]);
  const std::string sizes = std::to_string(batch) + "x" + std::to_string(rows) + "x" + std::to_string(size);
  for (const char* name : {"avx512_matmul_f32_generic", "avx2_matmul_f32_generic"}) {
    measure(name, "scores " + sizes, {&q.meta, &turned}, &scores.meta, {}, 0, static_cast<double>(batch * rows * rows * size));
    measure(name, "values " + sizes, {&scores.meta, &v.meta}, &y.meta, {}, 0, static_cast<double>(batch * rows * rows * size));
  }
}

void attention(int64_t batch, int64_t heads_count, int64_t rows, int64_t size) {
  Buffer q({batch, rows, heads_count * size}), k({batch, rows, heads_count * size}), v({batch, rows, heads_count * size}), y({batch, rows, heads_count * size});
  Attributes attrs;
  attrs.set("q_num_heads", heads_count);
  attrs.set("kv_num_heads", heads_count);
  const std::string label = "attention " + std::to_string(batch * heads_count) + "x" + std::to_string(rows) + "x" + std::to_string(size);
  for (const char* name : {"avx512_attention_f32", "avx2_attention_f32"}) measure(name, label, {&q.meta, &k.meta, &v.meta}, &y.meta, attrs, 0, static_cast<double>(2 * batch * heads_count * rows * rows * size));
}

void recurrent(const std::string& op, int64_t steps, int64_t batch, int64_t inputs, int64_t hidden, bool both) {
  const int64_t gates = op == "lstm" ? 4 : 3, d = both ? 2 : 1;
  Buffer x({steps, batch, inputs}), w({d, gates * hidden, inputs}), r({d, gates * hidden, hidden}), b({d, 2 * gates * hidden}), h({d, batch, hidden}), y({steps, d, batch, hidden});
  const std::string label = op + " " + std::to_string(steps) + " steps, " + std::to_string(batch) + "x" + std::to_string(inputs) + "->" + std::to_string(hidden) + (both ? ", both ways" : "");
  Attributes attrs;
  attrs.set("linear_before_reset", int64_t{1});
  if (both) attrs.set("direction", std::string("bidirectional"));
  for (const char* isa : {"avx512_", "avx2_"})
    measure(isa + op + "_f32_packed", label, {&x.meta, &w.meta, &r.meta, &b.meta, nullptr, &h.meta}, &y.meta, attrs, 14, static_cast<double>(steps * batch * d * gates * hidden * (inputs + hidden)));
}

// What stands between products in transformers, by bytes read and written.
void rows(int64_t count, int64_t n) {
  Buffer x({count, n}), scale({n}), bias({n}), y({count, n});
  const std::string sizes = " " + std::to_string(count) + "x" + std::to_string(n);
  const double bytes = static_cast<double>(count * n * 8);
  for (const std::string isa : {"avx512_", "avx2_"}) {
    measure(isa + "softmax_f32_rows", "softmax" + sizes, {&x.meta}, &y.meta, {}, 0, 0, bytes);
    measure(isa + "layer_normalization_f32", "layer norm" + sizes, {&x.meta, &scale.meta, &bias.meta}, &y.meta, {}, 6, 0, bytes);
    measure(isa + "rms_normalization_f32", "rms norm" + sizes, {&x.meta, &scale.meta}, &y.meta, {}, 2, 0, bytes);
  }
}
void moves() {
  Buffer x({1, 128, 12, 32}), y({1, 12, 128, 32}), table({4096, 384}), picked({1, 128, 384});
  Attributes perm;
  perm.set("perm", std::vector<int64_t>{0, 2, 1, 3});
  measure("ref_transpose", "transpose 0213 of 1x128x12x32", {&x.meta}, &y.meta, perm, 0, 0, 128 * 384 * 8);
  Buffer turned({1, 12, 32, 128});
  perm.set("perm", std::vector<int64_t>{0, 2, 3, 1});
  measure("ref_transpose", "transpose 0231 of 1x128x12x32", {&x.meta}, &turned.meta, perm, 0, 0, 128 * 384 * 8);
  std::vector<int64_t> ids(128);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i * 997 % 4096);
  TensorMeta index;
  index.dtype = DType::kI64, index.rank = 2, index.shape = {1, 128};
  if (!set_dense_strides(index)) return;
  index.data = reinterpret_cast<std::byte*>(ids.data());
  measure("ref_gather", "gather 128 rows of 384", {&table.meta, &index}, &picked.meta, {}, 0, 0, 128 * 384 * 8);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) g_threads = std::max(1, std::atoi(argv[1]));
  if (argc > 2) g_filter = argv[2];
  const std::vector<std::vector<int64_t>> sizes = {{1, 1024, 1024},  {32, 1024, 1024}, {1024, 512, 1024}, {197, 768, 3072}, {512, 512, 512}, {33, 1000, 1001}, {784, 1152, 128}, {3136, 64, 256},
                                                   {49, 1024, 2048}, {128, 384, 384},  {128, 384, 1536},  {128, 1536, 384}, {40, 120, 6625}, {1, 384, 6625},  {8, 1024, 1024}, {10, 1024, 1024}, {14, 1024, 1024}, {1, 4096, 4096}, {1, 512, 1000},
                                                   {2, 512, 512},    {3, 512, 512},    {4, 512, 512},     {5, 512, 512},    {7, 512, 512},   {10, 512, 512},  {14, 512, 512},  {16, 512, 512},
                                                   {256, 256, 16},   {256, 256, 32},   {256, 256, 64},    {256, 256, 96},   {256, 64, 384},  {64, 2048, 512}, {6400, 32, 16},  {6400, 16, 96},
                                                   {1, 16, 16},      {1, 64, 64},      {4, 32, 32},       {16, 16, 1},      {2000, 64, 1},   {2000, 64, 10}};
  for (const auto& s : sizes) product(s[0], s[1], s[2]);
  for (const auto& s : std::vector<std::vector<int64_t>>{{1, 1024, 1024}, {8, 512, 512}, {32, 1024, 1024}, {197, 768, 3072}, {512, 512, 512}}) product(s[0], s[1], s[2], false);
  for (int64_t m : {1, 4, 8, 12, 16, 24, 32}) streamed(m, 384, 1536);
  for (int64_t m : {8, 16, 32}) streamed(m, 1024, 1024);
  for (int64_t rows : {16, 64, 128, 197, 512}) heads(12, rows, 32);
  heads(12, 128, 64);
  heads(1, 1024, 64);
  for (int64_t rows : {16, 64, 128, 197, 512}) attention(1, 12, rows, 32);
  attention(1, 12, 128, 64);
  attention(1, 1, 1024, 64);
  linear(1, 64, 64, {}, false);
  linear(1, 64, 64, {"Relu(y)"}, false);
  linear(10, 200, 5, {"Sigmoid(y)"}, false);
  linear(10, 200, 5, {"Mul(y, 0.5)", "Sigmoid(s0)"}, false);
  linear(1024, 1024, 1024, {}, false);
  linear(1024, 1024, 1024, {"Relu(y)"}, false);
  linear(197, 768, 3072, {"Gelu(y)"}, false);
  linear(197, 768, 768, {"Add(y, i3)"}, true);
  linear(128, 384, 1536, {"Gelu(y)"}, false);
  linear(128, 1536, 384, {"Add(y, i3)"}, true);
  linear(128, 384, 384, {"Mul(y, 0.5)", "Sigmoid(s0)"}, false);
  for (int64_t n : {16, 64, 128, 197, 384, 512, 768, 1024}) rows(49152 / n, n);
  moves();
  recurrent("lstm", 1, 1, 128, 128, false);
  recurrent("lstm", 40, 1, 256, 256, true);
  recurrent("lstm", 40, 8, 256, 256, true);
  recurrent("lstm", 40, 1, 256, 256, false);
  recurrent("lstm", 1, 1, 512, 512, false);
  recurrent("gru", 20, 1, 128, 256, true);
  recurrent("gru", 1, 1, 257, 128, false);
  return 0;
}
