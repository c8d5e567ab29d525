#include "tools/fleet/server/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cctype>
#include <optional>

#include "base/result.h"

namespace heaprec::tools::fleet {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

constexpr uint64_t kMaxAnswered = uint64_t{1} << 29;  // maximum bytes of an answer
// ClickHouse closes connections that are idle for 3 s.
constexpr std::chrono::seconds kMaxIdle{2};
// A running server accepts at once.
constexpr std::chrono::seconds kConnectTimeout{10};

class Connection final : public HttpConnection {
 public:
  Connection(Url server, std::optional<Url> proxy, const HttpOptions& options)
      : server_(std::move(server)),
        proxy_(std::move(proxy)),
        timeout_(options.timeout),
        tls_(asio::ssl::context::tls_client) {}

  Status SetUpTls(const std::string& ca_file) {
    error_code error;
    tls_.set_verify_mode(asio::ssl::verify_peer);
    if (ca_file.empty()) {
      tls_.set_default_verify_paths(error);
    } else {
      tls_.load_verify_file(ca_file, error);
    }
    if (error) return Error{fmt::format("{}: cannot read certificates: {}", ca_file, error.message())};
    return {};
  }

  Result<HttpResponse> Send(const HttpRequest& asked) override {
    if (std::chrono::steady_clock::now() - answered_ > kMaxIdle) Close();
    RETURN_IF_ERROR(Connect());
    http::request<http::string_body> request(http::verb::post, Target(asked), 11);
    request.set(http::field::host, fmt::format("{}:{}", server_.host, server_.port));
    request.set(http::field::user_agent, "heaprec");
    for (const auto& [name, value] : asked.headers) request.set(name, value);
    request.body() = asked.body;
    request.prepare_payload();
    http::response_parser<http::string_body> answer;
    answer.body_limit(kMaxAnswered);
    const error_code error = secure_ ? Exchange(*secure_, request, &answer) : Exchange(*plain_, request, &answer);
    if (error) {
      Close();
      return Failed(error);
    }
    if (!answer.get().keep_alive()) Close();
    answered_ = std::chrono::steady_clock::now();
    const auto& message = answer.get();
    return HttpResponse{message.result_int(), std::string(message[http::field::content_type]), message.body()};
  }

 private:
  using Plain = beast::tcp_stream;
  using Secure = beast::ssl_stream<beast::tcp_stream>;

  // A proxy for plain HTTP needs the whole address.
  std::string Target(const HttpRequest& asked) const {
    return proxy_ && !server_.is_tls ? server_.Text() + asked.target : asked.target;
  }

  Error Failed(const error_code& error) const {
    if (error == beast::error::timeout) {
      return {fmt::format("{}: no answer within {} s", server_.Text(), timeout_.count())};
    }
    if (error == http::error::end_of_stream || error == http::error::partial_message) {
      return {fmt::format("{}: the server closed the connection before it had answered", server_.Text())};
    }
    return {fmt::format("{}: {}", server_.Text(), error.message())};
  }

  // Applies to connecting and to the handshake separately. A query may take minutes; a server without TLS may wait for
  // the end of a line that the handshake does not contain.
  std::chrono::seconds ConnectTimeout() const { return std::min(timeout_, kConnectTimeout); }

  // Runs the started operation to its end, or until the timeout.
  void Run() {
    context_.restart();
    context_.run();
  }

  template <typename Stream>
  error_code Exchange(Stream& stream, http::request<http::string_body>& request,
                      http::response_parser<http::string_body>* answer) {
    error_code error;
    const auto done = [&error](error_code how, size_t) { error = how; };
    beast::get_lowest_layer(stream).expires_after(timeout_);
    http::async_write(stream, request, done);
    Run();
    // A server that refuses may answer before it has read the whole request.
    const error_code written = error;
    if (written == beast::error::timeout) return written;
    http::async_read(stream, buffer_, *answer, done);
    Run();
    return error && written ? written : error;
  }

