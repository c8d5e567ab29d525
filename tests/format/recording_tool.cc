// For tests: `write SEED OUT` makes a random recording, `dump FILE` prints what the reader makes of one, as
// decode.py does: each byte of a name is one character, doubles are strings.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

using nlohmann::json;

std::string Latin1(const std::string& bytes) {
  std::string utf8;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) utf8 += static_cast<char>(0xc0 | byte >> 6);
    utf8 += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
  }
  return utf8;
}

std::string Number(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

json Header(const FileHeader& header) {
  std::string id;
  for (const uint8_t byte : header.recording_id) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    id += digits;
  }
  json fields{{"1", id},
              {"2", header.start_epoch_ns},
              {"3", header.start_monotonic_ns},
              {"4", header.interval_ns},
              {"5", header.interval_cap},
              {"6", Number(header.rate_per_second)},
              {"7", header.pid},
              {"8", header.boot_id},
              {"9", header.container_id},
              {"10", header.jvm_name},
              {"11", header.jvm_version},
              {"12", header.gc_name},
              {"13", header.agent_version},
              {"14", header.agent_options},
              {"15", header.source},
              {"16", header.source_reason},
              {"17", header.ring_path},
              {"18", header.max_samples}};
  // These are there only if they say something.
  const std::pair<const char*, json> more[] = {{"19", header.duration_ns},
                                               {"20", header.exceptions.interval_ns},
                                               {"21", header.exceptions.interval_cap},
                                               {"22", Number(header.exceptions.rate_per_second)},
                                               {"23", header.exceptions_unavailable_reason},
                                               {"25", header.max_tracked_objects},
                                               {"26", static_cast<int>(header.census)},
                                               {"27", Number(header.census_per_second)},
                                               {"28", header.census_unavailable_reason},
                                               {"29", header.native.interval_ns},
                                               {"30", header.native.interval_cap},
                                               {"31", Number(header.native.rate_per_second)},
                                               {"32", header.native_unavailable_reason},
                                               {"33", header.max_tracked_blocks},
                                               {"34", header.mapped.interval_ns},
                                               {"35", header.mapped.interval_cap},
                                               {"36", Number(header.mapped.rate_per_second)},
                                               {"37", header.max_tracked_mappings},
                                               {"39", header.native_not_seen},
                                               {"40", header.source_facts}};
  for (const auto& [number, value] : more) {
    if (value != 0 && value != "" && value != "0") fields[number] = value;
  }
  for (const ServiceLabel& label : header.service_labels) fields["38"].push_back({label.key, label.value});
  return fields;
}

json Stack(const Dictionaries& names, Index leaf, bool* cut) {
  json frames = json::array();
  for (Index node = leaf; node != kNone; node = names.stacks[node].parent) {
    const Frame& frame = names.frames[names.stacks[node].frame];
    std::string method = "?";
    if (frame.method != kNone) {
      const Method& known = names.methods[frame.method];
      method = Latin1(known.class_name + "." + known.name + "." + known.descriptor);
    }
    frames.push_back({method, frame.bci, frame.line});
    if (frame.type != FrameType::kUnknown) frames.back().push_back(static_cast<int>(frame.type));
    *cut = names.stacks[node].truncated;
  }
  return frames;
}

json OneSample(const Sample& sample, const Dictionaries& names) {
  bool cut = false;
  json line{{"id", sample.id},
            {"time", sample.time_ns},
            {"kind", static_cast<int>(sample.kind)},
            {"size", sample.size},
            {"tlab", sample.tlab_size},
            {"window", sample.window},
            {"class", nullptr},
            {"thread", nullptr},
            {"weight", Number(sample.weight)},
            {"stack", Stack(names, sample.stack, &cut)}};
  line["cut"] = cut ? 1 : 0;
  if (sample.class_id != kNone) line["class"] = Latin1(names.classes[sample.class_id]);
  if (sample.thread != kNone) {
    const Thread& thread = names.threads[sample.thread];
    line["thread"] = {thread.java_tid, thread.os_tid, thread.is_virtual ? 1 : 0, Latin1(thread.name)};
  }
  return line;
}

