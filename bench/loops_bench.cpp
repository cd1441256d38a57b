// Compiled loop programs: CPU milliseconds to compile (parse, IR, code generation, layout) and nanoseconds per element, beside the prebuilt
// body and row kernels that do the same.
//   loops_bench [avx2|avx512] [filter]
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "msvm/jit/compiler/compile.h"
#include "msvm/kernels/body_program.h"
#include "msvm/kernels/row_kernels.h"
#include "timing.h"

namespace {
using namespace msvm;

constexpr int kRounds = 21;

struct Sample {
  std::string name, steps;            // of one pass: t0, t1 in, t2 out; or a whole kernel's passes
  std::vector<std::string> body;      // the same as a body
  bool rows = false;                  // `steps` are passes over rows
  bool layer_norm = false;
};

const std::vector<Sample> kSamples = {
    {"copy", "v0 = load t0 : f32\nstore t2, v0\n", {}},
    {"x * y + y, relu", "v0 = load t0 : f32\nv1 = load t1 : f32\nv2 = mul v0, v1 : f32\nv3 = add v2, v1 : f32\nv4 = relu v3 : f32\nstore t2, v4\n", {"Mul(i0, i1)", "Add(s0, i1)", "Relu(s1)"}},
    {"exp", "v0 = load t0 : f32\nv1 = exp v0 : f32\nstore t2, v1\n", {"Exp(i0)"}},
    {"silu", "v0 = load t0 : f32\nv1 = silu v0 : f32\nstore t2, v1\n", {"Silu(i0)"}},
    {"gelu", "v0 = load t0 : f32\nv1 = gelu v0 : f32\nstore t2, v1\n", {"Gelu(i0)"}},
    {"gelu_tanh", "v0 = load t0 : f32\nv1 = gelu_tanh v0 : f32\nstore t2, v1\n", {"GeluTanh(i0)"}},
    {"pow", "v0 = load t0 : f32\nv1 = abs v0 : f32\nv2 = pow v1, 1.7 : f32\nstore t2, v2\n", {"Abs(i0)", "Pow(s0, 1.7)"}},
    {"sin", "v0 = load t0 : f32\nv1 = sin v0 : f32\nstore t2, v1\n", {"Sin(i0)"}},
    {"gelu(x * y) + y", "v0 = load t0 : f32\nv1 = load t1 : f32\nv2 = mul v0, v1 : f32\nv3 = gelu v2 : f32\nv4 = add v3, v1 : f32\nstore t2, v4\n", {"Mul(i0, i1)", "Gelu(s0)", "Add(s1, i1)"}},
    {"softmax",
     "pass\nv0 = load t0 : f32\nr0 = reduce_max v0 : f32\npass\nv1 = load t0 : f32\nv2 = sub v1, r0 : f32\nv3 = exp v2 : f32\nstore t2, v3\nr1 = reduce_sum v3 : f32\n"
     "row\nr2 = div 1, r1 : f32\npass\nv4 = load t2 : f32\nv5 = mul v4, r2 : f32\nstore t2, v5\n",
     {}, true, false},
    {"layer norm",
     "row\nr0 = cast n0 : f32\npass\nv0 = load t0 : f32\nr1 = reduce_sum v0 : f32\nrow\nr2 = div r1, r0 : f32\npass\nv1 = load t0 : f32\nv2 = sub v1, r2 : f32\nv3 = mul v2, v2 : f32\n"
     "r3 = reduce_sum v3 : f32\nrow\nr4 = div r3, r0 : f32\nr5 = add r4, 1e-5 : f32\nr6 = sqrt r5 : f32\nr7 = div 1, r6 : f32\npass\nv4 = load t0 : f32\nv5 = sub v4, r2 : f32\n"
     "v6 = mul v5, r7 : f32\nstore t2, v6\n",
     {}, true, true},
};

std::string text_of(const Sample& s) {
  return "loops version 1\nkernel k(t0: f32, t1: f32, t2: out f32; n0, n1)\nouter [n1]\ninner n0\nt0 [n0, 1]\nt1 [n0, 1]\nt2 [n0, 1]\n" + (s.rows ? s.steps : "pass\n" + s.steps);
}

struct CompileTimes {
  double parse = 0, emit = 0, generate = 0, lay_out = 0, total = 0;
};
/// Of this thread: compiling is short, and the machine may be busy.
double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}
CompileTimes compile_times(const std::string& text, jit::ImageIsa isa, size_t& code) {
  auto once = [&](CompileTimes& t) {
    const double start = cpu_ms();
    double since = start;
    double* into = &t.parse;
    auto mark = [&](double* next) {
      const double now = cpu_ms();
      *into += now - since;
      since = now;
      into = next;
    };
    auto program = loops::parse(text);
    if (!program.ok()) std::fprintf(stderr, "%s\n", program.status().message().c_str()), std::abort();
    auto image = compiler::compile(*program, isa, [&](compiler::Stage s) { mark(s == compiler::Stage::kEmit ? &t.emit : s == compiler::Stage::kGenerate ? &t.generate : &t.lay_out); });
    mark(nullptr);
    if (!image.ok()) std::fprintf(stderr, "%s\n", image.status().message().c_str()), std::abort();
    code = jit::decode_image(*image)->code.size();
    t.total = since - start;
  };
  std::vector<CompileTimes> all(kRounds);
  for (CompileTimes& t : all) once(t);
  std::nth_element(all.begin(), all.begin() + kRounds / 2, all.end(), [](const auto& a, const auto& b) { return a.total < b.total; });
  return all[kRounds / 2];
}

