#include "tools/query/mapping_query.h"

#include <map>
#include <string_view>

namespace heaprec::tools {
namespace {

constexpr std::string_view kReserve = "reserve", kCommit = "commit";

LiveQuestion GroupedBy(LiveQuestion question, const Grouping& by) {
  question.by = {by};
  return question;
}

bool IsAddressSpace(std::string_view class_name) { return !class_name.starts_with(kCommit); }
bool MayBeTouched(std::string_view class_name) { return class_name != kReserve; }

LiveFigures AllOf(const LiveSurvey& live) { return FiguresOf(live.all().alive, live.total(), live.unit()); }

}  // namespace

MappedSurvey::MappedSurvey(const Grouping& by, const LiveQuestion& question, CallTree* tree)
    : mapped_(by, /*own_frames=*/false),
      alive_(GroupedBy(question, by), tree, format::Stream::kMapped),
      reserved_(GroupedBy(question, by), tree, format::Stream::kMapped),
      committed_(GroupedBy(question, by), tree, format::Stream::kMapped) {}

void MappedSurvey::Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) {
  mapped_.Begin(chosen_by);
  for (LiveSurvey* const live : {&alive_, &reserved_, &committed_}) live->Begin(header, chosen_by);
}

void MappedSurvey::See(const Sighting& sighting) {
  mapped_.See(sighting);
  alive_.See(sighting);
  Show(sighting, IsAddressSpace, &reserved_);
  Show(sighting, MayBeTouched, &committed_);
}

void MappedSurvey::Show(const Sighting& sighting, Keeps keeps, LiveSurvey* to) {
  const auto is_kept = [&](const format::Sample& sample) {
    const bool has_class = sample.class_id != format::kNone;
    return keeps(has_class ? sighting.block.dictionaries->classes[sample.class_id] : std::string_view());
  };
  std::vector<const Drawn*> drawn;
  for (const Drawn* const one : sighting.drawn) {
    if (is_kept(sighting.block.samples[one->index])) drawn.push_back(one);
  }
  std::vector<const format::Survivor*> survivors;
  for (const format::Survivor* const one : sighting.survivors) {
    if (is_kept(one->sample)) survivors.push_back(one);
  }
  to->See({sighting.block, drawn, survivors, sighting.names, sighting.tree, sighting.design});
}

void MappedSurvey::End(const Estimator& estimator, double seconds) {
  mapped_.End(estimator);
  for (LiveSurvey* const live : {&alive_, &reserved_, &committed_}) live->End(estimator, seconds);
}

std::vector<MappedSurvey::Row> MappedSurvey::Rows() const {
  std::map<uint32_t, Row> rows;
  for (const GroupTable::Row& row : mapped_.own().Rows()) rows[row.key].mapped = row.figures;
  const auto add = [&rows](const LiveSurvey& live, LiveFigures Now::*figures) {
    for (const LiveTable::Row& row : live.tables().front().rows) {
      rows[row.key].now.*figures = FiguresOf(row.group.alive, live.total(), live.unit());
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

MappedSurvey::Now MappedSurvey::All() const { return {AllOf(reserved_), AllOf(committed_), AllOf(alive_)}; }

}  // namespace heaprec::tools
