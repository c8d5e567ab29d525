// How a command groups samples: maps each sample to a key, a small number with a name.
//
//   auto grouping = Grouping::Parse("label:request");
//   GroupTable table;
//   for (block) { grouping->KeysOf(block, drawn, &names, &tree, &keys); table.Add(keys[i], *drawn[i]); }
//
// Keys are the same for all chunks, recordings and files that share a tree.
//
// Threads:  one.
// Failure:  Parse returns the message for the user.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/reader/reader.h"
#include "tools/analysis/call_tree.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/analysis/name_pool.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

enum class By : uint8_t {
  kClass,    // of the object
  kSite,     // the frame that allocated: the leaf of the stack
  kMethod,   // as kSite; a table may add its callees (cumulative)
  kPackage,  // of the site's class
  kLibrary,  // of native code: that of the site
  kThread,   // by name
  kStack,    // all frames
  kLabel,    // the value of one key
  kKind,     // tlab, outside, exception
  kSize,     // of the object, by powers of two
};

class Grouping {
 public:
  // "class", ..., "label:KEY"
  static Result<Grouping> Parse(std::string_view text);
  static std::vector<std::string> Words();  // all of them; "label:" is followed by the label's key
  explicit Grouping(By by, std::string label = "") : by_(by), label_(std::move(label)) {}

  By by() const { return by_; }
  // As given: "class", "label:request".
  std::string Text() const;
  // Whether rows tell it.
  bool takes_rows() const;

  // Call for every recording.
  void Start() { dictionaries_ = nullptr; }
  // Call for every block, before asking for keys of its samples.
  void Enter(const format::Block& block);
  uint32_t KeyOf(const format::Sample& sample, Names* names, CallTree* tree);
  // Both in one call: the keys of the samples in `drawn`, in its order.
  void KeysOf(const format::Block& block, std::span<const WeightedSample* const> drawn, Names* names, CallTree* tree,
              std::vector<uint32_t>* keys);
  // By size, keys are in the order of sizes.
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

// "java.util" of "java.util.HashMap.resize", "[no package]" of "A.main". A hidden class has an address behind a slash.
std::string_view PackageOf(std::string_view site);

// "16 B to 32 B", "2 KiB to 4 KiB" (from, to below): sizes with this number of bits.
std::string SizeClassName(uint32_t bits);
inline uint32_t SizeClassOf(uint64_t size) {
  uint32_t bits = 0;
  for (; size > 0; size >>= 1) ++bits;
  return bits;
}

}  // namespace heaprec::tools
