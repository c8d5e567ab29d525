#include "tools/fleet/ship/batch.h"

#include <algorithm>

namespace heaprec::tools::fleet {
namespace {

void AddSumColumns(std::vector<ColumnWriter>* columns) {
  for (const SumColumn& column : kSumColumns)
    columns->emplace_back(column.name, column.is_wide ? "Float64" : "Float32");
}

void AddSums(const Sums& sums, size_t first_column, NativeBlock* block) {
  for (const SumColumn& column : kSumColumns) {
    ColumnWriter& into = (*block)[first_column++];
    const double value = sums.*column.value;
    column.is_wide ? into.AddF64(value) : into.AddF32(static_cast<float>(value));
  }
}

NativeBlock RowsBlock() {
  std::vector<ColumnWriter> columns{
      {"time", "DateTime"}, {"recording", "UInt64"}, {"grain", "UInt8"}, {"class", "UInt64"}, {"site", "UInt64"}};
  AddSumColumns(&columns);
  return NativeBlock(std::move(columns));
}

void AddRow(uint32_t time, uint64_t recording, const RowKey& key, const Sums& sums, NativeBlock* block) {
  (*block)[0].AddU32(time);
  (*block)[1].AddU64(recording);
  (*block)[2].AddU8(static_cast<uint8_t>(key.level));
  (*block)[3].AddU64(key.class_id);
  (*block)[4].AddU64(key.site);
  AddSums(sums, 5, block);
  block->EndRow();
}

}  // namespace

NativeBlock NamesBlock(const std::vector<NamedId>& names, uint32_t seen) {
  NativeBlock block({{"id", "UInt64"}, {"kind", "UInt8"}, {"name", "String"}, {"seen", "DateTime"}});
  for (const NamedId& name : names) {
    block[0].AddU64(name.id);
    block[1].AddU8(static_cast<uint8_t>(name.kind));
    block[2].AddText(name.name);
    block[3].AddU32(seen);
    block.EndRow();
  }
  return block;
}

NativeBlock StacksBlock(const std::vector<FleetStack>& stacks, uint32_t seen) {
  NativeBlock block({{"stack", "UInt64"}, {"methods", "Array(UInt64)"}, {"seen", "DateTime"}});
  for (const FleetStack& stack : stacks) {
    block[0].AddU64(stack.id);
    block[1].AddArray(stack.methods);
    block[2].AddU32(seen);
    block.EndRow();
  }
  return block;
}

NativeBlock TotalsBlock(uint64_t recording, const Slice& slice) {
  std::vector<ColumnWriter> columns{{"time", "DateTime"},   {"slice", "DateTime"},  {"recording", "UInt64"},
                                    {"seconds", "Float64"}, {"counted", "Float64"}, {"weighed", "Float64"},
                                    {"lost", "Float64"}};
  AddSumColumns(&columns);
  NativeBlock block(std::move(columns));
  for (const MinuteTotals& minute : slice.minutes) {
    block[0].AddU32(minute.time);
    block[1].AddU32(slice.time);
    block[2].AddU64(recording);
    block[3].AddF64(minute.totals.seconds);
    block[4].AddF64(minute.totals.counted);
    block[5].AddF64(minute.totals.weighed);
    block[6].AddF64(minute.totals.lost);
    AddSums(minute.totals.all, 7, &block);
    block.EndRow();
  }
  return block;
}

NativeBlock SumsBlock(uint64_t recording, const Slice& slice) {
  NativeBlock block = RowsBlock();
  for (const auto& [key, sums] : slice.rows) AddRow(slice.time, recording, key, sums, &block);
  return block;
}

NativeBlock HoursBlock(uint64_t recording, uint32_t hour, const std::map<RowKey, Sums>& rows) {
  NativeBlock block = RowsBlock();
  for (const auto& [key, sums] : rows) AddRow(hour, recording, key, sums, &block);
  return block;
}

NativeBlock SamplesBlock(uint64_t recording, const Slice& slice) {
  NativeBlock block({{"slice", "DateTime"},
                     {"recording", "UInt64"},
                     {"time_ns", "UInt64"},
                     {"id", "UInt64"},
                     {"class", "UInt64"},
                     {"site", "UInt64"},
                     {"stack", "UInt64"},
                     {"size", "UInt64"},
                     {"weight", "Float64"}});
  for (const ThinnedSample& sample : slice.samples) {
    block[0].AddU32(slice.time);
    block[1].AddU64(recording);
    block[2].AddU64(sample.time_ns);
    block[3].AddU64(sample.id);
    block[4].AddU64(sample.class_id);
    block[5].AddU64(sample.site);
    block[6].AddU64(sample.stack);
    block[7].AddU64(sample.size);
    block[8].AddF64(sample.weight);
    block.EndRow();
  }
  return block;
}

NativeBlock LiveBlock(const RecordingInfo& info, const Slice& slice) {
  std::vector<ColumnWriter> columns{{"time", "DateTime"},  {"at", "DateTime"}, {"recording", "UInt64"},
                                    {"process", "UInt64"}, {"grain", "UInt8"}, {"state", "UInt8"},
                                    {"class", "UInt64"},   {"site", "UInt64"}};
  for (const LiveColumn& column : kLiveColumns)
    columns.emplace_back(column.name, column.is_wide ? "Float64" : "Float32");
  NativeBlock block(std::move(columns));
  for (const LiveRow& row : slice.live) {
    block[0].AddU32(slice.time);
    block[1].AddU32(slice.live_at);
    block[2].AddU64(info.id);
    block[3].AddU64(info.process);
    block[4].AddU8(static_cast<uint8_t>(row.key.level));
    block[5].AddU8(static_cast<uint8_t>(row.state));
    block[6].AddU64(row.key.class_id);
    block[7].AddU64(row.key.site);
    size_t at = 8;
    for (const LiveColumn& column : kLiveColumns) {
      const double value = row.sums.*column.value;
      ColumnWriter& into = block[at++];
      column.is_wide ? into.AddF64(value) : into.AddF32(static_cast<float>(value));
    }
    block.EndRow();
  }
  return block;
}

NativeBlock RecordingBlock(const RecordingInfo& info) {
  NativeBlock block({{"recording", "UInt64"},
                     {"started", "DateTime"},
                     {"seen", "DateTime"},
                     {"ended", "UInt8"},
                     {"service", "String"},
                     {"version", "String"},
                     {"environment", "String"},
                     {"host", "String"},
                     {"pod", "String"},
                     {"jdk", "String"},
                     {"gc", "String"},
                     {"file", "String"},
                     {"rate", "Float64"},
                     {"label_keys", "Array(String)"},
                     {"label_values", "Array(String)"},
                     {"trustworthy", "UInt8"},
                     {"why_not", "String"}});
  block[0].AddU64(info.id);
  block[1].AddU32(info.started);
  block[2].AddU32(info.seen);
  block[3].AddU8(info.ended ? 1 : 0);
  size_t column = 4;
  for (const std::string* text :
       {&info.service, &info.version, &info.environment, &info.host, &info.pod, &info.jdk, &info.gc, &info.file}) {
    block[column++].AddText(*text);
  }
  block[12].AddF64(info.per_second);
  std::vector<std::string> keys, values;
  for (const format::ServiceLabel& label : info.labels) keys.push_back(label.key), values.push_back(label.value);
  block[13].AddArray(keys);
  block[14].AddArray(values);
  block[15].AddU8(info.trustworthy ? 1 : 0);
  block[16].AddText(info.why_not);
  block.EndRow();
  return block;
}

NativeBlock LedgerBlock(const LedgerRow& row) {
  NativeBlock block({{"recording", "UInt64"},
                     {"time", "DateTime"},
                     {"kind", "UInt8"},
                     {"totals", "UInt32"},
                     {"sums", "UInt32"},
                     {"samples", "UInt32"},
                     {"at", "DateTime"}});
  block[0].AddU64(row.recording);
  block[1].AddU32(row.time);
  block[2].AddU8(static_cast<uint8_t>(row.kind));
  block[3].AddU32(static_cast<uint32_t>(row.totals));
  block[4].AddU32(static_cast<uint32_t>(row.sums));
  block[5].AddU32(static_cast<uint32_t>(row.samples));
  block[6].AddU32(row.at);
  block.EndRow();
  return block;
}

}  // namespace heaprec::tools::fleet
