// Constants as the optimiser reads and makes them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "msvm/opt/value_graph.h"

namespace msvm::opt {

/// Sizes of a constant's type.
std::vector<int64_t> sizes(const TensorType& t);
/// All sizes, or none if one isn't constant.
std::optional<std::vector<int64_t>> constant_sizes(const TensorType& t);
int64_t element_count(const std::vector<int64_t>& shape);

/// The elements of an f32 constant; null of others.
const float* floats(const Constant* c);
/// The one value of a constant with one element, any number of axes; none otherwise. f32, f64, and integers that a float holds.
std::optional<double> scalar(const Constant* c);

/// Memory of its own for a constant of constant sizes, uninitialised.
Constant new_constant(ValueGraph& g, std::string name, DType dtype, const std::vector<int64_t>& shape);
inline float* mutable_floats(Constant& c) { return reinterpret_cast<float*>(const_cast<std::byte*>(c.data)); }
/// The same bytes under another shape of as many elements; shares memory.
Constant reshaped_constant(ValueGraph& g, const Constant& c, const std::vector<int64_t>& shape);

}  // namespace msvm::opt
