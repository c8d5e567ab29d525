#include "tools/export/page/report_page.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/model/allocation_primitives.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/render/renderers.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using render::List;
using render::Member;
using render::Object;

constexpr int kLevel = 9;

std::string Deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(),
            kLevel);
  packed.resize(size);
  return packed;
}

std::string Base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

// Columns of numbers and a JSON header as one text for a page: zlib, then base64. data.js reads it.
class ColumnPacker {
 public:
  template <typename Value>
  void Add(const char* name, const std::vector<Value>& values) {
    static_assert(std::is_floating_point_v<Value> || sizeof(Value) == 1 || sizeof(Value) == sizeof(uint32_t));
    const char* const type = std::is_same_v<Value, float>    ? "f32"
                             : std::is_same_v<Value, double> ? "f64"
                             : sizeof(Value) == 1            ? "u8"
                                                             : "u32";
    layout_.emplace_back(List{name, type, values.size()});
    // Byte 0 of all values, then byte 1, ...
    const char* const bytes = reinterpret_cast<const char*>(values.data());
    planes_.reserve(planes_.size() + values.size() * sizeof(Value));
    for (size_t plane = 0; plane < sizeof(Value); ++plane) {
      for (size_t i = 0; i < values.size(); ++i) planes_.push_back(bytes[i * sizeof(Value) + plane]);
    }
  }

  // `header`: the other data of the page; Pack adds the layout of the columns.
  std::string Pack(Object header) const {
    header.push_back({"columns", layout_});
    const std::string text = render::JsonText(std::move(header));
    std::string all;
    for (size_t byte = 0; byte < sizeof(uint32_t); ++byte) all.push_back(static_cast<char>(text.size() >> (8 * byte)));
    return Base64(Deflated(all + text + planes_));
  }

 private:
  List layout_;
  std::string planes_;
};

template <typename Value, typename Row, typename Get>
std::vector<Value> ColumnOf(const std::vector<Row>& rows, const Get& get) {
  std::vector<Value> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(static_cast<Value>(std::invoke(get, row)));
  return values;
}

template <typename Row, typename Field>
void AddColumn(const char* name, const std::vector<Row>& rows, Field Row::*get, ColumnPacker* packer) {
  packer->Add(name, ColumnOf<double>(rows, get));
}

// Adds indices into the distinct values, in order of occurrence: most samples of an interval have the same weight.
void AddNumbered(const char* name, const char* values_name, const std::vector<double>& column, ColumnPacker* packer) {
  std::unordered_map<double, uint32_t> numbers;
  std::vector<double> values;
  std::vector<uint32_t> numbered;
  for (const double value : column) {
    const auto [found, is_new] = numbers.try_emplace(value, static_cast<uint32_t>(values.size()));
    if (is_new) values.push_back(value);
    numbered.push_back(found->second);
  }
  packer->Add(name, numbered);
  packer->Add(values_name, values);
}

void AddSamples(const SampleColumns& columns, ColumnPacker* packer) {
  packer->Add("second", columns.second);
  packer->Add("microsecond", columns.microsecond);
  packer->Add("class", columns.class_id);
  packer->Add("node", columns.node);
  packer->Add("thread", columns.thread);
  AddNumbered("size", "sizes", columns.size, packer);
  AddNumbered("weight", "weights", columns.weight, packer);
  packer->Add("recording", columns.recording);
  packer->Add("alive", columns.alive);
  packer->Add("alive_weight", columns.alive_weights);
  packer->Add("alive_age", columns.alive_ages);
}

// Rounds the uncertainty of an estimate, so that the page stays small.
float Coarse(double value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(value)) & ~0xffu); }

