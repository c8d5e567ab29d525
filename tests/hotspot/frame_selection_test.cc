#include <catch2/catch.hpp>
#include <vector>

#include "recorder/hotspot/stacks/stack_walker.h"

namespace heaprec::hotspot {
namespace {

// A stack of `deep` frames told apart by their bci, and what is kept of it in `room`.
std::vector<int64_t> Kept(size_t deep, size_t room, bool* cut = nullptr) {
  std::vector<MethodFrame> memory(room);
  FrameSelection selection(memory);
  for (size_t i = 0; i < deep; ++i) selection.Add({nullptr, 0, static_cast<int32_t>(i)});
  std::vector<int64_t> kept;
  for (const MethodFrame& frame : selection.Finish()) kept.push_back(frame.bci);
  if (cut != nullptr) *cut = selection.is_cut();
  return kept;
}

TEST_CASE("A stack that fits is kept completely") {
  for (size_t deep = 0; deep <= 9; ++deep) {
    bool cut = true;
    const std::vector<int64_t> kept = Kept(deep, 9, &cut);
    CHECK(kept.size() == deep);
    CHECK(!cut);
    for (size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] == static_cast<int64_t>(i));
  }
}

TEST_CASE("Of a deeper stack a quarter is nearest to the allocation, the rest nearest to the root") {
  for (size_t room = 1; room <= 17; ++room) {
    for (size_t deep = room + 1; deep < 80; ++deep) {
      bool cut = false;
      const std::vector<int64_t> kept = Kept(deep, room, &cut);
      REQUIRE(cut);
      REQUIRE(kept.size() == room);
      const size_t leaf = FrameSelection::LeafSide(room);
      REQUIRE(leaf == (room + 3) / 4);
      for (size_t i = 0; i < room; ++i) REQUIRE(kept[i] == static_cast<int64_t>(i < leaf ? i : deep - room + i));
    }
  }
}

}  // namespace
}  // namespace heaprec::hotspot
