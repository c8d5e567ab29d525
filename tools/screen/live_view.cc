#include "tools/screen/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tools/render/text_layout.h"
#include "tools/render/value_format.h"
#include "tools/report/columns/group_columns.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr size_t kLabel = 11, kFigures = 30;  // columns before a curve
constexpr size_t kTallScreen = 30;            // all headlines are shown on screens with this many lines

const std::array<By, 5> kGroupings{By::kSite, By::kClass, By::kPackage, By::kThread, By::kSize};
const std::array<const char*, 4> kSorts{"bytes", "objects", "mean-size", "name"};

struct KeyHelp {
  const char* keys;
  const char* what;
};
constexpr std::array<KeyHelp, 11> kHelp{{
    {"w", "window: last 10 s, last minute, since the start"},
    {"g", "group by site, class, package, thread, size"},
    {"s", "sort by bytes, objects, mean size, name"},
    {"/", "filter: text in any frame, or class:NAME, site:NAME, thread:NAME; empty: none"},
    {"Up Down j k", "select a row; PgUp, PgDn, Home and End too"},
    {"Enter Right", "show the callers of the row; again, or Left: hide them"},
    {"Space", "pause; the recording continues"},
    {"S", "save the recording so far as a file"},
    {"c", "close all rows, remove the filter"},
    {"h ?", "this help"},
    {"q", "quit"},
}};

using render::Printable;

// Returns the first `width` characters of valid UTF-8.
std::string Cut(const std::string& text, size_t width, bool unicode) {
  if (WidthOf(text) <= width) return text;
  const size_t dots = unicode ? 1 : 3;
  if (width <= dots) return std::string(width, '.');
  size_t end = 0, columns = 0;
  while (end < text.size()) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && columns++ == width - dots) break;
    ++end;
  }
  return text.substr(0, end) + (unicode ? "…" : "...");
}

std::string Padded(std::string text, size_t width) {
  const size_t has = WidthOf(text);
  return has < width ? text + std::string(width - has, ' ') : text;
}

Style StyleOf(Mood mood) {
  switch (mood) {
    case Mood::kGood:
      return Style::kGood;
    case Mood::kWarning:
      return Style::kWarning;
    case Mood::kBad:
      return Style::kBad;
    default:
      return Style::kPlain;
  }
}

// A line with a left and a right part.
FrameLine Between(std::string left, Style style, std::string right, Style right_style, const Terminal& terminal) {
  right = Cut(right, terminal.width, terminal.unicode);
  const size_t room = terminal.width - std::min(terminal.width, WidthOf(right) + (right.empty() ? 0 : 2));
  left = Padded(Cut(left, room, terminal.unicode), room);
  FrameLine line{{std::move(left), style}};
  if (!right.empty()) line.push_back({"  " + right, right_style});
  return line;
}

class Composer {
 public:
  Composer(View* view, const Shown& shown, const Terminal& terminal, size_t height)
      : view_(*view), shown_(shown), terminal_(terminal), height_(height) {}

  Frame Compose() {
    AddTitle();
    AddHeadlines();
    AddCurves();
    AddSpan();
    if (view_.shows_help) {
      AddHelp();
    } else {
      AddRows();
    }
    frame_.resize(height_ > 0 ? height_ - 1 : 0);
    if (height_ > 0) frame_.push_back(LastLine());
    return std::move(frame_);
  }

 private:
  void AddTitle() {
    const bool calm = !view_.is_paused && shown_.state.starts_with("recording");
    frame_.push_back(Between(Printable(shown_.title), Style::kStrong, view_.is_paused ? "paused" : shown_.state,
                             calm ? Style::kGood : Style::kWarning, terminal_));
  }

  // On a small screen shows only the most important headline, and the worst of the others.
  void AddHeadlines() {
    std::vector<const Headline*> chosen;
    for (const Headline& one : shown_.headlines.sentences) chosen.push_back(&one);
    if (height_ < kTallScreen && chosen.size() > 2) {
      std::stable_sort(chosen.begin() + 1, chosen.end(),
                       [](const Headline* a, const Headline* b) { return a->mood > b->mood; });
      chosen.resize(2);
    }
    for (const Headline* one : chosen) {
      frame_.push_back({{Cut(Printable(one->text), terminal_.width, terminal_.unicode), StyleOf(one->mood)}});
    }
    if (height_ >= kTallScreen && !shown_.headlines.next_command.empty()) {
      frame_.push_back(
          Between("Next: " + Printable(shown_.headlines.next_command), Style::kDim, "", Style::kDim, terminal_));
    }
  }

