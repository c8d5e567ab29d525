// An application without a JVM: what an object is, follows from its number.
//
// Threads:  any; the tables are made once, before the others are there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heaprec::crash {

inline constexpr uint32_t kMaxThreads = 64;
inline constexpr uint32_t kMaxObjects = 1 << 15;  // of a thread

// The n-th object of a thread.
struct Object {
  uint32_t thread = 0, number = 0;

  // Occurs once; tells which object it is.
  uint64_t Size() const { return (uint64_t{thread} * kMaxObjects + number + 1) * 8; }
  static bool FromSize(uint64_t size, Object* into);
  double Weight() const { return static_cast<double>(Size()) + static_cast<double>(Draw(1) % 100'000) / 7; }

  // Most are among a few; some have never been seen before.
  size_t Class() const { return Pick(2, 40); }
  size_t Depth() const { return 1 + Draw(3) % 10; }
  size_t Method(size_t frame) const { return Pick(4 + frame / 3, 60); }
  std::string ThreadName() const { return "writer-" + std::to_string(thread) + "/" + std::to_string(number / 40); }

 private:
  uint64_t Draw(uint64_t what) const;
  size_t Pick(uint64_t what, size_t few) const;
};

inline constexpr size_t kNames = 1 << 13;
const std::string& ClassName(size_t index);

struct MethodNames {
  std::string class_name, name, descriptor;
};
const MethodNames& MethodOf(size_t index);
// "class.name:line", innermost first, as a recording has the object's stack.
std::vector<std::string> FramesOf(const Object& object);
inline int LineOf(size_t method) { return static_cast<int>(method % 900) + 1; }

// What the JVM would be asked of the object that the calling thread allocates.
inline thread_local Object allocated;

}  // namespace heaprec::crash
