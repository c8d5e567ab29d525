// libjvm.so is loaded here without starting a JVM: its symbols and tables can be read all the same.
#include "recorder/hotspot/libjvm.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "recorder/arch/code_patch.h"
#include "recorder/arch/detour.h"
#include "recorder/hotspot/allocation/unseen_allocation.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/hotspot/vm_structs.h"
#include "recorder/hotspot/vtable_slots.h"
#include "recorder/unwind/symbolizer.h"
#include "tests/support/java_run.h"

namespace heaprec::hotspot {
namespace {

using testing::FreshFolder;

std::string LibJvmFile() { return testing::JavaHome() + "/lib/server/libjvm.so"; }

void* LoadedLibJvm() {
  static void* const library = dlopen(LibJvmFile().c_str(), RTLD_NOW);
  INFO(LibJvmFile());
  REQUIRE(library != nullptr);
  return library;
}

LibJvm Located() {
  LoadedLibJvm();
  const auto libjvm = LibJvm::Locate();
  REQUIRE(libjvm.ok());
  REQUIRE(libjvm->constants_begin != 0);
  return *libjvm;
}

VmStructs Structs() {
  LoadedLibJvm();
  auto structs = VmStructs::Load();
  REQUIRE(structs.ok());
  return *structs;
}

// A copy of libjvm.so that objcopy has changed, with a build id of its own: nothing installed here fits it.
void CopyLibJvm(const std::string& objcopy_options, const std::string& to) {
  const std::string command = "objcopy " + objcopy_options + " " + LibJvmFile() + " " + to;
  REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
  std::fstream file(to, std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const size_t note = bytes.find(std::string("\x14\0\0\0\3\0\0\0GNU\0", 12));
  REQUIRE(note != std::string::npos);
  file.seekp(static_cast<std::streamoff>(note + 12));
  file.write("\xab\xcd", 2);
}

// Of a copy that CopyLibJvm makes.
LibJvm Copied() {
  LibJvm libjvm = Located();
  libjvm.path = FreshFolder() + "/libjvm.so";
  libjvm.build_id.replace(0, 4, "abcd");
  return libjvm;
}

TEST_CASE("Text, base and build id of the loaded libjvm equal those of its file") {
  const LibJvm libjvm = Located();
  void* const function = dlsym(LoadedLibJvm(), "JNI_CreateJavaVM");
  const auto address = reinterpret_cast<uintptr_t>(function);
  CHECK(address >= libjvm.text_begin);
  CHECK(address < libjvm.text_end);
  Dl_info info = {};
  REQUIRE(dladdr(function, &info) != 0);
  CHECK(libjvm.base == reinterpret_cast<uintptr_t>(info.dli_fbase));
  const auto file = native::OpenElf(libjvm.path);
  REQUIRE(file.ok());
  CHECK(libjvm.build_id.size() == 40);
  CHECK(libjvm.build_id == file->BuildId());
}

TEST_CASE("An exported symbol is found at the address that the linker returns") {
  const LibJvm libjvm = Located();
  constexpr std::string_view kWanted[] = {"JNI_CreateJavaVM", "JNI_", "no_such_symbol"};
  const auto symbols = SymbolTable::Load(libjvm, kWanted);
  REQUIRE(symbols.ok());
  CHECK(symbols->origin() == libjvm.path);
  CHECK(symbols->FindByPrefix("JNI_CreateJavaVM") ==
        reinterpret_cast<uintptr_t>(dlsym(LoadedLibJvm(), "JNI_CreateJavaVM")));
  CHECK_FALSE(symbols->FindByPrefix("JNI_").has_value());               // ambiguous
  CHECK_FALSE(symbols->FindByPrefix("no_such_symbol").has_value());     // absent
  CHECK_FALSE(symbols->FindByPrefix("AsyncGetCallTrace").has_value());  // not asked for
}

TEST_CASE("Both functions of AllocTracer are found and can be detoured") {
  const LibJvm libjvm = Located();
  const auto symbols = SymbolTable::Load(libjvm);
  REQUIRE(symbols.ok());
  for (const auto& spellings : {std::span<const std::string_view>(kInNewTlab), {kOutsideTlab}}) {
    const auto address = symbols->FindFirst(spellings);
    REQUIRE(address.has_value());
    CHECK((*address >= libjvm.text_begin && *address < libjvm.text_end));
    const auto detour = arch::Detour::Prepare(*address, reinterpret_cast<const void*>(&LoadedLibJvm));
    INFO((detour ? "" : detour.error().message));
    CHECK(detour.ok());
  }
}

TEST_CASE("A stripped libjvm is an error that names the build id, and a cached debug file helps") {
  const auto direct = SymbolTable::Load(Located());
  const LibJvm libjvm = Copied();
  CopyLibJvm("--strip-all", libjvm.path);
  REQUIRE(native::OpenElf(libjvm.path)->BuildId() == libjvm.build_id);
  const auto none = SymbolTable::Load(libjvm);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message.find(libjvm.build_id) != std::string::npos);

  const std::string cache = FreshFolder();
  const std::string debug = cache + "/" + libjvm.build_id + "/debuginfo";
  std::filesystem::create_directories(cache + "/" + libjvm.build_id);
  CopyLibJvm("--only-keep-debug", debug);
  REQUIRE(setenv("DEBUGINFOD_CACHE_PATH", cache.c_str(), 1) == 0);  // NOLINT(concurrency-mt-unsafe)
  const auto cached = SymbolTable::Load(libjvm);
  unsetenv("DEBUGINFOD_CACHE_PATH");  // NOLINT(concurrency-mt-unsafe)
  REQUIRE(cached.ok());
  CHECK(cached->origin() == debug);
  REQUIRE(direct->FindFirst(kInNewTlab).has_value());
  CHECK(cached->FindFirst(kInNewTlab) == direct->FindFirst(kInNewTlab));
}

TEST_CASE("A stripped libjvm uses the debug file that it names, if the build id is the same") {
  const auto direct = SymbolTable::Load(Located());
  LibJvm libjvm = Copied();
  const std::filesystem::path folder = std::filesystem::path(libjvm.path).parent_path();
  std::filesystem::create_directory(folder / ".debug");
  const std::string beside = folder / "libjvm.debug", below = folder / ".debug/libjvm.debug";
  CopyLibJvm("--only-keep-debug", beside);
  CopyLibJvm("--strip-all --remove-section=.gnu_debuglink --add-gnu-debuglink=" + beside, libjvm.path);
  for (const std::string& place : {beside, below}) {
    if (place == below) std::filesystem::rename(beside, below);
    const auto linked = SymbolTable::Load(libjvm);
    INFO((linked ? "" : linked.error().message));
    REQUIRE(linked.ok());
    CHECK(linked->origin() == place);
    CHECK(linked->FindFirst(kInNewTlab) == direct->FindFirst(kInNewTlab));
  }
  libjvm.build_id.replace(0, 4, "abce");
  CHECK_FALSE(SymbolTable::Load(libjvm).ok());
}

TEST_CASE("The cold part of a function is not the function; another clone makes its name ambiguous") {
  const auto direct = SymbolTable::Load(Located());
  REQUIRE(direct->FindByPrefix(kSignalHandler).has_value());
  const LibJvm libjvm = Copied();
  const std::string add = "--add-symbol " + std::string(kSignalHandler) + "PvS_";
  CopyLibJvm(add + ".cold=.text:64,local,function", libjvm.path);
  const auto cold = SymbolTable::Load(libjvm);
  REQUIRE(cold.ok());
  CHECK(cold->FindByPrefix(kSignalHandler) == direct->FindByPrefix(kSignalHandler));
  CopyLibJvm(add + ".part.0=.text:64,local,function", libjvm.path);
  const auto part = SymbolTable::Load(libjvm);
  REQUIRE(part.ok());
  CHECK_FALSE(part->FindByPrefix(kSignalHandler).has_value());
}

TEST_CASE("A file of another build is not used") {
  LibJvm libjvm = Located();
  libjvm.build_id[0] = libjvm.build_id[0] == '0' ? '1' : '0';
  CHECK_FALSE(SymbolTable::Load(libjvm).ok());
}

TEST_CASE("The places for symbols are searched in the documented order") {
  LibJvm libjvm;
  libjvm.path = "/jdk/lib/server/libjvm.so";
  libjvm.build_id = "abcdef";
  REQUIRE(setenv("DEBUGINFOD_CACHE_PATH", "/cache", 1) == 0);  // NOLINT(concurrency-mt-unsafe)
  const auto files = SymbolFiles(libjvm);
  unsetenv("DEBUGINFOD_CACHE_PATH");  // NOLINT(concurrency-mt-unsafe)
  REQUIRE(files.size() >= 3);
  CHECK(files[0] == "/jdk/lib/server/libjvm.so");
  CHECK(files[1] == "/usr/lib/debug/.build-id/ab/cdef.debug");
  CHECK(files[2] == "/cache/abcdef/debuginfo");
}

TEST_CASE(
    "Without its variable the debuginfod cache is in XDG_CACHE_HOME, then under HOME, in its new and its old place") {
  LibJvm libjvm;
  libjvm.path = "/jdk/lib/server/libjvm.so";
  libjvm.build_id = "abcdef";
  const char* const home = getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  const std::string before = home != nullptr ? home : "";
  REQUIRE(setenv("XDG_CACHE_HOME", "/xdg", 1) == 0);  // NOLINT(concurrency-mt-unsafe)
  REQUIRE(setenv("HOME", "/home/me", 1) == 0);        // NOLINT(concurrency-mt-unsafe)
  const auto files = SymbolFiles(libjvm);
  unsetenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home != nullptr) {
    REQUIRE(setenv("HOME", before.c_str(), 1) == 0);  // NOLINT(concurrency-mt-unsafe)
  } else {
    unsetenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  }
  REQUIRE(files.size() >= 5);
  CHECK(files[2] == "/xdg/debuginfod_client/abcdef/debuginfo");
  CHECK(files[3] == "/home/me/.cache/debuginfod_client/abcdef/debuginfo");
  CHECK(files[4] == "/home/me/.debuginfod_client_cache/abcdef/debuginfo");
}

TEST_CASE("The exported tables have fields, sizes, constants and the version") {
  const VmStructs structs = Structs();
  CHECK(structs.Offset("ThreadLocalAllocBuffer", "_start") == size_t{0});
  CHECK(structs.Offset("ThreadLocalAllocBuffer", "_top") == size_t{8});
  CHECK_FALSE(structs.Offset("ThreadLocalAllocBuffer", "_no_such_field").has_value());
  CHECK_FALSE(structs.Offset("NoSuchType", "_start").has_value());
  CHECK(structs.Offset("Symbol", {"_no_such_field", "_body"}).has_value());
  CHECK(structs.Static("java_lang_Class", "_klass_offset") != nullptr);
  CHECK(structs.Static("ThreadLocalAllocBuffer", "_start") == nullptr);  // not a static
  CHECK(structs.SizeOf("Method").value_or(0) > 40);
  CHECK_FALSE(structs.SizeOf("NoSuchType").has_value());
  CHECK(structs.IntConstant("JVM_CONSTANT_Class") == int64_t{7});
  CHECK(structs.BoolFlag("CheckJNICalls") == false);
  CHECK_FALSE(structs.BoolFlag("NoSuchFlag").has_value());
  const auto major = JdkMajorVersion(nullptr, structs);
  REQUIRE(major.ok());
  CHECK((*major >= 8 && *major < 100));
  CHECK(Names::Resolve(structs, JdkRules::For(*major)).ok());
}

TEST_CASE("An unknown JDK has the conservative row, which reads nothing of the JVM") {
  const VmStructs structs = Structs();
  for (const int major : {8, 12, 99}) {
    const JdkRules& rules = JdkRules::For(major);
    CHECK_FALSE(rules.is_known());
    CHECK_FALSE(rules.knows_frames);
    CHECK_FALSE(ThreadLayout::Resolve(structs, rules).ok());
    CHECK_FALSE(Names::Resolve(structs, rules).ok());
    CHECK_FALSE(StackWalker::Resolve(structs, Names::FromJvmti(nullptr), rules).ok());
    CHECK_FALSE(AllocatesInline(structs, rules));
  }
  for (const int major : {11, 17, 21, 25, 26, 27, 28}) CHECK(JdkRules::For(major).jdk == major);
}

TEST_CASE("A thread of an unknown JVM is identified by thread-local words, and its bytes are estimated") {
  const ThreadLayout layout = ThreadLayout::FromThreadWords();
  const ThreadOfEnv thread_of = ThreadOfEnv::FromThreadWords();
  void* const thread = thread_of(nullptr);
  CHECK(layout.is_estimated());
  CHECK(layout.AllocatedBytes(thread) == 0);
  layout.AddEstimated(thread, 1000);
  layout.AddEstimated(thread, 24);
  CHECK(layout.AllocatedBytes(thread) == 1024);
  CHECK(layout.AllocatedBytesInCallback(thread) == 1024);
  CHECK(layout.AllocatedBytesOfOther(thread) == uint64_t{1024});
  CHECK(layout.TlabSize(thread) == 0);
  CHECK_FALSE(layout.InTlab(thread, thread));
  layout.SetUnarmed(thread);
  CHECK(layout.AllocatedBytes(thread) == 1024);
  CHECK(thread_of.OfThread(nullptr, nullptr) == nullptr);
  void* other = nullptr;
  std::thread([&] { other = thread_of(nullptr); }).join();
  CHECK(other != thread);
}

// A JavaThread made of plain words, by the offsets of the loaded libjvm.
class FakeThread {
 public:
  explicit FakeThread(int rules)
      : structs_(Structs()), layout_(*ThreadLayout::Resolve(structs_, JdkRules::For(rules))) {
    tlab_ = *structs_.Offset("Thread", "_tlab");
    Set(tlab_, 0x10000);         // _start
    Set(tlab_ + 8, 0x10100);     // _top
    Set(tlab_ + 0x18, 0x18000);  // _end
    Set(tlab_ + 0x20, 0x18000);  // _allocation_end
    Set(*structs_.Offset("Thread", "_allocated_bytes"), 1'000'000);
    Set(layout_.threshold_offset(), 77);
  }
  uint64_t Get(size_t offset) const {
    uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  void Set(size_t offset, uint64_t value) { std::memcpy(bytes_.data() + offset, &value, sizeof value); }
  const ThreadLayout& layout() const { return layout_; }
  void* get() { return bytes_.data(); }
  size_t tlab() const { return tlab_; }
  size_t since_sample() const { return tlab_ + *structs_.Offset("ThreadLocalAllocBuffer", "_number_of_refills") - 8; }
  uint64_t threshold(size_t word = 0) const { return Get(layout_.threshold_offset() + 8 * word); }

 private:
  std::vector<char> bytes_ = std::vector<char>(4096);
  VmStructs structs_;
  ThreadLayout layout_;
  size_t tlab_ = 0;
};

TEST_CASE("A thread's bytes are those of its retired TLABs plus its current one") {
  FakeThread thread(17);
  CHECK(thread.layout().AllocatedBytes(thread.get()) == 1'000'256);
  CHECK(thread.layout().TlabSize(thread.get()) >= 0x8000 + 16);
  CHECK(thread.layout().InTlab(thread.get(), reinterpret_cast<void*>(0x10000)));
  CHECK(thread.layout().InTlab(thread.get(), reinterpret_cast<void*>(0x100f8)));
  CHECK_FALSE(thread.layout().InTlab(thread.get(), reinterpret_cast<void*>(0x10100)));
  CHECK_FALSE(thread.layout().InTlab(thread.get(), reinterpret_cast<void*>(0xfff8)));
  thread.Set(thread.tlab(), 0);
  CHECK(thread.layout().AllocatedBytes(thread.get()) == 1'000'000);
  CHECK(thread.layout().TlabSize(thread.get()) == 0);
}

TEST_CASE("Words that keep contradicting each other are no TLAB, and reading them ends") {
  FakeThread thread(11);
  thread.Set(thread.tlab() + 8, 0xffff);  // _top below _start
  CHECK(thread.layout().AllocatedBytesInCallback(thread.get()) == 1'000'000);
  CHECK_FALSE(thread.layout().AllocatedBytesOfOther(thread.get()).has_value());
}

// JDK 11 leaves them as malloc gave them.
TEST_CASE("Without TLABs their words are not read") {
  constexpr std::string_view kFlag[] = {"UseTLAB"};
  const auto symbols = SymbolTable::Load(Located(), kFlag);
  REQUIRE(symbols.ok());
  const auto address = symbols->FindByPrefix(kFlag[0]);
  REQUIRE(address.has_value());
  auto* const flag = reinterpret_cast<bool*>(*address);  // NOLINT(performance-no-int-to-ptr): from the symbol table
  REQUIRE(*flag);
  for (const uint64_t top : {uint64_t{0xffff}, uint64_t{0x10100}, ~uint64_t{0}}) {
    *flag = false;
    FakeThread thread(11);
    *flag = true;
    thread.Set(thread.tlab() + 8, top);
    CHECK(thread.layout().AllocatedBytes(thread.get()) == 1'000'000);
    CHECK(thread.layout().AllocatedBytesInCallback(thread.get()) == 1'000'000);
    CHECK(thread.layout().AllocatedBytesOfOther(thread.get()) == uint64_t{1'000'000});
    CHECK(thread.layout().TlabSize(thread.get()) == 0);
    CHECK_FALSE(thread.layout().InTlab(thread.get(), reinterpret_cast<void*>(0x10000)));
    thread.layout().ArmInHook(thread.get(), 1001, 48, true);
    thread.layout().ArmAtRest(thread.get(), 1001);
    CHECK(thread.Get(thread.tlab() + 0x18) == 0x18000);
    CHECK(thread.threshold() == 1001);
  }
}

TEST_CASE("On 17 and 21 a hook arms gap plus size, a callback the gap") {
  for (const int rules : {17, 21}) {
    FakeThread thread(rules);
    thread.Set(thread.since_sample(), 5);
    thread.layout().ArmInHook(thread.get(), 1001.5, 48, true);
    CHECK(thread.threshold() == 1049);
    CHECK(thread.Get(thread.since_sample()) == 0);
    CHECK(thread.Get(thread.tlab() + 0x18) == 0x18000);  // the JVM cuts the end itself
    thread.layout().ArmInCallback(thread.get(), 333.9, true);
    CHECK(thread.threshold() == 333);
    thread.layout().Force(thread.get());
    CHECK(thread.threshold() == 0);
  }
}

TEST_CASE("On 11 an outside allocation also shortens the TLAB's end, but never extends it") {
  FakeThread thread(11);
  thread.layout().ArmInHook(thread.get(), 1001, 48, false);
  CHECK(thread.Get(thread.tlab() + 0x18) == 0x18000);
  CHECK(thread.Get(thread.since_sample()) == 0);
  thread.layout().ArmInHook(thread.get(), 1001, 48, true);
  CHECK(thread.threshold() == 1049);
  CHECK(thread.Get(thread.tlab() + 0x18) == 0x10100 + 1000);
  CHECK(thread.Get(thread.since_sample()) == 1001);
  thread.layout().ArmInCallback(thread.get(), 500, true);
  CHECK(thread.Get(thread.tlab() + 0x18) == 0x10100 + 496);
  CHECK(thread.Get(thread.since_sample()) == 500);
  thread.layout().ArmInHook(thread.get(), 1e9, 48, true);
  CHECK(thread.Get(thread.tlab() + 0x18) == 0x10100 + 496);
}

TEST_CASE("On 25 position, counters and a strict threshold are written") {
  FakeThread thread(25);
  for (const bool in_hook : {true, false}) {
    for (size_t word = 1; word < 4; ++word) thread.Set(thread.layout().threshold_offset() + 8 * word, 99);
    if (in_hook)
      thread.layout().ArmInHook(thread.get(), 1001, 48, true);
    else
      thread.layout().ArmInCallback(thread.get(), 1001, true);
    CHECK(thread.threshold() == 1001);  // floor8(1001) + 1
    CHECK(thread.threshold(1) == 0x10100);
    CHECK(thread.threshold(2) == 0);
    CHECK(thread.threshold(3) == 0);
  }
}

TEST_CASE("Gaps that are not finite are limited, far below overflow") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const int rules : {11, 17, 21, 25}) {
    FakeThread thread(rules);
    for (const double gap : {kInfinity, std::nan(""), 1e300, 1.5e19}) {
      thread.layout().ArmInHook(thread.get(), gap, uint64_t{1} << 40, true);
      CHECK((thread.threshold() >= uint64_t{1} << 60 && thread.threshold() < uint64_t{1} << 61));
      CHECK(thread.Get(thread.tlab() + 0x18) == 0x18000);
    }
    thread.layout().ArmInCallback(thread.get(), -1.0, false);
    CHECK(thread.threshold() <= 1);
    thread.layout().SetUnarmed(thread.get());
    CHECK(thread.threshold() == uint64_t{64} << 20);  // far, but not for ever: another sampler may come
  }
}

// The vtables of the allocators lie where they lie in a JVM that runs.

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
