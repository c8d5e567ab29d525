#include "tools/export/flame/frame_kind.h"

#include <algorithm>
#include <array>

namespace heaprec::tools {
namespace {

// Packages of the JDK's own modules, and what HotSpot makes itself. com.sun and org.* have neighbours that are not.
constexpr std::array<std::string_view, 14> kJdkPrefixes{"java.",
                                                        "javax.",
                                                        "jdk.",
                                                        "sun.",
                                                        "com.sun.",
                                                        "com.oracle.",
                                                        "netscape.javascript.",
                                                        "org.ietf.jgss.",
                                                        "org.jcp.xml.",
                                                        "org.w3c.dom.",
                                                        "org.xml.sax.",
                                                        "apple.",
                                                        "toolbarButtonGraphics.",
                                                        "oracle.jrockit."};

// Without the line, which may be the only colon.
std::string_view WithoutLine(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == ':' ? name.substr(0, digits)
                                                                                             : name;
}

}  // namespace

FrameKind KindOfFrame(std::string_view name) {
  if (name.starts_with('[')) return FrameKind::kTruncated;
  const bool jdk = std::any_of(kJdkPrefixes.begin(), kJdkPrefixes.end(),
                               [name](std::string_view prefix) { return name.starts_with(prefix); });
  return jdk ? FrameKind::kJdk : FrameKind::kApplication;
}

uint8_t HueOfFrame(std::string_view name) {
  std::string_view package = WithoutLine(name);
  for (int part = 0; part < 2; ++part) package = package.substr(0, std::min(package.rfind('.'), package.size()));
  uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : package) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  return static_cast<uint8_t>(hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24);
}

std::string_view ShortName(const FlameName& name, bool shortest) {
  const std::string_view path = WithoutLine(name.text);
  size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return name.text;
  if (!shortest && name.kind != FrameKind::kClass) {
    const size_t before = dot > 0 ? path.rfind('.', dot - 1) : std::string_view::npos;
    if (before == std::string_view::npos) return name.text;
    dot = before;
  }
  return std::string_view(name.text).substr(dot + 1);
}

}  // namespace heaprec::tools
