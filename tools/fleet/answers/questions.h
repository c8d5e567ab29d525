// The actions of `heaprec fleet`, by name: queries, whose answers are reports; and creating, upgrading and pruning the
// tables of a server.
//
// Failure:  each returns an error message for the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/fleet/answers/answers.h"
#include "tools/fleet/answers/selection.h"
#include "tools/fleet/answers/source.h"
#include "tools/fleet/server/schema.h"
#include "tools/fleet/ship/ship_run.h"
#include "tools/options/command.h"
#include "tools/render/report.h"

namespace heaprec::tools::fleet {

inline constexpr char kByTimeToFull[] = "time-to-full";

// As given on the command line.
struct QuestionOptions {
  std::string what;                // "top"
  std::vector<std::string> words;  // after it: two versions for diff, a site for show
  std::string by = "site", deploy;
  uint64_t step_ns = 0;
  double min_share = 0.001, rate = 0.05, least_z = 3.5;

  // WHAT and ARGUMENT; --step, --deploy, --fdr, --min-share and --min-z.
  void AddWordsTo(Command& command);
  void AddTo(Command& command);
  // Describes each WHAT on one line.
  static std::string Help();
  // Returns why the words are invalid; empty: they are valid.
  std::string Objection() const;
  // Whether it needs samples, not only sums.
  bool wants_samples() const { return what == "pull" || what == "flame" || what == "report"; }
};

struct FleetQuestion {
  const QuestionOptions& options;
  Source* source;
  const Selection& selection;
  size_t limit = 0;  // rows; 0: all

  RowGrain by() const {
    if (options.by == "class") return RowGrain::kClass;
    return options.by == "site" ? RowGrain::kSite : RowGrain::kClassAndSite;
  }
};

// Answers queries that need only sums.
Result<render::Report> AnswerTo(const FleetQuestion& question);

// For `heaprec fleet init` and `prune`.
struct TableOptions {
  std::string cluster;
  std::optional<uint64_t> slice_ns;
  Retention retention;
  bool drops = false;

  // Adds the options under a separate heading of the help.
  void AddTo(Command& command);
  Result<SchemaOptions> Schema() const;
};

// The value of --slice, or `otherwise`, in seconds.
Result<uint32_t> SliceOf(std::optional<uint64_t> slice_ns, uint32_t otherwise);

Result<render::Report> InitTables(Server* server, const SchemaOptions& schema);
Result<render::Report> PruneTables(Server* server, const TableOptions& options, uint32_t now);

// The answers of `heaprec fleet` as reports.

using Answered = Result<render::Report>;
Answered ServicesReport(const FleetQuestion& of);
Answered TopReport(const FleetQuestion& of);
Answered TimelineReport(const FleetQuestion& of);
Answered DiffReport(const FleetQuestion& of);
Answered LiveReport(const FleetQuestion& of);
Answered OutliersReport(const FleetQuestion& of);
Answered ShowReport(const FleetQuestion& of);

render::Report TablesReport(const InitReport& init, const Server& server);
// `server`: nullptr: nothing was sent.
render::Report ShipReport(const ShipRun& run, const Server* server, bool dry_run);
render::Report PruneReport(const std::vector<Partition>& expired, bool is_dropped);

}  // namespace heaprec::tools::fleet