  void AddCurve(const char* label, const std::string& now, const std::string& note, uint64_t FollowStep::*value) {
    const size_t used = kLabel + kFigures;
    const size_t room = terminal_.width > used ? terminal_.width - used : 0;
    const size_t count = std::min(room, shown_.steps.size());
    std::vector<double> values;
    for (size_t i = shown_.steps.size() - count; i < shown_.steps.size(); ++i) {
      values.push_back(static_cast<double>(shown_.steps[i].*value));
    }
    const double most = values.empty() ? 0 : std::ranges::max(values);
    frame_.push_back({{Padded(label, kLabel), Style::kDim},
                      {Padded(now, 12), Style::kStrong},
                      {Padded(note, kFigures - 12), Style::kDim},
                      {Sparkline(values, most, terminal_.unicode), Style::kCurve}});
  }

  void AddCurves() {
    const double seconds = static_cast<double>(shown_.step_ns) * 1e-9;
    const auto& steps = shown_.steps;
    uint64_t most_bytes = 0, most_heap = 0, first_after = 0;
    for (const FollowStep& step : steps) {
      most_bytes = std::max(most_bytes, step.counted_bytes);
      most_heap = std::max(most_heap, step.heap_used);
      if (first_after == 0) first_after = step.heap_after;
    }
    const FollowStep now = steps.empty() ? FollowStep() : steps.back();
    const auto rate = [seconds](uint64_t bytes) { return Bytes(static_cast<double>(bytes) / seconds) + "/s"; };
    const auto heap = [](uint64_t bytes) { return bytes > 0 ? Bytes(static_cast<double>(bytes)) : "unknown"; };
    AddCurve("allocated", rate(now.counted_bytes), "peak " + rate(most_bytes), &FollowStep::counted_bytes);
    AddCurve("heap used", heap(now.heap_used), most_heap > 0 ? "peak " + heap(most_heap) : "", &FollowStep::heap_used);
    // Leaked objects remain after every collection.
    AddCurve("after GC", heap(now.heap_after), first_after > 0 ? "was " + heap(first_after) : "",
             &FollowStep::heap_after);
    const FollowAnswer& answer = shown_.answer;
    const double share = answer.Seconds() > 0 ? static_cast<double>(answer.paused_ns) * 1e-9 / answer.Seconds() : 0;
    AddCurve("in GC", fmt::format("{:.2g} %", 100 * share), CountOf(answer.pauses, "pause"), &FollowStep::paused_ns);
  }

  void AddSpan() {
    const FollowAnswer& answer = shown_.answer;
    const std::string span = answer.is_whole ? fmt::format("all {:.0f} s", answer.Seconds())
                                             : fmt::format("last {:.0f} s", answer.Seconds());
    std::string text = fmt::format("{}: {}", span, Bytes(answer.counted_bytes));
    text += view_.filter.empty()
                ? " allocated (exact)"
                : fmt::format("; {}: {}", Printable(view_.filter),
                              render::FormatCell(answer.all.bytes, render::Unit::kBytes, terminal_.unicode).value);
    frame_.push_back(Between(
        text, Style::kStrong,
        // A filter needs the space.
        fmt::format(
            "by {}, {}: {}{}", view_.question.grouping.Text(), view_.ranking.sort, CountOf(answer.all_rows, "row"),
            view_.filter.empty() ? " of " + CountOf(answer.all.samples, answer.has_rows ? "point" : "sample") : ""),
        Style::kDim, terminal_));
  }

  void AddHelp() {
    frame_.emplace_back();
    for (const KeyHelp& one : kHelp) {
      frame_.push_back(
          {{fmt::format("  {:<13}", one.keys), Style::kStrong},
           {Cut(one.what, terminal_.width - std::min<size_t>(terminal_.width, 15), terminal_.unicode), Style::kPlain}});
    }
  }

  std::string LeadOf(const FollowRow& row) const {
    std::string lead(2 * (row.path.size() - 1), ' ');
    if (!row.has_callers) return lead + "  ";
    if (terminal_.unicode) return lead + (row.is_open ? "▾ " : "▸ ");
    return lead + (row.is_open ? "- " : "+ ");
  }

