#include "terminal.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace msvm::cli {
namespace {

volatile sig_atomic_t resized = 0, ended = 0;
void on_resize(int) { resized = 1; }
void on_end(int) { ended = 1; }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // without SA_RESTART: poll() returns
  sigaction(signal, &action, nullptr);
}

}  // namespace

bool Terminal::there() { return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO); }

Terminal::Terminal() {
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  handle(SIGWINCH, on_resize);
  handle(SIGINT, on_end);
  handle(SIGTERM, on_end);
  fmt::print("\x1b[?1049h\x1b[?25l");  // the other screen, without a cursor
  std::fflush(stdout);
}

Terminal::~Terminal() {
  std::printf("\x1b[?25h\x1b[?1049l");
  std::fflush(stdout);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Terminal::Size Terminal::size() const {
  winsize w{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0 || w.ws_row == 0) return {};
  return {w.ws_col, w.ws_row};
}

void Terminal::draw(const std::string& screen) const {
  std::string out = "\x1b[H";  // each line is cleared to its end, so nothing flickers
  for (char c : screen) {
    if (c == '\n') out += "\x1b[K\n";
    else out += c;
  }
  out += "\x1b[J";
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
}

Terminal::Event Terminal::wait(int ms) const {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(ms);
  for (;;) {
    if (ended) return Event::kQuit;
    if (resized) {
      resized = 0;
      return Event::kResized;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return Event::kNone;
    pollfd in{STDIN_FILENO, POLLIN, 0};
    if (poll(&in, 1, static_cast<int>(left)) <= 0) continue;
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q' || key == '\x1b') return Event::kQuit;
  }
}

}  // namespace msvm::cli
