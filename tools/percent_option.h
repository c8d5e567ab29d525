// An option that is a percentage: "1%", "0.5 %" or "1".
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <string_view>

namespace heaprec::tools {

// `into`: from 0 to 1.
inline CLI::Option* AddPercent(CLI::App* verb, const std::string& name, double* into, const std::string& help) {
  const auto parse = [name, into](const std::string& text) {
    double percent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
    const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
    const bool is_percent = rest.empty() || rest == "%" || rest == " %";
    if (error != std::errc() || !is_percent || !(percent >= 0 && percent <= 100)) {
      throw CLI::ValidationError(name, "'" + text + "' is not a percentage: 1%");
    }
    *into = percent / 100;
  };
  return verb->add_option_function<std::string>(name, parse, help)->type_name("PERCENT");
}

}  // namespace heaprec::tools
