// What the fleet knows of a recording: whose it is, and when.
//
// Units:    seconds since 1970.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/model/file_description.h"

namespace heaprec::tools::fleet {

struct RecordingInfo {
  uint64_t id = 0;       // of the recording and its part: recordings that rotate are several
  uint64_t process = 0;  // of the recording: the same for all parts; 0: not known
  std::string service, version, environment, host, pod;
  std::string jdk, gc, file;
  std::vector<format::ServiceLabel> labels;
  uint32_t started = 0;  // of this part
  uint32_t seen = 0;     // up to here there are rows
  bool ended = false;
  double per_second = 0;  // samples
  bool trustworthy = true;
  std::string why_not;

  // `reasons`: why the recording is not trustworthy; empty: it is.
  void SetTrust(const std::vector<std::string>& reasons);
};

// What options say goes before what the recording says.
struct GivenLabels {
  std::string service, version, environment, host, pod;
};

// The service is "unknown" where nothing names it; the host is the pod, else the container, else the process.
RecordingInfo InfoOf(const format::FileHeader& header, const GivenLabels& given);

}  // namespace heaprec::tools::fleet
