// A Resize that repeats elements, read by convolutions only: they read its input themselves. Convolutions of single pixels come before it.
#include <algorithm>

#include "msvm/opt/nearest.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

/// Conv or msvm.Conv that reads `r` as its data alone.
bool reads_as_data(const ValueGraph& g, const Node& n, Reg r) {
  if (!is_call(&n, "Conv") && !is_call(&n, "msvm.Conv")) return false;
  const Reg out = ValueGraph::output(n);
  if (!may_fuse(n.instr) || out == kNoReg || !g.plain(out) || n.instr.uses.size() < 2 || !n.instr.attrs.get_ints("upsample").empty()) return false;
  return n.instr.uses[0] == r && std::count(n.instr.uses.begin(), n.instr.uses.end(), r) == 1;
}

/// Depthwise kernels read whole images only.
bool has_channel_sums(const ValueGraph& g, const Node& conv) {
  const auto& w = g.type(conv.instr.uses[1]).shape;
  return conv.instr.attrs.get_int("group", 1) == 1 || (w.size() > 1 && w[1].is_const() && w[1].value() > 1);
}

void read_through(ValueGraph& g, Node& conv, const Node& resize, const std::vector<int64_t>& times) {
  Instr call = conv.instr;
  call.text = "msvm.Conv";
  call.uses[0] = resize.instr.uses[0];
  if (call.uses.size() < 3) call.uses.resize(3, kNoReg);
  call.attrs.set("upsample", std::vector<int64_t>(times.begin() + 2, times.end()));
  call.debug = g.merge_debug({&resize, &conv});
  g.set_instr(conv, std::move(call));
}

/// Resize, then Conv, becomes Conv, then Resize.
void swap(ValueGraph& g, Node& conv, const Node& resize) {
  const Reg old = ValueGraph::output(conv);
  TensorType small = g.type(old);
  const TensorType whole = small;
  const auto& from = g.type(resize.instr.uses[0]).shape;
  std::copy(from.begin() + 2, from.end(), small.shape.begin() + 2);
  Instr call = conv.instr;
  call.uses[0] = resize.instr.uses[0];
  const Reg r = g.emit_call(conv, std::move(call), small);
  Instr after = resize.instr;
  after.uses = {r};
  if (after.attrs.get_ints("axes").empty()) after.dims = whole.shape;
  after.debug = g.merge_debug({&resize, &conv});
  g.replace_call(conv, std::move(after), whole);
}

void match(ValueGraph& g, Node& resize) {
  const auto times = repeats(g, resize);
  if (!times || *times == std::vector<int64_t>(times->size(), 1)) return;
  const Reg r = ValueGraph::output(resize);
  const std::vector<Node*> readers = g.readers(r);
  for (const Node* n : readers)
    if (!reads_as_data(g, *n, r) || !has_channel_sums(g, *n)) return;
  for (Node* n : readers) {
    if (is_pointwise_conv(g, *n) && n->instr.uses.size() <= 3) swap(g, *n, resize);
    else read_through(g, *n, resize, *times);
  }
}

}  // namespace

void upsample_pass(ValueGraph& g, const PassContext&) {
  std::vector<Node*> resizes;  // what is behind one changes
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "Resize")) resizes.push_back(&n);
  });
  for (Node* n : resizes) match(g, *n);
}

}  // namespace msvm::opt
