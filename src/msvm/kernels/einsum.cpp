// Einsum: every label is a loop; the summed ones run innermost, in order of first appearance.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/fma_chain.h"

namespace msvm {

void add_einsum_kernels(KernelList& list);

namespace {

// Labels of one term; an ellipsis stands for labels 256, 257, ... aligned at the right.
using Term = std::vector<int>;
constexpr int kEllipsis = 256;

struct Equation {
  std::vector<Term> inputs;
  Term output;
};

Status parse_term(std::string_view text, int ellipsis_rank, Term& term) {
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.substr(i, 3) != "...") return invalid_argument("Einsum: a lone '.' in the equation");
      for (int d = 0; d < ellipsis_rank; ++d) term.push_back(kEllipsis + kMaxRank - ellipsis_rank + d);
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term.push_back(c);
    } else {
      return invalid_argument("Einsum: unexpected character in the equation");
    }
  }
  return {};
}

Status parse(std::string_view text, std::span<const TensorMeta* const> inputs, Equation& eq) {
  size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  int widest = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t comma = left.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == inputs.size())) return invalid_argument("Einsum: the equation doesn't have one term per input");
    std::string_view part = left.substr(0, comma);
    int letters = 0;
    bool dots = part.find('.') != std::string_view::npos;
    for (char c : part) letters += c != ' ' && c != '.';
    int rest = inputs[i]->rank - letters;
    if (rest < 0 || (!dots && rest != 0)) return shape_mismatch("Einsum: the term of input " + std::to_string(i) + " doesn't have its rank");
    widest = std::max(widest, rest);
    eq.inputs.emplace_back();
    MSVM_RETURN_IF_ERROR(parse_term(part, rest, eq.inputs.back()));
    if (comma != std::string_view::npos) left = left.substr(comma + 1);
  }
  if (arrow != std::string_view::npos) return parse_term(text.substr(arrow + 2), widest, eq.output);
  for (int d = 0; d < widest; ++d) eq.output.push_back(kEllipsis + kMaxRank - widest + d);
  for (int c = 'A'; c <= 'z'; ++c) {
    int64_t uses = 0;
    for (const Term& t : eq.inputs) uses += std::count(t.begin(), t.end(), c);
    if (uses == 1) eq.output.push_back(c);
  }
  return {};
}

struct Loop {
  int label;
  int64_t size = 1;
  std::vector<int64_t> strides;  // one per input
};

template <class T>
Status einsum_as(KernelCall& call) {
  Equation eq;
  MSVM_RETURN_IF_ERROR(parse(call.attrs.get_string("equation", ""), call.inputs, eq));
  const size_t n = call.inputs.size();
  std::vector<const T*> data(n);
  std::vector<Loop> loops;
  for (int label : eq.output) loops.push_back({label, 1, std::vector<int64_t>(n)});
  const size_t outer = loops.size();
  for (size_t i = 0; i < n; ++i) {
    MSVM_ASSIGN_OR_RETURN(data[i], dense_input<T>(call, *call.inputs[i]));
    TensorMeta m = *call.inputs[i];
    if (!set_dense_strides(m)) return internal_error("Einsum: sizes leave 64 bits");
    for (size_t d = 0; d < eq.inputs[i].size(); ++d) {
      int label = eq.inputs[i][d];
      auto loop = std::find_if(loops.begin(), loops.end(), [&](const Loop& l) { return l.label == label; });
      if (loop == loops.end()) loop = loops.insert(loops.end(), {label, 1, std::vector<int64_t>(n)});
      int64_t size = m.shape[d];
      if (size != 1) {
        if (loop->size != 1 && loop->size != size) return shape_mismatch("Einsum: sizes " + std::to_string(loop->size) + " and " + std::to_string(size) + " for one label");
        loop->size = size;
        loop->strides[i] += m.strides[d];
      }
    }
  }
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  if (call.outputs[0]->rank != outer) return shape_mismatch("Einsum: wrong rank of the result");
  for (size_t d = 0; d < outer; ++d)
    if (call.outputs[0]->shape[d] != loops[d].size) return shape_mismatch("Einsum: wrong shape of the result");
  bool summed_empty = false;
  for (size_t l = outer; l < loops.size(); ++l) summed_empty = summed_empty || loops[l].size == 0;
  if (loops.size() == outer) loops.push_back({-1, 1, std::vector<int64_t>(n)});
  const Loop& inner = loops.back();
  const size_t depth = loops.size() - 1;  // loops of the odometer
  std::vector<int64_t> index(loops.size()), at(n);
  const T one{1};
  int64_t count = call.outputs[0]->elements();
  for (int64_t o = 0; o < count; ++o) {
    T sum{};
    while (!summed_empty) {
      if (n == 2) {
        sum = fma_chain(sum, data[0] + at[0], inner.strides[0], data[1] + at[1], inner.strides[1], inner.size);
      } else if (n == 1) {
        sum = fma_chain(sum, data[0] + at[0], inner.strides[0], &one, 0, inner.size);
      } else {
        for (int64_t k = 0; k < inner.size; ++k) {
          T term = data[0][at[0] + k * inner.strides[0]];
          for (size_t i = 1; i < n; ++i) {
            T factor = data[i][at[i] + k * inner.strides[i]];
            if constexpr (std::is_integral_v<T>) term = static_cast<T>(static_cast<uint64_t>(term) * static_cast<uint64_t>(factor));
            else term *= factor;
          }
          if constexpr (std::is_integral_v<T>) sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(term));
          else sum += term;
        }
      }
      size_t l = depth;
      for (; l > outer; --l) {
        const Loop& loop = loops[l - 1];
        for (size_t i = 0; i < n; ++i) at[i] += loop.strides[i];
        if (++index[l - 1] < loop.size) break;
        for (size_t i = 0; i < n; ++i) at[i] -= loop.strides[i] * loop.size;
        index[l - 1] = 0;
      }
      if (l == outer) break;
    }
    y[o] = sum;
    for (size_t l = outer; l > 0; --l) {
      const Loop& loop = loops[l - 1];
      for (size_t i = 0; i < n; ++i) at[i] += loop.strides[i];
      if (++index[l - 1] < loop.size) break;
      for (size_t i = 0; i < n; ++i) at[i] -= loop.strides[i] * loop.size;
      index[l - 1] = 0;
    }
  }
  y.commit();
  return {};
}

Status ref_einsum(KernelCall& call) {
  if (is_float(call.inputs[0]->dtype)) return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return einsum_as<decltype(zero)>(call); });
  return einsum_as<int64_t>(call);
}

}  // namespace

void add_einsum_kernels(KernelList& list) {
  list.push_back({.name = "ref_einsum", .op = "Einsum", .run = ref_einsum, .dtypes = kNumeric, .default_ns_per_work = 100});
}

}  // namespace msvm
