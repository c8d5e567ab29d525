// Reading ahead gives what reading gives: blocks, names, damage and positions, one by one.
#include "tools/input/read_ahead_reader.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "tests/tools/recording_fixture.h"
#include "tools/input/file_source.h"

namespace heaprec::tools::testing {
namespace {

constexpr int kChunks = 5, kBlocks = 40;

Event EventOf(int chunk, int block, int i) {
  Event event;
  event.time_ns = static_cast<uint64_t>(chunk * kBlocks + block) * kSecond + static_cast<uint64_t>(i) * 640;
  event.class_name = "p/C" + std::to_string(block * 3 % (20 + chunk));
  event.thread = "worker-" + std::to_string(i % (block + 1));
  event.stack = {"p/Leaf.m" + std::to_string(block + i) + ":7", "p/Main.main" + std::to_string(chunk) + ":3"};
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

std::string Described(const format::Reader& reader, const format::Block& block) {
  std::string text = std::to_string(block.chunk) + "/" + std::to_string(block.sequence) + " to " +
                     std::to_string(reader.position()) + ":";
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
    text += " " + std::to_string(size);
  }
  for (const format::SkippedRange& range : reader.skipped()) {
    text += " [" + std::to_string(range.begin) + " " + std::to_string(range.end) + " " + range.why + "]";
  }
  return text;
}

std::vector<std::string> AllOf(format::Reader* reader) {
  std::vector<std::string> all;
  while (const auto block = reader->Next()) all.push_back(Described(*reader, *block));
  all.push_back("end at " + std::to_string(reader->position()) + ", " + std::to_string(reader->skipped().size()));
  return all;
}

std::unique_ptr<format::Reader> Open(FileSource* source) { return std::move(*format::Reader::Open(source)); }

void CheckSame(const std::string& path) {
  const auto source = std::move(*FileSource::Open(path));
  const auto plain = Open(source.get());
  const std::vector<std::string> expected = AllOf(plain.get());
  REQUIRE(expected.size() > 50);
  for (const size_t before : {0, 1, 16, 1000}) {
    ReadAheadReader ahead(Open(source.get()), before);
    CHECK(AllOf(&ahead) == expected);
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

TEST_CASE("reading ahead gives what reading gives, also of a damaged recording") {
  const Directory directory;
  const std::string path = directory / "r.hrec";
  RecordingFile file(path, SomeHeader());
  WriteInto(&file);
  CheckSame(path);
  for (const uint64_t part : {3, 4, 8, 11}) Flip(path, file.size() * part / 13);
  CheckSame(path);
  file.Add(EventOf(9, 0, 0));
  file.Flush();
  Flip(path, file.size() - 3);
  CheckSame(path);
}

TEST_CASE("what is appended after the end was reached is read when it is asked for") {
  const Directory directory;
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

TEST_CASE("a reader that is not read to its end ends all the same") {
  const Directory directory;
  const std::string path = directory / "r.hrec";
  RecordingFile file(path, SomeHeader());
  WriteInto(&file);
  const auto source = std::move(*FileSource::Open(path));
  for (int blocks = 0; blocks < 5; ++blocks) {
    ReadAheadReader ahead(Open(source.get()), 0);
    for (int i = 0; i < blocks; ++i) CHECK(ahead.Next());
  }
}

}  // namespace
}  // namespace heaprec::tools::testing
