#include "msvm/opt/nearest.h"

#include <algorithm>

namespace msvm::opt {

std::optional<std::vector<int64_t>> repeats(ValueGraph& g, const Node& resize) {
  const Instr& r = resize.instr;
  const Reg out = ValueGraph::output(resize);
  if (!is_call(&resize, "Resize") || !may_fuse(r) || out == kNoReg || !g.plain(out) || r.uses.empty() || !g.is_tensor(r.uses[0])) return std::nullopt;
  for (size_t i = 1; i < r.uses.size(); ++i)
    if (r.uses[i] != kNoReg) return std::nullopt;
  const TensorType &x = g.type(r.uses[0]), &y = g.type(out);
  if (x.dtype != DType::kF32 || !(y.device == Device{}) || x.rank() < 3 || x.rank() != y.rank()) return std::nullopt;
  if (r.attrs.get_string("mode", "nearest") != "nearest") return std::nullopt;
  const std::string_view positions = r.attrs.get_string("coordinate_transformation_mode", "half_pixel"), rounding = r.attrs.get_string("nearest_mode", "round_prefer_floor");
  // Position p of the result stands at p / n, or at (p + 0.5) / n - 0.5.
  const bool floors = positions == "asymmetric" && rounding == "floor";
  const bool rounds = (positions == "half_pixel" || positions == "pytorch_half_pixel" || positions == "half_pixel_symmetric") && rounding.starts_with("round");
  if (!floors && !rounds) return std::nullopt;
  std::vector<int64_t> times(static_cast<size_t>(x.rank()), 1);
  for (size_t a = 0; a < times.size(); ++a) {
    if (y.shape[a] == x.shape[a]) continue;
    if (a < 2 || !x.shape[a].valid()) return std::nullopt;
    int64_t n = 2;
    while (n <= 16 && !(g.dims().mul(x.shape[a], g.dims().constant(n)) == y.shape[a])) ++n;
    if (n > 16) return std::nullopt;
    times[a] = n;
  }
  // Scales that are given must be these.
  const auto& scales = r.attrs.get_floats("scales");
  std::vector<int64_t> axes = r.attrs.get_ints("axes");
  if (axes.empty())
    for (int64_t a = 0; a < x.rank(); ++a) axes.push_back(a);
  if (!scales.empty() && scales.size() != axes.size()) return std::nullopt;
  for (size_t k = 0; k < scales.size(); ++k) {
    const int64_t a = axes[k] < 0 ? axes[k] + x.rank() : axes[k];
    if (a < 0 || a >= x.rank() || scales[k] != static_cast<double>(times[static_cast<size_t>(a)])) return std::nullopt;
  }
  return times;
}

bool is_pointwise_conv(const ValueGraph& g, const Node& conv) {
  const Instr& c = conv.instr;
  if (c.uses.size() < 2 || !g.is_tensor(c.uses[1]) || c.attrs.get_int("group", 1) != 1) return false;
  const std::string_view automatic = c.attrs.get_string("auto_pad", "NOTSET");
  if (automatic != "NOTSET" && automatic != "VALID") return false;
  const auto& w = g.type(c.uses[1]).shape;
  for (size_t d = 2; d < w.size(); ++d)
    if (!w[d].is_const(1)) return false;
  auto all = [&](std::string_view name, int64_t value) {
    const auto& list = c.attrs.get_ints(name);
    return std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == value; });
  };
  return all("strides", 1) && all("pads", 0) && all("upsample", 1);
}

}  // namespace msvm::opt
