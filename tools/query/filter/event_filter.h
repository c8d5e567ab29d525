// Which events are meant: the options of filters, what passes them, and whether the asked time has data.
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

// Values of options that several commands have. The sentence of an Error begins with the option's name.

// An empty text was not given.
Result<std::optional<TimePoint>> TimeOption(const char* option, const std::string& text);
// Of --by; `usual`: if it was not given.
Result<std::vector<Grouping>> GroupingsOption(const std::string& text, const std::vector<By>& usual);

// Which events a command takes: the options that print, export and later commands share.
//
// Units:    times in ns since the start of the recording.
// Failure:  Parse returns the sentence for the user; his mistake, so exit code 2.

// As given on the command line.
struct FilterOptions {
  std::string from, to, thread, class_name, site, frame;
  std::string focus, ignore, hide;  // of commands that show stacks
  std::vector<std::string> kinds, labels;
  std::optional<int64_t> limit;
  bool allocations_only = false;  // unless kinds are given
  bool heap_only = false;         // no other kinds can be given
  bool with_states = false;       // gc, heap and lifecycle events are kinds, too: taken only if they are given

  void AddTo(Command& command);
  // All but --limit.
  void AddChoiceTo(Command& command);
  // --kind alone.
  void AddKindTo(Command& command);
  // --focus, --ignore and --hide.
  void AddStackChoiceTo(Command& command);
  bool ChoosesAll() const;  // but for the limit
};

// Where a recording ends, in ns since its start. Reads all of it.
uint64_t EndOf(const Recording& recording);

class Filter {
 public:
  static Result<Filter> Parse(const FilterOptions& options);

  // Once, when the recording is open. Reads all of it if a time counts from its end.
  void Start(const Recording& recording);
  void Start(uint64_t start_epoch_ns, uint64_t end_ns);
  // With every block, after `names` has entered it. Both must stay until the next one.
  void Enter(const format::Block& block, Names* names);
  bool Keeps(const format::Sample& sample);
  bool KeepsTime(uint64_t time_ns) const {
    return static_cast<int64_t>(time_ns) >= from_ns_ && static_cast<int64_t>(time_ns) < to_ns_;
  }
  // A state has neither thread nor class nor stack, so it passes no filter of these.
  bool Keeps(const format::ProcessState& state) const;
  bool Keeps(const format::LifecycleEvent& lifecycle) const;
  // Checks time, class and thread; a row has neither a stack nor labels.
  bool Keeps(const format::CensusRow& row);
  // Checks time (`time_ns`: of the block), class and path; a row is of all threads.
  bool Keeps(const format::Row& row, uint64_t time_ns);
  // Whether --class keeps the class with this index. Requires a filter by class.
  bool KeepsClass(format::Index index);

  // Whether rows of that time tell what of them it keeps: by class, site and time, of which it keeps all or nothing.
  bool TakesRows(const TimeOfRows& time) const { return (HoldsTime(time) || IsBeside(time)) && !NeedsSamples(); }
  // Whether more than class, path to the site and time has a say.
  bool NeedsSamples() const;
  // Where samples are calibrated to rows: the blocks of which it may keep all, which are calibrated, and those of which
  // it keeps nothing, which are read from their rows, so that totals are those of a table that is made of rows.
  ByRows RowsWithin(uint64_t interval_ns) const;
  ByRows RowsBeside(uint64_t interval_ns) const;
  // What it keeps of rows in place of samples: those of which class, path and time are enough to tell.
  enum class OfRow : uint8_t { kKept, kLeftOut, kUnknown };
  OfRow Judge(const format::Sample& row);

