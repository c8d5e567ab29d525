// A flame graph as values: what a page or a picture shows, without a thought of how.
//
// Units:    those that a figure names; widths are a figure's values.
// Failure:  none: names are untrusted text in valid UTF-8, and whoever renders them escapes them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

// What a frame is, by which it is coloured. drawing.js has the same order.
enum class FrameKind : uint8_t { kAll, kJdk, kApplication, kNative, kTruncated, kFolded, kClass };

struct FlameName {
  std::string text;
  FrameKind kind = FrameKind::kApplication;
};

// In preorder: a box's children follow it, each with what is below it, those of most bytes first.
struct FlameBox {
  uint32_t depth = 0;
  uint32_t name = 0;    // index into FlameGraph::names
  uint64_t folded = 0;  // > 0: it stands for so many boxes that are not shown
};

// What is known of each box, and how it is to be written.
struct FlameFigure {
  enum class Unit : uint8_t { kBytes, kCount, kShare, kRatio, kProbability };
  std::string id, label;
  Unit unit = Unit::kBytes;
  std::string suffix;         // "/s", "/op"
  bool has_interval = false;  // else low and high are not looked at
  bool is_signed = false;     // "+" before what is above 0
};

// How the code of a frame ran, in % of what was allocated below it. All 0: not known.
struct CodeShares {
  uint8_t interpreted = 0, compiled = 0, inlined = 0;
};

struct FlameTree {
  std::string order;  // "callees": root first, or "callers"
  std::vector<FlameBox> boxes;
  std::vector<std::vector<Estimate>> estimates;  // of FlameGraph::estimates, each by box
  std::vector<uint8_t> verdicts;                 // of a differential graph, by box: Verdict; else empty
  std::vector<CodeShares> code{};                // by box; empty: of none is it known
};

// What the width of a box may be: a figure, or the sum of several, that adds up along the tree.
struct FlameMeasure {
  std::string id, label, title;
  std::vector<std::string> sum;  // ids of estimates; empty: the figure `id`
};

struct FlameGraph {
  std::string title, headline;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> notes;  // warnings
  std::vector<FlameMeasure> measures;
  std::vector<FlameFigure> estimates;
  std::vector<FlameName> names;
  std::vector<FlameTree> trees;  // the first is shown first
  bool icicle = false;           // root at the top
};

}  // namespace heaprec::tools
