#include <gtest/gtest.h>

#include "msvm/shape/dim_parse.h"
#include "msvm/shape/tensor_meta.h"
#include "msvm/shape/tensor_type.h"

namespace msvm {
namespace {

TensorMeta meta(DType dtype, std::vector<int64_t> shape, Layout layout = Layout::kRowMajor) {
  TensorMeta m;
  m.dtype = dtype;
  m.layout = layout;
  m.rank = static_cast<uint8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), m.shape.begin());
  return m;
}
std::vector<int64_t> strides(const TensorMeta& m) { return {m.strides.begin(), m.strides.begin() + m.rank}; }
using V = std::vector<int64_t>;

TEST(TensorMeta, DenseStrides) {
  TensorMeta m = meta(DType::kF32, {2, 3, 4, 5});
  ASSERT_TRUE(set_dense_strides(m));
  EXPECT_EQ(strides(m), (V{60, 20, 5, 1}));
  m.layout = Layout::kNhwc;
  EXPECT_FALSE(m.dense());
  ASSERT_TRUE(set_dense_strides(m));
  EXPECT_EQ(strides(m), (V{60, 1, 15, 3})) << "channels innermost, axes as before";
  EXPECT_TRUE(m.dense());
  EXPECT_EQ(to_string(m), "f32[2, 3, 4, 5]@nhwc");
  m = meta(DType::kF32, {2, 3, 4, 5, 6}, Layout::kNhwc);
  ASSERT_TRUE(set_dense_strides(m));
  EXPECT_EQ(strides(m), (V{360, 1, 90, 18, 3}));
  m = meta(DType::kF32, {7}, Layout::kNhwc);
  ASSERT_TRUE(set_dense_strides(m));
  EXPECT_EQ(strides(m), (V{1}));
  m = meta(DType::kF32, {});
  ASSERT_TRUE(set_dense_strides(m));
  EXPECT_TRUE(m.dense());
  EXPECT_EQ(m.elements(), 1);
}

TEST(TensorMeta, DenseIgnoresSizesOfOneAndEmptyTensors) {
  TensorMeta m = meta(DType::kF32, {1, 3, 1, 4});
  m.strides = {999, 4, 7, 1};
  EXPECT_TRUE(m.dense());
  m.strides = {12, 5, 4, 1};
  EXPECT_FALSE(m.dense());
  m.strides = {12, 0, 4, 1};
  EXPECT_FALSE(m.dense()) << "broadcast";
  m = meta(DType::kF32, {3, 0, 4});
  m.strides = {1, 2, 3};
  EXPECT_TRUE(m.dense());
  ASSERT_TRUE(set_dense_strides(m));
  EXPECT_EQ(strides(m), (V{4, 4, 1}));
}

TEST(TensorMeta, OverflowIsRefused) {
  TensorMeta m = meta(DType::kI8, {INT64_MAX});
  EXPECT_TRUE(set_dense_strides(m));
  m = meta(DType::kF32, {INT64_MAX / 2});
  EXPECT_FALSE(set_dense_strides(m)) << "bytes";
  m = meta(DType::kI8, {int64_t{1} << 32, int64_t{1} << 32});
  EXPECT_FALSE(set_dense_strides(m));
  m = meta(DType::kI8, {0, int64_t{1} << 32, int64_t{1} << 32});
  EXPECT_FALSE(set_dense_strides(m)) << "strides of an empty tensor";
  m = meta(DType::kI8, {3, -1});
  EXPECT_FALSE(set_dense_strides(m));
}

TEST(TensorType, Text) {
  DimContext c;
  for (const char* n : {"N", "H", "W", "i"}) c.add_symbol({.name = n});
  auto d = [&](std::string_view text) { return *parse_dim(text, c); };
  TensorType t{.shape = {d("N"), d("64"), d("2*H"), d("W")}, .layout = Layout::kNhwc, .strided = true};
  t.filled = FilledExtent{0, d("0"), d("i")};
  EXPECT_EQ(to_string(t, c), "f32[N, 64, 2*H, W]@nhwc strided filled(0, 0, i)");
  EXPECT_EQ(to_string(TensorType{.dtype = DType::kI64}, c), "i64[]");
  EXPECT_EQ(to_string(TensorType{.unknown_rank = true}, c), "f32[*]");
  EXPECT_EQ(to_string(TensorType{.shape = {d("N")}, .device = {DeviceKind::kSim, 1}}, c), "f32[N] sim(1)");
  EXPECT_EQ(to_string(RegType{.kind = RegKind::kI64}, c), "i64");
  EXPECT_EQ(to_string(RegType{.kind = RegKind::kList, .tensor = {.dtype = DType::kString}}, c), "list<string>");
}

TEST(Device, TextRoundTrips) {
  for (Device device : {Device{}, Device{DeviceKind::kSim, 255}}) EXPECT_EQ(device_from_string(to_string(device)), device);
  for (const char* bad : {"", "CPU", "CPU()", "CPU(-1)", "CPU(256)", "CPU(00)", "cpu(0)", "CPU(0) ", "GPU(0)"}) EXPECT_FALSE(device_from_string(bad)) << bad;
}

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i < kNumDTypes; ++i) {
    DType t = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(t)), t);
    EXPECT_EQ(dtype_from_onnx(dtype_info(t).onnx), t);
  }
  EXPECT_FALSE(dtype_from_name("f31"));
  EXPECT_EQ(dtype_bytes(DType::kBF16), 2);
  EXPECT_TRUE(is_float(DType::kF16) && is_integer(DType::kU8) && !is_integer(DType::kBool));
}

}  // namespace
}  // namespace msvm
