// The part of a call's metadata that a choice depends on, as one row of words. Private to the room.
#pragma once
#include <algorithm>
#include <vector>

#include "msvm/sched/scheduler.h"

namespace msvm {

inline bool has_bit(uint64_t mask, size_t i) { return i < 64 && (mask >> i & 1); }

class Signature {
 public:
  void set(const Scheduler::Call& c) {
    words_.clear();
    words_.push_back(static_cast<int64_t>(c.inputs.size()));
    words_.push_back(static_cast<int64_t>(c.outputs.size()));
    words_.insert(words_.end(), c.args.begin(), c.args.end());
    for (const TensorMeta* m : c.inputs) append(m);
    for (size_t i = 0; i < c.outputs.size(); ++i)
      if (!has_bit(c.new_outputs, i)) append(c.outputs[i]);
  }

  /// Of a call at the same site: counts of arguments and bits of `new_outputs` are those of set().
  bool matches(const Scheduler::Call& c) const {
    const int64_t* w = words_.data();
    if (w[0] != static_cast<int64_t>(c.inputs.size()) || w[1] != static_cast<int64_t>(c.outputs.size())) return false;
    w += 2;
    for (int64_t a : c.args)
      if (*w++ != a) return false;
    for (const TensorMeta* m : c.inputs)
      if (!(w = compare(m, w))) return false;
    for (size_t i = 0; i < c.outputs.size(); ++i)
      if (!has_bit(c.new_outputs, i) && !(w = compare(c.outputs[i], w))) return false;
    return true;
  }

 private:
  static constexpr int64_t kAbsent = -1;
  static int64_t head(const TensorMeta& m) {
    return static_cast<int64_t>(m.dtype) | m.rank << 8 | static_cast<int64_t>(m.layout) << 16 | static_cast<int64_t>(m.data == nullptr) << 24;
  }

  void append(const TensorMeta* m) {
    words_.push_back(m ? head(*m) : kAbsent);
    for (size_t i = 0; m && i < m->rank; ++i) words_.insert(words_.end(), {m->shape[i], m->strides[i]});
  }
  static const int64_t* compare(const TensorMeta* m, const int64_t* w) {
    if (!m) return *w == kAbsent ? w + 1 : nullptr;
    if (*w++ != head(*m)) return nullptr;
    int64_t differ = 0;
    for (size_t i = 0; i < m->rank; ++i, w += 2) differ |= (w[0] ^ m->shape[i]) | (w[1] ^ m->strides[i]);
    return differ ? nullptr : w;
  }

  std::vector<int64_t> words_;
};

}  // namespace msvm
