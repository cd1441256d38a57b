#include "msvm/kernels/window.h"

#include <algorithm>

namespace msvm {

Status describe_window(const KernelCall& call, const TensorMeta& x, const TensorMeta& y, std::span<const int64_t> kernel, Window& w) {
  const std::string op(call.op.name);
  int rank = x.rank - 2;
  if (rank < 1 || y.rank != x.rank || static_cast<int>(kernel.size()) != rank) return shape_mismatch(op + ": input, result and kernel don't have the same number of spatial axes");
  const auto &strides = call.attrs.get_ints("strides"), &dilations = call.attrs.get_ints("dilations"), &pads = call.attrs.get_ints("pads");
  std::string_view auto_pad = call.attrs.get_string("auto_pad", "NOTSET");
  auto count_is = [&](const std::vector<int64_t>& v, int n) { return v.empty() || static_cast<int>(v.size()) == n; };
  if (!count_is(strides, rank) || !count_is(dilations, rank) || !count_is(pads, 2 * rank)) return shape_mismatch(op + ": attributes don't have one value per spatial axis");
  constexpr int64_t kLargest = int64_t{1} << 31;
  w.rank = rank;
  for (int d = 0; d < rank; ++d) {
    w.in[d] = x.shape[d + 2];
    w.out[d] = y.shape[d + 2];
    w.kernel[d] = kernel[d];
    w.stride[d] = strides.empty() ? 1 : strides[d];
    w.dilation[d] = dilations.empty() ? 1 : dilations[d];
    if (w.stride[d] < 1 || w.stride[d] > kLargest || w.dilation[d] < 1 || w.dilation[d] > kLargest || w.kernel[d] < 0 || w.kernel[d] > kLargest)
      return out_of_range(op + ": stride, dilation or kernel size out of range");
    __int128 extent = static_cast<__int128>(w.kernel[d] - 1) * w.dilation[d] + 1;
    __int128 span = static_cast<__int128>(std::max<int64_t>(w.out[d], 1) - 1) * w.stride[d];
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      __int128 total = std::max<__int128>(0, span + extent - w.in[d]);
      if (total > (static_cast<__int128>(1) << 61)) return out_of_range(op + ": padding out of range");
      int64_t t = static_cast<int64_t>(total);
      w.begin[d] = auto_pad == "SAME_UPPER" ? t / 2 : t - t / 2;
      w.end[d] = t - w.begin[d];
    } else if (auto_pad == "NOTSET" && !pads.empty()) {
      w.begin[d] = pads[d];
      w.end[d] = pads[d + rank];
      if (pads[d] < -kLargest || pads[d] > kLargest || pads[d + rank] < -kLargest || pads[d + rank] > kLargest) return out_of_range(op + ": padding out of range");
    }
    if (span + extent > (static_cast<__int128>(1) << 61)) return out_of_range(op + ": window out of range");
  }
  return {};
}

bool as_three_axes(const Window& w, Window& three) {
  if (w.rank > 3) return false;
  three = Window();
  three.rank = 3;
  int skip = 3 - w.rank;
  for (int d = 0; d < 3; ++d) {
    bool there = d >= skip;
    three.in[d] = there ? w.in[d - skip] : 1;
    three.out[d] = there ? w.out[d - skip] : 1;
    three.kernel[d] = there ? w.kernel[d - skip] : 1;
    three.stride[d] = there ? w.stride[d - skip] : 1;
    three.dilation[d] = there ? w.dilation[d - skip] : 1;
    three.begin[d] = there ? w.begin[d - skip] : 0;
    three.end[d] = there ? w.end[d - skip] : 0;
  }
  return true;
}

}  // namespace msvm
