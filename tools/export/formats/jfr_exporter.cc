// Recordings as a JFR file, for jfr, JDK Mission Control and jdk.jfr.consumer.
//
// docs/guide/export-import-sql.md#export describes the mapping.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tools/export/exporter.h"
#include "tools/export/formats/jfr_constant_pools.h"
#include "tools/export/formats/jfr_schema.h"
#include "tools/export/live_samples.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using jfr::Sink;
using jfr::TypeId;

constexpr auto kUnknownLong = static_cast<uint64_t>(std::numeric_limits<int64_t>::min());  // jfr print: N/A
constexpr size_t kChunkBytes = 4 << 20;  // a chunk is in memory until it is written
constexpr uint64_t kNsPerMs = 1'000'000;

// JFR stores weights as whole bytes. The limit is for damaged recordings, which may contain any value.
uint64_t WholeBytes(double weight) {
  constexpr double kMax = 0x1p62;
  return weight > 0 ? static_cast<uint64_t>(std::llround(std::min(weight, kMax))) : 0;
}

constexpr size_t kHeaderBytes = 68;
constexpr uint64_t kTicksPerSecond = 1'000'000'000;
constexpr uint32_t kCompressedIntegers = 1;

// One chunk of a JFR file: a header, the metadata, the events, then their constants. Times are in ns since the start of
// the recording, the chunk's ticks. All of it is in memory until it is written, because its header contains later
// positions, and a pipe cannot seek.
class Chunk {
 public:
  jfr::ConstantPools& constants() { return constants_; }
  // Calls `append_fields(Sink)` for the fields after the time.
  template <typename Fields>
  void AddEvent(TypeId type, uint64_t time_ns, const Fields& append_fields) {
    rest_.clear();
    Sink sink(&rest_);
    sink.Long(static_cast<uint64_t>(type));
    sink.Long(time_ns);
    append_fields(sink);
    jfr::AppendSized(rest_, &events_);
  }
  size_t bytes() const { return events_.size() + constants_.bytes(); }

  // Writes the chunk, from `begin_ns` to `end_ns`, and empties it. `start_epoch_ns`: start of the recording.
  void Write(uint64_t start_epoch_ns, uint64_t begin_ns, uint64_t end_ns, Output* output) {
    std::string pools;
    constants_.AppendEvent(end_ns, &pools);
    const std::string& metadata = jfr::MetadataEvent();
    const uint64_t pools_at = kHeaderBytes + metadata.size() + events_.size();
    std::string header("FLR\0", 4);
    Sink sink(&header);
    sink.Fixed<uint16_t>(2);  // version 2.1
    sink.Fixed<uint16_t>(1);
    sink.Fixed<uint64_t>(pools_at + pools.size());
    sink.Fixed<uint64_t>(pools_at);
    sink.Fixed<uint64_t>(kHeaderBytes);  // position of the metadata
    sink.Fixed<uint64_t>(start_epoch_ns + begin_ns);
    sink.Fixed<uint64_t>(end_ns - begin_ns);
    sink.Fixed<uint64_t>(begin_ns);  // in ticks
    sink.Fixed<uint64_t>(kTicksPerSecond);
    sink.Fixed<uint32_t>(kCompressedIntegers);  // and: the chunk is complete
    for (const std::string* part :
         {static_cast<const std::string*>(&header), &metadata, static_cast<const std::string*>(&events_),
          static_cast<const std::string*>(&pools)}) {
      output->Append(*part);
      output->Tick();
    }
    events_.clear();
    constants_.Clear();
  }

 private:
  jfr::ConstantPools constants_;
  std::string events_, rest_;
};

class JfrExporter final : public Exporter {
 public:
  JfrExporter(const ExportSettings& settings, Output* output)
      : at_(settings.live_at), survived_(settings.live_survived), weights_(WeightsName(settings)), output_(*output) {}

