// Fourier transforms, windows and filter banks.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

/// The last axis holds real values (1) or complex ones (2).
Status require_complex_axis(InferContext& c, Dim last) {
  MSVM_RETURN_IF_ERROR(require_at_least(c, last, 1, "the last axis is 1 (real) or 2 (complex)"));
  return c.require(CondOp::kLe, last, c.constant(2), "the last axis is 1 (real) or 2 (complex)");
}

Status infer_dft(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  DimContext& m = c.dims();
  std::vector<Dim> shape = c.input(0).shape;
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", -2), c.rank(0), "axis"));
  if (axis == c.rank(0) - 1) return attr_error("axis can't be the last one, which holds real and imaginary part");
  MSVM_RETURN_IF_ERROR(require_complex_axis(c, shape.back()));
  bool onesided = c.attrs().get_int("onesided", 0) != 0, inverse = c.attrs().get_int("inverse", 0) != 0;
  Dim& d = shape[static_cast<size_t>(axis)];
  Dim one = m.constant(1), two = m.constant(2), length = d;
  if (!c.args().empty()) {
    length = c.args()[0];
  } else if (onesided && inverse) {
    length = m.mul(two, m.sub(d, one));
  }
  MSVM_RETURN_IF_ERROR(require_at_least(c, length, 1, "the transform has a length of 1 or more"));
  if (onesided)
    MSVM_RETURN_IF_ERROR(require_equal(c, shape.back(), inverse ? two : one,
                                       "a onesided transform goes from real to complex, its inverse from complex to real"));
  d = onesided && !inverse ? m.add(m.floordiv(length, two), one) : length;
  shape.back() = onesided && inverse ? one : two;
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_stft(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 3));
  DimContext& m = c.dims();
  const auto& signal = c.input(0).shape;
  Dim step = c.args()[0], frame = c.args()[1], one = m.constant(1);
  MSVM_RETURN_IF_ERROR(require_complex_axis(c, signal[2]));
  MSVM_RETURN_IF_ERROR(require_at_least(c, step, 1, "frame_step is 1 or more"));
  MSVM_RETURN_IF_ERROR(require_at_least(c, frame, 1, "frame_length is 1 or more"));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, frame, signal[1], "a frame is no longer than the signal"));
  MSVM_RETURN_IF_ERROR(require_vector(c, 1, frame, "the window has frame_length elements"));
  bool onesided = c.attrs().get_int("onesided", 1) != 0;
  if (onesided) MSVM_RETURN_IF_ERROR(require_equal(c, signal[2], one, "a onesided transform is of real signals"));
  Dim frames = m.add(m.floordiv(m.sub(signal[1], frame), step), one);
  c.set_shape(0, {signal[0], frames, onesided ? m.add(m.floordiv(frame, m.constant(2)), one) : frame, m.constant(2)});
  return {};
}

Status require_number(InferContext& c) {
  DType t = c.outputs()[0].dtype;
  return bit(t) & kNumeric ? Status() : attr_error("output_datatype must be a number, but is {}", dtype_name(t));
}

Status infer_window(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_number(c));
  MSVM_RETURN_IF_ERROR(require_at_least(c, c.args()[0], 0, "size is not negative"));
  c.set_shape(0, {c.args()[0]});
  return {};
}

Status infer_mel(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_number(c));
  MSVM_RETURN_IF_ERROR(require_one_element(c, 0));
  MSVM_RETURN_IF_ERROR(require_one_element(c, 1));
  DimContext& m = c.dims();
  Dim bins = c.args()[0], length = c.args()[1];
  MSVM_RETURN_IF_ERROR(require_at_least(c, bins, 0, "num_mel_bins is not negative"));
  MSVM_RETURN_IF_ERROR(require_at_least(c, length, 0, "dft_length is not negative"));
  MSVM_RETURN_IF_ERROR(require_at_least(c, c.args()[2], 1, "sample_rate is 1 or more"));
  c.set_shape(0, {m.add(m.floordiv(length, m.constant(2)), m.constant(1)), bins});
  return {};
}

}  // namespace

void add_signal_ops(OpTable& table) {
  table.add(
      {.name = "DFT",
       .since = 20,
       .op_class = OpClass::kContraction,
       .inputs = {{"X", kFloats, 'T'}},
       .max_args = 1,
       .args_doc =
           "dft_length: the signal is cut or filled with 0 to it; absent: the axis' own, or 2 * (size - 1) for a onesided inverse",
       .outputs = {{"Y", 'T'}},
       .attrs = {axis_attr("-2", "the transformed axis, not the last"), flag_attr("inverse", "0", "1 for the inverse transform"),
                 flag_attr("onesided", "0", "1 for the half of the spectrum that real signals have")},
       .infer = infer_dft,
       .doc = "Discrete Fourier transform along an axis; the last axis holds real and imaginary part."});
  table.add({.name = "STFT",
             .since = 17,
             .op_class = OpClass::kContraction,
             .inputs = {{"signal", kFloats, 'T'}, {"window", kFloats, 'T', true}},
             .min_args = 2,
             .max_args = 2,
             .args_doc = "frame_step, frame_length",
             .outputs = {{"Y", 'T'}},
             .attrs = {flag_attr("onesided", "1", "1 for the half of the spectrum that real signals have")},
             .infer = infer_stft,
             .doc = "Fourier transforms of overlapping windowed frames of a signal [batch, length, 1 or 2]."});
  for (auto [name, doc] :
       {std::pair<std::string_view, std::string_view>{"HannWindow", "Hann's window: 0.5 - 0.5 * cos(2 pi n / N)."},
        {"HammingWindow", "Hamming's window: 25/46 - 21/46 * cos(2 pi n / N)."},
        {"BlackmanWindow", "Blackman's window: 0.42 - 0.5 * cos(2 pi n / N) + 0.08 * cos(4 pi n / N)."}})
    table.add({.name = name,
               .since = 17,
               .min_args = 1,
               .max_args = 1,
               .args_doc = "size",
               .outputs = {{"Y", 0, DType::kF32, "output_datatype"}},
               .hazards = kCastHazard,
               .attrs = {dtype_attr("output_datatype", "f32", "the result's dtype, a number"),
                         flag_attr("periodic", "1", "1: N is the size, 0: the size - 1")},
               .infer = infer_window,
               .doc = doc});
  table.add({.name = "MelWeightMatrix",
             .since = 17,
             .inputs = {{"lower_edge_hertz", kFloats, 'E'}, {"upper_edge_hertz", kFloats, 'E'}},
             .min_args = 3,
             .max_args = 3,
             .args_doc = "num_mel_bins, dft_length, sample_rate",
             .outputs = {{"Y", 0, DType::kF32, "output_datatype"}},
             .hazards = kCastHazard,
             .attrs = {dtype_attr("output_datatype", "f32", "the result's dtype, a number")},
             .infer = infer_mel,
             .doc = "Triangular filters that turn a spectrum of dft_length / 2 + 1 bins into num_mel_bins bins evenly spaced on "
                    "the mel scale."});
}

}  // namespace msvm
