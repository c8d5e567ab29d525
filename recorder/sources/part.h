// A part of a recording besides the sampling of the heap: another stream, tracked objects, snapshots, a census. The
// recording calls all parts in the order in which they were added.
//
// Context:  Connect, Describe, Activate: setup. OnTick, NewEpoch, MarkStackEmitted, Stop: drain. TryJoin: setup, after
//           the recording has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "format/ring/ring_records.h"
#include "recorder/writer/drain.h"

namespace heaprec::sources {

// A part lives as long as its recording, because a thread may be inside it. Functions that a part does not need are not
// overridden.
class Part {
 public:
  Part() = default;
  virtual ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // Sets the drain's callbacks that serve only this part.
  virtual void Connect(writer::DrainCallbacks* /*callbacks*/) {}
  // Adds to the header what the plan of the recording does not contain.
  virtual void Describe(format::FileHeader* /*header*/) const {}
  virtual Status Activate() { return {}; }
  virtual void OnTick(uint64_t /*now_ns*/) {}
  // From now on definitions must be emitted again.
  virtual void NewEpoch() {}
  // Samples need not include this stack until the next epoch.
  virtual void MarkStackEmitted(const format::StackKey& /*key*/) {}
  // Stops sampling; everything until then is counted. Idempotent, and allowed without Activate.
  virtual void Stop() {}
  // Whether its threads have ended, so that the destructor does not wait.
  virtual bool TryJoin() { return true; }
};

class Parts {
 public:
  // Returns the part.
  template <typename T>
  T& Add(std::unique_ptr<T> part) {
    T& added = *part;
    parts_.push_back(std::move(part));
    return added;
  }
  // Connects all parts, and informs them of the drain's chunks and stacks.
  void Connect(writer::DrainCallbacks* callbacks);
  void Describe(format::FileHeader* header) const;
  // Activates the parts, up to the first that fails.
  Status Activate();
  void OnTick(uint64_t now_ns);
  void NewEpoch();
  void MarkStackEmitted(const format::StackKey& key);
  void Stop();
  bool TryJoin();

 private:
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace heaprec::sources
