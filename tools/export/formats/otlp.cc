// OTLP profiles (a ProfilesData message), experimental as its definition is: opentelemetry.proto.profiles.v1development
// as of opentelemetry-proto 1.11.
//
// Format:
// https://github.com/open-telemetry/opentelemetry-proto/blob/v1.11.0/opentelemetry/proto/profiles/v1development/profiles.proto
#include <algorithm>
#include <cmath>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <type_traits>

#include "format/model/thread_name.h"
#include "format/model/version.h"
#include "tools/export/formats/otlp_dictionary.h"
#include "tools/export/labelled_exporter.h"
#include "tools/input/loss_summary.h"
#include "tools/input/program_recording.h"
#include "tools/input/stream_traits.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using protozero::pbf_writer;

// Numbers of fields, by message.
namespace data {
enum { kResourceProfiles = 1, kDictionary };
}
namespace resource_profiles {
enum { kResource = 1, kScopeProfiles };
}
namespace resource {
enum { kAttributes = 1 };
}
namespace key_value {
enum { kKey = 1, kValue };
}
namespace any_value {
enum { kString = 1, kInt = 3 };
}
namespace scope_profiles {
enum { kScope = 1, kProfiles };
}
namespace scope {
enum { kName = 1, kVersion };
}
namespace profile {
enum { kSampleType = 1, kSamples, kTime, kDuration, kPeriodType, kPeriod };
}
namespace value_type {
enum { kType = 1, kUnit };
}
namespace sample {
enum { kStack = 1, kAttributes, kLink, kValues };
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

  std::optional<format::Error> Finish() override {
    std::string bytes;
    {
      pbf_writer message(bytes);
      pbf_writer table(message, data::kDictionary);
      dictionary_.WriteTo(&table);
    }
    output_.Append(bytes);
    return std::nullopt;
  }

 private:
  // What has gathered, as one profile for each measure that has any: receivers reject profiles without samples.
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
      pbf_writer message(bytes);
      pbf_writer of_resource(message, data::kResourceProfiles);
      WriteResource(&of_resource);
      pbf_writer of_scope(of_resource, resource_profiles::kScopeProfiles);
      {
        pbf_writer who(of_scope, scope_profiles::kScope);
        who.add_string(scope::kName, "heaprec");
        who.add_string(scope::kVersion, kVersion);
      }
      for (size_t i = 0; i < measures_.size(); ++i) {
        if (has_any(values[i])) WriteProfile(measures_[i], values[i], &of_scope);
      }
    }
    rows_.Clear();
    output_.Append(bytes);
    output_.Tick();
  }

  // As OpenTelemetry asks for where nobody has named it: by the program's file.
  std::string ServiceName(const format::FileHeader& header) const {
    if (!service_.empty()) return service_;
    if (const std::string label = ServiceLabelOf(header, kServiceName); !label.empty()) return ToUtf8(label);
    const std::string program = ProgramOf(header);
    return "unknown_service:" + (program.empty() ? "java" : ToUtf8(program.substr(program.rfind('/') + 1)));
  }

  void WriteResource(pbf_writer* into) {
    const format::FileHeader& header = recording_->header();
    pbf_writer of(*into, resource_profiles::kResource);
    const auto add = [&of](const std::string& key, const auto& value) {
      pbf_writer one(of, resource::kAttributes);
      one.add_string(key_value::kKey, key);
      pbf_writer any(one, key_value::kValue);
      if constexpr (std::is_same_v<decltype(value), const uint64_t&>) {
        any.add_int64(any_value::kInt, static_cast<int64_t>(value));
      } else {
        any.add_string(any_value::kString, value);
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

  void WriteValueType(protozero::pbf_tag_type field, const char* type, const char* unit, pbf_writer* into) {
    pbf_writer value(*into, field);
    value.add_int32(value_type::kType, dictionary_.Number(type));
    value.add_int32(value_type::kUnit, dictionary_.Number(unit));
  }

  void WriteProfile(const Measure& measure, const std::vector<int64_t>& values, pbf_writer* into) {
    pbf_writer message(*into, scope_profiles::kProfiles);
    WriteValueType(profile::kSampleType, measure.name, measure.unit, &message);
    for (size_t row = 0; row < values.size(); ++row) {
      if (values[row] > 0) WriteSample(rows_.rows()[row].key, values[row], &message);
    }
    const auto [from_ns, to_ns] = asked_;
    message.add_fixed64(profile::kTime, recording_->header().start_epoch_ns + from_ns);
    message.add_uint64(profile::kDuration, to_ns - from_ns);
    const Measure& unit = period_.UnitFor(measure);
    WriteValueType(profile::kPeriodType, unit.name, unit.unit, &message);
    message.add_int64(profile::kPeriod, period_.For(measure));
  }

  void WriteSample(const LabelledTotals::Key& key, int64_t value, pbf_writer* into) {
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
    pbf_writer message(*into, profile::kSamples);
    message.add_int32(sample::kStack, dictionary_.StackNumber(key.stack));
    message.add_packed_int32(sample::kAttributes, attributes.begin(), attributes.end());
    message.add_packed_int64(sample::kValues, &value, &value + 1);
  }

  const std::string service_;
  Output& output_;
  const Recording* recording_ = nullptr;  // the current one
  AskedRange asked_;
  OtlpDictionary dictionary_{&catalogue_};
};

}  // namespace

std::unique_ptr<Exporter> MakeOtlp(const ExportSettings& settings, Output* output) {
  return std::make_unique<Otlp>(settings, output);
}

}  // namespace heaprec::tools
