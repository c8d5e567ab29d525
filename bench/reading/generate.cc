// Writes a recording of any number of events whose sums are known, for bench/reading/run.py.
//
// Usage: generate EVENTS OUT [RATE [NAMES [POINTS]]]     prints as JSON what the recording adds up to.
//
// 50,000 stacks of depth 40 on average share prefixes as those of a server do: each leaves an earlier one at a random
// depth and goes on through 4,000 methods. How often a stack is seen falls as its rank to the power 1.1, 200 classes
// hang on the sites, 64 threads take turns. RATE events a second (20,000), of 1.2 to 4.2 times as many that
// the second stage had to choose from, four intervals and blocks a second, chunks
// end as the agent ends them: at NAMES bytes of definitions (2 MiB), or after a minute.
//
// With POINTS a recording has rows, as the agent writes it: so many points a second, of which RATE are kept, intervals
// of a second and blocks of two. 3,000 stacks allocate at 300 sites. The sums are then those of the rows.
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

#include "format/model/sample.h"
#include "format/writer/chunk_writer.h"
#include "throttle/random.h"

namespace {

using heaprec::format::ByteBuffer;
using heaprec::format::ChunkWriter;
using heaprec::format::StackFrame;
using heaprec::throttle::Random;

constexpr int kStacks = 50'000, kStacksWithRows = 3'000;
constexpr int kSitesWithRows = 300;
constexpr int kMethods = 4'000;
constexpr int kClasses = 200;
constexpr int kThreads = 64;
constexpr uint64_t kIntervalsPerSecond = 4;
constexpr uint64_t kIntervalsPerBlockWithRows = 2;
constexpr uint64_t kSecondNs = 1'000'000'000;
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

// `sites`: how many methods allocate.
std::vector<Path> MakePaths(size_t stacks, uint32_t sites, Random* random) {
  std::vector<Path> paths(stacks);
  for (size_t i = 0; i < stacks; ++i) {
    Path& path = paths[i];
    if (i > 0) {
      path.root_first = paths[random->Next() % i].root_first;
      path.root_first.resize(5 + random->Next() % (path.root_first.size() - 5));
    }
    const uint64_t depth = std::max<uint64_t>(path.root_first.size() + 1, 25 + random->Next() % 31);
    while (path.root_first.size() < depth) path.root_first.push_back(random->Next() % kMethods);
    path.root_first.back() %= sites;
    path.class_id = path.root_first.back() % kClasses;
    path.size = 16 + 8 * (random->Next() % 30);
    if (random->Next() % 16 == 0) path.size *= 64;
  }
  return paths;
}

// Which stack comes next, by rank.
class Popularity {
 public:
  explicit Popularity(size_t stacks) {
    sums_.reserve(stacks);
    double sum = 0;
    for (size_t rank = 1; rank <= stacks; ++rank) sums_.push_back(sum += std::pow(rank, -kPopularity));
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
  // `points`: a second; 0: no rows.
  Generator(std::FILE* out, uint64_t rate, uint64_t names, uint64_t points)
      : out_(out),
        intervals_per_second_(points > 0 ? 1 : kIntervalsPerSecond),
        intervals_per_block_(points > 0 ? kIntervalsPerBlockWithRows : 1),
        interval_ns_(kSecondNs / intervals_per_second_),
        kept_(std::max<uint64_t>(rate / intervals_per_second_, 1)),
        points_(points / intervals_per_second_),
        most_names_(names),
        paths_(MakePaths(points > 0 ? kStacksWithRows : kStacks, points > 0 ? kSitesWithRows : kMethods, &random_)),
        popularity_(paths_.size()) {
    header_.start_epoch_ns = 1'700'000'000 * kSecondNs;
    header_.interval_ns = interval_ns_;
    header_.interval_cap = static_cast<uint32_t>(kept_);
    header_.rate_per_second = static_cast<double>(rate);
    header_.jvm_name = "none";
    header_.source = "hooks";
    header_.source_reason = "generated";
    Write(heaprec::format::EncodeFileHeader(header_));
    StartChunk();
  }

  Sums Run(uint64_t events) {
    for (; sums_.events < events; ++interval_) {
      OpenWindow();
      const uint64_t count = std::min(kept_, events - sums_.events);
      const double before = sums_.bytes;
      for (uint64_t i = 0; i < count; ++i) Add(interval_ * interval_ns_ + i * interval_ns_ / count);
      for (uint64_t i = 0; i < points_; ++i) AddPoint();
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
    chunk_start_ns_ = interval_ * interval_ns_;
    stacks_.assign(paths_.size(), heaprec::format::kNone);
    sites_.assign(paths_.size(), heaprec::format::kNone);
  }

  void OpenWindow() {
    lambda_ = static_cast<float>((0.5 + random_.Uniform()) * 1e-6);
    surplus_ = points_ > 0 ? static_cast<double>(points_) / static_cast<double>(kept_) : 1.2 + 3 * random_.Uniform();
    tau_ = surplus_ / lambda_;
    writer_->Add(heaprec::format::Window{++window_, interval_ * interval_ns_, lambda_});
  }

  StackFrame FrameOf(uint32_t method) {
    return {writer_->InternMethod(MethodOf(method)), static_cast<int32_t>(method % 90),
            static_cast<int32_t>(10 + method % 400)};
  }

  heaprec::format::Index StackOf(size_t path) {
    heaprec::format::Index& index = stacks_[path];
    if (index != heaprec::format::kNone) return index;
    std::vector<StackFrame> leaf_first;
    const std::vector<uint32_t>& methods = paths_[path].root_first;
    for (auto method = methods.rbegin(); method != methods.rend(); ++method) leaf_first.push_back(FrameOf(*method));
    return index = writer_->InternStack(leaf_first, false);
  }

  heaprec::format::Index ClassOf(const Path& path) {
    return writer_->InternClass("com/example/shop/model/Entity" + std::to_string(path.class_id));
  }

  double FirstWeightOf(const Path& path) const {
    return heaprec::format::FirstStageWeight(heaprec::format::WeightRule::kPerByte, lambda_, path.size);
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
    sample.class_id = ClassOf(path);
    sample.stack = StackOf(at);
    sample.size = path.size;
    sample.tlab_size = 1 << 20;
    sample.window = window_;
    sample.weight = std::max(FirstWeightOf(path), tau_);
    writer_->Add(sample);
    if (points_ == 0) Sum(path, sample.weight, sample.weight_objects());
  }

  // Of no sample: the rows' sums are what counts.
  void AddPoint() {
    const size_t at = popularity_.Draw(&random_);
    const Path& path = paths_[at];
    const double weight = FirstWeightOf(path);
    heaprec::format::Index& site = sites_[at];
    if (site == heaprec::format::kNone) {
      const StackFrame leaf = FrameOf(path.root_first.back());
      site = writer_->InternStack({&leaf, 1}, false);
    }
    writer_->AddPoint(ClassOf(path), site, path.size, weight);
    Sum(path, weight, weight / static_cast<double>(path.size));
  }

  void Sum(const Path& path, double bytes, double objects) {
    sums_.bytes += bytes;
    sums_.objects += objects;
    sums_.by_class[path.class_id] += bytes;
  }

  void Close(uint64_t kept, double weight, bool last) {
    const uint64_t end_ns = (interval_ + 1) * interval_ns_;
    const auto bytes = static_cast<uint64_t>(weight),
               held = points_ > 0 ? points_ : static_cast<uint64_t>(surplus_ * static_cast<double>(kept));
    const uint64_t candidates = held * 10;
    writer_->Add(heaprec::format::Interval{interval_, candidates, bytes, held, kept, tau_});
    counters_.candidate_bytes += bytes;
    counters_.candidates += candidates;
    counters_.points = counters_.committed += held;
    counters_.second_stage += held - kept;
    counters_.written = sums_.events;
    if (!last && (interval_ + 1) % intervals_per_block_ != 0) return;
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
  const uint64_t intervals_per_second_, intervals_per_block_, interval_ns_;
  const uint64_t kept_, points_;  // of an interval
  const uint64_t most_names_;
  Random random_{1};
  const std::vector<Path> paths_;
  const Popularity popularity_;
  heaprec::format::FileHeader header_;
  std::unique_ptr<ChunkWriter> writer_;
  uint32_t chunk_ = 0, window_ = 0;
  uint64_t interval_ = 0, chunk_start_ns_ = 0;
  double lambda_ = 0, surplus_ = 1, tau_ = 0;
  std::vector<heaprec::format::Index> stacks_, sites_;  // by path, of the chunk
  heaprec::format::StreamCounters counters_;
  Sums sums_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 6) {
    std::fprintf(stderr, "usage: generate EVENTS OUT [RATE [NAMES [POINTS]]]\n");
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
  const Sums sums = Generator(out, number(3, kRate), number(4, kChunkDefinitionBytes), number(5, 0)).Run(number(1, 0));
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
