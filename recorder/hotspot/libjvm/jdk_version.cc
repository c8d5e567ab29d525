#include "recorder/hotspot/libjvm/jdk_version.h"

#include <charconv>
#include <cstring>
#include <string_view>

namespace heaprec::hotspot {
namespace {

// "1.8" is 8, "17" and "17.0.2" are 17; 0 if it is neither.
int ParseMajor(std::string_view text) {
  if (text.substr(0, 2) == "1.") text.remove_prefix(2);
  int major = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), major);
  const bool whole = end == text.data() + text.size() || *end == '.';
  return error == std::errc() && whole ? major : 0;
}

}  // namespace

format::Result<int> JdkMajorVersion(jvmtiEnv* jvmti, const VmStructs& structs) {
  // The VM's own property: there since before Agent_OnLoad, while java.specification.version comes with java.base.
  char* value = nullptr;
  if (jvmti != nullptr && jvmti->GetSystemProperty("java.vm.specification.version", &value) == JVMTI_ERROR_NONE) {
    const int major = ParseMajor(value != nullptr ? value : "");
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(value));
    if (major > 0) return major;
  }
  // On 8 this table says 25, the version HotSpot then counted by itself; 25's own table no longer has JDK_Version.
  const void* const major = structs.Static("Abstract_VM_Version", "_vm_major_version");
  if (major == nullptr) return format::Error{"libjvm.so does not report its version"};
  int version = 0;
  std::memcpy(&version, major, sizeof version);
  if (version == 25 && structs.Static("JDK_Version", "_current") != nullptr) version = 8;
  return version;
}

}  // namespace heaprec::hotspot