  void AddRows() {
    const FollowAnswer& answer = shown_.answer;
    const size_t room = height_ > frame_.size() + 2 ? height_ - frame_.size() - 2 : 0;
    view_.page = std::max<size_t>(room, 1);
    if (answer.rows.empty()) {
      frame_.push_back({{answer.all.samples == 0 ? "nothing here yet" : "no rows", Style::kDim}});
      return;
    }
    const auto chosen = std::ranges::find(answer.rows, view_.selected.value_or(RowPath()), &FollowRow::path);
    const size_t selected = chosen == answer.rows.end() ? 0 : static_cast<size_t>(chosen - answer.rows.begin());
    const size_t first = selected < room ? 0 : selected - room + 1;
    const size_t last = std::min(answer.rows.size(), first + room);
    std::vector<GroupRow> rows;
    for (size_t i = first; i < last; ++i) {
      const FollowRow& row = answer.rows[i];
      rows.push_back({.name = row.name, .own = row.estimates, .seconds = answer.Seconds(), .other = {}, .frames = {}});
    }
    render::Table table =
        render::MakeTable("rows", GroupColumns({.name = view_.question.grouping.Text(), .other = {}}), rows);
    for (size_t i = first; i < last; ++i) table.rows[i - first].lead = LeadOf(answer.rows[i]);
    Terminal plain = terminal_;
    plain.colour = false;
    const std::string lines = render::LayOut(table, plain, /*wide=*/false);
    size_t line = 0;
    for (size_t begin = 0; begin < lines.size() && line <= last - first; ++line) {
      const size_t end = std::min(lines.find('\n', begin), lines.size());
      const std::string one = Cut(std::string(lines.substr(begin, end - begin)), terminal_.width, terminal_.unicode);
      const bool is_selected = line > 0 && view_.selected && first + line - 1 == selected;
      const Style style = line == 0 ? Style::kDim : is_selected ? Style::kSelected : Style::kPlain;
      frame_.push_back({{is_selected ? Padded(one, terminal_.width) : one, style}});
      begin = end + 1;
    }
  }

  FrameLine LastLine() const {
    if (view_.prompt != View::Prompt::kNone) {
      const char* const what = view_.prompt == View::Prompt::kFilter ? "filter: " : "save as: ";
      return {{what + Printable(view_.typed) + "_", Style::kStrong}};
    }
    if (!view_.message.empty()) {
      return {{Cut(Printable(view_.message), terminal_.width, terminal_.unicode), Style::kWarning}};
    }
    return {{Cut("w window g group s sort / filter Enter callers Space pause S save h help q quit", terminal_.width,
                 terminal_.unicode),
             Style::kDim}};
  }

  View& view_;
  const Shown& shown_;
  const Terminal& terminal_;
  const size_t height_;
  Frame frame_;
};

void Move(View* view, const Shown& shown, int64_t by) {
  const auto& rows = shown.answer.rows;
  if (rows.empty()) return;
  const auto chosen = std::ranges::find(rows, view->selected.value_or(RowPath()), &FollowRow::path);
  const int64_t now = chosen == rows.end() ? (by > 0 ? -1 : 0) : chosen - rows.begin();
  const int64_t last = static_cast<int64_t>(rows.size()) - 1;
  view->selected = rows[static_cast<size_t>(std::clamp<int64_t>(now + by, 0, last))].path;
}

// `open`: nullopt: toggle.
Action Open(View* view, const Shown& shown, std::optional<bool> open) {
  const auto& rows = shown.answer.rows;
  if (rows.empty()) return Action::kNothing;
  auto chosen = std::ranges::find(rows, view->selected.value_or(rows.front().path), &FollowRow::path);
  if (chosen == rows.end()) chosen = rows.begin();
  view->selected = chosen->path;
  std::set<RowPath>& opened = view->question.opened;
  const bool is_open = opened.contains(chosen->path);
  if (!open.value_or(!is_open)) {
    // If the row is already collapsed, collapses its parent.
    if (!is_open && chosen->path.size() > 1) view->selected->pop_back();
    if (opened.erase(is_open ? chosen->path : *view->selected) == 0) return Action::kNothing;
    return Action::kAsk;
  }
  if (is_open || !chosen->has_callers) return Action::kNothing;
  opened.insert(chosen->path);
  return Action::kAsk;
}

template <typename Values, typename Value>
size_t After(const Values& values, const Value& value) {
  const auto found = std::ranges::find(values, value);
  return found == values.end() ? 0 : static_cast<size_t>(found - values.begin() + 1) % values.size();
}

