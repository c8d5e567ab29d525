#include "tools/fleet/server/server.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "base/result.h"

namespace heaprec::tools::fleet {
namespace {

// Lists of recordings exceed the server's default limit for a statement.
constexpr char kSettings[] =
    "&wait_end_of_query=1&insert_distributed_sync=1&max_query_size=67108864&max_ast_elements=5000000&max_expanded_ast_"
    "elements=5000000";

std::optional<std::string> Gzipped(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return std::nullopt;
  std::string zipped(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = static_cast<uInt>(zipped.size());
  const int result = deflate(&stream, Z_FINISH);
  zipped.resize(zipped.size() - stream.avail_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return std::nullopt;
  return zipped;
}

// Returns the server's message without a stack trace; of other text only a part.
std::string FirstLine(std::string_view body) {
  constexpr size_t kMax = 300;
  std::string line;
  for (const char c : body.substr(0, std::min(body.find('\n'), kMax))) {
    line.push_back(std::isprint(static_cast<unsigned char>(c)) ? c : '?');
  }
  return line;
}

// Returns ClickHouse's whole message up to a stack trace: the cause may follow "All connection tries failed. Log:",
// with the same lines for each try.
std::string WholeSentence(std::string_view body) {
  constexpr size_t kMax = 2000;
  std::string text;
  std::set<std::string> seen;
  while (!body.empty() && text.size() < kMax) {
    const std::string line = FirstLine(body);
    body.remove_prefix(std::min(body.find('\n'), body.size() - 1) + 1);
    if (line.find("Stack trace") != std::string::npos) break;
    if (!line.empty() && seen.insert(line).second) text += (text.empty() ? "" : " ") + line;
  }
  return text;
}

std::string Reason(const HttpResponse& response) {
  const std::string line = FirstLine(response.body);
  if (response.status == 401 || response.status == 403 || line.find("AUTHENTICATION_FAILED") != std::string::npos ||
      line.find("Wrong password") != std::string::npos || line.find("Unknown user") != std::string::npos) {
    return fmt::format("the server rejects the user or password ({})", line.empty() ? "no reason given" : line);
  }
  if (!line.starts_with("Code:")) {
    return fmt::format("status {}, not from ClickHouse; is the address right? It begins: {}", response.status, line);
  }
  return WholeSentence(response.body);
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Reads a secret without the end of its line.
Result<std::string> Secret(const std::string& file, const char* variable) {
  if (file.empty()) return Variable(variable);
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return Error{fmt::format("{}: cannot be read: {}", file, std::strerror(errno))};
  std::string secret = text.str();
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  return secret;
}

}  // namespace

Server::Server(const ServerOptions& options, Url url, std::unique_ptr<HttpConnection> connection)
    : options_(options),
      url_(std::move(url)),
      database_(url_.path.empty() ? "heaprec" : url_.path),
      connection_(std::move(connection)) {}

Result<std::unique_ptr<Server>> Server::Open(const ServerOptions& options) {
  ASSIGN_OR_RETURN(auto url, Url::Parse(options.url));
  if (!url.path.empty() && !IsIdentifier(url.path)) {
    return Error{fmt::format("'{}' is not a database name: use letters, digits and _", url.path)};
  }
  if (!url.is_tls && !options.token.empty()) {
    return Error{"a token is sent over https:// only; use an address that begins with https://"};
  }
  ASSIGN_OR_RETURN(auto connection, OpenHttp(url, options.http));
  return std::unique_ptr<Server>(new Server(options, std::move(url), std::move(connection)));
}

Result<std::string> Server::Post(std::string target, std::string body, bool is_data) {
  HttpRequest request{.target = std::move(target), .headers = {}, .body = std::move(body)};
  // Old servers reject a password without a user.
  if (!options_.user.empty() || !options_.password.empty()) {
    request.headers.emplace_back("X-ClickHouse-User", options_.user.empty() ? "default" : options_.user);
  }
  if (!options_.password.empty()) request.headers.emplace_back("X-ClickHouse-Key", options_.password);
  if (!options_.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + options_.token);
  if (is_data && options_.compress) {
    if (auto zipped = Gzipped(request.body)) {
      request.body = std::move(*zipped);
      request.headers.emplace_back("Content-Encoding", "gzip");
    }
  }
  bytes_sent_ += request.body.size();
  ASSIGN_OR_RETURN(auto response, connection_->Send(request));
  if (response.status != 200) return Error{name() + ": " + Reason(response)};
  return std::move(response.body);
}

Status Server::Run(const std::string& sql) {
  ASSIGN_OR_RETURN(auto done, Post(std::string("/?") + (kSettings + 1), sql, false));
  if (!done.empty() && done.find("<html") != std::string::npos) {
    return Error{name() + ": answered with an HTML page; is the address right?"};
  }
  return {};
}

Result<Answer> Server::Select(const std::string& sql) {
  ASSIGN_OR_RETURN(auto body, Post(std::string("/?") + (kSettings + 1), sql + " FORMAT Native", false));
  auto answer = DecodeNative(body);
  if (!answer.ok()) return Error{fmt::format("{}: {}; is it ClickHouse?", name(), answer.error().message)};
  return answer;
}

Result<uint64_t> Server::SelectNumber(const std::string& sql) {
  ASSIGN_OR_RETURN(auto answer, Select(sql));
  if (answer.rows != 1 || answer.columns.size() != 1 || answer.columns[0].numbers.size() != 1) {
    return Error{name() + ": the answer has no number; is it ClickHouse?"};
  }
  return answer.columns[0].numbers[0];
}

Status Server::Insert(const std::string& table, const NativeBlock& block, const std::string& query_id) {
  const std::string sql = fmt::format("INSERT INTO {}.{} ({}) FORMAT Native", database_, table, block.Names());
  ASSIGN_OR_RETURN(auto done,
                   Post(fmt::format("/?query_id={}&insert_distributed_sync=1&max_insert_block_size=16777216&query={}",
                                    PercentEncoded(query_id), PercentEncoded(sql)),
                        block.Encode(), true));
  if (!done.empty()) return Error{name() + ": an unexpected answer to an insert: " + FirstLine(done)};
  return {};
}

std::string Quoted(std::string_view text) {
  constexpr std::string_view kSpecial("'\\\n\r\t\0", 6), kLetters = "'\\nrt0";
  std::string quoted = "'";
  for (const char c : text) {
    const size_t special = kSpecial.find(c);
    if (special != std::string_view::npos) quoted.push_back('\\');
    quoted.push_back(special != std::string_view::npos ? kLetters[special] : c);
  }
  return quoted + "'";
}

bool IsIdentifier(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         std::ranges::all_of(name, [](unsigned char c) { return (c < 0x80 && std::isalnum(c)) || c == '_'; });
}

void ConnectionOptions::AddTo(Command& command) {
  constexpr char kGroup[] = "Server";
  command
      .AddOption("--server", server,
                 "The server's HTTP interface; the path is the database (default: heaprec). Or HEAPREC_FLEET_URL")
      .Value("URL")
      .InGroup(kGroup);
  command.AddOption("--user", user, "User; or HEAPREC_FLEET_USER").Value("NAME").InGroup(kGroup);
  command.AddOption("--password-file", password_file, "File with the password; or HEAPREC_FLEET_PASSWORD")
      .Value("FILE")
      .InGroup(kGroup);
  command.AddOption("--token-file", token_file, "File with a bearer token (https only); or HEAPREC_FLEET_TOKEN")
      .Value("FILE")
      .InGroup(kGroup);
  command.AddOption("--ca", ca_file, "Certificate authorities, a PEM file (default: the system's)")
      .Value("FILE")
      .InGroup(kGroup);
  command.AddOption("--proxy", proxy, "HTTP proxy, such as http://proxy:3128").Value("URL").InGroup(kGroup);
  command.AddDuration("--timeout", timeout_ns, "Time to wait for an answer (default: 5m)", 1).InGroup(kGroup);
  command.AddFlag("--no-compression", no_compression, "Send without gzip").InGroup(kGroup);
}

Result<std::unique_ptr<Server>> ConnectionOptions::Open() const {
  ServerOptions options;
  options.url = server.empty() ? Variable("HEAPREC_FLEET_URL") : server;
  if (options.url.empty()) return Error{"no server: give its URL with --server, or set HEAPREC_FLEET_URL"};
  options.user = user.empty() ? Variable("HEAPREC_FLEET_USER") : user;
  ASSIGN_OR_RETURN(options.password, Secret(password_file, "HEAPREC_FLEET_PASSWORD"));
  ASSIGN_OR_RETURN(options.token, Secret(token_file, "HEAPREC_FLEET_TOKEN"));
  options.http.ca_file = ca_file;
  options.http.proxy = proxy;
  options.http.timeout = std::chrono::ceil<std::chrono::seconds>(std::chrono::nanoseconds(timeout_ns));
  options.compress = !no_compression;
  return Server::Open(options);
}

}  // namespace heaprec::tools::fleet
