// Groups of elementwise operators over one shape, of which only the last value is read outside, become msvm.Pointwise.
#include <algorithm>
#include <unordered_set>

#include "msvm/opt/body_builder.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

/// The sink and every producer that only the group reads.
std::vector<Node*> collect(ValueGraph& g, Node& sink) {
  std::vector<Node*> group{&sink};
  const auto& shape = g.type(ValueGraph::output(sink)).shape;
  auto inside = [&](const Node* n) { return std::find(group.begin(), group.end(), n) != group.end(); };
  for (bool grown = true; grown && group.size() < kMaxBodySteps;) {
    grown = false;
    for (size_t i = 0; i < group.size() && !grown; ++i) {
      const auto member = as_elementwise(g, *group[i]);
      for (Reg r : member->operands) {
        Node* producer = g.call_of(r);
        if (!producer || producer->block != sink.block || inside(producer) || g.type(r).shape != shape) continue;
        if (!as_elementwise(g, *producer)) continue;
        const auto& readers = g.readers(r);
        if (!std::all_of(readers.begin(), readers.end(), inside)) continue;
        group.push_back(producer);
        grown = true;
        break;
      }
    }
  }
  std::sort(group.begin(), group.end(), [](const Node* a, const Node* b) { return a->order < b->order; });
  return group;
}

}  // namespace

void pointwise_pass(ValueGraph& g, const PassContext&) {
  std::vector<Node*> sinks;
  for_each_node(g, [&](Node& n) { sinks.push_back(&n); });
  std::unordered_set<const Node*> gone;
  for (size_t s = sinks.size(); s-- > 0;) {
    Node* sink = sinks[s];
    if (gone.count(sink) || !as_elementwise(g, *sink)) continue;
    std::vector<Node*> group = collect(g, *sink);
    // A body takes so many steps and inputs: the first calls stay outside where there are more.
    size_t first = 0;
    BodyBuilder b(g, kNoReg, 0);
    for (; first < group.size(); ++first) {
      b = BodyBuilder(g, kNoReg, 0);
      bool ok = true;
      for (size_t i = first; i < group.size() && ok; ++i) ok = b.add(*group[i], *as_elementwise(g, *group[i]));
      if (ok) break;
    }
    if (group.size() - first < 2) continue;
    group.erase(group.begin(), group.begin() + static_cast<long>(first));
    simplify_body(b.body(), b.inputs(), 0);
    // A constant of one element and many axes may have given the result its rank.
    const int rank = g.type(ValueGraph::output(*sink)).rank();
    if (std::none_of(b.inputs().begin(), b.inputs().end(), [&](Reg r) { return g.type(r).rank() == rank; })) continue;
    Instr call{.op = Opcode::kOpCall, .uses = b.inputs(), .text = "msvm.Pointwise"};
    call.attrs.set("body", print_body(b.body()));
    call.debug = g.merge_debug(std::vector<const Node*>(group.begin(), group.end()));
    const TensorType type = g.type(ValueGraph::output(*sink));
    for (Node* n : group) {
      gone.insert(n);
      gone.insert(g.def(ValueGraph::output(*n)));
    }
    g.replace_call(*sink, std::move(call), type);
    for (size_t i = group.size() - 1; i-- > 0;) g.remove_call(*group[i]);
  }
}

}  // namespace msvm::opt
