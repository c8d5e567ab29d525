// Census records: how LaneConsumer sums what was counted object by object.
#include <unordered_set>

#include "recorder/writer/lane_consumer.h"

namespace heaprec::writer {

// Names are emitted before the walk that needs them, but may be in a lane that had already been scanned.
void LaneConsumer::InternCensus() {
  bool scanned = false;
  const auto intern = [&](uint64_t key, std::unordered_set<uint64_t>* known,
                          format::Index (ChunkInterner::*index)(uint64_t)) {
    if (key == 0 || !known->insert(key).second || (definitions_.*index)(key) != format::kNone || scanned) return;
    scanned = true;
    ScanLanes();
    (void)(definitions_.*index)(key);
  };
  census_.ForEachRow([&](uint64_t thread, uint64_t class_key, const format::CensusRow&) {
    intern(thread, &census_threads_, &ChunkInterner::Thread);
    intern(class_key, &census_classes_, &ChunkInterner::Class);
  });
}

format::CensusSums::Pending LaneConsumer::GiveCensus() {
  const auto named = [this](uint64_t thread, uint64_t class_key, format::CensusRow row) {
    row.thread = definitions_.Thread(thread);
    row.class_id = definitions_.Class(class_key);
    return row;
  };
  census_.ForEachRow([&](uint64_t thread, uint64_t class_key, const format::CensusRow& row) {
    chunk_->AddCensus(named(thread, class_key, row));
  });
  census_.ForEachTotal([&](uint64_t thread, uint64_t class_key, const format::CensusRow& row) {
    chunk_->AddCensusTotal(named(thread, class_key, row));
  });
  const format::CensusSums::Pending given = census_.pending();
  census_.Clear();
  return given;
}

format::CensusSums::Pending LaneConsumer::DropCensus() {
  const format::CensusSums::Pending dropped = census_.pending();
  census_.Clear();
  return dropped;
}

}  // namespace heaprec::writer
