// Applies the rules of advice (rules.h) to the samples of recordings, in one pass.
//
//   AdviceScan advice;
//   scan.Run(&tree, &advice);
//   for (const RuleFinding& one : advice.Findings(kAdviceShare)) one.rule->advice, one.Place() ...
//
// Units:    bytes; shares of all bytes, from 0 to 1.
// Failure:  none: a stack without a frame to change (of library code only, or cut off before) is in no finding.
// Memory:   a group of samples per line and rule that matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/analysis/groups/call_tree.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/query/allocations/rules.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// A finding is shown if its share of all bytes is above this, even at the lower end of the interval.
inline constexpr double kAdviceShare = 0.01;

// What a rule finds in a frame: in all its lines.
struct RuleFinding {
  const AdviceRule* rule;
  std::string frame;       // to change: "com.acme.Orders.total"
  int32_t line = -1;       // the one with the most bytes; -1: unknown
  std::string class_name;  // the one with the most bytes
  GroupEstimates estimates;

  // "com.acme.Orders.total:42"
  std::string Place() const { return line < 0 ? frame : frame + ":" + std::to_string(line); }
};

// Returns the findings above kAdviceShare of a file, which is read again. The largest first.
std::vector<RuleFinding> SearchAdvice(const std::string& file);

class AdviceScan final : public ScanVisitor {
 public:
  bool calibrates() const override { return true; }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  // Returns the findings with more than `least_share`, the largest first.
  std::vector<RuleFinding> Findings(double least_share) const;
  // Returns the sum of all findings, however small, of the rules that are `taken` by name.
  GroupEstimates Total(const std::function<bool(std::string_view)>& taken) const;

 private:
  // The samples of one rule in one line.
  struct Candidate {
    size_t rule;
    uint64_t line;                                                // key of lines_
    uint32_t earlier = 0;                                         // bits of earlier rules that match some of them
    std::unordered_map<NamePool::Id, double> bytes_of{};          // by class
    std::vector<double> sizes{};                                  // distinct, up to kMostSizes
    double smallest = 0, largest = 0, bytes = 0, byte_sizes = 0;  // byte_sizes: sum of bytes times size
    uint64_t tracked = 0, died = 0, lost = 0;  // samples of objects outside of TLABs; lost: no longer tracked
  };
  // Of the code outside of libraries.
  struct Line {
    NamePool::Id frame = 0;
    int32_t number = -1;
    uint32_t calls = 0;                  // roles of the methods that it calls
    std::vector<uint32_t> candidates{};  // by rule: index of candidates_; kNone: none
  };
  struct Method {
    NamePool::Id name = 0;
    uint32_t roles = kPassedOver;
  };
  struct Found {
    AllocationFacts facts;
    uint64_t line = 0;
    uint64_t sample = 0;     // its id
    bool has_frame = false;  // one to change
  };

  void Enter(const format::Block& block, Names* names);
  Method MethodOf(const format::Frame& frame, Names* names);
  Line* LineOf(const format::Frame& frame, Names* names);
  Found Find(const MatchedBlock& in, const WeightedSample& drawn);
  void Add(const WeightedSample& drawn, const Found& found);
  void AddElements(const WeightedSample& drawn, const AllocationFacts& facts);
  void AddTo(size_t rule, uint32_t earlier, const WeightedSample& drawn, const Found& found);
  void NoteEnds(const format::Block& block);
  const std::string& ClassOf(const Candidate& of) const;
  bool Holds(uint32_t candidate) const;
  // Indices of the candidates that hold.
  std::vector<uint32_t> Held() const;

  NamePool names_;
  GroupTable table_;     // by index of candidates_
  GroupTable elements_;  // by index of CollectionClasses()
  std::vector<Candidate> candidates_;
  std::unordered_map<uint64_t, Line> lines_;  // by frame and number
  std::vector<Method> methods_;
  KeyTable known_methods_;  // by MethodKey: index of methods_
  bool has_died_ = false;   // any object that was tracked
  // Of the current recording.
  bool has_tracked_ = false;
  std::unordered_multimap<uint64_t, uint32_t> tracked_;  // by id of a sample: index of candidates_
  // Of the current chunk.
  uint32_t chunk_ = format::kNone;
  size_t stacks_ = 0;                // number of those whose calls are known
  std::vector<uint32_t> method_of_;  // by method: index of methods_; kNone: not looked up yet
};

}  // namespace heaprec::tools
