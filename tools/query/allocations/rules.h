// The rules of advice: allocations that a program could avoid, recognised by class, size and stack.
//
// A rule looks at the frames from the leaf up to the frame to change: the first one that is not library code (the JDK,
// runtimes of languages, loggers, generated classes) and does not only work for its caller (iterator, clone, grow,
// constructors of exceptions). What a stack does not tell may be known from others of the same line: which methods it
// calls, and which sizes it allocates.
//
// Units:    bytes.
// List:     docs/guide/advice.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "format/model/names.h"

namespace heaprec::tools {

// What a method does, as bits.
enum Role : uint32_t {
  kPassedOver = 1 << 0,  // never the frame to change
  kLogs = 1 << 1,
  kSetsUpLogger = 1 << 2,
  kThrows = 1 << 3,
  kBoxes = 1 << 4,
  kIterates = 1 << 5,         // returns an iterator
  kGrows = 1 << 6,            // replaces an array by a larger one
  kGrowable = 1 << 7,         // of a class that a program creates with a capacity
  kReserves = 1 << 8,         // makes an array of the size that is needed
  kMayReserve = 1 << 9,       // HashMap.putVal: reserves in its first instructions, grows in its last ones
  kCopies = 1 << 10,          // returns a copy that may be changed: of a collection, an array, an object
  kGivesCopy = 1 << 11,       // returns a copy of what must not change
  kConcatenates = 1 << 12,    // for + and +=
  kTakesArguments = 1 << 13,  // its last parameter is an Object[]
  kBuffers = 1 << 14,         // makes the buffer of a stream
  kMayBox = 1 << 15           // who calls it asks for the box
};
// The bytecode index where the first instructions of HashMap.putVal end, in JDK 8 to 25.
inline constexpr int32_t kEndOfReserving = 64;

// `shown`: the method as reports spell it.
uint32_t RolesOf(std::string_view shown, const format::Method& method);

// One sample: the object, and the frames from the leaf to below the frame to change.
struct AllocationFacts {
  std::string_view class_name;
  std::string_view method;       // of the frame to change; empty: there is none
  uint32_t roles = 0;            // of all these frames
  uint32_t common = UINT32_MAX;  // that each of them has
  uint32_t outermost = 0;        // of the one that the frame to change calls
  size_t frames = 0;
  double size = 0;
  bool is_outside = false;  // of TLABs

  bool IsArray() const { return class_name.ends_with("[]"); }
};

// All samples of one rule in one line of the frame to change.
struct LineFacts {
  uint32_t calls = 0;  // roles of the methods that it calls
  size_t sizes = 0;    // distinct ones, up to kMostSizes
  double smallest = 0, largest = 0, mean_of_bytes = 0;
  bool stays = false;      // most of the objects are live at the end
  double objects_low = 0;  // at least so many objects (95 %)
  double filled_high = 0;  // collections: at most so many of the class hold an element, anywhere in the recording
};
inline constexpr size_t kMostSizes = 32;

struct AdviceRule {
  std::string_view name, advice;  // advice: a sentence that fits a line of 80 columns behind the other columns
  bool (*matches)(const AllocationFacts&);
  bool (*holds)(const LineFacts&);  // once everything has been read; null: always
};

// In order of precedence: a sample belongs to the first rule that matches and holds.
std::span<const AdviceRule> AdviceRules();

// A class of collections, and what it allocates for its elements: an array or, for each, a node.
struct CollectionClass {
  std::string_view name, elements;
  uint32_t roles = 0;  // of a frame that allocates it; 0: any
};
std::span<const CollectionClass> CollectionClasses();

}  // namespace heaprec::tools
