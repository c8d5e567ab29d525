// One pass over the events of recordings, which every verb shares that adds them up: opens the files, filters, knows
// how each sample was drawn, and says at the end what was covered and what was lost.
//
//   auto survey = Survey::Parse(options);             // bad options: exit code kUsage
//   NamePool names;
//   CallTree tree(&names, survey->TreeOptions());
//   const ExitCode code = survey->Run(&tree, &visitor);
//   output.Append(survey->LossLine());
//
// Units:    as format/model.h. With --kind exception the samples are events: what the estimators call bytes.
// Threads:  one.
// Failure:  Parse returns the sentence for the user. Run says on stderr what it could not read, and returns kUnreadable
//           (nothing was visited but what came before) or kDamaged (all that could be decoded was).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/reader.h"
#include "format/result.h"
#include "tools/analysis/call_tree.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/group_estimates.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/scan_summary.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

// As given on the command line.
struct SurveyOptions {
  std::vector<std::string> files;
  bool lines = false, fold = false;
  bool no_census = false;       // do not use it
  bool shares_of_span = false;  // of what --from and --to leave, not of all that was recorded
  FilterOptions filter;

  SurveyOptions() { filter.allocations_only = true; }
  // REC..., the filters with --focus, --ignore and --hide, and --lines.
  void AddTo(Command& command);
};

// What of a block passes the filters. Names and tree have entered the block.
struct Sighting {
  const format::Block& block;
  std::span<const Drawn* const> drawn;  // in the order in which subsets take them; `index` is into block.samples
  std::span<const format::Survivor* const> survivors;  // of block.survivors
  Names& names;
  CallTree& tree;
  const Design& design;  // has added the block
};

// What is done with it.
class Surveyor {
 public:
  virtual ~Surveyor() = default;
  // Of the grains by which it chooses what belongs together.
  virtual Grain finest() const { return Grain::kThread; }
  // Whether it asks how much samples stand for: what a census says to that is then found out first.
  virtual bool estimates() const { return true; }
  // `chosen_by`: the finest grain of the filters, for GroupTable::Start.
  virtual void Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) = 0;
  virtual void See(const Sighting& sighting) = 0;
  // After the last block of the recording: `seconds` of it passed the filters of time.
  virtual void End(const Estimator& estimator, double seconds) = 0;
};

class Survey {
 public:
  static format::Result<Survey> Parse(const SurveyOptions& options);

  CallTree::Options TreeOptions() const;
  // Events: what is counted are exceptions.
  format::Stream stream() const { return stream_; }
  bool of_exceptions() const { return stream_ == format::Stream::kExceptions; }

  ExitCode Run(CallTree* tree, Surveyor* surveyor);
  // For a second pass: damage was reported in the first.
  void BeQuiet() { is_quiet_ = true; }

  // What has been read, once Run is over.
  const Covered& covered() const { return coverage_.covered(); }
  // Of what passed the filters, and of any group that nothing passed of. Shares are of total().
  const Figures& chosen() const { return chosen_; }
  const Figures& unseen() const { return unseen_; }
  // Bytes, or events, of all that was recorded.
  const Estimate& total() const { return total_; }
  bool chooses_all() const { return !filter_.chosen_by(); }
  // Of all recordings: how many events, what was lost, and whether the numbers can be relied on (Coverage).
  std::string LossLine() const { return coverage_.LossLine(); }
  std::string Doubt() const { return coverage_.Doubt(); }
  const std::vector<std::string>& doubts() const { return coverage_.doubts(); }
  // That on stderr, for forms without the loss line.
  void SayDoubt() const;
  nlohmann::json AsJson() const { return coverage_.AsJson(); }

 private:
  Survey(const SurveyOptions& options, Filter filter);
  ExitCode ReadFile(const std::string& path, CallTree* tree, Surveyor* surveyor);
  ExitCode Read(Recording* recording, CallTree* tree, Surveyor* surveyor);
  double Seconds(const Recording& recording, const Filter& filter, uint64_t last_ns) const;
  void Conclude(const Subset& chosen, Grain chosen_by, const Estimator& estimator);

  SurveyOptions options_;
  Filter filter_;  // as parsed: each recording starts a copy
  format::Stream stream_ = format::Stream::kAllocations;
  bool is_quiet_ = false;
  Coverage coverage_;
  Figures chosen_, unseen_;
  Estimate total_;
  double whole_ = 0;  // bytes that shares are of
};

}  // namespace heaprec::tools
