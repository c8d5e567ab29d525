// A client of HTTP/1.1 with TLS, by Boost.Beast and OpenSSL: docs/decisions.md#19-http-by-boostbeast
//
// Threads:  one per connection.
// Failure:  Send returns what failed, and the server. A failed request may have had an effect. The next Send reopens a
//           failed connection.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace heaprec::tools::fleet {

struct Url {
  bool is_tls = false;
  std::string host, port;
  std::string path;  // without the leading slash

  // `text` begins with http:// or https://. Rejects user, password and parameters, which would be visible in a list of
  // processes; the error does not contain them.
  static Result<Url> Parse(std::string_view text);
  // "https://host:port", for messages.
  std::string Text() const;
};

// Encodes `text` for an address: all characters except letters, digits and unreserved punctuation as %XX.
std::string PercentEncoded(std::string_view text);

struct HttpOptions {
  std::string ca_file;  // certificates of authorities, as PEM; empty: those of the system
  std::string proxy;    // "http://host:port"; empty: none
  std::chrono::seconds timeout{300};
};

struct HttpRequest {
  std::string target;  // "/?query=..."
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct HttpResponse {
  unsigned status = 0;
  std::string content_type, body;
};

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  // POSTs.
  virtual Result<HttpResponse> Send(const HttpRequest& request) = 0;
};

// Connects when the first request is sent.
Result<std::unique_ptr<HttpConnection>> OpenHttp(const Url& server, const HttpOptions& options);

}  // namespace heaprec::tools::fleet
