// The JIT of an attached process, as this process would see its own.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "msvm/engine/engine.h"

namespace msvm::cli {

/// From "programs" of a monitor's state; times of slow paths and events are seconds before the state was made.
std::vector<JitView> jit_views(const nlohmann::ordered_json& state);
/// From one of its "queues".
jit::QueueView queue_view(const nlohmann::ordered_json& queue);

}  // namespace msvm::cli
