// A ClickHouse server over HTTP: statements, answers, inserts.
//
// Values reach SQL only as numbers and as literals made by Quoted.
//
// Failure:  every call returns the server's error message, or the connection error, with the server's address.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/fleet/server/http.h"
#include "tools/fleet/server/native_block.h"
#include "tools/options/command.h"

namespace heaprec::tools::fleet {

struct ServerOptions {
  std::string url;                    // its path is the database; without a path: heaprec
  std::string user, password, token;  // a token is sent as "Authorization: Bearer"
  HttpOptions http;
  bool compress = true;  // compress sent data
};

class Server {
 public:
  // Does not connect yet.
  static Result<std::unique_ptr<Server>> Open(const ServerOptions& options);

  // Runs a statement without an answer.
  Status Run(const std::string& sql);
  Result<Answer> Select(const std::string& sql);
  // Returns the single number of an answer.
  Result<uint64_t> SelectNumber(const std::string& sql);
  // Executes one INSERT. `query_id`: unique among running queries.
  Status Insert(const std::string& table, const NativeBlock& block, const std::string& query_id);

  const std::string& database() const { return database_; }
  // "https://host:port", for messages.
  std::string name() const { return url_.Text(); }
  uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  Server(const ServerOptions& options, Url url, std::unique_ptr<HttpConnection> connection);
  Result<std::string> Post(std::string target, std::string body, bool is_data);

  const ServerOptions options_;
  const Url url_;
  const std::string database_;
  std::unique_ptr<HttpConnection> connection_;
  uint64_t bytes_sent_ = 0;
};

// Returns `text` as an SQL literal.
std::string Quoted(std::string_view text);
// Whether it has only letters, digits and _.
bool IsIdentifier(std::string_view name);

// Options of all commands that connect to a fleet's server.
struct ConnectionOptions {
  std::string server, user, password_file, token_file, ca_file, proxy;
  bool no_compression = false;
  uint64_t timeout_ns = 300'000'000'000;

  // Adds the options under a separate heading of the help.
  void AddTo(Command& command);
  // Takes user, password and token from files, or from the environment: HEAPREC_FLEET_USER, _PASSWORD, _TOKEN; the
  // address from HEAPREC_FLEET_URL. Does not connect yet.
  Result<std::unique_ptr<Server>> Open() const;
};

}  // namespace heaprec::tools::fleet
