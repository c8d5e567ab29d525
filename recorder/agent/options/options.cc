#include "recorder/agent/options/options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/option_text.h"
#include "base/time.h"
#include "format/ring/ring_records.h"
#include "recorder/agent/options/rates.h"

namespace heaprec::agent {
namespace {

constexpr size_t kMaxBytes = 64 << 10;
constexpr std::string_view kSpace = " \t\r";

std::string_view Trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

Option ToOption(std::string_view part, const std::string& where) {
  const size_t separator = std::min(part.find_first_of("=:"), part.size());
  return {std::string(Trimmed(part.substr(0, separator))),
          std::string(part.substr(std::min(separator + 1, part.size()))), where};
}

Result<std::string> ReadOptionFile(const std::string& path) {
  const auto fail = [&path] { return Error{fmt::format("{}: {}", path, std::strerror(errno))}; };
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail();
  std::string text(kMaxBytes + 1, '\0');
  const ssize_t got = read(descriptor, text.data(), text.size());
  if (got < 0) {
    const Error error = fail();
    close(descriptor);
    return error;
  }
  close(descriptor);
  text.resize(static_cast<size_t>(got));
  if (text.size() > kMaxBytes || text.find('\0') != std::string::npos) {
    return Error{path + ": not a text file of agent options"};
  }
  return text;
}

Status AddFile(const std::string& path, std::vector<Option>* options) {
  auto file = ReadOptionFile(path);
  if (!file.ok()) return file.error();
  std::string_view text = *file;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.empty() || content.front() == '#') continue;
    Option option = ToOption(content, fmt::format("{}:{}: ", path, line));
    option.value = Trimmed(option.value);
    if (option.key.empty() || option.key.front() == '@') {
      return Error{fmt::format("{}`{}` is not of the form key=value", option.where, content)};
    }
    options->push_back(std::move(option));
  }
  return {};
}

constexpr double kMaxPerSecond = 200'000;
constexpr double kMinPerSecond = 1.0 / 3600;
constexpr uint64_t kMinTracked = 64;
// Maximum file size by default: hours to days at the default rate (docs/reference/agent-options.md).
constexpr uint64_t kDefaultMaxBytes = 256 << 20;
constexpr double kMaxWalksPerSecond = 8000;
// Of walks and of requests to JVMTI; StackBufferPool provides the memory.
constexpr int kMaxStackDepth = 1024;

// A suffix of numbers, and its factor.
struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kSizeUnits[] = {{"", 1},         {"k", 1 << 10},   {"kb", 1 << 10}, {"kib", 1 << 10}, {"m", 1 << 20},
                               {"mb", 1 << 20}, {"mib", 1 << 20}, {"g", 1 << 30},  {"gb", 1 << 30},  {"gib", 1 << 30}};
constexpr Unit kRateUnits[] = {{"", 1}, {"/s", 1}, {"/m", 1.0 / 60}, {"/min", 1.0 / 60}, {"/h", 1.0 / 3600}};

// Chunks are an eighth of this, which is still large compared with their dictionaries.
constexpr uint64_t kMinFileBytes = 1 << 20;
constexpr uint64_t kMinFileNs = 10'000'000'000;
constexpr uint64_t kMinNmtNs = 1'000'000'000;

// Parses a number with a unit.
std::optional<double> ParseQuantity(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const auto unit = std::ranges::find(units, std::string_view(rest, end), &Unit::name);
  return unit != units.end() ? std::optional(number * unit->factor) : std::nullopt;
}

std::optional<uint64_t> ParseTime(std::string_view text, uint64_t least_ns = 0) {
  // Beyond a century the sum with the clock could overflow.
  constexpr uint64_t kMostNs = 3'200'000'000'000'000'000;
  const auto ns = ParseDuration(text);
  return ns >= least_ns && ns <= kMostNs ? ns : std::nullopt;
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  const auto bytes = ParseQuantity(lower, kSizeUnits);
  if (!bytes || *bytes < kMinFileBytes || *bytes > 1e18) return std::nullopt;
  return static_cast<uint64_t>(*bytes);
}

std::optional<double> ParseRate(std::string_view text) {
  const auto rate = ParseQuantity(text, kRateUnits);
  // Tolerates rounding: 1/h is not exact in binary.
  if (!rate || *rate < kMinPerSecond * 0.999 || *rate > kMaxPerSecond) return std::nullopt;
  return rate;
}

