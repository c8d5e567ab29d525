// The live view without a terminal: what is on the screen, and what keys do.
#include "tools/screen/live_view.h"

#include <catch2/catch.hpp>
#include <string>

namespace heaprec::tools {
namespace {

FollowRow RowOf(uint32_t key, std::string name, double bytes) {
  FollowRow row{.path = {key}, .name = std::move(name), .is_open = false, .has_callers = true, .estimates = {}};
  row.estimates.samples = 10;
  row.estimates.bytes = {bytes, bytes * 0.9, bytes * 1.1};
  row.estimates.objects = {1000, 900, 1100};
  row.estimates.share = {0.25, 0.2, 0.3};
  row.estimates.mean_size = {24, 20, 30};
  return row;
}

Shown SomeShown(size_t rows) {
  Shown shown;
  shown.title = "shop.Orders (PID 12345), JDK 17.0.13 G1";
  shown.state = "recording, 46 s";
  shown.step_ns = 1'000'000'000;
  shown.answer.end_ns = 10'000'000'000;
  shown.answer.counted_bytes = 1 << 20;
  shown.answer.all.samples = rows;
  shown.answer.all_rows = rows;
  for (size_t i = 0; i < rows; ++i) {
    shown.answer.rows.push_back(RowOf(static_cast<uint32_t>(i), "p.Name.method" + std::to_string(i), 1e6));
  }
  for (uint64_t i = 0; i < 200; ++i) shown.steps.push_back({i << 20, (200 - i) << 20, i % 2, i * 1000, (i + 1) << 18});
  shown.headlines.sentences = {{"top", Mood::kNeutral, "A allocates most: 25 % (20 % to 30 %) of 1.0 MiB."},
                               {"gc", Mood::kBad, "GC pauses take 40 % of the time."},
                               {"growth", Mood::kWarning, "The heap after a collection grew."},
                               {"trust", Mood::kGood, "Trustworthy."}};
  return shown;
}

std::string TextOf(const FrameLine& line) {
  std::string text;
  for (const StyledText& one : line) text += one.text;
  return text;
}

std::string TextOf(const Frame& frame) {
  std::string text;
  for (const FrameLine& line : frame) text += TextOf(line) + "\n";
  return text;
}

Action PressText(const std::string& text, View* view, const Shown& shown) {
  Action last = Action::kNothing;
  for (const char one : text) last = Press({Key::kCharacter, one}, view, shown);
  return last;
}

}  // namespace

TEST_CASE("A frame has as many lines as the screen, and none is too wide") {
  for (const bool unicode : {false, true}) {
    for (const auto& [width, height] : {std::pair<size_t, size_t>{80, 24}, {200, 60}, {40, 10}, {80, 2}, {20, 1}}) {
      INFO(width << "x" << height);
      View view;
      Shown shown = SomeShown(100);
      shown.answer.rows[0].name = std::string(65536, 'x');
      shown.answer.rows[1].name = "<script>\n\t\x1b[2J\"\xd7\xa9\xd7\x9c";
      shown.title = std::string(300, 't');
      const Frame frame = Compose(&view, shown, {.width = width, .colour = true, .unicode = unicode}, height);
      CHECK(frame.size() == height);
      for (const FrameLine& line : frame) {
        INFO(TextOf(line));
        if (width >= 80) CHECK(WidthOf(TextOf(line)) <= width);
        for (const char one : TextOf(line)) CHECK(static_cast<unsigned char>(one) >= ' ');
      }
    }
  }
}

TEST_CASE("80x24 shows the figures, the most severe headline and the rows; taller screens all headlines") {
  View view;
  Shown shown = SomeShown(100);
  shown.title = std::string(100, 't');
  const std::string small = TextOf(Compose(&view, shown, {.width = 80, .colour = false, .unicode = true}, 24));
  CHECK(small.find("  recording, 46 s\n") != std::string::npos);
  CHECK(small.find("A allocates most") != std::string::npos);
  CHECK(small.find("GC pauses take 40 %") != std::string::npos);
  CHECK(small.find("Trustworthy") == std::string::npos);
  CHECK(small.find("199.0 MiB/s") != std::string::npos);
  CHECK(small.find("after GC   50.0 MiB    was 256.0 KiB") != std::string::npos);
  CHECK(small.find("p.Name.method0") != std::string::npos);
  CHECK(small.find("900-1100") == std::string::npos);
  CHECK(small.find("by site, bytes: 100 rows of 100 samples\n") != std::string::npos);
  shown.answer.has_rows = true;
  CHECK(TextOf(Compose(&view, shown, {.width = 80, .colour = false, .unicode = true}, 24))
            .find("100 rows of 100 points\n") != std::string::npos);
  const std::string tall = TextOf(Compose(&view, shown, {.width = 120, .colour = false, .unicode = true}, 40));
  CHECK(tall.find("Trustworthy") != std::string::npos);
  CHECK(tall.find("p.Name.method20") != std::string::npos);
}

TEST_CASE("Keys choose span, grouping and order, and say what is necessary") {
  View view;
  const Shown shown = SomeShown(5);
  CHECK(PressText("w", &view, shown) == Action::kAnswer);
  CHECK(Spans()[view.span].seconds == 60);
  CHECK(PressText("w", &view, shown) == Action::kAnswer);
  CHECK(Spans()[view.span].seconds == 0);
  CHECK(PressText("g", &view, shown) == Action::kAsk);
  CHECK(view.question.grouping.Text() == "class");
  CHECK(PressText("s", &view, shown) == Action::kAnswer);
  CHECK(view.ranking.sort == "objects");
  CHECK(PressText(" ", &view, shown) == Action::kNothing);
  CHECK(view.is_paused);
  CHECK(PressText("h", &view, shown) == Action::kNothing);
  CHECK(view.shows_help);
  CHECK(PressText("x", &view, shown) == Action::kNothing);
  CHECK_FALSE(view.shows_help);
  CHECK(PressText("x", &view, shown) == Action::kNothing);
  CHECK(view.message.starts_with("unknown key x"));
  CHECK(PressText("q", &view, shown) == Action::kQuit);
}

TEST_CASE("A row is selected, expanded and collapsed, and the selection stays visible") {
  View view;
  Shown shown = SomeShown(100);
  for (int i = 0; i < 50; ++i) Press({Key::kDown}, &view, shown);
  REQUIRE(view.selected);
  CHECK((*view.selected)[0] == 49);
  const std::string text = TextOf(Compose(&view, shown, {.width = 80, .colour = false, .unicode = true}, 24));
  CHECK(text.find("p.Name.method49") != std::string::npos);
  CHECK(Press({Key::kEnter}, &view, shown) == Action::kAsk);
  CHECK(view.question.opened.contains({49}));
  shown.answer.rows[49].is_open = true;
  FollowRow caller = RowOf(7, "q.Caller.call", 1000);
  caller.path = {49, 7};
  shown.answer.rows.insert(shown.answer.rows.begin() + 50, caller);
  Press({Key::kDown}, &view, shown);
  CHECK(*view.selected == RowPath{49, 7});
  CHECK(Press({Key::kLeft}, &view, shown) == Action::kAsk);
  CHECK(*view.selected == RowPath{49});
  CHECK(view.question.opened.empty());
  Press({Key::kHome}, &view, shown);
  CHECK((*view.selected)[0] == 0);
  Press({Key::kEnd}, &view, shown);
  CHECK((*view.selected)[0] == 99);
}

TEST_CASE("A filter can be typed; an empty one restores the command's filters") {
  View view;
  const Shown shown = SomeShown(5);
  FilterOptions given;
  given.class_name = "byte[]";
  FilterOptions filter;
  PressText("/thread:wq", &view, shown);
  Press({Key::kErase}, &view, shown);
  CHECK(Press({Key::kEnter}, &view, shown) == Action::kAsk);
  CHECK(view.filter == "thread:w");
  SetFilter(view.filter, given, &filter);
  CHECK(filter.thread == "w");
  CHECK(filter.class_name == "byte[]");
  SetFilter("Foo", given, &filter);
  CHECK(filter.focus == "Foo");
  CHECK(filter.thread.empty());
  SetFilter("", given, &filter);
  CHECK(filter.focus.empty());
  CHECK(filter.class_name == "byte[]");
  PressText("/zzz", &view, shown);
  CHECK(Press({Key::kEscape}, &view, shown) == Action::kNothing);
  CHECK(view.filter == "thread:w");
  CHECK(PressText("c", &view, shown) == Action::kAsk);
  CHECK(view.filter.empty());
}

TEST_CASE("Saving suggests a name") {
  View view;
  view.save_as = "heaprec-1.hrec";
  const Shown shown = SomeShown(5);
  PressText("S", &view, shown);
  CHECK(view.typed == "heaprec-1.hrec");
  const Frame frame = Compose(&view, shown, {.width = 80, .colour = false, .unicode = true}, 24);
  CHECK(TextOf(frame.back()) == "save as: heaprec-1.hrec_");
  CHECK(Press({Key::kEnter}, &view, shown) == Action::kSave);
}

}  // namespace heaprec::tools
