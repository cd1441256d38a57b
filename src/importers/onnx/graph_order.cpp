#include "importers/onnx/graph_order.h"

#include <unordered_map>
#include <unordered_set>

namespace msvm::onnx {
namespace {

void for_each_use(const Node& n, const auto& use) {
  for (std::string_view name : n.inputs)
    if (!name.empty()) use(name);
  for (const Attribute& a : n.attributes)
    if (a.graph)
      for (std::string_view name : free_names(*a.graph)) use(name);
}

}  // namespace

std::vector<std::string_view> free_names(const Graph& g) {
  std::unordered_set<std::string_view> defined, seen;
  for (const ValueInfo& v : g.inputs) defined.insert(v.name);
  for (const TensorProto& t : g.initializers) defined.insert(t.name);
  for (const Node& n : g.nodes) defined.insert(n.outputs.begin(), n.outputs.end());
  std::vector<std::string_view> names;
  auto use = [&](std::string_view name) {
    if (!defined.contains(name) && seen.insert(name).second) names.push_back(name);
  };
  for (const Node& n : g.nodes) for_each_use(n, use);
  for (const ValueInfo& v : g.outputs) use(v.name);
  return names;
}

GraphOrder sort_nodes(const Graph& g) {
  size_t count = g.nodes.size();
  std::unordered_map<std::string_view, size_t> maker;
  for (size_t i = 0; i < count; ++i)
    for (std::string_view name : g.nodes[i].outputs)
      if (!name.empty()) maker.emplace(name, i);
  std::vector<std::vector<size_t>> needs(count);
  for (size_t i = 0; i < count; ++i)
    for_each_use(g.nodes[i], [&](std::string_view name) {
      if (auto it = maker.find(name); it != maker.end()) needs[i].push_back(it->second);
    });

  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> state(count, State::kNew);
  GraphOrder order;
  std::vector<std::pair<size_t, size_t>> stack;  // node, next of its needs
  for (size_t root = 0; root < count; ++root) {
    if (state[root] != State::kNew) continue;
    stack.push_back({root, 0});
    state[root] = State::kOpen;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == needs[node].size()) {
        state[node] = State::kDone;
        order.nodes.push_back(node);
        stack.pop_back();
        continue;
      }
      size_t need = needs[node][next++];
      if (state[need] == State::kNew) {
        state[need] = State::kOpen;
        stack.push_back({need, 0});
      } else if (state[need] == State::kOpen && order.cycle.empty()) {
        bool inside = false;
        for (auto& [on_path, unused] : stack) {
          inside |= on_path == need;
          if (inside) order.cycle += "'" + std::string(g.nodes[on_path].name) + "' -> ";
        }
        order.cycle += "'" + std::string(g.nodes[need].name) + "'";
      }
    }
  }
  return order;
}

}  // namespace msvm::onnx
