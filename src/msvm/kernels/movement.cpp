// Operators that place elements anew.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "msvm/base/checked.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/kernel_util.h"
#include "msvm/kernels/pixel_kernels.h"

namespace msvm {
namespace {

/// One input of a concatenation of side by side channels: its pixels one after the other, or its channels as rows of pixels.
struct ChannelPart {
  const float* data;
  int64_t pixel, channel, channels;  // distances, number
};

/// Channels of 4 bytes that lie side by side in y: all inputs a block of pixels at a time, so that lines of y are written once. False where
/// some tensor has no one distance from pixel to pixel.
bool concat_channels(KernelCall& c, int axis) {
  const TensorMeta& y = *c.outputs[0];
  const PixelKernels* k = pixel_kernels(cpu_features().isa);
  constexpr size_t kMaxParts = 64;
  if (!k || dtype_bytes(y.dtype) != 4 || y.strides[axis] != 1 || y.shape[axis] == 1 || c.inputs.size() < 2 || c.inputs.size() > kMaxParts || y.elements() == 0) return false;
  ChannelPart parts[kMaxParts];
  size_t count = 0;
  int64_t pixels = 0, pixel = 0, at = 0;
  for (const TensorMeta* x : c.inputs) {
    const int64_t channels = x->shape[axis];
    if (channels == 0) continue;
    if (at + channels > y.shape[axis]) return false;
    at += channels;
    Nest<2> nest;
    for (int a = 0; a < y.rank; ++a)
      if (a != axis) nest.add_axis(y.shape[a], {y.strides[a], x->strides[a]});
    simplify(nest);
    if (nest.rank > 1) return false;
    pixels = nest.count, pixel = nest.inner_stride(0);
    parts[count++] = {x->as<float>(), nest.inner_stride(1), channels == 1 ? 1 : x->strides[axis], channels};
    if (parts[count - 1].channel != 1 && parts[count - 1].pixel != 1) return false;
  }
  if (at != y.shape[axis]) return false;
  const int64_t block = std::clamp<int64_t>(8192 / at / 16 * 16, 16, 1024), blocks = (pixels - 1) / block + 1;
  parallel_items(c.workers, blocks, static_cast<double>(block * at) * 0.15, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * block, n = std::min(block, pixels - first);
      float* to = y.as<float>() + first * pixel;
      for (size_t i = 0; i < count; ++i) {
        const ChannelPart& p = parts[i];
        if (p.channel == 1) k->copy_rows({p.data + first * p.pixel, p.pixel, n, p.channels}, to, pixel);
        else k->transpose({p.data + first, p.channel, p.channels, n}, to, pixel);
        to += p.channels;
      }
    }
  });
  return true;
}

Status run_concat(KernelCall& c) {
  const TensorMeta& y = *c.outputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", 0), y.rank);
  if (y.rank > 1 && concat_channels(c, axis)) return {};
  int64_t at = 0;
  for (const TensorMeta* x : c.inputs) {
    if (at + x->shape[axis] > y.shape[axis]) return internal_error("Concat: the result is too small");
    MSVM_RETURN_IF_ERROR(copy(*x, window(y, axis, at, x->shape[axis]), c.workers));
    at += x->shape[axis];
  }
  return {};
}

Status run_stack(KernelCall& c) {
  const TensorMeta& y = *c.outputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", 0), y.rank);
  for (size_t i = 0; i < c.inputs.size(); ++i) MSVM_RETURN_IF_ERROR(copy(*c.inputs[i], at_index(y, axis, static_cast<int64_t>(i)), c.workers));
  return {};
}

Status run_assign(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &update = *c.inputs[1], &y = *c.outputs[0];
  const auto& axes = c.attrs.get_ints("axes");
  TensorMeta part = y;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int axis = static_cast<int>(axes[k] < 0 ? axes[k] + y.rank : axes[k]);
    if (c.args[k] < 0 || c.args[k] > y.shape[axis] - update.shape[axis]) return internal_error("Assign: the part lies outside of X");
    part = window(part, axis, c.args[k], update.shape[axis]);
  }
  MSVM_RETURN_IF_ERROR(copy(x, y, c.workers));
  return copy(update, part, c.workers);
}

Status run_transpose(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  const auto& perm = c.attrs.get_ints("perm");
  const bool given = c.attrs.has("perm");
  TensorMeta view = x;
  view.layout = Layout::kRowMajor;
  for (int a = 0; a < x.rank; ++a) {
    int from = given ? static_cast<int>(perm[static_cast<size_t>(a)]) : x.rank - 1 - a;
    view.shape[a] = x.shape[from];
    view.strides[a] = x.strides[from];
  }
  return copy(view, *c.outputs[0], c.workers);
}

