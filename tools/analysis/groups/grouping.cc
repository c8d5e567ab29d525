#include "tools/analysis/groups/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "format/model/names.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr std::string_view kLabelPrefix = "label:";
constexpr std::string_view kNoLabel = "[none]", kNoPackage = "[no package]";

constexpr std::array<std::pair<std::string_view, By>, 9> kNames{{{"class", By::kClass},
                                                                 {"site", By::kSite},
                                                                 {"method", By::kMethod},
                                                                 {"package", By::kPackage},
                                                                 {"library", By::kLibrary},
                                                                 {"thread", By::kThread},
                                                                 {"stack", By::kStack},
                                                                 {"kind", By::kKind},
                                                                 {"size", By::kSize}}};

// Returns "libc.so.6" for "libc.so.6.qsort" and "libzip.so" for "libzip.so.deflate"; for other names the part before
// the first dot.
std::string_view LibraryIn(std::string_view site) {
  constexpr std::string_view kShared = ".so";
  if (site.starts_with('[')) return site;
  const size_t shared = site.find(".so.");
  if (shared == std::string_view::npos) return site.substr(0, site.find('.'));
  size_t end = shared + kShared.size();
  // Version numbers.
  while (site[end] == '.') {
    const size_t next = site.find_first_not_of("0123456789", end + 1);
    if (next == end + 1 || next == std::string_view::npos || site[next] != '.') break;
    end = next;
  }
  return site.substr(0, end);
}

std::string Size(uint64_t bytes) {
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 6; bytes /= 1024) ++unit;
  return fmt::format("{} {}B", bytes, unit == 0 ? "" : std::string(1, "KMGTPE"[unit - 1]) + "i");
}

}  // namespace

std::string_view PackageOf(std::string_view site) {
  if (site.starts_with('[')) return site;
  const std::string_view class_name = site.substr(0, std::min(site.rfind('.'), site.find('/')));
  const size_t dot = class_name.rfind('.');
  return dot == std::string_view::npos ? kNoPackage : class_name.substr(0, dot);
}

Result<Grouping> Grouping::Parse(std::string_view text) {
  if (text.starts_with(kLabelPrefix) && text.size() > kLabelPrefix.size()) {
    return Grouping(By::kLabel, std::string(text.substr(kLabelPrefix.size())));
  }
  for (const auto& [name, by] : kNames) {
    if (name == text) return Grouping(by);
  }
  return Error{fmt::format("--by '{}' is not valid; valid values: {}", text, fmt::join(Words(), ", "))};
}

std::vector<std::string> Grouping::Words() {
  std::vector<std::string> words;
  for (const auto& [name, by] : kNames) words.emplace_back(name);
  words.emplace_back(kLabelPrefix);
  return words;
}

std::string Grouping::Text() const {
  if (by_ == By::kLabel) return std::string(kLabelPrefix) + label_;
  return std::string(
      std::find_if(kNames.begin(), kNames.end(), [this](const auto& n) { return n.second == by_; })->first);
}

bool Grouping::takes_rows() const { return IsOfPlace() && by_ != By::kStack; }

void Grouping::Enter(const format::Block& block) {
  const format::Dictionaries& dictionaries = *block.dictionaries;
  const size_t size = by_ == By::kClass ? dictionaries.classes.size() : dictionaries.threads.size();
  if (dictionaries_ == nullptr || block.chunk != chunk_ || size < keys_.size()) keys_.clear();
  chunk_ = block.chunk;
  dictionaries_ = &dictionaries;
  keys_.resize(size, kNotLooked);
}

void Grouping::KeysOf(const format::Block& block, std::span<const WeightedSample* const> drawn, Names* names,
                      CallTree* tree, std::vector<uint32_t>* keys) {
  Enter(block);
  keys->resize(drawn.size());
  for (size_t i = 0; i < drawn.size(); ++i) {
    const bool is_alike = i > 0 && drawn[i]->class_id == drawn[i - 1]->class_id &&
                          drawn[i]->stack == drawn[i - 1]->stack &&
                          (drawn[i]->row == nullptr) == (drawn[i - 1]->row == nullptr);
    if (IsOfPlace()) {
      const bool is_row = drawn[i]->row != nullptr;
      (*keys)[i] = is_alike ? (*keys)[i - 1] : KeyOfPlace(drawn[i]->class_id, drawn[i]->stack, is_row, names, tree);
    } else if (by_ == By::kKind && drawn[i]->row != nullptr) {
      (*keys)[i] = format::kKinds;  // of any kind
    } else {
      (*keys)[i] = KeyOf(block.samples[drawn[i]->index], names, tree);
    }
  }
}

// Samples with the same class and stack have the same key, and are adjacent.
bool Grouping::IsOfPlace() const {
  return by_ == By::kClass || by_ == By::kSite || by_ == By::kMethod || by_ == By::kPackage || by_ == By::kLibrary ||
         by_ == By::kStack;
}

uint32_t Grouping::KeyOf(const format::Sample& sample, Names* names, CallTree* tree) {
  switch (by_) {
    case By::kThread:
    case By::kLabel:
      return Named(sample.thread, names, tree);
    case By::kKind:
      return static_cast<uint32_t>(sample.kind);
    case By::kSize:
      return SizeClassOf(sample.size);
    default:
      return KeyOfPlace(sample.class_id, sample.stack, /*is_row=*/false, names, tree);
  }
}

