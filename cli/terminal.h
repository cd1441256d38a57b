// The terminal as a screen that is drawn again and again.
#pragma once
#include <termios.h>

#include <string>

namespace msvm::cli {

/// Keys come as they are pressed, and what was on the screen comes back at the end. For one at a time.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    int width = 80, height = 24;
  };
  Size size() const;
  void draw(const std::string& screen) const;
  enum class Event { kNone, kQuit, kResized };
  /// Waits so long for a key or another size. q, Escape and Ctrl-C quit, as does the end of the input.
  Event wait(int ms) const;

  /// Whether both ends are terminals.
  static bool there();

 private:
  termios before_{};
};

}  // namespace msvm::cli
