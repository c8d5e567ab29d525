// HotSpot's description of itself for debuggers: gHotSpotVMStructs and related tables.
//
// Units:    offsets and sizes in bytes.
// Context:  setup. A lookup searches the tables (microseconds), so store the results.
// Threads:  any number of readers.
// Failure:  Load returns an Error if an exported table is missing; an unknown name is nullopt or null.
#pragma once

#include <jvmti.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/model/file_description.h"

namespace heaprec::hotspot {

class VmStructs {
 public:
  // An empty description.
  VmStructs() = default;
  static Result<VmStructs> Load();

  std::optional<size_t> Offset(std::string_view type, std::string_view field) const;
  // Uses the first spelling that exists, because fields are renamed between versions.
  std::optional<size_t> Offset(std::string_view type, std::initializer_list<std::string_view> fields) const;
  void* Static(std::string_view type, std::string_view field) const;
  std::optional<size_t> SizeOf(std::string_view type) const;
  std::optional<int64_t> IntConstant(std::string_view name) const;
  std::optional<int64_t> IntConstant(std::initializer_list<std::string_view> names) const;
  std::optional<int64_t> LongConstant(std::string_view name) const;
  // A boolean -XX flag of this JVM; nullopt if it has no such flag.
  std::optional<bool> BoolFlag(std::string_view name) const;
  // A flag of type ccstr; empty if it is not set.
  std::optional<std::string_view> TextFlag(std::string_view name) const;
  // A flag of type int or intx.
  std::optional<int64_t> IntFlag(std::string_view name) const;
  // A flag of type size_t, uintx or uint64_t.
  std::optional<uint64_t> SizeFlag(std::string_view name) const;

  // A flag of any type.
  struct Flag {
    enum class Type : uint8_t { kOther, kBool, kInt32, kUint32, kInt64, kUint64, kDouble, kText };
    using Origin = format::Setting::Origin;
    Type type = Type::kOther;
    Origin origin = Origin::kUnknown;  // kChosen: by the JVM, for this machine
    const char* value = nullptr;       // its address
  };
  std::optional<Flag> FlagNamed(std::string_view name) const;

 private:
  const char* FlagEntry(std::string_view name) const;    // null if there is no such flag
  const char* FlagAddress(std::string_view name) const;  // of its value; null if there is no such flag
  const char* FindField(std::string_view type, std::string_view field, bool is_static) const;

  struct Table {
    const char* entries = nullptr;
    uint64_t stride = 0;
    uint64_t name = 0, value = 0;  // offsets in an entry; for a field: of its name, and of its offset
  };
  static const char* Find(const Table& table, std::string_view name);  // returns the value; null: no such entry

  Table fields_, types_, ints_, longs_;
  uint64_t field_type_ = 0, field_is_static_ = 0, field_address_ = 0;  // offsets in an entry of fields_
};

// Collects fields, and stores the name of the first missing one.
class NeededFields {
 public:
  using Names = std::initializer_list<std::string_view>;

  explicit NeededFields(const VmStructs& structs) : structs_(structs) {}

  size_t At(std::string_view type, std::string_view field) { return At({type}, {field}); }
  // Uses the first name that exists, because types and fields are renamed between versions.
  size_t At(Names types, Names fields);
  size_t Size(std::string_view type) { return Need(type, "size", structs_.SizeOf(type)); }
  const void* Static(std::string_view type, std::string_view field);
  int64_t IntConstant(std::string_view type, Names names);  // `type` is only used in `missing`
  const std::string& missing() const { return missing_; }   // "Method::_constMethod"; empty: none

 private:
  template <typename T>
  T Need(std::string_view type, std::string_view field, std::optional<T> value) {
    if (!value && missing_.empty()) missing_.append(type).append("::").append(field);
    return value.value_or(T{});
  }

  const VmStructs& structs_;
  std::string missing_;
};

// Returns the JDK: 8, 11, 17, ... Returns an Error if neither the JVM's properties nor its tables have it. If `jvmti`
// is null, only the tables are used. Works in any JVMTI phase from Agent_OnLoad on.
Result<int> JdkMajorVersion(jvmtiEnv* jvmti, const VmStructs& structs);

}  // namespace heaprec::hotspot
