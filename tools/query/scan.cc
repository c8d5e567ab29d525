#include "tools/query/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/analysis/estimate/prepared_samples.h"
#include "tools/input/loss_summary.h"
#include "tools/input/prepared.h"
#include "tools/input/program_recording.h"
#include "tools/query/census_strata.h"
#include "tools/query/stream_trust.h"
#include "tools/text/messages.h"
#include "tools/text/progress.h"

namespace heaprec::tools {
namespace {

using format::Stream;

// What passes the filters.
struct Passed {
  std::vector<const Drawn*> now;  // of the block at hand
  std::vector<const format::Survivor*> survivors;
  uint64_t samples = 0;
  Subset all;
  std::optional<Subset> span;  // if asked for: what passes those of time

  void Take(const format::Block& block, std::span<const Drawn> drawn, Filter* filter) {
    now.clear();
    for (const Drawn& one : drawn) {
      if (span && filter->KeepsTime(block.samples[one.index].time_ns)) span->Add(one);
      if (filter != nullptr && !filter->Keeps(block.samples[one.index])) continue;
      now.push_back(&one);
      if (filter != nullptr) all.Add(one);
    }
    samples += now.size();
    survivors.clear();
    for (const format::Survivor& one : block.survivors) {
      if (filter == nullptr || filter->Keeps(one.sample)) survivors.push_back(&one);
    }
  }
};

// How samples were drawn is found out where they are decoded.
struct Drafted : Prepared {
  Draft draft;
  std::vector<uint64_t> method_keys;
};
class Drafting : public Preparer {
 public:
  Drafting(const format::FileHeader& header, Stream stream, Grain finest) : drafter_(header, stream, finest) {}
  std::unique_ptr<Prepared> Of(const format::Block& block) override {
    auto drafted = std::make_unique<Drafted>();
    drafter_.Make(block, &drafted->draft);
    drafted->method_keys = drafter_.method_keys();
    return drafted;
  }

