// OTLP profiles (a ProfilesData message), experimental as its definition is: opentelemetry.proto.profiles.v1development
// as of opentelemetry-proto 1.11.
//
// Format:
// https://github.com/open-telemetry/opentelemetry-proto/blob/v1.11.0/opentelemetry/proto/profiles/v1development/profiles.proto
#include <algorithm>
#include <cstdint>
#include <protozero/pbf_builder.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "format/model/names.h"
#include "format/model/version.h"
#include "tools/export/catalogue.h"
#include "tools/export/totals.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/text/string_table.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using Id = Catalogue::Id;
using protozero::pbf_builder;
using protozero::pbf_tag_type;

// Messages, with the numbers of their fields.
enum class ProfilesData : pbf_tag_type { kResourceProfiles = 1, kDictionary };
enum class ResourceProfiles : pbf_tag_type { kResource = 1, kScopeProfiles };
enum class Resource : pbf_tag_type { kAttributes = 1 };
enum class KeyValue : pbf_tag_type { kKey = 1, kValue };
enum class AnyValue : pbf_tag_type { kString = 1, kInt = 3 };
enum class ScopeProfiles : pbf_tag_type { kScope = 1, kProfiles };
enum class Scope : pbf_tag_type { kName = 1, kVersion };
enum class Profile : pbf_tag_type { kSampleType = 1, kSamples, kTime, kDuration, kPeriodType, kPeriod };
enum class ValueType : pbf_tag_type { kType = 1, kUnit };
enum class Sample : pbf_tag_type { kStack = 1, kAttributes, kLink, kValues };
enum class Dictionary : pbf_tag_type { kMapping = 1, kLocation, kFunction, kLink, kString, kAttribute, kStack };
enum class Location : pbf_tag_type { kLines = 3 };
enum class Line : pbf_tag_type { kFunction = 1, kLine };
enum class Function : pbf_tag_type { kName = 1, kSystemName, kFile };
enum class KeyValueAndUnit : pbf_tag_type { kKey = 1, kValue };
enum class Stack : pbf_tag_type { kLocations = 1 };

// Data shared by the profiles of all recordings: stacks with their frames and methods, attributes and texts, numbered
// from 1; 0 is the empty entry of each table. Grows with names and stacks, not with events.
class OtlpDictionary {
 public:
  // `catalogue` must outlive this.
  explicit OtlpDictionary(const Catalogue* catalogue) : catalogue_(*catalogue) {}

  int32_t Number(std::string_view text) { return static_cast<int32_t>(strings_.NumberOf(text)); }
  int32_t Attribute(std::string_view key, std::string_view value);
  int32_t StackNumber(Id stack) { return stacks_.Of(stack); }

  // Call once at the end, because writing assigns numbers to more texts.
  void WriteTo(pbf_builder<Dictionary>* table);

 private:
  // Numbers from 1, in the order of first use.
  class Numbers {
   public:
    int32_t Of(Id id);
    const std::vector<Id>& ids() const { return ids_; }  // by number minus 1

   private:
    std::vector<int32_t> numbers_;  // 0: not assigned
    std::vector<Id> ids_;
  };

  void WriteStacks(pbf_builder<Dictionary>* table);
  void WriteLocations(pbf_builder<Dictionary>* table);
  void WriteFunctions(pbf_builder<Dictionary>* table);
  void WriteFunction(std::string_view name, std::string_view file, pbf_builder<Dictionary>* table);
  void WriteAttributes(pbf_builder<Dictionary>* table);

  const Catalogue& catalogue_;
  StringTable strings_{""}, attributes_{""};  // attributes: key, zero byte, value
  Numbers stacks_, frames_, functions_;       // functions: methods, then frames without one
};

int32_t OtlpDictionary::Numbers::Of(Id id) {
  if (id >= numbers_.size()) numbers_.resize(size_t{id} + 1);
  if (numbers_[id] == 0) {
    ids_.push_back(id);
    numbers_[id] = static_cast<int32_t>(ids_.size());
  }
  return numbers_[id];
}

// The first entry of each table is the empty one. Writing a table assigns numbers in later tables to the entries that
// it refers to, so each table has exactly the used entries.
void OtlpDictionary::WriteTo(pbf_builder<Dictionary>* table) {
  WriteStacks(table);
  WriteLocations(table);
  WriteFunctions(table);
  WriteAttributes(table);
  table->add_string(Dictionary::kMapping, "");
  table->add_string(Dictionary::kLink, "");
  for (const std::string& text : strings_.texts()) table->add_string(Dictionary::kString, text);
}

// A key has no zero byte.
int32_t OtlpDictionary::Attribute(std::string_view key, std::string_view value) {
  return static_cast<int32_t>(attributes_.NumberOf(std::string(key).append(1, '\0').append(value)));
}

