#include "format/reader/repaired_source.h"

#include <algorithm>
#include <array>
#include <utility>

#include "format/bytes/parity.h"

namespace heaprec::format {
namespace {

constexpr size_t kStride = 64 << 10;
constexpr uint64_t kMaxSearched = kMaxParityRegionBytes + (1 << 20);  // records further away do not cover the damage

// Returns the XOR of each column of the codeword: 0 where it is undamaged.
std::array<std::byte, kMaxParityWidth> SyndromeOf(Bytes codeword, size_t width) {
  std::array<std::byte, kMaxParityWidth> syndrome{};
  for (size_t i = 0; i < codeword.size(); ++i) syndrome[i % width] ^= codeword[i];
  return syndrome;
}

ByteRange PieceOf(const ParityShape& shape, size_t index) {
  if (index + 1 == shape.checksums()) return {shape.covered_bytes(), shape.codeword_bytes()};
  const size_t begin = index * kParityPieceBytes;
  return {begin, std::min(begin + kParityPieceBytes, shape.covered_bytes())};
}

Bytes Part(Bytes bytes, const ByteRange& range) { return bytes.subspan(range.begin, range.end - range.begin); }

// One run of damage in a codeword.
class Repair {
 public:
  Repair(ByteBuffer codeword, const ParityTail& tail) : bytes_(std::move(codeword)), tail_(tail) {}

  // Returns the repaired range.
  std::optional<ByteRange> Run() {
    if (!FindBadPieces()) return std::nullopt;
    syndrome_ = SyndromeOf(bytes_, width());
    const ByteRange span{PieceOf(tail_.shape, first_).begin, PieceOf(tail_.shape, last_).end};
    const uint64_t last_start = span.end - span.begin > width() ? span.end - width() : span.begin;
    const ByteBuffer damaged(Part(bytes_, span).begin(), Part(bytes_, span).end());
    for (uint64_t start = span.begin; start <= last_start; ++start) {
      const ByteRange run{start, std::min<uint64_t>(start + width(), span.end)};
      for (uint64_t i = run.begin; i < run.end; ++i) bytes_[i] ^= syndrome_[i % width()];
      if (ChecksumsHold()) return Differences(damaged, span.begin);
      std::ranges::copy(damaged, bytes_.begin() + static_cast<std::ptrdiff_t>(span.begin));
    }
    return std::nullopt;
  }
  const ByteBuffer& bytes() const { return bytes_; }

 private:
  // A run touches two adjacent pieces, or three if the middle one is short.
  static constexpr size_t kMaxBadPieces = 3;

  size_t width() const { return tail_.shape.width; }
  bool Holds(size_t piece) const { return Crc32(Part(bytes_, PieceOf(tail_.shape, piece))) == tail_.checksums[piece]; }
  bool ChecksumsHold() const {
    for (size_t piece = first_; piece <= last_; ++piece) {
      if (!Holds(piece)) return false;
    }
    return true;
  }
  // Returns false if no piece is bad, or too many are.
  bool FindBadPieces() {
    bool any = false;
    for (size_t piece = 0; piece < tail_.shape.checksums(); ++piece) {
      if (Holds(piece)) continue;
      if (!std::exchange(any, true)) first_ = piece;
      last_ = piece;
    }
    return any && last_ - first_ < kMaxBadPieces;
  }
  ByteRange Differences(const ByteBuffer& damaged, uint64_t begin) const {
    const auto differs = [&](size_t i) { return damaged[i] != bytes_[begin + i]; };
    size_t from = 0, to = damaged.size();
    while (from < to && !differs(from)) ++from;
    while (to > from && !differs(to - 1)) --to;
    return {begin + from, begin + to};
  }

  ByteBuffer bytes_;
  const ParityTail& tail_;
  std::array<std::byte, kMaxParityWidth> syndrome_{};
  size_t first_ = 0, last_ = 0;  // first and last bad piece
};

}  // namespace

Result<size_t> RepairedSource::ReadAt(uint64_t offset, std::byte* into, size_t size) {
  auto read = within_.ReadAt(offset, into, size);
  if (!read.ok() || patches_.empty()) return read;
  const uint64_t end = offset + *read;
  auto patch = patches_.lower_bound(offset - std::min<uint64_t>(offset, longest_patch_));
  for (; patch != patches_.end() && patch->first < end; ++patch) {
    const auto& [begin, bytes] = *patch;
    const uint64_t from = std::max(begin, offset), to = std::min(begin + bytes.size(), end);
    if (from >= to) continue;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from - begin), to - from, into + (from - offset));
  }
  return read;
}

