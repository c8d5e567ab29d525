#include "tools/export/formats/jfr_metadata.h"

#include <utility>
#include <vector>

#include "tools/export/formats/jfr_schema.h"
#include "tools/export/formats/jfr_sink.h"
#include "tools/text/string_table.h"

namespace heaprec::tools::jfr {
namespace {

struct Element {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes{};
  std::vector<Element> children{};
};

std::string Number(TypeId id) { return std::to_string(static_cast<int>(id)); }

Element Annotation(TypeId id, std::string_view value, const char* attribute = "value") {
  return {"annotation", {{"class", Number(id)}, {attribute, std::string(value)}}};
}

void Annotate(Unit unit, Element* field) {
  const auto add = [field](TypeId id, const char* value) { field->children.push_back(Annotation(id, value)); };
  switch (unit) {
    case Unit::kNone:
      return;
    case Unit::kTicks:
      return add(TypeId::kTimestamp, "TICKS");
    case Unit::kSpanOfTicks:
      return add(TypeId::kTimespan, "TICKS");
    case Unit::kSpanOfMs:
      return add(TypeId::kTimespan, "MILLISECONDS");
    case Unit::kEpochMs:
      return add(TypeId::kTimestamp, "MILLISECONDS_SINCE_EPOCH");
    case Unit::kBytes:
      return add(TypeId::kDataAmount, "BYTES");
  }
}

Element FieldElement(const Field& field) {
  Element element{"field", {{"name", std::string(field.name)}, {"class", Number(field.type)}}};
  if (field.pooled) element.attributes.emplace_back("constantPool", "true");
  if (field.array) element.attributes.emplace_back("dimension", "1");
  Annotate(field.unit, &element);
  if (!field.label.empty()) element.children.push_back(Annotation(TypeId::kLabel, field.label));
  return element;
}

Element TypeElement(const Type& type) {
  Element element{"class", {{"name", std::string(type.name)}, {"id", Number(type.id)}}};
  if (type.super == Super::kEvent) element.attributes.emplace_back("superType", "jdk.jfr.Event");
  if (type.super == Super::kAnnotation) element.attributes.emplace_back("superType", "java.lang.annotation.Annotation");
  if (type.simple) element.attributes.emplace_back("simpleType", "true");
  for (const Field& field : type.fields) element.children.push_back(FieldElement(field));
  if (!type.label.empty()) element.children.push_back(Annotation(TypeId::kLabel, type.label));
  if (type.is_content) element.children.push_back({"annotation", {{"class", Number(TypeId::kContentType)}}});
  if (!type.category.empty()) element.children.push_back(Annotation(TypeId::kCategory, type.category, "value-0"));
  return element;
}

// All texts stand once, in front; elements name them by their index.
class TreeWriter {
 public:
  std::string Write(const Element& root) {
    Put(root);
    std::string all;
    Sink sink(&all);
    sink.Long(texts_.texts().size());
    for (const std::string& text : texts_.texts()) sink.String(text);
    return all + tree_;
  }

 private:
  void Put(const Element& element) {
    Put(element.name);
    Sink(&tree_).Long(element.attributes.size());
    for (const auto& [name, value] : element.attributes) {
      Put(name);
      Put(value);
    }
    Sink(&tree_).Long(element.children.size());
    for (const Element& child : element.children) Put(child);
  }
  void Put(const std::string& text) { Sink(&tree_).Long(texts_.NumberOf(text)); }

  StringTable texts_;
  std::string tree_;
};

std::string Encode() {
  Element metadata{"metadata"};
  for (const Type& type : Types()) metadata.children.push_back(TypeElement(type));
  const Element region{"region", {{"locale", "en"}, {"gmtOffset", "0"}, {"dst", "0"}}};
  std::string rest;
  Sink sink(&rest);
  sink.Long(static_cast<uint64_t>(TypeId::kMetadata));
  sink.Long(0);  // start
  sink.Long(0);  // duration
  sink.Long(1);  // its version: chunks of the same one have the same types
  sink.Raw(TreeWriter().Write({"root", {}, {std::move(metadata), region}}));
  std::string event;
  AppendSized(rest, &event);
  return event;
}

}  // namespace

const std::string& MetadataEvent() {
  static const auto* event = new std::string(Encode());
  return *event;
}

}  // namespace heaprec::tools::jfr
