// A flame graph as values: what a picture shows, without a thought of how.
//
// Units:    those that a figure names; widths are a figure's values.
// Failure:  none: names are untrusted text in valid UTF-8, and whoever renders them escapes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

// Whose code a frame is, told by its name: of "java.util.HashMap.resize", "[truncated]", "[unknown]": all but kNative,
// kFolded and kClass, which no name tells.
FrameKind KindOfFrame(std::string_view name);

// The place of its package among the colours: the same for every class of a package, in every graph: 0 to 255.
uint8_t HueOfFrame(std::string_view name);

// "Class.method:line" and "method:line" of a frame; of a class its simple name twice.
std::string_view ShortName(const FlameName& name, bool shortest);

// A box in words: "java.util.HashMap.resize", "… 12 more".
std::string BoxName(const FlameBox& box, const FlameName& name);

// The name, and a line for each of the first so many estimates: "bytes: 18.6 MiB (17.2 MiB to 20.1 MiB)".
std::string BoxText(const FlameGraph& graph, size_t box, size_t figures = SIZE_MAX);

}  // namespace heaprec::tools
