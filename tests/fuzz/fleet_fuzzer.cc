// Property: whatever a server answers is decoded, or refused with a sentence; whatever a user or a recording calls a
// thing is one literal of SQL, which means it; whatever is given as an address or a time is taken or refused.
#include <optional>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tools/fleet/server/http.h"
#include "tools/fleet/server/native_block.h"
#include "tools/fleet/server/server.h"

namespace heaprec::fuzz {
namespace {

using namespace tools::fleet;  // NOLINT(google-build-using-namespace)

// A literal as ClickHouse reads it; nullopt: it does not end with its closing quote.
std::optional<std::string> Unquoted(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != '\'') return std::nullopt;
  std::string text;
  for (size_t i = 1; i < literal.size(); ++i) {
    if (literal[i] == '\'') return i + 1 == literal.size() ? std::optional(text) : std::nullopt;
    if (literal[i] != '\\') {
      text.push_back(literal[i]);
      continue;
    }
    if (++i == literal.size()) return std::nullopt;
    constexpr std::string_view kNames = "nrt0\\'", kValues{"\n\r\t\0\\'", 6};
    const size_t at = kNames.find(literal[i]);
    if (at == std::string_view::npos) return std::nullopt;
    text.push_back(kValues[at]);
  }
  return std::nullopt;
}

// Columns may differ in length, because blocks may change their types: rows beyond are 0 or nothing.
void ReadAll(const Answer& answer) {
  for (const AnswerColumn& column : answer.columns) {
    for (const size_t row : {size_t{0}, size_t{answer.rows} - 1, size_t{answer.rows}}) {
      (void)answer.Number(column.name, row), (void)answer.Real(column.name, row), (void)answer.Text(column.name, row);
    }
    Require(column.numbers.size() + column.reals.size() + column.texts.size() + column.arrays.size() <= answer.rows);
  }
}

std::vector<Input> Seeds() {
  NativeBlock block("n UInt64, x Float32, text String, ids Array(UInt64)");
  for (uint64_t row = 0; row < 3; ++row) block.AddRow(row, 0.5F, "some words", std::vector<uint64_t>{row, 2});
  std::vector<Input> seeds;
  for (const std::string& text :
       {block.Encode(), block.Encode() + block.Encode(), std::string("<html><body>It works!</body></html>"),
        std::string("'; DROP TABLE x; --\\'\\\\`\"\0\n\r\t", 27), std::string("https://[::1]:9000/db/")}) {
    seeds.emplace_back(text.begin(), text.end());
  }
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  const std::string text(TextOf(bytes, size));
  const auto answer = DecodeNative(text);
  if (answer.ok()) {
    ReadAll(*answer);
  } else {
    Require(!answer.error().message.empty());
  }
  Require(Unquoted(Quoted(text)) == text);
  if (IsIdentifier(text)) Require(text.find_first_of("'\"`;-\\ /*.") == std::string::npos);
  const auto url = Url::Parse(text);
  Require(url.ok() ? !url->host.empty() && !url->port.empty() : !url.error().message.empty());
}

const Registered kRegistered({.name = "fleet", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