Status run_slice(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  const size_t n = c.args.size() / 2;
  const auto &axes = c.attrs.get_ints("axes"), &steps = c.attrs.get_ints("steps");
  const int64_t element = dtype_bytes(x.dtype);
  if (y.elements() == 0) return {};
  std::array<int64_t, kMaxRank> step{};
  step.fill(1);
  int64_t at = 0;
  for (size_t i = 0; i < n; ++i) {
    const int a = normal_axis(c.attrs.has("axes") ? axes[i] : static_cast<int64_t>(i), x.rank);
    const int64_t d = x.shape[a], s = steps.empty() ? 1 : steps[i];
    int64_t start = c.args[i];
    if (start < 0) start += d;
    start = std::clamp<int64_t>(start, 0, s > 0 ? d : d - 1);
    step[a] = y.shape[a] > 1 ? s : 0;  // with two elements or more, |s| is less than d
    at += start * x.strides[a];
    // The last element must lie inside: the shape function gave y its size.
    if (y.shape[a] > 0 && (start >= d || start + step[a] * (y.shape[a] - 1) < 0 || start + step[a] * (y.shape[a] - 1) >= d))
      return internal_error("Slice: the result has the wrong size");
  }
  CopyNest nest;
  for (int a = 0; a < x.rank; ++a) nest.add_axis(y.shape[a], {y.strides[a] * element, x.strides[a] * step[a] * element});
  run_copy(nest, y.data, x.data + at * element, element, is_string(x), c.workers);
  return {};
}

/// What Pad and CenterCropPad do: y is x cropped by negative pads, then surrounded by `value`.
Status pad_constant(KernelCall& c, const TensorMeta& x, const TensorMeta& y, const int64_t* begins, const void* value) {
  TensorMeta from = x, to = y;
  for (int a = 0; a < y.rank; ++a) {
    const int64_t first = std::clamp<int64_t>(begins[a], 0, y.shape[a]), skip = std::clamp<int64_t>(begins[a] < 0 ? -begins[a] : 0, 0, x.shape[a]);
    const int64_t count = std::min(x.shape[a] - skip, y.shape[a] - first);
    // `to` is inside on the axes before `a`: what lies before and after it along `a` is border.
    fill(window(to, a, 0, first), value, c.workers);
    fill(window(to, a, first + count, y.shape[a] - first - count), value, c.workers);
    to = window(to, a, first, count);
    from = window(from, a, skip, count);
  }
  return copy(from, to, c.workers);
}

enum class PadMode { kReflect, kEdge, kWrap };

int64_t padded_source(int64_t i, int64_t n, PadMode mode) {
  switch (mode) {
    case PadMode::kEdge: return std::clamp<int64_t>(i, 0, n - 1);
    case PadMode::kWrap: return ((i % n) + n) % n;
    case PadMode::kReflect: {
      if (n == 1) return 0;
      const int64_t period = 2 * (n - 1);
      i = ((i % period) + period) % period;
      return i < n ? i : period - i;
    }
  }
  return 0;
}

template <int kSize>
void gather_offsets(std::byte* to, int64_t to_stride, const std::byte* from, const int64_t* offsets, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + offsets[i], kSize);
}

