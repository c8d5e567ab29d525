#include "tools/report/gc_summary_format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

constexpr double kMs = 1e-6;

std::string OrUnknown(uint64_t bytes) { return bytes > 0 ? Bytes(static_cast<double>(bytes)) : "not known"; }
nlohmann::json OrNull(uint64_t value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(); }

}  // namespace

std::vector<std::pair<std::string, std::string>> CourseLines(const HeapCourse& course) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (course.empty()) return lines;
  std::string pauses =
      fmt::format("{} pauses, {:.1f} ms in all", Grouped(course.pauses), static_cast<double>(course.paused_ns) * kMs);
  if (course.longest_pause_ns > 0) {
    pauses += fmt::format(", the longest {:.1f} ms", static_cast<double>(course.longest_pause_ns) * kMs);
  }
  if (course.counted_only) pauses += ", as the JVM counts them";
  if (course.unfinished) pauses += "; one more had begun";
  lines.emplace_back("collections", pauses);
  for (const auto& [cause, count] : course.causes) {
    lines.emplace_back("  cause", fmt::format("{}: {}", ToUtf8(cause), Grouped(count)));
  }
  if (course.most_after > 0) {
    lines.emplace_back("  heap after", fmt::format("first {}, last {}, most {}", OrUnknown(course.first_after),
                                                   OrUnknown(course.last_after), OrUnknown(course.most_after)));
  }
  lines.emplace_back("heap", fmt::format("most used {}, most committed {}", OrUnknown(course.most_used),
                                         OrUnknown(course.most_committed)));
  lines.emplace_back("process", fmt::format("most resident {}, most threads {}", OrUnknown(course.most_rss),
                                            course.most_threads > 0 ? Grouped(course.most_threads) : "not known"));
  return lines;
}

nlohmann::json AsJson(const HeapCourse& course) {
  nlohmann::json causes = nlohmann::json::object();
  for (const auto& [cause, count] : course.causes) causes[ToUtf8(cause)] = count;
  return {{"pauses", course.pauses},
          {"paused_ns", course.paused_ns},
          {"longest_pause_ns", OrNull(course.longest_pause_ns)},
          {"counted_only", course.counted_only},
          {"unfinished", course.unfinished},
          {"causes", causes},
          {"used_after_first", OrNull(course.first_after)},
          {"used_after_last", OrNull(course.last_after)},
          {"used_after_most", OrNull(course.most_after)},
          {"used_most", OrNull(course.most_used)},
          {"committed_most", OrNull(course.most_committed)},
          {"rss_most", OrNull(course.most_rss)},
          {"threads_most", OrNull(course.most_threads)}};
}

}  // namespace heaprec::tools
