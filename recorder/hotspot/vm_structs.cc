#include "recorder/hotspot/vm_structs.h"

#include <dlfcn.h>

#include <charconv>
#include <cstring>
#include <iterator>

#include "recorder/hotspot/jvmti_memory.h"
#include "recorder/hotspot/libjvm.h"

namespace heaprec::hotspot {
namespace {

template <typename T>
T At(const char* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

bool Equal(const char* text, std::string_view wanted) { return text != nullptr && wanted == text; }

using FlagType = VmStructs::Flag::Type;

// In the order of JVMFlag's types, from 17 on.
constexpr struct {
  std::string_view name;
  FlagType type;
} kFlagTypes[] = {{"bool", FlagType::kBool},     {"int", FlagType::kInt32},     {"uint", FlagType::kUint32},
                  {"intx", FlagType::kInt64},    {"uintx", FlagType::kUint64},  {"uint64_t", FlagType::kUint64},
                  {"size_t", FlagType::kUint64}, {"double", FlagType::kDouble}, {"ccstr", FlagType::kText},
                  {"ccstrlist", FlagType::kText}};

// Reads exported variables; remembers the first one that is missing.
class Exports {
 public:
  explicit Exports(void* library) : library_(library) {}

  template <typename T>
  T Read(const char* name) {
    const void* const address = dlsym(library_, name);
    if (address == nullptr) {
      if (missing_ == nullptr) missing_ = name;
      return T{};
    }
    return At<T>(static_cast<const char*>(address));
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

// Returns 8 for "1.8", 17 for "17" and "17.0.2", and 0 for other text.
int ParseMajor(std::string_view text) {
  if (text.substr(0, 2) == "1.") text.remove_prefix(2);
  int major = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), major);
  const bool whole = end == text.data() + text.size() || *end == '.';
  return error == std::errc() && whole ? major : 0;
}

}  // namespace

Result<VmStructs> VmStructs::Load() {
  const auto libjvm = LibJvm::Locate();
  if (!libjvm) return libjvm.error();
  void* const library = dlopen(libjvm->path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return Error{libjvm->path + ": dlopen does not find it loaded"};
  Exports exports(library);
  VmStructs out;
  const auto table = [&exports](const char* entries, const char* stride, const char* name, const char* value) {
    return Table{exports.Read<const char*>(entries), exports.Read<uint64_t>(stride), exports.Read<uint64_t>(name),
                 exports.Read<uint64_t>(value)};
  };
  out.fields_ = table("gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", "gHotSpotVMStructEntryFieldNameOffset",
                      "gHotSpotVMStructEntryOffsetOffset");
  out.field_type_ = exports.Read<uint64_t>("gHotSpotVMStructEntryTypeNameOffset");
  out.field_is_static_ = exports.Read<uint64_t>("gHotSpotVMStructEntryIsStaticOffset");
  out.field_address_ = exports.Read<uint64_t>("gHotSpotVMStructEntryAddressOffset");
  out.types_ = table("gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", "gHotSpotVMTypeEntryTypeNameOffset",
                     "gHotSpotVMTypeEntrySizeOffset");
  out.ints_ = table("gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
                    "gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset");
  out.longs_ = table("gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
                     "gHotSpotVMLongConstantEntryNameOffset", "gHotSpotVMLongConstantEntryValueOffset");
  dlclose(library);  // the JVM has its own reference
  if (exports.missing() != nullptr) return Error{libjvm->path + ": does not export " + exports.missing()};
  for (const Table& table : {out.fields_, out.types_, out.ints_, out.longs_})
    if (table.entries == nullptr || table.stride == 0) return Error{libjvm->path + ": its tables are empty"};
  return out;
}

const char* VmStructs::FindField(std::string_view type, std::string_view field, bool is_static) const {
  if (fields_.entries == nullptr) return nullptr;
  for (const char* entry = fields_.entries; At<const char*>(entry + field_type_) != nullptr; entry += fields_.stride) {
    if (Equal(At<const char*>(entry + fields_.name), field) && Equal(At<const char*>(entry + field_type_), type) &&
        (At<int32_t>(entry + field_is_static_) != 0) == is_static)
      return entry;
  }
  return nullptr;
}

std::optional<size_t> VmStructs::Offset(std::string_view type, std::string_view field) const {
  const char* const entry = FindField(type, field, false);
  if (entry == nullptr) return std::nullopt;
  return At<uint64_t>(entry + fields_.value);
}

std::optional<size_t> VmStructs::Offset(std::string_view type, std::initializer_list<std::string_view> fields) const {
  for (const std::string_view field : fields)
    if (const auto offset = Offset(type, field)) return offset;
  return std::nullopt;
}

void* VmStructs::Static(std::string_view type, std::string_view field) const {
  const char* const entry = FindField(type, field, true);
  return entry != nullptr ? At<void*>(entry + field_address_) : nullptr;
}

const char* VmStructs::Find(const Table& table, std::string_view name) {
  if (table.entries == nullptr) return nullptr;
  for (const char* entry = table.entries; At<const char*>(entry + table.name) != nullptr; entry += table.stride)
    if (Equal(At<const char*>(entry + table.name), name)) return entry + table.value;
  return nullptr;
}

std::optional<size_t> VmStructs::SizeOf(std::string_view type) const {
  const char* const size = Find(types_, type);
  return size != nullptr ? std::optional<size_t>(At<uint64_t>(size)) : std::nullopt;
}

std::optional<int64_t> VmStructs::IntConstant(std::string_view name) const {
  const char* const value = Find(ints_, name);
  return value != nullptr ? std::optional<int64_t>(At<int32_t>(value)) : std::nullopt;
}

std::optional<int64_t> VmStructs::IntConstant(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names)
    if (const auto value = IntConstant(name)) return value;
  return std::nullopt;
}

std::optional<int64_t> VmStructs::LongConstant(std::string_view name) const {
  const char* const value = Find(longs_, name);
  return value != nullptr ? std::optional<int64_t>(At<int64_t>(value)) : std::nullopt;
}

const char* VmStructs::FlagEntry(std::string_view name) const {
  const char* const flags_variable = static_cast<const char*>(Static("JVMFlag", "flags"));
  const char* const count_variable = static_cast<const char*>(Static("JVMFlag", "numFlags"));
  const auto size = SizeOf("JVMFlag");
  const auto name_offset = Offset("JVMFlag", "_name");
  if (flags_variable == nullptr || count_variable == nullptr || !size || !name_offset) return nullptr;
  const char* flag = At<const char*>(flags_variable);
  for (auto left = At<uint64_t>(count_variable); flag != nullptr && left > 0; --left, flag += *size) {
    if (Equal(At<const char*>(flag + *name_offset), name)) return flag;
  }
  return nullptr;
}

const char* VmStructs::FlagAddress(std::string_view name) const {
  const char* const flag = FlagEntry(name);
  const auto address_offset = Offset("JVMFlag", "_addr");
  return flag != nullptr && address_offset ? At<const char*>(flag + *address_offset) : nullptr;
}

std::optional<VmStructs::Flag> VmStructs::FlagNamed(std::string_view name) const {
  const char* const entry = FlagEntry(name);
  const auto type = Offset("JVMFlag", "_type");
  const auto flags = Offset("JVMFlag", "_flags");
  Flag flag;
  flag.value = FlagAddress(name);
  if (entry == nullptr || flag.value == nullptr || !type || !flags) return std::nullopt;
  // The first field of 11's flags, where it is the name of the type; later a number.
  if (*type == 0) {
    const char* const text = At<const char*>(entry);
    for (size_t i = 0; i < std::size(kFlagTypes); ++i)
      if (Equal(text, kFlagTypes[i].name)) flag.type = kFlagTypes[i].type;
  } else {
    const auto number = At<uint32_t>(entry + *type);
    if (number < std::size(kFlagTypes)) flag.type = kFlagTypes[number].type;
  }
  // JVMFlagOrigin: default; command line, environment, file, management; ergonomic; attach.
  constexpr uint32_t kOriginMask = 15, kChosenByJvm = 5, kLastOrigin = 6;
  const uint32_t origin = At<uint32_t>(entry + *flags) & kOriginMask;
  if (origin <= kLastOrigin) {
    flag.origin = origin == 0              ? Flag::Origin::kDefault
                  : origin == kChosenByJvm ? Flag::Origin::kChosen
                                           : Flag::Origin::kSet;
  }
  return flag;
}

std::optional<bool> VmStructs::BoolFlag(std::string_view name) const {
  const char* const address = FlagAddress(name);
  return address != nullptr ? std::optional<bool>(*address != 0) : std::nullopt;
}

std::optional<std::string_view> VmStructs::TextFlag(std::string_view name) const {
  const char* const address = FlagAddress(name);
  if (address == nullptr) return std::nullopt;
  const char* const text = At<const char*>(address);
  return text != nullptr ? std::string_view(text) : std::string_view();
}

// An int is in the lower half of a word; the flags used here are never negative.
std::optional<int64_t> VmStructs::IntFlag(std::string_view name) const {
  const char* const address = FlagAddress(name);
  return address != nullptr ? std::optional<int64_t>(At<int32_t>(address)) : std::nullopt;
}

std::optional<uint64_t> VmStructs::SizeFlag(std::string_view name) const {
  const char* const address = FlagAddress(name);
  return address != nullptr ? std::optional<uint64_t>(At<uint64_t>(address)) : std::nullopt;
}

size_t NeededFields::At(Names types, Names fields) {
  std::optional<size_t> offset;
  for (const std::string_view type : types)
    if (!offset) offset = structs_.Offset(type, fields);
  return Need(*types.begin(), *fields.begin(), offset);
}

const void* NeededFields::Static(std::string_view type, std::string_view field) {
  const void* const address = structs_.Static(type, field);
  return Need(type, field, address != nullptr ? std::optional(address) : std::nullopt);
}

int64_t NeededFields::IntConstant(std::string_view type, Names names) {
  return Need(type, *names.begin(), structs_.IntConstant(names));
}

Result<int> JdkMajorVersion(jvmtiEnv* jvmti, const VmStructs& structs) {
  // The VM's own property. It exists before Agent_OnLoad; java.specification.version is set later, by java.base.
  if (jvmti != nullptr) {
    JvmtiText value(jvmti);
    jvmti->GetSystemProperty("java.vm.specification.version", value.out());
    if (const int major = ParseMajor(value.c_str()); major > 0) return major;
  }
  // On 8 this table has 25, because HotSpot then had its own version numbers; the table of 25 no longer has
  // JDK_Version.
  const void* const major = structs.Static("Abstract_VM_Version", "_vm_major_version");
  if (major == nullptr) return Error{"libjvm.so does not report its version"};
  int version = 0;
  std::memcpy(&version, major, sizeof version);
  if (version == 25 && structs.Static("JDK_Version", "_current") != nullptr) version = 8;
  return version;
}

}  // namespace heaprec::hotspot
