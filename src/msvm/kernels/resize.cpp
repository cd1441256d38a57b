// Resize: the reference (any rank, every mode) and f32 kernels for the last two axes.
#include "msvm/kernels/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/resize_site.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {

void add_grid_kernels(KernelList& list);                  // grid_sample.cpp
void add_resize_channels_last_kernels(KernelList& list);  // resize_channels_last.cpp

namespace {

// visit(output number, input offset in elements, any axis outside) for every output element.
template <class Visit>
void for_each_nearest(const ResizePlan& plan, const TensorMeta& x, const TensorMeta& y, Visit visit) {
  const int rank = y.rank;
  int64_t count = y.elements();
  std::array<int64_t, kMaxRank> at{};
  for (int64_t o = 0; o < count; ++o) {
    int64_t offset = 0;
    bool outside = false;
    for (int d = 0; d < rank; ++d) {
      const ResizeAxis& axis = plan.axes[static_cast<size_t>(d)];
      size_t i = static_cast<size_t>(at[static_cast<size_t>(d)]);
      offset += (axis.identity ? at[static_cast<size_t>(d)] : axis.position[i]) * x.strides[d];
      outside = outside || (!axis.outside.empty() && axis.outside[i]);
    }
    visit(o, offset, outside);
    for (int d = rank - 1; d >= 0; --d) {
      if (++at[static_cast<size_t>(d)] < y.shape[d]) break;
      at[static_cast<size_t>(d)] = 0;
    }
  }
}

template <class T>
void nearest_copy(const ResizePlan& plan, const TensorMeta& x, const TensorMeta& y, const T& extrapolation) {
  T* to = y.as<T>();
  std::array<int64_t, kMaxRank> at{};
  int64_t place = 0;
  for_each_nearest(plan, x, y, [&](int64_t, int64_t offset, bool outside) {
    to[place] = outside ? extrapolation : x.as<T>()[offset];
    for (int d = y.rank - 1; d >= 0; --d) {
      place += y.strides[d];
      if (++at[static_cast<size_t>(d)] < y.shape[d]) break;
      place -= y.strides[d] * y.shape[d];
      at[static_cast<size_t>(d)] = 0;
    }
  });
}

Status resize_nearest(const ResizePlan& plan, const TensorMeta& x, const TensorMeta& y) {
  if (x.dtype == DType::kString) {
    nearest_copy<std::string>(plan, x, y, std::string());
    return {};
  }
  // The extrapolation value in the tensor's dtype.
  alignas(8) std::byte value[8] = {};
  TensorMeta one = y;
  one.rank = 0;
  one.data = value;
  write_elements(&plan.extrapolation, one);
  auto as = [&](auto zero) {
    using T = decltype(zero);
    T v;
    std::memcpy(&v, value, sizeof(T));
    nearest_copy<T>(plan, x, y, v);
  };
  switch (dtype_bytes(x.dtype)) {
    case 1: as(uint8_t{}); break;
    case 2: as(uint16_t{}); break;
    case 4: as(uint32_t{}); break;
    default: as(uint64_t{}); break;
  }
  return {};
}

Status ref_resize(KernelCall& call) {
  ResizePlan plan;
  MSVM_RETURN_IF_ERROR(plan_resize(call, plan));
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  if (y.elements() == 0) return {};
  if (plan.mode == ResizeMode::kNearest) return resize_nearest(plan, x, y);
  if (x.dtype == DType::kString) return unsupported("Resize: strings have no linear or cubic form");
  // One axis after the other, in f64.
  MSVM_ASSIGN_OR_RETURN(const double* current, dense_input<double>(call, x));
  std::array<int64_t, kMaxRank> shape = x.shape;
  for (int d = 0; d < x.rank; ++d) {
    const ResizeAxis& axis = plan.axes[static_cast<size_t>(d)];
    if (axis.identity) continue;
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < d; ++i) outer *= shape[static_cast<size_t>(i)];
    for (int i = d + 1; i < x.rank; ++i) inner *= shape[static_cast<size_t>(i)];
    MSVM_ASSIGN_OR_RETURN(double* next, scratch_array<double>(call.memory, outer * axis.out * inner));
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t o = 0; o < axis.out; ++o) {
        double* to = next + (i * axis.out + o) * inner;
        std::fill(to, to + inner, 0.0);
        for (int64_t t = 0; t < axis.taps; ++t) {
          double w = axis.weight[static_cast<size_t>(o * axis.taps + t)];
          if (w == 0) continue;
          const double* from = current + (i * axis.in + axis.position[static_cast<size_t>(o * axis.taps + t)]) * inner;
          for (int64_t k = 0; k < inner; ++k) to[k] += w * from[k];
        }
      }
    current = next;
    shape[static_cast<size_t>(d)] = axis.out;
  }
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  TensorMeta numbers = y;
  if (!set_dense_strides(numbers)) return internal_error("Resize: sizes leave 64 bits");
  // Integers: towards zero, saturated.
  double low = 0, high = 0;
  const DTypeInfo& info = dtype_info(y.dtype);
  if (is_integer(y.dtype)) {
    bool is_signed = info.kind == DTypeKind::kSigned;
    high = std::ldexp(1.0, info.bits - is_signed) - (info.bits < 64 ? 1 : 2048);
    low = is_signed ? -std::ldexp(1.0, info.bits - 1) : 0;
  }
  std::array<int64_t, kMaxRank> at{};
  for (int64_t o = 0, n = y.elements(); o < n; ++o) {
    double v = current[o];
    for (int d = 0; d < y.rank; ++d) {
      const auto& outside = plan.axes[static_cast<size_t>(d)].outside;
      if (!outside.empty() && outside[static_cast<size_t>(at[static_cast<size_t>(d)])]) v = plan.extrapolation;
    }
    out[o] = high != 0 ? std::clamp(std::trunc(v), low, high) : v;
    for (int d = y.rank - 1; d >= 0; --d) {
      if (++at[static_cast<size_t>(d)] < y.shape[d]) break;
      at[static_cast<size_t>(d)] = 0;
    }
  }
  out.commit();
  return {};
}

