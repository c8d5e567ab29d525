#include "tools/export/formats/otlp_dictionary.h"

#include <string>

#include "tools/export/catalogue.h"

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

}  // namespace

int32_t OtlpDictionary::Numbers::Of(Id id) {
  if (id >= numbers_.size()) numbers_.resize(size_t{id} + 1);
  if (numbers_[id] == 0) {
    ids_.push_back(id);
    numbers_[id] = static_cast<int32_t>(ids_.size());
  }
  return numbers_[id];
}

// In each table the first entry is the empty one. Each table numbers what it refers to, so the next one has nothing
// that nobody refers to.
void OtlpDictionary::WriteTo(pbf_writer* table) {
  WriteStacks(table);
  WriteLocations(table);
  WriteFunctions(table);
  WriteAttributes(table);
  table->add_string(dictionary::kMapping, "");
  table->add_string(dictionary::kLink, "");
  for (const std::string& text : strings_.texts()) table->add_string(dictionary::kString, text);
}

// A key has no zero byte.
int32_t OtlpDictionary::Attribute(std::string_view key, std::string_view value) {
  return static_cast<int32_t>(attributes_.NumberOf(std::string(key).append(1, '\0').append(value)));
}

void OtlpDictionary::WriteStacks(pbf_writer* table) {
  table->add_string(dictionary::kStack, "");
  for (const Id leaf : stacks_.ids()) {
    pbf_writer message(*table, dictionary::kStack);
    protozero::packed_field_int32 locations(message, stack::kLocations);
    for (Id at = leaf; at != Catalogue::kNone; at = catalogue_.stacks()[at].parent) {
      locations.add_element(frames_.Of(catalogue_.stacks()[at].frame));
    }
  }
}

// A location is a frame, a function a method; after the methods come the functions of frames without one.
void OtlpDictionary::WriteLocations(pbf_writer* table) {
  const auto methods = static_cast<Id>(catalogue_.methods().size());
  table->add_string(dictionary::kLocation, "");
  for (const Id id : frames_.ids()) {
    const Catalogue::Frame& frame = catalogue_.frames()[id];
    pbf_writer message(*table, dictionary::kLocation);
    pbf_writer of(message, location::kLines);
    const bool has_method = frame.method != Catalogue::kNone;
    of.add_int32(line::kFunction, functions_.Of(has_method ? frame.method : methods + id));
    if (frame.line > 0) of.add_int64(line::kLine, frame.line);
  }
}

void OtlpDictionary::WriteFunctions(pbf_writer* table) {
  const size_t methods = catalogue_.methods().size();
  table->add_string(dictionary::kFunction, "");
  for (const Id id : functions_.ids()) {
    if (id >= methods) {
      WriteFunction(catalogue_.FrameName(id - static_cast<Id>(methods)), "", table);
      continue;
    }
    const Catalogue::Method& method = catalogue_.methods()[id];
    const std::string& class_name = catalogue_.strings()[method.class_name];
    WriteFunction(class_name + "." + catalogue_.strings()[method.name], SourcePath(class_name), table);
  }
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
