#include "recorder/sources/native/mapping_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heaprec::sources {

using native::Mapping;
using native::MappingType;

MappingTable::Layer::iterator MappingTable::Divide(Layer* layer, uintptr_t at) {
  const auto behind = layer->lower_bound(at);
  if (behind == layer->begin()) return behind;
  const auto before = std::prev(behind);
  if (before->second.end <= at) return behind;
  const Piece rest = before->second;
  before->second.end = at;
  return layer->emplace_hint(behind, at, rest);
}

MappingTable::Layer MappingTable::TakeOut(Layer* layer, uintptr_t begin, uintptr_t end) {
  Layer out;
  Divide(layer, end);
  for (auto at = Divide(layer, begin); at != layer->end() && at->first < end;) out.insert(layer->extract(at++));
  return out;
}

void MappingTable::Cut(Layer* layer, uintptr_t begin, uintptr_t end, uint64_t now_ns) {
  Lose(TakeOut(layer, begin, end), now_ns);
}

void MappingTable::Lose(const Layer& pieces, uint64_t now_ns) {
  for (const auto& [begin, piece] : pieces) {
    const auto owner = owners_.find(piece.sample);
    if (owner == owners_.end()) continue;
    owner->second.left -= piece.end - begin;
    owner->second.changed_ns = now_ns;
    changed_.insert(piece.sample);
  }
}

void MappingTable::Put(Layer* layer, uintptr_t begin, const Piece& piece) {
  layer->insert_or_assign(begin, Piece{piece.end, piece.sample, piece.sort, age_});
  if (piece.sample != 0) owners_[piece.sample].left += piece.end - begin;
}

uint64_t MappingTable::Fill(uint64_t sample, uintptr_t begin, uintptr_t end) {
  uint64_t filled = 0;
  for (auto next = Divide(&reserved_, begin); begin < end;) {
    const uintptr_t until = next == reserved_.end() ? end : std::min(next->first, end);
    if (begin < until) Put(&reserved_, begin, {until, sample, MappingType::kReserve});
    filled += until - begin;
    if (until == end) break;
    begin = next->second.end;
    ++next;
  }
  return filled;
}

bool MappingTable::IsReserved(uintptr_t begin, uintptr_t end) const {
  auto next = reserved_.upper_bound(begin);
  if (next == reserved_.begin()) return false;
  for (--next; next != reserved_.end() && next->first <= begin; ++next) {
    if (next->second.end >= end) return true;
    if (next->second.end <= begin) return false;
    begin = next->second.end;
  }
  return false;
}

// The kernel returned these addresses, so they were free. If they are in the table, the end of a mapping was missed.
MappingTable::New MappingTable::Map(uint64_t sample, const Mapping& mapping, uint64_t now_ns) {
  Cut(&touched_, mapping.begin, mapping.end, now_ns);
  if (!mapping.replaces) Cut(&reserved_, mapping.begin, mapping.end, now_ns);
  if (mapping.sort != MappingType::kReserve) return Touch(sample, mapping, now_ns);
  return {Fill(sample, mapping.begin, mapping.end), MappingType::kReserve, false};
}

MappingTable::New MappingTable::Touch(uint64_t sample, const Mapping& mapping, uint64_t now_ns) {
  const bool is_in_reserve = IsReserved(mapping.begin, mapping.end);
  if (!is_in_reserve) Cut(&reserved_, mapping.begin, mapping.end, now_ns);
  Put(&touched_, mapping.begin, {mapping.end, sample, mapping.sort});
  return {mapping.end - mapping.begin, mapping.sort, is_in_reserve};
}

void MappingTable::Unmap(uintptr_t begin, uintptr_t end, uint64_t now_ns) {
  Cut(&touched_, begin, end, now_ns);
  Cut(&reserved_, begin, end, now_ns);
}

void MappingTable::Detach(uint32_t moving, uintptr_t begin, uintptr_t end) {
  detached_[moving] = {begin, end, TakeOut(&reserved_, begin, end), TakeOut(&touched_, begin, end)};
}

void MappingTable::PutBack(Layer* layer, const Layer& pieces, uintptr_t from, uintptr_t begin, uintptr_t end,
                           uint64_t now_ns) {
  Layer gone;
  for (const auto& [at, piece] : pieces) {
    const uintptr_t to = at - from + begin, to_end = piece.end - from + begin;
    if (to < end) layer->insert_or_assign(to, Piece{std::min(to_end, end), piece.sample, piece.sort, age_});
    if (to_end > end) gone.emplace(std::max(to, end), Piece{to_end, piece.sample, piece.sort, age_});
  }
  Lose(gone, now_ns);
}

MappingTable::New MappingTable::Attach(uint32_t moving, uint64_t sample, uintptr_t begin, uintptr_t end,
                                       uint64_t now_ns) {
  const auto found = detached_.find(moving);
  if (found == detached_.end()) return {};
  const Detached detached = std::move(found->second);
  detached_.erase(found);
  Cut(&touched_, begin, end, now_ns);
  Cut(&reserved_, begin, end, now_ns);
  PutBack(&reserved_, detached.reserved, detached.begin, begin, end, now_ns);
  PutBack(&touched_, detached.touched, detached.begin, begin, end, now_ns);
  const uintptr_t grown = begin + (detached.end - detached.begin);
  if (grown >= end) return {};
  MappingType sort = MappingType::kPrivate;
  if (!detached.touched.empty()) {
    sort = detached.touched.rbegin()->second.sort;
  } else if (!detached.reserved.empty()) {
    sort = MappingType::kReserve;
  }
  return Map(sample, {grown, end, sort, false}, now_ns);
}

void MappingTable::KeepOnly(const std::vector<Mapping>& mapped, uint64_t now_ns) {
  uintptr_t from = 0;
  for (const Mapping& one : mapped) {
    for (Layer* const layer : {&touched_, &reserved_}) CutOld(layer, from, one.begin, now_ns);
    from = one.end;
  }
  for (Layer* const layer : {&touched_, &reserved_}) CutOld(layer, from, UINTPTR_MAX, now_ns);
}

void MappingTable::CutOld(Layer* layer, uintptr_t begin, uintptr_t end, uint64_t now_ns) {
  if (begin >= end) return;
  Layer old = TakeOut(layer, begin, end);
  for (auto at = old.begin(); at != old.end();) {
    const auto next = std::next(at);
    if (at->second.age == age_) layer->insert(old.extract(at));
    at = next;
  }
  Lose(old, now_ns);
}

std::vector<MappingTable::Change> MappingTable::TakeChanges() {
  std::vector<Change> changes;
  for (const uint64_t sample : std::exchange(changed_, {})) {
    const auto owner = owners_.find(sample);
    changes.push_back({sample, owner->second.left, owner->second.changed_ns});
    if (owner->second.left == 0) owners_.erase(owner);
  }
  return changes;
}

}  // namespace heaprec::sources
