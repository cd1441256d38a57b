// GFLOP/s of the f32 convolution kernels over channels-last images, and per cent of a core's peak for each thread.
//   conv_bench [threads] [filter] [isa] [body] [peak GFLOP/s]
// body: a step such as "Silu(y)"; "Add(y, i3)" adds a residual. Then kernels of msvm.Conv run instead of those of Conv.
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

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Line {
  const char* label;
  int64_t in, out, kernel, stride, pad, size, groups = 1;
  bool row_major_input = false, transposed = false;
  int64_t width = 0, kernel_height = 0;  // 0: square
};

void measure(const KernelInfo& k, const Line& l, WorkerPool& workers, const std::string& body, double peak) {
  const int64_t wide = l.width ? l.width : l.size, kernel_height = l.kernel_height ? l.kernel_height : l.kernel, pad_height = l.kernel_height ? (l.kernel_height - 1) / 2 : l.pad;
  auto out_of = [&](int64_t n, int64_t kernel, int64_t pad) { return l.transposed ? (n - 1) * l.stride + kernel - 2 * pad : (n + 2 * pad - kernel) / l.stride + 1; };
  Buffer x({1, l.in, l.size, wide}, !l.row_major_input), w({l.transposed ? l.in : l.out, (l.transposed ? l.out : l.in) / l.groups, kernel_height, l.kernel}), b({l.out}), y({1, l.out, out_of(l.size, kernel_height, pad_height), out_of(wide, l.kernel, l.pad)}, true);
  Attributes attrs;
  attrs.set("group", l.groups);
  attrs.set("strides", std::vector<int64_t>{l.stride, l.stride});
  attrs.set("pads", std::vector<int64_t>{pad_height, l.pad, pad_height, l.pad});
  std::vector<const TensorMeta*> inputs = {&x.meta, &w.meta, &b.meta};
  Buffer residual(std::vector<int64_t>(y.meta.dims().begin(), y.meta.dims().end()), true);
  if (!body.empty()) {
    attrs.set("body", std::vector<std::string>{body});
    inputs.push_back(&residual.meta);
  }
  std::vector<TensorMeta*> outputs = {&y.meta};
  OpSchema schema;
  schema.name = k.op;
  Memory memory;
  std::unique_ptr<KernelSiteState> site;
  KernelCall call{schema, attrs, inputs, {}, outputs, 2, workers, memory, site, false};
  if (k.accepts && !k.accepts(call)) return;
  std::vector<double> times;
  for (double end = now() + 0.3; now() < end || times.size() < 7;) {
    memory.reset();
    double t = now();
    Status s = k.run(call);
    times.push_back(now() - t);
    if (!s.ok()) {
      std::printf("%s: %s\n", std::string(k.name).c_str(), s.message().c_str());
      return;
    }
  }
  std::sort(times.begin(), times.end());
  const double t = times[times.size() / 2];
  const double macs = static_cast<double>(l.transposed ? x.meta.elements() : y.meta.elements()) * static_cast<double>(w.meta.elements()) / static_cast<double>(l.transposed ? l.in : l.out);
  const double bytes = 4.0 * static_cast<double>(x.meta.elements() + y.meta.elements());
  const double scale = 1e-7 / (peak * workers.threads()) * 2 * macs;
  std::printf("%-22s %-34s %9.1f us %6.1f GFLOP/s %5.1f %% best %5.1f %%  %5.1f GB/s  model %9.1f us\n", l.label, std::string(k.name).c_str(), t * 1e6, 2e-9 * macs / t, scale / t, scale / times[0], 1e-9 * bytes / t,
              (k.work(call) * k.default_ns_per_work + k.default_overhead_ns) * 1e-3);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const char* filter = argc > 2 ? argv[2] : "";
  const char* isa = argc > 3 ? argv[3] : "";
  const std::string body = argc > 4 ? argv[4] : "";
  const double peak = argc > 5 ? std::atof(argv[5]) : 117;
  WorkerPool workers(threads);
  KernelList list;
  add_conv_kernels(list);
  const Line lines[] = {{"7x7s2 3-64@224", 3, 64, 7, 2, 3, 224, 1, true},
                        {"1x1 64-256@56", 64, 256, 1, 1, 0, 56},
                        {"3x3 64-64@56", 64, 64, 3, 1, 1, 56},
                        {"3x3 128-128@28", 128, 128, 3, 1, 1, 28},
                        {"3x3 256-256@14", 256, 256, 3, 1, 1, 14},
                        {"3x3 512-512@7", 512, 512, 3, 1, 1, 7},
                        {"1x1 1024-2048@7", 1024, 2048, 1, 1, 0, 7},
                        {"3x3 64-64@57", 64, 64, 3, 1, 1, 57},
                        {"3x3s2 128-128@56", 128, 128, 3, 2, 1, 56},
                        {"3x3s2 3-16@640", 3, 16, 3, 2, 1, 640, 1, true},
                        {"1x1 16-32@160", 16, 32, 1, 1, 0, 160},
                        {"1x1 32-64@320", 32, 64, 1, 1, 0, 320},
                        {"1x1 512-512@20", 512, 512, 1, 1, 0, 20},
                        {"1x1 96-24@160", 96, 24, 1, 1, 0, 160},
                        {"3x3 96-24@160", 96, 24, 3, 1, 1, 160},
                        {"3x3 96-24@40", 96, 24, 3, 1, 1, 40},
                        {"3x3 24-1@160", 24, 1, 3, 1, 1, 160},
                        {"1x1 24-2@160", 24, 2, 1, 1, 0, 160},
                        {"3x3 16-16@160", 16, 16, 3, 1, 1, 160},
                        {"3x3 8-8@160", 8, 8, 3, 1, 1, 160},
                        {"3x3 32-32@80", 32, 32, 3, 1, 1, 80},
                        {"3x3 48-48@40", 48, 48, 3, 1, 1, 40},
                        {"9x9 96-24@40", 96, 24, 9, 1, 4, 40},
                        {"3x3 g32 128-128@28", 128, 128, 3, 1, 1, 28, 32},
                        {"1x1 480-120@12x80", 480, 120, 1, 1, 0, 12, 1, false, false, 80},
                        {"1x3 129-128@1x4", 129, 128, 3, 1, 1, 1, 1, false, false, 4, 1},
                        {"1x3 128-64@1x4", 128, 64, 3, 1, 1, 1, 1, false, false, 4, 1},
                        {"1x1 120-32@1", 120, 32, 1, 1, 0, 1},
                        {"1x1 480-120@1", 480, 120, 1, 1, 0, 1},
                        {"1x1 16-16@3x2", 16, 16, 1, 1, 0, 3, 1, false, false, 2},
                        {"1x256s2 1-1@1x20000", 1, 1, 256, 2, 0, 1, 1, false, false, 20000, 1},
                        {"1x256s64 1-36@1x20000", 1, 36, 256, 64, 0, 1, 1, false, false, 20000, 1},
                        {"7x3 32-1@172x88", 32, 1, 3, 1, 1, 172, 1, false, false, 88, 7},
                        {"dw 3x3 96@112", 96, 96, 3, 1, 1, 112, 96},
                        {"dw 3x3s2 96@112", 96, 96, 3, 2, 1, 112, 96},
                        {"dw 3x3 32@320", 32, 32, 3, 1, 1, 320, 32},
                        {"dw 5x5 256@40", 256, 256, 5, 1, 2, 40, 256},
                        {"dw 5x5 240@40", 240, 240, 5, 1, 2, 40, 240},
                        {"dw 3x3 256@40", 256, 256, 3, 1, 1, 40, 256},
                        {"dw 3x3 240@40", 240, 240, 3, 1, 1, 40, 240},
                        {"dw 3x3s2 256@40", 256, 256, 3, 2, 1, 40, 256},
                        {"dw 3x3 512@14", 512, 512, 3, 1, 1, 14, 512},
                        {"dw 5x5 512@12x80", 512, 512, 5, 1, 2, 12, 512, false, false, 80},
                        {"dw 5x5 480@12", 480, 480, 5, 1, 2, 12, 480},
                        {"dw 7x7 96@28", 96, 96, 7, 1, 3, 28, 96},
                        {"t 2x2s2 24-24@160", 24, 24, 2, 2, 0, 160, 1, false, true},
                        {"t 2x2s2 24-1@320", 24, 1, 2, 2, 0, 320, 1, false, true},
                        {"t 2x2s2 24-1@80", 24, 1, 2, 2, 0, 80, 1, false, true},
                        {"t 4x4s2 64-32@40", 64, 32, 4, 2, 1, 40, 1, false, true}};
  for (const Line& l : lines) {
    if (!std::strstr(l.label, filter)) continue;
    for (const KernelInfo& k : list)
      if (k.op == (l.transposed ? "ConvTranspose" : body.empty() ? "Conv" : "msvm.Conv") && k.isa != Isa::kScalar && static_cast<int>(k.isa) <= static_cast<int>(cpu_features().isa) && k.name.starts_with(isa) && k.work) measure(k, l, workers, body, peak);
  }
}
