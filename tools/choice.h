// An option that takes one of a few words. Another is answered with all of them, and with what may have been meant.
//
//   verb->add_option("--sort", *sort, "...")->check(OneOf({"bytes", "objects", "name"}));
//
// Completions and man pages know the words from the declaration.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tools/suggest.h"

namespace heaprec::tools {

// A word that ends in a colon stands for all that begin so and go on.
inline CLI::Validator OneOf(std::vector<std::string> words) {
  const std::string all = fmt::format("{{{}}}", fmt::join(words, ","));
  return CLI::Validator(
      [words = std::move(words)](const std::string& text) -> std::string {
        const auto takes = [&](const std::string& word) {
          return text == word ? !word.ends_with(':') : word.ends_with(':') && text.starts_with(word);
        };
        if (std::any_of(words.begin(), words.end(), takes)) return "";
        const std::string nearest = Nearest(text, words);
        const bool is_meant = !nearest.empty() && nearest != text;
        return fmt::format("'{}'{}: one of {}", text, is_meant ? "; did you mean " + nearest + "?" : "",
                           fmt::join(words, ", "));
      },
      all);
}

}  // namespace heaprec::tools
