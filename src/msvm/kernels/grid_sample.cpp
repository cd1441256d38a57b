// GridSample and AffineGrid.
#include <algorithm>
#include <cmath>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"

namespace msvm {

void add_grid_kernels(KernelList& list);

namespace {

enum class Padding { kZeros, kBorder, kReflection };

double reflect(double x, double low, double high) {
  double range = high - low;
  if (range <= 0) return low;
  double d = x < low ? low - x : x > high ? x - high : -1;
  if (d < 0) return x;
  double folds = std::floor(d / range), rest = d - folds * range;
  bool even = std::fmod(folds, 2) == 0;
  if (x < low) return even ? low + rest : high - rest;
  return even ? high - rest : low + rest;
}

struct Sampler {
  int rank = 0;
  std::array<int64_t, kMaxRank> size{};
  bool align = false;
  Padding padding = Padding::kZeros;

  // A whole position per axis to an offset; -1 for a zero.
  int64_t offset(const std::array<double, kMaxRank>& at) const {
    int64_t o = 0;
    for (int d = 0; d < rank; ++d) {
      double n = static_cast<double>(size[static_cast<size_t>(d)]), p = at[static_cast<size_t>(d)];
      if (padding == Padding::kZeros && !(p >= 0 && p <= n - 1)) return -1;
      if (padding == Padding::kReflection) p = align ? reflect(p, 0, n - 1) : reflect(p, -0.5, n - 0.5);
      if (!(p >= 0)) p = 0;  // NaN too
      p = std::min(p, n - 1);
      o = o * size[static_cast<size_t>(d)] + static_cast<int64_t>(p);
    }
    return o;
  }
};

double cubic(double x) {
  constexpr double a = -0.75;
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

Status ref_grid_sample(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &g = *call.inputs[1], &y = *call.outputs[0];
  const int rank = x.rank - 2;
  if (rank < 1 || g.rank != x.rank || y.rank != x.rank || g.shape[g.rank - 1] != rank || g.shape[0] != x.shape[0] || y.shape[0] != x.shape[0] || y.shape[1] != x.shape[1])
    return shape_mismatch("GridSample: shapes of X " + to_string(x) + " and grid " + to_string(g) + " don't fit");
  for (int d = 0; d < rank; ++d)
    if (y.shape[d + 2] != g.shape[d + 1]) return shape_mismatch("GridSample: wrong shape of the result");
  Sampler s;
  s.rank = rank;
  for (int d = 0; d < rank; ++d) s.size[static_cast<size_t>(d)] = x.shape[d + 2];
  s.align = call.attrs.get_int("align_corners", 0) != 0;
  std::string_view mode = call.attrs.get_string("mode", "linear"), padding = call.attrs.get_string("padding_mode", "zeros");
  s.padding = padding == "border" ? Padding::kBorder : padding == "reflection" ? Padding::kReflection : Padding::kZeros;
  MSVM_ASSIGN_OR_RETURN(const double* values, dense_input<double>(call, x));
  MSVM_ASSIGN_OR_RETURN(const double* grid, dense_input<double>(call, g));
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  const int64_t plane = product(x.dims().subspan(2)), out_plane = product(y.dims().subspan(2)), channels = x.shape[1];
  if (y.elements() == 0) return {};
  if (plane == 0 && s.padding != Padding::kZeros) return shape_mismatch("GridSample: an empty image has no border");
  const int reach = mode == "nearest" ? 1 : mode == "cubic" ? 4 : 2, before = mode == "cubic" ? 1 : 0;
  int64_t taps = 1;
  for (int d = 0; d < rank; ++d) taps *= reach;
  for (int64_t n = 0; n < x.shape[0]; ++n)
    for (int64_t o = 0; o < out_plane; ++o) {
      std::array<double, kMaxRank> at{};
      for (int d = 0; d < rank; ++d) {  // the grid's last axis counts x first
        double p = grid[(n * out_plane + o) * rank + (rank - 1 - d)], size = static_cast<double>(s.size[static_cast<size_t>(d)]);
        p = s.align ? (p + 1) / 2 * (size - 1) : ((p + 1) * size - 1) / 2;
        // Linear and nearest move the point itself into the image; cubic its neighbours.
        if (mode != "cubic") {
          if (s.padding == Padding::kBorder) p = std::clamp(p, 0.0, std::max(0.0, size - 1));
          if (s.padding == Padding::kReflection) p = std::clamp(s.align ? reflect(p, 0, size - 1) : reflect(p, -0.5, size - 0.5), 0.0, std::max(0.0, size - 1));
        }
        at[static_cast<size_t>(d)] = mode == "nearest" ? std::nearbyint(p) : p;
      }
      for (int64_t c = 0; c < channels; ++c) out[(n * channels + c) * out_plane + o] = 0;
      for (int64_t t = 0; t < taps; ++t) {
        std::array<double, kMaxRank> position{};
        double weight = 1;
        int64_t rest = t;
        for (int d = rank - 1; d >= 0; --d) {
          size_t i = static_cast<size_t>(d);
          double base = std::floor(at[i]), p = base + static_cast<double>(rest % reach - before), distance = at[i] - p;
          rest /= reach;
          position[i] = p;
          if (mode == "cubic") weight *= cubic(distance);
          else if (mode != "nearest") weight *= 1 - std::fabs(distance);
        }
        if (weight == 0) continue;
        int64_t from = s.offset(position);
        if (from < 0) continue;
        for (int64_t c = 0; c < channels; ++c) out[(n * channels + c) * out_plane + o] += weight * values[(n * channels + c) * plane + from];
      }
    }
  out.commit();
  return {};
}

Status ref_affine_grid(KernelCall& call) {
  const TensorMeta &theta = *call.inputs[0], &y = *call.outputs[0];
  const int rank = y.rank - 2;
  if ((rank != 2 && rank != 3) || theta.rank != 3 || theta.shape[0] != y.shape[0] || theta.shape[1] != rank || theta.shape[2] != rank + 1 || y.shape[y.rank - 1] != rank)
    return shape_mismatch("AffineGrid: theta " + to_string(theta) + " doesn't fit the size");
  MSVM_ASSIGN_OR_RETURN(const double* t, dense_input<double>(call, theta));
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  const bool align = call.attrs.get_int("align_corners", 0) != 0;
  const int64_t points = product(y.dims().subspan(1, static_cast<size_t>(rank)));
  for (int64_t n = 0; n < y.shape[0]; ++n)
    for (int64_t p = 0; p < points; ++p) {
      double at[4] = {0, 0, 0, 1};
      int64_t rest = p;
      for (int d = rank; d >= 1; --d) {  // the last spatial axis is x
        int64_t size = y.shape[d], i = rest % size;
        rest /= size;
        double v = align ? (size > 1 ? -1 + 2 * static_cast<double>(i) / static_cast<double>(size - 1) : 0) : (2 * static_cast<double>(i) + 1) / static_cast<double>(size) - 1;
        at[rank - d] = v;
      }
      at[rank] = 1;
      for (int r = 0; r < rank; ++r) {
        double v = 0;
        for (int k = 0; k <= rank; ++k) v += t[(n * rank + r) * (rank + 1) + k] * at[k];
        out[(n * points + p) * rank + r] = v;
      }
    }
  out.commit();
  return {};
}

}  // namespace

void add_grid_kernels(KernelList& list) {
  list.push_back({.name = "ref_grid_sample", .op = "GridSample", .run = ref_grid_sample, .dtypes = kNotString, .default_ns_per_work = 30});
  list.push_back({.name = "ref_affine_grid", .op = "AffineGrid", .run = ref_affine_grid, .dtypes = kFloats, .default_ns_per_work = 5});
}

}  // namespace msvm
