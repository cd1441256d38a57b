// Fourier transforms, windows, mel filters and Col2Im. Transforms are computed in f64 by factors of the length.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/window.h"

namespace msvm {
namespace {

using Complex = std::complex<double>;

// Transforms of one length. The length is split by its smallest prime factor; a prime is summed directly.
class Fourier {
 public:
  Fourier(int64_t n, bool inverse) : n_(n), roots_(static_cast<size_t>(n)), work_(static_cast<size_t>(n)) {
    for (int64_t k = 0; k < n; ++k) {
      double angle = (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      roots_[static_cast<size_t>(k)] = {std::cos(angle), std::sin(angle)};
    }
  }
  void run(Complex* x) { transform(x, work_.data(), n_, 1); }

 private:
  // x[0], x[1], ... n of them; roots of this length are every `step`-th.
  void transform(Complex* x, Complex* work, int64_t n, int64_t step) const {
    int64_t p = 2;
    while (p * p <= n && n % p != 0) ++p;
    if (n % p != 0) p = n;
    if (n <= 1) return;
    const int64_t m = n / p;
    for (int64_t i = 0; i < n; ++i) work[i % p * m + i / p] = x[i];
    if (m > 1)
      for (int64_t r = 0; r < p; ++r) transform(work + r * m, x + r * m, m, step * p);
    for (int64_t k = 0; k < n; ++k) {
      Complex sum = work[k % m];
      for (int64_t r = 1; r < p; ++r) {
        const Complex &w = roots_[static_cast<size_t>(r * k % n * step)], &v = work[r * m + k % m];
        sum += Complex(w.real() * v.real() - w.imag() * v.imag(), w.real() * v.imag() + w.imag() * v.real());
      }
      x[k] = sum;
    }
  }
  int64_t n_;
  std::vector<Complex> roots_, work_;
};

constexpr int64_t kLongest = int64_t{1} << 28;

Status ref_dft(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  int64_t axis = call.attrs.get_int("axis", -2);
  if (axis < 0) axis += x.rank;
  if (axis < 0 || axis >= x.rank - 1 || y.rank != x.rank) return out_of_range("DFT: axis out of range");
  const size_t d = static_cast<size_t>(axis);
  const bool inverse = call.attrs.get_int("inverse", 0) != 0, onesided = call.attrs.get_int("onesided", 0) != 0;
  const int64_t parts = x.shape[x.rank - 1], out_parts = y.shape[y.rank - 1], size = x.shape[d], out_size = y.shape[d];
  const int64_t n = inverse && onesided ? out_size : !call.args.empty() ? call.args[0] : size;
  if ((parts != 1 && parts != 2) || (out_parts != 1 && out_parts != 2) || n < 1 || n > kLongest || out_size > n) return shape_mismatch("DFT: shapes don't fit");
  MSVM_ASSIGN_OR_RETURN(const double* xv, dense_input<double>(call, x));
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  const int64_t outer = product(x.dims().first(d)), inner = product(x.dims().subspan(d + 1, static_cast<size_t>(x.rank) - d - 2));
  if (product(y.dims().first(d)) != outer || product(y.dims().subspan(d + 1, static_cast<size_t>(x.rank) - d - 2)) != inner) return shape_mismatch("DFT: shapes don't fit");
  Fourier fourier(n, inverse);
  std::vector<Complex> line(static_cast<size_t>(n));
  for (int64_t i = 0; i < outer * inner; ++i) {
    const double* from = xv + (i / inner * size * inner + i % inner) * parts;
    std::fill(line.begin(), line.end(), Complex());
    for (int64_t k = 0; k < std::min(n, size); ++k) line[static_cast<size_t>(k)] = {from[k * inner * parts], parts == 2 ? from[k * inner * parts + 1] : 0.0};
    if (inverse && onesided)  // the other half is the conjugate
      for (int64_t k = n / 2 + 1; k < n; ++k) line[static_cast<size_t>(k)] = std::conj(line[static_cast<size_t>(n - k)]);
    fourier.run(line.data());
    double* to = out.data() + (i / inner * out_size * inner + i % inner) * out_parts;
    const double scale = inverse ? 1.0 / static_cast<double>(n) : 1.0;
    for (int64_t k = 0; k < out_size; ++k) {
      to[k * inner * out_parts] = line[static_cast<size_t>(k)].real() * scale;
      if (out_parts == 2) to[k * inner * 2 + 1] = line[static_cast<size_t>(k)].imag() * scale;
    }
  }
  out.commit();
  return {};
}

Status ref_stft(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  const TensorMeta* window = input_or_null(call, 1);
  if (x.rank != 3 || y.rank != 4 || call.args.size() != 2) return shape_mismatch("STFT: shapes don't fit");
  const int64_t step = call.args[0], n = call.args[1], length = x.shape[1], parts = x.shape[2], frames = y.shape[1], bins = y.shape[2];
  if (step < 1 || n < 1 || n > kLongest || (parts != 1 && parts != 2) || y.shape[0] != x.shape[0] || bins > n || y.shape[3] != 2 || (window && window->elements() != n))
    return shape_mismatch("STFT: shapes don't fit");
  if (frames > 0 && (length < n || frames > (length - n) / step + 1)) return shape_mismatch("STFT: frames beyond the signal");
  MSVM_ASSIGN_OR_RETURN(const double* xv, dense_input<double>(call, x));
  const double* wv = nullptr;
  if (window) {
    MSVM_ASSIGN_OR_RETURN(wv, dense_input<double>(call, *window));
  }
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  Fourier fourier(n, false);
  std::vector<Complex> line(static_cast<size_t>(n));
  for (int64_t i = 0; i < x.shape[0] * frames; ++i) {
    const double* from = xv + (i / frames * length + i % frames * step) * parts;
    for (int64_t k = 0; k < n; ++k) line[static_cast<size_t>(k)] = Complex(from[k * parts], parts == 2 ? from[k * parts + 1] : 0.0) * (wv ? wv[k] : 1.0);
    fourier.run(line.data());
    for (int64_t k = 0; k < bins; ++k) {
      out[(i * bins + k) * 2] = line[static_cast<size_t>(k)].real();
      out[(i * bins + k) * 2 + 1] = line[static_cast<size_t>(k)].imag();
    }
  }
  out.commit();
  return {};
}

enum class Curve { kHann, kHamming, kBlackman };

template <Curve kCurve>
Status ref_window(KernelCall& call) {
  const TensorMeta& y = *call.outputs[0];
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  const int64_t size = y.elements(), n = call.attrs.get_int("periodic", 1) != 0 ? size : size - 1;
  for (int64_t i = 0; i < size; ++i) {
    double a = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(std::max<int64_t>(n, 1));
    out[i] = kCurve == Curve::kHann ? 0.5 - 0.5 * std::cos(a) : kCurve == Curve::kHamming ? 25.0 / 46 - 21.0 / 46 * std::cos(a) : 0.42 - 0.5 * std::cos(a) + 0.08 * std::cos(2 * a);
  }
  out.commit();
  return {};
}

Status ref_mel_weights(KernelCall& call) {
  const TensorMeta& y = *call.outputs[0];
  if (call.args.size() != 3 || y.rank != 2 || call.inputs[0]->elements() != 1 || call.inputs[1]->elements() != 1) return shape_mismatch("MelWeightMatrix: shapes don't fit");
  double lower, upper;
  read_elements(*call.inputs[0], &lower);
  read_elements(*call.inputs[1], &upper);
  const int64_t filters = y.shape[1], bins = y.shape[0], length = call.args[1], rate = call.args[2];
  if (rate < 1 || length < 0) return out_of_range("MelWeightMatrix: sample_rate must be positive");
  if (!(lower >= 0) || !std::isfinite(upper) || !(lower <= upper)) return out_of_range("MelWeightMatrix: edges must be finite, not negative and in order");
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  std::fill(out.data(), out.data() + y.elements(), 0.0);
  const double low = 2595 * std::log10(1 + lower / 700), high = 2595 * std::log10(1 + upper / 700), step = (high - low) / static_cast<double>(filters + 2);
  auto bin = [&](int64_t i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    return std::floor((static_cast<double>(length) + 1) * hertz / static_cast<double>(rate));
  };
  for (int64_t f = 0; f < filters; ++f) {
    double edges[3] = {bin(f), bin(f + 1), bin(f + 2)};
    if (!(edges[0] >= 0) || !(edges[2] <= static_cast<double>(bins))) return out_of_range("MelWeightMatrix: the upper edge lies beyond the spectrum");
    int64_t left = static_cast<int64_t>(edges[0]), center = static_cast<int64_t>(edges[1]), right = static_cast<int64_t>(edges[2]);
    for (int64_t j = left; j <= center && j < bins; ++j) out[j * filters + f] = center == left ? 1.0 : static_cast<double>(j - left) / static_cast<double>(center - left);
    for (int64_t j = center; j < right; ++j) out[j * filters + f] = static_cast<double>(right - j) / static_cast<double>(right - center);
  }
  out.commit();
  return {};
}

// ---- Col2Im: blocks of columns are added into the image they were cut from ----

template <class T>
Status col2im_as(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  const int rank = y.rank - 2;
  if (rank < 1 || x.rank != 3 || static_cast<int>(call.args.size()) != 2 * rank || x.shape[0] != y.shape[0]) return shape_mismatch("Col2Im: shapes don't fit");
  const auto &dilations = call.attrs.get_ints("dilations"), &pads = call.attrs.get_ints("pads"), &strides = call.attrs.get_ints("strides");
  const size_t n = static_cast<size_t>(rank);
  if ((!dilations.empty() && dilations.size() != n) || (!strides.empty() && strides.size() != n) || (!pads.empty() && pads.size() != 2 * n)) return shape_mismatch("Col2Im: attributes don't have one value per axis");
  // The window that cuts blocks from the image; its outputs are the positions of blocks.
  Window w;
  w.rank = rank;
  constexpr int64_t kLargest = int64_t{1} << 31;
  for (size_t d = 0; d < n; ++d) {
    w.in[d] = y.shape[d + 2];
    w.kernel[d] = call.args[n + d];
    w.stride[d] = strides.empty() ? 1 : strides[d];
    w.dilation[d] = dilations.empty() ? 1 : dilations[d];
    w.begin[d] = pads.empty() ? 0 : pads[d];
    int64_t end = pads.empty() ? 0 : pads[d + n];
    if (w.in[d] != call.args[d]) return shape_mismatch("Col2Im: wrong shape of the result");
    if (w.kernel[d] < 1 || w.kernel[d] > kLargest || w.stride[d] < 1 || w.stride[d] > kLargest || w.dilation[d] < 1 || w.dilation[d] > kLargest || std::abs(w.begin[d]) > kLargest || end < -kLargest || end > kLargest)
      return out_of_range("Col2Im: block, stride, dilation or padding out of range");
    __int128 room = static_cast<__int128>(w.in[d]) + w.begin[d] + end - (static_cast<__int128>(w.kernel[d] - 1) * w.dilation[d] + 1);
    w.out[d] = room < 0 ? 0 : static_cast<int64_t>(room / w.stride[d]) + 1;
  }
  const int64_t blocks = w.out_size(), taps = w.taps(), image = w.in_size(), planes = y.shape[0] * y.shape[1];
  if (x.shape[2] != blocks || x.shape[1] != y.shape[1] * taps) return shape_mismatch("Col2Im: the input has " + std::to_string(x.shape[2]) + " columns, not " + std::to_string(blocks));
  MSVM_ASSIGN_OR_RETURN(const T* xv, dense_input<T>(call, x));
  DenseOutput<T> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  for (int64_t p = 0; p < planes; ++p) {
    T* plane = out.data() + p * image;
    std::fill(plane, plane + image, T{});
    std::array<int64_t, kMaxSpatial> at{};
    for (int64_t b = 0; b < blocks; ++b, next_position(w, at))
      for_each_tap(w, at, [&](int64_t tap, int64_t offset) {
        T v = xv[(p * taps + tap) * blocks + b];
        if constexpr (std::is_integral_v<T>) plane[offset] = static_cast<T>(static_cast<uint64_t>(plane[offset]) + static_cast<uint64_t>(v));
        else plane[offset] += v;
      });
  }
  out.commit();
  return {};
}
Status ref_col2im(KernelCall& call) {
  if (is_float(call.inputs[0]->dtype)) return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return col2im_as<decltype(zero)>(call); });
  return col2im_as<int64_t>(call);
}

}  // namespace

