// Reading ahead, and several chunks at once, gives what reading gives: blocks, names, damage and positions, one by one.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "format/reader/recordings_in_file.h"
#include "tests/tools/recording_fixture.h"
#include "throttle/random.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/file_source.h"
#include "tools/input/parallel_reader.h"

namespace heaprec::tools::testing {
namespace {

using throttle::Random;

// kAhead: the first block of a chunk may have all of its names.
enum class NamesAre : bool { kCounted, kAhead };

std::string Described(const format::Reader& reader, const format::Block& block, NamesAre names_are) {
  std::string text = std::to_string(block.chunk) + "/" + std::to_string(block.sequence) + " at " +
                     std::to_string(block.offset) + " to " + std::to_string(reader.position()) + ", " +
                     std::to_string(block.lost_names) + " lost:";
  const format::Dictionaries& names = *block.dictionaries;
  for (const format::Sample& sample : block.samples) {
    text += " " + std::to_string(sample.id) + names.classes[sample.class_id] + names.threads[sample.thread].name;
    for (format::Index node = sample.stack; node != format::kNone; node = names.stacks[node].parent) {
      const format::Index method = names.frames[names.stacks[node].frame].method;
      text += method == format::kNone ? "?" : names.methods[method].name;
    }
  }
  for (const size_t size :
       {names.classes.size(), names.methods.size(), names.frames.size(), names.stacks.size(), names.threads.size()}) {
    if (names_are == NamesAre::kCounted) text += " " + std::to_string(size);
  }
  for (const format::SkippedRange& range : reader.skipped()) {
    text += " [" + std::to_string(range.begin) + " " + std::to_string(range.end) + " " + range.why + "]";
  }
  return text;
}

std::vector<std::string> AllOf(format::Reader* reader, NamesAre names_are) {
  std::vector<std::string> all;
  while (const auto block = reader->Next()) all.push_back(Described(*reader, *block, names_are));
  std::string end = "end at " + std::to_string(reader->position());
  for (const format::SkippedRange& range : reader->skipped()) end += " " + range.why;
  all.push_back(end);
  return all;
}

std::unique_ptr<format::Reader> Open(format::ByteSource* source) { return std::move(*format::Reader::Open(source)); }

constexpr int kChunks = 5, kBlocks = 40;

Event EventOf(int chunk, int block, int i) {
  Event event{.time_ns = static_cast<uint64_t>(chunk * kBlocks + block) * kSecond + static_cast<uint64_t>(i) * 640,
              .class_name = "p/C" + std::to_string(block * 3 % (20 + chunk)),
              .thread = "worker-" + std::to_string(i % (block + 1)),
              .stack = {"p/Leaf.m" + std::to_string(block + i) + ":7", "p/Main.main" + std::to_string(chunk) + ":3"}};
  return event;
}

// Some chunks are shorter than those before them.
void WriteInto(RecordingFile* file) {
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    if (chunk > 0) file->StartChunk();
    for (int block = 0; block < kBlocks / (chunk % 2 + 1); ++block) {
      for (int i = 0; i < 30; ++i) file->Add(EventOf(chunk, block, i));
      file->Flush();
    }
  }
}

void CheckAhead(const std::string& path) {
  const auto source = std::move(*FileSource::Open(path));
  const std::vector<std::string> expected = AllOf(Open(source.get()).get(), NamesAre::kCounted);
  REQUIRE(expected.size() > 50);
  for (const size_t before : {0, 1, 16, 1000}) {
    ReadAheadReader ahead(Open(source.get()), before);
    CHECK(AllOf(&ahead, NamesAre::kCounted) == expected);
    CHECK_FALSE(ahead.Next());
  }
}

void Flip(const std::string& path, uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const auto byte = static_cast<char>(file.get() ^ 0x55);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

TEST_CASE_METHOD(Scratch, "reading ahead gives what reading gives, also of a damaged recording") {
  const std::string path = directory / "r.hrec";
  RecordingFile file(path, SomeHeader());
  WriteInto(&file);
  CheckAhead(path);
  for (const uint64_t part : {3, 4, 8, 11}) Flip(path, file.size() * part / 13);
  CheckAhead(path);
  file.Add(EventOf(9, 0, 0));
  file.Flush();
  Flip(path, file.size() - 3);
  CheckAhead(path);
}

TEST_CASE_METHOD(Scratch, "what is appended after the end was reached is read when it is asked for") {
  const std::string path = directory / "r.hrec";
  RecordingFile file(path, SomeHeader());
  WriteInto(&file);
  const auto source = std::move(*FileSource::Open(path));
  ReadAheadReader ahead(Open(source.get()), 0);
  while (ahead.Next()) {
  }
  for (int i = 0; i < 3; ++i) {
    file.Add(EventOf(9, i, 0));
    file.Flush();
    const auto block = ahead.Next();
    REQUIRE(block);
    CHECK(block->samples.size() == 1);
    CHECK(block->dictionaries->threads[block->samples.front().thread].name == "worker-0");
    CHECK_FALSE(ahead.Next());
  }
}

TEST_CASE_METHOD(Scratch, "a reader that is not read to its end ends all the same") {
  const std::string path = directory / "r.hrec";
  RecordingFile file(path, SomeHeader());
  WriteInto(&file);
  const auto source = std::move(*FileSource::Open(path));
  for (int blocks = 0; blocks < 5; ++blocks) {
    ReadAheadReader ahead(Open(source.get()), 0);
    for (int i = 0; i < blocks; ++i) CHECK(ahead.Next());
  }
}

Event RandomEvent(Random* random, uint64_t time_ns) {
  Event event{.time_ns = time_ns,
              .class_name = "p/C" + std::to_string(random->Next() % 30),
              .thread = "worker-" + std::to_string(random->Next() % 9),
              .stack = {"p/Leaf.m" + std::to_string(random->Next() % 60) + ":7",
                        "p/Middle.run:" + std::to_string(random->Next() % 5),
                        "p/Main.main" + std::to_string(random->Next() % 3) + ":3"}};
  return event;
}

// Up to 20 chunks of up to 6 blocks of up to 40 samples; with and without an ending.
void WriteRandom(const std::string& path, Random* random) {
  RecordingFile file(path, SomeHeader());
  uint64_t second = 0;
  for (uint64_t chunks = random->Next() % 20; chunks > 0; --chunks) {
    for (uint64_t blocks = random->Next() % 7; blocks > 0; --blocks, ++second) {
      const uint64_t samples = random->Next() % 40;
      for (uint64_t i = 0; i < samples; ++i) file.Add(RandomEvent(random, second * kSecond + i * 640));
      file.Flush();
    }
    file.StartChunk();
  }
  if (random->Next() % 2 == 0) file.End("jvm exit", second * kSecond);
}

// A flipped bit, bytes cut out or doubled, an end cut off; none of it in the file's header.
void Damage(std::string* bytes, size_t header_bytes, Random* random) {
  const auto place = [&] { return header_bytes + random->Next() % std::max<size_t>(bytes->size() - header_bytes, 1); };
  if (bytes->size() <= header_bytes) return;
  const size_t at = place();
  const size_t size = 1 + random->Next() % 300;
  switch (random->Next() % 4) {
    case 0:
      (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << random->Next() % 8));
      break;
    case 1:
      bytes->erase(at, size);
      break;
    case 2:
      bytes->insert(at, bytes->substr(place(), size));
      break;
    default:
      bytes->resize(at);
  }
}

// Returns how many blocks there are.
size_t CheckParallel(const std::string& path) {
  const auto source = std::move(*FileSource::Open(path));
  const std::vector<std::string> expected = AllOf(Open(source.get()).get(), NamesAre::kAhead);
  const auto known = std::make_shared<const format::ChunkSpans>(format::RecordingsIn(source.get())[0].chunks);
  for (const size_t threads : {1, 2, 5}) {
    ParallelReader wide(source.get(), Open(source.get()), threads, threads == 2 ? nullptr : known);
    const std::vector<std::string> found = AllOf(&wide, NamesAre::kAhead);
    REQUIRE(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == expected[i]);
    CHECK_FALSE(wide.Next());
  }
  return expected.size() - 1;
}

TEST_CASE_METHOD(Scratch, "reading several chunks at once gives what reading gives, also of damaged recordings") {
  const std::string path = directory / "r.hrec";
  RecordingFile(path, SomeHeader());
  const size_t header_bytes = Contents(path).size();
  size_t blocks = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    INFO("seed " << seed);
    std::remove(path.c_str());
    WriteRandom(path, &random);
    blocks += CheckParallel(path);
    std::string bytes = Contents(path);
    for (uint64_t times = 1 + random.Next() % 3; times > 0; --times) Damage(&bytes, header_bytes, &random);
    Overwrite(path, bytes);
    blocks += CheckParallel(path);
  }
  CHECK(blocks > 5000);
}