Status run_pad(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  const size_t rank = x.rank;
  if (c.args.size() != 2 * rank) return invalid_argument("Pad takes a begin and an end for each axis");
  const int64_t *begins = c.args.data(), *ends = begins + rank;
  std::string_view mode = c.attrs.get_string("mode", "constant");
  if (y.elements() == 0) return {};
  if (mode == "constant") {
    const TensorMeta* value = optional_input(c, 1);
    return pad_constant(c, x, y, begins, value ? value->data : nullptr);
  }
  if (y.rank == 0) return copy(x, y, c.workers);
  const PadMode m = mode == "edge" ? PadMode::kEdge : mode == "wrap" ? PadMode::kWrap : PadMode::kReflect;
  const int64_t element = dtype_bytes(x.dtype);
  // Source offset, in bytes, of each position along each axis.
  int64_t total = 0;
  std::array<int64_t, kMaxRank> first{};
  for (int a = 0; a < y.rank; ++a) first[a] = total, total += y.shape[a];
  MSVM_ASSIGN_OR_RETURN(std::byte * memory, c.memory.scratch(total * 8));
  auto* offsets = reinterpret_cast<int64_t*>(memory);
  for (int a = 0; a < y.rank; ++a) {
    const int64_t crop = begins[a] < 0 ? -begins[a] : 0, lead = begins[a] > 0 ? begins[a] : 0;
    const int64_t kept = x.shape[a] - crop - (ends[a] < 0 ? -ends[a] : 0);
    if (kept <= 0) return shape_mismatch("Pad: axis " + std::to_string(a) + " has no element to repeat from");
    for (int64_t i = 0; i < y.shape[a]; ++i) offsets[first[a] + i] = (crop + padded_source(i - lead, kept, m)) * x.strides[a] * element;
  }
  // Axes from the outermost in the result's memory; runs of the innermost that aren't padding are copied whole.
  std::array<int, kMaxRank> order{};
  for (int a = 0; a < y.rank; ++a) order[static_cast<size_t>(a)] = a;
  std::stable_sort(order.begin(), order.begin() + y.rank, [&](int a, int b) { return y.shape[a] > 1 && y.shape[b] > 1 ? y.strides[a] > y.strides[b] : y.shape[a] < y.shape[b]; });
  const int last = order[static_cast<size_t>(y.rank - 1)];
  int64_t rows = 1;
  for (int a = 0; a < y.rank; ++a) rows *= a == last ? 1 : y.shape[a];
  const int64_t n = y.shape[last], to_stride = y.strides[last] * element;
  const int64_t* row = offsets + first[last];
  const bool plain = element <= 8 && to_stride == element && x.strides[last] == 1;
  const int64_t run_first = plain ? std::clamp<int64_t>(begins[last], 0, n) : 0;
  const int64_t run = plain ? std::max<int64_t>(0, std::min(n, n - std::max<int64_t>(0, ends[last])) - run_first) : 0;
  parallel_items(c.workers, rows, static_cast<double>(n) * (run > 0 ? 0.2 : 1.0) + 3, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t rest = r, from = 0, to = 0;
      for (int k = y.rank - 2; k >= 0; --k) {
        const int a = order[static_cast<size_t>(k)];
        const int64_t i = rest % y.shape[a];
        rest /= y.shape[a];
        from += offsets[first[a] + i];
        to += i * y.strides[a] * element;
      }
      auto part = [&](int64_t i, int64_t count) {
        if (count <= 0) return;
        std::byte* out = y.data + to + i * to_stride;
        switch (element) {
          case 1: gather_offsets<1>(out, to_stride, x.data + from, row + i, count); break;
          case 2: gather_offsets<2>(out, to_stride, x.data + from, row + i, count); break;
          case 4: gather_offsets<4>(out, to_stride, x.data + from, row + i, count); break;
          case 8: gather_offsets<8>(out, to_stride, x.data + from, row + i, count); break;
          default:
            for (int64_t j = 0; j < count; ++j) *reinterpret_cast<std::string*>(out + j * to_stride) = *reinterpret_cast<const std::string*>(x.data + from + row[i + j]);
        }
      };
      part(0, run_first);
      if (run > 0) std::memcpy(y.data + to + run_first * element, x.data + from + row[run_first], static_cast<size_t>(run * element));
      part(run_first + run, n - run_first - run);
    }
  });
  return {};
}

Status run_center_crop_pad(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  std::array<int64_t, kMaxRank> begins{};
  // The odd element goes, or is added, at the end.
  for (int a = 0; a < x.rank; ++a) begins[a] = y.shape[a] >= x.shape[a] ? (y.shape[a] - x.shape[a]) / 2 : -((x.shape[a] - y.shape[a]) / 2);
  return pad_constant(c, x, y, begins.data(), nullptr);
}

Status run_tile(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  const int64_t element = dtype_bytes(x.dtype);
  CopyNest nest;
  for (int a = 0; a < x.rank; ++a) {
    nest.add_axis(c.args[static_cast<size_t>(a)], {y.strides[a] * x.shape[a] * element, 0});
    nest.add_axis(x.shape[a], {y.strides[a] * element, x.strides[a] * element});
  }
  run_copy(nest, y.data, x.data, element, is_string(x), c.workers);
  return {};
}

