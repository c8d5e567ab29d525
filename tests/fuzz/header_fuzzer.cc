// Property: whatever the fields of a file's header, or of its copy in a chunk, opening the file ends, and what was read
// is written and read again as it is.
#include <cstring>

#include "format/codec/file_header.h"
#include "tests/fuzz/sealed_block.h"

namespace heaprec::fuzz {
namespace {

using namespace heaprec::format;  // NOLINT(google-build-using-namespace): a test of that room

ByteBuffer SealHeader(Bytes fields) {
  ByteBuffer hashed;
  ByteSink sink(&hashed);
  sink.U64(kFileMagic);
  sink.U32(kFileVersion);
  sink.U32(static_cast<uint32_t>(fields.size()));
  sink.Append(fields);
  ByteBuffer file(hashed.begin(), hashed.begin() + 16);
  ByteSink(&file).U64(Hash(hashed));
  ByteSink(&file).Append(fields);
  return file;
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  for (const uint32_t seed : {31U, 32U}) {
    Input fields;
    Append(EncodeHeaderFields(format::testing::SomeFileHeader(seed)), &fields);
    seeds.push_back(fields);
  }
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  using namespace format;  // NOLINT(google-build-using-namespace)
  const Bytes fields = BytesOf(bytes, size);
  const ByteBuffer file = SealHeader(fields);
  ReadWhole(file);
  ReadWhole(fields);
  ByteBuffer copy;
  AppendFramed(&copy, static_cast<uint64_t>(Section::kHeader), false, fields);
  ByteBuffer headless = Seal(copy, {});
  headless[0] = std::byte{0};
  ReadWhole(headless);
  const auto read = DecodeHeaderFields(fields);
  if (!read) return;
  const ByteBuffer once = EncodeHeaderFields(*read);
  const auto again = DecodeHeaderFields(once);
  Require(again.ok() && EncodeHeaderFields(*again) == once);
}

const Registered kRegistered({.name = "header", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
