#include "tools/query/summary/headlines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Shares of time in GC above which an application usually suffers; HotSpot's own goal (GCTimeRatio) is 1 to 8 %.
constexpr double kMuchGc = 0.1, kSomeGc = 0.05;
// The heap after a collection that grew by this factor has grown.
constexpr double kGrown = 1.25;

std::string Shown(const render::Value& value, render::Unit unit) { return render::FormatInline(value, unit, true); }

// "Page.setChild" of "org.h2.mvstore.Page.setChild"
std::string ShortSite(const std::string& site) {
  const size_t method = site.rfind('.');
  if (method == std::string::npos || method == 0) return site;
  const size_t package = site.rfind('.', method - 1);
  return package == std::string::npos ? site : site.substr(package + 1);
}

void AddTop(const HeadlineInputs& inputs, std::vector<Headline>* into) {
  if (!inputs.site) return;
  std::string text =
      fmt::format("{} allocates most: {} of {}", ShortSite(inputs.site->name),
                  Shown(inputs.site->share, render::Unit::kShare), Shown(inputs.allocated_bytes, render::Unit::kBytes));
  if (inputs.klass) {
    text += fmt::format("; largest class: {}, {}", inputs.klass->name,
                        Shown(inputs.klass->share.value, render::Unit::kShare));
  }
  into->push_back({"top", Mood::kNeutral, text + "."});
}

void AddGc(const HeadlineInputs& inputs, std::vector<Headline>* into) {
  if (inputs.heap == nullptr || inputs.duration_ns == 0 || inputs.heap->pauses == 0) return;
  const double share = static_cast<double>(inputs.heap->paused_ns) / static_cast<double>(inputs.duration_ns);
  std::string text = fmt::format("GC pauses take {} of the time",
                                 share < 0.0005 ? "less than 0.1 %" : Shown(share, render::Unit::kShare));
  if (inputs.heap->longest_pause_ns > 0) {
    text += fmt::format("; the longest took {}",
                        Shown(static_cast<double>(inputs.heap->longest_pause_ns) * 1e-9, render::Unit::kSeconds));
  }
  into->push_back({"gc", share > kMuchGc ? Mood::kBad : share > kSomeGc ? Mood::kWarning : Mood::kGood, text + "."});
}

void AddGrowth(const HeadlineInputs& inputs, std::vector<Headline>* into) {
  const GcSummary* heap = inputs.heap;
  if (heap != nullptr && heap->pauses > 1 && heap->first_after > 0 && heap->last_after > 0) {
    const auto first = static_cast<double>(heap->first_after), last = static_cast<double>(heap->last_after);
    if (last > first * kGrown) {
      into->push_back({"growth", Mood::kWarning,
                       fmt::format("The heap after a collection grew from {} to {}.",
                                   Shown(first, render::Unit::kBytes), Shown(last, render::Unit::kBytes))});
      return;
    }
  }
  if (inputs.live_bytes) {
    const Estimate& live = *inputs.live_bytes;
    const auto bytes = [](double value) { return Shown(value, render::Unit::kBytes); };
    const std::string size =
        IsRange(live) ? fmt::format("{} to {}", bytes(live.low), bytes(live.high)) : bytes(live.value);
    into->push_back({"growth", Mood::kNeutral, size + " are live at the end, including garbage not yet collected."});
  }
}

void AddTrust(const HeadlineInputs& inputs, std::vector<Headline>* into) {
  if (!inputs.trust_reasons.empty()) {
    into->push_back({"trust", Mood::kBad, "Not trustworthy: " + inputs.trust_reasons.front() + "."});
    return;
  }
  std::string text = "Trustworthy";
  // Few samples say nothing of the count.
  if (inputs.estimated_bytes > 0 && inputs.chance_bytes < inputs.allocated_bytes / 2) {
    const double off = inputs.estimated_bytes / inputs.allocated_bytes - 1;
    text += fmt::format(": the samples alone give {} {} than the exact count",
                        Shown(std::abs(off), render::Unit::kShare), off < 0 ? "less" : "more");
  }
  if (inputs.sample_points > 0) {
    text += fmt::format("{} {} of {} lost", text == "Trustworthy" ? ":" : ",", Grouped(inputs.lost_samples),
                        CountOf(inputs.sample_points, "sample"));
  }
  into->push_back({"trust", Mood::kGood, text + "."});
}

void ChooseNext(const HeadlineInputs& inputs, Headlines* into) {
  const std::string file = ShellQuoted(inputs.file);
  const bool has_grown = std::ranges::any_of(
      into->sentences, [](const Headline& one) { return one.id == "growth" && one.mood == Mood::kWarning; });
  if (!inputs.trust_reasons.empty()) {
    into->next_command = "heaprec doctor " + file;
    into->next_reason = "what is wrong with the numbers";
  } else if (has_grown && inputs.live_bytes) {
    into->next_command = "heaprec leaks " + file;
    into->next_reason = "what grows";
  } else if (inputs.site) {
    into->next_command = fmt::format("heaprec tree --callers --site {} {}", ShellQuoted(inputs.site->name), file);
    into->next_reason = "who calls it";
  }
}

}  // namespace

const char* MoodName(Mood mood) {
  switch (mood) {
    case Mood::kGood:
      return "good";
    case Mood::kWarning:
      return "warning";
    case Mood::kBad:
      return "bad";
    default:
      return "neutral";
  }
}

Headlines HeadlinesOf(const HeadlineInputs& inputs) {
  Headlines headlines;
  AddTop(inputs, &headlines.sentences);
  AddGc(inputs, &headlines.sentences);
  AddGrowth(inputs, &headlines.sentences);
  AddTrust(inputs, &headlines.sentences);
  ChooseNext(inputs, &headlines);
  return headlines;
}

std::string ShellQuoted(const std::string& word) {
  constexpr std::string_view kHarmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace heaprec::tools
