// Symptoms of a recording: what is wrong with it, what follows from that, and what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/reader/reader.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// What `heaprec doctor` finds in a recording: how sure its numbers are, why, and what to do about it.
//
// Built on AssessTrust (trust.h) and Verification: what they object to is a problem here, and nothing else is.
enum class Level { kOk, kNote, kWarning, kProblem };
const char* LevelName(Level level);

struct Finding {
  std::string id;  // stable: "losses", "source", ...; docs/guide/trust.md#doctor
  Level level = Level::kOk;
  std::string what;             // with its number
  std::optional<double> value;  // that number; shares are 0 to 1
  std::string impact;           // for the estimates; empty where all is well
  std::string action;           // likewise
};

// Reads the recording to its end. The worst first.
std::vector<Finding> Diagnose(Recording* recording);

// What a symptom means for the estimates, and what to do: the words of `heaprec doctor`.
struct Advice {
  std::string_view impact, action;
};
// Empty texts if there is none for this id.
Advice AdviceFor(std::string_view id);

// What the samples of allocations do not tell: frames that were not recorded, names that nobody knows.
//
// Units:    bytes that samples stand for.
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
  Part unknown_class;  // likewise
  Part no_thread;
  uint64_t lost_names = 0;  // entries of dictionaries that stood in bytes that are lost

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
