// Linked into the agent of guard_test: counts the objects that the JVM delivers while no source takes them. The
// linker's --wrap puts these functions between the agent's own parts.
//
// HEAPREC_DELIVERIES names a file that gets two numbers of eight bytes: deliveries while a recording starts, and while
// it ends. Both take HEAPREC_DELIVERIES_MS: a slow disk, or many references to delete. If it has a neighbour ".fail",
// each command runs out of memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "recorder/agent/identity.h"
#include "recorder/agent/options/command.h"
#include "recorder/sources/java/entry.h"
#include "recorder/sources/java/source.h"

namespace {

struct Deliveries {
  std::atomic<uint64_t> at_start, at_end;
};

const char* const path = getenv("HEAPREC_DELIVERIES");  // NOLINT(concurrency-mt-unsafe): at load, one thread

Deliveries* Map() {
  static Deliveries nowhere{};
  if (path == nullptr) return &nowhere;
  const int descriptor = open(path, O_RDWR | O_CREAT, 0600);
  if (descriptor < 0 || ftruncate(descriptor, sizeof(Deliveries)) != 0) return &nowhere;
  void* const memory = mmap(nullptr, sizeof(Deliveries), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return memory == MAP_FAILED ? &nowhere : static_cast<Deliveries*>(memory);
}

useconds_t PauseUs() {
  const char* const value = getenv("HEAPREC_DELIVERIES_MS");  // NOLINT(concurrency-mt-unsafe): at load, one thread
  return value != nullptr ? 1000 * static_cast<useconds_t>(atoi(value)) : 0;
}

Deliveries* const deliveries = Map();
const useconds_t pause_us = PauseUs();
std::atomic<bool> ends{false};

}  // namespace

using heaprec::agent::Command;
using heaprec::sources::Delivered;
using heaprec::sources::RecordingSource;

// NewRecordingId, RecordingSource::UncountedBytes, ParseCommand. NOLINTBEGIN(bugprone-reserved-identifier): the linker
// chooses these names.
#define NEW_RECORDING_ID(prefix) prefix##_ZN7heaprec5agent14NewRecordingIdEv
#define PARSE_COMMAND(prefix) prefix##_ZN7heaprec5agent12ParseCommandESt17basic_string_viewIcSt11char_traitsIcEE
#define UNCOUNTED_BYTES(prefix) prefix##_ZNK7heaprec7sources15RecordingSource14UncountedBytesEv

extern "C" {

void __real_heaprec_on_delivered(const Delivered* object);
void __wrap_heaprec_on_delivered(const Delivered* object) {
  if (heaprec::sources::active_source.load() == nullptr) ++(ends ? deliveries->at_end : deliveries->at_start);
  __real_heaprec_on_delivered(object);
}

heaprec::format::RecordingId NEW_RECORDING_ID(__real_)();
heaprec::format::RecordingId NEW_RECORDING_ID(__wrap_)() {
  usleep(pause_us);
  return NEW_RECORDING_ID(__real_)();
}

heaprec::Result<Command> PARSE_COMMAND(__real_)(std::string_view text);
heaprec::Result<Command> PARSE_COMMAND(__wrap_)(std::string_view text) {
  if (path != nullptr && access((std::string(path) + ".fail").c_str(), F_OK) == 0) throw std::bad_alloc();
  return PARSE_COMMAND(__real_)(text);
}

uint64_t UNCOUNTED_BYTES(__real_)(const RecordingSource* source);
uint64_t UNCOUNTED_BYTES(__wrap_)(const RecordingSource* source) {
  ends = true;
  const uint64_t bytes = UNCOUNTED_BYTES(__real_)(source);
  usleep(pause_us);
  return bytes;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
