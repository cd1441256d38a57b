// What a call site remembers for its kernels: where the program keeps constant inputs in packed form, by (input, format), and tables of their own.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "msvm/kernels/kernel.h"

namespace msvm {

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};
using AlignedFloats = std::unique_ptr<float[], FreeDeleter>;

inline AlignedFloats aligned_floats(int64_t count) {
  size_t bytes = (static_cast<size_t>(count) * sizeof(float) + 127) / 64 * 64;
  return AlignedFloats(static_cast<float*>(std::aligned_alloc(64, bytes)));
}

/// Every kernel that packs keeps its buffers in one object of this type, so kernels that alternate at a site don't evict each other.
class PackedConstants final : public KernelSiteState {
 public:
  /// Of this call's site, created or replaced as needed.
  static PackedConstants& at(KernelCall& call) {
    auto* state = dynamic_cast<PackedConstants*>(call.site.get());
    if (!state) {
      call.site = std::make_unique<PackedConstants>();
      state = static_cast<PackedConstants*>(call.site.get());
    }
    return *state;
  }
  /// The buffer of that key, or null if it was not made from `source` yet.
  const float* find(int key, const void* source) const {
    for (const Entry& e : entries_)
      if (e.key == key && e.source == source) return e.data;
    return nullptr;
  }
  /// The object of type T that this site keeps, made at the first call.
  template <class T>
  T& part() {
    for (auto& p : parts_)
      if (auto* t = dynamic_cast<T*>(p.get())) return *t;
    parts_.push_back(std::make_unique<T>());
    return static_cast<T&>(*parts_.back());
  }
  /// In place of what the key held. `own` holds the data where no program does.
  const float* keep(int key, const void* source, const float* data, AlignedFloats own = {}) {
    for (Entry& e : entries_)
      if (e.key == key) {
        e = {key, source, data, std::move(own)};
        return data;
      }
    entries_.push_back({key, source, data, std::move(own)});
    return data;
  }

 private:
  struct Entry {
    int key;
    const void* source;
    const float* data;
    AlignedFloats own;
  };
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<KernelSiteState>> parts_;
};

inline bool is_constant(const KernelCall& call, size_t input) { return input < 64 && (call.const_inputs >> input & 1); }

/// `count` floats written by pack(float*): kept by the program if input `i` is constant, else in this call's scratch. What pack writes
/// may depend on the constant's shape and strides, on `key`, on the operator and its attributes group, transA and transB; whatever else
/// it depends on must be part of `key`.
template <class Pack>
Result<const float*> packed_input(KernelCall& call, size_t i, int key, int64_t count, Pack&& pack) {
  if (is_constant(call, i)) {
    PackedConstants& site = PackedConstants::at(call);
    if (const float* p = site.find(key, call.inputs[i]->data)) return p;
    const TensorMeta& source = *call.inputs[i];
    const int64_t variant = call.attrs.get_int("group", 1) * 4 + (call.attrs.get_int("transA", 0) != 0) * 2 + (call.attrs.get_int("transB", 0) != 0);
    auto as_floats = [&](std::byte* to) { pack(reinterpret_cast<float*>(to)); };
    MSVM_ASSIGN_OR_RETURN(const std::byte* shared, call.memory.packed_constant(source, {call.op.name, key, variant}, count * static_cast<int64_t>(sizeof(float)), as_floats));
    if (shared) return site.keep(key, source.data, reinterpret_cast<const float*>(shared));
    AlignedFloats own = aligned_floats(count);
    if (!own) return resource_limit("no memory for packed weights");
    pack(own.get());
    const float* data = own.get();
    return site.keep(key, source.data, data, std::move(own));
  }
  MSVM_ASSIGN_OR_RETURN(std::byte * scratch, call.memory.scratch(count * static_cast<int64_t>(sizeof(float)) + 64));
  float* p = reinterpret_cast<float*>(scratch);
  pack(p);
  return const_cast<const float*>(p);
}

}  // namespace msvm