std::optional<uint64_t> ParseCount(std::string_view text, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

template <typename T, typename U>
bool Set(T* field, const std::optional<U>& value) {
  if (value) *field = static_cast<T>(*value);
  return value.has_value();
}

bool SetPoints(Options* options, std::string_view value) {
  options->points_per_second = value == "0" ? 0 : Options{}.points_per_second;
  options->max_points = value == "max";
  if (value == "max" || value == "0") return true;
  const auto rate = ParseRate(value);
  return rate <= kMaxPointsPerSecond && Set(&options->points_per_second, rate);
}

// Parses one of several words, each with its value.
template <typename T, size_t N>
bool Choose(T* field, std::string_view word, const std::pair<std::string_view, T> (&choices)[N]) {
  const auto found = std::ranges::find(choices, word, &std::pair<std::string_view, T>::first);
  if (found != std::end(choices)) *field = found->second;
  return found != std::end(choices);
}

constexpr std::pair<std::string_view, SourceChoice> kSources[] = {{"auto", SourceChoice::kAuto},
                                                                  {"hooks", SourceChoice::kHooks},
                                                                  {"jvmti", SourceChoice::kJvmti},
                                                                  {"portable", SourceChoice::kPortable}};

bool SetLogLevel(Options* options, std::string_view value) {
  return Choose(&options->log_level, value,
                {{"off", LogLevel::kOff},
                 {"error", LogLevel::kError},
                 {"warn", LogLevel::kWarn},
                 {"info", LogLevel::kInfo},
                 {"debug", LogLevel::kDebug}});
}

bool SetSync(Options* options, std::string_view value) {
  options->sync = {};
  if (value == "none") return options->sync.never = true;
  if (value == "block") return options->sync.every_ns = 0, true;
  return Set(&options->sync.every_ns, ParseTime(value, 1));
}

// A size if the value can be one: "100m" is 100 MiB, not 100 minutes.
bool SetRotation(Options* options, std::string_view value) {
  const bool has_unit = value.find_first_not_of("0123456789.") != std::string_view::npos;
  if (has_unit && Set(&options->limits.rotate_bytes, ParseSize(value))) return true;
  return Set(&options->limits.rotate_ns, ParseTime(value, kMinFileNs));
}

bool SetMaxSize(Options* options, std::string_view value) {
  options->limits.max_bytes = 0;
  return value == "none" || Set(&options->limits.max_bytes, ParseSize(value));
}

std::optional<bool> ParseSwitch(std::string_view value) {
  if (value == "on" || value == "true" || value.empty()) return true;
  if (value == "off" || value == "false") return false;
  return std::nullopt;
}

bool SetLive(Options* options, std::string_view value) {
  options->max_tracked_objects = 0;
  if (const auto on = ParseSwitch(value)) return options->tracks = *on, true;
  options->tracks = true;
  return Set(&options->max_tracked_objects, ParseCount(value, kMinTracked, format::kMaxTracked));
}

constexpr uint64_t kMinPathsNs = 1'000'000'000, kMinPauseNs = 5'000'000, kMaxPauseNs = 60'000'000'000;

bool SetPaths(Options* options, std::string_view value) {
  options->paths_every_ns = 0;
  if (const auto on = ParseSwitch(value)) return options->paths = *on, true;
  options->paths = true;
  return Set(&options->paths_every_ns, ParseTime(value, kMinPathsNs));
}

bool SetPathsPause(Options* options, std::string_view value) {
  const auto pause = ParseTime(value, kMinPauseNs);
  return pause <= kMaxPauseNs && Set(&options->paths_pause_ns, pause);
}

bool SetPathsRetained(Options* options, std::string_view value) {
  options->paths_retained_ns = 0;
  if (value == "off") return true;
  const auto time = ParseTime(value, kMinPauseNs);
  return time <= kMaxPauseNs && Set(&options->paths_retained_ns, time);
}

bool SetCensus(Options* options, std::string_view value) {
  options->census = value == "all" ? format::CensusMode::kAll : format::CensusMode::kOff;
  if (value == "all" || value == "off") return true;
  options->census = format::CensusMode::kDrawn;
  const auto rate = ParseRate(value);
  return rate >= 1.0 && rate <= kMaxWalksPerSecond && *rate == std::floor(*rate) &&
         Set(&options->census_per_second, rate);
}

// The ring receives four times as many.
constexpr uint64_t kMaxMapsPerSecond = 2000;

bool SetMaps(Options* options, std::string_view value) {
  options->maps_per_second = 0;
  return value == "off" || Set(&options->maps_per_second, ParseCount(value, 1, kMaxMapsPerSecond));
}

bool SetNmt(Options* options, std::string_view value) {
  options->nmt_ns = 0;
  options->no_nmt = value == "off";
  if (value == "auto" || value == "off") return true;
  return Set(&options->nmt_ns, ParseTime(value, kMinNmtNs));
}

bool SetLabels(Options* options, std::string_view value) {
  return Choose(&options->labels, value,
                {{"on", LabelChoice::kOn}, {"off", LabelChoice::kOff}, {"redact", LabelChoice::kRedact}});
}

struct Key {
  std::string_view name, valid;  // valid: description of valid values
  bool (*set)(Options*, std::string_view);
};
using View = std::string_view;
const std::array kKeys = {
    Key{"file", "a file name; %p = PID, %t = time, %n = number",
        [](Options* o, View v) { return o->file = v, !v.empty(); }},
    Key{"rate", "a rate, such as 150, 150/s, 6/min or 10/h; maximum 200000/s",
        [](Options* o, View v) { return Set(&o->rate_per_second, ParseRate(v)); }},
    Key{"points", "a rate, such as 4000 or 4000/s; maximum 100000/s; max; 0: count samples only", SetPoints},
    Key{"throttle", "adaptive, or window: a fixed probability for each 200 ms",
        [](Options* o, View v) {
          return Choose(&o->rule, v, {{"adaptive", throttle::Rule::kAdaptive}, {"window", throttle::Rule::kWindow}});
        }},
    Key{"maxsamples", "a number, 1 or more",
        [](Options* o, View v) { return Set(&o->max_samples, ParseCount(v, 1, UINT64_MAX)); }},
    Key{"duration", "a time, such as 500ms, 30s, 5m or 1h",
        [](Options* o, View v) { return Set(&o->duration_ns, ParseTime(v)); }},
    Key{"delay", "a time, such as 500ms, 30s, 5m or 1h",
        [](Options* o, View v) { return Set(&o->delay_ns, ParseTime(v)); }},
    Key{"stackdepth", "a number from 1 to 1024",
        [](Options* o, View v) { return Set(&o->stack_depth, ParseCount(v, 1, kMaxStackDepth)); }},
    Key{"stacks", "auto or jvmti",
        [](Options* o, View v) {
          return Choose(&o->walk_stacks, v, {{"auto", true}, {"jvmti", false}});
        }},
    Key{"source", "auto, hooks, jvmti or portable", [](Options* o, View v) { return Choose(&o->source, v, kSources); }},
    Key{"exceptions", "on or off: record thrown exceptions too",
        [](Options* o, View v) { return Set(&o->exceptions, ParseSwitch(v)); }},
    Key{"exceptions.rate", "a rate, such as 100, 100/s, 6/min or 10/h; maximum 200000/s",
        [](Options* o, View v) { return Set(&o->exceptions_per_second, ParseRate(v)); }},
    Key{"native", "on or off: sample native memory too",
        [](Options* o, View v) { return Set(&o->native, ParseSwitch(v)); }},
    Key{"native.rate", "a rate, such as 100, 100/s, 6/min or 10/h; maximum 200000/s",
        [](Options* o, View v) { return Set(&o->native_per_second, ParseRate(v)); }},
    Key{"native.mmap_rate", "off, or the maximum mappings per second, 1 to 2000", SetMaps},
    Key{"nmt", "auto, off, or the time between native-memory snapshots, 1s or more, such as 10s", SetNmt},
    Key{"live", "on, off, or the maximum number of tracked objects, 64 to 65535", SetLive},
    Key{"paths", "off, on, or the time between searches, 1s or more, such as 10m", SetPaths},
    Key{"paths.pause", "a time from 5ms to 60s", SetPathsPause},
    Key{"paths.retained", "off, or a time from 5ms to 60s", SetPathsRetained},
    Key{"paths.memory", "a size of 1m or more, such as 64m",
        [](Options* o, View v) { return Set(&o->paths_memory, ParseSize(v)); }},
    Key{"census", "off, all, or the number of TLABs to walk per second, 1/s to 8000/s", SetCensus},
    Key{"ring", "auto, off, or a file name on a tmpfs", [](Options* o, View v) { return o->ring = v, !v.empty(); }},
    Key{"service", "the service name for OpenTelemetry exports",
        [](Options* o, View v) { return o->service = v, !v.empty(); }},
    Key{"labels", "on, off, or redact: hashes instead of values", SetLabels},
    Key{"sync", "the time between two fdatasync calls, such as 5s; block: after each block; or none", SetSync},
    Key{"maxsize", "a size of 1m or more, such as 64m or 1g, or none", SetMaxSize},
    Key{"maxage", "a time of 10s or more, such as 10m, 6h or 1d",
        [](Options* o, View v) { return Set(&o->limits.max_age_ns, ParseTime(v, kMinFileNs)); }},
    Key{"rotate", "a size of 1m or more, such as 100m or 1g, or a time of 10s or more, such as 90s, 30min or 1h",
        SetRotation},
    Key{"only", "a main class or jar to record; * = any characters (repeatable)",
        [](Options* o, View v) { return o->only.emplace_back(v), !v.empty(); }},
    Key{"skip", "a main class or jar not to record; * = any characters (repeatable)",
        [](Options* o, View v) { return o->skip.emplace_back(v), !v.empty(); }},
    Key{"loglevel", "off, error, warn, info or debug", SetLogLevel},
    Key{"strict", "on or off: exit the JVM if it cannot be recorded",
        [](Options* o, View v) { return Set(&o->strict, ParseSwitch(v)); }},
};

constexpr std::array<std::string_view, 14> kValid{
    "file", "rate",    "only",   "native.mmap_rate", "duration", "throttle", "ring",
    "sync", "maxsize", "maxage", "rotate",           "loglevel", "service",  "labels"};

// native.rate is the name in the agent's options for a JVM, where `rate` is that of the heap.
bool IsValid(std::string_view key) { return key == "native.rate" || std::ranges::find(kValid, key) != kValid.end(); }

Result<ProgramOptions> Parse(const std::vector<Option>& given) {
  ProgramOptions plain;
  std::vector<Option> common;
  bool has_rate = false;
  for (const Option& option : given) {
    if (option.key == "only") {
      plain.only = option.value;
    } else if (option.key == "reply") {
      plain.reply_file = option.value;
    } else if (IsValid(option.key)) {
      common.push_back(option);
      has_rate = has_rate || option.key == "rate";
    } else {
      return Error{fmt::format("{}option `{}` is not available without a JVM; valid options: {}", option.where,
                               option.key, fmt::join(kValid, ", "))};
    }
  }
  auto options = ParseOptions(common);
  if (!options.ok()) return options.error();
  plain.options = std::move(*options);
  plain.options.native = true;
  if (has_rate) plain.options.native_per_second = plain.options.rate_per_second;
  return plain;
}

}  // namespace

