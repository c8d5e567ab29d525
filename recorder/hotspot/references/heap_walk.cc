#include "recorder/hotspot/references/heap_walk.h"

#include <algorithm>

namespace heaprec::hotspot {

using format::WalkEnd;

namespace {

constexpr size_t kClasses = 1 << 14, kWantedSlots = 1 << 18, kWantedBits = 1 << 20;
constexpr uint32_t kBetweenLooks = 1 << 11;  // objects and references

size_t HashOf(uint32_t reference, size_t slots) { return reference * 0x9E3779B1U >> 7 & (slots - 1); }

}  // namespace

Result<HeapWalk> HeapWalk::Make(const ReferenceLayout& layout, uint64_t max_bytes) {
  HeapWalk walk(layout);
  const size_t places = size_t{1} << (32 - 3 + layout.shift());
  constexpr uint64_t kLeastObject = 8;
  constexpr size_t kLeastEntries = 1 << 16;
  const size_t entries = std::max(
      kLeastEntries,
      std::min<size_t>({max_bytes / sizeof(Entry), layout.heap_bytes() / kLeastObject + 1, (size_t{1} << 31) - 1}));
  for (const Status& made : {walk.seen_.Map(places / 64), walk.queue_.Map(entries), walk.held_.Map(entries),
                             walk.soft_.Map(entries), walk.final_.Map(entries), walk.wanted_.Map(kWantedSlots),
                             walk.wanted_bits_.Map(kWantedBits / 64), walk.found_.Map(kMostWanted)}) {
    if (!made.ok()) return made.error();
  }
  walk.classes_ = std::make_unique<KnownClass[]>(kClasses);
  return walk;
}

void HeapWalk::Want(uint64_t address, uint32_t id) {
  const uint32_t reference = layout_->ReferenceTo(address);
  if (reference == 0 || wanted_count_ == kMostWanted) return;
  size_t at = HashOf(reference, kWantedSlots);
  while (wanted_[at].reference != 0) at = (at + 1) % kWantedSlots;
  wanted_[at] = {reference, id};
  ++wanted_count_;
  const size_t bit = HashOf(reference, kWantedBits);
  wanted_bits_[bit / 64] |= uint64_t{1} << bit % 64;
}

bool HeapWalk::Reach(uint32_t reference, uint32_t parent) {
  const auto [word, bit] = SeenOf(reference);
  if ((*word & bit) != 0) return true;
  if (count_ == queue_.size()) {
    end_ = WalkEnd::kMemory;
    return false;
  }
  *word |= bit;
  const auto at = static_cast<uint32_t>(count_++);
  queue_[at] = {reference, parent};
  const size_t wanted_bit = HashOf(reference, kWantedBits);
  if ((wanted_bits_[wanted_bit / 64] >> wanted_bit % 64 & 1) == 0) return true;
  for (size_t slot = HashOf(reference, kWantedSlots); wanted_[slot].reference != 0; slot = (slot + 1) % kWantedSlots) {
    if (wanted_[slot].reference == reference) found_[found_count_++] = {wanted_[slot].id, at};
  }
  return true;
}

// The first object of a class keeps the class alive, and so its loader.
const ReferenceLayout::Class& HeapWalk::ClassOf(uint64_t object, uint32_t at) {
  const uint64_t word = layout_->objects().ClassWordOf(object);
  KnownClass& known = classes_[word * 0x9E3779B97F4A7C15U >> 40 & (kClasses - 1)];
  if (known.word == word) return known.of;
  known = {word, layout_->ClassOf(layout_->objects().ClassOf(word))};
  if (const uint32_t mirror = layout_->MirrorOf(known.of.klass); mirror != 0) Reach(mirror, at);
  return known.of;
}

void HeapWalk::Restart(uint32_t without) {
  const auto unsee = [this](uint32_t reference) {
    const auto [word, bit] = SeenOf(reference);
    *word &= ~bit;
  };
  for (size_t i = 0; i < count_; ++i) unsee(queue_[i].reference);
  if (without_ != 0) unsee(without_);
  without_ = without;
  const auto [word, bit] = SeenOf(without);
  *word |= bit;
  count_ = next_ = soft_count_ = final_count_ = found_count_ = 0;
  strong_end_ = soft_end_ = SIZE_MAX;
  end_ = WalkEnd::kComplete;
  // A class is met again.
  std::fill_n(classes_.get(), kClasses, KnownClass{});
}

bool HeapWalk::MayGoOn() {
  if (--until_look_ == 0) {
    until_look_ = kBetweenLooks;
    if (MonotonicNs() >= deadline_ns_) end_ = WalkEnd::kTime;
  }
  return end_ == WalkEnd::kComplete;
}

void HeapWalk::Follow(uint32_t at) {
  using Kind = ReferenceLayout::Kind;
  const uint64_t object = layout_->AddressOf(queue_[at].reference);
  const ReferenceLayout::Class& of = ClassOf(object, at);
  layout_->ForEach(object, of,
                   [&](uint32_t reference, Place) { return MayGoOn() && (reference == 0 || Reach(reference, at)); });
  if (of.kind == Kind::kSoft) soft_[soft_count_++] = at;
  if (of.kind == Kind::kFinal) final_[final_count_++] = at;
}

bool HeapWalk::Drain() {
  while (next_ < count_ && MayGoOn()) Follow(static_cast<uint32_t>(next_++));
  return end_ == WalkEnd::kComplete;
}

// What the references from `*next` on refer to is reached, and followed.
bool HeapWalk::FollowReferents(const MappedArray<uint32_t>& references, size_t count, size_t* next) {
  for (; *next < count; ++*next) {
    const uint32_t at = references[*next];
    const uint32_t referent = layout_->ReferentOf(layout_->AddressOf(queue_[at].reference));
    if (!MayGoOn() || (referent != 0 && !Reach(referent, at))) return false;
  }
  return Drain();
}

WalkEnd HeapWalk::Run(uint64_t deadline_ns) {
  deadline_ns_ = deadline_ns;
  until_look_ = kBetweenLooks;
  if (MonotonicNs() >= deadline_ns) end_ = WalkEnd::kTime;
  if (!Drain()) return end_;
  strong_end_ = count_;
  size_t soft = 0, final = 0;
  while (soft < soft_count_) {
    if (!FollowReferents(soft_, soft_count_, &soft)) return end_;
  }
  soft_end_ = count_;
  while (final < final_count_ || soft < soft_count_) {
    if (!FollowReferents(final_, final_count_, &final) || !FollowReferents(soft_, soft_count_, &soft)) return end_;
  }
  return end_;
}

Place HeapWalk::PlaceOf(uint64_t holder, uint32_t reference) const {
  using Kind = ReferenceLayout::Kind;
  const ReferenceLayout::Class of =
      layout_->ClassOf(layout_->objects().ClassOf(layout_->objects().ClassWordOf(holder)));
  if (of.kind == Kind::kArray) return Place::Element();
  std::optional<Place> found;
  layout_->ForEach(holder, of, [&](uint32_t held, Place place) {
    if (held == reference) found = place;
    return !found;
  });
  if (found) return *found;
  const bool refers = of.kind == Kind::kSoft || of.kind == Kind::kFinal;
  return refers && layout_->ReferentOf(holder) == reference ? layout_->referent() : Place::ClassOfObject();
}

}  // namespace heaprec::hotspot
