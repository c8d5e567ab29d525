#include "tools/fleet/server/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace heaprec::tools::fleet {
namespace {

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, [](unsigned char c) { return isdigit(c); });
}

// `text` without what may be a password: parameters, and what is before an @.
std::string WithoutSecrets(std::string_view text) {
  const size_t scheme = text.find("://"), at = text.rfind('@'), parameters = text.find('?');
  const size_t begin = scheme >= std::min(at, parameters) ? 0 : scheme + 3;
  if (at == std::string_view::npos) return std::string(text.substr(0, parameters));
  // A password may contain either character.
  if (parameters < at) return fmt::format("{}...", text.substr(0, begin));
  return fmt::format("{}...{}", text.substr(0, begin), text.substr(at, parameters - at));
}

}  // namespace

format::Result<Url> Url::Parse(std::string_view text) {
  const auto fail = [&](const char* why) {
    return format::Error{fmt::format("'{}' is not an address: {}", WithoutSecrets(text), why)};
  };
  Url url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.is_tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return fail("it must begin with http:// or https://");
  }
  const size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (slash != std::string_view::npos) url.path = rest.substr(slash + 1);
  while (url.path.ends_with('/')) url.path.pop_back();
  if (rest.find_first_of("@?") != std::string_view::npos) {
    return fail("it has a user, a password or parameters; use --user and --password-file, or the environment");
  }
  url.port = url.is_tls ? "8443" : "8123";
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    url.port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
    if (!IsPort(url.port)) return fail("the port is not a number");
  }
  if (authority.starts_with('[') && authority.ends_with(']')) authority = authority.substr(1, authority.size() - 2);
  url.host = authority;
  if (url.host.empty()) return fail("it has no host");
  return url;
}

std::string Url::Text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("http{}://{}{}{}:{}", is_tls ? "s" : "", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const unsigned char c : text) {
    if (std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded.push_back(static_cast<char>(c));
    } else {
      encoded += fmt::format("%{:02X}", c);
    }
  }
  return encoded;
}

}  // namespace heaprec::tools::fleet
