// Writes a recording of any number of events whose sums are known, for bench/reading/run.py.
//
// Usage: generate EVENTS OUT [RATE [NAMES]]     prints as JSON what the recording adds up to.
//
// 50,000 stacks of depth 40 on average share prefixes as those of a server do: each leaves an earlier one at a random
// depth and goes on through 4,000 methods. How often a stack is seen falls as its rank to the power 1.1, 200 classes
// hang on the sites, 64 threads take turns. RATE events a second (20,000), of 1.2 to 4.2 times as many that
// the second stage had to choose from, four intervals and blocks a second, chunks
// end as the agent ends them: at NAMES bytes of definitions (2 MiB), or after a minute.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "format/model/weights.h"
#include "format/writer/chunk_writer.h"
#include "throttle/random.h"

namespace {

using heaprec::format::ByteBuffer;
using heaprec::format::ChunkWriter;
using heaprec::format::StackFrame;
using heaprec::throttle::Random;

constexpr int kStacks = 50'000;
constexpr int kMethods = 4'000;
constexpr int kClasses = 200;
constexpr int kThreads = 64;
constexpr uint64_t kIntervalsPerSecond = 4;
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kIntervalNs = kSecondNs / kIntervalsPerSecond;
constexpr double kPopularity = 1.1;
constexpr uint64_t kRate = 20'000;
// recorder/writer/drain.cc, recorder/writer/retention.cc
constexpr uint64_t kChunkRawBytes = 8 << 20;
constexpr uint64_t kChunkDefinitionBytes = 2 << 20;
constexpr uint64_t kChunkNs = 60 * kSecondNs;

struct Path {
  std::vector<uint32_t> root_first;  // methods
  uint32_t class_id = 0;
  uint64_t size = 16;
};

heaprec::format::Method MethodOf(uint32_t method) {
  return {"com/example/shop/module" + std::to_string(method / 200) + "/Component" + std::to_string(method / 20),
          "handle" + std::to_string(method % 20), "(Ljava/lang/Object;I)V"};
}

std::vector<Path> MakePaths(Random* random) {
  std::vector<Path> paths(kStacks);
  for (int i = 0; i < kStacks; ++i) {
    Path& path = paths[static_cast<size_t>(i)];
    if (i > 0) {
      path.root_first = paths[random->Next() % static_cast<uint64_t>(i)].root_first;
      path.root_first.resize(5 + random->Next() % (path.root_first.size() - 5));
    }
    const uint64_t depth = std::max<uint64_t>(path.root_first.size() + 1, 25 + random->Next() % 31);
    while (path.root_first.size() < depth) path.root_first.push_back(random->Next() % kMethods);
    path.class_id = path.root_first.back() % kClasses;
    path.size = 16 + 8 * (random->Next() % 30);
    if (random->Next() % 16 == 0) path.size *= 64;
  }
  return paths;
}

// Which stack comes next, by rank.
class Popularity {
 public:
  Popularity() {
    sums_.reserve(kStacks);
    double sum = 0;
    for (int rank = 1; rank <= kStacks; ++rank) sums_.push_back(sum += std::pow(rank, -kPopularity));
  }
  size_t Draw(Random* random) const {
    const double at = random->Uniform() * sums_.back();
    return static_cast<size_t>(std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

struct Sums {
  uint64_t events = 0;
  double bytes = 0, objects = 0;
  std::array<double, kClasses> by_class{};
};

class Generator {
 public:
  Generator(std::FILE* out, uint64_t rate, uint64_t names)
      : out_(out), rate_(rate), most_names_(names), paths_(MakePaths(&random_)) {
    header_.start_epoch_ns = 1'700'000'000 * kSecondNs;
    header_.interval_ns = kIntervalNs;
    header_.interval_cap = static_cast<uint32_t>(rate / kIntervalsPerSecond);
    header_.rate_per_second = static_cast<double>(rate);
    header_.jvm_name = "none";
    header_.source = "hooks";
    header_.source_reason = "generated";
    Write(heaprec::format::EncodeFileHeader(header_));
    StartChunk();
  }

  Sums Run(uint64_t events) {
    const uint64_t per_interval = std::max<uint64_t>(rate_ / kIntervalsPerSecond, 1);
    for (; sums_.events < events; ++interval_) {
      OpenWindow();
      const uint64_t count = std::min(per_interval, events - sums_.events);
      const double before = sums_.bytes;
      for (uint64_t i = 0; i < count; ++i) Add(interval_ * kIntervalNs + i * kIntervalNs / count);
      Close(count, sums_.bytes - before, sums_.events == events);
    }
    return sums_;
  }

 private:
  void Write(const ByteBuffer& bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), out_) != bytes.size()) {
      std::perror("generate: write");
      std::exit(6);
    }
  }

  void StartChunk() {
    writer_ = std::make_unique<ChunkWriter>(header_, chunk_++);
    chunk_start_ns_ = interval_ * kIntervalNs;
    stacks_.assign(kStacks, heaprec::format::kNone);
  }

