#include "tools/report/page/memory_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/query/why/owners.h"
#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using format::AccountItem;
using format::Amount;

// Resolution of the drawing: points in time, and size in its own units, because the page stretches it.
constexpr size_t kMostPoints = 400, kGcSteps = 200, kMostMarks = 50;
constexpr double kWidth = 1000, kHeight = 1000;
constexpr int kTicks = 4;  // of time
// A limit more than this many times above the memory is not drawn: the rest would be flat.
constexpr double kFarAbove = 3;

constexpr size_t kLayers = 9;
constexpr std::array<std::string_view, kLayers> kIds{"heap",   "metaspace", "code",      "stacks",     "direct",
                                                     "malloc", "collector", "libraries", "unexplained"};
constexpr std::array<std::string_view, kLayers> kNames{"heap",          "metaspace",          "code cache",
                                                       "thread stacks", "direct buffers",     "malloc, the others",
                                                       "collector",     "libraries, classes", "unexplained"};
using Layers = std::array<double, kLayers>;

double Known(const AccountAt& at, AccountItem item) { return static_cast<double>(at.account[item].ValueOr(0)); }

// What is resident of each owner, as far as it is known: mappings are read once a minute, use each second.
Layers LayersOf(const AccountAt& at) {
  const double used = static_cast<double>(at.heap_used), committed = static_cast<double>(at.heap_committed);
  const double direct = Known(at, AccountItem::kDirectUsed);
  const double malloc = std::max(Known(at, AccountItem::kMallocUsed), Known(at, AccountItem::kMallocResident));
  const Amount code = at.account[AccountItem::kCodeResident];
  Layers layers{std::min(std::max(used, Known(at, AccountItem::kHeapResident)), std::max(committed, used)),
                Known(at, AccountItem::kMetaspaceCommitted),
                code.is_known() ? static_cast<double>(code.value()) : Known(at, AccountItem::kCodeCommitted),
                Known(at, AccountItem::kStacksResident),
                direct,
                std::max(0.0, malloc - direct),
                Known(at, AccountItem::kCollectorResident),
                Known(at, AccountItem::kLibrariesResident) + Known(at, AccountItem::kSharedDataResident),
                0};
  double sum = 0;
  for (const double layer : layers) sum += layer;
  layers.back() = std::max(0.0, static_cast<double>(at.rss) - sum);
  return layers;
}

struct Point {
  double x = 0;
  double rss = 0, cgroup = 0, cgroup_limit = 0, heap_limit = 0;  // 0: not known, or none
  Layers layers{};
};

class Picture {
 public:
  Picture(const EndFacts& facts, const EndVerdict& verdict)
      : facts_(facts), verdict_(verdict), begin_ns_(facts.begin_ns), end_ns_(std::max(facts.end_ns, begin_ns_ + 1)) {
    const auto& accounts = facts.accounts;
    const size_t each = (accounts.size() + kMostPoints - 1) / kMostPoints;
    for (size_t i = 0; i < accounts.size(); ++i) {
      if (i % each == 0 || i + 1 == accounts.size()) points_.push_back(PointOf(accounts[i]));
    }
    for (const Point& point : points_) {
      double sum = 0;
      for (const double layer : point.layers) sum += layer;
      top_ = std::max({top_, sum, point.rss, point.cgroup});
    }
    const double all = top_;
    for (const Point& point : points_) {
      for (const double limit : {point.cgroup_limit, point.heap_limit}) {
        if (limit <= kFarAbove * all) top_ = std::max(top_, limit);
      }
    }
    top_ *= 1.05;
  }

