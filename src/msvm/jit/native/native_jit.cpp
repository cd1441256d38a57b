#include "msvm/jit/native/native_jit.h"

#include <algorithm>

#include "msvm/jit/native/native_program.h"

namespace msvm::jit {
namespace {

QueueOptions queue_options(const NativeJitOptions& o, std::shared_ptr<CodeStore> store) {
  QueueOptions q;
  q.store = std::move(store);
  q.compiler.path = o.compiler;
  q.deadline = o.compile_timeout;
  q.compiler.idle_priority = !o.eager;
  return q;
}

}  // namespace

NativeJit::NativeJit(NativeJitOptions options)
    : options_(std::move(options)),
      kept_(std::make_shared<KeptCode>(options_.compiler, options_.cache_folder, options_.disk_cache)),
      queue_(std::make_unique<CompileQueue>(queue_options(options_, kept_))) {}
NativeJit::~NativeJit() = default;

std::shared_ptr<NativeProgram> NativeJit::add(std::shared_ptr<const Program> program, const JitOptions& options) {
  auto p = std::make_shared<NativeProgram>(shared_from_this(), std::move(program), options);
  std::lock_guard lock(mutex_);
  std::erase_if(programs_, [](const auto& w) { return w.expired(); });
  programs_.push_back(p);
  return p;
}

void NativeJit::capabilities_changed() {
  std::vector<std::shared_ptr<NativeProgram>> programs;
  {
    std::lock_guard lock(mutex_);
    for (const auto& w : programs_)
      if (auto p = w.lock()) programs.push_back(std::move(p));
  }
  queue_->something_changed();
  for (const auto& p : programs) p->retire_all();
}

std::string NativeJit::flags() const { return options_.strict ? "strict" : ""; }

void NativeJit::drain() {
  std::vector<std::shared_ptr<NativeProgram>> programs;
  {
    std::lock_guard lock(mutex_);
    for (const auto& w : programs_)
      if (auto p = w.lock()) programs.push_back(std::move(p));
  }
  for (const auto& p : programs) p->notify();
  queue_->drain();
}

std::shared_ptr<const NativeImage> NativeJit::find_image(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto at = images_.find(key);
  return at == images_.end() ? nullptr : at->second.lock();
}

Result<std::shared_ptr<const NativeImage>> NativeJit::map(const std::string& key, const std::vector<std::byte>& bytes) {
  MSVM_ASSIGN_OR_RETURN(auto image, NativeImage::load(bytes, options_.target.image_isa));
  std::lock_guard lock(mutex_);
  std::erase_if(images_, [](const auto& e) { return e.second.expired(); });
  auto& place = images_[key];
  if (auto there = place.lock()) return there;
  place = image;
  return image;
}

}  // namespace msvm::jit
