#include "tools/export/formats/jfr_chunk.h"

#include "tools/export/formats/jfr_schema.h"

namespace heaprec::tools::jfr {
namespace {

constexpr size_t kHeaderBytes = 68;
constexpr uint64_t kTicksPerSecond = 1'000'000'000;
constexpr uint32_t kCompressedIntegers = 1;

}  // namespace

void Chunk::Write(uint64_t start_epoch_ns, uint64_t begin_ns, uint64_t end_ns, Output* output) {
  std::string pools;
  constants_.AppendEvent(end_ns, &pools);
  const std::string& metadata = MetadataEvent();
  const uint64_t pools_at = kHeaderBytes + metadata.size() + events_.size();
  std::string header("FLR\0", 4);
  Sink sink(&header);
  sink.Fixed<uint16_t>(2);  // version 2.1
  sink.Fixed<uint16_t>(1);
  sink.Fixed<uint64_t>(pools_at + pools.size());
  sink.Fixed<uint64_t>(pools_at);
  sink.Fixed<uint64_t>(kHeaderBytes);  // where the metadata is
  sink.Fixed<uint64_t>(start_epoch_ns + begin_ns);
  sink.Fixed<uint64_t>(end_ns - begin_ns);
  sink.Fixed<uint64_t>(begin_ns);  // in ticks
  sink.Fixed<uint64_t>(kTicksPerSecond);
  sink.Fixed<uint32_t>(kCompressedIntegers);  // and: the chunk is finished
  for (const std::string* part : {static_cast<const std::string*>(&header), &metadata,
                                  static_cast<const std::string*>(&events_), static_cast<const std::string*>(&pools)}) {
    output->Append(*part);
    output->Tick();
  }
  events_.clear();
  constants_.Clear();
}

}  // namespace heaprec::tools::jfr
