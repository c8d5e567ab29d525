#include "recorder/hotspot/libjvm/vm_structs.h"

#include <dlfcn.h>

#include <charconv>
#include <cstring>

#include "recorder/hotspot/libjvm/libjvm.h"

namespace heaprec::hotspot {
namespace {

template <typename T>
T At(const char* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

bool Equal(const char* text, std::string_view wanted) { return text != nullptr && wanted == text; }

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

// "1.8" is 8, "17" and "17.0.2" are 17; 0 if it is neither.
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
  out.fields_ = {exports.Read<const char*>("gHotSpotVMStructs"),
                 exports.Read<uint64_t>("gHotSpotVMStructEntryArrayStride")};
  out.field_type_ = exports.Read<uint64_t>("gHotSpotVMStructEntryTypeNameOffset");
  out.field_name_ = exports.Read<uint64_t>("gHotSpotVMStructEntryFieldNameOffset");
  out.field_is_static_ = exports.Read<uint64_t>("gHotSpotVMStructEntryIsStaticOffset");
  out.field_offset_ = exports.Read<uint64_t>("gHotSpotVMStructEntryOffsetOffset");
  out.field_address_ = exports.Read<uint64_t>("gHotSpotVMStructEntryAddressOffset");
  out.types_ = {exports.Read<const char*>("gHotSpotVMTypes"), exports.Read<uint64_t>("gHotSpotVMTypeEntryArrayStride")};
  out.type_name_ = exports.Read<uint64_t>("gHotSpotVMTypeEntryTypeNameOffset");
  out.type_size_ = exports.Read<uint64_t>("gHotSpotVMTypeEntrySizeOffset");
  out.ints_ = {exports.Read<const char*>("gHotSpotVMIntConstants"),
               exports.Read<uint64_t>("gHotSpotVMIntConstantEntryArrayStride")};
  out.int_name_ = exports.Read<uint64_t>("gHotSpotVMIntConstantEntryNameOffset");
  out.int_value_ = exports.Read<uint64_t>("gHotSpotVMIntConstantEntryValueOffset");
  out.longs_ = {exports.Read<const char*>("gHotSpotVMLongConstants"),
                exports.Read<uint64_t>("gHotSpotVMLongConstantEntryArrayStride")};
  out.long_name_ = exports.Read<uint64_t>("gHotSpotVMLongConstantEntryNameOffset");
  out.long_value_ = exports.Read<uint64_t>("gHotSpotVMLongConstantEntryValueOffset");
  dlclose(library);  // the JVM keeps its own reference
  if (exports.missing() != nullptr) return Error{libjvm->path + ": does not export " + exports.missing()};
  for (const Table& table : {out.fields_, out.types_, out.ints_, out.longs_})
    if (table.entries == nullptr || table.stride == 0) return Error{libjvm->path + ": its tables are empty"};
  return out;
}

const char* VmStructs::FindField(std::string_view type, std::string_view field, bool is_static) const {
  if (fields_.entries == nullptr) return nullptr;
  for (const char* entry = fields_.entries; At<const char*>(entry + field_type_) != nullptr; entry += fields_.stride) {
    if (Equal(At<const char*>(entry + field_name_), field) && Equal(At<const char*>(entry + field_type_), type) &&
        (At<int32_t>(entry + field_is_static_) != 0) == is_static)
      return entry;
  }
  return nullptr;
}

std::optional<size_t> VmStructs::Offset(std::string_view type, std::string_view field) const {
  const char* const entry = FindField(type, field, false);
  if (entry == nullptr) return std::nullopt;
  return At<uint64_t>(entry + field_offset_);
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

std::optional<size_t> VmStructs::SizeOf(std::string_view type) const {
  if (types_.entries == nullptr) return std::nullopt;
  for (const char* entry = types_.entries; At<const char*>(entry + type_name_) != nullptr; entry += types_.stride)
    if (Equal(At<const char*>(entry + type_name_), type)) return At<uint64_t>(entry + type_size_);
  return std::nullopt;
}

std::optional<int64_t> VmStructs::IntConstant(std::string_view name) const {
  if (ints_.entries == nullptr) return std::nullopt;
  for (const char* entry = ints_.entries; At<const char*>(entry + int_name_) != nullptr; entry += ints_.stride)
    if (Equal(At<const char*>(entry + int_name_), name)) return At<int32_t>(entry + int_value_);
  return std::nullopt;
}

std::optional<int64_t> VmStructs::IntConstant(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names)
    if (const auto value = IntConstant(name)) return value;
  return std::nullopt;
}

std::optional<int64_t> VmStructs::LongConstant(std::string_view name) const {
  if (longs_.entries == nullptr) return std::nullopt;
  for (const char* entry = longs_.entries; At<const char*>(entry + long_name_) != nullptr; entry += longs_.stride)
    if (Equal(At<const char*>(entry + long_name_), name)) return At<int64_t>(entry + long_value_);
  return std::nullopt;
}

const char* VmStructs::FlagAddress(std::string_view name) const {
  const char* const flags_variable = static_cast<const char*>(Static("JVMFlag", "flags"));
  const char* const count_variable = static_cast<const char*>(Static("JVMFlag", "numFlags"));
  const auto size = SizeOf("JVMFlag");
  const auto name_offset = Offset("JVMFlag", "_name");
  const auto address_offset = Offset("JVMFlag", "_addr");
  if (flags_variable == nullptr || count_variable == nullptr || !size || !name_offset || !address_offset)
    return nullptr;
  const char* flag = At<const char*>(flags_variable);
  for (auto left = At<uint64_t>(count_variable); flag != nullptr && left > 0; --left, flag += *size) {
    if (Equal(At<const char*>(flag + *name_offset), name)) return At<const char*>(flag + *address_offset);
  }
  return nullptr;
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

// An int stands in the lower half of a word; no flag of ours is negative.
std::optional<int64_t> VmStructs::IntFlag(std::string_view name) const {
  const char* const address = FlagAddress(name);
  return address != nullptr ? std::optional<int64_t>(At<int32_t>(address)) : std::nullopt;
}

Result<int> JdkMajorVersion(jvmtiEnv* jvmti, const VmStructs& structs) {
  // The VM's own property: there since before Agent_OnLoad, while java.specification.version comes with java.base.
  char* value = nullptr;
  if (jvmti != nullptr && jvmti->GetSystemProperty("java.vm.specification.version", &value) == JVMTI_ERROR_NONE) {
    const int major = ParseMajor(value != nullptr ? value : "");
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(value));
    if (major > 0) return major;
  }
  // On 8 this table says 25, the version HotSpot then counted by itself; 25's own table no longer has JDK_Version.
  const void* const major = structs.Static("Abstract_VM_Version", "_vm_major_version");
  if (major == nullptr) return Error{"libjvm.so does not report its version"};
  int version = 0;
  std::memcpy(&version, major, sizeof version);
  if (version == 25 && structs.Static("JDK_Version", "_current") != nullptr) version = 8;
  return version;
}

}  // namespace heaprec::hotspot
