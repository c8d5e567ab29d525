#include <algorithm>

#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/report/recording/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

std::string State(const Recording& recording) {
  if (recording.ending()) return "ended: " + recording.ending()->reason;
  return recording.running() ? "still running" : "cut off";
}

const char* Word(ExitCode verdict) {
  if (verdict == ExitCode::kOk) return "ok";
  return verdict == ExitCode::kDamaged ? "damaged" : "inconsistent";
}

// "app.hrec: ok, 300 samples in 2 blocks, ended: jvm exit"
Line LineOf(const Recording& recording, const Verification& verification) {
  Line line =
      Sentence("{}: " + std::string(Word(VerdictOf(recording, verification))) + ", {} sample(s) in {} block(s), {}",
               {{"recording", ToUtf8(recording.source().name())},
                {"events", recording.events(), Unit::kInteger},
                {"blocks", verification.blocks(), Unit::kInteger},
                {"state", ToUtf8(State(recording))}});
  const auto add = [&line](const char* text, uint64_t number) { line.Continue(text, {{"", number, Unit::kInteger}}); };
  if (recording.salvage().ring_found) {
    add(", {} sample(s) from the ring", recording.salvage().events);
  } else if (LostItsRing(recording)) {
    line.text += ", its ring is gone (" + LostEnd(recording) + ")";
  }
  for (const format::Stream stream : format::kAllStreams) {
    if (const std::string killed = KilledPoints(recording, stream); !killed.empty())
      line.text += std::string(", ") + TraitsOf(stream).prefix + killed;
  }
  if (recording.tail_bytes() > 0) add(", {} bytes of an unfinished block at the end", recording.tail_bytes());
  if (recording.misses_part()) {
    line.text += ", a part is missing";
  } else if (recording.misses_bytes()) {
    add(", damaged bytes skipped: {}", recording.skipped_bytes());
  }
  if (recording.repaired_bytes() > 0) add(", damaged bytes repaired: {}", recording.repaired_bytes());
  return line;
}

}  // namespace

ExitCode VerdictOf(const Recording& recording, const Verification& verification) {
  if (recording.damaged()) return ExitCode::kDamaged;
  return verification.findings().empty() ? ExitCode::kOk : ExitCode::kCheckFailed;
}

Group VerifyReport(const Recording& recording, const Verification& verification) {
  const std::vector<Column<Inconsistency>> columns{
      {"offset", "offset", Unit::kInteger, Detail::kJsonOnly, &Inconsistency::offset},
      {"what", "finding", Unit::kProse, Detail::kJsonOnly, &Inconsistency::what}};
  Group group{"recordings[]", {}};
  group.Add(LineOf(recording, verification));
  group.Add(Hidden({{"ok", VerdictOf(recording, verification) == ExitCode::kOk},
                    {"recording_id", IdText(recording.header())},
                    {"damaged", recording.damaged()},
                    {"repaired_bytes", recording.repaired_bytes()},
                    {"skipped_bytes", recording.skipped_bytes()},
                    {"tail_bytes", recording.tail_bytes()},
                    {"bytes", recording.bytes_read()},
                    {"more_findings", verification.more_findings()},
                    {"losses", LossesValue(recording)}}));
  group.Add(HiddenTable("findings", columns, verification.findings()));  // text has them on stderr
  return group;
}

Group UnreadableReport(const std::string& path, const std::string& error) {
  Group group{"recordings[]", {}};
  group.Add(Hidden({{"recording", ToUtf8(path)}, {"ok", false}, {"error", ToUtf8(error)}}));
  return group;
}

namespace {

uint64_t CountOf(const std::vector<Finding>& symptoms, Level level) {
  return static_cast<uint64_t>(std::ranges::count(symptoms, level, &Finding::level));
}

// "trustworthy: yes, 2 warnings"
Line Verdict(const std::vector<Finding>& symptoms) {
  Line line = Sentence("trustworthy: {}", {{"trustworthy", IsTrustworthy(symptoms)}});
  for (const Level level : {Level::kProblem, Level::kWarning, Level::kNote}) {
    const uint64_t count = CountOf(symptoms, level);
    if (count == 0) continue;
    const std::string name(LevelName(level));
    line.Continue(", {} " + name + (count == 1 ? "" : "s"), {{name + "_count", count, Unit::kInteger}});
  }
  return line;
}

Table Findings(const std::vector<Finding>& symptoms, bool with_ok) {
  const std::vector<Column<Finding>> columns{
      {"level", "level", Unit::kText, Detail::kAlways, [](const Finding& of) { return LevelName(of.level); }},
      {"id", "check", Unit::kText, Detail::kAlways, &Finding::id},
      {"value", "", Unit::kNumber, Detail::kJsonOnly, &Finding::value},
      {"impact", "", Unit::kProse, Detail::kJsonOnly, &Finding::impact},
      {"action", "", Unit::kProse, Detail::kJsonOnly, &Finding::action},
      {"what", "finding", Unit::kProse, Detail::kAlways, &Finding::what}};
  std::vector<Finding> shown;
  std::ranges::copy_if(symptoms, std::back_inserter(shown),
                       [with_ok](const Finding& one) { return with_ok || one.level != Level::kOk; });
  Table table = MakeTable("findings", columns, shown);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i].impact.empty()) table.rows[i].below.push_back("impact: " + shown[i].impact);
    if (!shown[i].action.empty()) table.rows[i].below.push_back("action: " + shown[i].action);
  }
  return table;
}

}  // namespace

bool IsTrustworthy(const std::vector<Finding>& symptoms) { return CountOf(symptoms, Level::kProblem) == 0; }

Group DoctorReport(const Recording& recording, const std::vector<Finding>& symptoms, bool is_one_of_many,
                   bool with_ok) {
  Group group{"recordings[]", {}};
  const std::string file = ToUtf8(recording.source().name());
  if (is_one_of_many) group.Add(Sentence("{}: {}", {{"", file}, {"", IdText(recording.header())}}));
  group.Add(Verdict(symptoms));
  group.Add(Hidden({{"file", file}, {"recording", HeaderValue(recording.header())}}));
  group.Add(Findings(symptoms, with_ok));
  return group;
}

}  // namespace heaprec::tools
