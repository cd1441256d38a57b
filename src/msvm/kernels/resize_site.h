// Positions and weights of a Resize of the last two axes, kept at the call site while sizes and scales stay.
#pragma once
#include <vector>

#include "msvm/kernels/kernel.h"

namespace msvm {

/// Neighbours of each output position and the weight of the right one (0 for nearest, whose position is `left`).
struct ResizedAxis {
  const int32_t* left = nullptr;
  const int32_t* right = nullptr;
  const float* t = nullptr;
  bool identity = true;
};
struct PlaneResize {
  bool linear = false;
  ResizedAxis rows, columns;
};

/// Nearest or linear, the other axes unchanged in size, no antialias, exclude_outside or tf_crop_and_resize.
bool plane_resize_fits(const KernelCall& call);
/// For a call that fits. Lives until the site's next call. Fails where an outer axis is resampled at its own size.
Result<const PlaneResize*> plane_resize(KernelCall& call);

}  // namespace msvm
