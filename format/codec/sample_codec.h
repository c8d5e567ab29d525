// Windows, intervals and samples of one stream as columns. The encoder stores how weights follow from windows and tau;
// the decoder computes them again.
//
// Units:    as model.h. Times are rounded down to kTickNs.
// Context:  encoder: drain.
// Failure:  decoding returns false for invalid bytes.
// Format:   docs/format/recording.md#samples
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"
#include "format/codec/dictionaries.h"
#include "format/codec/dictionary_codec.h"
#include "format/model/model.h"
#include "format/model/sample.h"

namespace heaprec::format {

// If an id occurs twice, the last lambda counts.
using LambdaOfWindow = std::unordered_map<uint32_t, double>;

class SampleEncoder {
 public:
  explicit SampleEncoder(Stream stream) : stream_(stream) {}
  void Add(const Window& window) { windows_.push_back(window); }
  void Add(const Interval& interval) { intervals_.push_back(interval); }
  void Add(const Sample& sample) { samples_.push_back(sample); }

  size_t samples() const { return samples_.size(); }
  bool has_pending() const { return !samples_.empty() || !windows_.empty() || !intervals_.empty(); }
  bool within_bounds() const;
  // Time of the earliest pending sample, or `otherwise` if there is none.
  uint64_t earliest_ns(uint64_t otherwise) const;
  // `dictionaries`: encoded before.
  void Encode(const DictionaryEncoder& dictionaries, ByteBuffer* raw);

 private:
  struct WeightCode {
    WeightRule rule = WeightRule::kExplicit;
    uint64_t interval = 0;  // 1 + the interval record in this block to whose tau the weight was raised; 0: none
  };
  void EncodeWindows(ByteBuffer* raw);
  void EncodeIntervals(ByteBuffer* raw);
  void EncodeSamples(ByteBuffer* raw);
  // `last_interval`: of the previous sample's code.
  WeightCode CodeOf(const Sample& sample, uint64_t last_interval) const;

  const Stream stream_;
  std::vector<Window> windows_;
  std::vector<Interval> intervals_;
  LambdaOfWindow lambdas_;                         // per window of windows_
  std::vector<std::pair<double, uint64_t>> taus_;  // of intervals_, ascending, each with its index + 1
  std::vector<Sample> samples_;
};

bool DecodeWindows(Bytes body, std::vector<Window>* windows, bool* refused);
bool DecodeIntervals(Bytes body, Stream stream, std::vector<Interval>* intervals, bool* refused);
// `dictionaries`: those of the chunk up to this section; `windows`, `intervals`: those of the block and the stream.
bool DecodeSamples(Bytes body, Stream stream, const Dictionaries& dictionaries, std::span<const Window> windows,
                   std::span<const Interval> intervals, std::vector<Sample>* samples, bool* refused);

}  // namespace heaprec::format
