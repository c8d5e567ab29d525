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

#include "tools/export/catalogue.h"
#include "tools/text/string_table.h"

namespace heaprec::tools {

class OtlpDictionary {
 public:
  // Must outlive it.
  explicit OtlpDictionary(const Catalogue* catalogue) : catalogue_(*catalogue) {}

  int32_t Number(std::string_view text) { return static_cast<int32_t>(strings_.NumberOf(text)); }
  int32_t Attribute(std::string_view key, std::string_view value);
  int32_t StackNumber(Catalogue::Id stack) { return stacks_.Of(stack); }

  // Once, when all is known: writing gives more texts numbers.
  void WriteTo(protozero::pbf_writer* table);

 private:
  // Numbers from 1, in the order of first use.
  class Numbers {
   public:
    int32_t Of(Catalogue::Id id);
    const std::vector<Catalogue::Id>& ids() const { return ids_; }  // by number, less 1

   private:
    std::vector<int32_t> numbers_;  // by id; 0: none yet
    std::vector<Catalogue::Id> ids_;
  };

  void WriteStacks(protozero::pbf_writer* table);
  void WriteLocations(protozero::pbf_writer* table);
  void WriteFunctions(protozero::pbf_writer* table);
  void WriteFunction(std::string_view name, std::string_view file, protozero::pbf_writer* table);
  void WriteAttributes(protozero::pbf_writer* table);

  const Catalogue& catalogue_;
  StringTable strings_{""}, attributes_{""};  // attributes: key, zero byte, value
  Numbers stacks_, frames_, functions_;       // functions: methods, then frames without one
};

}  // namespace heaprec::tools
