// Findings about a recording: problems, their impact, and recommended actions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/reader/reader.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// A finding of `heaprec doctor` in a recording: how certain its numbers are, why, and what to do.
//
// Based on AssessTrust (trust.h) and Verification: exactly their reasons are problems here.
enum class Level { kOk, kNote, kWarning, kProblem };
const char* LevelName(Level level);

struct Finding {
  std::string id;  // stable: "losses", "source", ...; docs/guide/trust.md#doctor
  Level level = Level::kOk;
  std::string what;             // includes its value
  std::optional<double> value;  // the value; shares are 0 to 1
  std::string impact;           // on the estimates; empty if all is well
  std::string action;           // what to do; empty if all is well
};

// Reads the recording to its end. Returns the worst findings first.
std::vector<Finding> Diagnose(Recording* recording);

// The impact of a finding on the estimates, and what to do: the text of `heaprec doctor`.
struct Advice {
  std::string_view impact, action;
};
// Returns empty texts if there is no advice for this id.
Advice AdviceFor(std::string_view id);

// Missing information in the samples of allocations: frames that were not recorded, and lost names.
//
// Units:    bytes that samples represent.
class Completeness {
 public:
  struct Part {
    uint64_t samples = 0;
    double bytes = 0;
  };

  void Add(const format::Block& block);

  const Part& all() const { return all_; }
  double ShareOf(const Part& part) const { return all_.bytes > 0 ? part.bytes / all_.bytes : 0; }

  Part truncated;      // frames are missing in the middle or at the root
  Part unknown_frame;  // a frame has no method, or its name is lost
  Part no_stack;
  Part unknown_class;  // the class is unknown, or its name is lost
  Part no_thread;
  uint64_t lost_names = 0;  // dictionary entries in lost bytes

 private:
  enum Flags : uint8_t { kLooked = 1, kTruncated = 2, kUnknown = 4 };
  uint8_t FlagsOf(format::Index stack);

  Part all_;
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = 0;
  uint64_t lost_in_chunk_ = 0;
  std::vector<uint8_t> flags_;  // by stack
  std::vector<format::Index> path_;
};

}  // namespace heaprec::tools
