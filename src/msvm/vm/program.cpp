// Decoded functions and constants of a verified module.
#include <fmt/core.h>

#include <algorithm>

#include "msvm/vm/decode.h"

namespace msvm {
namespace {

void release_constant(Storage* s) {
  delete static_cast<std::shared_ptr<const void>*>(s->owner);
  delete s;
}
void release_strings(Storage* s) {
  delete[] reinterpret_cast<std::string*>(s->data);
  delete s;
}

Result<TensorMeta> constant_meta(const Constant& c, StorageRef& storage) {
  TensorMeta m;
  m.dtype = c.type.dtype;
  m.rank = static_cast<uint8_t>(c.type.rank());
  for (size_t i = 0; i < m.rank; ++i) m.shape[i] = c.type.shape[i].value();
  if (!set_dense_strides(m)) return overflow_error(fmt::format("constant {}: its size overflows", c.name));
  auto* s = new Storage;
  if (m.dtype == DType::kString) {
    auto* strings = new std::string[c.strings.size()];
    std::copy(c.strings.begin(), c.strings.end(), strings);
    s->data = reinterpret_cast<std::byte*>(strings);
    s->bytes = c.strings.size() * sizeof(std::string);
    s->holds_strings = true;
    s->release = release_strings;
  } else {
    s->data = const_cast<std::byte*>(c.data);
    s->bytes = c.bytes;
    s->owner = new std::shared_ptr<const void>(c.keep_alive);
    s->release = release_constant;
  }
  m.data = s->data;
  storage = StorageRef::adopt(s);
  return m;
}

}  // namespace

Program::~Program() = default;

RegionTable* Program::regions(int32_t function) const { return impl_->regions[static_cast<size_t>(function)].load(std::memory_order_acquire); }

RegionTable* Program::attach(int32_t function, std::unique_ptr<RegionTable> table) const {
  std::lock_guard lock(impl_->mutex);
  auto& place = impl_->regions[static_cast<size_t>(function)];
  if (RegionTable* there = place.load(std::memory_order_relaxed)) return there;
  impl_->region_tables.push_back(std::move(table));
  place.store(impl_->region_tables.back().get(), std::memory_order_release);
  return impl_->region_tables.back().get();
}

Result<std::shared_ptr<const Program>> Program::create(std::shared_ptr<const VerifiedModule> module) {
  auto program = std::shared_ptr<Program>(new Program);
  program->impl_ = std::make_unique<Impl>();
  for (size_t i = 0; i < module->module().functions.size(); ++i) {
    MSVM_ASSIGN_OR_RETURN(auto f, vm::decode_function(*module, static_cast<int32_t>(i)));
    program->impl_->functions.push_back(std::move(f));
  }
  program->impl_->regions = std::vector<std::atomic<RegionTable*>>(program->impl_->functions.size());
  for (const Constant& c : module->module().constants) {
    StorageRef storage;
    MSVM_ASSIGN_OR_RETURN(TensorMeta m, constant_meta(c, storage));
    program->impl_->constants.push_back(m);
    program->impl_->constant_storage.push_back(std::move(storage));
  }
  program->module_ = std::move(module);
  return std::shared_ptr<const Program>(program);
}

}  // namespace msvm
