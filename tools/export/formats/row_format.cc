#include "tools/export/formats/row_format.h"

#include <algorithm>
#include <string>
#include <utility>

#include "format/model/names.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

// Removes rendered stacks of the current chunk beyond this size.
constexpr size_t kMaxCachedBytes = 64 << 20;
constexpr std::string_view kHiddenFrame = ";";  // not the text of any frame

class RowExporter final : public Exporter {
 public:
  RowExporter(std::unique_ptr<RowFormat> format, const ExportSettings& settings, Output* output)
      : format_(std::move(format)), several_(settings.several), hides_(settings.hides), output_(*output) {
    format_->AppendHeader({several_, settings.live_filter, !settings.live_filter}, output_.text());
  }

  void Begin(const Recording& recording) override {
    start_epoch_ns_ = recording.header().start_epoch_ns;
    if (several_) id_ = IdText(recording.header());
    stacks_.emplace(format_.get(), hides_);
  }

  void Add(const FilteredBlock& block) override {
    Names& names = block.names;
    stacks_->Enter(block.block, &names);
    for (size_t i = 0; i < block.samples.size(); ++i) {
      const format::Sample* const sample = block.samples[i];
      const format::Thread* const thread = names.ThreadOf(sample->thread);
      Row row{start_epoch_ns_ + sample->time_ns,
              sample,
              names.Thread(sample->thread),
              names.Class(sample->class_id),
              stacks_->Of(sample->stack),
              thread != nullptr ? std::string_view(thread->name) : std::string_view(),
              id_};
      if (block.alive != nullptr) {
        row.alive = &(*block.alive)[i];
      } else {
        row.calibrated = block.calibration.WeightOf(*sample);
      }
      format_->AppendRow(row, output_.text());
      output_.Tick();
    }
  }

 private:
  const std::unique_ptr<RowFormat> format_;
  const bool several_;
  const FoldedStacks::Hides hides_;
  Output& output_;
  uint64_t start_epoch_ns_ = 0;
  std::string id_;
  std::optional<FoldedStacks> stacks_;
};

// Returns "request=42;user=a"; a ';' inside a label becomes ','.
std::string Labels(std::string_view thread_text) {
  std::string labels;
  format::ForEachLabel(thread_text, [&labels](std::string_view key, std::string_view value) {
    std::string label = ToUtf8(key) + "=" + ToUtf8(value);
    std::replace(label.begin(), label.end(), ';', ',');
    labels += (labels.empty() ? "" : ";") + label;
  });
  return labels;
}

class Csv final : public RowFormat {
 public:
  void AppendHeader(RowColumns columns, Text& into) const override {
    Append(into, "time_ns,kind,thread,class,size,weight_bytes,weight_objects,probability,stack,labels");
    if (columns.alive) Append(into, ",age_seconds,survived");
    if (columns.recording) Append(into, ",recording");
    Append(into, columns.calibrated ? ",calibrated_bytes,calibrated_objects\n" : "\n");
  }

  void AppendRow(const Row& row, Text& into) const override {
    const format::Sample& sample = *row.sample;
    Append(into, row.time_ns);
    into.push_back(',');
    Append(into, KindName(sample.kind));
    into.push_back(',');
    AppendText(row.thread, into);
    into.push_back(',');
    AppendText(row.class_name, into);
    into.push_back(',');
    const bool has_size = sample.size > 0 || format::CountsEvents(sample.stream());
    if (has_size) {
      fmt::format_to(fmt::appender(into), "{},{},{},{},", sample.size, sample.weight_bytes(), sample.weight_objects(),
                     sample.probability());
    } else {
      // without size, and without columns that depend on it
      fmt::format_to(fmt::appender(into), ",{},,,", sample.weight_bytes());
    }
    Append(into, row.stack);
    into.push_back(',');
    AppendText(Labels(row.thread_text), into);
    if (row.alive != nullptr) {
      fmt::format_to(fmt::appender(into), ",{},", static_cast<double>(row.alive->age_ns) * 1e-9);
      if (row.alive->survived) Append(into, *row.alive->survived);
    }
    if (!row.recording.empty()) into.push_back(',');
    Append(into, row.recording);
    if (row.calibrated) {
      fmt::format_to(fmt::appender(into), ",{},", row.calibrated->bytes);
      if (has_size) fmt::format_to(fmt::appender(into), "{}", row.calibrated->objects);
    }
    into.push_back('\n');
  }

  void AppendText(std::string_view field, Text& into) const override { AppendCsvField(field, into); }
};

class Jsonl final : public RowFormat {
 public:
  void AppendHeader(RowColumns, Text&) const override {}

