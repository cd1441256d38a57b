// GFLOP/s of the f32 matrix and convolution kernels, one thread and two, best of this machine's instruction sets.
//   kernels_bench [threads] [filter]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "msvm/kernels/families.h"

namespace {
using namespace msvm;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Buffer {
  std::unique_ptr<float[], decltype(&std::free)> data{nullptr, &std::free};
  TensorMeta meta;
  explicit Buffer(std::vector<int64_t> shape) {
    meta.rank = static_cast<uint8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), meta.shape.begin());
    if (!set_dense_strides(meta)) std::abort();
    size_t n = static_cast<size_t>(meta.elements());
    data.reset(static_cast<float*>(std::aligned_alloc(64, (n * 4 + 127) / 64 * 64)));
    for (size_t i = 0; i < n; ++i) data[i] = static_cast<float>(i * 7 % 13) * 0.1f - 0.5f;
    meta.data = reinterpret_cast<std::byte*>(data.get());
  }
};

// Scratch that is kept between calls, as the engine's pool does.
class Memory final : public KernelMemory {
 public:
  Status allocate_output(size_t, DType, std::span<const int64_t>) override { return internal_error("no new outputs here"); }
  Result<std::byte*> scratch(int64_t bytes) override {
    if (next_ == blocks_.size()) blocks_.push_back({nullptr, 0});
    auto& [block, size] = blocks_[next_++];
    if (size < bytes) {
      std::free(block);
      size = (bytes + 127) / 64 * 64;
      block = static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(size)));
    }
    return block;
  }
  void reset() { next_ = 0; }

 private:
  std::vector<std::pair<std::byte*, int64_t>> blocks_;
  size_t next_ = 0;
};

const KernelInfo* find(const KernelList& list, const std::string& name) {
  for (const KernelInfo& k : list)
    if (k.name == name) return &k;
  return nullptr;
}

void measure(const KernelList& list, const std::string& name, const std::string& label, std::vector<const TensorMeta*> inputs, TensorMeta* output, const Attributes& attrs, uint64_t constants, WorkerPool& workers, double macs) {
  const KernelInfo* k = find(list, name);
  if (!k || static_cast<int>(k->isa) > static_cast<int>(cpu_features().isa)) return;
  OpSchema schema;
  schema.name = k->op;
  std::vector<TensorMeta*> outputs = {output};
  Memory memory;
  std::unique_ptr<KernelSiteState> site;
  KernelCall call{schema, attrs, inputs, {}, outputs, constants, workers, memory, site, false};
  if (k->accepts && !k->accepts(call)) return;
  std::vector<double> times;
  for (double end = now() + 0.3; now() < end || times.size() < 7;) {
    memory.reset();
    double t = now();
    Status s = k->run(call);
    times.push_back(now() - t);
    if (!s.ok()) {
      std::printf("%s: %s\n", name.c_str(), s.message().c_str());
      return;
    }
  }
  std::sort(times.begin(), times.end());
  double t = times[times.size() / 2], work = k->work ? k->work(call) : macs;
  std::printf("%-32s %-34s %9.1f us %7.1f GFLOP/s  best %7.1f  model %9.1f us\n", label.c_str(), name.c_str(), t * 1e6, 2e-9 * macs / t, 2e-9 * macs / times[0], (work * k->default_ns_per_work + k->default_overhead_ns) * 1e-3);
  std::fflush(stdout);
}