TEST_CASE_METHOD(Scratch, "what is appended after the end was reached is read when it is asked for, chunk by chunk") {
  const std::string path = directory / "r.hrec";
  Random random(8);
  RecordingFile file(path, SomeHeader());
  for (int chunk = 0; chunk < 8; ++chunk) {
    file.Add(RandomEvent(&random, 0));
    file.Flush();
    file.StartChunk();
  }
  const auto source = std::move(*FileSource::Open(path));
  ParallelReader wide(source.get(), Open(source.get()), 2);
  while (wide.Next()) {
  }
  for (int i = 0; i < 8; ++i) {
    file.Add(RandomEvent(&random, 0));
    file.Flush();
    const auto block = wide.Next();
    REQUIRE(block);
    REQUIRE(block->samples.size() == 1);
    CHECK(block->dictionaries->threads[block->samples.front().thread].name.starts_with("worker-"));
    CHECK_FALSE(wide.Next());
    if (i % 2 == 0) continue;
    file.StartChunk();
    CHECK(wide.Next());  // the end of the chunk
    CHECK_FALSE(wide.Next());
  }
}

TEST_CASE_METHOD(Scratch, "a reader of several chunks that is not read to its end ends all the same") {
  const std::string path = directory / "r.hrec";
  Random random(9);
  RecordingFile file(path, SomeHeader());
  for (int chunk = 0; chunk < 30; ++chunk) {
    for (int i = 0; i < 50; ++i) file.Add(RandomEvent(&random, 0));
    file.Flush();
    file.StartChunk();
  }
  const auto source = std::move(*FileSource::Open(path));
  for (int blocks = 0; blocks < 5; ++blocks) {
    ParallelReader wide(source.get(), Open(source.get()), 4);
    for (int i = 0; i < blocks; ++i) CHECK(wide.Next());
  }
}

}  // namespace

}  // namespace heaprec::tools::testing