Status copy_to_shape(KernelCall& c, std::span<const int64_t> shape) {
  const TensorMeta& x = *c.inputs[0];
  MSVM_RETURN_IF_ERROR(new_output(c, 0, x.dtype, shape));
  return copy(x, reshaped(*c.outputs[0], x.dims()), c.workers);
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string s = "[";
  for (size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + std::to_string(shape[i]);
  return s + "]";
}

/// The elements of a short i64 tensor of rank 1.
Status read_shape(const TensorMeta& m, std::string_view op, std::array<int64_t, kMaxRank>& out, size_t& rank) {
  int64_t n = m.elements();
  if (n > kMaxRank) return unsupported(std::string(op) + ": a shape of " + std::to_string(n) + " axes; tensors have at most " + std::to_string(kMaxRank));
  rank = static_cast<size_t>(n);
  for (int64_t i = 0; i < n; ++i) out[static_cast<size_t>(i)] = m.as<int64_t>()[offset_of(m, i)];
  return {};
}

Status run_reshape(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  std::array<int64_t, kMaxRank> shape{};
  size_t rank = 0;
  MSVM_RETURN_IF_ERROR(read_shape(*c.inputs[1], "Reshape", shape, rank));
  const bool allow_zero = c.attrs.get_int("allowzero", 0) != 0;
  const std::string wanted = shape_text({shape.data(), rank});
  auto fail = [&](std::string_view why) { return shape_mismatch("Reshape of " + to_string(x) + " to " + wanted + ": " + std::string(why)); };
  int infer = -1;
  for (size_t i = 0; i < rank; ++i) {
    if (shape[i] == 0 && !allow_zero) {
      if (i >= x.rank) return fail("a 0 stands where the input has no axis");
      shape[i] = x.shape[i];
    } else if (shape[i] == -1) {
      if (infer >= 0) return fail("there is more than one -1");
      infer = static_cast<int>(i);
    } else if (shape[i] < 0) {
      return fail("a size is negative");
    }
  }
  if (infer >= 0) shape[static_cast<size_t>(infer)] = 1;
  auto rest = checked_product({shape.data(), rank});
  if (!rest) return fail("the number of elements leaves 64 bits");
  const int64_t n = x.elements();
  if (infer >= 0) {
    if (*rest == 0) return fail("-1 stands beside a size of 0");
    if (n % *rest != 0) return fail("the number of elements is no multiple of the other sizes");
    shape[static_cast<size_t>(infer)] = n / *rest;
  } else if (*rest != n) {
    return fail("the number of elements differs");
  }
  return copy_to_shape(c, {shape.data(), rank});
}

Status run_expand(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  std::array<int64_t, kMaxRank> shape{};
  size_t given = 0;
  MSVM_RETURN_IF_ERROR(read_shape(*c.inputs[1], "Expand", shape, given));
  const size_t rank = std::max<size_t>(given, x.rank);
  std::array<int64_t, kMaxRank> out{};
  for (size_t i = 0; i < rank; ++i) {
    int64_t a = i < rank - x.rank ? 1 : x.shape[i - (rank - x.rank)], b = i < rank - given ? 1 : shape[i - (rank - given)];
    if (b < 0) return shape_mismatch("Expand to " + shape_text({shape.data(), given}) + ": a size is negative");
    if (a != b && a != 1 && b != 1) return shape_mismatch("Expand of " + to_string(x) + " to " + shape_text({shape.data(), given}) + ": sizes don't broadcast");
    out[i] = a == 1 ? b : a;
  }
  if (!checked_product({out.data(), rank})) return overflow_error("Expand to " + shape_text({shape.data(), given}) + ": the number of elements leaves 64 bits");
  MSVM_RETURN_IF_ERROR(new_output(c, 0, x.dtype, {out.data(), rank}));
  const TensorMeta& y = *c.outputs[0];
  auto nest = broadcast_nest<2>(y.dims(), {&y, &x});
  const int64_t element = dtype_bytes(x.dtype);
  for (auto& strides : nest.strides)
    for (int a = 0; a < nest.rank; ++a) strides[a] *= element;
  run_copy(nest, y.data, x.data, element, is_string(x), c.workers);
  return {};
}

/// Bits of the axes listed in the attribute, in [0, rank); none if one is out of range or listed twice.
Result<uint32_t> axes_mask(KernelCall& c, int64_t rank) {
  uint32_t mask = 0;
  for (int64_t a : c.attrs.get_ints("axes")) {
    int64_t k = a < 0 ? a + rank : a;
    if (k < 0 || k >= rank || (mask >> k & 1)) return invalid_argument(std::string(c.op.name) + ": axis " + std::to_string(a) + " is out of range or named twice (rank " + std::to_string(rank) + ")");
    mask |= 1u << k;
  }
  return mask;
}

Status run_squeeze(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  MSVM_ASSIGN_OR_RETURN(uint32_t mask, axes_mask(c, x.rank));
  const bool all = !c.attrs.has("axes");
  std::array<int64_t, kMaxRank> shape{};
  size_t rank = 0;
  for (int a = 0; a < x.rank; ++a) {
    if (all ? x.shape[a] == 1 : (mask >> a & 1) != 0) {
      if (x.shape[a] != 1) return shape_mismatch("Squeeze of " + to_string(x) + ": axis " + std::to_string(a) + " does not have size 1");
      continue;
    }
    shape[rank++] = x.shape[a];
  }
  return copy_to_shape(c, {shape.data(), rank});
}

Status run_unsqueeze(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  const int64_t rank = x.rank + static_cast<int64_t>(c.attrs.get_ints("axes").size());
  if (rank > kMaxRank) return unsupported("Unsqueeze: the result would have rank " + std::to_string(rank) + "; tensors have at most 8 axes");
  MSVM_ASSIGN_OR_RETURN(uint32_t mask, axes_mask(c, rank));
  std::array<int64_t, kMaxRank> shape{};
  int next = 0;
  for (int64_t a = 0; a < rank; ++a) shape[static_cast<size_t>(a)] = mask >> a & 1 ? 1 : x.shape[next++];
  return copy_to_shape(c, {shape.data(), static_cast<size_t>(rank)});
}

Status run_flatten(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  int64_t axis = c.attrs.get_int("axis", 1);
  if (axis < 0) axis += x.rank;
  if (axis < 0 || axis > x.rank) return invalid_argument("Flatten: axis is out of range for rank " + std::to_string(x.rank));
  int64_t shape[2] = {1, 1};
  for (int a = 0; a < x.rank; ++a) shape[a >= axis] *= x.shape[a];
  return copy_to_shape(c, shape);
}

Status run_shape(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  const int64_t rank = x.rank;
  int64_t start = c.attrs.get_int("start", 0), end = c.attrs.get_int("end", kMaxRank);
  if (start < 0) start += rank;
  if (end < 0) end += rank;
  start = std::clamp<int64_t>(start, 0, rank);
  end = std::clamp<int64_t>(end, start, rank);
  const int64_t n = end - start;
  MSVM_RETURN_IF_ERROR(new_output(c, 0, DType::kI64, {&n, 1}));
  for (int64_t i = 0; i < n; ++i) c.outputs[0]->as<int64_t>()[i * c.outputs[0]->strides[0]] = x.shape[static_cast<size_t>(start + i)];
  return {};
}

Status run_size(KernelCall& c) {
  *c.outputs[0]->as<int64_t>() = c.inputs[0]->elements();
  return {};
}

/// Both directions between [N, b*b*C, H, W] (deep) and [N, C, H*b, W*b] (wide).
Status move_blocks(KernelCall& c, const TensorMeta& deep, const TensorMeta& wide, bool to_wide) {
  const int64_t b = c.attrs.get_int("blocksize", 1), channels = wide.shape[1];
  const bool crd = c.attrs.get_string("mode", "DCR") == "CRD";
  const int64_t element = dtype_bytes(deep.dtype), deep_channel = deep.strides[1] * element;
  CopyNest nest;
  auto add = [&](int64_t size, int64_t deep_stride, int64_t wide_stride) {
    nest.add_axis(size, to_wide ? std::array<int64_t, 2>{wide_stride, deep_stride} : std::array<int64_t, 2>{deep_stride, wide_stride});
  };
  add(deep.shape[0], deep.strides[0] * element, wide.strides[0] * element);
  add(channels, deep_channel * (crd ? b * b : 1), wide.strides[1] * element);
  add(deep.shape[2], deep.strides[2] * element, wide.strides[2] * element * b);
  add(b, deep_channel * (crd ? b : b * channels), wide.strides[2] * element);
  add(deep.shape[3], deep.strides[3] * element, wide.strides[3] * element * b);
  add(b, deep_channel * (crd ? 1 : channels), wide.strides[3] * element);
  const TensorMeta &to = to_wide ? wide : deep, &from = to_wide ? deep : wide;
  run_copy(nest, to.data, from.data, element, is_string(deep), c.workers);
  return {};
}
Status run_depth_to_space(KernelCall& c) { return move_blocks(c, *c.inputs[0], *c.outputs[0], true); }
Status run_space_to_depth(KernelCall& c) { return move_blocks(c, *c.outputs[0], *c.inputs[0], false); }

Status run_reverse_sequence(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &lengths = *c.inputs[1], &y = *c.outputs[0];
  const int batch = normal_axis(c.attrs.get_int("batch_axis", 1), x.rank), time = normal_axis(c.attrs.get_int("time_axis", 0), x.rank);
  const int64_t element = dtype_bytes(x.dtype), steps = x.shape[time];
  for (int64_t b = 0; b < x.shape[batch]; ++b) {
    const int64_t n = lengths.as<int64_t>()[b * lengths.strides[0]];
    if (n < 0 || n > steps)
      return out_of_range("ReverseSequence: length " + std::to_string(n) + " of sequence " + std::to_string(b) + " is outside [0, " + std::to_string(steps) + "]");
    TensorMeta from = window(x, batch, b, 1), to = window(y, batch, b, 1);
    MSVM_RETURN_IF_ERROR(copy(window(from, time, n, steps - n), window(to, time, n, steps - n), c.workers));
    if (n == 0 || from.elements() == 0) continue;
    CopyNest nest;
    for (int a = 0; a < x.rank; ++a)
      nest.add_axis(a == time ? n : from.shape[a], {to.strides[a] * element, from.strides[a] * element * (a == time ? -1 : 1)});
    run_copy(nest, to.data, from.data + (n - 1) * from.strides[time] * element, element, is_string(x), c.workers);
  }
  return {};
}

Status run_trilu(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  MSVM_RETURN_IF_ERROR(copy(x, y, c.workers));
  if (y.elements() == 0) return {};
  const bool upper = c.attrs.get_int("upper", 1) != 0;
  const int rows_axis = y.rank - 2, columns_axis = y.rank - 1;
  const int64_t rows = y.shape[rows_axis], columns = y.shape[columns_axis];
  const int64_t k = std::clamp<int64_t>(c.args.empty() ? 0 : c.args[0], -rows - 1, columns + 1);
  for (int64_t i = 0; i < rows; ++i) {
    // Upper keeps j >= i + k, lower keeps j <= i + k.
    const int64_t from = upper ? 0 : std::clamp<int64_t>(i + k + 1, 0, columns), to = upper ? std::clamp<int64_t>(i + k, 0, columns) : columns;
    if (from < to) fill(window(window(y, rows_axis, i, 1), columns_axis, from, to - from), nullptr, c.workers);
  }
  return {};
}

Status run_identity(KernelCall& c) { return copy(*c.inputs[0], *c.outputs[0], c.workers); }

}  // namespace