// What a block has of a stream.
json OneStream(const Block& block, Stream stream) {
  const StreamCounters& counters = block.counters[stream];
  json line{{"counters",
             {counters.candidates, counters.candidate_bytes, counters.points, counters.thinned, counters.committed,
              counters.written, counters.second_stage, counters.stacks_walked, counters.stacks_from_jvmti,
              counters.stack_mismatches}},
            {"lost", json::array()},
            {"lost_bytes", json::array()},
            {"windows", json::array()},
            {"intervals", json::array()},
            {"samples", json::array()}};
  if (counters.untracked != 0 || counters.unseen_allocators != 0) line["counters"].push_back(counters.untracked);
  if (counters.unseen_allocators != 0) line["counters"].push_back(counters.unseen_allocators);
  size_t losses = kLosses;
  while (losses > kRingLosses && counters.lost[losses - 1] == 0 && counters.lost_weight[losses - 1] == 0) --losses;
  for (size_t i = 0; i < losses; ++i) {
    line["lost"].push_back(counters.lost[i]);
    line["lost_bytes"].push_back(Number(counters.lost_weight[i]));
  }
  for (const Window& window : block.windows) {
    if (StreamOfWindow(window.id) != stream) continue;
    json& row = line["windows"].emplace_back(json{window.id, window.start_ns, Number(window.lambda)});
    if (window.point_lambda > 0) row.push_back(Number(window.point_lambda));
  }
  for (const Interval& interval : block.intervals) {
    if (interval.stream != stream) continue;
    line["intervals"].push_back(
        {interval.index, interval.candidates, interval.bytes, interval.buffered, interval.kept, Number(interval.tau)});
  }
  for (const Sample& sample : block.samples) {
    if (sample.stream() == stream) line["samples"].push_back(OneSample(sample, *block.dictionaries));
  }
  return line;
}

json CensusRows(const std::vector<CensusRow>& rows, const Dictionaries& names) {
  json lines = json::array();
  for (const CensusRow& row : rows) {
    const CensusSum& objects = row.objects;
    const CensusSum& bytes = row.bytes;
    json line{row.time_ns,
              nullptr,
              nullptr,
              row.walks,
              objects.counted,
              bytes.counted,
              Number(objects.weight_excess),
              Number(bytes.weight_excess),
              Number(objects.variance),
              Number(bytes.variance),
              Number(objects.covariance),
              Number(bytes.covariance)};
    if (row.thread != kNone) {
      const Thread& thread = names.threads[row.thread];
      line[1] = {thread.java_tid, thread.os_tid, thread.is_virtual ? 1 : 0, Latin1(thread.name)};
    }
    if (row.class_id != kNone) line[2] = Latin1(names.classes[row.class_id]);
    lines.push_back(std::move(line));
  }
  return lines;
}

// What is there only if it says something.
void AddCensus(const Block& block, json* line) {
  if (!block.census.empty()) (*line)["census"] = CensusRows(block.census, *block.dictionaries);
  if (!block.census_totals.empty()) (*line)["census_totals"] = CensusRows(block.census_totals, *block.dictionaries);
  if (block.census_counters == CensusCounters{}) return;
  for (const auto counter : kCensusCounterFields) (*line)["census_counters"].push_back(block.census_counters.*counter);
  (*line)["census_page"] = block.census_page;
}

void AddLifecycleEvents(const Block& block, Stream stream, json* line) {
  for (const LifecycleEvent& lifecycle : block.lifecycle_events) {
    if (lifecycle.stream != stream) continue;
    (*line)["fates"].push_back({lifecycle.sample, lifecycle.time_ns, static_cast<int>(lifecycle.kind),
                                lifecycle.collections, Number(lifecycle.threshold)});
    if (lifecycle.kind == LifecycleKind::kShrunk) (*line)["fates"].back().push_back(lifecycle.left);
  }
  for (const CheckpointSample& checkpoint_sample : block.live_checkpoint) {
    if (checkpoint_sample.sample.stream() != stream) continue;
    json one = OneSample(checkpoint_sample.sample, *block.dictionaries);
    one["threshold"] = Number(checkpoint_sample.threshold);
    one["collections"] = checkpoint_sample.collections;
    if (checkpoint_sample.gone != 0) one["gone"] = checkpoint_sample.gone;
    (*line)["survivors"].push_back(std::move(one));
  }
}

