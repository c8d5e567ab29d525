// The pages of `heaprec view`: the recordings of a folder, the report of one, and what changed between two.
//
//   GET /TOKEN/                 the recordings
//   GET /TOKEN/report/NAME      the page of `heaprec report NAME`
//   GET /TOKEN/compare/NAME     the recordings, to choose the other one
//   GET /TOKEN/compare/NAME/B   the page of `heaprec report NAME B`
//
// A name is a path within the folder, percent-encoded as one segment. It is compared with the encoded names of the
// recordings that are there, and is neither decoded nor opened. Links are not followed.
//
// Failure:  answers say what is wrong (404, 422); 403 says nothing about the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/view/http_server.h"

namespace heaprec::tools::view {

// Returns 128 random bits in hexadecimal digits. Fails if the kernel has none.
Result<std::string> RandomToken();

class FolderView {
 public:
  FolderView(const std::filesystem::path& folder, std::string token, uint16_t port)
      : folder_(folder), token_(std::move(token)), port_(port) {}

  std::string Url() const;
  // Answers GET and HEAD alike; the server omits the contents.
  HttpAnswer Answer(const HttpRequest& request);

 private:
  // A recording, as its row shows it.
  struct Summary {
    uint64_t bytes = 0;  // size and time of the file that was read
    std::filesystem::file_time_type written;
    bool is_running = false;
    std::string error;  // why it cannot be read; empty: the rest is known
    std::string program, trust;
    uint64_t start_epoch_ns = 0, duration_ns = 0;
    Estimate allocated;
    std::vector<std::string> kinds;  // of its report
  };
  struct File {
    std::string name;     // within the folder
    std::string segment;  // in addresses
    std::filesystem::path path;
    uint64_t bytes = 0;
    std::filesystem::file_time_type written;
  };

  static Summary Read(const File& file);
  bool MayAnswer(const HttpRequest& request) const;
  std::vector<File> Files() const;
  bool IsKnown(const File& file) const;
  // Reads it, unless it is known and has not changed.
  const Summary& SummaryOf(const File& file);
  // Reads new recordings, then changed ones, but not without a limit. Returns the number of new ones that it has left.
  size_t ReadNew(const std::vector<File>& files);
  // `before`: to compare with; nullptr: none.
  HttpAnswer List(const std::vector<File>& files, const File* before);
  std::string RowOf(const File& file, const File* before) const;
  // The report of one, or of two.
  HttpAnswer Report(const std::vector<const File*>& files);

  const std::filesystem::path folder_;
  const std::string token_;
  const uint16_t port_;
  std::map<std::string, Summary> summaries_;  // by name
};

}  // namespace heaprec::tools::view
