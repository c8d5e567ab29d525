// The live view of `heaprec top --follow`: the contents of the screen, and the effect of keys. Independent of the
// terminal.
//
//   View view;
//   Frame frame = Compose(view, shown, terminal, height);
//   const Action action = Press(key, &view, shown);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/query/allocations/group_query.h"
#include "tools/query/summary/follow_query.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {

// Lines of styled text, for a terminal or for printing.
enum class Style : uint8_t { kPlain, kStrong, kDim, kGood, kWarning, kBad, kCurve, kSelected };

struct StyledText {
  std::string text;  // valid UTF-8 without control characters
  Style style = Style::kPlain;
};
using FrameLine = std::vector<StyledText>;
using Frame = std::vector<FrameLine>;

// A key: a character, or one of these.
struct Key {
  enum Name : uint8_t {
    kCharacter,
    kUp,
    kDown,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kEnter,
    kLeft,
    kRight,
    kEscape,
    kErase
  };
  Name name = kCharacter;
  char character = 0;
};

// The user's choices.
struct View {
  size_t span = 0;  // index into Spans()
  Ranking ranking;
  FollowQuestion question;
  std::string filter;               // as typed
  std::optional<RowPath> selected;  // nullopt: the first row
  size_t page = 10;                 // number of rows that fitted last
  bool is_paused = false, shows_help = false;
  // A line being typed.
  enum class Prompt : uint8_t { kNone, kFilter, kSave };
  Prompt prompt = Prompt::kNone;
  std::string typed;
  std::string message;  // until the next key
  std::string save_as;  // name that kSave proposes
};

// The data to show.
struct Shown {
  std::string title;  // "shop.Orders (PID 12345), JDK 17.0.13, G1"; shortened if necessary
  std::string state;  // "recording, 46 s", "ended: VM death, 46 s"; never shortened
  FollowAnswer answer;
  std::vector<FollowStep> steps;
  uint64_t step_ns = 1;
  Headlines headlines;
};

// What the caller must do after a key.
enum class Action : uint8_t {
  kNothing,
  kAnswer,  // other rows of the same data: Follow::Answer
  kAsk,     // View::question has changed: Follow::Ask
  kSave,    // to View::typed
  kQuit,
};

// Seconds; 0: since the start.
struct SpanChoice {
  uint64_t seconds;
  const char* text;
};
const std::vector<SpanChoice>& Spans();

Action Press(Key key, View* view, const Shown& shown);

// Parses "class:NAME", "thread:NAME", "site:NAME", or a pattern for any frame of the stack.
void SetFilter(const std::string& text, const FilterOptions& given, FilterOptions* filter);

// `terminal`: width and characters. Returns exactly `height` lines.
Frame Compose(View* view, const Shown& shown, const Terminal& terminal, size_t height);

}  // namespace heaprec::tools