  void OpenWindow() {
    lambda_ = static_cast<float>((0.5 + random_.Uniform()) * 1e-6);
    surplus_ = 1.2 + 3 * random_.Uniform();
    tau_ = surplus_ / lambda_;
    writer_->Add(heaprec::format::Window{++window_, interval_ * kIntervalNs, lambda_});
  }

  heaprec::format::Index StackOf(size_t path) {
    heaprec::format::Index& index = stacks_[path];
    if (index != heaprec::format::kNone) return index;
    std::vector<StackFrame> leaf_first;
    const std::vector<uint32_t>& methods = paths_[path].root_first;
    for (auto method = methods.rbegin(); method != methods.rend(); ++method) {
      leaf_first.push_back({writer_->InternMethod(MethodOf(*method)), static_cast<int32_t>(*method % 90),
                            static_cast<int32_t>(10 + *method % 400)});
    }
    return index = writer_->InternStack(leaf_first, false);
  }

  void Add(uint64_t time_ns) {
    const size_t at = popularity_.Draw(&random_);
    const Path& path = paths_[at];
    const uint64_t thread = random_.Next() % kThreads;
    heaprec::format::Sample sample;
    sample.id = ++sums_.events;
    sample.time_ns = time_ns / heaprec::format::kTickNs * heaprec::format::kTickNs;
    sample.thread = writer_->InternThread(
        {thread + 1, static_cast<uint32_t>(1000 + thread), false, "worker-" + std::to_string(thread)});
    sample.class_id = writer_->InternClass("com/example/shop/model/Entity" + std::to_string(path.class_id));
    sample.stack = StackOf(at);
    sample.size = path.size;
    sample.tlab_size = 1 << 20;
    sample.window = window_;
    const double first = heaprec::format::FirstStageWeight(heaprec::format::WeightRule::kPerByte, lambda_, path.size);
    sample.weight = std::max(first, tau_);
    writer_->Add(sample);
    sums_.bytes += sample.weight;
    sums_.objects += sample.weight_objects();
    sums_.by_class[path.class_id] += sample.weight;
  }

  void Close(uint64_t kept, double weight, bool last) {
    const uint64_t end_ns = (interval_ + 1) * kIntervalNs;
    const auto bytes = static_cast<uint64_t>(weight),
               held = static_cast<uint64_t>(surplus_ * static_cast<double>(kept));
    const uint64_t candidates = held * 10;
    writer_->Add(heaprec::format::Interval{interval_, candidates, bytes, held, kept, tau_});
    counters_.candidate_bytes += bytes;
    counters_.candidates += candidates;
    counters_.points = counters_.committed += held;
    counters_.second_stage += held - kept;
    counters_.written = sums_.events;
    const bool full = writer_->raw_bytes() >= kChunkRawBytes || writer_->name_bytes() >= most_names_ ||
                      end_ns - chunk_start_ns_ >= kChunkNs;
    const heaprec::format::EndMarker ending{end_ns, "jvm exit"};
    const auto block = last || full ? writer_->Finish({{counters_}}, {}, end_ns, last ? &ending : nullptr)
                                    : writer_->Flush({{counters_}}, {}, end_ns);
    if (!block.ok()) {
      std::fprintf(stderr, "generate: %s\n", block.error().message.c_str());
      std::exit(6);
    }
    Write(*block);
    if (full && !last) StartChunk();
  }

  std::FILE* const out_;
  const uint64_t rate_, most_names_;
  Random random_{1};
  const std::vector<Path> paths_;
  const Popularity popularity_;
  heaprec::format::FileHeader header_;
  std::unique_ptr<ChunkWriter> writer_;
  uint32_t chunk_ = 0, window_ = 0;
  uint64_t interval_ = 0, chunk_start_ns_ = 0;
  double lambda_ = 0, surplus_ = 1, tau_ = 0;
  std::vector<heaprec::format::Index> stacks_;  // by path, of the chunk
  heaprec::format::StreamCounters counters_;
  Sums sums_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    std::fprintf(stderr, "usage: generate EVENTS OUT [RATE [NAMES]]\n");
    return 2;
  }
  std::FILE* const out = std::fopen(argv[2], "wbx");
  if (out == nullptr) {
    std::perror(argv[2]);
    return 6;
  }
  const auto number = [&](int at, uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  const Sums sums = Generator(out, number(3, kRate), number(4, kChunkDefinitionBytes)).Run(number(1, 0));
  if (std::fclose(out) != 0) {
    std::perror(argv[2]);
    return 6;
  }
  nlohmann::json classes = nlohmann::json::object();
  for (size_t i = 0; i < sums.by_class.size(); ++i) {
    if (sums.by_class[i] > 0) classes["com.example.shop.model.Entity" + std::to_string(i)] = sums.by_class[i];
  }
  const nlohmann::json document{
      {"events", sums.events}, {"bytes", sums.bytes}, {"objects", sums.objects}, {"classes", classes}};
  std::printf("%s\n", document.dump(2).c_str());
  return 0;
}