  void Begin(const Recording& recording) override {
    const format::FileHeader& header = recording.header();
    start_epoch_ns_ = header.start_epoch_ns;
    begin_ns_ = end_ns_ = header.start.begin_ns;
    alive_.Begin(header);
    heap_after_.clear();
    AddFacts(header);
  }

  void Add(const FilteredBlock& filtered) override {
    chunk_.constants().Enter(filtered.block);
    for (const format::Sample* sample : filtered.samples) {
      end_ns_ = std::max(end_ns_, sample->time_ns);
      // JFR has no such events.
      if (!TraitsOf(sample->stream()).is_in_jfr) continue;
      const Calibration::Weight weight = filtered.calibration.WeightOf(*sample);
      sample->stream() == format::Stream::kAllocations ? AddAllocation(*sample, weight.bytes)
                                                       : AddException(*sample, weight.objects);
      if (chunk_.bytes() < kChunkBytes) continue;
      Write();
      chunk_.constants().Enter(filtered.block);
    }
    end_ns_ = std::max(end_ns_, filtered.block.end_ns);
    alive_.Add(filtered);
    for (const format::ProcessState& state : filtered.block.states) {
      if (state.kind == format::ProcessStateKind::kGcEnd) heap_after_.emplace_back(state.time_ns, state.used);
    }
  }

  void AddDoubt(const std::string& reason) override {
    chunk_.AddEvent(TypeId::kHeaprecDoubt, end_ns_, [&](Sink sink) { sink.String(ToUtf8(reason)); });
  }

  void End(const Recording& recording, AskedRange asked) override {
    const auto [begin_ns, end_ns] = SpanOf(recording, end_ns_);
    alive_.End(end_ns, MomentOf(at_, recording.header().start_epoch_ns, end_ns), survived_);
    std::ranges::sort(heap_after_);
    chunk_.constants().Enter(alive_.block());
    for (size_t i = 0; i < alive_.details().size(); ++i) {
      AddAlive(alive_.block().samples[i], alive_.details()[i]);
      if (chunk_.bytes() < kChunkBytes) continue;
      Write();
      chunk_.constants().Enter(alive_.block());
    }
    // Counted only for the whole time.
    if (CountsExceptions(recording.header()) && asked.first <= begin_ns && asked.second >= end_ns) {
      AddThrown(end_ns, recording.counters(format::Stream::kExceptions).candidates);
    }
    Write();
  }

 private:
  static bool CountsExceptions(const format::FileHeader& header) { return header.exceptions.interval_ns > 0; }

  void AddFacts(const format::FileHeader& header) {
    chunk_.AddEvent(TypeId::kHeaprecRecording, begin_ns_, [&](Sink sink) {
      sink.String(IdText(header));
      for (const std::string* text :
           {&header.agent_version, &header.agent_options, &header.source, &header.source_reason}) {
        sink.String(ToUtf8(*text));
      }
      sink.String(weights_);
    });
    chunk_.AddEvent(TypeId::kJvmInformation, begin_ns_, [&](Sink sink) {
      sink.String(ToUtf8(header.jvm_name));
      sink.String(ToUtf8(header.jvm_version));
      for (int arguments = 0; arguments < 3; ++arguments) sink.String({});  // never recorded
      sink.Long(header.start_epoch_ns / kNsPerMs);
      sink.Long(header.pid);
    });
    chunk_.AddEvent(TypeId::kActiveRecording, begin_ns_, [&](Sink sink) {
      sink.Long(1);
      sink.String("heaprec");
      sink.String({});      // destination
      sink.Boolean(false);  // disk
      sink.Long(0);         // maxAge
      sink.Long(0);         // flushInterval
      sink.Long(0);         // maxSize
      sink.Long(header.start_epoch_ns / kNsPerMs);
      sink.Long(header.duration_ns / kNsPerMs);
    });
    if (CountsExceptions(header)) AddThrown(begin_ns_, 0);
  }