// ---- f32, the last two axes ----

bool planes_fit(const KernelCall& call) { return call.outputs[0]->dense() && plane_resize_fits(call); }

template <Isa kIsa>
Status fast_resize(KernelCall& call) {
  const VectorKernels& v = *vector_kernels(kIsa);
  const TensorMeta &xm = *call.inputs[0], &ym = *call.outputs[0];
  if (ym.elements() == 0) return {};
  MSVM_ASSIGN_OR_RETURN(const PlaneResize* plan, plane_resize(call));
  const float* x = xm.as<float>();
  float* y = ym.as<float>();
  const size_t h = static_cast<size_t>(xm.rank - 2), w = h + 1;
  const int64_t in_h = xm.shape[h], in_w = xm.shape[w], out_h = ym.shape[h], out_w = ym.shape[w], planes = product(xm.dims().first(h));
  const bool linear = plan->linear, same_width = plan->columns.identity;
  const ResizedAxis axes[2] = {plan->rows, plan->columns};
  // Chunks of whole planes, or of 16 rows where planes are large.
  const int64_t rows = out_h * out_w > 16384 ? 16 : out_h, strips = (out_h - 1) / rows + 1, chunks = planes * strips;
  const double chunk_ns = static_cast<double>(rows * out_w) * (linear ? 0.7 : 0.4);
  return parallel_with_scratch(call, chunks, grain_for(chunks, chunk_ns), 2 * out_w * 4, [&](int64_t begin, int64_t end, std::byte* scratch) {
    float* lines[2] = {reinterpret_cast<float*>(scratch), reinterpret_cast<float*>(scratch) + out_w};
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const float* plane = x + chunk / strips * in_h * in_w;
      float* out = y + chunk / strips * out_h * out_w;
      int64_t first = chunk % strips * rows, last = std::min(first + rows, out_h);
      int64_t held[2] = {-1, -1};  // input rows that lines[] hold, stretched to the new width
      for (int64_t o = first; o < last; ++o) {
        float* to = out + o * out_w;
        int64_t a = axes[0].left[o], b = axes[0].right[o];
        if (!linear) {
          if (o > first && axes[0].left[o - 1] == a) std::memcpy(to, to - out_w, static_cast<size_t>(out_w) * sizeof(float));
          else if (same_width) std::memcpy(to, plane + a * in_w, static_cast<size_t>(out_w) * sizeof(float));
          else v.gather(plane + a * in_w, axes[1].left, out_w, to);
          continue;
        }
        auto stretched = [&](int64_t row, int64_t keep) -> const float* {
          if (same_width) return plane + row * in_w;
          for (int i = 0; i < 2; ++i)
            if (held[i] == row) return lines[i];
          int i = held[0] == keep ? 1 : 0;
          v.interpolate_gather(plane + row * in_w, axes[1].left, axes[1].right, axes[1].t, out_w, lines[i]);
          held[i] = row;
          return lines[i];
        };
        const float* upper = stretched(a, b);
        const float* lower = stretched(b, a);
        v.interpolate_rows(upper, lower, axes[0].t[o], out_w, to);
      }
    }
  });
}

}  // namespace

void add_resize_kernels(KernelList& list) {
  list.push_back({.name = "ref_resize", .op = "Resize", .run = ref_resize, .default_ns_per_work = 12});
  add_grid_kernels(list);
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_resize_f32_planes", .op = "Resize", .run = fast_resize<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .dense_inputs = true, .accepts = planes_fit, .default_ns_per_work = 0.3, .default_overhead_ns = 500});
  list.push_back({.name = "avx2_resize_f32_planes", .op = "Resize", .run = fast_resize<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .dense_inputs = true, .accepts = planes_fit, .default_ns_per_work = 0.6, .default_overhead_ns = 500});
  add_resize_channels_last_kernels(list);
}

}  // namespace msvm
