#include "tools/fleet/answers/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "format/bytes/layout.h"
#include "format/writer/chunk_writer.h"
#include "tools/fleet/answers/answers.h"
#include "tools/fleet/rows/slices.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/stream_traits.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools::fleet {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kRowsOfBlock = 16'384;
constexpr uint64_t kChunkBytes = 8 << 20;

// "char[]" as HotSpot has it: "[C".
std::string HotSpotClass(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 8> kPrimitives{{{"boolean", 'Z'},
                                                                          {"byte", 'B'},
                                                                          {"char", 'C'},
                                                                          {"short", 'S'},
                                                                          {"int", 'I'},
                                                                          {"long", 'J'},
                                                                          {"float", 'F'},
                                                                          {"double", 'D'}}};
  std::string dimensions;
  for (; name.ends_with("[]"); name.remove_suffix(2)) dimensions += '[';
  std::string plain(name);
  std::ranges::replace(plain, '.', '/');
  if (dimensions.empty()) return plain;
  for (const auto& [word, letter] : kPrimitives) {
    if (name == word) return dimensions + letter;
  }
  return dimensions + 'L' + plain + ';';
}

struct Named {
  Source::Names classes, methods;
  Source::Stacks stacks;
};

// Gets the stacks of samples, and all names.
Result<Named> NamesFor(Source* source, const std::vector<FleetSample>& samples) {
  std::vector<uint64_t> ids;
  for (const FleetSample& one : samples) ids.push_back(one.sample.stack);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  ASSIGN_OR_RETURN(auto stacks, source->StacksOf(ids));
  ASSIGN_OR_RETURN(auto classes, source->NamesOf(NameKind::kClass, std::nullopt));
  ASSIGN_OR_RETURN(auto methods, source->NamesOf(NameKind::kMethod, std::nullopt));
  return Named{std::move(classes), std::move(methods), std::move(stacks)};
}

// Represents a host as a thread: its name, and its labels.
format::Thread ThreadOf(const RecordingInfo& info, uint64_t number) {
  format::Thread thread{.java_tid = number, .os_tid = 0, .is_virtual = false, .name = info.host};
  const auto add = [&](std::string_view key, std::string value) {
    std::ranges::replace(value, '\0', ' ');
    if (!value.empty()) thread.name += fmt::format("{}{}={}", '\0', key, value);
  };
  std::ranges::replace(thread.name, '\0', ' ');
  add("service", info.service);
  add("version", info.version);
  add("environment", info.environment);
  return thread;
}

class PulledWriter {
 public:
  PulledWriter(const format::FileHeader& header, const Named& names, Output* output)
      : header_(header), names_(names), output_(*output) {
    output_.Append(format::EncodeFileHeader(header_));
    StartChunk();
  }

  Result<bool> Add(const ThinnedSample& one, const format::Thread& thread) {
    format::Sample sample;
    sample.id = ++counters_[format::Stream::kAllocations].written;
    sample.time_ns = one.time_ns - header_.start_epoch_ns;
    sample.thread = chunk_->InternThread(thread);
    sample.class_id = ClassOf(one.class_id);
    sample.stack = StackOf(one.stack);
    sample.size = one.size;
    sample.weight = one.weight;
    chunk_->Add(sample);
    end_ns_ = std::max(end_ns_, sample.time_ns);
    if (++pending_ < kRowsOfBlock) return true;
    pending_ = 0;
    if (chunk_->raw_bytes() < kChunkBytes) return Write(chunk_->Flush(Counters(), {}, end_ns_));
    auto written = Write(chunk_->Finish(Counters(), {}, end_ns_, nullptr));
    StartChunk();
    return written;
  }

  Result<bool> End(uint64_t end_ns) {
    const format::EndMarker ending{std::max(end_ns, end_ns_), "pull"};
    return Write(chunk_->Finish(Counters(), {}, ending.time_ns, &ending));
  }

 private:
  void StartChunk() {
    chunk_ = std::make_unique<format::ChunkWriter>(header_, next_chunk_++);
    classes_.clear(), methods_.clear(), stacks_.clear();
  }

  format::Index ClassOf(uint64_t id) {
    const auto [at, is_new] = classes_.try_emplace(id, format::kNone);
    if (!is_new) return at->second;
    const auto found = names_.classes.find(id);
    if (found != names_.classes.end()) at->second = chunk_->InternClass(HotSpotClass(found->second));
    return at->second;
  }

  format::StackFrame FrameOf(uint64_t method) {
    const auto [at, is_new] = methods_.try_emplace(method);
    if (!is_new) return at->second;
    const auto found = names_.methods.find(method);
    if (found == names_.methods.end() || found->second == kUnknown) return at->second;
    if (found->second == kTruncated) {
      at->second.line = format::kGapLine;
      return at->second;
    }
    const std::string& name = found->second;
    const size_t dot = name.rfind('.');
    at->second.method = dot == std::string::npos
                            ? chunk_->InternMethod("", name, "")
                            : chunk_->InternMethod(HotSpotClass(name.substr(0, dot)), name.substr(dot + 1), "");
    return at->second;
  }

