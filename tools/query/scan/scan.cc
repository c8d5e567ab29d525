#include "tools/query/scan/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/query/scan/census_strata.h"
#include "tools/query/scan/scan_summary.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using format::Stream;

// The samples that pass the filters.
struct Passed {
  std::vector<const WeightedSample*> now;  // of the current block
  std::vector<const format::CheckpointSample*> live_checkpoint;
  std::vector<const format::Row*> outside;
  uint64_t points = 0;         // that rows stand for, or samples
  Subset all = Subset();       // if there is a filter
  std::optional<Subset> span;  // if asked for: what passes those of time
  Subset left_out = Subset();  // rows of which it is not known whether they pass

  bool Keeps(const WeightedSample& one, const format::Sample& sample, Filter* filter) {
    if (one.row == nullptr) return filter->Keeps(sample);
    const Filter::OfRow kept = filter->Judge(sample);
    if (kept == Filter::OfRow::kUnknown) Add(kLeftOut, one);
    return kept == Filter::OfRow::kKept;
  }

  void Take(const format::Block& block, std::span<const WeightedSample> drawn, bool is_by_rows, Filter* filter) {
    now.clear();
    for (const WeightedSample& one : drawn) {
      if (span && filter->KeepsTime(block.samples[one.index].time_ns)) Add(kSpan, one);
      if (filter != nullptr && !Keeps(one, block.samples[one.index], filter)) continue;
      now.push_back(&one);
      if (one.row == nullptr || is_by_rows) points += one.points();
      if (filter != nullptr) Add(kAll, one);
    }
    live_checkpoint.clear();
    for (const format::CheckpointSample& one : block.live_checkpoint) {
      if (filter == nullptr || filter->Keeps(one.sample)) live_checkpoint.push_back(&one);
    }
    outside.clear();
    if (filter != nullptr && !filter->chooses_classes()) return;
    for (const format::Row& one : block.outside) {
      if (filter == nullptr || filter->KeepsClass(one.class_id)) outside.push_back(&one);
    }
  }

  // After the last block.
  void Close(const RowCalibration& calibration) {
    of_sites.ForEach(calibration, [this](uint32_t of, const Subset& sums) { SubsetOf(of) += sums; });
  }

 private:
  enum Of : uint32_t { kAll, kSpan, kLeftOut };
  Subset& SubsetOf(uint32_t of) { return of == kAll ? all : of == kSpan ? *span : left_out; }
  void Add(Of of, const WeightedSample& one) {
    if (one.site != kNoSite) return of_sites.Add(of, one);
    SubsetOf(of).Add(one);
  }

  SumsBySite of_sites;
};

Estimator::Among AmongOf(const Filter& filter) {
  if (filter.chooses_all()) return Estimator::Among::kAll;
  return filter.chooses_classes() ? Estimator::Among::kClasses : Estimator::Among::kAny;
}

// Printed after the name of a recording without this stream; null: it has it.
const char* NotRecorded(const format::FileHeader& header, Stream stream) {
  const bool is_heap = stream == Stream::kAllocations;
  const bool is_recorded = is_heap ? MainStream(header) == stream : header.CapOf(stream).interval_ns > 0;
  return is_recorded ? nullptr : TraitsOf(stream).not_recorded;
}

}  // namespace

void ScanOptions::AddTo(Command& command, const std::string& recordings) {
  command.AddOption("REC", files, recordings).Required();
  command.AddFlag("--lines", lines, "Distinguish the lines of a method");
  command.AddFlag("--exact-sites", exact_sites,
                  "Use the allocating frame itself as the site, such as Arrays.copyOf (default: its caller)");
  command
      .AddOption("--primitives", primitives,
                 "File that lists the methods which only allocate for their caller, one per line (default: built in)")
      .Value("FILE");
  AddNamesTo(command, &names);
  command.AddFlag("--no-census", no_census, "Ignore the census; estimate from samples only");
  command.AddFlag("--no-rows", no_rows, kNoRows);
  filter.AddChoiceTo(command);
  filter.AddStackChoiceTo(command);
}

