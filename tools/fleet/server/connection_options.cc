#include "tools/fleet/server/connection_options.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace heaprec::tools::fleet {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Without the end of its line.
format::Result<std::string> Secret(const std::string& file, const char* variable) {
  if (file.empty()) return Variable(variable);
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return format::Error{fmt::format("{}: cannot be read: {}", file, std::strerror(errno))};
  std::string secret = text.str();
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  return secret;
}

}  // namespace

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

format::Result<ServerOptions> ConnectionOptions::Resolve() const {
  ServerOptions options;
  options.url = server.empty() ? Variable("HEAPREC_FLEET_URL") : server;
  if (options.url.empty()) return format::Error{"no server: give its URL with --server, or set HEAPREC_FLEET_URL"};
  options.user = user.empty() ? Variable("HEAPREC_FLEET_USER") : user;
  auto password = Secret(password_file, "HEAPREC_FLEET_PASSWORD");
  if (!password.ok()) return password.error();
  options.password = *password;
  auto token = Secret(token_file, "HEAPREC_FLEET_TOKEN");
  if (!token.ok()) return token.error();
  options.token = *token;
  options.http.ca_file = ca_file;
  options.http.proxy = proxy;
  options.http.timeout = std::chrono::ceil<std::chrono::seconds>(std::chrono::nanoseconds(timeout_ns));
  options.compress = !no_compression;
  return options;
}

format::Result<std::unique_ptr<Server>> ConnectionOptions::Connect() const {
  const auto resolved = Resolve();
  if (!resolved.ok()) return resolved.error();
  return Server::Open(*resolved);
}

}  // namespace heaprec::tools::fleet