struct ConvLine {
  const char* label;
  int64_t in, out, kernel, stride, pad, size, groups;
};

}  // namespace

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const char* filter = argc > 2 ? argv[2] : "";
  WorkerPool workers(threads);
  KernelList list;
  add_matmul_kernels(list);
  add_conv_kernels(list);
  const char* isas[] = {"avx512", "avx2"};
  const int64_t products[][3] = {{1, 1024, 1024}, {32, 1024, 1024}, {1024, 512, 1024}, {197, 768, 3072}, {512, 512, 512}, {33, 1000, 1001}, {3136, 64, 256}, {784, 1152, 128}, {49, 1024, 2048}};
  for (auto& p : products)
    for (bool constant : {true, false})
      for (const char* isa : isas) {
        std::string label = std::to_string(p[0]) + "x" + std::to_string(p[1]) + "x" + std::to_string(p[2]) + (constant ? "" : " B not packed");
        if (!std::strstr(label.c_str(), filter)) continue;
        Buffer a({p[0], p[1]}), b({p[1], p[2]}), c({p[0], p[2]});
        double macs = static_cast<double>(p[0] * p[1]) * static_cast<double>(p[2]);
        measure(list, std::string(isa) + "_matmul_f32_generic", label, {&a.meta, &b.meta}, &c.meta, {}, constant ? 2 : 0, workers, macs);
      }
  // Attention: 12 heads of 64 over 128 and 384 tokens, K transposed by strides.
  for (int64_t tokens : {128, 384})
    for (const char* isa : isas) {
      std::string label = "attention QK " + std::to_string(tokens);
      if (!std::strstr(label.c_str(), filter)) continue;
      Buffer q({12, tokens, 64}), kt({12, tokens, 64}), s({12, tokens, tokens}), o({12, tokens, 64});
      TensorMeta transposed = kt.meta;
      std::swap(transposed.shape[1], transposed.shape[2]);
      std::swap(transposed.strides[1], transposed.strides[2]);
      double macs = 12.0 * static_cast<double>(tokens * tokens * 64);
      measure(list, std::string(isa) + "_matmul_f32_generic", label, {&q.meta, &transposed}, &s.meta, {}, 0, workers, macs);
      measure(list, std::string(isa) + "_matmul_f32_generic", "attention PV " + std::to_string(tokens), {&s.meta, &kt.meta}, &o.meta, {}, 0, workers, macs);
    }
  const ConvLine convs[] = {{"7x7s2 3-64@224", 3, 64, 7, 2, 3, 224, 1},    {"1x1 64-256@56", 64, 256, 1, 1, 0, 56, 1},     {"3x3 64-64@56", 64, 64, 3, 1, 1, 56, 1},      {"3x3 128-128@28", 128, 128, 3, 1, 1, 28, 1},
                            {"3x3 256-256@14", 256, 256, 3, 1, 1, 14, 1},  {"1x1 1024-2048@7", 1024, 2048, 1, 1, 0, 7, 1}, {"3x3 64-64@57", 64, 64, 3, 1, 1, 57, 1},      {"3x3s2 128-128@56", 128, 128, 3, 2, 1, 56, 1},
                            {"3x3s2 3-16@640", 3, 16, 3, 2, 1, 640, 1},    {"1x1 16-32@160", 16, 32, 1, 1, 0, 160, 1},     {"3x3 96-24@160", 96, 24, 3, 1, 1, 160, 1},    {"9x9 96-24@40", 96, 24, 9, 1, 4, 40, 1},
                            {"dw 3x3 96@112", 96, 96, 3, 1, 1, 112, 96},   {"dw 3x3s2 96@112", 96, 96, 3, 2, 1, 112, 96},  {"dw 5x5 240@40", 240, 240, 5, 1, 2, 40, 240}, {"dw 5x5 480@12", 480, 480, 5, 1, 2, 12, 480}};
  for (const ConvLine& c : convs)
    for (const char* isa : isas)
      for (const char* kind : {"im2col", "pointwise", "depthwise"}) {
        if (!std::strstr(c.label, filter)) continue;
        if (c.groups > 1 && std::string(kind) != "depthwise" && std::string(isa) == "avx2") continue;
        int64_t out = (c.size + 2 * c.pad - c.kernel) / c.stride + 1;
        Buffer x({1, c.in, c.size, c.size}), w({c.out, c.in / c.groups, c.kernel, c.kernel}), b({c.out}), y({1, c.out, out, out});
        Attributes a;
        a.set("group", c.groups);
        a.set("strides", std::vector<int64_t>{c.stride, c.stride});
        a.set("pads", std::vector<int64_t>{c.pad, c.pad, c.pad, c.pad});
        double macs = static_cast<double>(y.meta.elements()) * static_cast<double>(c.in / c.groups * c.kernel * c.kernel);
        measure(list, std::string(isa) + "_conv_f32_" + kind, c.label, {&x.meta, &w.meta, &b.meta}, &y.meta, a, 2, workers, macs);
      }
}
