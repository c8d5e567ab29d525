// An option that is a percentage: "1%", "0.5 %" or "1".
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace heaprec::tools {

// `into`: from 0 to `most`.
inline CLI::Option* AddPercentUpTo(double most, CLI::App* verb, const std::string& name, double* into,
                                   const std::string& help) {
  const auto parse = [name, into, most](const std::string& text) {
    double percent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
    const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
    const bool is_percent = rest.empty() || rest == "%" || rest == " %";
    if (error != std::errc() || !is_percent || !(percent >= 0 && percent <= 100 * most) || std::isinf(percent)) {
      throw CLI::ValidationError(name, "'" + text + "' is not a percentage: 1%");
    }
    *into = percent / 100;
  };
  return verb->add_option_function<std::string>(name, parse, help)->type_name("PERCENT");
}

// Of a part.
inline CLI::Option* AddPercent(CLI::App* verb, const std::string& name, double* into, const std::string& help) {
  return AddPercentUpTo(1, verb, name, into, help);
}

// Of how much something grows, which has no bound.
inline CLI::Option* AddGrowth(CLI::App* verb, const std::string& name, double* into, const std::string& help) {
  return AddPercentUpTo(INFINITY, verb, name, into, help);
}

}  // namespace heaprec::tools