  Status Connect() {
    if (plain_ || secure_) return {};
    buffer_.clear();
    const Url& first = proxy_ ? *proxy_ : server_;
    error_code error;
    asio::ip::tcp::resolver resolver(context_);
    const auto found = resolver.resolve(first.host, first.port, error);
    if (error) return Error{fmt::format("{}: {}", first.Text(), error.message())};
    Plain stream(context_);
    stream.expires_after(ConnectTimeout());
    stream.async_connect(found, [&error](error_code how, const auto&) { error = how; });
    Run();
    if (error) return Error{fmt::format("{}: cannot connect: {}", first.Text(), error.message())};
    stream.socket().set_option(asio::ip::tcp::no_delay(true), error);
    if (!server_.is_tls) {
      plain_.emplace(std::move(stream));
      return {};
    }
    if (proxy_) {
      RETURN_IF_ERROR(Tunnel(&stream));
    }
    return Secured(std::move(stream));
  }

  Status Tunnel(Plain* stream) {
    const std::string to = fmt::format("{}:{}", server_.host, server_.port);
    http::request<http::empty_body> request(http::verb::connect, to, 11);
    request.set(http::field::host, to);
    http::response_parser<http::empty_body> answer;
    answer.skip(true);
    error_code error;
    const auto done = [&error](error_code how, size_t) { error = how; };
    http::async_write(*stream, request, done);
    Run();
    if (!error) {
      http::async_read_header(*stream, buffer_, answer, done);
      Run();
    }
    if (error) return Error{fmt::format("{}: {}", proxy_->Text(), error.message())};
    if (answer.get().result_int() / 100 == 2) return {};
    return Error{fmt::format("{}: the proxy refuses to connect to {}: status {}", proxy_->Text(), to,
                             answer.get().result_int())};
  }

  Status Secured(Plain stream) {
    Secure secure(std::move(stream), tls_);
    SSL_set_tlsext_host_name(secure.native_handle(), server_.host.c_str());
    secure.set_verify_callback(asio::ssl::host_name_verification(server_.host));
    error_code error;
    beast::get_lowest_layer(secure).expires_after(ConnectTimeout());
    secure.async_handshake(asio::ssl::stream_base::client, [&error](error_code how) { error = how; });
    Run();
    if (error) {
      return Error{fmt::format("{}: no secure connection: {}; --ca FILE names another authority", server_.Text(),
                               error.message())};
    }
    secure_.emplace(std::move(secure));
    return {};
  }

  void Close() {
    plain_.reset();
    secure_.reset();
  }

  const Url server_;
  const std::optional<Url> proxy_;
  const std::chrono::seconds timeout_;
  std::chrono::steady_clock::time_point answered_{};
  asio::io_context context_{1};
  asio::ssl::context tls_;
  beast::flat_buffer buffer_;
  std::optional<Plain> plain_;
  std::optional<Secure> secure_;
};

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, [](unsigned char c) { return isdigit(c); });
}

// Returns `text` without parts that may be a password: parameters, and everything before an @.
std::string WithoutSecrets(std::string_view text) {
  const size_t scheme = text.find("://"), at = text.rfind('@'), parameters = text.find('?');
  const size_t begin = scheme >= std::min(at, parameters) ? 0 : scheme + 3;
  if (at == std::string_view::npos) return std::string(text.substr(0, parameters));
  // A password may contain either character.
  if (parameters < at) return fmt::format("{}...", text.substr(0, begin));
  return fmt::format("{}...{}", text.substr(0, begin), text.substr(at, parameters - at));
}

}  // namespace

Result<std::unique_ptr<HttpConnection>> OpenHttp(const Url& server, const HttpOptions& options) {
  std::optional<Url> proxy;
  if (!options.proxy.empty()) {
    ASSIGN_OR_RETURN(auto parsed, Url::Parse(options.proxy));
    if (parsed.is_tls) return Error{options.proxy + ": only proxies with http:// are supported"};
    proxy = parsed;
  }
  auto connection = std::make_unique<Connection>(server, proxy, options);
  if (server.is_tls) {
    RETURN_IF_ERROR(connection->SetUpTls(options.ca_file));
  }
  return std::unique_ptr<HttpConnection>(std::move(connection));
}

Result<Url> Url::Parse(std::string_view text) {
  const auto fail = [&](const char* why) {
    return Error{fmt::format("'{}' is not an address: {}", WithoutSecrets(text), why)};
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
