// The terminal of the process, drawn on by ncurses: only what has changed is sent, so nothing flickers. However the
// program ends but for a kill -9, the destructor gives the terminal back as it was.
//
// Terminals whose entry is not installed are driven as the built-in xterm, screen or tmux of 256 colours.
//
// Threads:  one; one screen at a time.
// Failure:  Open: a sentence for the user. A terminal that has gone is IsGone().
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
  // Waits for a key, at most so long. None: no key, a signal, another size.
  std::optional<Key> Wait(int milliseconds);
  bool IsGone() const { return is_gone_; }

 private:
  explicit CursesScreen(bool colour);
  bool is_gone_ = false;
  bool has_colour_ = false;
};

}  // namespace heaprec::tools