void ScanOptions::AddNamesTo(Command& command, std::string* names) {
  command
      .AddOption("--names", *names,
                 "merged: names that differ only in generated parts are one (default); exact: as they were recorded")
      .Value("HOW")
      .OneOf({"merged", "exact"});
}

void ScanOptions::AddShareTo(Command& command) {
  shares = ShareOf::kSelection;
  command.AddOption("--share-of", share_of, "Base of shares: selection (default; what the filters match) or all")
      .Value("WHAT")
      .OneOf({"selection", "all"});
}

std::shared_ptr<MergedNames> ScanOptions::Naming() const {
  const bool can_read_again = std::ranges::find(files, "-") == files.end();
  return names == "exact" ? nullptr : std::make_shared<MergedNames>(can_read_again);
}

Result<RecordingScan> RecordingScan::Parse(const ScanOptions& options) {
  auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return filter.error();
  const auto taken =
      std::ranges::count_if(format::kAllStreams, [&](Stream stream) { return filter->TakesAny(stream); });
  if (taken > 1 && filter->TakesAny(Stream::kExceptions)) {
    return Error{"--kind exception counts throws, other kinds count bytes; use one per command"};
  }
  if (taken > 1) {
    const Stream which = filter->TakesAny(Stream::kNative) ? Stream::kNative : Stream::kMapping;
    return Error{
        fmt::format("--kind {} is sampled separately from the heap; use one per command", TraitsOf(which).name)};
  }
  if (std::count(options.files.begin(), options.files.end(), "-") > 1) {
    return Error{"-: standard input can be read only once"};
  }
  if (options.exact_sites && !options.primitives.empty()) {
    return Error{"--exact-sites and --primitives exclude each other"};
  }
  AllocationPrimitives primitives;
  if (!options.primitives.empty()) {
    auto read = ReadPrimitives(options.primitives);
    if (!read.ok()) return read.error();
    primitives = std::move(*read);
  } else if (!options.exact_sites) {
    primitives = AllocationPrimitives::Default();
  }
  return RecordingScan(options, std::move(*filter), std::move(primitives));
}

RecordingScan::RecordingScan(const ScanOptions& options, Filter filter, AllocationPrimitives primitives)
    : options_(options), filter_(std::move(filter)), primitives_(std::move(primitives)), is_quiet_(options.quiet) {
  if (options_.share_of == "all") options_.shares = ScanOptions::ShareOf::kAll;
  for (const Stream stream : format::kAllStreams) {
    if (stream != Stream::kAllocations && filter_.TakesAny(stream)) stream_ = stream;
  }
  filter_.SetPrimitives(TreeOptions().is_primitive);
}

CallTree::Options RecordingScan::TreeOptions() const {
  CallTree::Options options{.lines = options_.lines, .fold = options_.fold, .marks_own = !options_.exact_sites};
  options.hides = filter_.hides();
  if (!primitives_.empty()) options.is_primitive = std::bind_front(&AllocationPrimitives::Contains, primitives_);
  return options;
}

ExitCode RecordingScan::Run(CallTree* tree, ScanVisitor* visitor) {
  const ExitCode code = WalkFiles(options_.files, [&](Recording* recording) { return Read(recording, tree, visitor); });
  if (code == ExitCode::kUnreadable) return code;
  if (const MergedNames* const merged = tree->names().merged()) summary_.SetMergedNames(merged->Text());
  if (is_quiet_) return code;
  if (summary_.scanned().matched == 0) ReportUnmatched(filter_.asked(), options_.files);
  asked_time_.Report();
  asked_span_.Report();
  asked_instant_.Report(kAtInstant);
  return code;
}

ExitCode RecordingScan::Run(NamePool* names, std::optional<CallTree>* tree,
                            const std::function<ScanVisitor*()>& visitor) {
  return ReadNamed(names->merged(), [&](bool is_again) {
    if (is_again) {
      names->Clear();
      options_.quiet = true;
      *this = *Parse(options_);
    }
    tree->emplace(names, TreeOptions());
    return Run(&**tree, visitor());
  });
}

