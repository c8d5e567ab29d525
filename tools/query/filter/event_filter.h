// Filters: their options, the samples that pass, and whether the requested time has data.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/name_pattern.h"
#include "tools/query/filter/time_point.h"

namespace heaprec::tools {

// Values of options that several commands have. An Error begins with the option's name.

// An empty text means that the option was not given.
Result<std::optional<TimePoint>> TimeOption(const char* option, const std::string& text);
// For --by; `usual`: the default.
Result<std::vector<Grouping>> GroupingsOption(const std::string& text, const std::vector<By>& usual);

// As given on the command line.
struct FilterOptions {
  std::string from, to, thread, class_name, site, frame;
  std::string focus, ignore, hide;  // for commands that show stacks
  std::vector<std::string> kinds, labels;
  std::optional<int64_t> limit;
  bool allocations_only = false;  // unless kinds are given
  bool heap_only = false;         // no other kinds can be given
  bool with_states = false;       // gc, heap and lifecycle events are also kinds; selected only if given

  void AddTo(Command& command);
  // All options except --limit.
  void AddChoiceTo(Command& command);
  // Only --kind.
  void AddKindTo(Command& command);
  // --focus, --ignore and --hide.
  void AddStackChoiceTo(Command& command);
  bool ChoosesAll() const;  // except for the limit
};

// Returns the end of a recording, in ns since its start. Reads all of it.
uint64_t EndOf(const Recording& recording);

// Selects the events of a command: the options that several commands share.
//
// Units:    times in ns since the start of the recording.
// Failure:  Parse returns an error message for the user; the exit code is 2.
class Filter {
 public:
  static Result<Filter> Parse(const FilterOptions& options);

  // Call once, when the recording is open. Reads all of it if a time counts from its end.
  void Start(const Recording& recording);
  void Start(uint64_t start_epoch_ns, uint64_t end_ns);
  // Call for every block, after `names` has entered it. Both must stay valid until the next call.
  void Enter(const format::Block& block, Names* names);
  bool Keeps(const format::Sample& sample);
  bool KeepsTime(uint64_t time_ns) const {
    return static_cast<int64_t>(time_ns) >= from_ns_ && static_cast<int64_t>(time_ns) < to_ns_;
  }
  // A state has neither thread nor class nor stack, so it does not pass filters by these.
  bool Keeps(const format::ProcessState& state) const;
  bool Keeps(const format::LifecycleEvent& lifecycle) const;
  // Checks time, class and thread; such a row has neither a stack nor labels.
  bool Keeps(const format::CensusRow& row);
  // Checks time (`time_ns`: of the block), class and path; such a row is for all threads.
  bool Keeps(const format::Row& row, uint64_t time_ns);
  // Whether --class keeps the class with this index. Requires a filter by class.
  bool KeepsClass(format::Index index);

  // Whether the filter can be applied to the rows of that time: it depends on class, site and time, and the time passes
  // completely or not at all.
  bool TakesRows(const TimeOfRows& time) const { return (HoldsTime(time) || IsBeside(time)) && !NeedsSamples(); }
  // Whether it depends on more than class, path to the site and time.
  bool NeedsSamples() const;
  // Selects the blocks with such rows.
  ByRows RowsTaken(uint64_t interval_ns) const;
  // If samples are calibrated to rows: selects blocks that may pass completely, which are calibrated, and blocks that
  // do not pass at all, which are read from their rows, so that totals agree with those of a table made of rows.
  ByRows RowsWithin(uint64_t interval_ns) const;
  ByRows RowsBeside(uint64_t interval_ns) const;
  // The result for a row instead of samples: only class, path and time are known.
  enum class OfRow : uint8_t { kKept, kLeftOut, kUnknown };
  OfRow Judge(const format::Sample& row);

  uint64_t limit() const { return limit_; }
  // Sets the frames at a leaf that are not sites, for --site; default: the built-in primitives. Call before Start.
  void SetPrimitives(const StackMatch::Test& is_primitive);
  // The requested names.
  const std::vector<AskedName>& asked() const { return asked_; }
  // Whether a frame must not be shown: the caller omits it. Empty: all are shown.
  const StackMatch::Test& hides() const { return hides_; }
  // Whether it selects everything of each requested stream; otherwise chooses_classes(): everything of some classes.
  bool chooses_all() const { return !chooses_classes_ && !chooses_others_; }
  bool chooses_classes() const { return chooses_classes_ && !chooses_others_; }
  // Whether any event of `stream` can pass.
  bool TakesAny(format::Stream stream) const;
  // Returns the times of the recording that can pass: from, to (ns since its start).
  std::pair<uint64_t, uint64_t> Span(uint64_t begin_ns, uint64_t end_ns) const;

