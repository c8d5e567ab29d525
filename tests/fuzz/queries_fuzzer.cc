// Property: whatever a user types as a pattern, a budget or a time is taken, or refused with a sentence; and a pattern
// looks at any name without overflowing the stack.
//
// Input: the words, a zero, a name to match.
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tools/query/compare/budget.h"
#include "tools/query/filter/name_pattern.h"
#include "tools/query/filter/time_point.h"

namespace heaprec::fuzz {
namespace {

template <typename T>
void RequireSentence(const Result<T>& parsed) {
  Require(parsed.ok() || !parsed.error().message.empty());
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  for (const std::string_view text :
       {"site:com.acme.*<5MB/op", "total<2GB", "class:byte[]<10%", "thread:/^pool-[0-9]+$/<3 objects/s", "1m30s",
        "2026-01-31T12:00:00.5Z", "1795192800000000000", "/Hash(Map|Set)$/", "java.util.*", "(a|b)*$"}) {
    Input& seed = seeds.emplace_back(text.begin(), text.end());
    for (const char letter : std::string_view("\0java.util.HashMap$Node.resize", 30)) {
      seed.push_back(static_cast<uint8_t>(letter));
    }
  }
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  using namespace tools;  // NOLINT(google-build-using-namespace)
  const std::string_view input = TextOf(bytes, size);
  const size_t zero = std::min(input.find('\0'), input.size());
  const std::string words(input.substr(0, zero));
  const std::string_view name = input.substr(std::min(zero + 1, input.size()));
  RequireSentence(ParseTimePoint(words));
  const auto budget = Budget::Parse(words);
  RequireSentence(budget);
  if (budget.ok() && budget->pattern) (void)budget->Matches(name);
  for (const auto parse : {NamePattern::ForNames, NamePattern::ForFreeText, NamePattern::ForFrames}) {
    const auto pattern = parse(words);
    RequireSentence(pattern);
    if (pattern.ok()) (void)pattern->Matches(name);
  }
}

const Registered kRegistered({.name = "queries", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
