// profile.proto, compressed, for `go tool pprof` and other tools.
//
// Format:   https://github.com/google/pprof/blob/main/proto/profile.proto
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <protozero/pbf_builder.hpp>
#include <string>

#include "format/model/names.h"
#include "tools/export/totals.h"
#include "tools/input/stream_traits.h"
#include "tools/text/string_table.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using Id = Catalogue::Id;
using protozero::pbf_builder;
using protozero::pbf_tag_type;

// Messages, with the numbers of their fields.
enum class Profile : pbf_tag_type {
  kSampleType = 1,
  kSample,
  kLocation = 4,
  kFunction,
  kStringTable,
  kTime = 9,
  kDuration,
  kPeriodType,
  kPeriod,
  kComment,
  kDefaultSampleType
};
enum class ValueType : pbf_tag_type { kType = 1, kUnit };
enum class Sample : pbf_tag_type { kLocations = 1, kValues, kLabel };
enum class Label : pbf_tag_type { kKey = 1, kText, kNumber, kUnit };
enum class Location : pbf_tag_type { kId = 1, kMapping, kAddress, kLine };
enum class Line : pbf_tag_type { kFunction = 1, kLine };
enum class Function : pbf_tag_type { kId = 1, kName, kSystemName, kFile };

constexpr int kGzip = 16 + MAX_WBITS;  // a gzip header instead of zlib's
constexpr int kMemory = 8;             // zlib's own default