// State of the recording that is being read.
struct RecordingScan::Pass {
  Recording& recording;
  ScanVisitor& visitor;
  Filter filter;
  RowRules rules;
  CensusStrata census;
  Design design;
  StreamTrust trust;
  Passed passed{};
  std::optional<CountedClasses> counted{};
  CpuTimeline cpu{};
  uint64_t samples = 0, last_ns = 0;  // of the stream, kept; last time of the blocks
  bool has_rows = false;
  double seconds = 0;  // of the time that passes the filters

  bool is_plain() const { return census.strata.count() == 0; }
  // Without a filter the design has exactly the samples of the scanned stream.
  Filter* sieve() { return filter.chooses_all() ? nullptr : &filter; }
};

ExitCode RecordingScan::Read(Recording* recording, CallTree* tree, ScanVisitor* visitor) {
  if (const char* const why = NotRecorded(recording->header(), stream_))
    return Fail(ExitCode::kUnreadable, recording->source().name() + why);
  Pass pass = Prepare(recording, visitor);
  ReadBlocks(&pass, tree);
  AskTimes(&pass);
  EstimateGroups(&pass);
  return Summarize(pass);
}

// Includes the first pass over a recording with a census.
RecordingScan::Pass RecordingScan::Prepare(Recording* recording, ScanVisitor* visitor) {
  const format::FileHeader& header = recording->header();
  Filter filter = filter_;
  filter.Start(*recording);
  RowRules rules = RulesOf(header, filter, visitor);
  CensusStrata census;
  if (!options_.no_census && stream_ == Stream::kAllocations && visitor->estimates())
    census = StrataOf(*recording, rules.any());
  const bool is_plain = census.strata.count() == 0;
  Pass pass{*recording,
            *visitor,
            std::move(filter),
            std::move(rules),
            std::move(census),
            Design(header, stream_),
            StreamTrust(header, stream_, /*has_design=*/is_plain)};
  pass.design.SetStrata(pass.census.strata);
  if (pass.rules.calibrated) pass.design.SetCalibration(RowCalibration(pass.rules.calibrated));
  if (!pass.rules.calibrated && pass.rules.by_rows) recording->LeaveOut(pass.rules.by_rows);
  if (options_.shares == ScanOptions::ShareOf::kSpan && pass.sieve() != nullptr) pass.passed.span.emplace();
  if (header.census == format::CensusMode::kAll && pass.filter.chooses_classes()) pass.counted.emplace();
  return pass;
}

void RecordingScan::ReadBlocks(Pass* pass, CallTree* tree) const {
  Recording& recording = pass->recording;
  tree->Start();
  pass->visitor.Begin(recording.header());
  Walk(&recording, tree->names().merged(), &pass->filter, [&](format::Block& block, Names& names) {
    tree->Enter(block, &names);
    if (pass->counted) {
      pass->counted->Add(block, [pass](format::Index class_id) { return pass->filter.KeepsClass(class_id); });
    }
    pass->last_ns = std::max(pass->last_ns, block.end_ns);
    const bool is_by_rows = pass->rules.by_rows && pass->rules.by_rows(block);
    pass->trust.Add(block, is_by_rows && !pass->rules.calibrated);
    pass->cpu.Add(block);
    const std::span<const WeightedSample> drawn = pass->design.Add(block, is_by_rows);
    pass->samples += static_cast<uint64_t>(std::ranges::count(block.samples, stream_, &format::Sample::stream));
    if (is_by_rows) block.samples.clear();
    if (!drawn.empty() && drawn.back().row != nullptr)
      std::ranges::copy(SamplesOfRows(block, recording.header().interval_ns), std::back_inserter(block.samples));
    pass->has_rows |= is_by_rows;
    pass->passed.Take(block, drawn, is_by_rows, pass->sieve());
    pass->visitor.Visit(
        {block, pass->passed.now, pass->passed.live_checkpoint, names, *tree, pass->design, pass->passed.outside});
  });
}

void RecordingScan::AskTimes(Pass* pass) {
  const Recording& recording = pass->recording;
  const uint64_t last_ns = pass->last_ns;
  const auto live = pass->visitor.live_times();
  WarnIfTwice(recording, last_ns, live.has_value());
  if (live && live->at) asked_instant_.AddInstant(recording, *live->at, last_ns);
  if (live && live->span != nullptr) {
    Filter span = *live->span;
    span.Start(recording.header().start_epoch_ns, RecordedTime(recording, last_ns).second);
    asked_span_.Add(recording, span, last_ns);
  }
  const auto [from_ns, to_ns] = asked_time_.Add(recording, pass->filter, last_ns);
  pass->seconds = static_cast<double>(to_ns - from_ns) * 1e-9;
  AddCpu(pass->cpu.Between(from_ns, to_ns));
}

