#include "tests/crash/killed_process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "base/time.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/writer/drain.h"
#include "tests/crash/jvm_link_seams.h"
#include "tests/crash/points.h"
#include "throttle/random.h"

namespace heaprec::crash {
namespace {

constexpr int kStackDepth = 32;

void Pause(uint64_t ns) {
  if (ns == 0) return;
  const timespec pause{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  nanosleep(&pause, nullptr);
}

format::RecordingId IdOf(uint64_t seed) {
  format::RecordingId id{};
  for (size_t i = 0; i < id.size(); i += 8) {
    const uint64_t word = throttle::Mix64(seed + i);
    std::memcpy(id.data() + i, &word, sizeof(word));
  }
  return id;
}

throttle::ControllerConfig ConfigOf(const Plan& plan) {
  throttle::ControllerConfig config;
  config.interval_ns = plan.interval_ns;
  config.cap = plan.cap;
  return config;
}

// As recorder/agent/recording.cc puts a recording together.
// From now on; what is mapped already is as it was.
void BoundFiles(uint64_t bytes) {
  signal(SIGXFSZ, SIG_IGN);  // the write fails instead
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) std::abort();
}

class Recording {
 public:
  Recording(const Plan& plan, Witness* witness)
      : plan_(plan),
        witness_(*witness),
        start_ns_(MonotonicNs()),
        ring_(MakeRing()),
        shared_counters_(ring_->header().counters),
        board_(ConfigOf(plan), start_ns_),
        capture_(std::make_unique<sources::SampleWriter>(*ring_, shared_counters_, board_, names_, nullptr, fields_,
                                                         kStackDepth)),
        drain_(*ring_, MakeStore(), {.header = Header(), .block_ns = plan.block_ns, .buffered_per_interval = {}},
               Callbacks()) {
    capture_->CommitWindow(board_.first(), 0);
  }

  void Run() {
    if (plan_.disk_bytes > 0) BoundFiles(plan_.disk_bytes);
    std::vector<std::thread> writers;
    for (uint32_t i = 0; i < plan_.threads; ++i) writers.emplace_back([this, i] { Allocate(i); });
    if (!drain_.Start().ok()) std::abort();
    if (plan_.stop_after_ns > 0) {
      Pause(plan_.stop_after_ns);
      drain_.RequestStop("test");
    }
    while (!drain_.Wait(1'000'000'000)) {
    }
    while (!drain_.TryJoin()) Pause(1'000'000);
    for (std::thread& writer : writers) writer.join();
  }

 private:
  std::unique_ptr<buffer::Ring> MakeRing() const {
    buffer::RingOptions options;
    options.path = plan_.folder + "/victim.ring";
    options.recording_id = IdOf(plan_.seed);
    options.start_epoch_ns = EpochNs();
    options.start_monotonic_ns = start_ns_;
    options.caps[format::Stream::kAllocations] = {plan_.interval_ns, plan_.cap};
    options.lane_count = plan_.lanes;
    options.lane_bytes = plan_.lane_bytes;
    return std::move(buffer::Ring::Create(options).value());
  }

  format::FileHeader Header() const {
    format::FileHeader header;
    header.recording_id = IdOf(plan_.seed);
    header.start_epoch_ns = ring_->header().start_epoch_ns;
    header.start_monotonic_ns = start_ns_;
    header.interval_ns = plan_.interval_ns;
    header.interval_cap = plan_.cap;
    header.pid = static_cast<uint32_t>(getpid());
    header.ring_path = ring_->path();
    return header;
  }

  writer::Store MakeStore() const {
    auto store = writer::Store::Create({plan_.folder + "/rec.hrec", Header(), plan_.limits, plan_.sync});
    return std::move(store.value());
  }

  writer::DrainCallbacks Callbacks() {
    writer::DrainCallbacks callbacks;
    callbacks.now = [] { return MonotonicNs(); };
    callbacks.on_tick = [this](uint64_t now_ns) {
      const uint64_t bytes = bytes_.load(std::memory_order_relaxed);
      shared_counters_.SetPopulation(objects_.load(std::memory_order_relaxed), bytes);
      if (const auto window = board_.Tick(now_ns, bytes)) capture_->CommitWindow(*window, 0);
    };
    callbacks.on_new_chunk = [this] { capture_->NewEpoch(); };
    callbacks.on_stack = [this](const format::StackKey& key) { capture_->MarkStackEmitted(key); };
    callbacks.on_stop = [this] { is_stopped_ = true; };
    return callbacks;
  }

  void Allocate(uint32_t thread) {
    for (uint32_t number = 0; number < kMaxObjects && !is_stopped_.load(std::memory_order_relaxed); ++number) {
      const Object object{thread, number};
      std::atomic<LifecycleEvent>& lifecycle = witness_.lifecycle_events[thread][number];
      lifecycle.store(LifecycleEvent::kUnderWay, std::memory_order_release);
      const uint64_t before = samples_committed;
      sources::Point point;
      point.kind = format::Kind::kOutside;
      point.size = object.Size();
      point.weight = object.Weight();
      point.tally = {point.weight, point.weight, 1};
      point.window = board_.window();
      objects_.fetch_add(1, std::memory_order_relaxed);
      bytes_.fetch_add(static_cast<uint64_t>(point.weight), std::memory_order_relaxed);
      shared_counters_.Point();
      capture_->Commit(ContextOf(object), point);
      lifecycle.store(samples_committed > before ? LifecycleEvent::kCommitted : LifecycleEvent::kRefused,
                      std::memory_order_release);
      Pause(plan_.pause_ns);
    }
  }

  const Plan plan_;
  Witness& witness_;
  const uint64_t start_ns_;
  std::unique_ptr<buffer::Ring> ring_;
  buffer::SharedCounters shared_counters_;
  sources::WindowPublisher board_;
  const hotspot::Names names_;
  const sources::ThreadFields fields_;
  std::unique_ptr<sources::SampleWriter> capture_;
  std::atomic<uint64_t> objects_{0}, bytes_{0};
  std::atomic<bool> is_stopped_{false};
  writer::Drain drain_;
};

}  // namespace

void UnmapWitness::operator()(Witness* witness) const { munmap(witness, sizeof(Witness)); }

std::unique_ptr<Witness, UnmapWitness> MakeWitness() {
  void* const memory = mmap(nullptr, sizeof(Witness), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  static_assert(std::is_trivially_destructible_v<Witness> && static_cast<int>(LifecycleEvent::kNone) == 0);
  return std::unique_ptr<Witness, UnmapWitness>(static_cast<Witness*>(memory));
}

void Record(const Plan& plan, Witness* witness) { std::make_unique<Recording>(plan, witness)->Run(); }

}  // namespace heaprec::crash
