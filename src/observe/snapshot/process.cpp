#include "observe/snapshot/process.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace msvm::observe {
namespace {

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// What stands behind options may be anybody's secret.
std::string command() {
  std::vector<std::string> words;
  std::istringstream line(read("/proc/self/cmdline"));
  for (std::string word; std::getline(line, word, '\0');) words.push_back(word);
  if (words.empty()) return "?";
  std::string out = base_name(words[0]);
  if (words.size() > 1 && !words[1].empty() && words[1][0] != '-') out += " " + base_name(words[1]);
  return out;
}

// Field 22 of stat, in ticks since the machine started; the name in field 2 may hold anything but its last parenthesis.
double uptime() {
  const std::string stat = read("/proc/self/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 2));
  std::string skipped;
  for (int k = 3; k < 22; ++k) fields >> skipped;
  double start = 0;
  timespec now{};
  if (!(fields >> start) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double up = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - start / static_cast<double>(sysconf(_SC_CLK_TCK));
  return up > 0 ? up : 0;
}

}  // namespace

ProcessFacts process_facts() { return {static_cast<int>(::getpid()), command(), uptime()}; }

}  // namespace msvm::observe
