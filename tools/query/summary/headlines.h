// A recording in a few plain sentences: what allocates most, the share of time in GC, what grew, whether the numbers
// can be trusted, and which command to run next. `summary`, the report page and the live view begin with them.
//
//   Headlines headlines = HeadlinesOf(inputs);
//   for (const Headline& one : headlines.sentences) one.text ...
//
// Units:    bytes, ns; shares from 0 to 1.
// Failure:  none: missing data has no sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/totals/process_states.h"
#include "tools/analysis/totals/trend.h"
#include "tools/query/live/live_query.h"

namespace heaprec::tools {

enum class Mood : uint8_t { kNeutral, kGood, kWarning, kBad };
const char* MoodName(Mood mood);  // "neutral", "good", "warning", "bad"

struct Headline {
  std::string id;  // stable: "oom", "leak", "full", "top", "gc", "growth", "trust"
  Mood mood = Mood::kNeutral;
  std::string text;  // one sentence
};

// The data from which the sentences are made. Names are valid UTF-8.
struct HeadlineInputs {
  struct Top {
    std::string name;
    Estimate share;
  };
  std::string file;                       // name for commands
  std::vector<FoundLeak> leaks;           // of everything that the recording tracks; the fastest growing first
  std::optional<Estimate> out_of_memory;  // number of thrown OutOfMemoryErrors
  std::optional<Top> site, klass;         // with the most bytes
  double allocated_bytes = 0;             // total
  uint64_t duration_ns = 0;
  const GcSummary* heap = nullptr;
  std::optional<TimeToFull::Answer> full;  // what is full first
  bool is_running = false;
  std::optional<Estimate> live_bytes;       // at the end
  std::vector<std::string> trust_reasons;   // why the numbers are not trustworthy
  std::optional<Estimate> estimated_bytes;  // from the samples alone, if all bytes were counted, too
  double chance_bytes = 0;                  // maximum difference of count and samples by chance
  uint64_t lost_samples = 0, sample_points = 0;
};

struct Headlines {
  std::vector<Headline> sentences;  // ordered by importance
  std::string next_command;         // for a shell; empty: none
  std::string next_reason;          // the question that it answers
};

Headlines HeadlinesOf(const HeadlineInputs& inputs);

// "old generation full in 3.00 h (2.10-5.60 h)"; of a process that has ended: "would have been full".
std::string FullText(const TimeToFull::Answer& full, bool is_running);

// Quotes for a POSIX shell: unchanged if harmless, otherwise in single quotes.
std::string ShellQuoted(const std::string& word);

}  // namespace heaprec::tools