 private:
  Drafter drafter_;
};

}  // namespace

void SurveyOptions::AddTo(Command& command) {
  command.AddOption("REC", files, "Recordings to add together; - reads standard input").Required();
  command.AddFlag("--lines", lines, "Distinguish the lines of a method");
  command.AddFlag("--no-census", no_census, "Ignore the census; estimate from samples only");
  filter.AddChoiceTo(command);
  filter.AddStackChoiceTo(command);
}

format::Result<Survey> Survey::Parse(const SurveyOptions& options) {
  auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return filter.error();
  const auto taken =
      std::ranges::count_if(format::kAllStreams, [&](Stream stream) { return filter->TakesAny(stream); });
  if (taken > 1 && filter->TakesAny(Stream::kExceptions)) {
    return format::Error{"--kind exception counts throws, other kinds count bytes; use one per command"};
  }
  if (taken > 1) {
    const char* const which = filter->TakesAny(Stream::kNative) ? "native" : "mapped";
    return format::Error{fmt::format("--kind {} is sampled separately from the heap; use one per command", which)};
  }
  if (std::count(options.files.begin(), options.files.end(), "-") > 1) {
    return format::Error{"-: standard input can be read only once"};
  }
  return Survey(options, std::move(*filter));
}

Survey::Survey(const SurveyOptions& options, Filter filter) : options_(options), filter_(std::move(filter)) {
  for (const Stream stream : {Stream::kExceptions, Stream::kNative, Stream::kMapped}) {
    if (filter_.TakesAny(stream)) stream_ = stream;
  }
}

CallTree::Options Survey::TreeOptions() const {
  CallTree::Options options{.lines = options_.lines, .fold = options_.fold};
  if (const auto& hide = filter_.hide()) {
    options.hides = [hide = *hide](std::string_view method) { return hide.Matches(method); };
  }
  return options;
}

ExitCode Survey::Run(CallTree* tree, Surveyor* surveyor) {
  ExitCode code = ExitCode::kOk;
  for (const std::string& path : options_.files) {
    const ExitCode one = ReadFile(path, tree, surveyor);
    if (one == ExitCode::kUnreadable) return one;
    if (one != ExitCode::kOk) code = one;
  }
  return code;
}

ExitCode Survey::ReadFile(const std::string& path, CallTree* tree, Surveyor* surveyor) {
  auto recordings = Recording::OpenAll(path);
  if (!recordings.ok()) {
    Complain(recordings.error().message);
    return ExitCode::kUnreadable;
  }
  ExitCode code = ExitCode::kOk;
  for (const auto& recording : *recordings) {
    const ExitCode one = Read(recording.get(), tree, surveyor);
    if (one == ExitCode::kUnreadable) return one;
    if (one != ExitCode::kOk) code = one;
  }
  return code;
}

ExitCode Survey::Read(Recording* recording, CallTree* tree, Surveyor* surveyor) {
  if (stream_ == Stream::kAllocations && MainStream(recording->header()) != stream_) {
    Complain(recording->source().name() + kNoHeap);
    return ExitCode::kUnreadable;
  }
  const Grain finest = std::max(surveyor->finest(), filter_.chosen_by().value_or(Grain::kClass));
  Design design(recording->header(), stream_, finest);
  const bool asks = !options_.no_census && stream_ == Stream::kAllocations && surveyor->estimates();
  const ByCensus census = asks ? StrataOf(*recording) : ByCensus();
  design.SetStrata(census.strata);
  const bool is_plain = census.strata.count() == 0;
  StreamTrust trust(recording->header(), stream_, is_plain);
  recording->Prepare([header = recording->header(), stream = stream_, finest] {
    return std::make_unique<Drafting>(header, stream, finest);
  });
  Names names;
  Filter filter = filter_;
  filter.Start(recording->header());
  // Of the stream that is looked at the design has all, and no more.
  Filter* const sieve = filter.chosen_by() ? &filter : nullptr;
  tree->Start();
  surveyor->Begin(recording->header(), filter.chosen_by());
  const Grain chosen_by = filter.chosen_by().value_or(Grain::kThread);
  Passed passed{.now = {}, .survivors = {}, .all = Subset(chosen_by), .span = {}};
  if (options_.shares_of_span && sieve != nullptr) passed.span.emplace();
  Progress progress(recording->source().name(), recording->source().size());
  uint64_t last_ns = 0;
  std::unique_ptr<Prepared> prepared;  // of the block at hand
  while (const auto block = recording->Next()) {
    prepared = recording->TakePrepared();
    auto* const drafted = static_cast<Drafted*>(prepared.get());
    names.Enter(*block);
    filter.Enter(*block, &names);
    tree->Enter(*block, &names,
                drafted != nullptr ? std::span<const uint64_t>(drafted->method_keys) : std::span<const uint64_t>());
    passed.Take(*block, drafted != nullptr ? design.Add(*block, std::move(drafted->draft)) : design.Add(*block), sieve);
    last_ns = std::max(last_ns, block->end_ns);
    trust.Add(*block);
    surveyor->See({*block, passed.now, passed.survivors, names, *tree, design});
    progress.At(recording->bytes_read());
  }
  const format::Books& books = recording->books(stream_);
  if (of_exceptions()) design.SetCounted(books.candidates);
  design.CountUnwritten(books);
  const double seconds = Seconds(*recording, filter, last_ns);
  const Estimator estimator(design, books, Weights::kCalibrated, passed.span ? &*passed.span : nullptr);
  surveyor->End(estimator, seconds);
  Conclude(sieve != nullptr ? passed.all : design.all(), chosen_by, estimator);
  coverage_.Note(*recording, seconds, passed.samples, census, trust.Reasons(*recording, is_plain ? &design : nullptr));
  if (is_quiet_) return recording->damaged() ? ExitCode::kDamaged : ExitCode::kOk;
  return ReportDamage(*recording);
}

void Survey::Conclude(const Subset& chosen, Grain chosen_by, const Estimator& estimator) {
  const double whole = estimator.Whole();
  chosen_ = Sum(chosen_, whole_, FiguresOf(chosen, estimator), whole);
  unseen_ = Sum(unseen_, whole_, FiguresOf(Subset(chosen_by), estimator), whole);
  whole_ += whole;
  total_ = Sum(total_, estimator.Total());
}

// Of what is in the file: maxsize, maxage and rotation leave its front to others.
double Survey::Seconds(const Recording& recording, const Filter& filter, uint64_t last_ns) const {
  const format::FileHeader& header = recording.header();
  const Stream stream = MainStream(header);
  const uint64_t begin_ns = header.start.next_interval[stream] * header.CapOf(stream).interval_ns;
  const uint64_t end_ns = recording.ending() ? recording.ending()->time_ns : last_ns;
  const auto [from_ns, to_ns] = filter.Span(begin_ns, end_ns);
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

void Survey::SayDoubt() const {
  if (!coverage_.Doubt().empty()) Complain(options_.files.front() + ": trustworthy: " + coverage_.Doubt());
}

}  // namespace heaprec::tools
