// heaprec ship: sends recordings to a fleet's server, each slice exactly once.
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <thread>

#include "format/bytes/layout.h"
#include "tools/commands/commands.h"
#include "tools/fleet/answers/fleet_time.h"
#include "tools/fleet/server/connection_options.h"
#include "tools/fleet/server/schema.h"
#include "tools/fleet/ship/shipper.h"
#include "tools/fleet/source/folder_source.h"
#include "tools/input/descriptor.h"
#include "tools/render/print.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

using namespace fleet;
using std::chrono::seconds;

constexpr seconds kLongestPause{60};
constexpr seconds kLook{5};  // for new files and new blocks, with --follow
// While the process is larger, a recording that still runs is closed, and read again from its start once its slice is
// over: what is open of one takes megabytes (names, stacks, the slice at hand).
constexpr uint64_t kMaxOpenBytes = 32 << 20;
constexpr uint32_t kLatestBlock = 15;  // blocks of a slice come so much later

std::atomic<bool> is_stopped{false};

struct ShipCommandOptions {
  std::vector<std::string> paths;
  ConnectionOptions connection;
  GivenLabels labels;
  std::string since;
  double per_second = 5;
  uint32_t tries = 5;
  bool follow = false, dry_run = false;
  render::OutputOptions output;
};

