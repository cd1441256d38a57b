// A request of the client's that has to be answered once. Private to the room.
#pragma once
#include <cstdint>
#include <string>

#include "observe/dap/json.h"

namespace msvm::observe::dap::merge {

struct Request {
  int64_t seq = 0;
  std::string command;
  Json arguments = Json::object();
};

}  // namespace msvm::observe::dap::merge