Action Type(Key key, View* view) {
  switch (key.name) {
    case Key::kEscape:
      view->prompt = View::Prompt::kNone;
      return Action::kNothing;
    case Key::kErase:
      while (!view->typed.empty() && (static_cast<unsigned char>(view->typed.back()) & 0xc0) == 0x80)
        view->typed.pop_back();
      if (!view->typed.empty()) view->typed.pop_back();
      return Action::kNothing;
    case Key::kEnter: {
      const bool saves = view->prompt == View::Prompt::kSave;
      view->prompt = View::Prompt::kNone;
      if (saves) return view->typed.empty() ? Action::kNothing : Action::kSave;
      view->filter = view->typed;
      return Action::kAsk;
    }
    case Key::kCharacter:
      view->typed += key.character;
      return Action::kNothing;
    default:
      return Action::kNothing;
  }
}

Action PressCharacter(char key, View* view, const Shown& shown) {
  switch (key) {
    case 'q':
      return Action::kQuit;
    case 'w':
      view->span = (view->span + 1) % Spans().size();
      return Action::kAnswer;
    case 'g':
      view->question.grouping = Grouping(kGroupings[After(kGroupings, view->question.grouping.by())]);
      view->question.opened.clear();
      view->selected.reset();
      return Action::kAsk;
    case 's':
      view->ranking.sort = kSorts[After(kSorts, view->ranking.sort)];
      return Action::kAnswer;
    case '/':
      view->prompt = View::Prompt::kFilter;
      view->typed = view->filter;
      return Action::kNothing;
    case 'S':
      view->prompt = View::Prompt::kSave;
      view->typed = view->save_as;
      return Action::kNothing;
    case 'c':
      view->filter.clear();
      view->question.opened.clear();
      view->selected.reset();
      return Action::kAsk;
    case ' ':
    case 'p':
      view->is_paused = !view->is_paused;
      return Action::kNothing;
    case 'h':
    case '?':
      view->shows_help = true;
      return Action::kNothing;
    case 'j':
      Move(view, shown, 1);
      return Action::kNothing;
    case 'k':
      Move(view, shown, -1);
      return Action::kNothing;
    default:
      view->message = fmt::format("unknown key {}; h shows help", Printable(std::string(1, key)));
      return Action::kNothing;
  }
}

}  // namespace

const std::vector<SpanChoice>& Spans() {
  static const auto* spans = new std::vector<SpanChoice>{{10, "10s"}, {60, "1m"}, {0, "all"}};
  return *spans;
}

void SetFilter(const std::string& text, const FilterOptions& given, FilterOptions* filter) {
  struct Field {
    std::string_view prefix;
    std::string FilterOptions::*field;
  };
  constexpr std::array<Field, 3> kFields{
      {{"class:", &FilterOptions::class_name}, {"site:", &FilterOptions::site}, {"thread:", &FilterOptions::thread}}};
  *filter = given;
  if (text.empty()) return;
  for (const Field& field : kFields) {
    if (!text.starts_with(field.prefix)) continue;
    filter->*field.field = text.substr(field.prefix.size());
    return;
  }
  filter->focus = text;
}

Action Press(Key key, View* view, const Shown& shown) {
  view->message.clear();
  if (view->prompt != View::Prompt::kNone) return Type(key, view);
  if (view->shows_help) {
    view->shows_help = false;
    return key.name == Key::kCharacter && key.character == 'q' ? Action::kQuit : Action::kNothing;
  }
  const auto page = static_cast<int64_t>(view->page);
  const auto all = static_cast<int64_t>(shown.answer.rows.size());
  const std::array<std::pair<Key::Name, int64_t>, 6> steps{{{Key::kUp, -1},
                                                            {Key::kDown, 1},
                                                            {Key::kPageUp, -page},
                                                            {Key::kPageDown, page},
                                                            {Key::kHome, -all},
                                                            {Key::kEnd, all}}};
  for (const auto& [name, rows] : steps) {
    if (key.name == name) Move(view, shown, rows);
  }
  switch (key.name) {
    case Key::kCharacter:
      return PressCharacter(key.character, view, shown);
    case Key::kEnter:
      return Open(view, shown, std::nullopt);
    case Key::kRight:
      return Open(view, shown, true);
    case Key::kLeft:
      return Open(view, shown, false);
    case Key::kEscape:
      view->selected.reset();
      return Action::kNothing;
    default:
      return Action::kNothing;
  }
}

Frame Compose(View* view, const Shown& shown, const Terminal& terminal, size_t height) {
  return Composer(view, shown, terminal, height).Compose();
}

}  // namespace heaprec::tools
