// What a Python program is launched with: its interpreter, and the command line. Private to the room.
#pragma once
#include <string>
#include <vector>

#include "observe/dap/launch.h"

namespace msvm::observe::dap::merge {

struct Interpreter {
  std::string path, version;   // "3.11.2"
  std::string msvm;            // the folder of the package
  bool debugpy = false;
};

/// Asks the interpreter of the arguments, in the folder and environment of the program, without importing anything. The error says what is missing
/// and what mends it.
Result<Interpreter> find_interpreter(const LaunchArguments& launch);

/// The program's path; an error if there is no such file.
Result<std::string> program_path(const LaunchArguments& launch);

/// The interpreter with the program and its arguments. With debugpy: it connects to `port`, proves with `token` that it is the one, and waits.
std::vector<std::string> command_of(const Interpreter& python, const std::string& program, const std::vector<std::string>& args, uint16_t port, const std::string& token);

}  // namespace msvm::observe::dap::merge