  std::string Html() const {
    std::string shapes;
    AddLayers(&shapes);
    AddLine("m-rss", &Point::rss, &shapes);
    AddLine("m-cgroup", &Point::cgroup, &shapes);
    AddLine("m-limit", &Point::cgroup_limit, &shapes);
    AddLine("m-limit m-heap-limit", &Point::heap_limit, &shapes);
    AddMarks(&shapes);
    Text verdict;
    AppendMarkup(verdict, verdict_.text);
    // Two drawings in one: shapes are stretched, text is not.
    return "<h3>" + fmt::to_string(verdict) +
           "</h3><svg class=\"memory\" role=\"img\" aria-label=\"Memory by owner over time\">" +
           fmt::format(
               "<svg width=\"100%\" height=\"86%\" viewBox=\"0 0 {0} {1}\" preserveAspectRatio=\"none\">{2}"
               "</svg>",
               kWidth, kHeight, shapes) +
           fmt::format(
               "<svg y=\"87%\" width=\"100%\" height=\"5%\" viewBox=\"0 0 {0} 100\" "
               "preserveAspectRatio=\"none\">{1}</svg>",
               kWidth, Collections()) +
           Labels() + "</svg>" + Legend();
  }

 private:
  double X(uint64_t time_ns) const {
    const uint64_t since = std::min(time_ns, end_ns_) - std::min(time_ns, begin_ns_);
    return kWidth * static_cast<double>(since) / static_cast<double>(end_ns_ - begin_ns_);
  }
  double Y(double bytes) const { return kHeight * (1 - bytes / std::max(top_, 1.0)); }

  Point PointOf(const AccountAt& at) const {
    return {X(at.time_ns), static_cast<double>(at.rss),
            // Without a limit its use is that of other processes.
            at.account[AccountItem::kCgroupMax].is_known() ? Known(at, AccountItem::kCgroupCurrent) : 0,
            Known(at, AccountItem::kCgroupMax), Known(at, AccountItem::kHeapMax), LayersOf(at)};
  }

  void AddLayers(std::string* into) const {
    std::vector<double> below(points_.size(), 0);
    for (size_t layer = 0; layer < kLayers; ++layer) {
      std::string up, down;
      bool is_empty = true;
      for (size_t i = 0; i < points_.size(); ++i) {
        const Point& point = points_[i];
        const double above = below[i] + point.layers[layer];
        is_empty = is_empty && point.layers[layer] <= 0;
        up += fmt::format("{:.1f},{:.1f} ", point.x, Y(above));
        down.insert(0, fmt::format("{:.1f},{:.1f} ", point.x, Y(below[i])));
        below[i] = above;
      }
      if (is_empty) continue;
      *into += fmt::format("<polygon class=\"m-{}\" points=\"{}{}\"><title>{}</title></polygon>", kIds[layer], up, down,
                           kNames[layer]);
    }
  }

  void AddLine(std::string_view id, double Point::*of, std::string* into) const {
    std::string line;
    for (const Point& point : points_) {
      if (point.*of > 0 && point.*of <= top_) line += fmt::format("{:.1f},{:.1f} ", point.x, Y(point.*of));
    }
    if (!line.empty()) *into += fmt::format("<polyline class=\"{}\" points=\"{}\"/>", id, line);
  }

  void AddMark(std::string_view id, uint64_t time_ns, const std::string& what, std::string* into) const {
    Text title;
    AppendMarkup(title, what + ", " + Duration(time_ns - std::min(time_ns, begin_ns_)) + " after the start");
    *into += fmt::format("<path class=\"{0}\" d=\"M{1:.1f} 0V{2}\"><title>{3}</title></path>", id, X(time_ns), kHeight,
                         fmt::to_string(title));
  }

  void AddMarks(std::string* into) const {
    if (!facts_.is_running) AddMark("m-end", facts_.end_ns, "end: " + verdict_.text, into);
    for (size_t i = 0; i < std::min(facts_.heap_full.size(), kMostMarks); ++i)
      AddMark("m-full", facts_.heap_full[i].time_ns, "old generation full", into);
    const auto& errors = facts_.errors;
    for (size_t i = 0; i < std::min(errors.size(), kMostMarks); ++i)
      AddMark("m-error", errors[errors.size() - 1 - i].state.time_ns, errors[errors.size() - 1 - i].class_name, into);
  }