void AddRows(const char* name, const std::vector<Row>& rows, const Block& block, json* line) {
  for (const Row& row : rows) {
    bool cut = false;
    json one{{"class", nullptr},
             {"points", row.points},
             {"seen", row.seen},
             {"path", Stack(*block.dictionaries, row.stack, &cut)},
             {"sums",
              {Number(row.bytes), Number(row.objects), Number(row.bytes_variance), Number(row.objects_variance),
               Number(row.covariance), Number(row.bytes_fourth), Number(row.objects_fourth)}}};
    one["cut"] = cut ? 1 : 0;
    if (row.class_id != kNone) one["class"] = Latin1(block.dictionaries->classes[row.class_id]);
    (*line)[name].push_back(std::move(one));
  }
}

bool SaysSomething(const Block& block, Stream stream, const json& of_stream) {
  return !(block.counters[stream] == StreamCounters{}) || !of_stream["windows"].empty() ||
         !of_stream["intervals"].empty() || !of_stream["samples"].empty();
}

void AddTracked(const Block& block, Stream stream, const char* name, json* line) {
  json rows = OneStream(block, stream);
  AddLifecycleEvents(block, stream, &rows);
  if (rows.contains("fates") || rows.contains("survivors") || SaysSomething(block, stream, rows)) (*line)[name] = rows;
}

json OneBlock(const Block& block) {
  json line = OneStream(block, Stream::kAllocations);
  line["chunk"] = block.chunk;
  line["offset"] = block.offset;
  line["end"] = block.end_ns;
  line["lanes"] = block.lane_positions;
  line["ending"] = nullptr;
  const json exceptions = OneStream(block, Stream::kExceptions);
  if (SaysSomething(block, Stream::kExceptions, exceptions)) line["exceptions"] = exceptions;
  for (const ProcessState& state : block.states) {
    line["states"].push_back({state.id, state.time_ns, static_cast<int>(state.kind), state.used, state.committed,
                              state.pauses, state.paused_ns, state.threads, state.rss, Latin1(state.cause)});
    if (state.collections != 0 || state.old_collections) line["states"].back().push_back(state.collections);
    if (state.old_collections) line["states"].back().push_back(*state.old_collections);
    json account = json::array();
    for (const auto& [item, amount] : state.account.taken()) account.push_back({static_cast<int>(item), amount.code()});
    if (!account.empty()) line["states"].back().push_back(account);
    if (!IsEvent(state.kind)) continue;
    const Sample named{.thread = state.thread, .class_id = state.class_id, .stack = state.stack};
    const json sample = OneSample(named, *block.dictionaries);
    line["states"].back().push_back(
        {{"thread", sample["thread"]}, {"class", sample["class"]}, {"stack", sample["stack"]}, {"cut", sample["cut"]}});
  }
  AddLifecycleEvents(block, Stream::kAllocations, &line);
  AddTracked(block, Stream::kNative, "native", &line);
  AddTracked(block, Stream::kMapping, "mapped", &line);
  AddCensus(block, &line);
  AddRows("rows", block.rows, block, &line);
  AddRows("outside", block.outside, block, &line);
  if (block.row_interval) line["row_interval"] = {block.row_interval->first, block.row_interval->is_last ? 1 : 0};
  if (block.ending) line["ending"] = {block.ending->time_ns, Latin1(block.ending->reason)};
  return line;
}

int Dump(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  MemoryByteSource source(AsBytes(bytes), path);
  auto reader = Reader::Open(&source);
  if (!reader) {
    std::cerr << reader.error().message << '\n';
    return EXIT_FAILURE;
  }
  json document{{"header", Header((*reader)->header())}, {"blocks", json::array()}};
  while (const auto block = (*reader)->Next()) document["blocks"].push_back(OneBlock(*block));
  document["whole"] = (*reader)->skipped().empty();
  std::cout << document << '\n';
  return EXIT_SUCCESS;
}

int Write(const char* seed, const char* path) {
  RandomRecording recording(static_cast<uint32_t>(std::strtoul(seed, nullptr, 10)));
  recording.AddChunk(3, 20);
  recording.AddChunk(1, 0);
  recording.AddChunk(2, 30, /*ending=*/true);
  std::ofstream file(path, std::ios::binary);
  file << AsText(recording.bytes());
  return file.good() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace heaprec::format::testing

int main(int argc, char** argv) try {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "dump" && argc == 3) return heaprec::format::testing::Dump(argv[2]);
  if (command == "write" && argc == 4) return heaprec::format::testing::Write(argv[2], argv[3]);
  std::fputs("recording_tool write SEED OUT | dump FILE\n", stderr);
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return EXIT_FAILURE;
}