namespace heaprec::tools {

namespace {

TEST_CASE("Only generated parts of a name are left out") {
  CHECK(StripGeneratedSuffix("p.Map$$Lambda$141/0x00007f0f84115150") == "p.Map$$Lambda");
  CHECK(StripGeneratedSuffix("jdk.proxy2.$Proxy17.hashCode") == "jdk.proxy.$Proxy.hashCode");
  CHECK(StripGeneratedSuffix("com.sun.proxy.$Proxy4") == "com.sun.proxy.$Proxy");
  CHECK(StripGeneratedSuffix("jdk.internal.reflect.GeneratedMethodAccessor3.invoke") ==
        "jdk.internal.reflect.GeneratedMethodAccessor.invoke");
  CHECK(StripGeneratedSuffix("p.Map$$Lambda/0x00007f0f84115150.apply") == "p.Map$$Lambda.apply");
  CHECK(StripGeneratedSuffix("p.Map$$Lambda$9/1225358173.run") == "p.Map$$Lambda.run");
  CHECK(StripGeneratedSuffix("java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke") ==
        "java.lang.invoke.LambdaForm$MH.invoke");
  CHECK(StripGeneratedSuffix("p.A$$Lambda$1/0x00007f0f84115150;p.A$$Lambda$2/0x00007f0f84115358") ==
        "p.A$$Lambda;p.A$$Lambda");
  CHECK(StripGeneratedSuffix("p.S$$EnhancerBySpringCGLIB$$1a2b3c.m") == "p.S$$EnhancerBySpringCGLIB$$.m");
  CHECK(StripGeneratedSuffix("p.S$$EnhancerByX$$a2c11f27") == "p.S$$EnhancerByX$$");
  CHECK(StripGeneratedSuffix("p.S$$FastClassByCGLIB$$7d2f") == "p.S$$FastClassByCGLIB$$");
  CHECK(StripGeneratedSuffix("p.Dao$HibernateProxy$AbCdEf1u.load") == "p.Dao$HibernateProxy$.load");
  CHECK(StripGeneratedSuffix("p.Order_$$_jvst7a_1") == "p.Order_$$_jvst");
  for (const char* name : {"", "p.Main.main:3", "p.Path/0x12.f", "p.A/123456789.f", "p.A$1.run", "p.$$Lambd", "a/0x",
                           "p.C.m1", "p.A$$facade", "p.A$$deadbeefs", "p.Foo$ProxyX"}) {
    CHECK(StripGeneratedSuffix(name) == name);
  }
}

// The names of one recording each.
using Run = std::initializer_list<const char*>;

void Read(MergedNames* merged, std::initializer_list<Run> runs) {
  uint8_t id = 0;
  for (const Run& run : runs) {
    format::RecordingId recording{};
    recording.fill(++id);
    merged->Start(recording);
    for (const char* name : run) merged->Of(name);
  }
}

TEST_CASE("Numbers are merged if recordings would otherwise have no names in common") {
  MergedNames merged;
  const std::initializer_list<Run> runs{
      {"p.Script1111", "user$eval17$fn__4", "p.Outer$1", "p.Outer$2", "p.Outer$7", "p.Sha1"},
      {"p.Script2222", "user$eval18$fn__9", "p.Outer$1", "p.Outer$2", "p.Outer$8", "p.Sha1"}};
  Read(&merged, runs);
  CHECK(merged.Of("p.Script2222") == "p.Script2222");
  REQUIRE(merged.Settle());
  Read(&merged, runs);
  CHECK_FALSE(merged.Settle());
  CHECK(merged.Of("p.Script1111") == "p.Script#");
  CHECK(merged.Of("user$eval18$fn__9") == "user$eval#$fn__#");
  for (const char* apart : {"p.Outer$1", "p.Outer$7", "p.Sha1"}) CHECK(merged.Of(apart) == apart);
  CHECK(merged.Text() == "4 generated names of classes are shown as 2; --names exact keeps them apart");
}

TEST_CASE("Thousands of classes of one template are merged, a few are not") {
  for (const size_t classes : {MergedNames::kMostOfTemplate, MergedNames::kMostOfTemplate + 1}) {
    MergedNames merged;
    for (size_t i = 0; i < classes; ++i) merged.Of("p.Bean" + std::to_string(i));
    CHECK(merged.Settle() == (classes > MergedNames::kMostOfTemplate));
  }
  MergedNames of_jdk, once(/*settles=*/false);
  for (size_t i = 0; i < 1000; ++i) {
    of_jdk.Of("java.util.Map" + std::to_string(i));
    once.Of("p.Bean" + std::to_string(i));
  }
  CHECK_FALSE(of_jdk.Settle());
  CHECK_FALSE(once.Settle());
}

TEST_CASE("A label keeps the lambdas of a class apart") {
  MergedNames merged;
  CHECK(merged.Of("p.A$$Lambda$1/0x00007f0f84115150", "lambda$main$3") == "p.A$$Lambda[lambda$main$3]");
  CHECK(merged.Of("p.A$$Lambda$7/0x00007f0f84115358", "Foo::bar") == "p.A$$Lambda[Foo::bar]");
  CHECK(merged.Text().empty());
  CHECK(merged.Of("p.A$$Lambda$9/0x00007f0f84115400", "Foo::bar") == "p.A$$Lambda[Foo::bar]");
  CHECK(merged.Text().starts_with("2 generated names of classes are shown as 1;"));
}

}  // namespace

}  // namespace heaprec::tools
