#include "tools/export/page/report_html.h"

#include <openssl/evp.h>

#include <array>

#include "tools/export/page/page_source.h"
#include "tools/text/markup.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// As a Content-Security-Policy names a script or a style: only this one is used.
std::string Sha256Base64(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> base64{};
  EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(size));
  return reinterpret_cast<const char*>(base64.data());
}

std::string Policy() {
  const auto hash = [](std::string_view text) { return " 'sha256-" + Sha256Base64(text) + "'"; };
  return "default-src 'none'; script-src" + hash(kDygraphScript) + hash(kReportScript) + "; style-src" +
         hash(kReportStyle) + "; img-src data: blob:; base-uri 'none'; form-action 'none'";
}

void AppendMark(std::string_view mark, const ReportPage& page, Text& into) {
  if (mark == "POLICY") {
    Append(into, std::string_view(Policy()));
  } else if (mark == "TITLE") {
    AppendMarkup(into, page.title);
  } else if (mark == "STYLE") {
    Append(into, kReportStyle);
  } else if (mark == "LIBRARY") {
    Append(into, kDygraphScript);
  } else if (mark == "SCRIPT") {
    Append(into, kReportScript);
  } else if (mark == "DATA") {
    Append(into, std::string_view(page.data));
  } else if (mark == "OTHER") {
    Append(into, std::string_view(page.other_data));
  }
}

}  // namespace

std::string ReportHtml(const ReportPage& page) {
  Text into;
  std::string_view rest = kReportHtml;
  while (!rest.empty()) {
    // A mark is @NAME@.
    const size_t begin = rest.find('@');
    Append(into, rest.substr(0, begin));
    if (begin == std::string_view::npos) break;
    const size_t end = rest.find('@', begin + 1);
    AppendMark(rest.substr(begin + 1, end - begin - 1), page, into);
    rest.remove_prefix(end + 1);
  }
  return fmt::to_string(into);
}

}  // namespace heaprec::tools
