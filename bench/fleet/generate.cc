// Recordings of a fleet of which the truth is known: bench/fleet/README.md
//
// Usage: generate DIR HOSTS SECONDS SEED [hostile|PID|from=N|lossy=N]
// PID: of a process that still writes all of them. from=N: without their first N seconds, which maxage has dropped.
// lossy=N: after N seconds the ring is full at a tenth of the samples, which are counted as lost.
//
// Two services: `checkout` in versions 1.0 and 1.1, and `search`. Sites have rates that differ between hosts; three
// sites of 1.1 allocate more or less; one site of the last host of search allocates five times as much. Objects are
// sampled as the agent does: kept with 1 - exp(-lambda size). Sampled objects are tracked until they die.
// DIR/truth.json has what was allocated, and what of it is live at the end.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "format/writer/chunk_writer.h"

namespace heaprec {
namespace {

using nlohmann::json;

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kStartSeconds = 1795168800;  // 2026-11-20T10:00:00Z
constexpr int kSites = 40;
constexpr double kBytesPerSecond = 50e6, kSamplesPerSecond = 20;
constexpr double kLambda = kSamplesPerSecond / kBytesPerSecond;
constexpr double kLostShare = 0.1;                            // with lossy=N
constexpr double kBetweenHosts = 0.05, kBetweenSites = 0.03;  // standard deviations of logarithms

struct Host {
  std::string service, version, name;
  std::string file;
  int number = 0;
  bool is_outlier = false;
};

// Of a site in a version, over what it is in 1.0.
double ChangeOf(const Host& host, int site) {
  if (host.is_outlier && site == 9) return 5;
  if (host.version != "1.1") return 1;
  if (site == 7) return 1.5;
  if (site == 12) return 0.6;
  return site == 20 ? 2.0 : 1;
}

// Of objects, in seconds; 0: they live to the end.
double MeanLifetimeOf(int site) { return site % 5 == 4 ? 0 : 2 + 20 * (site % 5); }

uint64_t SizeOf(int site) { return 16 * (1 + static_cast<uint64_t>(site * 7 % 64)); }
std::string ClassOf(int site) { return "com/acme/Type" + std::to_string(site / 2); }
std::string MethodOf(int site) { return "site" + std::to_string(site); }

// What breaks programs that put names into SQL, HTTP, JSON, files or terminals. Of the first sites, and of the hosts.
const std::vector<std::string>& HostileNames() {
  using namespace std::string_literals;
  static const std::vector<std::string> kNames{"it's",
                                               "'; DROP TABLE heaprec.sums; --",
                                               "a\\",
                                               "a\\'",
                                               "nul\0inside"s,
                                               "line\nbreak\ttab\rreturn",
                                               "\x1b[31mred\x07",
                                               "{a:UInt8} %s $1 ${x} \" `",
                                               "\xff\xfe not UTF-8",
                                               "\u202eoverride \U0001F600",
                                               std::string(65536, 'x'),
                                               "*?[a-z]/regex/"};
  return kNames;
}

format::FileHeader HeaderOf(const Host& host, uint64_t seed, uint32_t pid) {
  format::FileHeader header;
  header.pid = pid;
  // As if the process began before.
  if (pid > 0) header.start_monotonic_ns = UINT64_MAX / 2;
  const uint64_t id[2] = {seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(host.number) + 1, seed};
  std::memcpy(header.recording_id.data(), id, sizeof id);
  header.start_epoch_ns = kStartSeconds * kSecondNs;
  header.interval_ns = kSecondNs;
  header.interval_cap = 150;
  header.rate_per_second = kSamplesPerSecond;
  header.jvm_name = "simulated";
  header.jvm_version = "17.0.21+9";
  header.gc_name = "G1";
  header.max_tracked_objects = 1 << 20;  // all that are sampled
  header.source = "hooks";
  header.source_reason = "simulated";
  header.service_labels = {
      {"service.name", host.service}, {"service.version", host.version}, {"service.instance.id", host.name}};
  return header;
}

struct Mode {
  bool is_hostile = false;
  uint32_t pid = 0;
  uint64_t from = 0, lossy_from = UINT64_MAX;  // seconds
};

Mode ModeOf(std::string_view argument) {
  Mode mode;
  const auto number = [&](std::string_view prefix) { return std::stoull(std::string(argument.substr(prefix.size()))); };
  if (argument == "hostile") {
    mode.is_hostile = true;
  } else if (argument.starts_with("from=")) {
    mode.from = number("from=");
  } else if (argument.starts_with("lossy=")) {
    mode.lossy_from = number("lossy=");
  } else if (!argument.empty()) {
    mode.pid = static_cast<uint32_t>(number(""));
  }
  return mode;
}

class Simulation {
 public:
  Simulation(const Host& host, const std::string& path, uint64_t seed, const Mode& mode)
      : host_(host), mode_(mode), path_(path), header_(HeaderOf(host, seed, mode.pid)), random_(seed), fates_(seed) {
    std::normal_distribution<double> normal;
    const double all = std::exp(kBetweenHosts * normal(random_));
    double sum = 0;
    for (int site = 0; site < kSites; ++site) sum += 1.0 / (site + 1);
    for (int site = 0; site < kSites; ++site) {
      const double share = 1.0 / (site + 1) / sum;
      rates_.push_back(kBytesPerSecond * share * all * std::exp(kBetweenSites * normal(random_)) *
                       ChangeOf(host, site));
    }
    truth_.resize(kSites);
    live_.resize(kSites);
    Begin();
  }

