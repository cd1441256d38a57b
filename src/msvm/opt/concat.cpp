// Concat without copies: calls write their results straight into windows of the joined tensor. What can't (it is read as a dense whole,
// or made elsewhere) is copied into its window where the Concat stood.
#include <algorithm>
#include <set>

#include "msvm/ops/schema.h"
#include "msvm/opt/passes.h"
#include "msvm/verify/fills.h"

namespace msvm::opt {
namespace {

/// Operators whose kernels write rows of any pixel stride as fast as dense ones.
bool writes_windows(const Instr& i) {
  for (const char* op : {"msvm.Conv", "Conv", "msvm.Pointwise", "Resize", "MaxPool", "AveragePool"})
    if (i.text == op) return true;
  return false;
}

/// Reads that take a strided tensor as well as a dense one.
bool reads_strided(const Node& n) { return n.instr.op == Opcode::kOpCall || n.instr.op == Opcode::kTensorCopy || n.instr.op == Opcode::kShapePropagate; }

class ConcatFill {
 public:
  ConcatFill(ValueGraph& g, Node& concat) : g_(g), concat_(concat), out_(ValueGraph::output(concat)) {}

  void run() {
    if (out_ == kNoReg || !g_.plain(out_) || g_.def(out_)->instr.op != Opcode::kTensorAlloc) return;
    const TensorType type = g_.type(out_);
    if (type.layout != Layout::kNhwc) return;
    axis_ = concat_.instr.attrs.get_int("axis", 0);
    if (axis_ < 0) axis_ += type.rank();
    if (axis_ != 1) return;
    const std::vector<Reg> parts = concat_.instr.uses;
    int64_t channels = 0;
    for (Reg r : parts) {
      // Not a list; of a size for which windows that meet are proved to.
      if (!g_.is_tensor(r) || g_.type(r).rank() != type.rank() || !g_.type(r).shape[1].is_const() || __builtin_add_overflow(channels, g_.type(r).shape[1].value(), &channels)) return;
    }
    if (!type.shape[1].is_const(channels)) return;
    if (std::set<Reg>(parts.begin(), parts.end()).size() != parts.size()) return;
    std::vector<uint8_t> direct;
    Node* first = nullptr;
    for (Reg r : parts) {
      const bool can = writes_into_window(r, type);
      direct.push_back(can);
      Node* destination = can ? g_.def(r) : nullptr;
      if (destination && (!first || g_.before(*destination, *first))) first = destination;
    }
    if (!first || !g_.sizes_available(type, *first) || !countable(parts, direct)) return;
    const Reg joined = g_.new_reg(type, g_.function().regs[static_cast<size_t>(out_)].name);
    g_.insert_before(*first, {.op = Opcode::kTensorAlloc, .defs = {joined}, .dims = type.shape, .debug = concat_.instr.debug});
    Dim from = g_.dims().constant(0);
    for (size_t i = 0; i < parts.size(); ++i) {
      const Dim to = g_.dims().add(from, g_.type(parts[i]).shape[1]);
      TensorType window = g_.type(parts[i]);
      window.strided = true;
      Instr view{.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(ViewKind::kWindow), .uses = {joined}, .dims = {from, to}, .imms = {axis_}};
      if (direct[i]) {
        Node *destination = g_.def(parts[i]), *writer = g_.writer(parts[i]);
        writer->instr.debug = g_.merge_debug({&concat_, writer});
        view.defs = {parts[i]};
        view.debug = destination->instr.debug;
        g_.set_instr(*destination, std::move(view));
        g_.set_type(parts[i], window);
      } else {
        window.layout = type.layout;
        view.defs = {g_.new_reg(window)};
        view.debug = concat_.instr.debug;
        const Reg w = view.defs[0];
        g_.insert_before(concat_, std::move(view));
        g_.insert_before(concat_, {.op = Opcode::kTensorCopy, .uses = {parts[i]}, .outs = {w}, .debug = concat_.instr.debug});
      }
      from = to;
    }
    g_.replace_reads(out_, joined);
    g_.remove(*g_.def(out_));
    g_.remove(concat_);
  }

 private:
  bool writes_into_window(Reg r, const TensorType& joined) {
    if (r == kNoReg || !g_.is_tensor(r) || !g_.plain(r)) return false;
    const Node *destination = g_.def(r), *writer = g_.writer(r);
    const TensorType& t = g_.type(r);
    if (destination->instr.op != Opcode::kTensorAlloc || destination->block != concat_.block || writer->block != concat_.block || ValueGraph::output(*writer) != r) return false;
    if (t.layout != joined.layout || t.strided || t.dtype != joined.dtype || !writes_windows(writer->instr)) return false;
    const auto& readers = g_.readers(r);
    return std::all_of(readers.begin(), readers.end(), [](const Node* n) { return reads_strided(*n); });
  }

  /// The verifier follows so many written parts that don't touch.
  bool countable(const std::vector<Reg>& parts, const std::vector<uint8_t>& direct) {
    std::vector<size_t> order;  // in which they are written
    for (size_t i = 0; i < parts.size(); ++i)
      if (direct[i]) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return g_.before(*g_.writer(parts[a]), *g_.writer(parts[b])); });
    for (size_t i = 0; i < parts.size(); ++i)
      if (!direct[i]) order.push_back(i);
    std::vector<uint8_t> written(parts.size() + 2, 0);
    size_t separate = 0;
    for (size_t i : order) {
      written[i + 1] = 1;
      separate = separate + 1 - written[i] - written[i + 2];
      if (separate > verification::kMaxFillParts) return false;
    }
    return true;
  }

  ValueGraph& g_;
  Node& concat_;
  const Reg out_;
  int64_t axis_ = 0;
};

}  // namespace

void concat_pass(ValueGraph& g, const PassContext&) {
  std::vector<Node*> joins;
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "Concat")) joins.push_back(&n);
  });
  for (Node* n : joins) ConcatFill(g, *n).run();
}

}  // namespace msvm::opt
