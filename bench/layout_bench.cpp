// Microseconds and GB/s of f32 operators that move or combine elements, over row-major and channels-last tensors: every kernel that fits.
//   layout_bench [threads] [filter]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernel_memory.h"
#include "msvm/kernels/kernel.h"

namespace {
using namespace msvm;
using bench::Buffer, bench::Memory;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Line {
  std::string label, op;
  std::vector<std::vector<int64_t>> inputs;
  std::vector<int64_t> output;
  Attributes attrs = {};
  std::vector<int64_t> args = {};
  int layouts = 3;  // 1: row-major, 2: channels-last, 4: from row-major to channels-last, 8: back
  bool i64_output = false;
};

void measure(const Line& line, int layout, WorkerPool& workers) {
  std::vector<Buffer> inputs;
  for (auto& s : line.inputs) inputs.emplace_back(s, layout == 2 || layout == 8);
  Buffer y(line.output, layout == 2 || layout == 4);
  std::vector<int64_t> wide(static_cast<size_t>(line.i64_output ? y.meta.elements() : 0) + 1);
  if (line.i64_output) y.meta.dtype = DType::kI64, y.meta.data = reinterpret_cast<std::byte*>(wide.data());
  std::vector<const TensorMeta*> in;
  double bytes = static_cast<double>(y.meta.elements()) * 4;
  for (auto& b : inputs) {
    const bool known = line.op == "Resize" && in.size() == 1;
    in.push_back(known ? nullptr : &b.meta);
    bytes += static_cast<double>(b.meta.elements()) * 4;
  }
  std::vector<TensorMeta*> out = {&y.meta};
  const OpSchema* schema = find_op(line.op);
  if (!schema) std::abort();
  for (const KernelInfo& k : all_kernels()) {
    if (k.op != line.op || k.isa > cpu_features().isa || !(k.dtypes & bit(DType::kF32))) continue;
    bool dense = true;
    for (auto* m : in) dense = dense && (!m || m->dense());
    if (k.dense_inputs && !dense) continue;
    Memory memory;
    std::unique_ptr<KernelSiteState> site;
    KernelCall call{*schema, line.attrs, in, line.args, out, ~uint64_t{1}, workers, memory, site, false};
    if (k.accepts && !k.accepts(call)) continue;
    std::vector<double> times;
    for (double end = now() + 0.12; now() < end || times.size() < 5;) {
      memory.reset();
      const double t = now();
      Status s = k.run(call);
      times.push_back(now() - t);
      if (!s.ok()) {
        std::printf("%s: %s\n", line.label.c_str(), s.message().c_str());
        return;
      }
    }
    std::sort(times.begin(), times.end());
    const double t = times[times.size() / 2], model = (k.work ? k.work(call) : static_cast<double>(y.meta.elements())) * k.default_ns_per_work + k.default_overhead_ns;
    std::printf("%-30s %-5s %-36s %9.1f us (least %9.1f) %6.1f GB/s  model %8.1f us\n", line.label.c_str(), layout == 1 ? "nchw" : layout == 2 ? "nhwc" : layout == 4 ? "->" : "<-", std::string(k.name).c_str(), t * 1e6,
                times[0] * 1e6, bytes / t * 1e-9, model * 1e-3);
    std::fflush(stdout);
  }
}

using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

std::vector<Line> lines() {
  std::vector<Line> l;
  auto add = [&](Line x) { l.push_back(std::move(x)); };
  const Ints small = {1, 24, 80, 80}, big = {1, 96, 160, 160}, deep = {1, 480, 20, 20};
  for (const Ints& s : {small, big, deep}) {
    const std::string at = std::to_string(s[1]) + "@" + std::to_string(s[2]);
    const Ints half = {1, s[1], s[2] / 2, s[3] / 2}, twice = {1, s[1], s[2] * 2, s[3] * 2}, one = {1, s[1], 1, 1}, channel = {s[1]};
    add({"copy " + at, "Identity", {s}, s, {}, {}, 15});
    add({"add " + at, "Add", {s, s}, s});
    add({"mul by channel " + at, "Mul", {s, one}, s});
    add({"relu(a + b) " + at, "msvm.Pointwise", {s, s}, s, {{"body", Strings{"Add(i0, i1)", "Relu(s0)"}}}});
    add({"a * s[c] " + at, "msvm.Pointwise", {s, one}, s, {{"body", Strings{"Mul(i0, i1)"}}}});
    add({"silu(a * s[c] + b[c]) " + at, "msvm.Pointwise", {s, one, one}, s, {{"body", Strings{"Mul(i0, i1)", "Add(s0, i2)", "Silu(s1)"}}}});
    add({"hardswish " + at, "msvm.Pointwise", {s}, s, {{"body", Strings{"HardSwish(i0)"}}}});
    add({"max pool 2/2 " + at, "MaxPool", {s}, half, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}});
    add({"max pool 3/2 " + at, "MaxPool", {s}, half, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}});
    add({"max pool 5/1 " + at, "MaxPool", {s}, s, {{"kernel_shape", Ints{5, 5}}, {"strides", Ints{1, 1}}, {"pads", Ints{2, 2, 2, 2}}}});
    add({"average pool 3/2 " + at, "AveragePool", {s}, half, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}});
    add({"global average " + at, "GlobalAveragePool", {s}, one});
    add({"global max " + at, "GlobalMaxPool", {s}, one});
    add({"mean over space " + at, "ReduceMean", {s}, one, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{1}}}});
    add({"max over space " + at, "ReduceMax", {s}, one, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{1}}}});
    add({"mean over channels " + at, "ReduceMean", {s}, {1, 1, s[2], s[3]}, {{"axes", Ints{1}}, {"keepdims", int64_t{1}}}});
    add({"resize nearest 2x " + at, "Resize", {s, {1}, {1}, {1}}, twice, {{"mode", std::string("nearest")}, {"coordinate_transformation_mode", std::string("asymmetric")}, {"nearest_mode", std::string("floor")}}});
    add({"resize linear 2x " + at, "Resize", {s}, twice, {{"mode", std::string("linear")}}});
    add({"resize linear odd " + at, "Resize", {s}, {1, s[1], s[2] + 7, s[3] + 9}, {{"mode", std::string("linear")}}});
    add({"concat channels " + at, "Concat", {s, s}, {1, 2 * s[1], s[2], s[3]}, {{"axis", int64_t{1}}}});
    add({"concat rows " + at, "Concat", {s, s}, {1, s[1], 2 * s[2], s[3]}, {{"axis", int64_t{2}}}});
    add({"slice channels " + at, "Slice", {s}, {1, s[1] / 2, s[2], s[3]}, {{"axes", Ints{1}}}, {0, s[1] / 2}});
    add({"pad 1 " + at, "Pad", {s}, {1, s[1], s[2] + 2, s[3] + 2}, {}, {0, 0, 1, 1, 0, 0, 1, 1}});
    add({"pad reflect " + at, "Pad", {s}, {1, s[1], s[2] + 2, s[3] + 2}, {{"mode", std::string("reflect")}}, {0, 0, 1, 1, 0, 0, 1, 1}});
    add({"batch norm " + at, "BatchNormalization", {s, channel, channel, channel, channel}, s});
    add({"instance norm " + at, "InstanceNormalization", {s, channel, channel}, s});
    add({"group norm " + at, "GroupNormalization", {s, channel, channel}, s, {{"num_groups", int64_t{8}}}});
    add({"lrn " + at, "LRN", {s}, s, {{"size", int64_t{5}}}});
    add({"softmax channels " + at, "Softmax", {s}, s, {{"axis", int64_t{1}}}});
    add({"argmax channels " + at, "ArgMax", {s}, {1, 1, s[2], s[3]}, {{"axis", int64_t{1}}}, {}, 3, true});
    add({"prelu " + at, "PRelu", {s, {s[1], 1, 1}}, s});
    add({"depth to space " + at, "DepthToSpace", {{1, s[1] * 4, s[2] / 2, s[3] / 2}}, s, {{"blocksize", int64_t{2}}}});
    add({"space to depth " + at, "SpaceToDepth", {s}, {1, s[1] * 4, s[2] / 2, s[3] / 2}, {{"blocksize", int64_t{2}}}});
    add({"transpose to nhwc " + at, "Transpose", {s}, {1, s[2], s[3], s[1]}, {{"perm", Ints{0, 2, 3, 1}}}, {}, 1});
  }
  add({"copy image 3@640", "Identity", {{1, 3, 640, 640}}, {1, 3, 640, 640}, {}, {}, 12});
  add({"transpose heads", "Transpose", {{1, 384, 12, 64}}, {1, 12, 384, 64}, {{"perm", Ints{0, 2, 1, 3}}}, {}, 1});
  add({"transpose matrix", "Transpose", {{1000, 777}}, {777, 1000}, {}, {}, 1});
  add({"layer mean", "ReduceMean", {{384, 768}}, {384, 1}, {{"axes", Ints{1}}, {"keepdims", int64_t{1}}}, {}, 1});
  add({"sum over rows", "ReduceSum", {{384, 768}}, {1, 768}, {{"axes", Ints{0}}, {"keepdims", int64_t{1}}}, {}, 1});
  add({"sum of all", "ReduceSum", {{384, 768}}, {1, 1}, {{"axes", Ints{0, 1}}, {"keepdims", int64_t{1}}}, {}, 1});
  add({"mask [b,1,1,s]", "msvm.Pointwise", {{1, 12, 384, 384}, {1, 1, 1, 384}}, {1, 12, 384, 384}, {{"body", Strings{"Mul(i0, 0.125)", "Add(s0, i1)"}}}, {}, 1});
  add({"bias + gelu", "msvm.Pointwise", {{384, 3072}, {3072}}, {384, 3072}, {{"body", Strings{"Add(i0, i1)", "Gelu(s0)"}}}, {}, 1});
  return l;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const char* filter = argc > 2 ? argv[2] : "";
  WorkerPool workers(threads);
  for (const Line& line : lines())
    if (std::strstr(line.label.c_str(), filter))
      for (int layout : {1, 2, 4, 8})
        if (line.layouts & layout) measure(line, layout, workers);
}