// Estimates the matched samples, and the visitor's groups.
void RecordingScan::EstimateGroups(Pass* pass) {
  const format::StreamCounters& counters = pass->recording.counters(stream_);
  Design& design = pass->design;
  Passed& passed = pass->passed;
  const bool is_chosen = pass->sieve() != nullptr;
  passed.Close(design.calibration());
  if (of_exceptions()) design.SetCounted(counters.candidates);
  design.CountUnwritten(counters);
  Estimator estimator(design, counters, Weights::kCalibrated, passed.span ? &*passed.span : nullptr);
  estimator.SetAmong(AmongOf(pass->filter));
  auto& counted = pass->counted;
  if (counted && (counted->has_stack_chunks() || !estimator.counted_by_class())) counted.reset();
  if (options_.shares == ScanOptions::ShareOf::kSelection && is_chosen) {
    Estimator of_selection(design, counters, Weights::kCalibrated, &passed.all, Estimator::ChosenBy::kAny);
    of_selection.SetAmong(AmongOf(pass->filter));
    if (counted && counted->bytes() > 0) of_selection.SetCountedSelection(counted->bytes());
    pass->visitor.End(of_selection, pass->seconds);
  } else {
    pass->visitor.End(estimator, pass->seconds);
  }
  GroupEstimates matched = EstimateGroup(is_chosen ? passed.all : design.all(), estimator);
  if (counted) SetCounted(counted->bytes(), counted->objects(), estimator.Whole(), &matched);
  const double calls = static_cast<double>(design.counted_candidates());
  if (!is_chosen && TraitsOf(stream_).counts_calls && calls > 0 && design.uncounted().bytes() == 0) {
    matched.objects = {calls, calls, calls};
    matched.mean_size = Scaled(estimator.Total(), 1 / calls);
  }
  Conclude(matched, estimator);
}

ExitCode RecordingScan::Summarize(const Pass& pass) {
  const Design& design = pass.design;
  const Passed& passed = pass.passed;
  has_unread_ |= pass.recording.has_nothing();
  ScanSummary::Points points{passed.points, design.all().samples(), pass.has_rows};
  if (pass.rules.calibrated) {
    points = {passed.points, pass.samples, false, design.calibration().points(),
              passed.left_out.bytes() / std::max(design.all().bytes(), 1.0)};
  }
  const Design raw = design.Raw();
  summary_.Note(pass.recording, pass.seconds, points, pass.census,
                pass.trust.Reasons(pass.recording, pass.is_plain() ? &raw : nullptr));
  if (is_quiet_) return pass.recording.damaged() ? ExitCode::kDamaged : ExitCode::kOk;
  return ReportDamage(pass.recording);
}

ByRows RecordingScan::RowRules::any() const {
  if (!calibrated) return by_rows;
  return [*this](const format::Block& block) { return calibrated(block) || (by_rows && by_rows(block)); };
}

// Paths end at the site that the built-in primitives give.
RecordingScan::RowRules RecordingScan::RulesOf(const format::FileHeader& header, const Filter& filter,
                                               const ScanVisitor* visitor) const {
  const uint64_t start_ns = header.start_epoch_ns, interval_ns = header.interval_ns;
  if (options_.no_rows || stream_ != Stream::kAllocations) return {};
  const bool is_enough = options_.primitives.empty() && !filter.NeedsSamples();
  if (visitor->calibrates() && !(is_enough && visitor->takes_rows(0, UINT64_MAX)))
    return {filter.RowsBeside(interval_ns), filter.RowsWithin(interval_ns)};
  // A time step cannot be divided: a visitor that does not accept this one accepts none.
  if (!is_enough || !filter.TakesRows({}) || !visitor->takes_rows(0, 1)) return {};
  return {[=](const format::Block& block) {
            const auto time = TimeOf(block, interval_ns);
            return time && filter.TakesRows(*time) &&
                   visitor->takes_rows(start_ns + time->begin_ns, start_ns + time->end_ns);
          },
          {}};
}

