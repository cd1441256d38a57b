// Channels-last between convolutions: f32 convolutions write @nhwc, what can follow does, everything else gets a row-major copy.
// Conversions stand where a tensor crosses from one to the other, once per block.
#include <algorithm>
#include <map>

#include "msvm/ops/schema.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

enum class Rule : uint8_t {
  kRowMajor,     // wants what it always had
  kConvolution,  // first input and result channels-last
  kFollow,       // the result lies as the first input does
  kElementwise,  // channels-last if an input of the result's shape is
  kConcat,       // channels-last if most inputs are
  kReduce,       // reads any; its result has no spatial extent
};

constexpr int64_t kFewChannels = 4;  // an image that a first layer reads as it is

bool spatial_reduction(const Instr& i, int rank) {
  if (!i.text.starts_with("Reduce")) return false;
  std::vector<int64_t> axes = i.attrs.get_ints("axes");
  for (int64_t& a : axes) a += a < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  if (static_cast<int>(axes.size()) != rank - 2) return false;
  for (size_t k = 0; k < axes.size(); ++k)
    if (axes[k] != static_cast<int64_t>(k) + 2) return false;
  return true;
}

Rule rule_of(const Instr& i, int rank) {
  for (const char* op : {"Conv", "msvm.Conv", "ConvTranspose"})
    if (i.text == op) return Rule::kConvolution;
  for (const char* op : {"MaxPool", "AveragePool", "Resize", "Pad", "BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN"})
    if (i.text == op) return Rule::kFollow;
  if (i.text == "GlobalAveragePool" || i.text == "GlobalMaxPool" || spatial_reduction(i, rank)) return Rule::kReduce;
  if (i.text == "Softmax" && i.attrs.get_int("axis", -1) == 1) return Rule::kFollow;
  if (i.text == "Concat") return Rule::kConcat;
  const OpSchema* op = find_op(i.text);
  return op && op->op_class == OpClass::kElementwise ? Rule::kElementwise : Rule::kRowMajor;
}

/// Every spatial axis is 1: both layouts are the same memory.
bool without_extent(const TensorType& t) {
  return std::all_of(t.shape.begin() + std::min<long>(2, static_cast<long>(t.shape.size())), t.shape.end(), [](Dim d) { return d.is_const(1); });
}

class LayoutChoice {
 public:
  explicit LayoutChoice(ValueGraph& g) : g_(g) {}

  void run() {
    for (BlockId b : g_.cfg().reverse_post_order()) {
      row_major_.clear();
      channels_last_.clear();
      auto& list = g_.block(b);
      for (auto it = list.begin(); it != list.end();) {
        Node& n = *it++;
        visit(n);
      }
    }
  }

 private:
  bool is_nhwc(Reg r) { return r != kNoReg && g_.reg_type(r).kind == RegKind::kTensor && g_.type(r).layout == Layout::kNhwc; }

  void visit(Node& n) {
    switch (n.instr.op) {
      case Opcode::kOpCall: return call(n);
      case Opcode::kTensorView: return view(n);
      case Opcode::kTensorCopy:        // copies from any layout into any
      case Opcode::kShapePropagate:    // reads sizes only
      case Opcode::kTensorRead: return;
      default: return all_row_major(n);
    }
  }

  void call(Node& n) {
    const Reg out = ValueGraph::output(n);
    const Reg first = n.instr.uses.empty() ? kNoReg : n.instr.uses[0];
    if (out == kNoReg || n.instr.outs[0] != out || !g_.plain(out) || !g_.is_tensor(out) || !g_.is_tensor(first)) return all_row_major(n);
    if (!std::all_of(n.instr.uses.begin(), n.instr.uses.end(), [&](Reg r) { return r == kNoReg || g_.is_tensor(r); })) return all_row_major(n);  // a list
    const Rule rule = rule_of(n.instr, g_.type(first).rank());
    if (rule == Rule::kReduce && (g_.type(out).rank() < 3 || without_extent(g_.type(out)))) return;
    const int rank = g_.type(out).rank();
    if (rank < 3 || rank > 5 || !wants(n, rule, out)) return all_row_major(n);
    TensorType t = g_.type(out);
    if (!without_extent(t)) t.layout = Layout::kNhwc;
    g_.set_type(out, t);
    for (Reg r : std::vector<Reg>(n.instr.uses)) {
      if (r == kNoReg) continue;
      const bool weights = rule == Rule::kConvolution && r == n.instr.uses[1];
      const bool whole = rule == Rule::kConcat || (r == first && rule != Rule::kElementwise) || spans(r, t);
      if (weights && r != first && is_nhwc(r)) g_.replace_read(n, r, row_major(n, r));
      if (!whole || weights || (rule == Rule::kConvolution && r == first && reads_image(n))) continue;
      const Reg better = channels_last(n, r);
      if (better != r) g_.replace_read(n, r, better);
    }
  }

