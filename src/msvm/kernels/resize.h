// Which input positions each output position of a resized axis reads.
#pragma once
#include <vector>

#include "msvm/kernels/kernel.h"

namespace msvm {

enum class ResizeMode { kNearest, kLinear, kCubic };

/// One axis: `taps` positions and weights per output position. Positions are inside the axis; `outside[o]` asks for the
/// extrapolation value instead (tf_crop_and_resize only, else empty).
struct ResizeAxis {
  bool identity = true;
  int64_t in = 0, out = 0, taps = 1;
  std::vector<int64_t> position;
  std::vector<double> weight;
  std::vector<bool> outside;
};

struct ResizePlan {
  ResizeMode mode = ResizeMode::kNearest;
  double extrapolation = 0;
  std::vector<ResizeAxis> axes;  // one per axis of X
};

/// From the call: sizes of X and Y, scales (tensor, attribute or the quotient of sizes), roi, modes. Coordinates are computed in f32,
/// as is usual, so that ties of `nearest` fall as elsewhere.
Status plan_resize(KernelCall& call, ResizePlan& plan);

}  // namespace msvm