double compiled_ns(const jit::NativeImage& image, float** data, int64_t n, int64_t rows, int calls) {
  void* pointers[] = {data[0], data[1], data[2]};
  const int64_t sizes[] = {n, rows};
  return bench::median_ns(kRounds, [&] {
           for (int c = 0; c < calls; ++c) image.entry(0)(pointers, sizes, 0, rows, 0, n);
         }) / calls / static_cast<double>(n * rows);
}

double prebuilt_ns(const Sample& s, Isa isa, float** data, int64_t n, int64_t rows, int calls) {
  if (s.rows) {
    const RowKernels& r = *row_kernels(isa);
    return bench::median_ns(kRounds, [&] {
             for (int c = 0; c < calls; ++c)
               for (int64_t i = 0; i < rows; ++i) {
                 if (s.layer_norm) r.normalize(data[0] + i * n, n, true, 1e-5f, nullptr, nullptr, data[2] + i * n, nullptr, nullptr);
                 else r.softmax(data[0] + i * n, n, data[2] + i * n);
               }
           }) / calls / static_cast<double>(n * rows);
  }
  if (s.body.empty()) return bench::median_ns(kRounds, [&] {
                               for (int c = 0; c < calls; ++c) std::memcpy(data[2], data[0], static_cast<size_t>(n * rows) * 4);
                             }) / calls / static_cast<double>(n * rows);
  auto body = parse_body(s.body, 0, 2, false);
  if (!body.ok()) std::fprintf(stderr, "%s\n", body.status().message().c_str()), std::abort();
  const BodyProgram program(*body);
  const VectorKernels& v = isa == Isa::kAvx512 ? kVectorKernelsAvx512 : kVectorKernelsAvx2;
  std::vector<float> scratch(static_cast<size_t>(program.scratch_floats()) + 16);
  const BodyRow inputs[] = {{data[0], 1}, {data[1], 1}};
  return bench::median_ns(kRounds, [&] {
           for (int c = 0; c < calls; ++c) program.run(v, nullptr, inputs, data[2], n * rows, scratch.data());
         }) / calls / static_cast<double>(n * rows);
}

}  // namespace

int main(int argc, char** argv) {
  const Isa isa = argc > 1 && !std::strcmp(argv[1], "avx2") ? Isa::kAvx2 : std::min(cpu_features().isa, Isa::kAvx512);
  const jit::ImageIsa image_isa = isa == Isa::kAvx512 ? jit::ImageIsa::kAvx512 : jit::ImageIsa::kAvx2;
  std::printf("%s, one thread\n%-18s %6s %6s %8s %7s %6s | ns per element, compiled / prebuilt\n%-58s | %15s %15s %15s %15s\n", std::string(isa_name(isa)).c_str(), "", "parse", "IR", "codegen", "layout", "bytes",
              "CPU milliseconds", "64 x 16", "16 x 100", "16 x 1000", "64 x 65536");
  for (const Sample& s : kSamples) {
    if (argc > 2 && s.name.find(argv[2]) == std::string::npos) continue;
    size_t code = 0;
    const CompileTimes t = compile_times(text_of(s), image_isa, code);
    std::printf("%-18s %6.2f %6.2f %8.2f %7.2f %6zu |", s.name.c_str(), t.parse, t.emit, t.generate, t.lay_out, code);
    auto bytes = compiler::compile(*loops::parse(text_of(s)), image_isa);
    auto image = jit::NativeImage::load(*bytes, image_isa);
    for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{64, 16}, {16, 100}, {16, 1000}, {64, 65536}}) {
      const auto count = static_cast<size_t>(rows * n);
      float* data[3];
      for (float*& d : data) {
        d = static_cast<float*>(std::aligned_alloc(64, (count * 4 + 127) / 64 * 64));
        for (size_t i = 0; i < count; ++i) d[i] = static_cast<float>(i * 7 % 13) * 0.3f - 1.7f;
      }
      const int calls = static_cast<int>(std::max<int64_t>(1, 200000 / (rows * n)));
      const double c = compiled_ns(**image, data, n, rows, calls), p = prebuilt_ns(s, isa, data, n, rows, calls);
      std::printf("   %5.3f / %5.3f", c, p);
      for (float* d : data) std::free(d);
    }
    std::printf("\n");
  }
}