  format::Index StackOf(uint64_t id) {
    const auto [at, is_new] = stacks_.try_emplace(id, format::kNone);
    const auto found = names_.stacks.find(id);
    if (!is_new || found == names_.stacks.end()) return at->second;
    std::vector<format::StackFrame> frames;
    for (const uint64_t method : found->second) frames.push_back(FrameOf(method));
    return at->second = chunk_->InternStack(frames, false);
  }

  const format::PerStream<format::StreamCounters>& Counters() {
    format::StreamCounters& counters = counters_[format::Stream::kAllocations];
    counters.points = counters.committed = counters.written;
    return counters_;
  }
  Result<bool> Write(const Result<format::ByteBuffer>& bytes) {
    if (!bytes.ok()) return bytes.error();
    output_.Append(*bytes);
    return true;
  }

  const format::FileHeader& header_;
  const Named& names_;
  Output& output_;
  std::unique_ptr<format::ChunkWriter> chunk_;
  std::unordered_map<uint64_t, format::Index> classes_, stacks_;
  std::unordered_map<uint64_t, format::StackFrame> methods_;
  uint32_t next_chunk_ = 0;
  uint64_t pending_ = 0, end_ns_ = 0;
  format::PerStream<format::StreamCounters> counters_;
};

format::FileHeader HeaderOf(const Selection& selection, const Scope& scope, const std::vector<FleetSample>& samples) {
  format::FileHeader header;
  header.start_epoch_ns = scope.from * kSecondNs;
  for (const FleetSample& one : samples) header.start_epoch_ns = std::min(header.start_epoch_ns, one.sample.time_ns);
  header.interval_ns = kSecondNs;
  header.jvm_name = "fleet";
  header.jvm_version = fmt::format("{} hosts", scope.hosts);
  header.source = kImportedOwn;
  header.source_reason = fmt::format("heaprec fleet: {} of {}; a thread is a host", CountOf(samples.size(), "sample"),
                                     CountOf(scope.recordings, "recording"));
  if (scope.untrustworthy > 0) {
    header.Note(format::SourceFact::kOriginalDoubted);
    header.source_reason += fmt::format("; {}{} of its recordings", kWasDoubted, scope.untrustworthy);
  }
  // The same query gives the same recording.
  std::vector<uint64_t> facts = selection.ids();
  facts.insert(facts.end(), {selection.range.from, selection.range.to, samples.size()});
  const uint64_t id[2] = {format::Hash(std::as_bytes(std::span(facts))), facts.size()};
  std::ranges::copy(std::as_bytes(std::span(id)), reinterpret_cast<std::byte*>(header.recording_id.data()));
  return header;
}

}  // namespace

Result<Pulled> Pull(Source* source, const Selection& selection, uint64_t most, Output* output) {
  ASSIGN_OR_RETURN(auto samples, source->Samples({.range = selection.range,
                                                  .recordings = FleetEstimator(selection.totals).scales(),
                                                  .filter = selection.filter,
                                                  .most = most}));
  if (samples.empty()) return Error{"no matching samples: they were shipped with --samples 0, or pruned"};
  std::ranges::sort(
      samples, {}, [](const FleetSample& one) { return std::tuple(one.sample.time_ns, one.recording, one.sample.id); });
  ASSIGN_OR_RETURN(auto names, NamesFor(source, samples));
  const Scope scope = ScopeOf(selection);
  const format::FileHeader header = HeaderOf(selection, scope, samples);
  std::map<uint64_t, format::Thread> threads;
  for (const RecordingInfo& info : selection.recordings) threads.emplace(info.id, ThreadOf(info, threads.size() + 1));
  PulledWriter writer(header, names, output);
  for (const FleetSample& one : samples) {
    RETURN_IF_ERROR(writer.Add(one.sample, threads[one.recording]));
  }
  const uint64_t end_ns = scope.to * kSecondNs;
  RETURN_IF_ERROR(writer.End(end_ns > header.start_epoch_ns ? end_ns - header.start_epoch_ns : 0));
  return Pulled{.samples = samples.size(), .hosts = scope.hosts, .recordings = scope.recordings};
}

void PullOptions::AddTo(Command& command) {
  command.AddOption("-o,--output", file, "pull, flame, report: file to write").Value("FILE");
  command.AddFlag("-f,--force", force, "Overwrite the output file if it exists");
  command
      .AddOption("--samples", samples, "pull, flame, report: approximate maximum number of samples (default: 300000)")
      .Value("N")
      .Positive();
}

ExitCode PullTo(Source* source, const Selection& selection, const PullOptions& options, bool says_what) {
  auto file = OutputFile::Open(options.file, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  auto pulled = Pull(source, selection, options.samples, &(*file)->output());
  if (!pulled.ok()) return Fail(ExitCode::kUnreadable, pulled.error().message);
  if (const auto failed = (*file)->Finish()) return *failed;
  if (says_what && options.file != "-") {
    PrintError(
        fmt::format("{}: {} of {}", options.file, CountOf(pulled->samples, "sample"), CountOf(pulled->hosts, "host")));
  }
  return ExitCode::kOk;
}

}  // namespace heaprec::tools::fleet