void add_movement_kernels(KernelList& list) {
  add_kernel(list, "ref_identity", "Identity", run_identity, 0.2);
  add_kernel(list, "ref_concat", "Concat", run_concat, 0.3);
  add_kernel(list, "ref_stack", "msvm.Stack", run_stack, 0.3);
  add_kernel(list, "ref_assign", "msvm.Assign", run_assign, 0.2);
  add_kernel(list, "ref_transpose", "Transpose", run_transpose, 0.6);
  add_kernel(list, "ref_slice", "Slice", run_slice, 0.4);
  add_kernel(list, "ref_pad", "Pad", run_pad, 0.6);
  add_kernel(list, "ref_centercroppad", "CenterCropPad", run_center_crop_pad, 0.4);
  add_kernel(list, "ref_tile", "Tile", run_tile, 0.4);
  add_kernel(list, "ref_reshape", "Reshape", run_reshape, 0.3);
  add_kernel(list, "ref_expand", "Expand", run_expand, 0.3);
  add_kernel(list, "ref_squeeze", "Squeeze", run_squeeze, 0.3);
  add_kernel(list, "ref_unsqueeze", "Unsqueeze", run_unsqueeze, 0.3);
  add_kernel(list, "ref_flatten", "Flatten", run_flatten, 0.3);
  add_kernel(list, "ref_shape", "Shape", run_shape, 0.0);
  add_kernel(list, "ref_size", "Size", run_size, 0.0);
  add_kernel(list, "ref_depthtospace", "DepthToSpace", run_depth_to_space, 0.8);
  add_kernel(list, "ref_spacetodepth", "SpaceToDepth", run_space_to_depth, 0.8);
  add_kernel(list, "ref_reversesequence", "ReverseSequence", run_reverse_sequence, 0.5);
  add_kernel(list, "ref_trilu", "Trilu", run_trilu, 0.4);
}

}  // namespace msvm