  json Run(uint64_t seconds) {
    for (uint64_t second = 0; second < seconds; ++second) {
      if (second > 0 && second == mode_.from) {
        header_.start.begin_ns = second * kSecondNs;
        header_.start.counters = counters_;
        header_.start.next_interval[format::Stream::kAllocations] = second;
        header_.start.intervals_with_points[format::Stream::kAllocations] = second;
        Begin();
      }
      Interval(second, seconds);
      AddDeaths((second + 1) * kSecondNs);
      if (second % 2 == 1) Append(*writer_->Flush(counters_, {}, (second + 1) * kSecondNs));
    }
    if (header_.pid == 0) {
      const format::EndMarker ending{seconds * kSecondNs, "jvm exit"};
      Append(*writer_->Finish(counters_, {}, seconds * kSecondNs, &ending));
    }
    json sites = json::array();
    for (int site = 0; site < kSites; ++site) {
      sites.push_back({{"site", "com.acme.Work." + MethodName(site)},
                       {"bytes", truth_[static_cast<size_t>(site)]},
                       {"live", live_[static_cast<size_t>(site)]}});
    }
    return {{"host", host_.name}, {"service", host_.service}, {"version", host_.version}, {"sites", sites}};
  }

 private:
  std::string MethodName(int site) const {
    const auto& names = HostileNames();
    return mode_.is_hostile && static_cast<size_t>(site) < names.size() ? names[static_cast<size_t>(site)]
                                                                        : MethodOf(site);
  }
  std::string ClassName(int site) const {
    const auto& names = HostileNames();
    return mode_.is_hostile && static_cast<size_t>(site) < names.size() ? names[static_cast<size_t>(site)]
                                                                        : ClassOf(site);
  }
  void Begin() {
    file_ = std::ofstream(path_, std::ios::binary);
    writer_.emplace(header_, 0);
    Append(format::EncodeFileHeader(header_));
    writer_->Add(format::Window{.id = 1, .start_ns = 0, .lambda = kLambda});
  }
  void Append(const format::ByteBuffer& bytes) {
    file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  void Interval(uint64_t second, uint64_t seconds) {
    uint64_t counted = 0, kept = 0, lost = 0, objects = 0;
    double lost_weight = 0;
    for (int site = 0; site < kSites; ++site) {
      const uint64_t size = SizeOf(site);
      const auto count =
          std::poisson_distribution<uint64_t>(rates_[static_cast<size_t>(site)] / static_cast<double>(size))(random_);
      const double chance = -std::expm1(-kLambda * static_cast<double>(size));
      const auto samples = std::binomial_distribution<uint64_t>(count, chance)(random_);
      const uint64_t missing =
          second < mode_.lossy_from ? 0 : std::binomial_distribution<uint64_t>(samples, kLostShare)(random_);
      uint64_t alive = StillAlive(count - samples + missing, site, static_cast<double>(seconds - second));
      for (uint64_t i = 0; i < samples - missing; ++i) {
        const uint64_t died_ns = Add(second, site, static_cast<double>(size) / chance);
        alive += died_ns > seconds * kSecondNs ? 1 : 0;
      }
      live_[static_cast<size_t>(site)] += static_cast<double>(alive * size);
      counted += count * size;
      objects += count;
      kept += samples - missing;
      lost += missing;
      lost_weight += static_cast<double>(missing * size) / chance;
      truth_[static_cast<size_t>(site)] += static_cast<double>(count * size);
    }
    writer_->Add(
        format::Interval{.index = second, .candidates = objects, .bytes = counted, .buffered = kept, .kept = kept});
    format::StreamCounters& counters = counters_[format::Stream::kAllocations];
    counters.candidates += objects;
    counters.candidate_bytes += counted;
    counters.points += kept + lost, counters.committed += kept, counters.written += kept;
    counters.lost[static_cast<size_t>(format::LossReason::kRingFull)] += lost;
    counters.lost_weight[static_cast<size_t>(format::LossReason::kRingFull)] += lost_weight;
  }

  // Of objects born within a second, which live from 0 to `left_s` until the end.
  uint64_t StillAlive(uint64_t count, int site, double left_s) {
    const double mean = MeanLifetimeOf(site);
    const double chance = mean > 0 ? mean * (std::exp((1 - left_s) / mean) - std::exp(-left_s / mean)) : 1;
    return std::binomial_distribution<uint64_t>(count, std::min(chance, 1.0))(fates_);
  }

  void AddDeaths(uint64_t before_ns) {
    for (; !deaths_.empty() && deaths_.top().first < before_ns; deaths_.pop()) {
      writer_->Add(format::LifecycleEvent{.sample = deaths_.top().second, .time_ns = deaths_.top().first});
    }
  }

  // When it dies.
  uint64_t Add(uint64_t second, int site, double weight) {
    format::Sample sample;
    sample.id = ++id_;
    sample.time_ns = second * kSecondNs + random_() % kSecondNs;
    sample.thread = writer_->InternThread({.java_tid = 1, .os_tid = 1, .is_virtual = false, .name = "main"});
    sample.class_id = writer_->InternClass(ClassName(site));
    const std::vector<format::StackFrame> stack{
        {writer_->InternMethod("com/acme/Work", MethodName(site), "()V"), 1, 1, {}},
        {writer_->InternMethod("com/acme/Main", "main", "()V"), 1, 1, {}}};
    sample.stack = writer_->InternStack(stack, false);
    sample.size = SizeOf(site);
    sample.tlab_size = 1 << 16;
    sample.window = 1;
    sample.weight = weight;
    writer_->Add(sample);
    const double mean = MeanLifetimeOf(site);
    if (!(mean > 0)) return UINT64_MAX;
    const double lifetime_s = std::exponential_distribution<double>(1 / mean)(fates_);
    const uint64_t died_ns = sample.time_ns + static_cast<uint64_t>(lifetime_s * 1e9);
    deaths_.emplace(died_ns, sample.id);
    return died_ns;
  }

  const Host host_;
  const Mode mode_;
  const std::string path_;
  format::FileHeader header_;
  std::optional<format::ChunkWriter> writer_;
  std::ofstream file_;
  std::mt19937_64 random_, fates_;
  std::vector<double> rates_, truth_, live_;
  using Death = std::pair<uint64_t, uint64_t>;  // when, of which sample
  std::priority_queue<Death, std::vector<Death>, std::greater<>> deaths_;
  format::PerStream<format::StreamCounters> counters_;
  uint64_t id_ = 0;
};

std::vector<Host> HostsOf(int count, bool is_hostile) {
  std::vector<Host> hosts;
  for (int i = 0; i < count; ++i) {
    const bool is_search = i >= count * 2 / 3;
    const std::string version = is_search ? "3.0" : i < count / 3 ? "1.0" : "1.1";
    const std::string name = "host" + std::to_string(100 + i);
    const auto& hostile = HostileNames();
    const bool is_named = is_hostile && static_cast<size_t>(i) < hostile.size();
    hosts.push_back({is_named    ? hostile[static_cast<size_t>(i)]
                     : is_search ? "search"
                                 : "checkout",
                     version, is_named ? hostile[static_cast<size_t>(i)] : name, name, i, i == count - 1});
  }
  return hosts;
}

}  // namespace
}  // namespace heaprec

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::cerr << "usage: generate DIR HOSTS SECONDS SEED [hostile|PID|from=N|lossy=N]\n";
    return 2;
  }
  const heaprec::Mode mode = heaprec::ModeOf(argc == 6 ? argv[5] : "");
  const std::string folder = argv[1];
  const uint64_t seed = std::stoull(argv[4]);
  nlohmann::json truth = nlohmann::json::array();
  for (const heaprec::Host& host : heaprec::HostsOf(std::stoi(argv[2]), mode.is_hostile)) {
    heaprec::Simulation simulation(host, folder + "/" + host.file + ".hrec",
                                   seed * 1000 + static_cast<uint64_t>(host.number), mode);
    truth.push_back(simulation.Run(std::stoull(argv[3])));
  }
  // Bytes that are no UTF-8 are replaced.
  std::ofstream(folder + "/truth.json") << truth.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  return 0;
}
