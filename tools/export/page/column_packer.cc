#include "tools/export/page/column_packer.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <cstdint>
#include <utility>

#include "tools/render/renderers.h"

namespace heaprec::tools {
namespace {

constexpr int kLevel = 9;

std::string Deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(),
            kLevel);
  packed.resize(size);
  return packed;
}

std::string Base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace

void ColumnPacker::AddPlanes(const char* bytes, size_t count, size_t width) {
  planes_.reserve(planes_.size() + count * width);
  for (size_t plane = 0; plane < width; ++plane) {
    for (size_t i = 0; i < count; ++i) planes_.push_back(bytes[i * width + plane]);
  }
}

std::string ColumnPacker::Pack(render::Object header) const {
  header.push_back({"columns", layout_});
  const std::string json = render::JsonText(std::move(header));
  std::string all;
  for (size_t byte = 0; byte < sizeof(uint32_t); ++byte) all.push_back(static_cast<char>(json.size() >> (8 * byte)));
  return Base64(Deflated(all + json + planes_));
}

}  // namespace heaprec::tools
