// The order in which a graph's nodes can be imported: files don't always have them sorted.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "importers/onnx/proto.h"

namespace msvm::onnx {

struct GraphOrder {
  std::vector<size_t> nodes;  // each after those whose outputs it uses; file order where that is free
  std::string cycle;          // names of nodes in a circle; empty if there is none
};
GraphOrder sort_nodes(const Graph& g);

/// Names that the nodes of `g`, subgraphs included, use and don't define.
std::vector<std::string_view> free_names(const Graph& g);

}  // namespace msvm::onnx
