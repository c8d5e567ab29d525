// Sampled native memory of this process: a ring, a drain and a file of its own, and what that says afterwards.
#pragma once

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "recorder/agent/options/rates.h"
#include "recorder/sources/native/native_stream.h"
#include "recorder/writer/drain.h"
#include "tests/format/read_back.h"
#include "tests/support/files.h"

namespace heaprec::native {

struct SampledBlock {
  format::Sample sample;
  std::string site;                // "libworkload.so.leak"
  std::vector<std::string> stack;  // the innermost first
  bool is_freed = false, is_tracked = true;
};

struct SampledMapping {
  format::Sample sample;
  std::string class_name, site;  // "commit", "libmapper.so.commit"
  uint64_t left = 0;             // bytes of it, at the end
};

// Horvitz and Thompson, with the variance as if each had been drawn on its own.
struct Estimated {
  double bytes = 0, blocks = 0, variance = 0;
  size_t samples = 0;
};

// A library of tests/native, by whose functions the test allocates.
class Library {
 public:
  explicit Library(const std::string& name) : handle_(dlopen(PathOf(name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(handle_ != nullptr);
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  static std::string PathOf(const std::string& name) {
    return std::string(getenv("TEST_SRCDIR")) + "/heaprec/tests/native/" + name;
  }
  // A function of any type.
  struct Symbol {
    void* address;
    template <typename Function>
    operator Function*() const {  // NOLINT(google-explicit-constructor): as dlsym has it
      return reinterpret_cast<Function*>(address);
    }
  };
  Symbol Find(const char* name) const {
    void* const address = dlsym(handle_, name);
    REQUIRE(address != nullptr);
    return {address};
  }

 private:
  void* const handle_;
};

class SampledSession {
 public:
  explicit SampledSession(double rate, uint32_t maps_per_second = 0) : maps_per_second_(maps_per_second) {
    const throttle::ControllerConfig config = agent::ControllerFor(rate, /*unit_is_event=*/false);
    static uint32_t number = 0;
    ++number;
    buffer::RingOptions options;
    options.caps[format::Stream::kAllocations] = {1'000'000'000, 1};
    options.start_monotonic_ns = MonotonicNs();
    options.caps[format::Stream::kNative] = {config.interval_ns, static_cast<uint32_t>(config.cap)};
    if (maps_per_second > 0)
      options.caps[format::Stream::kMapping] = {sources::MappingStream::kIntervalNs, maps_per_second};
    ring_ = std::move(buffer::Ring::Create(options).value());
    auto hooks = MallocHooks::Install();
    REQUIRE(hooks.ok());
    parts_.Add(
        std::make_unique<sources::NativeStream>(*ring_,
                                                sources::NativeStream::Config{.throttle = config,
                                                                              .start_ns = options.start_monotonic_ns,
                                                                              .recording = number,
                                                                              .seed = 0x5eed + number,
                                                                              .max_gap = 0.1,
                                                                              .maps_per_second = maps_per_second},
                                                nullptr, std::move(*hooks)));
    MakeDrain(config);
    REQUIRE(parts_.Activate().ok());
    REQUIRE(drain_->Start().ok());
  }
  ~SampledSession() { Stop(); }
  SampledSession(const SampledSession&) = delete;
  SampledSession& operator=(const SampledSession&) = delete;

  void Stop() {
    if (std::exchange(is_stopped_, true)) return;
    drain_->RequestStop("test");
    REQUIRE(drain_->Wait(10'000'000'000));
    Read();
  }
  const std::vector<SampledBlock>& blocks() const { return blocks_; }
  const format::StreamCounters& counters() const { return counters_; }
  const std::vector<SampledMapping>& mappings() const { return mappings_; }
  const format::StreamCounters& mapping_counters() const { return mapping_counters_; }

  // Of what was allocated at a site, all of it or what is alive at the end.
  Estimated At(const std::string& site, bool alive_only = false) const {
    Estimated sum;
    for (const SampledBlock& block : blocks_) {
      if (block.site != site || (alive_only && (block.is_freed || !block.is_tracked))) continue;
      const double weight = block.sample.weight, size = static_cast<double>(block.sample.size);
      ++sum.samples;
      sum.bytes += weight;
      sum.blocks += weight / size;
      sum.variance += weight * (weight - size);
    }
    return sum;
  }

  // Of all sites, with what points stood for that found no room.
  Estimated All() const {
    Estimated sum;
    for (const SampledBlock& block : blocks_) {
      const double weight = block.sample.weight;
      sum.bytes += weight;
      sum.variance += weight * (weight - static_cast<double>(block.sample.size));
    }
    for (size_t reason = 0; reason < format::kLosses; ++reason) {
      sum.bytes += counters_.lost_weight[reason];
      if (counters_.lost[reason] == 0) continue;
      sum.variance += 4 * counters_.lost_weight[reason] * counters_.lost_weight[reason] /
                      static_cast<double>(counters_.lost[reason]);
    }
    sum.samples = blocks_.size();
    return sum;
  }

 private:
  void MakeDrain(const throttle::ControllerConfig& config) {
    format::FileHeader header;
    header.interval_ns = 1'000'000'000;
    header.interval_cap = 1;
    header.native = {config.interval_ns, static_cast<uint32_t>(config.cap), config.cap};
    header.max_tracked_blocks = sources::NativeStream::kMaxTracked;
    if (maps_per_second_ > 0) header.mapped = {sources::MappingStream::kIntervalNs, maps_per_second_, 0};
    if (maps_per_second_ > 0) header.max_tracked_mappings = sources::MappingStream::kMaxTracked;
    auto store = writer::Store::Create({path_, header, {}, {}, writer::Syncer::Where::kAtOnce});
    REQUIRE(store.ok());
    writer::DrainConfig drain;
    drain.header = header;
    drain.buffered_per_interval[format::Stream::kNative] = static_cast<uint32_t>(4 * config.cap);
    drain.buffered_per_interval[format::Stream::kMapping] = sources::MappingStream::kOversampling * maps_per_second_;
    writer::DrainCallbacks callbacks;
    callbacks.now = [] { return MonotonicNs(); };
    callbacks.on_tick = [this](uint64_t now_ns) { parts_.OnTick(now_ns); };
    callbacks.on_stop = [this] { parts_.Stop(); };
    parts_.Connect(&callbacks);
    drain_ = std::make_unique<writer::Drain>(*ring_, std::move(*store), drain, std::move(callbacks));
  }

  void Read() {
    const format::testing::Opened file(testing::BytesOf(path_));
    std::map<uint64_t, size_t> by_id;
    while (auto block = file.reader->Next()) {
      AddMappings(*block);
      for (const format::Sample& sample : block->samples) {
        if (sample.kind == format::Kind::kMapping) continue;
        REQUIRE(sample.kind == format::Kind::kNative);
        REQUIRE(by_id.emplace(sample.id, blocks_.size()).second);
        blocks_.push_back({sample, {}, StackOf(*block->dictionaries, sample.stack)});
        blocks_.back().site = blocks_.back().stack.empty() ? "" : blocks_.back().stack.front();
      }
      for (const format::LifecycleEvent& lifecycle : block->lifecycle_events) {
        if (lifecycle.stream == format::Stream::kMapping) continue;
        REQUIRE(by_id.contains(lifecycle.sample));
        SampledBlock& of = blocks_[by_id[lifecycle.sample]];
        REQUIRE((!of.is_freed && of.is_tracked));
        (lifecycle.kind == format::LifecycleKind::kDied ? of.is_freed : of.is_tracked) =
            lifecycle.kind == format::LifecycleKind::kDied;
      }
      counters_ = block->counters[format::Stream::kNative];
    }
    REQUIRE(file.reader->skipped().empty());
  }

  void AddMappings(const format::Block& block) {
    for (const format::Sample& sample : block.samples) {
      if (sample.kind != format::Kind::kMapping) continue;
      REQUIRE(mapping_.emplace(sample.id, mappings_.size()).second);
      const std::vector<std::string> stack = StackOf(*block.dictionaries, sample.stack);
      mappings_.push_back(
          {sample, block.dictionaries->classes.at(sample.class_id), stack.empty() ? "" : stack.front(), sample.size});
    }
    for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) {
      if (lifecycle.stream != format::Stream::kMapping) continue;
      REQUIRE(mapping_.contains(lifecycle.sample));
      SampledMapping& of = mappings_[mapping_[lifecycle.sample]];
      REQUIRE((lifecycle.kind == format::LifecycleKind::kDied || lifecycle.kind == format::LifecycleKind::kShrunk));
      REQUIRE(lifecycle.left < of.left);
      REQUIRE(lifecycle.time_ns >= of.sample.time_ns);
      of.left = lifecycle.left;
    }
    mapping_counters_ = block.counters[format::Stream::kMapping];
  }

  static std::vector<std::string> StackOf(const format::Dictionaries& names, format::Index stack) {
    std::vector<std::string> frames;
    for (; stack != format::kNone; stack = names.stacks.at(stack).parent) {
      const format::Frame& frame = names.frames.at(names.stacks.at(stack).frame);
      if (frame.method == format::kNone) continue;
      const format::Method& method = names.methods.at(frame.method);
      frames.push_back(method.class_name + "." + method.name);
    }
    return frames;
  }

  const testing::Folder folder_;
  const std::string path_ = folder_ / "rec.hrec";
  std::unique_ptr<buffer::Ring> ring_;
  sources::Parts parts_;
  std::unique_ptr<writer::Drain> drain_;
  const uint32_t maps_per_second_;
  bool is_stopped_ = false;
  std::vector<SampledBlock> blocks_;
  format::StreamCounters counters_;
  std::vector<SampledMapping> mappings_;
  std::map<uint64_t, size_t> mapping_;
  format::StreamCounters mapping_counters_;
};

}  // namespace heaprec::native
