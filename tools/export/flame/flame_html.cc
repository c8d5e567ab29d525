#include "tools/export/flame/flame_html.h"

#include <openssl/evp.h>

#include <array>

#include "tools/export/flame/page_parts.h"
#include "tools/text/markup.h"

namespace heaprec::tools {
namespace {

// As a Content-Security-Policy names a script: only this one may run.
std::string Sha256Base64(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> base64{};
  EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(size));
  return reinterpret_cast<const char*>(base64.data());
}

}  // namespace

void AppendFlamePage(const FlameGraph& graph, Text& into) {
  std::string_view page = kPageHtml;
  while (!page.empty()) {
    // A mark is @NAME@.
    const size_t begin = page.find('@');
    Append(into, page.substr(0, begin));
    if (begin == std::string_view::npos) return;
    const size_t end = page.find('@', begin + 1);
    const std::string_view mark = page.substr(begin + 1, end - begin - 1);
    page.remove_prefix(end + 1);
    if (mark == "HASH") {
      Append(into, std::string_view(Sha256Base64(kPageScript)));
    } else if (mark == "TITLE") {
      AppendMarkup(into, graph.title);
    } else if (mark == "STYLE") {
      Append(into, kPageStyle);
    } else if (mark == "SCRIPT") {
      Append(into, kPageScript);
    } else if (mark == "DATA") {
      AppendFlameData(graph, into);
    }
  }
}

}  // namespace heaprec::tools
