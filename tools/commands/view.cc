// heaprec view: serves the recordings of a folder to a browser on this machine.
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tools/options/command.h"
#include "tools/text/interrupt.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/view/folder_view.h"
#include "tools/view/http_server.h"

namespace heaprec::tools {
namespace {

struct ViewOptions {
  std::string folder;
  uint32_t port = 0;
};

ExitCode View(const ViewOptions& options) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(options.folder, error);
  if (error) return Fail(ExitCode::kUnreadable, options.folder + ": " + error.message());
  if (!std::filesystem::is_directory(folder, error))
    return Fail(ExitCode::kUnreadable, options.folder + ": is not a folder; heaprec report shows a single recording");
  if (std::filesystem::directory_iterator(folder, error); error)
    return Fail(ExitCode::kUnreadable, options.folder + ": " + error.message());
  auto token = view::RandomToken();
  if (!token.ok()) return Fail(ExitCode::kCannotWrite, token.error().message);
  CatchSignals({SIGINT, SIGTERM, SIGHUP});
  auto server = view::HttpServer::Listen(static_cast<uint16_t>(options.port));
  if (!server.ok()) return Fail(ExitCode::kCannotWrite, server.error().message);
  view::FolderView pages(folder, std::move(*token), (*server)->port());
  const ExitCode written = WriteFile("-", /*overwrite=*/true, pages.Url() + "\n");
  if (written != ExitCode::kOk) return written;
  (*server)->Serve([&pages](const view::HttpRequest& request) { return pages.Answer(request); });
  return ExitCode::kOk;
}

}  // namespace

Command ViewCommand() {
  auto options = std::make_shared<ViewOptions>();
  Command command("view", "Show the recordings of a folder in a browser");
  command.AddOption("DIR", options->folder, "Folder with recordings (*.hrec), also in its subfolders").Required();
  command.AddOption("--port", options->port, "Port on 127.0.0.1 (default: any free one)").Value("N").InRange(0, 65535);
  command.footer = R"(Prints an address with a random token, and runs until Ctrl-C. Only this machine
can open it, and only with the token; whoever has the address can read the
recordings.

Examples:
  heaprec view recordings/
  heaprec view --port 8080 recordings/)";
  command.run = [options](const auto&) { return View(*options); };
  return command;
}

}  // namespace heaprec::tools
