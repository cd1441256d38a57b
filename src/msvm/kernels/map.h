// The elementwise engine: kernels give loops over dense arrays of their compute type; strides, broadcasting, conversion of
// f16/bf16 and threads are done here.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "msvm/kernels/iterate.h"
#include "msvm/kernels/kernel.h"

#if defined(__GNUC__) && !defined(__clang__)
// Element i of the output depends on element i of the inputs alone; they may be the same memory.
#define MSVM_IVDEP _Pragma("GCC ivdep")
#else
#define MSVM_IVDEP
#endif

namespace msvm {

/// Numbers from attributes that a loop needs.
struct LoopParams {
  double a = 0, b = 0, c = 0;
  int64_t flag = 0;
};

/// in[k]: dense arrays, out: dense array (may be one of the inputs). Returns hazard bits (Hazard), 0 = fine.
using DenseFn = uint32_t (*)(const void* const* in, void* out, int64_t n, const LoopParams& p);
/// By the compute dtype; null = not for that dtype.
using LoopTable = std::array<DenseFn, kNumDTypes>;

constexpr int kMaxMapInputs = 3;
constexpr int64_t kMapTile = 512;

struct MapSpec {
  int inputs = 1;
  DType compute[kMaxMapInputs] = {};  // what each input is converted to
  DType result = DType::kF32;         // what the loop writes; converted to the output's dtype (integers saturate)
  DenseFn loop = nullptr;
  LoopParams params;
  double ns_per_element = 1;
};

/// f16 and bf16 compute in f32, all others in themselves.
constexpr DType compute_dtype(DType t) { return t == DType::kF16 || t == DType::kBF16 ? DType::kF32 : t; }

/// Runs the loop over the output's shape; inputs broadcast to it. Returns the hazard bits of all pieces.
uint32_t map_elements(std::span<const TensorMeta* const> inputs, const TensorMeta& output, const MapSpec& spec, WorkerPool& workers);

/// The error for hazard bits of an operator, ok for 0.
Status hazard_error(const OpSchema& op, uint32_t hazards);

/// Dense rows from one dtype to another (no strings). Out of range floats saturate, NaN gives 0, integers wrap; returns
/// kCastHazard if a float was out of the integer's range or NaN.
using CastRow = uint32_t (*)(const void* in, void* out, int64_t n);
CastRow cast_row(DType from, DType to);

/// Elements `stride` apart, by size (1, 2, 4, 8 bytes), to a dense array and back.
void gather_row(const std::byte* in, int64_t stride, int64_t n, int64_t element, std::byte* out);
void scatter_row(const std::byte* in, int64_t n, int64_t element, std::byte* out, int64_t stride);

/// n elements at `p`, `stride` elements apart, as a dense array of `to`: p itself if it is one, else `tile` filled.
const void* load_tile(const std::byte* p, int64_t stride, int64_t n, DType from, DType to, void* tile);

/// One value of a one-element tensor.
double scalar_f64(const TensorMeta& m);
int64_t scalar_i64(const TensorMeta& m);

}  // namespace msvm