  void AppendRow(const Row& row, Text& into) const override {
    const format::Sample& sample = *row.sample;
    Append(into, "{\"time_ns\":");
    Append(into, row.time_ns);
    Append(into, ",\"kind\":\"");
    Append(into, KindName(sample.kind));
    Append(into, "\",\"thread\":");
    AppendJsonString(into, row.thread);
    Append(into, ",\"class\":");
    AppendJsonString(into, row.class_name);
    const bool has_size = sample.size > 0 || format::CountsEvents(sample.stream());
    Append(into, ",\"size\":");
    has_size ? Append(into, sample.size) : Append(into, "null");
    Append(into, ",\"weight_bytes\":");
    AppendJsonNumber(into, sample.weight_bytes());
    Append(into, ",\"weight_objects\":");
    has_size ? AppendJsonNumber(into, sample.weight_objects()) : Append(into, "null");
    Append(into, ",\"probability\":");
    has_size ? AppendJsonNumber(into, sample.probability()) : Append(into, "null");
    Append(into, ",\"stack\":");
    Append(into, row.stack);
    Append(into, ",\"labels\":{");
    bool first = true;
    format::ForEachLabel(row.thread_text, [&](std::string_view key, std::string_view value) {
      if (!first) into.push_back(',');
      first = false;
      AppendJsonString(into, ToUtf8(key));
      into.push_back(':');
      AppendJsonString(into, ToUtf8(value));
    });
    into.push_back('}');
    if (row.alive != nullptr) {
      Append(into, ",\"age_seconds\":");
      AppendJsonNumber(into, static_cast<double>(row.alive->age_ns) * 1e-9);
      Append(into, ",\"survived\":");
      row.alive->survived ? Append(into, *row.alive->survived) : Append(into, "null");
    }
    if (!row.recording.empty()) {
      Append(into, ",\"recording\":");
      AppendJsonString(into, row.recording);
    }
    if (row.calibrated) {
      Append(into, ",\"calibrated_bytes\":");
      AppendJsonNumber(into, row.calibrated->bytes);
      Append(into, ",\"calibrated_objects\":");
      has_size ? AppendJsonNumber(into, row.calibrated->objects) : Append(into, "null");
    }
    Append(into, "}\n");
  }

  void AppendText(std::string_view utf8, Text& into) const override { AppendJsonString(into, utf8); }
};

}  // namespace

void FoldedStacks::Enter(const format::Block& block, Names* names) {
  const bool same_chunk = names_ != nullptr && block.chunk == chunk_;
  if (!same_chunk || block.dictionaries->stacks.size() < stacks_.size()) {
    stacks_.clear();
    frames_.clear();
    cached_bytes_ = 0;
  }
  chunk_ = block.chunk;
  names_ = names;
  none_ = Field({});
  stacks_.resize(block.dictionaries->stacks.size());
  frames_.resize(block.dictionaries->frames.size());
}

std::string_view FoldedStacks::Of(format::Index stack) {
  if (stack >= stacks_.size()) return none_;
  if (cached_bytes_ > kMaxCachedBytes) {
    for (std::string& cached : stacks_) std::string().swap(cached);
    cached_bytes_ = 0;
  }
  std::string& cached = stacks_[stack];
  if (cached.empty()) {
    cached = Field(Render(stack));
    cached_bytes_ += cached.size();
  }
  return cached;
}

std::string FoldedStacks::Field(std::string_view folded) const {
  Text field;
  format_.AppendText(folded, field);
  return fmt::to_string(field);
}

const std::string& FoldedStacks::Frame(const format::Frame& frame) {
  std::string& text = frames_[static_cast<size_t>(&frame - names_->dictionaries().frames.data())];
  if (!text.empty()) return text;
  text = names_->Method(frame);
  if (hides_ && !frame.IsGap() && hides_(text)) return text = kHiddenFrame;
  std::replace(text.begin(), text.end(), ';', ',');
  if (frame.line >= 0) text += fmt::format(":{}", frame.line);
  return text;
}

std::string FoldedStacks::Render(format::Index stack) {
  leaf_first_.clear();
  const bool cut = ForEachFrame(*names_, stack, 0, [&](const format::Frame& frame) {
    const std::string& text = Frame(frame);
    if (text != kHiddenFrame) leaf_first_.push_back(text);
  });
  std::string folded;
  if (cut) folded = kTruncated;
  for (auto frame = leaf_first_.rbegin(); frame != leaf_first_.rend(); ++frame) {
    if (!folded.empty()) folded += ';';
    folded += *frame;
  }
  return folded;
}

std::unique_ptr<Exporter> MakeRowExporter(std::unique_ptr<RowFormat> format, const ExportSettings& settings,
                                          Output* output) {
  return std::make_unique<RowExporter>(std::move(format), settings, output);
}

std::unique_ptr<RowFormat> CsvRows() { return std::make_unique<Csv>(); }

std::unique_ptr<Exporter> MakeCsv(const ExportSettings& settings, Output* output) {
  return MakeRowExporter(CsvRows(), settings, output);
}

std::unique_ptr<Exporter> MakeJsonl(const ExportSettings& settings, Output* output) {
  return MakeRowExporter(std::make_unique<Jsonl>(), settings, output);
}

}  // namespace heaprec::tools
