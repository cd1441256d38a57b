// Views against their definition, element by element: address of the view's element = address of the source's.
#include "msvm/vm/views.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace msvm::vm {
namespace {

std::byte buffer[4096];
std::byte* const base = buffer;

TensorMeta meta(std::vector<int64_t> shape, std::byte* data, DType dtype = DType::kF32) {
  TensorMeta m;
  m.dtype = dtype;
  m.rank = static_cast<uint8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), m.shape.begin());
  EXPECT_TRUE(set_dense_strides(m));
  m.data = data;
  return m;
}
std::vector<int64_t> shape(const TensorMeta& m) { return {m.dims().begin(), m.dims().end()}; }
int64_t at(const TensorMeta& m, std::vector<int64_t> index) {
  const std::byte* p = nullptr;
  Status s = element_address(m, index, p);
  EXPECT_TRUE(s.ok()) << s.message();
  return p - base;
}

TEST(Views, Slice) {
  TensorMeta s = meta({4, 6}, base), d;
  const int64_t bounds[] = {1, 4, 0, 5}, steps[] = {0, 2, 1, 3};
  ASSERT_TRUE(slice_view(s, bounds, steps, d).ok());
  EXPECT_EQ(shape(d), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(at(d, {1, 1}), at(s, {3, 3}));
  const int64_t empty[] = {4, 4}, one[] = {0, 1};
  ASSERT_TRUE(slice_view(s, empty, one, d).ok());
  EXPECT_EQ(d.data, s.data);  // nothing behind the end is ever pointed at
  for (auto [from, to] : {std::pair(-1, 2), std::pair(3, 2), std::pair(0, 5)}) {
    const int64_t wrong[] = {from, to};
    EXPECT_EQ(slice_view(s, wrong, one, d).code(), StatusCode::kOutOfRange);
  }
  const int64_t whole[] = {0, 4}, huge[] = {0, INT64_MAX};
  ASSERT_TRUE(slice_view(s, whole, huge, d).ok());  // one element: its stride says nothing
  EXPECT_EQ(shape(d), (std::vector<int64_t>{1, 6}));
}

TEST(Views, ReshapeOfDenseOnly) {
  TensorMeta s = meta({4, 6}, base), d;
  const int64_t to[] = {2, 12}, wrong[] = {5, 5}, negative[] = {-4, -6}, wraps[] = {INT64_MAX, 2, 12};
  ASSERT_TRUE(reshape_view(s, to, d).ok());
  EXPECT_EQ(at(d, {1, 3}), at(s, {2, 3}));
  EXPECT_FALSE(reshape_view(s, wrong, d).ok());
  EXPECT_FALSE(reshape_view(s, negative, d).ok());
  EXPECT_FALSE(reshape_view(s, wraps, d).ok());
  std::swap(s.strides[0], s.strides[1]);
  EXPECT_NE(reshape_view(s, to, d).message().find("TENSOR_COPY"), std::string::npos);
}

TEST(Views, TransposeSqueezeUnsqueeze) {
  TensorMeta s = meta({2, 1, 3}, base), d, e;
  const int32_t order[] = {2, 0, 1}, gone[] = {2}, come[] = {0, 3}, first[] = {0};
  ASSERT_TRUE(transpose_view(s, order, d).ok());
  EXPECT_EQ(shape(d), (std::vector<int64_t>{3, 2, 1}));
  EXPECT_EQ(at(d, {2, 1, 0}), at(s, {1, 0, 2}));
  ASSERT_TRUE(squeeze_view(d, gone, e).ok());
  EXPECT_EQ(at(e, {2, 1}), at(s, {1, 0, 2}));
  ASSERT_TRUE(unsqueeze_view(e, come, d).ok());
  EXPECT_EQ(shape(d), (std::vector<int64_t>{1, 3, 2, 1}));
  EXPECT_EQ(at(d, {0, 2, 1, 0}), at(s, {1, 0, 2}));
  EXPECT_FALSE(squeeze_view(s, first, d).ok());
}

TEST(Views, Broadcast) {
  TensorMeta s = meta({1, 3}, base), d;
  const int64_t to[] = {2, 4, 3}, wrong[] = {2, 4, 2}, fewer[] = {3};
  ASSERT_TRUE(broadcast_view(s, to, d).ok());
  EXPECT_EQ(at(d, {1, 3, 2}), at(s, {0, 2}));
  EXPECT_FALSE(broadcast_view(s, wrong, d).ok());
  EXPECT_FALSE(broadcast_view(s, fewer, d).ok());
}

TEST(Views, ElementsOfEveryDType) {
  alignas(8) std::byte bytes[8] = {std::byte{0x00}, std::byte{0x3c}};
  int64_t v = 0;
  ASSERT_TRUE(load_element(DType::kF16, bytes, v).ok());
  EXPECT_EQ(std::bit_cast<double>(v), 1.0);
  const uint16_t halves[] = {0x0001, 0x8001, 0x7c00, 0xfbff, 0x03ff};
  const double expected[] = {5.9604644775390625e-08, -5.9604644775390625e-08, INFINITY, -65504, 6.0975551605224609e-05};
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(load_element(DType::kF16, reinterpret_cast<const std::byte*>(&halves[i]), v).ok());
    EXPECT_EQ(std::bit_cast<double>(v), expected[i]) << i;
  }
  const uint64_t big = uint64_t{1} << 63;
  EXPECT_FALSE(load_element(DType::kU64, reinterpret_cast<const std::byte*>(&big), v).ok());
  const int8_t minus = -5;
  ASSERT_TRUE(load_element(DType::kI8, reinterpret_cast<const std::byte*>(&minus), v).ok());
  EXPECT_EQ(v, -5);
  EXPECT_FALSE(load_element(DType::kString, bytes, v).ok());
  const std::byte* p = nullptr;
  const int64_t outside[] = {2}, many[] = {0, 0};
  EXPECT_FALSE(element_address(meta({2}, base), outside, p).ok());
  EXPECT_FALSE(element_address(meta({2}, base), many, p).ok());
}

}  // namespace
}  // namespace msvm::vm
