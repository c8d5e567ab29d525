// Rows of a followed recording are those of `top` for the same span and filters.
#include "tools/query/summary/follow_query.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "tests/tools/small_recording.h"
#include "tools/query/allocations/group_query.h"

namespace heaprec::tools {
namespace {

// The last one has rows.
const char* const kRecordings[]{"tests/golden/samples.hrec", "tests/golden/leak.hrec", "tests/golden/javac.hrec"};

std::unique_ptr<Follow> Started(const FollowQuestion& question, const std::string& path) {
  auto recording = Recording::Open(path);
  REQUIRE(recording.ok());
  auto follow = Follow::Start(std::move(*recording), question);
  REQUIRE(follow.ok());
  return std::move(*follow);
}

void RequireSame(const Estimate& one, const Estimate& other) {
  CHECK(one.value == Approx(other.value).epsilon(1e-12));
  CHECK(one.low == Approx(other.low).epsilon(1e-12));
  CHECK(one.high == Approx(other.high).epsilon(1e-12));
}

// Against the same question to `top`.
void CompareWithTop(FollowQuestion question, const std::string& path, uint64_t span) {
  INFO(path << ", last " << span << " s, by " << question.grouping.Text());
  question.scan.no_census = true;
  question.scan.no_rows |= !question.grouping.takes_rows();
  auto follow = Started(question, path);
  CHECK(follow->Read());
  CHECK_FALSE(follow->Read());
  while (follow->Settle()) {
    auto again = follow->Ask(follow->question());
    REQUIRE(again.ok());
    follow = std::move(*again);
    follow->Read();
  }
  const FollowAnswer answer = follow->Answer(span, {});
  ScanOptions options = question.scan;
  options.files = {path};
  options.shares = ScanOptions::ShareOf::kSelection;
  if (!answer.is_whole) {
    options.filter.from = fmt::format("{}ns", answer.begin_ns);
    options.filter.to = fmt::format("{}ns", answer.end_ns);
  }
  auto scan = RecordingScan::Parse(options);
  REQUIRE(scan.ok());
  NamePool names(scan->Naming());
  std::optional<CallTree> tree;
  std::optional<GroupsScan> groups;
  REQUIRE(scan->Run(&names, &tree, [&] { return &groups.emplace(std::vector<Grouping>{question.grouping}); }) ==
          ExitCode::kOk);
  std::map<std::string, GroupEstimates> expected;
  for (const GroupTable::Row& row : groups->tables().front().own().Rows()) {
    if (row.estimates.samples > 0) expected[question.grouping.NameOf(row.key, *tree)] = row.estimates;
  }
  CHECK(answer.all.samples == scan->matched().samples);
  CHECK(answer.all.samples > 0);
  CHECK(answer.all_rows == expected.size());
  for (const FollowRow& row : answer.rows) {
    INFO(row.name);
    REQUIRE(expected.contains(row.name));
    RequireSame(row.estimates.bytes, expected[row.name].bytes);
    RequireSame(row.estimates.objects, expected[row.name].objects);
    RequireSame(row.estimates.share, expected[row.name].share);
  }
}

}  // namespace

TEST_CASE("Rows since the start, and in a span, equal those of top") {
  for (const char* const path : kRecordings) {
    for (const By by : {By::kSite, By::kClass, By::kThread, By::kPackage}) {
      for (const uint64_t span : {0, 1})
        CompareWithTop({.scan = {}, .grouping = Grouping(by), .opened = {}}, path, span);
    }
  }
}

TEST_CASE("Classes of one template are one row, as in top") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/template.hrec";
  {
    testing::RecordingFile file(path, testing::SomeHeader());
    file.Add(format::Window{1, 0, 7e-9});
    for (size_t i = 0; i <= MergedNames::kMostOfTemplate; ++i) {
      testing::Event event = testing::At((1 + i) * 1'000'000);
      event.class_name = "p/Bean" + std::to_string(i);
      file.Add(event);
    }
    file.End("jvm exit", 2'000'000'000);
  }
  CompareWithTop({.scan = {}, .grouping = Grouping(By::kClass), .opened = {}}, path, 0);
}

TEST_CASE("Rows with a filter equal those of top") {
  FollowQuestion question;
  question.scan.filter.class_name = "byte[]";
  for (const uint64_t span : {0, 1}) {
    CompareWithTop(question, kRecordings[0], span);
    CompareWithTop(question, kRecordings[2], span);
  }
  CompareWithTop(question, kRecordings[1], 0);
}

TEST_CASE("Rows are of all points, also in a span, which begins with one of their intervals") {
  FollowQuestion question;
  for (const uint64_t span : {0, 1}) {
    const auto of_rows = Started(question, kRecordings[2]);
    of_rows->Read();
    const FollowAnswer answer = of_rows->Answer(span, {});
    CHECK(answer.has_rows);
    question.scan.no_rows = true;
    const auto of_samples = Started(question, kRecordings[2]);
    of_samples->Read();
    const FollowAnswer kept = of_samples->Answer(span, {});
    CHECK_FALSE(kept.has_rows);
    CHECK(answer.all.samples > 2 * kept.all.samples);
    CHECK(answer.begin_ns <= kept.begin_ns);
    question.scan.no_rows = false;
  }
}

TEST_CASE("The callers of an expanded row add up to it, and can be expanded themselves") {
  const char* const path = GENERATE(kRecordings[0], kRecordings[2]);
  FollowQuestion question;
  const auto follow = Started(question, path);
  follow->Read();
  const FollowAnswer closed = follow->Answer(0, {.sort = "bytes", .limit = 1});
  REQUIRE(closed.rows.size() == 1);
  REQUIRE(closed.rows[0].has_callers);
  question.opened.insert(closed.rows[0].path);
  auto opened = follow->Ask(question);
  REQUIRE(opened.ok());
  (*opened)->Read();
  const FollowAnswer answer = (*opened)->Answer(0, {.sort = "bytes", .limit = 1});
  REQUIRE(answer.rows.size() > 1);
  CHECK(answer.rows[0].is_open);
  RequireSame(answer.rows[0].estimates.bytes, closed.rows[0].estimates.bytes);
  double callers = 0;
  for (size_t i = 1; i < answer.rows.size(); ++i) {
    CHECK(answer.rows[i].path.size() == 2);
    CHECK(answer.rows[i].path[0] == closed.rows[0].path[0]);
    callers += answer.rows[i].estimates.bytes.value;
  }
  CHECK(callers <= answer.rows[0].estimates.bytes.value * (1 + 1e-9));
  CHECK(callers > answer.rows[0].estimates.bytes.value / 2);
  question.opened.insert(answer.rows[1].path);
  auto deeper = (*opened)->Ask(question);
  REQUIRE(deeper.ok());
  (*deeper)->Read();
  const FollowAnswer three = (*deeper)->Answer(0, {.sort = "bytes", .limit = 1});
  REQUIRE(three.rows.size() > 2);
  CHECK(three.rows[2].path.size() == 3);
}

TEST_CASE("A growing file is read further") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/growing.hrec";
  std::filesystem::copy_file(kRecordings[1], path, std::filesystem::copy_options::overwrite_existing);
  const uint64_t whole = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, whole / 2);
  const auto follow = Started({}, path);
  CHECK(follow->Read());
  const uint64_t first = follow->Answer(0, {}).all.samples;
  CHECK(first > 0);
  std::filesystem::copy_file(kRecordings[1], path, std::filesystem::copy_options::overwrite_existing);
  CHECK(follow->Read());
  const auto at_once = Started({}, kRecordings[1]);
  at_once->Read();
  CHECK(follow->Answer(0, {}).all.samples > first);
  CHECK(follow->Answer(0, {}).all.samples == at_once->Answer(0, {}).all.samples);
  RequireSame(follow->Answer(0, {}).all.bytes, at_once->Answer(0, {}).all.bytes);
}

}  // namespace heaprec::tools
