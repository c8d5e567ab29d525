// Turns content keys into the indices of one set of dictionaries, defining each entry once.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/ring_definitions.h"

namespace heaprec::tools {

class KeyedDictionaries {
 public:
  // Both must outlive this.
  KeyedDictionaries(const RingDefinitions* definitions, format::Dictionaries* into)
      : definitions_(*definitions), into_(*into) {}

  // kNone if the key is defined nowhere.
  format::Index Class(uint64_t key);
  format::Index Thread(uint64_t key);
  format::Index Stack(format::StackKey key);

 private:
  format::Index Method(uint64_t key);
  format::Index FrameOf(const format::RingFrame& frame);
  format::Index Node(format::Index parent, format::Index frame, bool truncated);

  const RingDefinitions& definitions_;
  format::Dictionaries& into_;
  std::unordered_map<uint64_t, format::Index> classes_, threads_, methods_;
  std::unordered_map<format::StackKey, format::Index, StackKeyHash> stacks_;
  std::map<std::tuple<format::Index, int32_t, int32_t, format::FrameType>, format::Index> frames_;
  std::map<std::tuple<format::Index, format::Index, bool>, format::Index> nodes_;
};

}  // namespace heaprec::tools
