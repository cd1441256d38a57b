#include "line_editor.h"

#include <stdio.h>  // before the next

#include <editline/readline.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <memory>
#include <span>
#include <sstream>
#include <utility>

#include "msvm/jit/disk/private_file.h"
#include "msvm/jit/disk/private_folder.h"

namespace msvm::cli {
namespace {

constexpr size_t kMostLines = 1000, kMostBytes = 1 << 20;
constexpr const char* kFile = "debug_history";

// The library asks functions without an argument of ours.
LineEditor::Complete* completer = nullptr;
std::vector<std::string> offers;

char* next_offer(const char*, int n) { return static_cast<size_t>(n) < offers.size() ? ::strdup(offers[static_cast<size_t>(n)].c_str()) : nullptr; }

char** words_for(const char* word, int start, int end) {
  rl_attempted_completion_over = 1;  // no names of files
  const std::string line(rl_line_buffer, static_cast<size_t>(end));
  offers.clear();
  for (const std::string& whole : (*completer)(line))
    if (whole.size() > static_cast<size_t>(start)) offers.push_back(whole.substr(static_cast<size_t>(start)));
  return offers.empty() ? nullptr : rl_completion_matches(word, next_offer);
}

// Between a signal's handler and the thread that reads.
std::atomic<int> wake{-1};
bool discarded = false;

void forget_discards() {
  uint64_t n = 0;
  (void)!::read(wake, &n, sizeof n);
}

/// The next character that is typed; -1: the end, or the line is discarded.
int next_character(FILE*) {
  std::mbstate_t state{};
  for (;;) {
    pollfd p[] = {{STDIN_FILENO, POLLIN, 0}, {wake, POLLIN, 0}};
    if (::poll(p, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    if (p[1].revents) {
      forget_discards();
      discarded = true;
      return -1;
    }
    char byte = 0;
    const ssize_t n = ::read(STDIN_FILENO, &byte, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return -1;
    wchar_t whole = 0;
    const size_t taken = std::mbrtowc(&whole, &byte, 1, &state);
    if (taken == static_cast<size_t>(-2)) continue;  // more of it comes
    if (taken == static_cast<size_t>(-1)) return static_cast<unsigned char>(byte);
    return static_cast<int>(whole);
  }
}

/// $XDG_STATE_HOME/msvm, else ~/.local/state/msvm; empty: there is no home.
std::string state_folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/') return std::string(state) + "/msvm";
  if (const char* home = std::getenv("HOME"); home && *home == '/') return std::string(home) + "/.local/state/msvm";
  return "";
}

std::vector<std::string> kept_lines() {
  std::vector<std::string> out;
  const auto folder = jit::open_private_folder(state_folder(), false);
  std::vector<std::byte> bytes;
  if (!folder.ok() || jit::read_private(folder->get(), kFile, kMostBytes, false, bytes) != jit::ReadOutcome::kRead) return out;
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// That it can't be written is no error: the session was what counted.
void keep(std::span<const std::string> lines) {
  const std::string path = state_folder();
  if (path.empty()) return;
  const auto folder = jit::open_private_folder(path, true);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (folder.ok()) (void)jit::write_private(folder->get(), kFile, std::as_bytes(std::span(text)), jit::Replace::kYes);
}

}  // namespace

LineEditor::LineEditor(Complete complete) : lines_(kept_lines()) {
  completer = new Complete(std::move(complete));
  wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  rl_getc_function = next_character;  // before the library begins: it would wait for a key whatever comes
  rl_readline_name = const_cast<char*>("msvm");
  rl_catch_signals = 0;  // the debugger has a handler of its own, and children that mustn't be told
  rl_attempted_completion_function = words_for;
  rl_completion_append_character = 0;
  using_history();
  for (const std::string& line : lines_) add_history(line.c_str());
}

LineEditor::~LineEditor() {
  keep(std::span(lines_).last(std::min(lines_.size(), kMostLines)));
  rl_attempted_completion_function = nullptr;
  ::close(wake.exchange(-1));
  delete std::exchange(completer, nullptr);
}

void LineEditor::discard() {
  const int before = errno;
  const uint64_t one = 1;
  if (const int to = wake; to >= 0) (void)!::write(to, &one, sizeof one);
  errno = before;
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  using Line = std::unique_ptr<char, decltype(&std::free)>;
  forget_discards();  // of what ran before
  Line line(::readline(prompt.c_str()), std::free);
  while (std::exchange(discarded, false)) {
    ::tcflush(STDIN_FILENO, TCIFLUSH);  // also what hasn't been read yet
    ::printf("^C\n");
    line.reset(::readline(prompt.c_str()));
  }
  if (!line) return {};
  std::string text = line.get();
  if (text.find_first_not_of(" \t") != std::string::npos && (lines_.empty() || lines_.back() != text)) {
    add_history(text.c_str());
    lines_.push_back(text);
  }
  return text;
}

}  // namespace msvm::cli
