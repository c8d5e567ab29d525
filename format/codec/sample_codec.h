// Windows, intervals and samples of one stream as columns. The encoder stores how weights follow from windows and tau;
// the decoder computes them again.
//
// Units:    as model.h. Times are rounded down to kTickNs.
// Context:  encoder: drain.
// Failure:  decoding returns false for invalid bytes.
// Format:   docs/format/recording.md#samples
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"
#include "format/codec/dictionaries.h"
#include "format/model/model.h"
#include "format/model/weights.h"

namespace heaprec::format {

// State that encoder and decoder share after each sample, so that the next one is encoded as a difference. Lasts for a
// block.
struct SampleContext {
  // Stacks are numbered in the order in which samples first name them; entry 0 is the unknown stack.
  struct Stack {
    Index leaf = kNone, class_id = kNone;
    uint64_t size = 0;  // rotated
  };
  std::vector<Stack> stacks{1};
  // TLAB size of thread t at index t + 1, rotated. All unknown kinds share the last entry: their samples are skipped.
  std::vector<std::array<uint64_t, kKinds + 1>> tlab_of_thread;
  uint64_t last_id = 0, last_leaf = 0, last_window = 0;
  uint64_t last_window_id = 0, last_window_start = 0;
  uint64_t last_interval = 0;
  std::unordered_map<uint32_t, double> lambda_of_window;
};

class SampleEncoder {
 public:
  explicit SampleEncoder(Stream stream) : stream_(stream) {}
  void Add(const Window& window);
  void Add(const Interval& interval) { intervals_.push_back(interval); }
  void Add(const Sample& sample) { samples_.push_back(sample); }

  size_t samples() const { return samples_.size(); }
  bool has_pending() const { return !samples_.empty() || !windows_.empty() || !intervals_.empty(); }
  bool within_bounds() const;
  // Time of the earliest pending sample; `otherwise` if there is none.
  uint64_t earliest_ns(uint64_t otherwise) const;
  void Encode(ByteBuffer* raw);

 private:
  struct WeightCode {
    WeightRule rule = WeightRule::kExplicit;
    uint64_t interval = 0;  // 1 + the interval record in this block to whose tau the weight was raised; 0: none
  };
  void EncodeWindows(ByteBuffer* raw);
  void EncodeIntervals(ByteBuffer* raw);
  void EncodeSamples(ByteBuffer* raw);
  std::array<WeightRule, 2> RulesFrom(WeightRule previous) const;
  WeightCode CodeOf(const Sample& sample, WeightCode previous) const;

  const Stream stream_;
  SampleContext context_;
  std::unordered_map<Index, uint64_t> number_of_leaf_;
  std::vector<Window> windows_;
  std::vector<Interval> intervals_;
  std::vector<std::pair<double, uint64_t>> taus_;  // of intervals_, ascending, each with its index + 1
  std::vector<Sample> samples_;
};

class SampleDecoder {
 public:
  explicit SampleDecoder(Stream stream) : stream_(stream) {}
  // Forgets the previous block: call for each block.
  void StartBlock() { context_ = {}; }
  bool DecodeWindows(Bytes body, std::vector<Window>* windows, bool* refused);
  bool DecodeIntervals(Bytes body, std::vector<Interval>* intervals, bool* refused);
  bool DecodeSamples(Bytes body, const Dictionaries& dictionaries, std::span<const Interval> intervals,
                     std::vector<Sample>* samples, bool* refused);

 private:
  Stream stream_;
  SampleContext context_;
};

}  // namespace heaprec::format