  // The share of each step of time that collections took.
  std::string Collections() const {
    std::string bars;
    const uint64_t step_ns = std::max<uint64_t>((end_ns_ - begin_ns_) / kGcSteps, 1);
    for (size_t i = 0; i < kGcSteps; ++i) {
      const uint64_t from_ns = begin_ns_ + i * step_ns;
      const double share = facts_.GcBetween(from_ns, from_ns + step_ns).Share();
      if (share <= 0) continue;
      const double height = std::max(6.0, 100 * share);
      bars += fmt::format("<rect class=\"m-gc\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                          kWidth * static_cast<double>(i) / kGcSteps, 100 - height, kWidth / kGcSteps, height);
    }
    return bars;
  }

  std::string Labels() const {
    std::string texts;
    // Of the plot's height, which is 86 % of the drawing's.
    const auto add = [&](double bytes, std::string_view id, std::string_view anchor, const std::string& text) {
      const double y = 86 * Y(bytes) / kHeight;
      texts += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{:.1f}%\" dy=\"-3\" text-anchor=\"{}\">{}</text>", id,
                           anchor == "end" ? "99.5%" : "2", y, anchor, text);
    };
    const double half = top_ / 2.1;  // below the top by the space above it
    for (const double bytes : {half, 2 * half}) add(bytes, "m-axis", "start", BytesText(bytes));
    const Point& last = points_.back();
    if (last.cgroup_limit > 0 && last.cgroup_limit <= top_)
      add(last.cgroup_limit, "m-word", "end", "memory limit " + BytesText(last.cgroup_limit));
    if (last.heap_limit > 0 && last.heap_limit <= top_)
      add(last.heap_limit, "m-word m-heap", "end", "heap limit " + BytesText(last.heap_limit));
    for (int tick = 0; tick <= kTicks; ++tick) {
      const uint64_t since_ns = (end_ns_ - begin_ns_) / kTicks * static_cast<uint64_t>(tick);
      texts +=
          fmt::format("<text class=\"m-axis\" x=\"{}%\" y=\"99%\" text-anchor=\"{}\">{}</text>", 100 * tick / kTicks,
                      tick == 0        ? "start"
                      : tick == kTicks ? "end"
                                       : "middle",
                      render::FormatInline(static_cast<double>(since_ns) * 1e-9, render::Unit::kSeconds, true));
    }
    return texts;
  }

  // What is at the end.
  std::string Legend() const {
    std::string entries;
    const auto add = [&](std::string_view id, std::string_view shape, std::string_view name, double bytes) {
      entries += fmt::format("<span><svg width=\"14\" height=\"10\"><{} class=\"{}\"/></svg>{}{}</span> ", shape, id,
                             name, bytes > 0 ? " " + BytesText(bytes) : "");
    };
    const Point& last = points_.back();
    for (size_t layer = kLayers; layer-- > 0;) {
      const auto has = [layer](const Point& point) { return point.layers[layer] > 0; };
      if (std::ranges::any_of(points_, has))
        add(fmt::format("m-{}", kIds[layer]), "rect width=\"14\" height=\"10\"", kNames[layer], last.layers[layer]);
    }
    constexpr std::string_view kLine = "path d=\"M0 5H14\"", kBar = "path d=\"M7 0V10\"";
    add("m-rss", kLine, "RSS", last.rss);
    if (last.cgroup > 0) add("m-cgroup", kLine, "cgroup", last.cgroup);
    if (last.cgroup_limit > 0) add("m-limit", kLine, "memory limit", last.cgroup_limit);
    if (last.heap_limit > 0) add("m-limit m-heap-limit", kLine, "heap limit", last.heap_limit);
    if (!facts_.errors.empty()) add("m-error", kBar, "error", 0);
    if (!facts_.heap_full.empty()) add("m-full", kBar, "old generation full", 0);
    if (!facts_.pauses.empty()) add("m-gc", "rect width=\"14\" height=\"10\"", "collections, share of the time", 0);
    return "<p class=\"legend\">" + entries + "</p>";
  }

  const EndFacts& facts_;
  const EndVerdict& verdict_;
  const uint64_t begin_ns_, end_ns_;
  std::vector<Point> points_;
  double top_ = 0;
};

}  // namespace

std::string MemoryPicture(const EndFacts& facts, const EndVerdict& verdict) {
  if (facts.last() == nullptr || facts.last()->account.empty()) return "";
  return Picture(facts, verdict).Html();
}

}  // namespace heaprec::tools
