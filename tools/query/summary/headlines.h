// A recording in a few plain sentences: what allocates most, the share of time in GC, what grew, whether the numbers
// can be trusted, and which command to run next. `summary`, the report page and the live view begin with them.
//
//   Headlines headlines = HeadlinesOf(inputs);
//   for (const Headline& one : headlines.sentences) ... one.text;
//
// Units:    bytes, ns; shares from 0 to 1.
// Failure:  none: what the recording does not tell has no sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/totals/process_states.h"
#include "tools/query/live/live_query.h"

namespace heaprec::tools {

enum class Mood : uint8_t { kNeutral, kGood, kWarning, kBad };
const char* MoodName(Mood mood);  // "neutral", "good", "warning", "bad"

struct Headline {
  std::string id;  // stable: "oom", "leak", "top", "gc", "growth", "trust"
  Mood mood = Mood::kNeutral;
  std::string text;  // one sentence
};

// What is said something of. Names are valid UTF-8.
struct HeadlineInputs {
  struct Top {
    std::string name;
    Estimate share;
  };
  std::string file;                       // as commands open it
  std::vector<FoundLeak> leaks;           // of all that the recording tracks; the fastest growing first
  std::optional<Estimate> out_of_memory;  // OutOfMemoryErrors that were thrown
  std::optional<Top> site, klass;         // with the most bytes
  double allocated_bytes = 0;             // in all
  uint64_t duration_ns = 0;
  const GcSummary* heap = nullptr;
  std::optional<Estimate> live_bytes;       // at the end
  std::vector<std::string> trust_reasons;   // why the numbers are not trustworthy
  std::optional<Estimate> estimated_bytes;  // by the samples alone, where all were counted, too
  double chance_bytes = 0;                  // by which count and samples differ at most by chance
  uint64_t lost_samples = 0, sample_points = 0;
};

struct Headlines {
  std::vector<Headline> sentences;  // the most important first
  std::string next_command;         // for a shell; empty: none
  std::string next_reason;          // what it answers
};

Headlines HeadlinesOf(const HeadlineInputs& inputs);

// For a POSIX shell: as it is if it is harmless, else in single quotes.
std::string ShellQuoted(const std::string& word);

}  // namespace heaprec::tools