 private:
  // Considers times only.
  bool HoldsTime(const TimeOfRows& time) const;
  bool IsBeside(const TimeOfRows& time) const;
  bool KeepsAnyThread() const;
  bool KeepsAllKinds() const;
  bool KeepsAnyThreadAndPlace() const;
  bool AsksFor(std::string_view kind) const;
  bool KeepsThread(format::Index index);
  bool HasLabels(const format::Thread& thread) const;
  bool KeepsStack(format::Index index);
  bool MatchesThread(format::Index index);
  void NoteChoice(const FilterOptions& options);
  // Returns the error of an invalid pattern.
  std::optional<Error> SetPatterns(const FilterOptions& options);

  std::optional<TimePoint> from_, to_;
  std::optional<NamePattern> thread_, class_;
  StackMatch::Test is_site_, hides_;
  std::optional<StackMatch> site_, frame_, focus_, ignore_;
  std::vector<AskedName> asked_;
  bool chooses_classes_ = false, chooses_others_ = false;  // filters by class; other filters
  std::optional<uint64_t> java_tid_, os_tid_;
  struct Label {
    std::string key;
    std::optional<std::string> value;  // nullopt: any
  };
  std::vector<Label> labels_;
  std::array<bool, format::kKinds> kinds_{};  // of samples
  std::vector<std::string> asked_kinds_;      // as given: what is not a sample passes only if it is asked for
  uint64_t limit_ = std::numeric_limits<uint64_t>::max();

  int64_t from_ns_ = std::numeric_limits<int64_t>::min(), to_ns_ = std::numeric_limits<int64_t>::max();
  Names* names_ = nullptr;
  uint32_t chunk_ = 0;
  size_t stacks_ = 0;  // number of the dictionaries' stacks so far
  Matches threads_, classes_;
};

// Returns the time range of a recording's data. `last_ns`: the last time in it, used if there is no end marker.
std::pair<uint64_t, uint64_t> RecordedTime(const Recording& recording, uint64_t last_ns);

// Text for Report with --at.
inline constexpr char kAtInstant[] = "at the time of --at (the nearest is shown)";

// The part of recordings that --from and --to select, or the time of --at.
//
// Units:    ns since the start of the recording; of times(): since 1970.
class AskedTime {
 public:
  // Adds a recording and returns its part that passes `filter`, which has been started.
  std::pair<uint64_t, uint64_t> Add(const Recording& recording, const Filter& filter, uint64_t last_ns);

  // The same for a single time: checks whether the live objects of that time are known.
  void AddInstant(const Recording& recording, const TimePoint& at, uint64_t last_ns);
  // Results of Add, but since 1970, for all recordings so far.
  const std::vector<std::pair<uint64_t, uint64_t>>& times() const { return times_; }

  // Whether no recording has data for that time. Amounts of 0 are then unknown.
  bool is_beside_data() const { return !missed_.empty() && !has_data_; }
  // If so, prints one line on stderr.
  void Report(const char* asked = "in this range") const;

 private:
  void Note(const Recording& recording, uint64_t begin_ns, uint64_t end_ns, bool has_data);

  std::vector<std::string> missed_;                   // messages for recordings without data for that time
  std::vector<std::pair<uint64_t, uint64_t>> times_;  // since 1970
  bool has_data_ = false;
};

// Walks with the names of each block, which `filter` has entered, too: visit(block, names). `filter` must have been
// started; null: none. `merged`: null: names stay unchanged.
template <typename Visit>
bool Walk(Recording* recording, MergedNames* merged, Filter* filter, Visit&& visit,
          Progress::StdoutUse stdout_use = Progress::StdoutUse::kNothing) {
  if (merged != nullptr) merged->Start(recording->header().recording_id);
  Names names(merged);
  const auto enter = [&](format::Block& block) {
    names.Enter(block);
    if (filter != nullptr) filter->Enter(block, &names);
    return visit(block, names);
  };
  return Walk(recording, enter, stdout_use);
}

}  // namespace heaprec::tools
