// The constants of one chunk: names, classes, methods, threads and stacks, for whose keys its events stand.
//
// A name, a class, a method and a thread keep their keys from chunk to chunk: readers take what has the key of a
// constant of the chunk before for the same one. Key 0 is "not known". Stacks get new keys in each chunk. Frame types
// have the JDK's keys.
//
// Memory:   the distinct names, methods and threads of all recordings, the stacks of one chunk.
// Threads:  one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/reader/reader.h"
#include "tools/export/formats/jfr_schema.h"

namespace heaprec::tools::jfr {

class ConstantPools {
 public:
  // Behind a chunk: the next one has no constants yet.
  void Clear();
  // With every block, before its indices are asked for.
  void Enter(const format::Block& block);

  uint64_t Class(format::Index index);
  uint64_t Thread(format::Index index);
  // "key=value;key=value", a symbol.
  uint64_t Labels(format::Index thread);
  uint64_t Stack(format::Index leaf);
  // One that lives, of which its class is known: it is the same for all objects of a class.
  uint64_t Object(format::Index class_id);

  // Size of what AppendEvent would write.
  size_t bytes() const;
  // The checkpoint event, which names its time: `ticks`.
  void AppendEvent(uint64_t ticks, std::string* into) const;

 private:
  using Keys = std::vector<uint64_t>;  // by index; kNotYet: not asked for yet in this chunk
  struct Pool {
    TypeId type;
    uint64_t count = 0;
    std::string constants{};  // of this chunk: key, fields
  };
  struct Constant {
    uint64_t key = 0;
    uint32_t chunk = 0;  // that has it
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

  uint32_t chunk_ = 1;
  uint64_t next_key_ = 1;
  std::array<Pool, kPools> pools_{Pool{TypeId::kSymbol},     Pool{TypeId::kFrameType}, Pool{TypeId::kPackage},
                                  Pool{TypeId::kClass},      Pool{TypeId::kThread},    Pool{TypeId::kMethod},
                                  Pool{TypeId::kStackTrace}, Pool{TypeId::kOldObject}, Pool{TypeId::kClassLoader}};
  std::array<Known, kPools> known_;

  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t source_chunk_ = 0;
  Keys classes_, threads_, labels_, methods_, stacks_;
};

}  // namespace heaprec::tools::jfr
