#include "tools/query/summary/headlines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "tools/input/file_source.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Shares of time in GC above which applications usually suffer; HotSpot's own goal (GCTimeRatio) is 1 to 8 %.
constexpr double kMuchGc = 0.1, kSomeGc = 0.05;
// Growth of the heap after collections by this factor is reported.
constexpr double kGrown = 1.25;
// Half the width of an interval, relative to the value, at which samples cannot be compared with a count.
constexpr double kTooVague = 0.5;

std::string Shown(const render::Value& value, render::Unit unit) { return render::FormatInline(value, unit, true); }

// Returns "Page.setChild" for "org.h2.mvstore.Page.setChild"; a native function keeps its library.
std::string ShortSite(const std::string& site) {
  if (site.find(".so.") != std::string::npos) return site;
  const size_t method = site.rfind('.');
  if (method == std::string::npos || method == 0) return site;
  const size_t package = site.rfind('.', method - 1);
  return package == std::string::npos ? site : site.substr(package + 1);
}

void AddOutOfMemory(const HeadlineInputs& inputs, std::vector<Headline>* into) {
  if (!inputs.out_of_memory) return;
  into->push_back({"oom", Mood::kBad,
                   fmt::format("OutOfMemoryError was thrown {}.",
                               inputs.out_of_memory->value < 1.5
                                   ? "once"
                                   : Shown(inputs.out_of_memory->value, render::Unit::kCount) + " times")});
}

// "since 2 min 10 s (1 min 50 s to 2 min 30 s) after the start"
std::string SinceText(const Estimate& since_s) {
  const auto time = [](double seconds) { return Duration(static_cast<uint64_t>(seconds * 1e9)); };
  if (since_s.value <= since_s.low) return "";
  return fmt::format(" since {} ({} to {}) after the start", time(since_s.value), time(since_s.low),
                     time(since_s.high));
}

// Returns "malloc", as spelled in --kind; empty: objects.
std::string KindOf(const FoundLeak& leak) {
  return leak.stream == format::Stream::kAllocations ? "" : TraitsOf(leak.stream).name;
}

void AddLeak(const HeadlineInputs& inputs, std::vector<Headline>* into) {
  if (inputs.leaks.empty()) return;
  const FoundLeak& leak = inputs.leaks.front();
  const std::string kind = KindOf(leak);
  std::string text = fmt::format("Leak: {}{}{} of {} grow by {}{}", kind, kind.empty() ? "" : " ",
                                 TraitsOf(leak.stream).lifecycle.things, ShortSite(leak.site),
                                 Shown(leak.per_second.value, render::Unit::kBytesPerSecond),
                                 leak.since_s ? SinceText(*leak.since_s) : "");
  if (inputs.leaks.size() > 1) text += fmt::format("; {}", CountOf(inputs.leaks.size() - 1, "more leak"));
  into->push_back({"leak", Mood::kBad, text + "."});
}

