// Inside of DimContext: where nodes lie and how equal ones are found.
#pragma once
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "msvm/shape/dim.h"
#include "msvm/shape/dim_bounds.h"

namespace msvm {

/// Memory that is only freed as a whole.
class DimArena {
 public:
  template <class T>
  T* allocate(size_t n) {
    size_t bytes = (n * sizeof(T) + 7) & ~size_t{7};
    if (bytes > left_) {
      size_t chunk = std::max(bytes, next_);
      next_ = std::min<size_t>(2 * next_, 1 << 18);
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
      at_ = chunks_.back().get();
      left_ = chunk;
    }
    std::byte* p = at_;
    at_ += bytes;
    left_ -= bytes;
    return reinterpret_cast<T*>(p);
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* at_ = nullptr;
  size_t left_ = 0, next_ = 4096;
};

/// Open addressing over pointers to things with a `hash`.
template <class T>
class InternTable {
 public:
  template <class Equal>
  const T* find(uint64_t hash, const Equal& equal) const {
    if (slots_.empty()) return nullptr;
    for (size_t i = hash;; ++i) {
      const T* s = slots_[i & (slots_.size() - 1)];
      if (!s) return nullptr;
      if (s->hash == hash && equal(*s)) return s;
    }
  }
  void insert(const T* item) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    place(item);
    ++count_;
  }
  template <class Keep>
  void retain(const Keep& keep) {
    std::vector<const T*> old(slots_.size());
    old.swap(slots_);
    count_ = 0;
    for (const T* s : old)
      if (s && keep(*s)) {
        place(s);
        ++count_;
      }
  }

 private:
  void place(const T* item) {
    size_t i = item->hash;
    while (slots_[i & (slots_.size() - 1)]) ++i;
    slots_[i & (slots_.size() - 1)] = item;
  }
  void grow() {
    std::vector<const T*> old(std::max<size_t>(64, 2 * slots_.size()));
    old.swap(slots_);
    for (const T* s : old)
      if (s) place(s);
  }
  std::vector<const T*> slots_;
  size_t count_ = 0;
};

inline uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

/// An array of terms that stays on the stack while it is short.
class TermBuffer {
 public:
  void push(int64_t coefficient, std::span<const Dim> factors) {
    if (size_ == capacity_) grow();
    ::new (data_ + size_++) DimTerm{coefficient, factors};
  }
  DimTerm* data() { return data_; }
  size_t size() const { return size_; }
  void resize_down(size_t n) { size_ = n; }
  std::span<const DimTerm> terms() const { return {data_, size_}; }
  TermBuffer() = default;
  TermBuffer(const TermBuffer&) = delete;
  TermBuffer& operator=(const TermBuffer&) = delete;

 private:
  void grow() {
    auto bigger = std::make_unique_for_overwrite<std::byte[]>(2 * capacity_ * sizeof(DimTerm));
    std::memcpy(bigger.get(), data_, size_ * sizeof(DimTerm));
    heap_.swap(bigger);
    data_ = reinterpret_cast<DimTerm*>(heap_.get());
    capacity_ *= 2;
  }
  static constexpr size_t kInline = 24;
  alignas(DimTerm) std::byte inline_[kInline * sizeof(DimTerm)];
  std::unique_ptr<std::byte[]> heap_;
  DimTerm* data_ = reinterpret_cast<DimTerm*>(inline_);
  size_t size_ = 0, capacity_ = kInline;
};

/// Any expression seen as constant + terms.
struct DimPolynomial {
  DimPolynomial(Dim d) {  // NOLINT(google-explicit-constructor)
    if (d.is_const()) {
      constant = d.value();
    } else if (const DimNode& n = *d.node(); n.op == DimOp::kSum) {
      constant = n.constant;
      terms = n.terms;
    } else {
      single = {1, {&n.self, 1}};
      terms = {&single, 1};
    }
  }
  DimPolynomial(const DimPolynomial&) = delete;
  DimPolynomial& operator=(const DimPolynomial&) = delete;

  int64_t constant = 0;
  std::span<const DimTerm> terms;
  DimTerm single;
};

/// Order of products: higher degree first, then by their factors.
int compare_monomials(std::span<const Dim> x, std::span<const Dim> y);

struct DimContext::Impl {
  struct Monomial {
    uint64_t hash;
    std::span<const Dim> factors;
  };
  DimArena arena;
  InternTable<DimNode> nodes;
  InternTable<Monomial> monomials;
  std::vector<Dim> symbols, hidden_symbols;
  std::vector<SymbolInfo> hidden;
  std::map<std::tuple<SymbolId, int64_t, int64_t>, Dim> hidden_by_base;
  std::unordered_map<std::string, SymbolId> by_name;
  uint32_t next_id = 0;
};

/// Hidden symbols have ids from here on.
constexpr SymbolId kFirstHiddenSymbol = SymbolId{1} << 31;

/// Ranges and residues as the symbols' declarations give them.
class DimContext::Declared : public DimBounds {
 public:
  explicit Declared(const DimContext& c) : context_(c) {}

 protected:
  DimRange symbol_range(SymbolId s) const override { return declared_range(context_.symbol_info(s)); }
  DimResidue symbol_residue(SymbolId s) const override { return declared_residue(context_.symbol_info(s)); }

 private:
  const DimContext& context_;
};

}  // namespace msvm