void AddRows(const StepRows& of, ColumnPacker* packer) {
  const std::vector<StepRow>& rows = of.rows();
  const auto add = [&](const char* name, double format::Row::*sum) {
    packer->Add(name, ColumnOf<float>(rows, [sum](const StepRow& row) { return row.sums.*sum; }));
  };
  const auto add_coarse = [&](const char* name, double format::Row::*sum) {
    packer->Add(name, ColumnOf<float>(rows, [sum](const StepRow& row) { return Coarse(row.sums.*sum); }));
  };
  packer->Add("step_end", ColumnOf<double>(of.ends(), std::identity()));
  packer->Add("row_step", ColumnOf<uint32_t>(rows, &StepRow::step));
  packer->Add("row_class", ColumnOf<uint32_t>(rows, &StepRow::class_id));
  packer->Add("row_node", ColumnOf<uint32_t>(rows, &StepRow::node));
  packer->Add("row_points", ColumnOf<uint32_t>(rows, [](const StepRow& row) { return row.sums.points; }));
  packer->Add("row_seen", ColumnOf<float>(rows, [](const StepRow& row) { return row.sums.seen; }));
  add("row_bytes", &format::Row::bytes);
  add("row_objects", &format::Row::objects);
  // Exact, because for a class with nearly all bytes the rest is the difference of two of these.
  add("row_bytesVariance", &format::Row::bytes_variance);
  add_coarse("row_objectsVariance", &format::Row::objects_variance);
  add_coarse("row_covariance", &format::Row::covariance);
  add_coarse("row_bytesFourth", &format::Row::bytes_fourth);
  add_coarse("row_objectsFourth", &format::Row::objects_fourth);
}

// Parents as distances, which are mostly 1.
void AddTree(const SampleColumns& columns, ColumnPacker* packer) {
  std::vector<uint32_t> back;
  for (uint32_t node = 0; node < columns.node_parent.size(); ++node) back.push_back(node - columns.node_parent[node]);
  packer->Add("node_back", back);
  packer->Add("node_name", columns.node_name);
  packer->Add("node_type", columns.node_type);
  packer->Add("classes", columns.classes);
  packer->Add("threads", columns.threads);
}

void AddAxis(const SampleColumns& columns, ColumnPacker* packer) {
  using Interval = SampleColumns::IntervalRow;
  AddColumn("interval_begin", columns.intervals, &Interval::begin_ns, packer);
  AddColumn("interval_bytes", columns.intervals, &Interval::bytes, packer);
  std::vector<uint8_t> estimated;
  for (const Interval& row : columns.intervals) estimated.push_back(row.is_estimated ? 1 : 0);
  packer->Add("interval_estimated", estimated);
  using Window = SampleColumns::WindowRow;
  AddColumn("window_start", columns.windows, &Window::start_ns, packer);
  AddColumn("window_lambda", columns.windows, &Window::lambda, packer);
  using Heap = SampleColumns::HeapRow;
  AddColumn("heap_time", columns.heap, &Heap::time_ns, packer);
  AddColumn("heap_used", columns.heap, &Heap::used, packer);
  AddColumn("heap_committed", columns.heap, &Heap::committed, packer);
  AddColumn("heap_rss", columns.heap, &Heap::rss, packer);
  AddColumn("heap_threads", columns.heap, &Heap::threads, packer);
  packer->Add("out_of_memory", columns.out_of_memory);
  using Pause = SampleColumns::PauseRow;
  AddColumn("pause_begin", columns.pauses, &Pause::begin_ns, packer);
  AddColumn("pause_length", columns.pauses, &Pause::pause_ns, packer);
  AddColumn("pause_before", columns.pauses, &Pause::used_before, packer);
  AddColumn("pause_after", columns.pauses, &Pause::used_after, packer);
  using LossReason = SampleColumns::LossRow;
  AddColumn("loss_from", columns.losses, &LossReason::from_ns, packer);
  AddColumn("loss_to", columns.losses, &LossReason::to_ns, packer);
  AddColumn("loss_points", columns.losses, &LossReason::points, packer);
  AddColumn("loss_bytes", columns.losses, &LossReason::bytes, packer);
}