void AddFull(const HeadlineInputs& inputs, std::vector<Headline>* into) {
  if (!inputs.full) return;
  std::string text = FullText(*inputs.full, inputs.is_running);
  text.front() = static_cast<char>(std::toupper(text.front()));
  into->push_back({"full", Mood::kBad, text + "."});
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

// Returns ": samples agree with the exact count (-3.6 %, expected up to 4 %)"; empty: nothing was counted.
std::string AgreementText(const HeadlineInputs& inputs) {
  const auto share = [](double value) { return Shown(value, render::Unit::kShare); };
  std::string text;
  if (inputs.allocated_bytes > 0 && inputs.estimated_bytes && inputs.estimated_bytes->value > 0) {
    const Estimate& samples = *inputs.estimated_bytes;
    const double off = samples.value / inputs.allocated_bytes - 1;
    const double expected = (samples.high - samples.low) / 2 / samples.value;
    const bool is_vague = expected >= kTooVague || inputs.chance_bytes >= inputs.allocated_bytes / 2;
    text = !is_vague ? fmt::format(": samples {} the exact count ({}{}, expected up to {})",
                                   std::abs(off) > expected ? "are a little off" : "agree with", off < 0 ? "-" : "+",
                                   share(std::abs(off)), share(expected))
                     : ": too few samples to compare with the exact count";
  }
  const double lost = static_cast<double>(inputs.lost_samples), points = static_cast<double>(inputs.sample_points);
  if (lost > kFewLost * points)
    text += fmt::format("{} {} of samples lost", text.empty() ? ":" : ",", share(lost / points));
  return text;
}

void AddTrust(const HeadlineInputs& inputs, std::vector<Headline>* into) {
  if (!inputs.trust_reasons.empty()) {
    into->push_back({"trust", Mood::kBad, "Not trustworthy: " + inputs.trust_reasons.front() + "."});
    return;
  }
  into->push_back({"trust", Mood::kGood, "Trustworthy" + AgreementText(inputs) + "."});
}

void ChooseNext(const HeadlineInputs& inputs, Headlines* into) {
  std::string file;
  for (const std::string& one : FilesOf(inputs.file)) file += (file.empty() ? "" : " ") + ShellQuoted(one);
  const auto choose = [into](const std::string& command, const char* reason) {
    into->next_command = "heaprec " + command;
    into->next_reason = reason;
  };
  const bool has_grown = std::ranges::any_of(
      into->sentences, [](const Headline& one) { return one.id == "growth" && one.mood == Mood::kWarning; });
  if (!inputs.trust_reasons.empty()) return choose("doctor " + file, "what is wrong with the numbers");
  if (!inputs.leaks.empty()) {
    const std::string kind = KindOf(inputs.leaks.front());
    return choose((kind.empty() ? "leaks " : "leaks --kind " + kind + " ") + file, "what grows");
  }
  const bool fills_heap = inputs.full && inputs.full->fills == Fills::kOldGeneration;
  if ((has_grown || fills_heap || inputs.out_of_memory) && inputs.live_bytes)
    return choose("live " + file, "what fills the heap");
  if (inputs.full) return choose("why " + file, "which memory grows");
  if (inputs.out_of_memory) return choose("tree --callers --kind exception " + file, "where errors are thrown");
  if (!inputs.site) return;
  choose(fmt::format("tree --callers --site {} {}", ShellQuoted(inputs.site->name), file), "who calls it");
}

}  // namespace

const char* MoodName(Mood mood) {
  constexpr std::array kNames{"neutral", "good", "warning", "bad"};
  static_assert(kNames.size() == static_cast<size_t>(Mood::kBad) + 1);
  return kNames.at(static_cast<size_t>(mood));
}

Headlines HeadlinesOf(const HeadlineInputs& inputs) {
  Headlines headlines;
  AddOutOfMemory(inputs, &headlines.sentences);
  AddLeak(inputs, &headlines.sentences);
  AddFull(inputs, &headlines.sentences);
  AddTop(inputs, &headlines.sentences);
  AddGc(inputs, &headlines.sentences);
  AddGrowth(inputs, &headlines.sentences);
  AddTrust(inputs, &headlines.sentences);
  ChooseNext(inputs, &headlines);
  return headlines;
}

std::string FullText(const TimeToFull::Answer& full, bool is_running) {
  const bool is_full = !(full.seconds.high > 0);
  const char* const verb = is_full      ? (is_running ? "full" : "was full")
                           : is_running ? "full in "
                                        : "would have been full in ";
  return fmt::format("{} {}{}: {} of {}", FillsName(full.fills), verb,
                     is_full ? "" : Shown(full.seconds, render::Unit::kSeconds),
                     Shown(static_cast<double>(full.used), render::Unit::kBytes),
                     Shown(static_cast<double>(full.limit), render::Unit::kBytes));
}

std::string ShellQuoted(const std::string& word) {
  constexpr std::string_view kHarmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace heaprec::tools
