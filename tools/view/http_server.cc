#include "tools/view/http_server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <utility>

#include "tools/text/interrupt.h"

namespace heaprec::tools::view {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::beast::error_code;

constexpr std::chrono::seconds kRequestTimeout{10}, kAnswerTimeout{600};  // a tunnel may be slow
constexpr std::chrono::milliseconds kPause{200};  // between two checks for a signal, and after a failed accept
// A browser opens a handful, some of them without a request.
constexpr size_t kMaxConnections = 64;

using Answering = std::function<HttpAnswer(const HttpRequest&)>;

// Its operations own it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const Answering& answering, size_t* open)
      : stream_(std::move(socket)), answering_(answering), open_(*open) {
    ++open_;
  }
  ~Connection() { --open_; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Start() {
    stream_.expires_after(kRequestTimeout);
    http::async_read_header(stream_, buffer_, request_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->Answer();
    });
  }

 private:
  void Answer() {
    const auto& request = request_.get();
    const auto view = [](auto text) { return std::string_view(text.data(), text.size()); };
    HttpAnswer answer =
        answering_({view(request.method_string()), view(request[http::field::host]), view(request.target())});
    response_.result(answer.status);
    response_.keep_alive(false);
    if (answer.status == 405) response_.set(http::field::allow, "GET, HEAD");
    response_.set(http::field::content_type, "text/html; charset=utf-8");
    response_.set(http::field::cache_control, "no-store");
    // The address has the token.
    response_.set("Referrer-Policy", "no-referrer");
    response_.set("Content-Security-Policy", answer.policy);
    response_.set("Cross-Origin-Opener-Policy", "same-origin");
    response_.set("Cross-Origin-Resource-Policy", "same-origin");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.body() = std::move(answer.html);
    response_.prepare_payload();
    stream_.expires_after(kAnswerTimeout);
    const auto close = [self = shared_from_this()](error_code, size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    };
    if (request.method() == http::verb::head) {
      http::async_write_header(stream_, serializer_, close);
    } else {
      http::async_write(stream_, serializer_, close);
    }
  }

  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> request_;
  http::response<http::string_body> response_;
  http::response_serializer<http::string_body> serializer_{response_};
  const Answering& answering_;
  size_t& open_;
};

class Server final : public HttpServer {
 public:
  error_code Listen(uint16_t port) {
    const tcp::endpoint local(asio::ip::address_v4::loopback(), port);
    error_code error;
    acceptor_.open(local.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);  // of connections that have ended
    if (!error) acceptor_.bind(local, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    return error;
  }

  uint16_t port() const override { return port_; }

  void Serve(const Answering& answer) override {
    Accept(answer);
    while (!IsInterrupted()) context_.run_for(kPause);
  }

 private:
  void Accept(const Answering& answer) {
    acceptor_.async_accept([this, &answer](error_code error, tcp::socket socket) {
      if (!error && open_ < kMaxConnections) std::make_shared<Connection>(std::move(socket), answer, &open_)->Start();
      if (!error) return Accept(answer);
      pause_.expires_after(kPause);  // without descriptors, accept would fail again at once
      pause_.async_wait([this, &answer](error_code) { Accept(answer); });
    });
  }

  size_t open_ = 0;
  uint16_t port_ = 0;
  asio::io_context context_{1};  // ends what still refers to open_
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(uint16_t port) {
  auto server = std::make_unique<Server>();
  if (const error_code error = server->Listen(port))
    return Error{fmt::format("127.0.0.1:{}: {}", port, error.message())};
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace heaprec::tools::view
