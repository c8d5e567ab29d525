#include "tools/screen/curses_screen.h"

#include <ncurses.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cstdlib>
#include <string_view>

#include "tools/screen/terminal_entries.h"

namespace heaprec::tools {
namespace {

// Time to wait for the rest of an escape sequence.
constexpr int kEscapeDelayMs = 50;

struct Colour {
  Style style;
  short number;
};
constexpr std::array<Colour, 4> kColours{{{Style::kGood, COLOR_GREEN},
                                          {Style::kWarning, COLOR_YELLOW},
                                          {Style::kBad, COLOR_RED},
                                          {Style::kCurve, COLOR_CYAN}}};

int AttributesOf(Style style, bool has_colour) {
  int attributes = A_NORMAL;
  switch (style) {
    case Style::kStrong:
      attributes = A_BOLD;
      break;
    case Style::kDim:
      attributes = A_DIM;
      break;
    case Style::kBad:
      attributes = A_BOLD;
      break;
    case Style::kSelected:
      return A_REVERSE;
    default:
      break;
  }
  for (size_t i = 0; has_colour && i < kColours.size(); ++i) {
    if (kColours[i].style == style) attributes |= COLOR_PAIR(static_cast<int>(i) + 1);
  }
  return attributes;
}

// Uses the built-in entry of a terminal similar to the one in TERM.
void UseBuiltInEntry() {
  const char* const term = getenv("TERM");
  const std::string_view name = term == nullptr ? "" : term;
  const TerminalEntry* chosen = &kTerminalEntries.front();
  for (const TerminalEntry& one : kTerminalEntries) {
    if (name.starts_with(one.prefix)) chosen = &one;
  }
  setenv("TERM", chosen->name, 1);
  setenv("TERMINFO", chosen->entry, 1);
}

void SetLocale(bool unicode) {
  setlocale(LC_CTYPE, "");
  if (unicode && MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
}

struct NamedKey {
  int code;
  Key::Name name;
};
constexpr std::array<NamedKey, 15> kKeys{{{KEY_UP, Key::kUp},
                                          {KEY_DOWN, Key::kDown},
                                          {KEY_PPAGE, Key::kPageUp},
                                          {KEY_NPAGE, Key::kPageDown},
                                          {KEY_HOME, Key::kHome},
                                          {KEY_END, Key::kEnd},
                                          {KEY_ENTER, Key::kEnter},
                                          {'\n', Key::kEnter},
                                          {'\r', Key::kEnter},
                                          {KEY_LEFT, Key::kLeft},
                                          {KEY_RIGHT, Key::kRight},
                                          {KEY_BACKSPACE, Key::kErase},
                                          {0x7f, Key::kErase},
                                          {'\b', Key::kErase},
                                          {0x1b, Key::kEscape}}};

}  // namespace

Result<std::unique_ptr<CursesScreen>> CursesScreen::Open(const Terminal& terminal) {
  const char* const term = getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return Error{"the terminal cannot move its cursor"};
  SetLocale(terminal.unicode);
  if (newterm(nullptr, stdout, stdin) == nullptr) {
    UseBuiltInEntry();
    if (newterm(nullptr, stdout, stdin) == nullptr) return Error{"the terminal cannot be used"};
  }
  return std::unique_ptr<CursesScreen>(new CursesScreen(terminal.colour));
}

CursesScreen::CursesScreen(bool colour) {
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(kEscapeDelayMs);
  curs_set(0);
  if (!colour || !has_colors()) return;
  has_colour_ = start_color() == OK && use_default_colors() == OK;
  for (size_t i = 0; has_colour_ && i < kColours.size(); ++i) {
    init_pair(static_cast<short>(i + 1), kColours[i].number, -1);
  }
}

CursesScreen::~CursesScreen() { endwin(); }

size_t CursesScreen::width() const { return static_cast<size_t>(COLS); }
size_t CursesScreen::height() const { return static_cast<size_t>(LINES); }

void CursesScreen::Draw(const Frame& frame) {
  for (int row = 0; row < LINES; ++row) {
    move(row, 0);
    if (static_cast<size_t>(row) < frame.size()) {
      for (const StyledText& one : frame[static_cast<size_t>(row)]) {
        attrset(AttributesOf(one.style, has_colour_));
        addstr(one.text.c_str());
      }
    }
    attrset(A_NORMAL);
    // At the end of a full line the cursor is on the next line.
    if (getcury(stdscr) == row) clrtoeol();
  }
  refresh();
}

std::optional<Key> CursesScreen::Wait(int milliseconds) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const int ready = poll(&input, 1, milliseconds);
  if (ready > 0 && (input.revents & POLLIN) == 0) is_gone_ = true;
  // Read after a signal, too, because it may report a new size.
  const int code = getch();
  if (code == ERR) {
    // Readable without a byte means end of file.
    is_gone_ |= ready > 0;
    return std::nullopt;
  }
  if (code == KEY_RESIZE) return std::nullopt;
  for (const NamedKey& one : kKeys) {
    if (one.code == code) return Key{one.name};
  }
  if (code >= ' ' && code <= 0xff) return Key{Key::kCharacter, static_cast<char>(code)};
  return std::nullopt;
}

}  // namespace heaprec::tools
