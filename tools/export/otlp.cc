#include "tools/export/otlp.h"

#include <algorithm>
#include <array>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "format/thread_name.h"
#include "format/version.h"
#include "tools/closing.h"
#include "tools/export/catalogue.h"
#include "tools/export/labelled_totals.h"
#include "tools/export/provenance.h"
#include "tools/export/source_path.h"
#include "tools/export/string_table.h"
#include "tools/export/totals.h"
#include "tools/render/kind_name.h"
#include "tools/render/utf8.h"

namespace heaprec::tools {
namespace {

using Id = Catalogue::Id;
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
enum { kString = 1 };
}
namespace scope_profiles {
enum { kScope = 1, kProfiles };
}
namespace scope {
enum { kName = 1, kVersion };
}
namespace profile {
enum { kSampleType = 1, kSamples, kTime, kDuration };
}
namespace value_type {
enum { kType = 1, kUnit };
}
namespace sample {
enum { kStack = 1, kAttributes, kLink, kValues };
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

class Otlp final : public Exporter {
 public:
  Otlp(const ExportSettings& settings, Output* output)
      : measures_(MeasuresOf(settings)), catalogue_(Catalogue::Detail::kLine, settings.hides), output_(*output) {}

  void Begin(const Recording& recording) override {
    catalogue_.StartRecording();
    last_ns_ = 0;
    whole_.assign(measures_.size(), WholeNumbers());
    recording_ = &recording;
  }

  void Add(const FilteredBlock& block) override {
    last_ns_ = std::max(last_ns_, block.block.end_ns);
    catalogue_.Enter(block.block, &block.names);
    for (const format::Sample* const sample : block.samples) {
      rows_.Add(*sample, &catalogue_);
      if (rows_.full()) WriteProfiles();
    }
  }

  void End(const Recording&) override { WriteProfiles(); }

  std::optional<format::Error> Finish() override {
    std::string bytes;
    {
      pbf_writer message(bytes);
      pbf_writer table(message, data::kDictionary);
      WriteStacks(&table);
      WriteLocationsAndFunctions(&table);
      WriteAttributes(&table);
      table.add_string(dictionary::kMapping, "");
      WriteNoLink(&table);
      for (const std::string& text : strings_.texts()) table.add_string(dictionary::kString, text);
    }
    output_.Append(bytes);
    return std::nullopt;
  }

 private:
  // What has gathered, as one profile for each measure.
  void WriteProfiles() {
    std::string bytes;
    {
      pbf_writer message(bytes);
      pbf_writer of_resource(message, data::kResourceProfiles);
      WriteResource(&of_resource);
      pbf_writer of_scope(of_resource, resource_profiles::kScopeProfiles);
      {
        pbf_writer who(of_scope, scope_profiles::kScope);
        who.add_string(scope::kName, "heaprec");
        who.add_string(scope::kVersion, kVersion);
      }
      for (size_t i = 0; i < measures_.size(); ++i) WriteProfile(i, &of_scope);
    }
    rows_.Clear();
    output_.Append(bytes);
    output_.Tick();
  }

  void WriteResource(pbf_writer* into) {
    const format::FileHeader& header = recording_->header();
    pbf_writer of(*into, resource_profiles::kResource);
    const auto add = [&of](const char* key, const std::string& value) {
      pbf_writer one(of, resource::kAttributes);
      one.add_string(key_value::kKey, key);
      pbf_writer any(one, key_value::kValue);
      any.add_string(any_value::kString, value);
    };
    add("process.runtime.name", ToUtf8(header.jvm_name));
    add("process.runtime.version", ToUtf8(header.jvm_version));
    add("process.pid", std::to_string(header.pid));
    add("heaprec.recording_id", IdText(header));
    add("heaprec.source", ToUtf8(header.source));
  }