Result<std::vector<Option>> SplitOptions(std::string_view text) {
  std::vector<Option> options;
  while (!text.empty()) {
    const std::string part = Unescaped(TakePart(&text));
    if (part.starts_with('@')) {
      auto added = AddFile(part.substr(1), &options);
      if (!added.ok()) return added.error();
    } else if (!part.empty()) {
      options.push_back(ToOption(part, ""));
    }
  }
  return options;
}

std::string AsText(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    if (!text.empty()) text += ',';
    text += option.value.empty() ? option.key : fmt::format("{}={}", option.key, Escaped(option.value));
  }
  return text;
}

std::vector<std::string> OptionNames() {
  std::vector<std::string> names;
  for (const Key& key : kKeys) names.emplace_back(key.name);
  return names;
}

bool Options::Records(const std::string& main) const {
  const char* const part = main.c_str() + (main.rfind('/') + 1);
  const auto matches = [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), main.c_str(), FNM_NOESCAPE) == 0 ||
           fnmatch(pattern.c_str(), part, FNM_NOESCAPE) == 0;
  };
  return (only.empty() || std::ranges::any_of(only, matches)) && std::ranges::none_of(skip, matches);
}

std::string_view SourceName(SourceChoice choice) {
  return std::ranges::find(kSources, choice, &std::pair<std::string_view, SourceChoice>::second)->first;
}

