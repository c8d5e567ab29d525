// libjvm.so is loaded here without starting a JVM: its vtables lie where they lie in one that runs.
#include "recorder/hotspot/libjvm/vtable_slots.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "recorder/arch/code_patch.h"
#include "recorder/hotspot/libjvm/libjvm.h"
#include "tests/hotspot/jdk.h"

namespace heaprec::hotspot {
namespace {

LibJvm Located() {
  INFO(LibJvmFile());
  REQUIRE(dlopen(LibJvmFile().c_str(), RTLD_NOW) != nullptr);
  const auto libjvm = LibJvm::Locate();
  REQUIRE(libjvm.ok());
  REQUIRE(libjvm->constants_begin != 0);
  return *libjvm;
}

uintptr_t Function(const LibJvm& libjvm, size_t index) {
  const auto symbols = SymbolTable::Load(libjvm);
  REQUIRE(symbols.ok());
  const auto address = symbols->FindByPrefix(kAllocatorInitialize[index]);
  REQUIRE(address.has_value());
  return *address;
}

std::vector<uintptr_t> Constants(const LibJvm& libjvm) {
  std::vector<uintptr_t> words((libjvm.constants_end - libjvm.constants_begin) / sizeof(uintptr_t));
  std::memcpy(words.data(), reinterpret_cast<const void*>(libjvm.constants_begin), words.size() * sizeof(uintptr_t));
  return words;
}

size_t Differences(const std::vector<uintptr_t>& some, const std::vector<uintptr_t>& others) {
  size_t count = 0;
  for (size_t i = 0; i < some.size(); ++i) count += some[i] != others[i];
  return count;
}

const auto kElsewhere = reinterpret_cast<uintptr_t>(&Differences);

TEST_CASE("The slots of every allocator are found, replaced and restored, and nothing else changes") {
  const LibJvm libjvm = Located();
  const auto before = Constants(libjvm);
  const int protection = arch::RegionOf(libjvm.constants_begin)->protection;
  for (size_t i = 0; i < kAllocatorsEverywhere; ++i) {
    INFO(kAllocatorInitialize[i]);
    auto slots = VtableSlots::Find(libjvm, Function(libjvm, i));
    REQUIRE(slots.ok());
    CHECK(slots->size() >= 1);
    CHECK(slots->size() <= 3);  // its own vtable, and those that inherit it
    REQUIRE(slots->Point(kElsewhere).ok());
    CHECK(Differences(before, Constants(libjvm)) == slots->size());
    REQUIRE(slots->Point(Function(libjvm, i)).ok());
    CHECK(Differences(before, Constants(libjvm)) == 0);
  }
  CHECK(arch::RegionOf(libjvm.constants_begin)->protection == protection);
  CHECK((protection & PROT_WRITE) == 0);
}

TEST_CASE("Slots that were changed by other code are not restored") {
  const LibJvm libjvm = Located();
  const uintptr_t function = Function(libjvm, 0);
  auto ours = VtableSlots::Find(libjvm, function);
  auto theirs = VtableSlots::Find(libjvm, function);
  REQUIRE((ours.ok() && theirs.ok()));
  REQUIRE(theirs->Point(kElsewhere).ok());
  const auto refused = ours->Point(kElsewhere + 1);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("other code") != std::string::npos);
  CHECK_FALSE(VtableSlots::Find(libjvm, function).ok());  // nothing holds it now
  REQUIRE(theirs->Point(function).ok());
  CHECK(ours->Point(kElsewhere).ok());
  CHECK(ours->Point(function).ok());
}

TEST_CASE("A function in no vtable, and a libjvm without constants, are errors") {
  LibJvm libjvm = Located();
  CHECK_FALSE(VtableSlots::Find(libjvm, kElsewhere).ok());
  const uintptr_t function = Function(libjvm, 0);
  libjvm.constants_begin = libjvm.constants_end = 0;
  CHECK_FALSE(VtableSlots::Find(libjvm, function).ok());
}

}  // namespace
}  // namespace heaprec::hotspot
