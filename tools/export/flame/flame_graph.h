// A flame graph as values: what a picture shows, without a thought of how.
//
// Units:    those that a figure names; widths are a figure's values.
// Failure:  none: names are untrusted text in valid UTF-8, and whoever renders them escapes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

// What a frame is, by which it is coloured.
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
  enum class Unit : uint8_t { kBytes, kCount, kShare };
  std::string id, label;
  Unit unit = Unit::kBytes;
  bool has_interval = false;  // else low and high are not looked at
};

// The first figure is what widths show: it adds up along the tree.
struct FlameGraph {
  std::string title, headline;
  std::vector<FlameFigure> figures;
  std::vector<FlameName> names;
  std::vector<FlameBox> boxes;
  std::vector<std::vector<Estimate>> estimates;  // of `figures`, each by box
  bool icicle = false;                           // root at the top
};

}  // namespace heaprec::tools
