// The terminal of the process, drawn with ncurses, which sends only changes, so nothing flickers. The destructor
// restores the terminal, unless the program is killed by kill -9.
//
// Terminals without an installed entry are treated as the built-in xterm, screen or tmux with 256 colours.
//
// Threads:  one; one screen at a time.
// Failure:  Open: an error message for the user. IsGone() is true after the terminal was closed.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "tools/screen/live_view.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {

class CursesScreen {
 public:
  static Result<std::unique_ptr<CursesScreen>> Open(const Terminal& terminal);
  ~CursesScreen();
  CursesScreen(const CursesScreen&) = delete;
  CursesScreen& operator=(const CursesScreen&) = delete;

  size_t width() const;
  size_t height() const;
  void Draw(const Frame& frame);
  // Waits for a key, at most this long. nullopt: no key, a signal, or another size.
  std::optional<Key> Wait(int milliseconds);
  bool IsGone() const { return is_gone_; }

 private:
  explicit CursesScreen(bool colour);
  bool is_gone_ = false;
  bool has_colour_ = false;
};

}  // namespace heaprec::tools
