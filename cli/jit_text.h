// Pictures of the JIT as tables and as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "msvm/engine/engine.h"

namespace msvm::cli {

std::string jit_text(const JitView& view, const jit::QueueView& queue);
/// docs/cli.md names the members; they stay as they are.
nlohmann::ordered_json jit_json(const JitView& view, const jit::QueueView& queue);

}  // namespace msvm::cli
