// What OTLP profiles share: stacks with their frames and methods, attributes and texts, by number.
//
// Units:    numbers from 1; 0 is the empty entry of each table.
// Memory:   grows with names and stacks, not with events.
// Threads:  one.
// Failure:  none.
#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <vector>

#include "tools/export/chunk_index.h"

namespace heaprec::tools {

class OtlpDictionary {
 public:
  // Must outlive it.
  explicit OtlpDictionary(const Catalogue* catalogue) : catalogue_(*catalogue) {}

  int32_t Number(std::string_view text) { return static_cast<int32_t>(strings_.NumberOf(text)); }
  int32_t Attribute(std::string_view key, std::string_view value);
  int32_t StackNumber(Catalogue::Id stack);

  // Once, when all is known: writing gives more texts numbers.
  void WriteTo(protozero::pbf_writer* table);

 private:
  void WriteStacks(protozero::pbf_writer* table) const;
  void WriteLocations(protozero::pbf_writer* table) const;
  void WriteFunctions(protozero::pbf_writer* table);
  void WriteFunction(std::string_view name, std::string_view file, protozero::pbf_writer* table);
  void WriteAttributes(protozero::pbf_writer* table);

  const Catalogue& catalogue_;
  StringTable strings_, attributes_;    // attributes: key, zero byte, value
  std::vector<int32_t> stack_numbers_;  // by stack; 0: none yet
  std::vector<Catalogue::Id> stacks_;   // by number, less 1
};

}  // namespace heaprec::tools
