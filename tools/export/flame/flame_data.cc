#include <algorithm>
#include <cmath>

#include "tools/export/flame/flame_html.h"
#include "tools/export/flame/frame_kind.h"

namespace heaprec::tools {
namespace {

// Digits of what is no sum: nobody sees more, and a page of 20,000 boxes has many.
constexpr int kDigits = 4;

template <typename Range, typename Each>
void AppendList(Text& text, const Range& range, Each each) {
  text.push_back('[');
  bool first = true;
  for (const auto& item : range) {
    if (!first) text.push_back(',');
    first = false;
    each(item);
  }
  text.push_back(']');
}

void AppendKey(Text& text, std::string_view key) {
  AppendJsonString(text, key);
  text.push_back(':');
}

void AppendField(Text& text, std::string_view key, std::string_view value) {
  AppendKey(text, key);
  AppendJsonString(text, value);
  text.push_back(',');
}

// Sums stay sums: whole from 1000 on, where nobody misses the rest.
void AppendValue(Text& text, double value) {
  if (!std::isfinite(value)) return Append(text, std::string_view("null"));
  if (std::abs(value) >= 1000 && std::abs(value) < 1e15) {
    fmt::format_to(fmt::appender(text), "{:.0f}", value);
  } else {
    fmt::format_to(fmt::appender(text), "{:.{}g}", value, kDigits + 2);
  }
}

// How far an interval goes to one side.
void AppendReach(Text& text, double reach) {
  if (!std::isfinite(reach)) return Append(text, std::string_view("null"));
  if (reach >= 1000 && reach < 1e7) {
    const double unit = std::pow(10, std::floor(std::log10(reach)) - kDigits + 1);
    fmt::format_to(fmt::appender(text), "{:.0f}", std::round(reach / unit) * unit);
  } else {
    fmt::format_to(fmt::appender(text), "{:.{}g}", std::max(reach, 0.0), kDigits);
  }
}

class Writer {
 public:
  Writer(const FlameGraph& graph, Text& text) : graph_(graph), text_(text) {}

  void Write() {
    text_.push_back('{');
    AppendField(text_, "title", graph_.title);
    AppendField(text_, "headline", graph_.headline);
    AppendKey(text_, "facts");
    AppendList(text_, graph_.facts, [this](const auto& fact) {
      AppendList(text_, std::array{fact.first, fact.second},
                 [this](const auto& part) { AppendJsonString(text_, part); });
    });
    Literal(",\"notes\":");
    AppendList(text_, graph_.notes, [this](const auto& note) { AppendJsonString(text_, note); });
    Literal(graph_.icicle ? ",\"icicle\":true," : ",\"icicle\":false,");
    if (!graph_.trees.empty()) AppendField(text_, "first", graph_.trees.front().order);
    Measures();
    GroupEstimates();
    Names();
    Trees();
    text_.push_back('}');
  }

 private:
  void Literal(std::string_view json) { Append(text_, json); }

  void Measures() {
    Literal("\"measures\":");
    AppendList(text_, graph_.measures, [this](const FlameMeasure& measure) {
      text_.push_back('{');
      AppendField(text_, "id", measure.id);
      AppendField(text_, "label", measure.label);
      if (!measure.sum.empty()) {
        AppendKey(text_, "sum");
        AppendList(text_, measure.sum, [this](const auto& id) { AppendJsonString(text_, id); });
        text_.push_back(',');
      }
      AppendKey(text_, "title");
      AppendJsonString(text_, measure.title);
      text_.push_back('}');
    });
  }

  void GroupEstimates() {
    static constexpr std::array<std::string_view, 5> kUnits{"bytes", "count", "share", "ratio", "probability"};
    Literal(",\"rows\":");
    AppendList(text_, graph_.estimates, [this](const FlameFigure& figure) {
      text_.push_back('{');
      AppendField(text_, "column", figure.id);
      AppendField(text_, "label", figure.label);
      AppendField(text_, "suffix", figure.suffix);
      if (figure.is_signed) Literal("\"signed\":true,");
      AppendKey(text_, "unit");
      AppendJsonString(text_, kUnits[static_cast<size_t>(figure.unit)]);
      text_.push_back('}');
    });
  }

  void Names() {
    Literal(",\"names\":{\"text\":");
    AppendList(text_, graph_.names, [this](const FlameName& name) { AppendJsonString(text_, name.text); });
    Literal(",\"kind\":");
    AppendList(text_, graph_.names, [this](const FlameName& name) { Append(text_, static_cast<uint64_t>(name.kind)); });
    Literal(",\"hue\":");
    AppendList(text_, graph_.names, [this](const FlameName& name) { Append(text_, uint64_t{HueOfFrame(name.text)}); });
    Literal("},");
  }

  void Trees() {
    Literal("\"trees\":{");
    for (const FlameTree& tree : graph_.trees) {
      if (&tree != &graph_.trees.front()) text_.push_back(',');
      AppendKey(text_, tree.order);
      Tree(tree);
    }
    text_.push_back('}');
  }

  void Tree(const FlameTree& tree) {
    Literal("{\"depth\":");
    AppendList(text_, tree.boxes, [this](const FlameBox& box) { Append(text_, uint64_t{box.depth}); });
    Literal(",\"name\":");
    AppendList(text_, tree.boxes, [this](const FlameBox& box) { Append(text_, uint64_t{box.name}); });
    Literal(",\"more\":{");
    bool first = true;
    for (size_t i = 0; i < tree.boxes.size(); ++i) {
      if (tree.boxes[i].folded == 0) continue;
      fmt::format_to(fmt::appender(text_), "{}\"{}\":{}", first ? "" : ",", i, tree.boxes[i].folded);
      first = false;
    }
    text_.push_back('}');
    if (!tree.verdicts.empty()) {
      Literal(",\"verdict\":");
      AppendList(text_, tree.verdicts, [this](uint8_t verdict) { Append(text_, uint64_t{verdict}); });
    }
    if (!tree.code.empty()) Code(tree.code);
    for (size_t i = 0; i < graph_.estimates.size(); ++i) Column(graph_.estimates[i], tree.estimates[i]);
    text_.push_back('}');
  }

  void Code(const std::vector<CodeShares>& of) {
    Literal(",\"code\":");
    AppendList(text_, std::array{&CodeShares::interpreted, &CodeShares::compiled, &CodeShares::inlined},
               [&](auto part) {
                 AppendList(text_, of, [&](const CodeShares& shares) { Append(text_, uint64_t{shares.*part}); });
               });
  }

  void Column(const FlameFigure& figure, const std::vector<Estimate>& of) {
    text_.push_back(',');
    AppendKey(text_, figure.id);
    Literal("{\"v\":");
    AppendList(text_, of, [this](const Estimate& one) { AppendValue(text_, one.value); });
    if (figure.has_interval) {
      Literal(",\"l\":");
      AppendList(text_, of, [this](const Estimate& one) { AppendReach(text_, one.value - one.low); });
      Literal(",\"h\":");
      AppendList(text_, of, [this](const Estimate& one) { AppendReach(text_, one.high - one.value); });
    }
    text_.push_back('}');
  }

  const FlameGraph& graph_;
  Text& text_;
};

}  // namespace

void AppendFlameData(const FlameGraph& graph, Text& into) {
  Text json;
  Writer(graph, json).Write();
  // Only strings can have one.
  for (const char c : json) {
    if (c == '<') {
      Append(into, std::string_view("\\u003c"));
    } else {
      into.push_back(c);
    }
  }
}

}  // namespace heaprec::tools
