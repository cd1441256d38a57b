// This process, as the system knows it. Private to the room.
#pragma once
#include <string>

namespace msvm::observe {

struct ProcessFacts {
  int pid = 0;
  std::string command;     // "python inspect.py": the program and the file it runs, without what else stands on the line
  double uptime = 0;       // s
};

ProcessFacts process_facts();

}  // namespace msvm::observe