void add_signal_kernels(KernelList& list) {
  list.push_back({.name = "ref_dft", .op = "DFT", .run = ref_dft, .dtypes = kFloats, .default_ns_per_work = 60});
  list.push_back({.name = "ref_stft", .op = "STFT", .run = ref_stft, .dtypes = kFloats, .default_ns_per_work = 60});
  list.push_back({.name = "ref_hann_window", .op = "HannWindow", .run = ref_window<Curve::kHann>, .dtypes = kNumeric, .default_ns_per_work = 20});
  list.push_back({.name = "ref_hamming_window", .op = "HammingWindow", .run = ref_window<Curve::kHamming>, .dtypes = kNumeric, .default_ns_per_work = 20});
  list.push_back({.name = "ref_blackman_window", .op = "BlackmanWindow", .run = ref_window<Curve::kBlackman>, .dtypes = kNumeric, .default_ns_per_work = 40});
  list.push_back({.name = "ref_mel_weight_matrix", .op = "MelWeightMatrix", .run = ref_mel_weights, .dtypes = kFloats, .default_ns_per_work = 5});
  list.push_back({.name = "ref_col2im", .op = "Col2Im", .run = ref_col2im, .dtypes = kNumeric, .default_ns_per_work = 5});
}

}  // namespace msvm
