// The encodings of a JFR file, and the constants of its chunks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/reader/reader.h"
#include "tools/export/formats/jfr_schema.h"

namespace heaprec::tools::jfr {

// Appends primitive values to a text that it does not own. Integers in chunk headers are big-endian, all others LEB128.
// A long has at most nine bytes, the ninth with eight bits. A negative int is written as its 32 bits, as in HotSpot.
class Sink {
 public:
  explicit Sink(std::string* into) : into_(*into) {}

  void Byte(uint8_t value) { into_.push_back(static_cast<char>(value)); }
  void Boolean(bool value) { Byte(value ? 1 : 0); }
  void Long(uint64_t value) {
    for (int bytes = 0; bytes < 8 && value >= 0x80; ++bytes, value >>= 7) Byte(static_cast<uint8_t>(value | 0x80));
    Byte(static_cast<uint8_t>(value));
  }
  void Int(int32_t value) { Long(static_cast<uint32_t>(value)); }
  void Double(double value) { Fixed(std::bit_cast<uint64_t>(value)); }
  void String(std::string_view utf8) {
    if (utf8.empty()) return Byte(kEmpty);
    Utf8(utf8);
  }
  // Text of a symbol: readers know no other encoding there, even for the empty text.
  void Utf8(std::string_view utf8) {
    Byte(kUtf8);
    Long(utf8.size());
    into_ += utf8;
  }
  void Raw(std::string_view bytes) { into_ += bytes; }
  // Big-endian, with all bytes.
  template <typename Integer>
  void Fixed(Integer value) {
    for (int shift = 8 * sizeof(Integer) - 8; shift >= 0; shift -= 8) Byte(static_cast<uint8_t>(value >> shift));
  }

 private:
  enum : uint8_t { kEmpty = 1, kUtf8 = 3 };  // 0: null
  std::string& into_;
};

// Appends an event as in a chunk: its size, which includes itself, then type id and fields.
inline void AppendSized(std::string_view rest, std::string* into) {
  size_t size_bytes = 1;
  while (rest.size() + size_bytes >= uint64_t{1} << (7 * size_bytes)) ++size_bytes;
  Sink(into).Long(rest.size() + size_bytes);
  *into += rest;
}

// The constants of one chunk: names, classes, methods, threads and stacks, to whose keys its events refer.
//
// A name, a class, a method and a thread keep their keys from chunk to chunk: readers take what has the key of a
// constant of the chunk before for the same one. Key 0 is "not known". Stacks get new keys in each chunk. Frame types
// have the JDK's keys.
//
// Memory:   the distinct names, methods and threads of all recordings, the stacks of one chunk.
class ConstantPools {
 public:
  // Call after a chunk: the next one has no constants yet.
  void Clear();
  // Call for every block, before using its indices.
  void Enter(const format::Block& block);

  uint64_t Class(format::Index index);
  uint64_t Thread(format::Index index);
  // "key=value;key=value", a symbol.
  uint64_t Labels(format::Index thread);
  uint64_t Stack(format::Index leaf);
  // A live object of which only the class and what holds it are known: the same for all such objects. `path`: the stack
  // of a row of kPath; kNone: not known.
  uint64_t Object(format::Index class_id, format::Index path);
  // The root of the path; 0 without one.
  uint64_t Root(format::Index path, format::Index thread);

  // Size of the text that AppendEvent would append.
  size_t bytes() const;
  // Appends the checkpoint event with its time, `ticks`.
  void AppendEvent(uint64_t ticks, std::string* into) const;

 private:
  using Keys = std::vector<uint64_t>;  // by index; kNotYet: not used yet in this chunk
  struct Pool {
    TypeId type;
    uint64_t count = 0;
    std::string constants{};  // of this chunk: key, fields
  };
  struct Constant {
    uint64_t key = 0;
    uint32_t chunk = 0;  // chunk that contains it
  };
  using Known = std::unordered_map<std::string, Constant>;
  enum : size_t {
    kSymbols,
    kFrameTypes,
    kPackages,
    kClasses,
    kThreads,
    kMethods,
    kStacks,
    kObjects,
    kReferences,
    kFields,
    kRootSystems,
    kRootTypes,
    kRoots,
    kClassLoaders,
    kPools
  };

  template <typename Fields>
  uint64_t Intern(size_t pool, const std::string& identity, const Fields& append_fields);
  template <typename Fields>
  uint64_t Append(size_t pool, uint64_t key, const Fields& append_fields);
  template <typename Make>
  static uint64_t Cached(Keys* keys, size_t known, format::Index index, const Make& make);
  uint64_t Symbol(std::string_view utf8);
  uint8_t FrameType(const format::Frame& frame);
  uint64_t Package(std::string_view class_name);
  uint64_t ClassLoader(std::string_view class_name);
  uint64_t ClassNamed(std::string_view name);
  uint64_t Method(format::Index index);
  uint64_t MethodNamed(const std::string& class_name, const std::string& name, const std::string& descriptor);
  uint64_t MethodOf(const format::Frame& frame);
  // The frames of a path, the holder of the object first, its root last.
  std::vector<format::Frame> FramesOf(format::Index path) const;
  const format::Method* KnownMethod(const format::Frame& frame) const;
  uint64_t ObjectOf(uint64_t type, const std::string& description, uint64_t referrer);
  uint64_t Reference(const std::string& field, uint16_t modifiers, uint64_t holder, uint64_t skip);

  uint32_t chunk_ = 1;
  uint64_t next_key_ = 1;
  std::array<Pool, kPools> pools_{Pool{TypeId::kSymbol},
                                  Pool{TypeId::kFrameType},
                                  Pool{TypeId::kPackage},
                                  Pool{TypeId::kClass},
                                  Pool{TypeId::kThread},
                                  Pool{TypeId::kMethod},
                                  Pool{TypeId::kStackTrace},
                                  Pool{TypeId::kOldObject},
                                  Pool{TypeId::kReference},
                                  Pool{TypeId::kOldObjectField},
                                  Pool{TypeId::kOldObjectRootSystem},
                                  Pool{TypeId::kOldObjectRootType},
                                  Pool{TypeId::kOldObjectGcRoot},
                                  Pool{TypeId::kClassLoader}};
  std::array<Known, kPools> known_;

  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t source_chunk_ = 0;
  Keys classes_, threads_, labels_, methods_, stacks_;
};

}  // namespace heaprec::tools::jfr