void Pause(seconds length) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (!is_stopped && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

uint64_t ResidentBytes() {
  uint64_t size = 0, resident = 0;  // in pages
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// How often, and how far apart, a server is asked again.
class Retries {
 public:
  explicit Retries(const ShipCommandOptions& options) : left_(options.tries), is_endless_(options.follow) {}

  // Says what failed, and waits. False: that was the last time.
  bool Again(const std::string& sentence) {
    if (left_ > 0) --left_;
    const bool goes_on = (is_endless_ || left_ > 0) && !is_stopped;
    PrintError(fmt::format("{}: {}", sentence,
                           goes_on ? fmt::format("next try in {} s", pause_.count())
                                   : std::string("given up; run ship again, nothing is sent twice")));
    if (!goes_on) return false;
    Pause(pause_);
    pause_ = std::min(pause_ * 2, kLongestPause);
    return true;
  }

 private:
  uint32_t left_;
  bool is_endless_;
  seconds pause_{1};
};

// A server that is down now may be up soon.
format::Result<Schema> FindSchema(const ShipCommandOptions& options, Server* server) {
  Retries retries(options);
  while (true) {
    auto schema = ReadSchema(server);
    if (schema.ok() || !retries.Again(schema.error().message)) return schema;
  }
}

// One shipper a folder: a second one would send the same slices. Held until the process ends.
class FolderLocks {
 public:
  // False: another process has it. A folder that cannot be locked (some network file systems) is taken as it is: the
  // ledger on the server remains.
  bool Lock(const std::string& folder) {
    const auto found = is_ours_.find(folder);
    if (found != is_ours_.end()) return found->second;
    descriptors_.emplace_back(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const int descriptor = descriptors_.back().number();
    const bool is_others = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return is_ours_[folder] = !is_others;
  }

 private:
  std::map<std::string, bool> is_ours_;
  std::vector<Descriptor> descriptors_;
};

class ShipRun {
 public:
  ShipRun(const ShipCommandOptions& options, const ShipOptions& how, Server* server, Schema schema)
      : options_(options), how_(how), server_(server), schema_(std::move(schema)) {}

  ExitCode Run() {
    ExitCode code = Once();
    while (options_.follow && !is_stopped) {
      Pause(kLook);
      code = Once();
    }
    return code;
  }
  const ShipTotals& totals() const { return totals_; }
  uint32_t slice_seconds() const { return schema_.slice_seconds; }
  size_t recordings() const { return done_ids_.size() + running_.size(); }
  uint64_t unfinished() const { return running_.size(); }
  uint64_t failed() const { return unreadable_.size(); }

 private:
  // Looks at every file. A failure of the server ends the round; files that cannot be read do not.
  ExitCode Once() {
    ExitCode code = unreadable_.empty() ? ExitCode::kOk : ExitCode::kUnreadable;
    for (const std::string& path : options_.paths) {
      for (const std::string& file : RecordingsIn(path)) {
        if (is_stopped) return code;
        const ExitCode one = ShipFile(file);
        if (one == ExitCode::kCannotWrite) return one;
        if (one != ExitCode::kOk) code = one;
      }
    }
    return code;
  }

  ExitCode ShipFile(const std::string& file) {
    if (done_files_.contains(file) || IsClosed(file)) return ExitCode::kOk;
    if (!IsOurs(file)) return ExitCode::kCannotWrite;
    if (!open_.contains(file)) {
      auto recordings = Recording::OpenAll(file);
      if (!recordings.ok()) {
        // A file that is just being made becomes a recording soon.
        if (unreadable_.insert(file).second) PrintError(recordings.error().message);
        return ExitCode::kUnreadable;
      }
      unreadable_.erase(file);
      ShipOptions how = how_;
      how.owner = OwnerOf(file);
      for (auto& recording : *recordings) {
        open_[file].push_back(
            std::make_unique<Shipper>(std::move(recording), server_, schema_, how, &known_, &totals_));
      }
    }
    const ShipTotals before = totals_;
    const bool is_new = running_.insert(file).second;
    const ExitCode code = Advance(file);
    if (!is_new) {
      // They were counted when the recording was read before.
      totals_.slices_there = before.slices_there;
      totals_.too_old = before.too_old;
    }
    return code;
  }

  bool IsClosed(const std::string& file) const {
    const auto due = due_.find(file);
    return due != due_.end() && std::time(nullptr) < due->second;
  }

  // Until its slice is over.
  void Close(const std::string& file) {
    open_.erase(file);
    const std::time_t slice = schema_.slice_seconds;
    due_[file] = (std::time(nullptr) / slice + 1) * slice + kLatestBlock;
  }

  static std::string FolderOf(const std::string& file) {
    std::error_code error;
    return std::filesystem::canonical(file, error).parent_path().string();
  }

  bool IsOurs(const std::string& file) {
    const std::string folder = FolderOf(file);
    if (options_.dry_run || folder.empty() || locks_.Lock(folder)) return true;
    PrintError(folder + ": another heaprec ship is sending this folder's recordings");
    return false;
  }

  // All shippers of a folder of this machine, one after the other, are one owner.
  static uint64_t OwnerOf(const std::string& file) {
    std::string place(HOST_NAME_MAX + 1, '\0');
    if (gethostname(place.data(), place.size()) != 0) place.clear();
    place += FolderOf(file);
    return format::Hash(std::as_bytes(std::span(place)));
  }

  ExitCode Advance(const std::string& file) {
    auto& shippers = open_[file];
    bool all_done = true, is_damaged = false;
    for (const auto& shipper : shippers) {
      const auto done = WithRetries(shipper.get());
      if (!done) return ExitCode::kCannotWrite;
      all_done = all_done && *done;
      is_damaged = is_damaged || shipper->recording().damaged();
      if (*done) done_ids_.insert(shipper->info().id);
    }
    if (is_damaged && damaged_.insert(file).second) {
      PrintError(file + ": damaged bytes were skipped; what could be decoded was shipped");
    }
    if (all_done) {
      open_.erase(file);
      running_.erase(file);
      done_files_.insert(file);
    }
    if (ResidentBytes() > kMaxOpenBytes) {
      if (!all_done) Close(file);
      malloc_trim(0);
    }
    return is_damaged ? ExitCode::kDamaged : ExitCode::kOk;
  }

  // nullopt: given up. What was not sent stays in the recording, and is sent by the next run.
  std::optional<bool> WithRetries(Shipper* shipper) {
    Retries retries(options_);
    while (true) {
      const uint64_t sent = totals_.slices;
      auto done = shipper->Step();
      if (done.ok()) return *done;
      if (totals_.slices > sent) retries = Retries(options_);
      if (!retries.Again(done.error().message)) return std::nullopt;
    }
  }

  const ShipCommandOptions& options_;
  const ShipOptions how_;
  Server* const server_;
  const Schema schema_;
  ShipTotals totals_;
  FolderLocks locks_;
  KnownIds known_;
  std::map<std::string, std::vector<std::unique_ptr<Shipper>>> open_;
  std::map<std::string, std::time_t> due_;  // when a file that was closed is to be read again
  std::set<std::string> running_, done_files_, unreadable_, damaged_;
  std::set<uint64_t> done_ids_;
};

// On a server's disk, of a process that goes on like those that were shipped: measured bytes a row, rows a slice and,
// rolled up, as many an hour. bench/fleet/README.md
double BytesADay(const ShipTotals& totals, double slice_seconds) {
  constexpr double kDay = 86400, kHour = 3600, kBytesOfSums = 56, kBytesOfSample = 27, kBytesOfLive = 43;
  const double slice = kBytesOfSums * static_cast<double>(totals.rows) +
                       kBytesOfSample * static_cast<double>(totals.samples) +
                       kBytesOfLive * static_cast<double>(totals.live);
  const double rolled_up = kBytesOfSums * static_cast<double>(totals.rows) * slice_seconds / kHour;
  return (slice + rolled_up) / static_cast<double>(totals.slices) * kDay / slice_seconds;
}

render::Report ReportOf(const ShipRun& run, const Server* server, bool dry_run) {
  using render::Unit;
  const ShipTotals& totals = run.totals();
  render::Report report("heaprec.ship/1");
  report.Add(render::Sentence(dry_run ? "would ship {} slices of {} recordings: {} rows, {} samples"
                                      : "shipped {} slices of {} recordings: {} rows, {} samples",
                              {{"slices", totals.slices, Unit::kInteger},
                               {"recordings", run.recordings(), Unit::kInteger},
                               {"rows", totals.rows, Unit::kInteger},
                               {"samples", totals.samples, Unit::kInteger}}));
  if (totals.slices > 0) {
    report.Add(render::Fact("disk", "about {} a day on the server for a recording like these",
                            {{"bytes_a_day", BytesADay(totals, run.slice_seconds()), Unit::kBytes}}));
  }
  if (totals.slices_there > 0) {
    report.Add(
        render::Fact("there", "{} slices had arrived before", {{"slices_there", totals.slices_there, Unit::kInteger}}));
  }
  if (totals.too_old > 0) {
    report.Add(render::Fact("older", "{} slices before --since were not sent",
                            {{"slices_too_old", totals.too_old, Unit::kInteger}}));
  }
  if (run.unfinished() > 0) {
    report.Add(render::Fact("running", "{} recordings may still grow; --follow waits for them",
                            {{"running", run.unfinished(), Unit::kInteger}}));
  }
  if (totals.differing > 0) {
    report.Add(render::Fact("differing", "{} batches on the server have another number of rows than their recording",
                            {{"differing", totals.differing, Unit::kInteger}}));
  }
  if (run.failed() > 0) {
    report.Add(render::Fact("unreadable", "{} files", {{"unreadable", run.failed(), Unit::kInteger}}));
  }
  if (server != nullptr) report.Add(render::Hidden({{"bytes_sent", server->bytes_sent(), Unit::kBytes}}));
  return report;
}

ExitCode Ship(const ShipCommandOptions& options) {
  ShipOptions how{
      .since = 0, .samples_per_second = options.per_second, .labels = options.labels, .dry_run = options.dry_run};
  if (!options.since.empty()) {
    auto since = ParseFleetTime(options.since, static_cast<uint32_t>(std::time(nullptr)));
    if (!since.ok()) return Fail(ExitCode::kUsage, "--since: " + since.error().message);
    how.since = *since;
  }
  for (const std::string& path : options.paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return Fail(ExitCode::kUnreadable, path + ": no such file or folder");
  }
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { is_stopped = true; });
  std::unique_ptr<Server> server;
  Schema schema{.version = kSchemaVersion, .slice_seconds = 600, .cluster = ""};
  if (!options.dry_run) {
    auto resolved = options.connection.Resolve();
    if (!resolved.ok()) return Fail(ExitCode::kUsage, resolved.error().message);
    auto opened = Server::Open(*resolved);
    if (!opened.ok()) return Fail(ExitCode::kUsage, opened.error().message);
    server = std::move(*opened);
    auto there = FindSchema(options, server.get());
    if (!there.ok()) return ExitCode::kCannotWrite;
    schema = *there;
  }
  ShipRun run(options, how, server.get(), schema);
  const ExitCode code = run.Run();
  const ExitCode printed = render::Print(ReportOf(run, server.get(), options.dry_run), options.output);
  return code != ExitCode::kOk ? code : printed;
}

}  // namespace

Command ShipCommand() {
  auto options = std::make_shared<ShipCommandOptions>();
  Command command("ship", "Send recordings to ClickHouse, for heaprec fleet");
  command.AddOption("PATH", options->paths, "Recordings, or folders with recordings (*.hrec)").Required();
  command.AddFlag("--follow", options->follow, "Go on as recordings grow and new ones appear");
  command.AddFlag("--dry-run", options->dry_run, "Say what would be sent; send nothing");
  command.AddOption("--since", options->since, "Skip what is older: 2h (ago), or 2026-11-20T10:00Z").Value("TIME");
  command
      .AddOption("--samples", options->per_second,
                 "Samples to send per second of a recording, for flame; sums are of all samples (default: 5)")
      .Value("N")
      .InRange(0, 1e6);
  command.AddOption("--tries", options->tries, "Attempts before giving up, without --follow (default: 5)")
      .Value("N")
      .Positive();
  options->output.AddTo(command);
  constexpr char kLabels[] = "Labels (default: what the recording says)";
  command.AddOption("--service", options->labels.service, "Service").Value("NAME").InGroup(kLabels);
  command.AddOption("--version", options->labels.version, "Version").Value("NAME").InGroup(kLabels);
  command.AddOption("--env", options->labels.environment, "Environment").Value("NAME").InGroup(kLabels);
  command.AddOption("--host", options->labels.host, "Host").Value("NAME").InGroup(kLabels);
  command.AddOption("--pod", options->labels.pod, "Pod").Value("NAME").InGroup(kLabels);
  options->connection.AddTo(command, "--to");
  command.footer = R"(A slice of a recording (10 minutes, unless the tables say otherwise) is sent
once it is over. Each arrives exactly once, whatever is killed: run ship again.

Examples:
  heaprec ship recordings/ --to http://127.0.0.1:8123 --follow
  heaprec ship app.hrec --to https://clickhouse.example:8443 --user heaprec
  heaprec ship recordings/ --since 2d --dry-run)";
  command.run = [options](const auto&) { return Ship(*options); };
  return command;
}

}  // namespace heaprec::tools
