#include "msvm/kernels/resize_site.h"

#include <algorithm>
#include <memory>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/resize.h"
#include "msvm/kernels/site.h"

namespace msvm {
namespace {

/// Everything that a plan depends on beside the attributes.
struct Key {
  std::array<int64_t, kMaxRank> in{}, out{};
  std::vector<double> scales;
  bool operator==(const Key&) const = default;
};

struct Kept {
  bool made = false;
  Key key;
  std::vector<int32_t> positions[2];
  std::vector<float> weights[2];
  PlaneResize plan;
  uint64_t used = 0;
};

/// The sizes seen last, as the call site's scheduler remembers them.
struct ResizeSite final : KernelSiteState {
  static constexpr size_t kMost = 8;
  Key wanted;
  std::vector<std::unique_ptr<Kept>> kept;
  uint64_t clock = 0;

  Kept& take() {
    for (auto& k : kept)
      if (k->made && k->key == wanted) return *k;
    if (kept.size() < kMost) return *kept.emplace_back(std::make_unique<Kept>());
    Kept& oldest = **std::min_element(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a->used < b->used; });
    oldest.made = false;
    return oldest;
  }
};

}  // namespace

bool plane_resize_fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  if (x.rank < 2 || y.rank != x.rank || call.attrs.get_int("antialias", 0) != 0 || call.attrs.get_int("exclude_outside", 0) != 0) return false;
  if (call.attrs.get_string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize") return false;
  std::string_view mode = call.attrs.get_string("mode", "nearest");
  if (mode != "nearest" && mode != "linear") return false;
  for (int d = 0; d < x.rank - 2; ++d)
    if (x.shape[d] != y.shape[d]) return false;
  return y.shape[y.rank - 1] < (int64_t{1} << 30) && x.shape[x.rank - 1] < (int64_t{1} << 30) && y.shape[y.rank - 2] < (int64_t{1} << 30) && x.shape[x.rank - 2] < (int64_t{1} << 30);
}

Result<const PlaneResize*> plane_resize(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  ResizeSite& site = PackedConstants::at(call).part<ResizeSite>();
  Key& wanted = site.wanted;
  wanted.in = x.shape, wanted.out = y.shape;
  wanted.scales.clear();
  if (const TensorMeta* scales = input_or_null(call, 1); scales && scales->elements() > 0) {
    wanted.scales.resize(static_cast<size_t>(scales->elements()));
    read_elements(*scales, wanted.scales.data());
  }
  Kept& k = site.take();
  k.used = ++site.clock;
  if (k.made) return const_cast<const PlaneResize*>(&k.plan);
  ResizePlan plan;
  MSVM_RETURN_IF_ERROR(plan_resize(call, plan));
  for (int d = 0; d < x.rank - 2; ++d)
    if (!plan.axes[static_cast<size_t>(d)].identity) return unsupported("Resize: scales of outer axes");
  k.plan.linear = plan.mode == ResizeMode::kLinear;
  for (int i = 0; i < 2; ++i) {
    const ResizeAxis& axis = plan.axes[static_cast<size_t>(x.rank - 2 + i)];
    const size_t n = static_cast<size_t>(axis.out);
    auto& positions = k.positions[i];
    auto& weights = k.weights[i];
    positions.assign(2 * n, 0);
    weights.assign(n, 0.0f);
    for (size_t o = 0; o < n; ++o) {
      const size_t at = o * static_cast<size_t>(axis.taps);
      positions[o] = static_cast<int32_t>(axis.identity ? static_cast<int64_t>(o) : axis.position[at]);
      positions[n + o] = axis.identity || !k.plan.linear ? positions[o] : static_cast<int32_t>(axis.position[at + 1]);
      weights[o] = axis.identity || !k.plan.linear ? 0.0f : static_cast<float>(axis.weight[at + 1]);
    }
    (i == 0 ? k.plan.rows : k.plan.columns) = {positions.data(), positions.data() + n, weights.data(), axis.identity};
  }
  k.key = wanted;
  k.made = true;
  return const_cast<const PlaneResize*>(&k.plan);
}

}  // namespace msvm
