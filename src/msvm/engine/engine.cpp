#include "msvm/engine/engine.h"

#include <fmt/core.h>

#include <cstdlib>

#include "msvm/base/checked.h"
#include "msvm/engine/executable.h"

namespace msvm {

struct Engine::Impl {
  explicit Impl(const EngineOptions& o) : devices(o), mem_optimize(o.mem_optimize), enable_mem_reuse(o.enable_mem_reuse) {}
  Scheduler* scheduler(Device d) {
    if (d == Device{}) return &devices.scheduler;
    SimDevice* sim = devices.simulated(d);
    return sim ? &sim->scheduler : nullptr;
  }
  void changed(Device device, const std::string& source) {
    notes.add(Note::Kind::kCapabilities, fmt::format("Capability DB updated: {} from {}", to_string(device), source));
    if (jit) jit->capabilities_changed();
  }
  Devices devices;
  bool mem_optimize = false, enable_mem_reuse = true;
  JitOptions jit_options;
  Notes notes;
  std::shared_ptr<jit::NativeJit> jit;
};

namespace {

jit::NativeJitOptions native_options(const EngineOptions& o) {
  jit::NativeJitOptions n;
  const Isa isa = cpu_features().isa;
  n.target.isa = isa_name(isa);
  n.target.kernels = isa >= Isa::kAvx2;
  n.target.image_isa = isa == Isa::kAvx512 ? jit::ImageIsa::kAvx512 : jit::ImageIsa::kAvx2;
  n.compiler = o.compiler;
  n.cache_folder = o.code_cache;
  n.disk_cache = o.jit.disk_cache;
  n.strict = o.strict;
  n.compile_timeout = o.jit.compile_timeout;
  n.eager = o.eager_compiler;
  return n;
}

Result<int> level_from_environment(int level) {
  const char* text = std::getenv("MSVM_JIT_LEVEL");
  if (!text || !*text) return level;
  if (std::string_view(text) != "0" && std::string_view(text) != "1" && std::string_view(text) != "2")
    return invalid_argument(fmt::format("MSVM_JIT_LEVEL is '{}': 0, 1 or 2 is possible", text));
  return std::min(level, text[0] - '0');
}

}  // namespace

Engine::Engine() = default;
Engine::~Engine() = default;

Result<std::shared_ptr<Engine>> Engine::create(const EngineOptions& options) {
  constexpr int kMostThreads = 1024, kMostDevices = 16;
  if (options.num_threads < 0 || options.num_threads > kMostThreads)
    return invalid_argument(fmt::format("num_threads is {}: 0 to {} is possible", options.num_threads, kMostThreads));
  if (options.simulated_devices < 0 || options.simulated_devices > kMostDevices)
    return invalid_argument(fmt::format("simulated_devices is {}: 0 to {} is possible", options.simulated_devices, kMostDevices));
  MSVM_RETURN_IF_ERROR(check(options.jit));
  std::shared_ptr<Engine> engine(new Engine);
  engine->impl_ = std::make_unique<Impl>(options);
  engine->impl_->jit_options = options.jit;
  MSVM_ASSIGN_OR_RETURN(engine->impl_->jit_options.jit_level, level_from_environment(options.jit.jit_level));
  engine->impl_->jit = std::make_shared<jit::NativeJit>(native_options(options));
  std::string patch = options.capability_patch;
  if (patch.empty())
    if (const char* env = std::getenv("MSVM_CAPABILITY_DB")) patch = env;
  if (!patch.empty()) MSVM_RETURN_IF_ERROR(engine->load_capability_patch(patch));
  return engine;
}

Result<std::shared_ptr<Executable>> Engine::load(std::shared_ptr<const VerifiedModule> module) { return load(std::move(module), impl_->jit_options); }

Result<std::shared_ptr<Executable>> Engine::load(std::shared_ptr<const VerifiedModule> module, const JitOptions& jit) {
  MSVM_RETURN_IF_ERROR(check(jit));
  if (module->module().functions.empty()) return invalid_argument("the module has no functions: there is nothing to run");
  for (const Function& f : module->module().functions)
    for (size_t r = 0; r < f.regs.size(); ++r)
      if (f.regs[r].type.kind == RegKind::kTensor && !impl_->devices.has(f.regs[r].type.tensor.device))
        return impl_->devices.absent(f.regs[r].type.tensor.device).with_context(fmt::format("R{} of @{}: ", r, f.name));
  auto impl = std::make_unique<Executable::Impl>();
  impl->engine = shared_from_this();
  impl->devices = &impl_->devices;
  RawConstants raw = module.use_count() == 1 ? RawConstants(module->module()) : RawConstants();  // another holder may read them
  MSVM_ASSIGN_OR_RETURN(impl->program, Program::create(std::move(module)));
  impl->thorough = impl_->mem_optimize;
  impl->planning = impl_->enable_mem_reuse;
  if (jit.jit_level > 0) impl->native = impl_->jit->add(impl->program, jit);
  impl->weights = std::make_unique<PackedWeights>(impl->program->module(), std::move(raw), impl_->devices.pool);
  return std::make_shared<Executable>(std::move(impl));
}

Result<std::shared_ptr<Executable>> Engine::load(Module module) {
  VerifyResult v = verify(std::move(module));
  if (!v.module) return to_status(v.errors);
  return load(std::move(v.module));
}

MemoryStats Engine::memory_stats(Device device) const {
  if (device == Device{}) return impl_->devices.pool.stats();
  SimDevice* sim = impl_->devices.simulated(device);
  if (!sim) return {};
  sim->queue->wait();  // what was given back is back
  return sim->pool->stats();
}
WorkerPool& Engine::workers() { return impl_->devices.workers; }
jit::QueueView Engine::jit_queue() const { return impl_->jit->queue_view(); }
const JitOptions& Engine::jit_options() const { return impl_->jit_options; }
void Engine::drain_jit() { impl_->jit->drain(); }
Status Engine::load_bundle(const std::string& path, bool trust_native) {
  MSVM_RETURN_IF_ERROR(impl_->jit->kept().add_bundle(path, trust_native));
  impl_->jit->queue().something_changed();  // what failed may be there now
  return {};
}
void Engine::stop_jit() { impl_->jit->queue().stop(); }
BufferPool& Engine::pool() { return impl_->devices.pool; }

std::shared_ptr<const CapabilityDb> Engine::capability_db(Device device) const {
  Scheduler* s = impl_->scheduler(device);
  return s ? s->db() : nullptr;
}
Status Engine::patch_capabilities(std::string_view json, const std::string& source, Device device) {
  Scheduler* s = impl_->scheduler(device);
  if (!s) return impl_->devices.absent(device);
  MSVM_RETURN_IF_ERROR(s->patch_json(json, source));
  impl_->changed(device, source);
  return {};
}
Status Engine::load_capability_patch(const std::string& path, Device device) {
  Scheduler* s = impl_->scheduler(device);
  if (!s) return impl_->devices.absent(device);
  MSVM_RETURN_IF_ERROR(s->patch_file(path));
  impl_->changed(device, path);
  return {};
}

std::vector<Note> Engine::notes() const { return impl_->notes.all(); }

Result<TensorValue> Engine::allocate(DType dtype, std::span<const int64_t> shape) {
  if (shape.size() > kMaxRank) return unsupported(fmt::format("rank {}: at most {}", shape.size(), kMaxRank));
  TensorValue v;
  v.meta.dtype = dtype;
  v.meta.rank = static_cast<uint8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), v.meta.shape.begin());
  if (!set_dense_strides(v.meta)) return overflow_error("sizes overflow or are negative");
  const int64_t n = v.meta.elements();
  BufferPool& pool = impl_->devices.pool;
  auto storage = dtype == DType::kString ? pool.allocate_strings(n, MemoryOwner::kResults) : pool.allocate(n * dtype_bytes(dtype), MemoryOwner::kResults);
  if (!storage.ok()) return storage.status();
  v.storage = std::move(*storage);
  v.meta.data = v.storage ? v.storage->data : nullptr;
  return v;
}

TensorValue borrow(const TensorMeta& meta, int64_t bytes, void (*release)(void*), void* owner) {
  struct Borrowed {
    void (*release)(void*);
    void* owner;
  };
  auto* s = new Storage;
  s->data = meta.data;
  s->bytes = static_cast<size_t>(bytes);
  s->owner = new Borrowed{release, owner};
  s->release = [](Storage* self) {
    auto* b = static_cast<Borrowed*>(self->owner);
    if (b->release) b->release(b->owner);
    delete b;
    delete self;
  };
  TensorValue v;
  v.meta = meta;
  v.storage = StorageRef::adopt(s);
  return v;
}

}  // namespace msvm