  bool wants(const Node& n, Rule rule, Reg out) {
    const Instr& i = n.instr;
    switch (rule) {
      case Rule::kRowMajor:
      case Rule::kReduce: return false;
      case Rule::kConvolution: return g_.type(out).dtype == DType::kF32 && g_.type(out).device == Device{};
      case Rule::kFollow: return is_nhwc(i.uses[0]);
      case Rule::kElementwise:
        return std::any_of(i.uses.begin(), i.uses.end(), [&](Reg r) { return is_nhwc(r) && spans(r, g_.type(out)); });
      case Rule::kConcat: return 2 * std::count_if(i.uses.begin(), i.uses.end(), [&](Reg r) { return is_nhwc(r) || lies_channels_last(r); }) >= static_cast<long>(i.uses.size());
    }
    return false;
  }

  /// Of the result's rank, and broadcast along no axis that is known to be.
  bool spans(Reg r, const TensorType& result) {
    if (!g_.is_tensor(r) || g_.type(r).rank() != result.rank()) return false;
    for (size_t a = 0; a < result.shape.size(); ++a)
      if (g_.type(r).shape[a].is_const(1) && !result.shape[a].is_const(1)) return false;
    return true;
  }

  /// A first layer: few channels of one group, row-major.
  bool reads_image(const Node& n) {
    const TensorType& t = g_.type(n.instr.uses[0]);
    return n.instr.text != "ConvTranspose" && !is_nhwc(n.instr.uses[0]) && n.instr.attrs.get_int("group", 1) == 1 && t.shape[1].is_const() && t.shape[1].value() <= kFewChannels;
  }

  /// Row-major by type, channels-last in memory: no extent, or a transposed view of a dense [N, ..., C].
  bool lies_channels_last(Reg r) {
    if (!g_.is_tensor(r) || g_.type(r).rank() < 3) return false;
    if (without_extent(g_.type(r))) return true;
    const Node* d = g_.def(r);
    if (!d || d->instr.op != Opcode::kTensorView || view_kind(d->instr) != ViewKind::kTranspose) return false;
    const TensorType& from = g_.type(d->instr.uses[0]);
    const auto& order = d->instr.imms;
    const auto rank = static_cast<int64_t>(order.size());
    if (from.strided || from.layout != Layout::kRowMajor || order[0] != 0 || order[1] != rank - 1) return false;
    for (int64_t a = 2; a < rank; ++a)
      if (order[static_cast<size_t>(a)] != a - 1) return false;
    return true;
  }

  // --- conversions
  Reg convert(Node& at, Reg r, Layout layout) {
    TensorType t = g_.type(r);
    t.layout = layout;
    t.strided = false;
    t.filled.reset();
    const Reg fresh = g_.new_reg(t);
    const uint32_t debug = at.instr.debug;
    g_.insert_before(at, {.op = Opcode::kTensorAlloc, .defs = {fresh}, .dims = t.shape, .debug = debug});
    g_.insert_before(at, {.op = Opcode::kTensorCopy, .uses = {r}, .outs = {fresh}, .debug = debug});
    return fresh;
  }

  Reg channels_last(Node& at, Reg r) {
    if (is_nhwc(r) || g_.constant(r) || lies_channels_last(r)) return r;
    auto [it, fresh] = channels_last_.try_emplace(r, kNoReg);
    if (fresh) it->second = convert(at, r, Layout::kNhwc);
    return it->second;
  }

  Reg row_major(Node& at, Reg r) {
    auto [it, fresh] = row_major_.try_emplace(r, kNoReg);
    if (fresh) it->second = convert(at, r, Layout::kRowMajor);
    return it->second;
  }

  void all_row_major(Node& n) {
    if (instr_info(n.instr.op).has(kPhi)) return;  // their inputs were converted where they were left, see leave()
    for (Reg r : std::vector<Reg>(n.instr.uses))
      if (is_nhwc(r)) g_.replace_read(n, r, row_major(n, r));
    if (instr_info(n.instr.op).has(kTerminator)) leave(n);
  }

