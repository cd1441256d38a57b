// A program from a stranger, as a file or as text: what verifies is run within tight limits, with the arena and without, and optimised:
// each pass alone and all of them make what verifies, too, and runs. Never a crash, nothing left behind, and the same bits both times.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text.h"
#include "msvm/engine/executable.h"
#include "msvm/engine/optimizer.h"

using namespace msvm;

namespace {

constexpr int64_t kMostElements = 1 << 12;

void require(bool holds, const char* what, const std::string& detail = "") {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", what, detail.c_str());
  std::abort();
}

/// A size that the symbol's declaration allows, small if possible; which one depends on `seed`.
int64_t size_of(const SymbolInfo& info, uint64_t seed) {
  int64_t v = info.min + static_cast<int64_t>(seed % 6);
  if (info.divisor > 1) v += (info.remainder - v % info.divisor + info.divisor) % info.divisor;
  return v > info.max ? info.min : v;
}

std::optional<TensorValue> make_tensor(Devices& devices, const Module& m, const TensorType& t, uint64_t seed) {
  if (t.unknown_rank || t.device.kind != DeviceKind::kCpu) return std::nullopt;
  TensorValue v;
  v.meta.dtype = t.dtype;
  v.meta.layout = t.layout;
  v.meta.rank = static_cast<uint8_t>(t.shape.size());
  int64_t elements = 1;
  for (size_t a = 0; a < t.shape.size(); ++a) {
    auto size = DimContext::evaluate(t.shape[a], [&](SymbolId s) -> std::optional<int64_t> { return size_of(m.dims->symbol_info(s), seed >> (s % 13)); });
    if (!size || *size < 0 || *size > kMostElements || (elements *= std::max<int64_t>(*size, 1)) > kMostElements) return std::nullopt;
    v.meta.shape[a] = *size;
  }
  if (!set_dense_strides(v.meta)) return std::nullopt;
  const int64_t n = v.meta.elements();
  auto storage = t.dtype == DType::kString ? devices.pool.allocate_strings(n, MemoryOwner::kWeights) : devices.pool.allocate(n * dtype_bytes(t.dtype), MemoryOwner::kWeights);
  if (!storage.ok()) return std::nullopt;
  v.storage = std::move(*storage);
  v.meta.data = v.storage->data;
  for (int64_t i = 0; i < n; ++i) {
    std::byte* p = v.meta.data + i * dtype_bytes(t.dtype);
    const float real = static_cast<float>((i + static_cast<int64_t>(seed)) % 7 - 3) * 0.5f;
    switch (t.dtype) {
      case DType::kF32: std::memcpy(p, &real, 4); break;
      case DType::kF64: {
        const double wide = real;
        std::memcpy(p, &wide, 8);
        break;
      }
      case DType::kString: break;
      default:
        std::memset(p, 0, static_cast<size_t>(dtype_bytes(t.dtype)));
        *p = static_cast<std::byte>(t.dtype == DType::kBool ? i % 2 : i % 5);
    }
  }
  return v;
}

std::optional<std::vector<Value>> make_inputs(Devices& devices, const Module& m, const Function& f, uint64_t seed) {
  std::vector<Value> in;
  for (const Param& p : f.inputs) {
    switch (p.type.kind) {
      case RegKind::kTensor: {
        auto t = make_tensor(devices, m, p.type.tensor, seed);
        if (!t) return std::nullopt;
        in.emplace_back(std::move(*t));
        break;
      }
      case RegKind::kI64: in.emplace_back(static_cast<int64_t>(seed % 9) - 2); break;
      case RegKind::kF64: in.emplace_back(static_cast<double>(seed % 9) - 2.5); break;
      case RegKind::kBool: in.emplace_back(seed % 2 == 1); break;
      case RegKind::kList: return std::nullopt;
    }
  }
  return in;
}

/// Everything that a caller can see of the results, byte by byte.
std::string bytes_of(const std::vector<Value>& values) {
  std::string s;
  for (const Value& v : values) {
    if (const auto* i = std::get_if<int64_t>(&v)) s += std::to_string(*i) + ";";
    if (const auto* b = std::get_if<bool>(&v)) s += *b ? "t;" : "f;";
    if (const auto* d = std::get_if<double>(&v)) s += std::string(reinterpret_cast<const char*>(d), 8);
    const auto* t = std::get_if<TensorValue>(&v);
    if (!t) continue;
    s += to_string(t->meta);
    require(t->meta.dense(), "a result isn't dense", s);
    if (t->meta.dtype == DType::kString) continue;
    s.append(reinterpret_cast<const char*>(t->meta.data), static_cast<size_t>(t->meta.elements() * dtype_bytes(t->meta.dtype)));
  }
  return s;
}

Module module_from(const uint8_t* data, size_t size) {
  auto read = read_module({reinterpret_cast<const std::byte*>(data), size}, nullptr);
  if (read.ok()) return std::move(*read);
  AssembleResult a = assemble({reinterpret_cast<const char*>(data), size});
  return a.errors.empty() ? std::move(a.module) : Module();
}

constexpr Limits kLimits{.max_bytes = 1 << 22, .max_instructions = 20000, .max_time = std::chrono::milliseconds(500)};

/// By all passes, or by one.
std::shared_ptr<const Program> optimized(const Module& m, uint64_t seed) {
  OptOptions options;
  const std::vector<std::string> names = pass_names();
  if (seed % 2 == 1) options.passes = {names[seed / 2 % names.size()]};
  auto better = verify_and_optimize(m, options);
  require(better.ok(), "the optimiser fails", better.ok() ? "" : better.status().message());
  auto program = Program::create(*better);
  require(program.ok(), "an optimised program isn't one");
  return *program;
}

void run_function(Devices& devices, const std::shared_ptr<const Program>& program, const std::shared_ptr<const Program>& better, int32_t index, uint64_t seed) {
  const Module& m = program->module();
  auto in = make_inputs(devices, m, m.functions[static_cast<size_t>(index)], seed);
  if (!in) return;
  PooledSession session(program, devices, kLimits);
  std::string seen[2];
  bool ok[2], timed_out = false;
  for (int planned = 0; planned < 2; ++planned) {
    session.session.set_planning(planned);
    auto r = session.session.run(index, *in);
    ok[planned] = r.ok();
    seen[planned] = r.ok() ? bytes_of(*r) : r.status().message();
    timed_out |= !r.ok() && r.status().code() == StatusCode::kResourceLimit;  // limits are met elsewhere with the arena
  }
  require(timed_out || (ok[0] == ok[1] && (!ok[0] || seen[0] == seen[1])), "planned and unplanned runs differ", seen[0] + "\n" + seen[1]);
  PooledSession fast(better, devices, kLimits);
  auto r = fast.session.run(index, *in);
  require(!ok[0] || r.ok() || r.status().code() == StatusCode::kResourceLimit, "the optimised program fails", r.ok() ? "" : r.status().message());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Devices devices({.num_threads = 1, .max_memory = 1 << 26, .simulated_devices = 2});
  VerifyResult verified = verify(module_from(data, size));
  if (!verified.module) return 0;
  for (const Function& f : verified.module->module().functions)
    for (const Register& r : f.regs)
      if (r.type.kind == RegKind::kTensor && !devices.has(r.type.tensor.device)) return 0;
  auto program = Program::create(verified.module);
  if (!program.ok()) return 0;
  uint64_t seed = size;
  for (size_t k = 0; k < size; ++k) seed = seed * 1099511628211u ^ data[k];
  const auto functions = static_cast<int32_t>(verified.module->module().functions.size());
  {
    const auto better = optimized(verified.module->module(), seed);
    for (int32_t f = 0; f < std::min(functions, 16); ++f) run_function(devices, *program, better, f, seed >> (f % 7));
  }
  program = Status(StatusCode::kInternal, "dropped");
  const MemoryStats left = devices.pool.stats();
  require(left.in_use == 0, "memory is left behind", std::to_string(left.in_use));
  return 0;
}
