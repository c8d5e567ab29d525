#include "tools/fleet/ship/batch.h"

#include <string>

namespace heaprec::tools::fleet {
namespace {

template <typename Column, size_t kCount>
NativeBlock WithSums(std::string columns, const Column (&sums)[kCount]) {
  for (const Column& column : sums)
    columns += std::string(", ") + column.name + (column.is_wide ? " Float64" : " Float32");
  return NativeBlock(columns);
}

template <typename Of, typename Column, size_t kCount>
void AddSums(const Of& of, const Column (&sums)[kCount], NativeBlock* block) {
  for (const Column& column : sums) {
    const double value = of.*column.value;
    column.is_wide ? block->Add(value) : block->Add(static_cast<float>(value));
  }
}

template <typename Rows>
NativeBlock RowsBlock(uint64_t recording, uint32_t time, const Rows& rows) {
  NativeBlock block = WithSums("time DateTime, recording UInt64, grain UInt8, class UInt64, site UInt64", kSumColumns);
  for (const auto& [key, sums] : rows) {
    block.Add(time, recording, key.level, key.class_id, key.site);
    AddSums(sums, kSumColumns, &block);
    block.EndRow();
  }
  return block;
}

}  // namespace

NativeBlock NamesBlock(const std::vector<NamedId>& names, uint32_t seen) {
  NativeBlock block("id UInt64, kind UInt8, name String, seen DateTime");
  for (const NamedId& name : names) block.AddRow(name.id, name.kind, name.name, seen);
  return block;
}

NativeBlock StacksBlock(const std::vector<FleetStack>& stacks, uint32_t seen) {
  NativeBlock block("stack UInt64, methods Array(UInt64), seen DateTime");
  for (const FleetStack& stack : stacks) block.AddRow(stack.id, stack.methods, seen);
  return block;
}

NativeBlock TotalsBlock(uint64_t recording, const Slice& slice) {
  NativeBlock block = WithSums(
      "time DateTime, slice DateTime, recording UInt64, seconds Float64, counted Float64, weighed Float64, lost "
      "Float64",
      kSumColumns);
  for (const auto& [time, totals] : slice.minutes) {
    block.Add(time, slice.time, recording, totals.seconds, totals.counted, totals.weighed, totals.lost);
    AddSums(totals.all, kSumColumns, &block);
    block.EndRow();
  }
  return block;
}

NativeBlock SumsBlock(uint64_t recording, const Slice& slice) { return RowsBlock(recording, slice.time, slice.rows); }

NativeBlock HoursBlock(uint64_t recording, uint32_t hour, const std::map<RowKey, Sums>& rows) {
  return RowsBlock(recording, hour, rows);
}

NativeBlock SamplesBlock(uint64_t recording, const Slice& slice) {
  NativeBlock block(
      "slice DateTime, recording UInt64, time_ns UInt64, id UInt64, class UInt64, site UInt64, stack UInt64, "
      "size UInt64, weight Float64");
  for (const ThinnedSample& one : slice.samples) {
    block.AddRow(slice.time, recording, one.time_ns, one.id, one.class_id, one.site, one.stack, one.size, one.weight);
  }
  return block;
}

NativeBlock LiveBlock(const RecordingInfo& info, const Slice& slice) {
  NativeBlock block = WithSums(
      "time DateTime, at DateTime, recording UInt64, process UInt64, grain UInt8, state UInt8, class UInt64, site "
      "UInt64",
      kLiveColumns);
  for (const LiveRow& row : slice.live) {
    block.Add(slice.time, slice.live_at, info.id, info.process, row.key.level, row.state, row.key.class_id,
              row.key.site);
    AddSums(row.sums, kLiveColumns, &block);
    block.EndRow();
  }
  return block;
}

NativeBlock RecordingBlock(const RecordingInfo& info) {
  std::vector<std::string> keys, values;
  for (const format::ServiceLabel& label : info.labels) keys.push_back(label.key), values.push_back(label.value);
  NativeBlock block(
      "recording UInt64, started DateTime, seen DateTime, ended UInt8, service String, version String, "
      "environment String, host String, pod String, jdk String, gc String, file String, rate Float64, "
      "label_keys Array(String), label_values Array(String), trustworthy UInt8, why_not String, "
      "fills String, full_s Float64, full_low_s Float64, full_high_s Float64");
  block.AddRow(info.id, info.started, info.seen, info.ended, info.service, info.version, info.environment, info.host,
               info.pod, info.jdk, info.gc, info.file, info.per_second, keys, values, info.trustworthy, info.why_not,
               info.fills, info.full_s.value, info.full_s.low, info.full_s.high);
  return block;
}

NativeBlock LedgerBlock(const LedgerRow& row) {
  NativeBlock block(
      "recording UInt64, time DateTime, kind UInt8, totals UInt32, sums UInt32, samples UInt32, at DateTime");
  block.AddRow(row.recording, row.time, row.kind, static_cast<uint32_t>(row.totals), static_cast<uint32_t>(row.sums),
               static_cast<uint32_t>(row.samples), row.at);
  return block;
}

}  // namespace heaprec::tools::fleet