uint32_t Grouping::KeyOfPlace(format::Index class_id, format::Index stack, bool is_row, Names* names, CallTree* tree) {
  switch (by_) {
    case By::kClass:
      return Named(class_id, names, tree);
    case By::kPackage:
      return PackageOf(tree->LeafNameOf(stack), &tree->names());
    case By::kLibrary:
      return PackageOf(tree->InnermostNameOf(stack), &tree->names());
    case By::kStack:
      return is_row ? tree->OfRow(stack) : tree->Of(stack);
    default:
      return tree->LeafNameOf(stack);
  }
}

uint32_t Grouping::Named(format::Index index, Names* names, CallTree* tree) {
  if (index >= keys_.size()) return tree->names().Of(kUnknown);
  uint32_t& key = keys_[index];
  if (key == kNotLooked) key = tree->names().Of(NameOfEntry(index, names));
  return key;
}

// The result is valid until the next call.
std::string_view Grouping::NameOfEntry(format::Index index, Names* names) {
  if (by_ == By::kClass) return names->Class(index);
  if (by_ == By::kThread) return names->Thread(index);
  std::string_view found = kNoLabel;
  format::ForEachLabel(names->ThreadOf(index)->name, [&](std::string_view key, std::string_view value) {
    if (ToUtf8(key) == label_) found = scratch_ = ToUtf8(value);
  });
  return found;
}

uint32_t Grouping::PackageOf(NamePool::Id site, NamePool* pool) {
  if (site >= packages_.size()) packages_.resize(pool->size(), kNotLooked);
  if (packages_[site] == kNotLooked)
    packages_[site] = pool->Of(by_ == By::kLibrary ? LibraryIn(pool->At(site)) : tools::PackageOf(pool->At(site)));
  return packages_[site];
}

std::string Grouping::NameOf(uint32_t key, const CallTree& tree) const {
  if (by_ == By::kKind) return KindName(static_cast<format::Kind>(key));
  if (by_ == By::kSize) return SizeClassName(key);
  if (by_ == By::kStack) return std::string(tree.NameOf(key));
  return tree.names().At(key);
}

std::string SizeClassName(uint32_t bits) {
  if (bits == 0) return "unknown";
  const uint64_t from = uint64_t{1} << (bits - 1);
  return fmt::format("{} to {}", Size(from), bits < 64 ? Size(from * 2) : "16 EiB");
}

void GroupTable::Start() {
  counted_.clear();
  of_sites_.Clear();
  subsets_.assign(rows_.size(), Subset(holds_));
}

void GroupTable::Add(Key key, const WeightedSample& drawn) {
  if (drawn.site != kNoSite) return of_sites_.Add(key, drawn);
  SubsetOf(key).Add(drawn);
}

// Sums of a group are mostly adjacent, but those of the next group are not: prefetches them.
void GroupTable::Add(std::span<const Key> keys, std::span<const WeightedSample* const> drawn) {
  constexpr size_t kAhead = 6, kCacheLine = 64;
  of_sites_.Add(keys, drawn);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size() && keys[i + kAhead] != keys[i + kAhead - 1] && keys[i + kAhead] < slots_.size() &&
        slots_[keys[i + kAhead]] != kNone) {
      const auto* const next = reinterpret_cast<const std::byte*>(&subsets_[slots_[keys[i + kAhead]]]);
      for (size_t at = 0; at < sizeof(Subset); at += kCacheLine) __builtin_prefetch(next + at, 1);
    }
    if (drawn[i]->site == kNoSite) SubsetOf(keys[i]).Add(*drawn[i]);
  }
}

Subset& GroupTable::SubsetOf(Key key) {
  if (key >= slots_.size()) slots_.resize(std::max<size_t>(key + size_t{1}, slots_.size() * 3 / 2), kNone);
  uint32_t& slot = slots_[key];
  if (slot == kNone) {
    slot = static_cast<uint32_t>(rows_.size());
    rows_.push_back({key, unseen_});  // earlier recordings have none of it
    subsets_.emplace_back(holds_);
  }
  return subsets_[slot];
}

void GroupTable::Count(Key key, double bytes, double objects) {
  SubsetOf(key);
  counted_.push_back({key, bytes, objects});
}

void GroupTable::Close(const Estimator& estimator) {
  const double whole = estimator.Whole();
  of_sites_.ForEach(estimator.calibration(), [this](Key key, const Subset& of) { SubsetOf(key) += of; });
  std::vector<GroupEstimates> now;
  for (const Subset& subset : subsets_) now.push_back(EstimateGroup(subset, estimator));
  if (estimator.among_all() && estimator.counted_by_class()) {
    for (const Counted& of : counted_) SetCounted(of.bytes, of.objects, whole, &now[slots_[of.key]]);
  }
  for (size_t slot = 0; slot < rows_.size(); ++slot) {
    rows_[slot].estimates = Sum(rows_[slot].estimates, whole_, now[slot], whole);
  }
  unseen_ = Sum(unseen_, whole_, EstimateGroup(Subset(), estimator), whole);
  whole_ += whole;
  of_sites_.Clear();
  subsets_.clear();
}

const GroupEstimates& GroupTable::Of(Key key) const {
  return key < slots_.size() && slots_[key] != kNone ? rows_[slots_[key]].estimates : unseen_;
}

}  // namespace heaprec::tools
