// Snapshots: of their accounts the file has what changed, and all of it again after ten seconds.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

using format::AccountItem;
using format::Amount;

void PutSnapshot(Bench* bench, uint64_t id, uint64_t time_ns, const std::vector<Amount>& amounts) {
  std::vector<uint64_t> codes;
  codes.reserve(amounts.size());
  for (const Amount amount : amounts) codes.push_back(amount.code());
  format::StateRecord record{};
  record.monotonic_ns = kStart + time_ns;
  record.id = id;
  record.items = static_cast<uint16_t>(codes.size());
  buffer::LaneLease lease(bench->ring(), 0, 2000);
  REQUIRE(lease.ok());
  Put(&lease, format::RecordType::kState, record,
      {reinterpret_cast<const char*>(codes.data()), codes.size() * sizeof(codes[0])});
}

std::vector<format::ProcessState> StatesOf(const Bench& bench) {
  const std::vector<std::byte> bytes = BytesOf(bench.path());
  format::MemoryByteSource source(bytes, "rec");
  auto reader = format::Reader::Open(&source);
  REQUIRE(reader.ok());
  std::vector<format::ProcessState> states;
  while (auto block = (*reader)->Next()) states.insert(states.end(), block->states.begin(), block->states.end());
  return states;
}

}  // namespace

TEST_CASE("What has not changed is written again after ten seconds, across blocks and chunks") {
  Bench bench(5);
  const Amount fixed = Amount::Of(7);
  for (uint64_t second = 1; second <= 25; ++second) {
    PutSnapshot(&bench, second, second * kSecond, {fixed, Amount::NoLimit(), Amount::Of(second), {}});
    bench.TickAt(second * kSecond);
  }
  bench.EndAt(26 * kSecond);
  format::ProcessAccount known;
  std::vector<uint64_t> with_fixed;
  for (const format::ProcessState& state : StatesOf(bench)) {
    known.Update(state.account);
    CHECK(known[AccountItem::kCgroupMax] == fixed);
    CHECK(known[AccountItem::kCgroupHigh] == Amount::NoLimit());
    CHECK(known[AccountItem::kCgroupSwapMax] == Amount::Of(state.id));
    CHECK_FALSE(known[AccountItem::kCgroupCurrent].was_taken());
    if (state.account[AccountItem::kCgroupMax].was_taken()) with_fixed.push_back(state.id);
  }
  CHECK(with_fixed == std::vector<uint64_t>{1, 11, 21});
}

TEST_CASE("An amount that changes back is written each time") {
  Bench bench(5);
  for (uint64_t second = 1; second <= 4; ++second) {
    PutSnapshot(&bench, second, second * kSecond,
                {Amount::Of(second % 2), second == 3 ? Amount::NotKnown() : Amount()});
  }
  bench.EndAt(5 * kSecond);
  const auto states = StatesOf(bench);
  REQUIRE(states.size() == 4);
  for (const format::ProcessState& state : states)
    CHECK(state.account[AccountItem::kCgroupMax] == Amount::Of(state.id % 2));
  CHECK(states[2].account[AccountItem::kCgroupHigh] == Amount::NotKnown());
  CHECK_FALSE(states[3].account[AccountItem::kCgroupHigh].was_taken());
}

}  // namespace heaprec::writer