Object BasisOf(const SampleColumns::Basis& of) {
  const format::Row& all = of.all;
  return {{"factor", of.factor},
          {"calibrated", of.calibrated},
          {"lost", of.lost},
          {"unwritten", of.unwritten},
          {"uncountedVariance", of.uncounted_variance},
          {"byClass", of.by_class},
          {"all", Object{{"samples", all.points}, {"bytes", all.bytes}, {"bytesVariance", all.bytes_variance}}}};
}

// The census by class: bytes and objects (null: several classes have this name), and the factor for samples.
List CountedOf(const SampleColumns& columns) {
  List classes;
  for (const auto& counted : columns.counted_of_class) {
    if (!counted) {
      classes.emplace_back();
    } else if (counted->is_one) {
      classes.emplace_back(List{counted->factor, counted->bytes, counted->objects});
    } else {
      classes.emplace_back(List{counted->factor});
    }
  }
  return classes;
}

std::string Policy() {
  return "default-src 'none'; script-src " + PolicyHash(kDygraphScript) + " " + PolicyHash(kReportScript) +
         "; style-src " + PolicyHash(kReportStyle) + "; img-src data: blob:; base-uri 'none'; form-action 'none'";
}

void AppendMark(std::string_view mark, const ReportPage& page, Text& into) {
  if (mark == "POLICY") {
    Append(into, std::string_view(Policy()));
  } else if (mark == "TITLE") {
    AppendMarkup(into, page.title);
  } else if (mark == "STYLE") {
    Append(into, kReportStyle);
  } else if (mark == "LIBRARY") {
    Append(into, kDygraphScript);
  } else if (mark == "SCRIPT") {
    Append(into, kReportScript);
  } else if (mark == "DATA") {
    Append(into, std::string_view(page.data));
  } else if (mark == "OTHER") {
    Append(into, std::string_view(page.other_data));
  }
}

}  // namespace

std::string ReportData(const SampleColumns& columns, Object facts) {
  ColumnPacker packer;
  AddSamples(columns, &packer);
  AddRows(columns.rows, &packer);
  AddTree(columns, &packer);
  AddAxis(columns, &packer);
  List causes;
  for (const auto& pause : columns.pauses) causes.emplace_back(pause.cause);
  for (Member& member : Object{{"names", columns.names},
                               {"counted_of_class", CountedOf(columns)},
                               {"has_no_chances", columns.has_no_chances},
                               {"is_part", columns.is_part},
                               {"factors", columns.factors},
                               {"counts_events", columns.counts_events},
                               {"is_range", columns.is_range},
                               {"samples", columns.samples},
                               {"interval_ns", columns.interval_ns},
                               {"begin_ns", columns.begin_ns},
                               {"end_ns", columns.end_ns},
                               {"tracks_objects", columns.tracks_objects},
                               {"pause_causes", std::move(causes)},
                               {"primitives", columns.primitives},
                               {"longest_path", format::kLongestPath},
                               {"callers_not_kept", kCallersNotKept},
                               {"of_samples", BasisOf(columns.of_samples)},
                               {"of_rows", BasisOf(columns.of_rows)}}) {
    facts.push_back(std::move(member));
  }
  return packer.Pack(std::move(facts));
}

std::string PolicyHash(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> base64{};
  EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(size));
  return fmt::format("'sha256-{}'", reinterpret_cast<const char*>(base64.data()));
}

std::string ReportHtml(const ReportPage& page) {
  Text into;
  std::string_view rest = kReportHtml;
  while (!rest.empty()) {
    // A placeholder is @NAME@.
    const size_t begin = rest.find('@');
    Append(into, rest.substr(0, begin));
    if (begin == std::string_view::npos) break;
    const size_t end = rest.find('@', begin + 1);
    AppendMark(rest.substr(begin + 1, end - begin - 1), page, into);
    rest.remove_prefix(end + 1);
  }
  return fmt::to_string(into);
}

}  // namespace heaprec::tools