  /// What PHIs of the successors take from here.
  void leave(Node& terminator) {
    for (BlockId target : terminator.instr.targets)
      for (Node& phi : g_.block(target)) {
        if (!instr_info(phi.instr.op).has(kPhi)) break;
        for (size_t k = 0; k < phi.instr.uses.size() && k < phi.instr.targets.size(); ++k) {
          const Reg r = phi.instr.uses[k];
          if (phi.instr.targets[k] != terminator.block || !is_nhwc(r)) continue;
          Instr changed = phi.instr;
          changed.uses[k] = row_major(terminator, r);
          g_.set_instr(phi, std::move(changed));
        }
      }
  }

  // --- views
  void view(Node& n) {
    const Reg source = n.instr.uses[0], result = n.instr.defs[0];
    if (!is_nhwc(source)) return;
    TensorType t = g_.type(result);
    switch (view_kind(n.instr)) {
      case ViewKind::kSlice:
        t.layout = Layout::kNhwc;
        t.strided = true;
        return g_.set_type(result, t);
      case ViewKind::kTranspose: return transposed(n, t);
      case ViewKind::kSqueeze:
        if (t.rank() < 3 || std::any_of(n.instr.imms.begin(), n.instr.imms.end(), [](int64_t a) { return a < 2; })) break;
        t.layout = Layout::kNhwc;
        t.strided = g_.type(source).strided;
        return g_.set_type(result, t);
      case ViewKind::kReshape:
        if (flattened(n)) return;
        break;
      case ViewKind::kBroadcast:
      case ViewKind::kUnsqueeze:
      case ViewKind::kWindow:
      case ViewKind::kIdentity: break;
    }
    all_row_major(n);
  }

  /// The transpose spells the order out; dense where that is the order in memory.
  void transposed(Node& n, TensorType t) {
    const TensorType from = g_.type(n.instr.uses[0]);
    const bool dense = !t.strided;
    t.strided = from.strided;
    int64_t last = -1;
    for (int64_t a : n.instr.imms) {
      if (from.shape[static_cast<size_t>(a)].is_const(1)) continue;
      const int64_t place = a == 1 ? from.rank() : a;
      t.strided |= place < last;
      last = place;
    }
    if (dense && t.strided) return all_row_major(n);  // its readers count on that
    g_.set_type(n.instr.defs[0], t);
  }

  /// [N, C, H, W] -> [N, C, H*W] -> transposed to [N, H*W, C]: the other order of the two views moves nothing.
  bool flattened(Node& n) {
    const Reg source = n.instr.uses[0], result = n.instr.defs[0];
    const TensorType from = g_.type(source), flat = g_.type(result);
    if (from.strided || flat.rank() != 3 || !(flat.shape[0] == from.shape[0]) || !(flat.shape[1] == from.shape[1])) return false;
    const std::vector<Node*> readers = g_.readers(result);
    const std::vector<int64_t> swap{0, 2, 1};
    for (const Node* r : readers)
      if (r->block != n.block || r->instr.op != Opcode::kTensorView || view_kind(r->instr) != ViewKind::kTranspose || r->instr.imms != swap) return false;
    if (readers.empty()) return false;
    TensorType rows = from;
    rows.layout = Layout::kRowMajor;
    std::vector<int64_t> order{0};
    for (int64_t a = 2; a < from.rank(); ++a) order.push_back(a);
    order.push_back(1);
    for (size_t k = 0; k < order.size(); ++k) rows.shape[k] = from.shape[static_cast<size_t>(order[k])];
    TensorType tokens = rows;
    tokens.shape = {flat.shape[0], flat.shape[2], flat.shape[1]};
    const Reg spelt = g_.emit_view(n, ViewKind::kTranspose, source, {}, order, rows);
    const Reg joined = g_.emit_view(n, ViewKind::kReshape, spelt, tokens.shape, {}, tokens);
    for (Node* r : readers) g_.replace_reads(r->instr.defs[0], joined);  // the transposes are dead now
    return true;
  }

  ValueGraph& g_;
  std::map<Reg, Reg> row_major_, channels_last_;  // within the block
};

}  // namespace

void layout_pass(ValueGraph& g, const PassContext& context) {
  for (const Register& r : g.function().regs)
    if (r.type.tensor.layout != Layout::kRowMajor) return;  // somebody has chosen already
  LayoutChoice(g).run();
  copies_pass(g, context);  // of what is dense now
}

}  // namespace msvm::opt
