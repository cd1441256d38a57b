// A Pad of zeros along spatial axes, read by one convolution: its amounts become the convolution's own.
#include "msvm/opt/constants.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

void merge(ValueGraph& g, Node& conv) {
  Node* pad = g.call_of(conv.instr.uses[0], "Pad");
  if (!pad || !may_fuse(pad->instr) || !may_fuse(conv.instr) || !g.single_use(conv.instr.uses[0]) || g.type(conv.instr.uses[0]).dtype != DType::kF32 || !g.is_tensor(pad->instr.uses[0])) return;
  const Instr& p = pad->instr;
  if (p.attrs.get_string("mode", "constant") != "constant") return;
  if (p.uses.size() > 1 && p.uses[1] != kNoReg && scalar(g.constant(p.uses[1])) != 0.0) return;
  const std::string_view automatic = conv.instr.attrs.get_string("auto_pad", "NOTSET");
  if (automatic != "NOTSET" && automatic != "VALID") return;
  const auto rank = static_cast<size_t>(g.type(p.uses[0]).rank());
  if (p.dims.size() != 2 * rank || rank < 3) return;
  const size_t spatial = rank - 2;
  std::vector<int64_t> pads = automatic == "NOTSET" ? conv.instr.attrs.get_ints("pads") : std::vector<int64_t>();
  pads.resize(2 * spatial, 0);
  for (size_t k = 0; k < 2 * rank; ++k) {
    if (!p.dims[k].is_const() || p.dims[k].value() < 0) return;
    const size_t axis = k % rank;
    if (axis < 2) {
      if (p.dims[k].value() != 0) return;
      continue;
    }
    int64_t& to = pads[(k < rank ? 0 : spatial) + axis - 2];
    if (__builtin_add_overflow(to, p.dims[k].value(), &to)) return;
  }
  Instr call = conv.instr;
  call.uses[0] = p.uses[0];
  call.attrs.erase("auto_pad");
  call.attrs.set("pads", std::move(pads));
  call.debug = g.merge_debug({pad, &conv});
  g.set_instr(conv, std::move(call));
}

}  // namespace

void padding_pass(ValueGraph& g, const PassContext&) {
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "Conv")) merge(g, n);
  });
}

}  // namespace msvm::opt
