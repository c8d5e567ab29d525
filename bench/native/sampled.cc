// What sampling costs a pair of free and malloc: with hooks and without, in turn, in one process.
// Usage: sampled LIBRARY LIVE PAIRS [ROUNDS] [RATE]; ns per pair, the median of the rounds of each and of their
// differences.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "base/time.h"
#include "format/ring/ring_reader.h"
#include "recorder/agent/options/rates.h"
#include "recorder/sources/native/native_stream.h"

namespace {

using heaprec::MonotonicNs;
using RunPairs = void (*)(void** blocks, long count, long pairs);

double Median(std::vector<double> of) {
  std::ranges::nth_element(of, of.begin() + static_cast<long>(of.size() / 2));
  return of[of.size() / 2];
}

// What the drain does with points.
struct Namer final : heaprec::format::RecordVisitor {
  explicit Namer(heaprec::sources::NativeStream* stream) { stream->Connect(&callbacks); }
  void OnNativePoint(const heaprec::format::NativePointRecord* record, std::span<const uint64_t> pcs,
                     std::span<const heaprec::format::RingFrame> java) override {
    callbacks.on_native_point(*record, pcs, java);
  }
  void OnClass(uint64_t, std::string_view) override {}
  void OnMethod(uint64_t, std::string_view, std::string_view, std::string_view) override {}
  void OnStack(heaprec::format::StackKey, std::span<const heaprec::format::RingFrame>, bool, uint32_t,
               uint64_t) override {}
  void OnThread(uint64_t, const heaprec::format::ThreadRecord&, std::string_view) override {}
  void OnWindow(const heaprec::format::WindowRecord&) override {}
  void OnSample(const heaprec::format::SampleRecord&, uint32_t, uint64_t, uint64_t) override {}
  heaprec::writer::DrainCallbacks callbacks;
};

// Hooks, and a thread that takes in what they leave.
class Sampling {
 public:
  explicit Sampling(double rate) {
    const auto config = heaprec::agent::ControllerFor(rate, /*unit_is_event=*/false);
    static uint32_t number = 0;
    heaprec::buffer::RingOptions options;
    options.caps[heaprec::format::Stream::kNative] = {config.interval_ns, static_cast<uint32_t>(config.cap)};
    ring_ = std::move(heaprec::buffer::Ring::Create(options).value());
    auto hooks = heaprec::native::MallocHooks::Install();
    if (!hooks.ok()) std::abort();
    ++number;
    const heaprec::sources::NativeStream::Config stream{.throttle = config,
                                                        .start_ns = MonotonicNs(),
                                                        .recording = number,
                                                        .seed = number,
                                                        .max_gap = heaprec::agent::MaxGapOf(config)};
    stream_ = std::make_unique<heaprec::sources::NativeStream>(*ring_, stream, nullptr, std::move(*hooks));
    (void)stream_->Activate();
    drain_ = std::thread([this] {
      while (!stop_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        stream_->OnTick(MonotonicNs());
        Empty();
      }
    });
  }
  ~Sampling() {
    stop_ = true;
    drain_.join();
    stream_->Stop();
  }

 private:
  void Empty() {
    const auto view = heaprec::format::RingView::Of({ring_->bytes(), ring_->size()});
    Namer namer(stream_.get());
    for (uint32_t i = 0; i < ring_->lane_count(); ++i) {
      const uint64_t head = ring_->lane(i).head.load();
      (void)heaprec::format::WalkLane(*view, i, ring_->lane(i).tail.load(), head, namer).ok();
      ring_->lane(i).tail.store(head);
    }
  }

  std::unique_ptr<heaprec::buffer::Ring> ring_;
  std::unique_ptr<heaprec::sources::NativeStream> stream_;
  std::atomic<bool> stop_{false};
  std::thread drain_;
};

}  // namespace

int main(int argc, char** argv) {
  void* const library = argc > 3 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  if (library == nullptr) return 2;
  const auto run = reinterpret_cast<RunPairs>(dlsym(library, "run_pairs"));
  const long live = std::atol(argv[2]), pairs = std::atol(argv[3]);
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 15;
  const double rate = argc > 5 ? std::atof(argv[5]) : 100;
  std::vector<void*> blocks(static_cast<size_t>(live));
  const auto timed = [&] {
    const uint64_t begin = MonotonicNs();
    run(blocks.data(), live, pairs);
    return static_cast<double>(MonotonicNs() - begin) / static_cast<double>(pairs);
  };
  timed();
  std::vector<double> plain, sampled, differences;
  for (int i = 0; i < rounds; ++i) {
    plain.push_back(timed());
    const Sampling sampling(rate);
    timed();  // the first points of a recording are many: nothing is known of the load
    sampled.push_back(timed());
    differences.push_back(sampled.back() - plain.back());
  }
  std::printf("%ld live: plain %.2f, sampled %.2f, difference %.2f ns per pair\n", live, Median(plain), Median(sampled),
              Median(differences));
}