void RecordingScan::Conclude(const GroupEstimates& matched, const Estimator& estimator) {
  const double whole = estimator.Whole();
  matched_ = Sum(matched_, whole_, matched, whole);
  unseen_ = Sum(unseen_, whole_, EstimateUnseen(estimator), whole);
  whole_ += whole;
  total_ = Sum(total_, estimator.Total());
}

GroupEstimates RecordingScan::matched() const {
  GroupEstimates matched = matched_;
  if (!filter_.chooses_all()) return matched;
  matched.bytes = total_;
  if (matched.share.value > 0) matched.share = {1, 1, 1};
  return matched;
}

// Warns about a repeated file, and about copies made by dump or trim. Files of a rotation share less than an interval
// of samples, but all live objects. A trimmed copy has another id.
void RecordingScan::WarnIfTwice(const Recording& recording, uint64_t last_ns, bool of_live) {
  const format::FileHeader& header = recording.header();
  const auto [begin_ns, end_ns] = RecordedTime(recording, last_ns);
  const std::string& name = recording.source().name();
  std::optional<std::pair<uint32_t, uint64_t>> origin;
  if (header.start_monotonic_ns > 0) origin.emplace(header.pid, header.start_epoch_ns - header.start_monotonic_ns);
  const Seen seen{header.recording_id, origin, name, header.start_epoch_ns + begin_ns, header.start_epoch_ns + end_ns};
  const auto shared_ns = [&](const Seen& one) {
    const bool is_same = one.id == seen.id || (origin && one.origin == origin);
    const uint64_t from_ns = std::max(seen.begin_ns, one.begin_ns), to_ns = std::min(seen.end_ns, one.end_ns);
    return is_same && to_ns > from_ns ? to_ns - from_ns : 0;
  };
  const auto other = std::ranges::find_if(seen_, [&](const Seen& one) {
    return shared_ns(one) > (one.id == seen.id ? header.CapOf(MainStream(header)).interval_ns : 0);
  });
  if (other != seen_.end() && !is_quiet_) {
    const std::string twice = Duration(shared_ns(*other)) + " of one recording";
    PrintError(other->name == name
                   ? fmt::format("{}: {} are counted twice", name, twice)
                   : fmt::format("{} and {} hold the same {}, which are counted twice{}", other->name, name, twice,
                                 other->id == seen.id ? "; join them with heaprec merge" : ""));
  } else if (of_live && !is_quiet_ && std::ranges::count(seen_, header.recording_id, &Seen::id) == 1) {
    const std::string& first = std::ranges::find(seen_, header.recording_id, &Seen::id)->name;
    PrintError(
        fmt::format("{} parts of one recording; objects live in several are counted in each; join the parts with "
                    "heaprec merge first",
                    first == name ? name + " has" : first + " and " + name + " are"));
  }
  seen_.push_back(seen);
}

void RecordingScan::AddCpu(const std::optional<CpuSeconds>& cpu) {
  has_unknown_cpu_ |= !cpu;
  if (has_unknown_cpu_) return cpu_.reset();
  if (!cpu_) cpu_.emplace();
  cpu_->process += cpu->process;
  cpu_->collector += cpu->collector;
}

const char* RecordingScan::share_of() const {
  if (filter_.chooses_all()) return "all";
  if (options_.shares == ScanOptions::ShareOf::kSelection) return "selection";
  return options_.shares == ScanOptions::ShareOf::kSpan ? "span" : "all";
}

FileScan::FileScan(const std::string& path, std::vector<std::string> kinds)
    : scan_([&] {
        ScanOptions options;
        options.files = {path};
        options.filter.kinds = std::move(kinds);
        return std::move(*RecordingScan::Parse(options));  // cannot fail, because there are no filters
      }()) {
  scan_.SuppressMessages();
}

void RecordingScan::PrintTrust() const {
  if (!summary_.TrustVerdict().empty())
    PrintError(options_.files.front() + ": trustworthy: " + summary_.TrustVerdict());
}

}  // namespace heaprec::tools