  uint64_t limit() const { return limit_; }
  // Frames at a leaf that are no sites, for --site; the built-in primitives unless told otherwise. Before Start.
  void SetPrimitives(const StackMatch::Test& is_primitive);
  // The names that were asked for.
  const std::vector<AskedName>& asked() const { return asked_; }
  // Whether a frame is not to be shown: the caller leaves it out. Empty: all are shown.
  const StackMatch::Test& hides() const { return hides_; }
  // Whether it keeps all of every stream asked for; else, whether it does of some classes.
  bool chooses_all() const { return !chooses_classes_ && !chooses_others_; }
  bool chooses_classes() const { return chooses_classes_ && !chooses_others_; }
  // Of `stream`, whether any event can pass.
  bool TakesAny(format::Stream stream) const;
  // Times of the recording that can pass: from, to (ns since its start).
  std::pair<uint64_t, uint64_t> Span(uint64_t begin_ns, uint64_t end_ns) const;

 private:
  // As far as times decide.
  bool HoldsTime(const TimeOfRows& time) const;
  bool IsBeside(const TimeOfRows& time) const;
  bool KeepsAnyThread() const;
  bool KeepsAllKinds() const;
  bool KeepsAnyThreadAndPlace() const;
  bool KeepsThread(format::Index index);
  bool HasLabels(const format::Thread& thread) const;
  bool KeepsStack(format::Index index);
  bool MatchesThread(format::Index index);
  void NoteChoice(const FilterOptions& options);
  // Returns what is wrong with them.
  std::optional<Error> SetPatterns(const FilterOptions& options);

  std::optional<TimePoint> from_, to_;
  std::optional<NamePattern> thread_, class_;
  StackMatch::Test is_site_, hides_;
  std::optional<StackMatch> site_, frame_, focus_, ignore_;
  std::vector<AskedName> asked_;
  bool chooses_classes_ = false, chooses_others_ = false;  // by class; by anything else
  std::optional<uint64_t> java_tid_, os_tid_;
  struct Label {
    std::string key;
    std::optional<std::string> value;  // nullopt: any
  };
  std::vector<Label> labels_;
  std::array<bool, format::kKinds> kinds_{};
  bool collections_ = false, heap_ = false, memory_ = false, cpu_ = false, events_ = false, census_ = false,
       rows_ = false;
  std::array<bool, format::kLifecycleKinds> lifecycle_events_{};
  uint64_t limit_ = std::numeric_limits<uint64_t>::max();

  int64_t from_ns_ = std::numeric_limits<int64_t>::min(), to_ns_ = std::numeric_limits<int64_t>::max();
  Names* names_ = nullptr;
  uint32_t chunk_ = 0;
  size_t stacks_ = 0;  // of the dictionaries, so far
  Matches threads_, classes_;
};

// The part of recordings that --from and --to choose, or the instant that --at does.
//
// Units:    ns since the start of the recording; of times(): since 1970.

// From where to where a recording's data reaches. `last_ns`: the last time in it; it counts if there is no ending.
std::pair<uint64_t, uint64_t> RecordedTime(const Recording& recording, uint64_t last_ns);

// For Report, of --at.
inline constexpr char kAtInstant[] = "at the time of --at (the nearest is shown)";

class AskedTime {
 public:
  // What of a recording passes `filter`, which has started it.
  std::pair<uint64_t, uint64_t> Add(const Recording& recording, const Filter& filter, uint64_t last_ns);

  // Likewise, whether what was live then is known.
  void AddInstant(const Recording& recording, const TimePoint& at, uint64_t last_ns);
  // What Add returned, but since 1970: of all recordings so far.
  const std::vector<std::pair<uint64_t, uint64_t>>& times() const { return times_; }

  // Whether no recording has data of that time. Amounts of 0 are then unknown.
  bool is_beside_data() const { return !missed_.empty() && !has_data_; }
  // If so, one line on stderr.
  void Report(const char* asked = "in this range") const;

 private:
  void Note(const Recording& recording, uint64_t begin_ns, uint64_t end_ns, bool has_data);

  std::vector<std::string> missed_;                   // of recordings without data of that time: what is said of each
  std::vector<std::pair<uint64_t, uint64_t>> times_;  // since 1970
  bool has_data_ = false;
};

}  // namespace heaprec::tools