// A stream that compresses with gzip.
class GzipStream {
 public:
  // `output` must outlive it.
  explicit GzipStream(Output* output) : output_(*output) {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~GzipStream() { deflateEnd(&stream_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  void Write(std::string_view bytes) { Deflate(bytes, Z_NO_FLUSH); }
  // Nothing may be written afterwards.
  void Finish() { Deflate({}, Z_FINISH); }

 private:
  void Deflate(std::string_view bytes, int flush) {
    std::array<char, 1 << 14> out;
    // zlib does not modify its input, although the type is not const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = out.size();
      deflate(&stream_, flush);
      output_.Append({out.data(), out.size() - stream_.avail_out});
      output_.Tick();
    } while (stream_.avail_out == 0);
  }

  Output& output_;
  z_stream stream_{};
};

class Pprof final : public LabelledExporter {
 public:
  Pprof(const ExportSettings& settings, Output* output)
      : LabelledExporter(settings, /*with_size=*/true), streams_(settings.streams), gzip_(output) {
    for (const Measure& measure : measures_) WriteValueType(Profile::kSampleType, measure.name, measure.unit);
  }

  void End(const Recording& recording, AskedRange asked) override {
    AddTime(recording, asked);
    LabelledExporter::End(recording, asked);
    comments_.push_back(strings_.NumberOf("weights: " + std::string(weights_)));
    for (const std::string& remark : Provenance(recording, streams_)) comments_.push_back(strings_.NumberOf(remark));
  }

  Status Finish() override {
    WriteRows();
    WriteFunctionsAndLocations();
    WriteRest();
    for (const std::string& text : strings_.texts()) {
      message_.add_string(Profile::kStringTable, text);
      Tick();
    }
    gzip_.Write(bytes_);
    gzip_.Finish();
    return {};
  }

 private:
  // If there are several recordings, those without data in the requested time do not set the profile's time.
  void AddTime(const Recording& recording, AskedRange asked) {
    const auto [from_ns, to_ns] = asked;
    if (from_ns == to_ns && duration_ns_ > 0) return;
    const uint64_t start_ns = recording.header().start_epoch_ns + from_ns;
    start_ns_ = duration_ns_ > 0 ? std::min(start_ns_, start_ns) : start_ns;
    duration_ns_ += to_ns - from_ns;
  }

  void Tick() {
    if (bytes_.size() < kPiece) return;
    gzip_.Write(bytes_);
    bytes_.clear();
  }

  void WriteValueType(Profile field, const char* type, const char* unit) {
    pbf_builder<ValueType> value(message_, field);
    value.add_int64(ValueType::kType, strings_.NumberOf(type));
    value.add_int64(ValueType::kUnit, strings_.NumberOf(unit));
  }

  void WriteRows() override {
    for (const LabelledTotals::Row& row : rows_.rows()) {
      WriteSample(row);
      Tick();
    }
    rows_.Clear();
  }

  void WriteSample(const LabelledTotals::Row& row) {
    pbf_builder<Sample> message(message_, Profile::kSample);
    {
      protozero::packed_field_uint64 locations(message, Sample::kLocations);
      for (Id at = row.key.stack; at != Catalogue::kNone; at = catalogue_.stacks()[at].parent) {
        locations.add_element(uint64_t{catalogue_.stacks()[at].frame} + 1);
      }
    }
    {
      protozero::packed_field_int64 values(message, Sample::kValues);
      for (size_t i = 0; i < measures_.size(); ++i) values.add_element(whole_[i].Next(measures_[i].of(row.totals)));
    }
    WriteLabel(&message, "thread", catalogue_.ThreadName(row.key.thread));
    WriteLabel(&message, "class", catalogue_.ClassName(row.key.class_id));
    WriteLabel(&message, "kind", KindName(static_cast<format::Kind>(row.key.kind)));
    if (row.key.thread < catalogue_.threads().size()) {
      const std::string& text = catalogue_.strings()[catalogue_.threads()[row.key.thread].text];
      format::ForEachLabel(text, [&](std::string_view key, std::string_view value) {
        WriteLabel(&message, ToUtf8(key), ToUtf8(value));
      });
    }
    if (row.key.size > 0) WriteSize(&message, row.key.size);
  }

  void WriteLabel(pbf_builder<Sample>* message, std::string_view key, std::string_view text) {
    pbf_builder<Label> one(*message, Sample::kLabel);
    one.add_int64(Label::kKey, strings_.NumberOf(key));
    one.add_int64(Label::kText, strings_.NumberOf(text));
  }

  // As in heap profiles of Go.
  void WriteSize(pbf_builder<Sample>* message, uint64_t size) {
    pbf_builder<Label> one(*message, Sample::kLabel);
    one.add_int64(Label::kKey, strings_.NumberOf("bytes"));
    one.add_int64(Label::kNumber, static_cast<int64_t>(size));
    one.add_int64(Label::kUnit, strings_.NumberOf("bytes"));
  }

  // A frame becomes a location, a method a function; a frame without a method has a function of its own. Numbers begin
  // at 1, because 0 means "none" in pprof.
  void WriteFunctionsAndLocations() {
    const size_t methods = catalogue_.methods().size();
    for (Id id = 0; id < methods; ++id) {
      const Catalogue::Method& method = catalogue_.methods()[id];
      const std::string& class_name = catalogue_.strings()[method.class_name];
      WriteFunction(id + 1, class_name + "." + catalogue_.strings()[method.name], SourcePath(class_name));
    }
    for (Id id = 0; id < catalogue_.frames().size(); ++id) {
      const Catalogue::Frame& frame = catalogue_.frames()[id];
      const bool has_method = frame.method < methods;
      const uint64_t number = has_method ? uint64_t{frame.method} + 1 : methods + 1 + id;
      if (!has_method) WriteFunction(number, catalogue_.FrameName(id), "");
      pbf_builder<Location> message(message_, Profile::kLocation);
      message.add_uint64(Location::kId, uint64_t{id} + 1);
      pbf_builder<Line> of(message, Location::kLine);
      of.add_uint64(Line::kFunction, number);
      if (frame.line > 0) of.add_int64(Line::kLine, frame.line);
      // Committed here, so that Tick does not write the buffer while they are open.
      of.commit();
      message.commit();
      Tick();
    }
  }

  void WriteFunction(uint64_t number, const std::string& name, const std::string& file) {
    pbf_builder<Function> message(message_, Profile::kFunction);
    message.add_uint64(Function::kId, number);
    message.add_int64(Function::kName, strings_.NumberOf(name));
    message.add_int64(Function::kSystemName, strings_.NumberOf(name));
    message.add_int64(Function::kFile, strings_.NumberOf(file));
    message.commit();
    Tick();
  }

  void WriteRest() {
    message_.add_int64(Profile::kTime, static_cast<int64_t>(start_ns_));
    message_.add_int64(Profile::kDuration, static_cast<int64_t>(duration_ns_));
    // The name of bytes in heap profiles of Go.
    const Measure& unit = period_.UnitFor(measures_[0]);
    WriteValueType(Profile::kPeriodType, unit.of == kSpace.of ? "space" : unit.name, unit.unit);
    message_.add_int64(Profile::kPeriod, period_.For(measures_[0]));
    message_.add_packed_int64(Profile::kComment, comments_.begin(), comments_.end());
    const auto space = std::ranges::find(measures_, kSpace.of, &Measure::of);
    const bool has_space = period_.allocations().bytes > 0 && space != measures_.end();
    message_.add_int64(Profile::kDefaultSampleType, strings_.NumberOf(has_space ? space->name : measures_[0].name));
  }

  static constexpr size_t kPiece = 1 << 16;
  const std::vector<format::Stream> streams_;
  GzipStream gzip_;
  StringTable strings_{""};
  std::vector<int64_t> comments_;
  uint64_t start_ns_ = 0, duration_ns_ = 0;
  std::string bytes_;  // not passed to gzip_ yet
  pbf_builder<Profile> message_{bytes_};
};

}  // namespace

std::unique_ptr<Exporter> MakePprof(const ExportSettings& settings, Output* output) {
  return std::make_unique<Pprof>(settings, output);
}

}  // namespace heaprec::tools