  // The JDK writes such events repeatedly, and tools show the difference.
  void AddThrown(uint64_t time_ns, uint64_t since_start) {
    chunk_.AddEvent(TypeId::kExceptionStatistics, time_ns, [&](Sink sink) { sink.Long(since_start); });
  }

  // Fields that the JDK's own event lacks are in a separate event before it, because some readers expect the next event
  // right after its last field.
  void AddAllocation(const format::Sample& sample, double weight_bytes) {
    const auto add = [&](TypeId type, double weight, const auto& append_rest) {
      jfr::ConstantPools& constants = chunk_.constants();
      chunk_.AddEvent(type, sample.time_ns, [&](Sink sink) {
        sink.Long(constants.Thread(sample.thread));
        sink.Long(constants.Stack(sample.stack));
        sink.Long(constants.Class(sample.class_id));
        sink.Long(WholeBytes(weight));
        append_rest(sink);
      });
    };
    add(TypeId::kHeaprecSample, sample.weight_bytes(), [&](Sink sink) {
      sink.Long(sample.size);
      sink.Long(sample.tlab_size);
      sink.Long(chunk_.constants().Labels(sample.thread));
    });
    add(TypeId::kAllocationSample, weight_bytes, [](Sink) {});
  }

  // The JDK also writes these at the end of a recording, with what holds the object.
  void AddAlive(const format::Sample& sample, const LiveDetail& detail) {
    jfr::ConstantPools& constants = chunk_.constants();
    chunk_.AddEvent(TypeId::kOldObjectSample, detail.at_ns, [&](Sink sink) {
      sink.Long(0);  // duration
      sink.Long(constants.Thread(sample.thread));
      sink.Long(constants.Stack(sample.stack));
      sink.Long(sample.time_ns);
      sink.Long(sample.size);
      sink.Long(detail.age_ns);
      sink.Long(HeapAfterCollectionBefore(sample.time_ns));
      sink.Long(constants.Object(sample.class_id, detail.path));
      sink.Int(std::numeric_limits<int32_t>::min());  // arrayElements: unknown
      sink.Long(constants.Root(detail.path, detail.path_thread));
      sink.Long(sample.weight_bytes() > 0 ? WholeBytes(sample.weight_bytes()) : kUnknownLong);
      sink.Long(detail.survived.value_or(kUnknownLong));
      sink.Long(constants.Labels(sample.thread));
    });
  }

  // Returns 0 if there was no collection.
  uint64_t HeapAfterCollectionBefore(uint64_t time_ns) const {
    const auto behind = std::ranges::upper_bound(heap_after_, std::pair(time_ns, UINT64_MAX));
    return behind == heap_after_.begin() ? 0 : std::prev(behind)->second;
  }

  void AddException(const format::Sample& sample, double throws) {
    jfr::ConstantPools& constants = chunk_.constants();
    chunk_.AddEvent(TypeId::kExceptionThrow, sample.time_ns, [&](Sink sink) {
      sink.Long(constants.Thread(sample.thread));
      sink.Long(constants.Stack(sample.stack));
      sink.String({});  // message: never recorded
      sink.Long(constants.Class(sample.class_id));
      sink.Double(throws);
      sink.Long(constants.Labels(sample.thread));
    });
  }

  // Chunks follow each other without gaps: their durations add up to the recording's.
  void Write() {
    chunk_.Write(start_epoch_ns_, begin_ns_, end_ns_, &output_);
    begin_ns_ = end_ns_;
  }

  const std::optional<TimePoint> at_;
  const uint64_t survived_;
  const std::string_view weights_;
  Output& output_;
  Chunk chunk_;
  LiveSamples alive_;
  std::vector<std::pair<uint64_t, uint64_t>> heap_after_;  // times of collections, and bytes used then
  uint64_t start_epoch_ns_ = 0, begin_ns_ = 0, end_ns_ = 0;
};

}  // namespace

std::unique_ptr<Exporter> MakeJfr(const ExportSettings& settings, Output* output) {
  return std::make_unique<JfrExporter>(settings, output);
}

}  // namespace heaprec::tools
