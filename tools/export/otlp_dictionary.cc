#include "tools/export/otlp_dictionary.h"

#include <array>
#include <string>

#include "tools/export/chunk_index.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {
namespace {

using Id = Catalogue::Id;
using protozero::pbf_writer;

// Numbers of fields, by message.
namespace any_value {
enum { kString = 1 };
}
namespace dictionary {
enum { kMapping = 1, kLocation, kFunction, kLink, kString, kAttribute, kStack };
}
namespace location {
enum { kLines = 3 };
}
namespace line {
enum { kFunction = 1, kLine };
}
namespace function {
enum { kName = 1, kSystemName, kFile };
}
namespace attribute {
enum { kKey = 1, kValue };
}
namespace stack {
enum { kLocations = 1 };
}
namespace link {
enum { kTrace = 1, kSpan };
}

// Ids of the lengths that strict readers expect, of zeros.
void WriteNoLink(pbf_writer* table) {
  constexpr std::array<char, 16> kZeros{};
  pbf_writer message(*table, dictionary::kLink);
  message.add_bytes(link::kTrace, kZeros.data(), 16);
  message.add_bytes(link::kSpan, kZeros.data(), 8);
}

}  // namespace

void OtlpDictionary::WriteTo(pbf_writer* table) {
  WriteStacks(table);
  WriteLocations(table);
  WriteFunctions(table);
  WriteAttributes(table);
  table->add_string(dictionary::kMapping, "");
  WriteNoLink(table);
  for (const std::string& text : strings_.texts()) table->add_string(dictionary::kString, text);
}

// A key has no zero byte.
int32_t OtlpDictionary::Attribute(std::string_view key, std::string_view value) {
  return static_cast<int32_t>(attributes_.NumberOf(std::string(key).append(1, '\0').append(value)));
}

// Numbers the stacks that samples have, from 1.
int32_t OtlpDictionary::StackNumber(Id stack) {
  if (stack >= stack_numbers_.size()) stack_numbers_.resize(catalogue_.stacks().size());
  int32_t& number = stack_numbers_[stack];
  if (number == 0) {
    stacks_.push_back(stack);
    number = static_cast<int32_t>(stacks_.size());
  }
  return number;
}

// In each table the first entry is the empty one.
void OtlpDictionary::WriteStacks(pbf_writer* table) const {
  table->add_string(dictionary::kStack, "");
  for (const Id leaf : stacks_) {
    pbf_writer message(*table, dictionary::kStack);
    protozero::packed_field_int32 locations(message, stack::kLocations);
    for (Id at = leaf; at != Catalogue::kNone; at = catalogue_.stacks()[at].parent) {
      locations.add_element(static_cast<int32_t>(catalogue_.stacks()[at].frame) + 1);
    }
  }
}

// A location is a frame, a function a method; behind the methods stand what has none.
void OtlpDictionary::WriteLocations(pbf_writer* table) const {
  const auto methods = static_cast<int32_t>(catalogue_.methods().size());
  table->add_string(dictionary::kLocation, "");
  for (const Catalogue::Frame& frame : catalogue_.frames()) {
    pbf_writer message(*table, dictionary::kLocation);
    pbf_writer of(message, location::kLines);
    const bool has_method = frame.method != Catalogue::kNone;
    of.add_int32(line::kFunction,
                 has_method ? static_cast<int32_t>(frame.method) + 1 : methods + (frame.IsGap() ? 1 : 2));
    if (frame.line > 0) of.add_int64(line::kLine, frame.line);
  }
}

void OtlpDictionary::WriteFunctions(pbf_writer* table) {
  table->add_string(dictionary::kFunction, "");
  for (const Catalogue::Method& method : catalogue_.methods()) {
    const std::string& class_name = catalogue_.strings()[method.class_name];
    WriteFunction(class_name + "." + catalogue_.strings()[method.name], SourcePath(class_name), table);
  }
  WriteFunction(kTruncated, "", table);
  WriteFunction(kUnknown, "", table);
}

void OtlpDictionary::WriteFunction(std::string_view name, std::string_view file, pbf_writer* table) {
  pbf_writer message(*table, dictionary::kFunction);
  message.add_int32(function::kName, Number(name));
  if (!file.empty()) message.add_int32(function::kFile, Number(file));
}

void OtlpDictionary::WriteAttributes(pbf_writer* table) {
  table->add_string(dictionary::kAttribute, "");
  for (const std::string& text : attributes_.texts()) {
    if (text.empty()) continue;  // written above
    const size_t end = text.find('\0');
    pbf_writer message(*table, dictionary::kAttribute);
    message.add_int32(attribute::kKey, Number(std::string_view(text).substr(0, end)));
    pbf_writer value(message, attribute::kValue);
    value.add_string(any_value::kString, text.substr(end + 1));
  }
}

}  // namespace heaprec::tools
