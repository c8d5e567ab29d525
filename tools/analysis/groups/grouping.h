// Groups samples by class, site, thread or another key, and estimates each group.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

enum class By : uint8_t {
  kClass,    // of the object
  kSite,     // the frame that allocated: the leaf of the stack
  kMethod,   // as kSite; a table may add callees (cumulative)
  kPackage,  // package of the site's class
  kLibrary,  // for native code: the site's library
  kThread,   // by name
  kStack,    // all frames
  kLabel,    // the value of one key
  kKind,     // tlab, outside, exception
  kSize,     // of the object, by powers of two
};

// How a command groups samples: maps each sample to a key, a small number with a name.
//
//   auto grouping = Grouping::Parse("label:request");
//   GroupTable table;
//   grouping->KeysOf(block, drawn, &names, &tree, &keys);    // every block
//   table.Add(keys, drawn);
//
// Keys are the same for all chunks, recordings and files that share a tree.
//
// Failure:  Parse returns the message for the user.
class Grouping {
 public:
  // Parses "class", ..., "label:KEY".
  static Result<Grouping> Parse(std::string_view text);
  static std::vector<std::string> Words();  // all keywords; "label:" is followed by the label's key
  explicit Grouping(By by, std::string label = "") : by_(by), label_(std::move(label)) {}

  By by() const { return by_; }
  // As given: "class", "label:request".
  std::string Text() const;
  // Whether rows have the key.
  bool takes_rows() const;

  // Call for every recording.
  void Start() { dictionaries_ = nullptr; }
  // Call for every block, before asking for keys of its samples.
  void Enter(const format::Block& block);
  uint32_t KeyOf(const format::Sample& sample, Names* names, CallTree* tree);
  // Both in one call: returns the keys of the samples in `drawn`, in its order.
  void KeysOf(const format::Block& block, std::span<const WeightedSample* const> drawn, Names* names, CallTree* tree,
              std::vector<uint32_t>* keys);
  // For kSize, keys are in the order of sizes.
  std::string NameOf(uint32_t key, const CallTree& tree) const;

 private:
  static constexpr uint32_t kNotLooked = 0xffffffff;
  bool IsOfPlace() const;
  uint32_t KeyOfPlace(format::Index class_id, format::Index stack, bool is_row, Names* names, CallTree* tree);
  uint32_t Named(format::Index index, Names* names, CallTree* tree);
  std::string_view NameOfEntry(format::Index index, Names* names);
  uint32_t PackageOf(NamePool::Id site, NamePool* pool);

  By by_;
  std::string label_;
  // Cache for the current chunk, by class or thread.
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = 0;
  std::vector<uint32_t> keys_;
  std::string scratch_;
  std::vector<uint32_t> packages_;  // by name
};

// Returns "java.util" for "java.util.HashMap.resize", "[no package]" for "A.main". A hidden class has an address after
// a slash.
std::string_view PackageOf(std::string_view site);

// Returns "16 B to 32 B", "2 KiB to 4 KiB" (from, to below) for sizes with this number of bits.
std::string SizeClassName(uint32_t bits);
inline uint32_t SizeClassOf(uint64_t size) {
  uint32_t bits = 0;
  for (; size > 0; size >>= 1) ++bits;
  return bits;
}

// Groups samples by any key that is a small number, and estimates each group over one or several recordings.
//
//   GroupTable table;
//   table.Start();                                           // at the start of every recording
//   table.Add(key, drawn);                                   // every sample
//   table.Close(estimator);                                  // after the recording's last block
//   for (const GroupTable::Row& row : table.Rows()) ...
//
// A sample may be in several groups, but only once in each.
//
// Memory:   one Subset for each group of the current recording, and for each site in it that is calibrated to rows;
//           GroupEstimates for each group of earlier ones.
class GroupTable {
 public:
  using Key = uint32_t;
  struct Row {
    Key key = 0;
    GroupEstimates estimates;
  };

  // `holds`: what a group holds.
  explicit GroupTable(Subset::Holds holds = Subset::Holds::kAny) : holds_(holds), of_sites_(holds) {}

  void Start();
  void Add(Key key, const WeightedSample& drawn);
  void Add(Key key, const Subset& of) { SubsetOf(key) += of; }
  // Adds each sample to the group of the key at the same position.
  void Add(std::span<const Key> keys, std::span<const WeightedSample* const> drawn);
  // Adds the bytes and objects that the census of the current recording counted for the group. If the census counted
  // every class and no filter is set, Close uses them instead of the samples.
  void Count(Key key, double bytes, double objects);
  void Close(const Estimator& estimator);

  // Rows of all closed recordings, in the order of their first sample or count.
  const std::vector<Row>& Rows() const { return rows_; }
  // Of: estimates of the group, which may have no samples. Unseen: estimates of any group without samples.
  const GroupEstimates& Of(Key key) const;
  const GroupEstimates& Unseen() const { return unseen_; }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  Subset& SubsetOf(Key key);
  const Subset::Holds holds_;
  std::vector<uint32_t> slots_;  // by key: index in rows_ and subsets_
  std::vector<Subset> subsets_;  // of the current recording
  SumsBySite of_sites_;          // likewise, by key: to be added to them
  struct Counted {
    Key key;
    double bytes, objects;
  };
  std::vector<Counted> counted_;  // of the current recording
  std::vector<Row> rows_;
  double whole_ = 0;  // bytes of all closed recordings
  GroupEstimates unseen_;
};

}  // namespace heaprec::tools