void OtlpDictionary::WriteStacks(pbf_builder<Dictionary>* table) {
  table->add_string(Dictionary::kStack, "");
  for (const Id leaf : stacks_.ids()) {
    pbf_builder<Stack> message(*table, Dictionary::kStack);
    protozero::packed_field_int32 locations(message, Stack::kLocations);
    for (Id at = leaf; at != Catalogue::kNone; at = catalogue_.stacks()[at].parent) {
      locations.add_element(frames_.Of(catalogue_.stacks()[at].frame));
    }
  }
}

// A location is a frame, a function a method; after the methods come the functions of frames without one.
void OtlpDictionary::WriteLocations(pbf_builder<Dictionary>* table) {
  const auto methods = static_cast<Id>(catalogue_.methods().size());
  table->add_string(Dictionary::kLocation, "");
  for (const Id id : frames_.ids()) {
    const Catalogue::Frame& frame = catalogue_.frames()[id];
    pbf_builder<Location> message(*table, Dictionary::kLocation);
    pbf_builder<Line> of(message, Location::kLines);
    const bool has_method = frame.method != Catalogue::kNone;
    of.add_int32(Line::kFunction, functions_.Of(has_method ? frame.method : methods + id));
    if (frame.line > 0) of.add_int64(Line::kLine, frame.line);
  }
}

