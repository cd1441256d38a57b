// A monitor's state as a screen of text.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace msvm::cli {

struct ViewOptions {
  int width = 100, height = 0;  // height 0: as many lines as it takes
  bool colour = false;
};

/// `before`: the state of a second ago, or null; entries whose hits rose since are highlighted. What the state lacks is left out.
std::string monitor_screen(const nlohmann::ordered_json& state, const nlohmann::ordered_json& before, const ViewOptions& options);

}  // namespace msvm::cli