Result<Options> ParseOptions(std::string_view text) {
  const auto given = SplitOptions(text);
  if (!given.ok()) return given.error();
  return ParseOptions(*given);
}

Result<Options> ParseOptions(const std::vector<Option>& given) {
  Options options;
  options.given = AsText(given);
  bool is_bounded = false;
  for (const Option& option : given) {
    const auto key = std::ranges::find(kKeys, option.key, &Key::name);
    if (key == kKeys.end()) {
      return Error{fmt::format("{}unknown option `{}`; valid options: {}", option.where, option.key,
                               fmt::join(OptionNames(), ", "))};
    }
    if (!key->set(&options, option.value)) {
      return Error{fmt::format("{}invalid value `{}` for option `{}`; valid: {}", option.where, option.value,
                               option.key, key->valid)};
    }
    is_bounded = is_bounded || option.key == "maxsize" || option.key == "maxage" || option.key == "rotate";
  }
  if (options.paths && !options.tracks) return Error{"paths needs tracked objects; remove live=off"};
  if (!is_bounded) options.limits.max_bytes = kDefaultMaxBytes;
  return options;
}

bool AsksForStrict(std::string_view text) {
  const auto given = SplitOptions(text);
  // If an options file cannot be read, only the options outside it are considered.
  if (!given.ok()) return fmt::format(",{},", text).find(",strict,") != std::string::npos;
  bool strict = false;
  for (const Option& option : *given) {
    if (option.key == "strict") strict = ParseSwitch(option.value).value_or(false);
  }
  return strict;
}

Result<ProgramOptions> ParseProgramOptions(std::string_view text) {
  const auto given = SplitOptions(text);
  if (!given.ok()) return given.error();
  return Parse(*given);
}

}  // namespace heaprec::agent