ByteBuffer RepairedSource::Read(uint64_t offset, size_t size) {
  ByteBuffer bytes(size);
  const auto read = ReadAt(offset, bytes.data(), size);
  bytes.resize(read.ok() ? std::min(*read, size) : 0);
  return bytes;
}

std::optional<RepairedSource::Found> RepairedSource::TailAt(uint64_t offset) {
  const ByteBuffer begin = Read(offset, kParityHeadBytes);
  ByteCursor cursor(begin);
  cursor.U64();
  const ParityShape shape{cursor.U32(), cursor.U32()};
  if (!cursor.ok() || shape.region_bytes > kMaxParityRegionBytes) return std::nullopt;
  auto tail = DecodeParityTail(Read(offset, shape.tail_bytes()));
  if (!tail || shape.codeword_bytes() > offset) return std::nullopt;
  return Found{offset, std::move(*tail)};
}

// Searches no byte twice; in a growing file it searches the new bytes only.
const std::optional<RepairedSource::Found>& RepairedSource::FindTail(uint64_t offset) {
  if (found_ && found_->at >= offset) return found_;
  found_.reset();
  searched_to_ = std::max(searched_to_, offset);
  ByteBuffer magic;
  ByteSink(&magic).U64(kParityTailMagic);
  while (searched_to_ < offset + kMaxSearched) {
    const ByteBuffer bytes = Read(searched_to_, kStride);
    for (auto at = bytes.begin();; ++at) {
      at = std::search(at, bytes.end(), magic.begin(), magic.end());
      if (at == bytes.end()) break;
      found_ = TailAt(searched_to_ + static_cast<uint64_t>(at - bytes.begin()));
      if (!found_) continue;
      searched_to_ = found_->at;
      return found_;
    }
    if (bytes.size() < kStride) return found_;
    searched_to_ += bytes.size() - magic.size() + 1;
  }
  return found_;
}

std::optional<ByteRange> RepairedSource::RepairBehind(uint64_t offset) {
  const auto& found = FindTail(offset);
  if (!found || found->at < tried_to_) return std::nullopt;
  tried_to_ = found->at + 1;
  const ParityShape& shape = found->tail.shape;
  const uint64_t begin = found->at - shape.codeword_bytes();
  ByteBuffer codeword = Read(begin, shape.codeword_bytes());
  if (codeword.size() < shape.codeword_bytes()) return std::nullopt;
  Repair repair(std::move(codeword), found->tail);
  const auto wrong = repair.Run();
  if (!wrong) return std::nullopt;
  return Patch(begin + wrong->begin, Part(repair.bytes(), *wrong));
}

std::optional<ByteRange> RepairedSource::RebuildTail(uint64_t record, const ParityShape& shape) {
  if (shape.region_bytes > record) return std::nullopt;
  const ByteBuffer codeword = Read(record - shape.region_bytes, shape.codeword_bytes());
  const auto syndrome = SyndromeOf(codeword, shape.width);
  if (codeword.size() < shape.codeword_bytes() || syndrome != decltype(syndrome){}) return std::nullopt;
  ParityTail tail{shape, {}};
  for (size_t piece = 0; piece < shape.checksums(); ++piece) {
    tail.checksums.push_back(Crc32(Part(codeword, PieceOf(shape, piece))));
  }
  ByteBuffer bytes;
  AppendParityTail(&bytes, tail);
  return Patch(record + kParityHeadBytes + shape.width, bytes);
}

ByteRange RepairedSource::Patch(uint64_t offset, Bytes right) {
  patches_[offset] = ByteBuffer(right.begin(), right.end());
  longest_patch_ = std::max(longest_patch_, right.size());
  return {offset, offset + right.size()};
}

}  // namespace heaprec::format
