// An HTTP/1.1 server on 127.0.0.1, by Boost.Beast: docs/decisions.md#19-http-by-boostbeast
//
// A connection has one request. Requests are answered one after another; a client that sends nothing delays no other.
//
// Threads:  one; `answer` is called by Serve.
// Failure:  Listen returns why the port cannot be used. A request that cannot be parsed has no answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heaprec::tools::view {

struct HttpRequest {
  std::string_view method, host, target;  // as sent; host: the header, or empty
};

struct HttpAnswer {
  unsigned status = 200;
  std::string policy;  // Content-Security-Policy
  std::string html;
};

class HttpServer {
 public:
  virtual ~HttpServer() = default;
  // 0: any free port.
  static Result<std::unique_ptr<HttpServer>> Listen(uint16_t port);
  virtual uint16_t port() const = 0;
  // Returns once a signal has come: IsInterrupted().
  virtual void Serve(const std::function<HttpAnswer(const HttpRequest&)>& answer) = 0;
};

}  // namespace heaprec::tools::view
