#include "tools/flame_assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/analysis/plain.h"
#include "tools/export/flame/frame_kind.h"
#include "tools/live_words.h"
#include "tools/render/estimate_text.h"
#include "tools/render/text.h"
#include "tools/render/utf8.h"

namespace heaprec::tools {
namespace {

constexpr uint32_t kAllName = 0, kFoldedName = 1;

}  // namespace

std::vector<FlameBox> FlameAssembly::Boxes(const BoxTree& tree, std::span<const BoxTree::BoxId> order) {
  std::vector<FlameBox> boxes;
  boxes.reserve(order.size());
  std::vector<uint32_t> depths(tree.boxes().size());
  for (const BoxTree::BoxId box : order) {
    const BoxTree::Box& of = tree.boxes()[box];
    depths[box] = of.parent == BoxTree::kNone ? 0 : depths[of.parent] + 1;
    boxes.push_back({depths[box], NameOf(tree, box), of.folded});
  }
  return boxes;
}

uint32_t FlameAssembly::NameOf(const BoxTree& tree, BoxTree::BoxId box) {
  const BoxTree::Box& of = tree.boxes()[box];
  if (of.parent == BoxTree::kNone) return kAllName;
  if (of.folded > 0) return kFoldedName;
  const auto [known, is_new] = indexes_.try_emplace(of.name, static_cast<uint32_t>(flame_names_.size()));
  if (is_new) flame_names_.push_back({names_.At(of.name), KindOf(of.name)});
  return known->second;
}

FrameKind FlameAssembly::KindOf(NamePool::Id name) const {
  for (const LeafSurvey* leaves : leaves_) {
    if (leaves->IsClass(name)) return FrameKind::kClass;
    if (leaves->IsNative(name)) return FrameKind::kNative;
  }
  return KindOfFrame(names_.At(name));
}

namespace {

CodeShares SharesOf(const ByFrameType& of) {
  const auto at = [&of](format::FrameType type) { return of[static_cast<size_t>(type)]; };
  const double all = std::accumulate(of.begin(), of.end(), 0.0);
  const auto percent = [all](double part) { return static_cast<uint8_t>(std::lround(100 * part / all)); };
  if (!(all > 0)) return {};
  return {percent(at(format::FrameType::kInterpreted)), percent(at(format::FrameType::kCompiled)),
          percent(at(format::FrameType::kInlined))};
}

std::vector<CodeShares> UnlessUnknown(std::vector<CodeShares> shares) {
  const bool is_known = std::any_of(shares.begin(), shares.end(),
                                    [](const CodeShares& of) { return of.interpreted + of.compiled + of.inlined > 0; });
  return is_known ? std::move(shares) : std::vector<CodeShares>();
}

}  // namespace

std::vector<CodeShares> CodeOf(const BoxTree& tree, std::span<const BoxTree::BoxId> order, const FrameTypes& types) {
  std::vector<CodeShares> shares;
  for (const BoxTree::BoxId box : order) shares.push_back(SharesOf(types.Of(tree.boxes()[box].node)));
  return UnlessUnknown(std::move(shares));
}

std::vector<CodeShares> CodeByName(const CallTree& calls, const BoxTree& tree, std::span<const BoxTree::BoxId> order,
                                   const FrameTypes& types) {
  const auto by_name = types.ByName(calls);
  std::vector<CodeShares> shares;
  for (const BoxTree::BoxId box : order) {
    const auto found = by_name.find(tree.boxes()[box].name);
    const bool is_frame = found != by_name.end() && tree.boxes()[box].folded == 0;
    shares.push_back(is_frame ? SharesOf(found->second) : CodeShares{});
  }
  return UnlessUnknown(std::move(shares));
}

std::string HeadlineOf(const Figures& all, const Survey& survey) {
  const double seconds = survey.covered().seconds;
  if (survey.of_exceptions()) return fmt::format("{} exceptions", CountText(all.bytes));
  // Of all that was recorded the bytes are counted.
  const Estimate& bytes = survey.chooses_all() ? survey.total() : all.bytes;
  std::string text = fmt::format("{} in {}", BytesText(bytes), CountText(all.objects, WordsOf(survey.stream()).things));
  if (seconds > 0) text += fmt::format(", {}/s", Bytes(all.bytes.value / seconds));
  return text;
}

std::vector<std::pair<std::string, std::string>> FactsOf(const LeafSurvey& leaves, const Survey& survey) {
  std::vector<std::pair<std::string, std::string>> facts;
  const Covered& covered = survey.covered();
  if (covered.recordings > 1) facts.emplace_back("recordings", Grouped(covered.recordings));
  if (!leaves.headers().empty()) {
    const format::FileHeader& header = leaves.headers().front();
    const std::string program = ProgramOf(header);
    facts.emplace_back(program.empty() ? "JVM" : "program",
                       program.empty() ? fmt::format("{} {}, {}, pid {}", ToUtf8(header.jvm_name),
                                                     ToUtf8(header.jvm_version), ToUtf8(header.gc_name), header.pid)
                                       : fmt::format("{}, pid {}", ToUtf8(program), header.pid));
    Text start;
    ClockText(header.start_epoch_ns).AppendLocal(start, 0);
    facts.emplace_back("start", fmt::to_string(start).substr(0, 8) + fmt::to_string(start).substr(15));
  }
  facts.emplace_back("duration", Duration(static_cast<uint64_t>(covered.seconds * 1e9)));
  const std::string line = survey.LossLine();
  facts.emplace_back("samples", line.substr(2, line.find('\n') - 2));
  if (!survey.Doubt().empty()) facts.emplace_back("trustworthy", survey.Doubt());
  facts.emplace_back("intervals", "95 %");
  return facts;
}

}  // namespace heaprec::tools