  void WriteProfile(size_t at, pbf_writer* into) {
    pbf_writer message(*into, scope_profiles::kProfiles);
    {
      pbf_writer type(message, profile::kSampleType);
      type.add_int32(value_type::kType, Number(measures_[at].name));
      type.add_int32(value_type::kUnit, Number(measures_[at].unit));
    }
    for (const LabelledTotals::Row& row : rows_.rows()) {
      const int64_t value = whole_[at].Next(measures_[at].of(row.totals));
      if (value > 0) WriteSample(row.key, value, &message);
    }
    const Span span = SpanOf(*recording_, last_ns_);
    message.add_fixed64(profile::kTime, recording_->header().start_epoch_ns + span.begin_ns);
    message.add_uint64(profile::kDuration, span.end_ns - span.begin_ns);
  }

  void WriteSample(const LabelledTotals::Key& key, int64_t value, pbf_writer* into) {
    std::vector<int32_t> attributes{Attribute("thread.name", catalogue_.ThreadName(key.thread)),
                                    Attribute("heaprec.class", catalogue_.ClassName(key.class_id)),
                                    Attribute("heaprec.kind", KindName(static_cast<format::Kind>(key.kind)))};
    if (key.thread < catalogue_.threads().size()) {
      const std::string& text = catalogue_.strings()[catalogue_.threads()[key.thread].text];
      format::ForEachLabel(text, [&](std::string_view name, std::string_view label) {
        attributes.push_back(Attribute("heaprec.label." + ToUtf8(name), ToUtf8(label)));
      });
    }
    pbf_writer message(*into, profile::kSamples);
    message.add_int32(sample::kStack, StackNumber(key.stack));
    message.add_packed_int32(sample::kAttributes, attributes.begin(), attributes.end());
    message.add_packed_int64(sample::kValues, &value, &value + 1);
  }

  int32_t Number(std::string_view text) { return static_cast<int32_t>(strings_.NumberOf(text)); }

  // A key has no zero byte.
  int32_t Attribute(std::string_view key, std::string_view value) {
    return static_cast<int32_t>(attributes_.NumberOf(std::string(key).append(1, '\0').append(value)));
  }

  // Of those that samples have, from 1.
  int32_t StackNumber(Id stack) {
    if (stack >= stack_numbers_.size()) stack_numbers_.resize(catalogue_.stacks().size());
    int32_t& number = stack_numbers_[stack];
    if (number == 0) {
      stacks_.push_back(stack);
      number = static_cast<int32_t>(stacks_.size());
    }
    return number;
  }

  // In each table the first entry is the empty one.
  void WriteStacks(pbf_writer* table) {
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
  void WriteLocationsAndFunctions(pbf_writer* table) {
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
    table->add_string(dictionary::kFunction, "");
    for (const Catalogue::Method& method : catalogue_.methods()) {
      const std::string& class_name = catalogue_.strings()[method.class_name];
      WriteFunction(class_name + "." + catalogue_.strings()[method.name], SourcePath(class_name), table);
    }
    WriteFunction(kTruncated, "", table);
    WriteFunction(kUnknown, "", table);
  }

  void WriteFunction(std::string_view name, std::string_view file, pbf_writer* table) {
    pbf_writer message(*table, dictionary::kFunction);
    message.add_int32(function::kName, Number(name));
    if (!file.empty()) message.add_int32(function::kFile, Number(file));
  }

  void WriteAttributes(pbf_writer* table) {
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

  // Ids of the lengths that strict readers expect, of zeros.
  static void WriteNoLink(pbf_writer* table) {
    constexpr std::array<char, 16> kZeros{};
    pbf_writer message(*table, dictionary::kLink);
    message.add_bytes(link::kTrace, kZeros.data(), 16);
    message.add_bytes(link::kSpan, kZeros.data(), 8);
  }

  const std::vector<Measure> measures_;
  std::vector<WholeNumbers> whole_;  // by measure
  Catalogue catalogue_;
  Output& output_;
  const Recording* recording_ = nullptr;  // the one at hand
  uint64_t last_ns_ = 0;
  LabelledTotals rows_{false};
  StringTable strings_, attributes_;    // attributes: key, zero byte, value
  std::vector<int32_t> stack_numbers_;  // by stack; 0: none yet
  std::vector<Id> stacks_;              // by number, less 1
};

}  // namespace

std::unique_ptr<Exporter> MakeOtlp(const ExportSettings& settings, Output* output) {
  return std::make_unique<Otlp>(settings, output);
}

}  // namespace heaprec::tools
