#include "tools/query/live/mapping_query.h"

#include <map>
#include <string_view>

namespace heaprec::tools {
namespace {

constexpr std::string_view kReserve = "reserve", kCommit = "commit";

LiveQuery GroupedBy(LiveQuery question, const Grouping& by) {
  question.by = {by};
  return question;
}

bool IsAddressSpace(std::string_view class_name) { return !class_name.starts_with(kCommit); }
bool MayBeTouched(std::string_view class_name) { return class_name != kReserve; }

LiveEstimates AllOf(const LiveVisitor& live) { return EstimateGroup(live.all().alive, live.total(), live.unit()); }

}  // namespace

MappingVisitor::MappingVisitor(const Grouping& by, const LiveQuery& question, CallTree* tree)
    : mapped_(by),
      alive_(GroupedBy(question, by), tree, format::Stream::kMapping),
      reserved_(GroupedBy(question, by), tree, format::Stream::kMapping),
      committed_(GroupedBy(question, by), tree, format::Stream::kMapping) {}

void MappingVisitor::Begin(const format::FileHeader& header) {
  mapped_.Begin();
  for (LiveVisitor* const live : {&alive_, &reserved_, &committed_}) live->Begin(header);
}

void MappingVisitor::Visit(const MatchedBlock& matched_block) {
  mapped_.Visit(matched_block);
  alive_.Visit(matched_block);
  Show(matched_block, IsAddressSpace, &reserved_);
  Show(matched_block, MayBeTouched, &committed_);
}

void MappingVisitor::Show(const MatchedBlock& matched_block, Keeps keeps, LiveVisitor* to) {
  const auto is_kept = [&](const format::Sample& sample) {
    const bool has_class = sample.class_id != format::kNone;
    return keeps(has_class ? matched_block.block.dictionaries->classes[sample.class_id] : std::string_view());
  };
  std::vector<const WeightedSample*> drawn;
  for (const WeightedSample* const one : matched_block.drawn) {
    if (is_kept(matched_block.block.samples[one->index])) drawn.push_back(one);
  }
  std::vector<const format::CheckpointSample*> live_checkpoint;
  for (const format::CheckpointSample* const one : matched_block.live_checkpoint) {
    if (is_kept(one->sample)) live_checkpoint.push_back(one);
  }
  to->Visit(
      {matched_block.block, drawn, live_checkpoint, matched_block.names, matched_block.tree, matched_block.design});
}

void MappingVisitor::End(const Estimator& estimator, double seconds) {
  mapped_.End(estimator);
  for (LiveVisitor* const live : {&alive_, &reserved_, &committed_}) live->End(estimator, seconds);
}

std::vector<MappingVisitor::Row> MappingVisitor::Rows() const {
  std::map<uint32_t, Row> rows;
  for (const GroupTable::Row& row : mapped_.own().Rows()) rows[row.key].mapped = row.estimates;
  const auto add = [&rows](const LiveVisitor& live, LiveEstimates Now::*estimates) {
    for (const LiveTable::Row& row : live.tables().front().rows) {
      rows[row.key].now.*estimates = EstimateGroup(row.group.alive, live.total(), live.unit());
    }
  };
  add(alive_, &Now::alive);
  add(reserved_, &Now::reserved);
  add(committed_, &Now::committed);
  std::vector<Row> all;
  for (auto& [key, row] : rows) {
    row.key = key;
    all.push_back(row);
  }
  return all;
}

MappingVisitor::Now MappingVisitor::All() const { return {AllOf(reserved_), AllOf(committed_), AllOf(alive_)}; }

}  // namespace heaprec::tools
