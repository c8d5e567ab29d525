// Addresses of servers: "https://clickhouse.example:8443/heaprec", the path names the database.
//
// Failure:  Parse returns the sentence for the user.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace heaprec::tools::fleet {

struct Url {
  bool is_tls = false;
  std::string host, port;
  std::string path;  // without the leading slash

  // `text` begins with http:// or https://. User, password and parameters in it are refused: a list of processes would
  // show them. The error does not repeat them.
  static format::Result<Url> Parse(std::string_view text);
  // "https://host:port", for messages.
  std::string Text() const;
};

// `text` in an address: all but letters, digits and -._~ as %XX.
std::string PercentEncoded(std::string_view text);

}  // namespace heaprec::tools::fleet