void OtlpDictionary::WriteFunctions(pbf_builder<Dictionary>* table) {
  const size_t methods = catalogue_.methods().size();
  table->add_string(Dictionary::kFunction, "");
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

void OtlpDictionary::WriteFunction(std::string_view name, std::string_view file, pbf_builder<Dictionary>* table) {
  pbf_builder<Function> message(*table, Dictionary::kFunction);
  message.add_int32(Function::kName, Number(name));
  if (!file.empty()) message.add_int32(Function::kFile, Number(file));
}

void OtlpDictionary::WriteAttributes(pbf_builder<Dictionary>* table) {
  table->add_string(Dictionary::kAttribute, "");
  for (const std::string& text : attributes_.texts()) {
    if (text.empty()) continue;  // written above
    const size_t end = text.find('\0');
    pbf_builder<KeyValueAndUnit> message(*table, Dictionary::kAttribute);
    message.add_int32(KeyValueAndUnit::kKey, Number(std::string_view(text).substr(0, end)));
    pbf_builder<AnyValue> value(message, KeyValueAndUnit::kValue);
    value.add_string(AnyValue::kString, text.substr(end + 1));
  }
}

constexpr const char* kServiceName = "service.name";

class Otlp final : public LabelledExporter {
 public:
  Otlp(const ExportSettings& settings, Output* output)
      : LabelledExporter(settings, /*with_size=*/false), service_(settings.service), output_(*output) {}

  void Begin(const Recording& recording) override {
    LabelledExporter::Begin(recording);
    whole_.assign(measures_.size(), WholeNumbers());
    period_ = {};
    recording_ = &recording;
  }

  void End(const Recording& recording, AskedRange asked) override {
    asked_ = asked;
    LabelledExporter::End(recording, asked);
    WriteRows();
  }

  Status Finish() override {
    std::string bytes;
    {
      pbf_builder<ProfilesData> message(bytes);
      pbf_builder<Dictionary> table(message, ProfilesData::kDictionary);
      dictionary_.WriteTo(&table);
    }
    output_.Append(bytes);
    return {};
  }

 private:
  // Writes the collected rows as one profile per measure that has any: receivers reject profiles without samples.
  void WriteRows() override {
    std::vector<std::vector<int64_t>> values(measures_.size());  // by measure and row
    for (size_t i = 0; i < measures_.size(); ++i) {
      for (const LabelledTotals::Row& row : rows_.rows()) {
        values[i].push_back(whole_[i].Next(measures_[i].of(row.totals)));
      }
    }
    const auto has_any = [](const std::vector<int64_t>& of) {
      return std::ranges::any_of(of, [](int64_t value) { return value > 0; });
    };
    std::string bytes;
    if (std::ranges::any_of(values, has_any)) {
      pbf_builder<ProfilesData> message(bytes);
      pbf_builder<ResourceProfiles> of_resource(message, ProfilesData::kResourceProfiles);
      WriteResource(&of_resource);
      pbf_builder<ScopeProfiles> of_scope(of_resource, ResourceProfiles::kScopeProfiles);
      {
        pbf_builder<Scope> who(of_scope, ScopeProfiles::kScope);
        who.add_string(Scope::kName, "heaprec");
        who.add_string(Scope::kVersion, kVersion);
      }
      for (size_t i = 0; i < measures_.size(); ++i) {
        if (has_any(values[i])) WriteProfile(measures_[i], values[i], &of_scope);
      }
    }
    rows_.Clear();
    output_.Append(bytes);
    output_.Tick();
  }

  // The default that OpenTelemetry defines for an unnamed service: the program's file name.
  std::string ServiceName(const format::FileHeader& header) const {
    if (!service_.empty()) return service_;
    if (const std::string label = ServiceLabelOf(header, kServiceName); !label.empty()) return ToUtf8(label);
    const std::string program = ProgramOf(header);
    return "unknown_service:" + (program.empty() ? "java" : ToUtf8(program.substr(program.rfind('/') + 1)));
  }

  void WriteResource(pbf_builder<ResourceProfiles>* into) {
    const format::FileHeader& header = recording_->header();
    pbf_builder<Resource> of(*into, ResourceProfiles::kResource);
    const auto add = [&of](const std::string& key, const auto& value) {
      pbf_builder<KeyValue> one(of, Resource::kAttributes);
      one.add_string(KeyValue::kKey, key);
      pbf_builder<AnyValue> any(one, KeyValue::kValue);
      if constexpr (std::is_same_v<decltype(value), const uint64_t&>) {
        any.add_int64(AnyValue::kInt, static_cast<int64_t>(value));
      } else {
        any.add_string(AnyValue::kString, value);
      }
    };
    add(kServiceName, ServiceName(header));
    for (const format::ServiceLabel& label : header.service_labels) {
      if (label.key != kServiceName) add(ToUtf8(label.key), ToUtf8(label.value));
    }
    if (HasHeap(header)) {
      add("process.runtime.name", ToUtf8(header.jvm_name));
      add("process.runtime.version", ToUtf8(header.jvm_version));
    }
    add("process.pid", uint64_t{header.pid});
    add("heaprec.recording_id", IdText(header));
    add("heaprec.source", ToUtf8(header.source));
    add("heaprec.weights", std::string(weights_));
  }

  void WriteValueType(Profile field, const char* type, const char* unit, pbf_builder<Profile>* into) {
    pbf_builder<ValueType> value(*into, field);
    value.add_int32(ValueType::kType, dictionary_.Number(type));
    value.add_int32(ValueType::kUnit, dictionary_.Number(unit));
  }

  void WriteProfile(const Measure& measure, const std::vector<int64_t>& values, pbf_builder<ScopeProfiles>* into) {
    pbf_builder<Profile> message(*into, ScopeProfiles::kProfiles);
    WriteValueType(Profile::kSampleType, measure.name, measure.unit, &message);
    for (size_t row = 0; row < values.size(); ++row) {
      if (values[row] > 0) WriteSample(rows_.rows()[row].key, values[row], &message);
    }
    const auto [from_ns, to_ns] = asked_;
    message.add_fixed64(Profile::kTime, recording_->header().start_epoch_ns + from_ns);
    message.add_uint64(Profile::kDuration, to_ns - from_ns);
    const Measure& unit = period_.UnitFor(measure);
    WriteValueType(Profile::kPeriodType, unit.name, unit.unit, &message);
    message.add_int64(Profile::kPeriod, period_.For(measure));
  }

  void WriteSample(const LabelledTotals::Key& key, int64_t value, pbf_builder<Profile>* into) {
    std::vector<int32_t> attributes{
        dictionary_.Attribute("thread.name", catalogue_.ThreadName(key.thread)),
        dictionary_.Attribute("heaprec.class", catalogue_.ClassName(key.class_id)),
        dictionary_.Attribute("heaprec.kind", KindName(static_cast<format::Kind>(key.kind)))};
    if (key.thread < catalogue_.threads().size()) {
      const std::string& text = catalogue_.strings()[catalogue_.threads()[key.thread].text];
      format::ForEachLabel(text, [&](std::string_view name, std::string_view label) {
        attributes.push_back(dictionary_.Attribute("heaprec.label." + ToUtf8(name), ToUtf8(label)));
      });
    }
    pbf_builder<Sample> message(*into, Profile::kSamples);
    message.add_int32(Sample::kStack, dictionary_.StackNumber(key.stack));
    message.add_packed_int32(Sample::kAttributes, attributes.begin(), attributes.end());
    message.add_packed_int64(Sample::kValues, &value, &value + 1);
  }

  const std::string service_;
  Output& output_;
  const Recording* recording_ = nullptr;  // current recording
  AskedRange asked_;
  OtlpDictionary dictionary_{&catalogue_};
};

}  // namespace

std::unique_ptr<Exporter> MakeOtlp(const ExportSettings& settings, Output* output) {
  return std::make_unique<Otlp>(settings, output);
}

}  // namespace heaprec::tools
