// Resize that repeats elements. Private to the room.
#pragma once
#include <optional>
#include <vector>

#include "msvm/opt/value_graph.h"

namespace msvm::opt {

/// How often a Resize of f32 repeats each element along each axis of [N, C, spatial...], N and C once; none if it does anything else.
std::optional<std::vector<int64_t>> repeats(ValueGraph& g, const Node& resize);

/// A convolution whose result has a pixel for each pixel of its input, made of that pixel alone.
bool is_pointwise_conv(const ValueGraph& g, const Node& conv);

}  // namespace msvm::opt
