#include "tests/format/recordings.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "format/bytes/layout.h"
#include "format/model/sample.h"

namespace heaprec::format::testing {
namespace {

std::string Text(const Method& method, int32_t bci, int32_t line, FrameType type) {
  return method.class_name + "." + method.name + method.descriptor + " @" + std::to_string(bci) + " :" +
         std::to_string(line) + (type == FrameType::kUnknown ? "" : std::string(" ") + FrameTypeName(type));
}

std::string Text(const Thread& thread) {
  return thread.name + " " + std::to_string(thread.java_tid) + " " + std::to_string(thread.os_tid) +
         (thread.is_virtual ? " virtual" : "");
}

PlainSample Resolved(const Sample& sample, const Dictionaries& names) {
  PlainSample plain{.sample = sample, .thread = {}, .class_name = {}, .stack = {}};
  if (sample.thread != kNone) plain.thread = Text(names.threads.at(sample.thread));
  if (sample.class_id != kNone) plain.class_name = names.classes.at(sample.class_id);
  for (Index node = sample.stack; node != kNone; node = names.stacks.at(node).parent) {
    const Frame& frame = names.frames.at(names.stacks[node].frame);
    const Method method = frame.method == kNone ? Method{} : names.methods.at(frame.method);
    plain.stack.push_back(Text(method, frame.bci, frame.line, frame.type));
    plain.truncated = names.stacks[node].truncated;
  }
  std::ranges::reverse(plain.stack);
  return plain;
}

}  // namespace

FileHeader SomeFileHeader(uint32_t seed) {
  FileHeader header;
  for (size_t i = 0; i < header.recording_id.size(); ++i) {
    header.recording_id[i] = static_cast<uint8_t>(seed * 31 + i * 7);
  }
  header.start_epoch_ns = 1'700'000'000'123'456'789;
  header.start_monotonic_ns = 987'654'321'000;
  header.interval_ns = 1'000'000'000;
  header.interval_cap = 150;
  header.rate_per_second = 150;
  header.pid = 4242;
  header.boot_id = "0d9e2b1c-5f0e-4d3b-9a55-000000000001";
  header.container_id = "";
  header.jvm_name = "OpenJDK 64-Bit Server VM";
  header.jvm_version = "17.0.21+1";
  header.gc_name = "G1";
  header.agent_version = "0.1.0";
  header.agent_options = "file=rec.hrec,rate=150";
  header.source = "hooks";
  header.source_reason = "symbols of libjvm.so found";
  header.Note(SourceFact::kKeepsYoungReferents);
  header.ring_path = "/dev/shm/heaprec-4242.ring";
  header.max_samples = 5000;
  header.duration_ns = 60'000'000'000;
  header.max_tracked_objects = 4096;
  header.native = {500'000'000, 50, 100.5};
  header.max_tracked_blocks = 16384;
  header.mapped = {1'000'000'000, 1000, 1000};
  header.max_tracked_mappings = 32768;
  header.census = CensusMode::kDrawn;
  header.census_per_second = 20;
  header.service_labels = {{"service.name", "shop"}, {"deployment.environment.name", "pr\xc3\xa9prod"}};
  header.exceptions = {.interval_ns = 500'000'000, .interval_cap = 50, .rate_per_second = 100};
  return header;
}

RandomRecording::RandomRecording(uint32_t seed, bool has_parity)
    : random_(seed), has_parity_(has_parity), header_(SomeFileHeader(seed)) {
  bytes_ = EncodeFileHeader(header_);
}

uint64_t RandomRecording::AnyInteger() { return random_() >> Uniform(64); }

std::string RandomRecording::AnyString() {
  std::string text(Uniform(24), ' ');
  for (char& c : text) c = static_cast<char>(Uniform(10) == 0 ? 1 + Uniform(255) : 'a' + Uniform(26));
  return text;
}

Index RandomRecording::AddStack(ChunkWriter* writer, PlainSample* plain) {
  std::vector<StackFrame> leaf_first;
  for (uint64_t depth = Uniform(12); depth > 0; --depth) {
    // Few of each, so that there is something to intern.
    const Method method{"p/C" + std::to_string(Uniform(3)), "m" + std::to_string(Uniform(4)), "()V"};
    const bool known = Uniform(20) != 0;
    StackFrame frame{known ? writer->InternMethod(method) : kNone, static_cast<int32_t>(Uniform(3)) - 1,
                     static_cast<int32_t>(Uniform(4) == 0 ? AnyInteger() & 0x7fffffff : Uniform(3)) - 1,
                     Uniform(3) == 0 ? static_cast<FrameType>(Uniform(kFrameTypes)) : FrameType::kUnknown};
    leaf_first.push_back(frame);
    plain->stack.push_back(Text(known ? method : Method{}, frame.bci, frame.line, frame.type));
  }
  std::ranges::reverse(plain->stack);
  plain->truncated = !leaf_first.empty() && Uniform(5) == 0;
  return writer->InternStack(leaf_first, plain->truncated);
}

void RandomRecording::Fill(ChunkWriter* writer, PlainSample* plain) {
  Sample& sample = plain->sample;
  sample.id = next_id_ + Uniform(3);
  next_id_ = Uniform(50) == 0 ? AnyInteger() : sample.id + 1;
  sample.time_ns = now_ns_ - Uniform(std::min<uint64_t>(now_ns_ + 1, 1'000'000'000));
  const Thread thread{Uniform(5), static_cast<uint32_t>(Uniform(5)), Uniform(2) == 0, "t" + std::to_string(Uniform(4))};
  if (Uniform(10) != 0) {
    sample.thread = writer->InternThread(thread);
    plain->thread = Text(thread);
  }
  if (Uniform(10) != 0) {
    plain->class_name = Uniform(10) == 0 ? AnyString() : "java/lang/C" + std::to_string(Uniform(6));
    sample.class_id = writer->InternClass(plain->class_name);
  }
  sample.stack = AddStack(writer, plain);
}

PlainSample RandomRecording::AddSample(ChunkWriter* writer, const std::vector<Window>& windows,
                                       const std::vector<Interval>& intervals) {
  PlainSample plain{.sample = {}, .thread = {}, .class_name = {}, .stack = {}};
  Sample& sample = plain.sample;
  sample.kind = Uniform(4) == 0 ? Kind::kOutside : Kind::kTlab;
  Fill(writer, &plain);
  sample.size = Uniform(10) == 0 ? AnyInteger() : 8 * (1 + Uniform(40));
  sample.tlab_size = sample.kind == Kind::kOutside ? 0 : Uniform(10) == 0 ? AnyInteger() : 65536;
  const Window& window = windows[Uniform(windows.size())];
  sample.window = window.id;
  switch (Uniform(4)) {
    case 0:  // weights that no rule gives
      sample.weight = static_cast<double>(AnyInteger());
      break;
    case 1:
      sample.weight = FirstStageWeight(WeightRule::kPerByte, window.lambda, sample.size);
      break;
    default:
      sample.weight = std::max(FirstStageWeight(WeightRule::kPerByte, window.lambda, sample.size),
                               intervals[Uniform(intervals.size())].tau);
  }
  if (Uniform(30) == 0) sample.window = 0xfffffff0;  // no window of this chunk
  writer->Add(sample);
  return plain;
}

PlainSample RandomRecording::AddException(ChunkWriter* writer, const Window& window, const Interval& interval) {
  PlainSample plain{.sample = {}, .thread = {}, .class_name = {}, .stack = {}};
  plain.sample.kind = Kind::kException;
  Fill(writer, &plain);
  plain.sample.window = window.id;
  const double first = FirstStageWeight(WeightRule::kCount, window.lambda, 0);
  plain.sample.weight = Uniform(5) == 0 ? static_cast<double>(AnyInteger()) : std::max(first, interval.tau);
  writer->Add(plain.sample);
  return plain;
}

void RandomRecording::AddExceptions(ChunkWriter* writer, PlainBlock* plain, int samples) {
  const Window window{next_exception_window_++, now_ns_, 1.0 / static_cast<double>(1 + Uniform(1000))};
  const Interval interval{.index = Uniform(100),
                          .candidates = AnyInteger(),
                          .buffered = AnyInteger(),
                          .kept = AnyInteger(),
                          .tau = static_cast<double>(Uniform(1000)),
                          .stream = Stream::kExceptions};
  plain->block.windows.push_back(window);
  plain->block.intervals.push_back(interval);
  writer->Add(window);
  writer->Add(interval);
  for (int i = 0; i < samples; ++i) plain->samples.push_back(AddException(writer, window, interval));
  counters_[Stream::kExceptions].candidates += AnyInteger() >> 20;
  counters_[Stream::kExceptions].written += static_cast<uint64_t>(samples);
  counters_[Stream::kExceptions].lost_weight[Uniform(kLosses)] += static_cast<double>(Uniform(100)) / 7;
}

void RandomRecording::AddNative(ChunkWriter* writer, PlainBlock* plain, Stream stream, int samples) {
  uint32_t& next_window = stream == Stream::kNative ? next_native_window_ : next_mapping_window_;
  const Window window{next_window++, now_ns_, 1.0 / static_cast<double>(1 + Uniform(1000))};
  const Interval interval{.index = Uniform(100),
                          .candidates = AnyInteger(),
                          .bytes = AnyInteger(),
                          .buffered = AnyInteger(),
                          .kept = AnyInteger(),
                          .tau = static_cast<double>(Uniform(1000)),
                          .stream = stream};
  plain->block.windows.push_back(window);
  plain->block.intervals.push_back(interval);
  writer->Add(window);
  writer->Add(interval);
  for (int i = 0; i < samples; ++i) {
    PlainSample native{.sample = {}, .thread = {}, .class_name = {}, .stack = {}};
    native.sample.kind = stream == Stream::kNative ? Kind::kNative : Kind::kMapping;
    Fill(writer, &native);
    native.sample.size = 1 + Uniform(100'000);
    native.sample.window = window.id;
    native.sample.weight =
        std::max(FirstStageWeight(WeightRule::kPerByte, window.lambda, native.sample.size), interval.tau);
    writer->Add(native.sample);
    plain->samples.push_back(native);
  }
  counters_[stream].candidates += AnyInteger() >> 20;
  counters_[stream].written += static_cast<uint64_t>(samples);
}

void RandomRecording::AddStates(ChunkWriter* writer, PlainBlock* plain) {
  for (uint64_t i = Uniform(5); i > 0; --i) {
    ProcessState state;
    state.id = next_state_ += Uniform(10) == 0 ? Uniform(5) : 1;
    state.time_ns = now_ns_ - Uniform(std::min<uint64_t>(now_ns_ + 1, 1'000'000'000));
    state.kind = static_cast<ProcessStateKind>(Uniform(kProcessStateKinds));
    state.used = AnyInteger();
    state.committed = AnyInteger();
    state.pauses = Uniform(3);
    state.paused_ns = Uniform(3) == 0 ? AnyInteger() : 0;
    state.threads = Uniform(50);
    state.rss = AnyInteger();
    state.collections = Uniform(3) == 0 ? AnyInteger() : Uniform(4);
    if (Uniform(2) == 0) state.old_collections = Uniform(4);
    if (state.kind == ProcessStateKind::kGcBegin) state.cause = "Cause " + std::to_string(Uniform(4));
    if (state.kind == ProcessStateKind::kSnapshot) {
      for (uint64_t taken = Uniform(9); taken > 0; --taken)
        state.account.Set(static_cast<AccountItem>(Uniform(kAccountItems)), Amount::OfCode(AnyInteger()));
    }
    if (IsEvent(state.kind)) {
      PlainSample named{.sample = {}, .thread = {}, .class_name = {}, .stack = {}};
      Fill(writer, &named);
      state.cause = "Message " + std::to_string(Uniform(4));
      state.thread = named.sample.thread;
      state.stack = named.sample.stack;
      state.class_id = named.sample.class_id;
    }
    writer->Add(state);
    plain->block.states.push_back(state);
  }
}

void RandomRecording::AddLifecycleEvents(ChunkWriter* writer, PlainBlock* plain) {
  for (uint64_t i = Uniform(6); i > 0; --i) {
    LifecycleEvent lifecycle;
    lifecycle.sample = AnyInteger();
    lifecycle.time_ns = now_ns_ + Uniform(1000);
    lifecycle.kind = static_cast<LifecycleKind>(Uniform(kLifecycleKinds));
    lifecycle.collections = Uniform(5) == 0 ? AnyInteger() : Uniform(3);
    if (lifecycle.kind == LifecycleKind::kEvicted) lifecycle.threshold = static_cast<double>(AnyInteger());
    if (lifecycle.kind == LifecycleKind::kShrunk) lifecycle.left = AnyInteger();
    if (Uniform(3) == 0) lifecycle.stream = Uniform(2) == 0 ? Stream::kNative : Stream::kMapping;
    plain->block.lifecycle_events.push_back(lifecycle);
  }
  std::ranges::stable_sort(plain->block.lifecycle_events, {}, [](const LifecycleEvent& lifecycle) {
    return std::pair(lifecycle.time_ns, lifecycle.stream);
  });
  for (const LifecycleEvent& lifecycle : plain->block.lifecycle_events) writer->Add(lifecycle);
}

void RandomRecording::AddCheckpoint(ChunkWriter* writer, PlainBlock* plain) {
  for (uint64_t i = Uniform(5); i > 0; --i) {
    CheckpointSample checkpoint_sample;
    PlainSample named{.sample = {}, .thread = {}, .class_name = {}, .stack = {}};
    named.sample.kind = Uniform(4) == 0 ? Kind::kOutside : Kind::kTlab;
    Fill(writer, &named);
    named.sample.time_ns = named.sample.time_ns / kTickNs * kTickNs;
    named.sample.size = AnyInteger();
    checkpoint_sample.gone = Uniform(3) == 0 ? named.sample.size / 2 : 0;
    named.sample.tlab_size = Uniform(3) == 0 ? AnyInteger() : 0;
    named.sample.weight = static_cast<double>(AnyInteger());
    checkpoint_sample.sample = named.sample;
    checkpoint_sample.threshold = Uniform(3) == 0 ? 0 : static_cast<double>(AnyInteger());
    checkpoint_sample.collections = Uniform(100);
    writer->Add(checkpoint_sample);
    plain->block.live_checkpoint.push_back(checkpoint_sample);
    plain->live_checkpoint.push_back(std::move(named));
  }
}

void RandomRecording::AddCensus(ChunkWriter* writer, PlainBlock* plain) {
  const auto sum = [this] {
    const bool drawn = Uniform(2) == 0;
    return CensusSum{AnyInteger(), drawn ? static_cast<double>(AnyInteger()) / 3 : 0,
                     drawn ? static_cast<double>(AnyInteger()) : 0, drawn ? static_cast<double>(AnyInteger()) : 0};
  };
  for (uint64_t i = Uniform(6); i > 0; --i) {
    PlainSample named{.sample = {}, .thread = {}, .class_name = {}, .stack = {}};
    Fill(writer, &named);
    CensusRow row{now_ns_ / kCensusSlotNs * kCensusSlotNs,
                  named.sample.thread,
                  named.sample.class_id,
                  1 + Uniform(9),
                  sum(),
                  sum()};
    writer->AddCensus(row);
    plain->block.census.push_back(row);
    row.class_id = kNone;
    writer->AddCensusTotal(row);
    plain->block.census_totals.push_back(row);
  }
  for (const auto counter : kCensusCounterFields) census_.*counter += Uniform(1000);
  plain->block.census_counters = census_;
  plain->block.census_page = Uniform(1000);
  writer->SetCensus(census_, plain->block.census_page);
}

// Of one point or of several, of one class and path once.
bool RandomRecording::AddRows(ChunkWriter* writer, bool are_due, PlainBlock* plain) {
  std::map<std::pair<Index, Index>, std::pair<Row, PlainSample>> rows;
  for (uint64_t i = Uniform(12); i > 0; --i) {
    PlainSample named{.sample = {}, .thread = {}, .class_name = {}, .stack = {}};
    Fill(writer, &named);
    const Index class_id = named.sample.class_id, stack = named.sample.stack;
    auto& [row, names] = rows[{stack + 1, class_id + 1}];  // none first
    row.class_id = class_id;
    row.stack = stack;
    const uint64_t size = Uniform(10) == 0 ? 1 + (AnyInteger() >> 24) : 8 * (1 + Uniform(40));
    for (uint64_t points = Uniform(2) == 0 ? 1 : 1 + Uniform(9); points > 0; --points) {
      const double lambda = 1e-5 * static_cast<double>(1 + Uniform(9));
      row.Add(size, Uniform(9) == 0 ? static_cast<double>(size) : FirstStageWeight(WeightRule::kPerByte, lambda, size));
    }
    names = named;
  }
  for (const auto& [key, row] : rows) {
    writer->Add(row.first);
    const auto [open, is_new] = open_rows_.try_emplace(key, row);
    if (!is_new) open->second.first += row.first;
  }
  const uint32_t number = writer->next_block();
  if (!are_due && !open_rows_.empty()) {
    if (!open_since_) open_since_ = number;
    plain->block.row_interval = RowInterval{*open_since_, /*is_last=*/false};
    return true;
  }
  if (open_since_) plain->block.row_interval = RowInterval{*open_since_, /*is_last=*/true};
  open_since_.reset();
  for (const auto& [key, row] : open_rows_) {
    plain->block.rows.push_back(row.first);
    plain->rows.push_back(row.second);
  }
  open_rows_.clear();
  return false;
}

void RandomRecording::AddBlock(ChunkWriter* writer, int samples, bool last, bool ending) {
  now_ns_ += 250'000'000 + Uniform(1000);
  PlainBlock plain;
  Block& block = plain.block;
  for (uint64_t i = 1 + Uniform(4); i > 0; --i) {
    block.windows.push_back({next_window_++, now_ns_ + Uniform(1000), 1.0 / static_cast<double>(1 + AnyInteger())});
    block.intervals.push_back({Uniform(100), AnyInteger(), AnyInteger(), AnyInteger(), AnyInteger(),
                               Uniform(3) == 0 ? 0 : static_cast<double>(AnyInteger())});
  }
  for (Window& window : block.windows) {
    if (window.id % 2 == 0) window.point_lambda = 8 * window.lambda;
    writer->Add(window);
  }
  for (const Interval& interval : block.intervals) writer->Add(interval);
  for (int i = 0; i < samples; ++i) plain.samples.push_back(AddSample(writer, block.windows, block.intervals));
  if (Uniform(3) != 0) AddExceptions(writer, &plain, static_cast<int>(Uniform(6)));
  for (const Stream stream : {Stream::kNative, Stream::kMapping}) {
    if (Uniform(3) != 0) AddNative(writer, &plain, stream, static_cast<int>(Uniform(6)));
  }
  AddStates(writer, &plain);
  AddLifecycleEvents(writer, &plain);
  if (Uniform(3) != 0) AddCheckpoint(writer, &plain);
  std::ranges::stable_sort(plain.samples, {}, [](const PlainSample& s) { return s.sample.time_ns / kTickNs; });
  StreamCounters& counters = counters_[Stream::kAllocations];
  counters.candidates += AnyInteger() >> 20;
  counters.written += static_cast<uint64_t>(samples);
  counters.stacks_walked += static_cast<uint64_t>(samples);
  counters.stacks_from_jvmti += Uniform(3);
  counters.stack_mismatches += Uniform(2);
  counters.untracked += Uniform(2);
  counters.lost[Uniform(kLosses)] += Uniform(3);
  counters.lost_weight[Uniform(kLosses)] += static_cast<double>(Uniform(100)) / 7;
  block.counters = counters_;
  for (int lane = 0; lane < 4; ++lane) block.lane_positions.push_back(now_ns_ / 8 + AnyInteger());
  AddCensus(writer, &plain);
  const bool are_open = AddRows(writer, last || now_ns_ % 3 == 0, &plain);
  block.end_ns = now_ns_;
  block.chunk = next_chunk_;
  if (ending) block.ending = EndMarker{now_ns_, "jvm exit"};
  auto bytes = last ? writer->Finish(counters_, block.lane_positions, now_ns_, ending ? &*block.ending : nullptr)
                    : writer->Flush(counters_, block.lane_positions, now_ns_,
                                    are_open ? ChunkWriter::RowsAre::kOpen : ChunkWriter::RowsAre::kDue);
  if (!bytes.ok()) std::abort();
  const size_t begin = chunk_begins_.back() == bytes_.size() ? kChunkHeaderBytes : 0;
  const auto header = DecodeBlockHeader(Bytes(*bytes).subspan(begin), HeaderSeed(header_.recording_id));
  if (!header) std::abort();
  const size_t end = begin + kBlockHeaderBytes + header->payload_bytes;
  if (!has_parity_) bytes->resize(end);
  block_begins_.push_back(bytes_.size() + begin);
  block_ends_.push_back(bytes_.size() + end);
  ByteSink(&bytes_).Append(*bytes);
  blocks_.push_back(std::move(plain));
}

void RandomRecording::AddChunk(int blocks, int samples_per_block, bool ending) {
  ChunkWriter writer(header_, next_chunk_);
  chunk_begins_.push_back(bytes_.size());
  for (int i = 1; i <= blocks; ++i) AddBlock(&writer, samples_per_block, i == blocks, ending && i == blocks);
  ++next_chunk_;
}

std::vector<PlainBlock> ReadAll(Reader* reader) {
  std::vector<PlainBlock> blocks;
  while (std::optional<Block> block = reader->Next()) {
    PlainBlock plain;
    for (const Sample& sample : block->samples) plain.samples.push_back(Resolved(sample, *block->dictionaries));
    for (const CheckpointSample& checkpoint_sample : block->live_checkpoint) {
      plain.live_checkpoint.push_back(Resolved(checkpoint_sample.sample, *block->dictionaries));
    }
    for (const Row& row : block->rows) {
      Sample named;
      named.class_id = row.class_id;
      named.stack = row.stack;
      plain.rows.push_back(Resolved(named, *block->dictionaries));
    }
    block->dictionaries = nullptr;
    plain.block = std::move(*block);
    blocks.push_back(std::move(plain));
  }
  return blocks;
}

ByteBuffer Flipped(ByteBuffer bytes, size_t at, uint8_t mask) {
  bytes.at(at) ^= std::byte{mask};
  return bytes;
}

ByteBuffer Shrunk(ByteBuffer bytes, size_t to) {
  bytes.resize(to);
  return bytes;
}

ByteBuffer Appended(ByteBuffer bytes, Bytes more) {
  ByteSink(&bytes).Append(more);
  return bytes;
}

ByteBuffer Dropped(ByteBuffer bytes, size_t begin, size_t end) {
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.begin() + static_cast<std::ptrdiff_t>(end));
  return bytes;
}

}  // namespace heaprec::format::testing
