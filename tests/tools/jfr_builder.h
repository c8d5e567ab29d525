// JFR files by hand, of any layout: what other writers may do, and what no writer does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heaprec::tools::testing {

// Bytes as a file with or without compressed integers has them.
class JfrBytes {
 public:
  explicit JfrBytes(bool compressed) : compressed_(compressed) {}

  JfrBytes& Byte(uint8_t value) {
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  JfrBytes& Short(int16_t value) {
    return compressed_ ? Varint(static_cast<uint16_t>(value)) : Fixed(static_cast<uint16_t>(value), 2);
  }
  JfrBytes& Int(int32_t value) {
    return compressed_ ? Varint(static_cast<uint32_t>(value)) : Fixed(static_cast<uint32_t>(value), 4);
  }
  JfrBytes& Long(int64_t value) {
    return compressed_ ? Varint(static_cast<uint64_t>(value)) : Fixed(static_cast<uint64_t>(value), 8);
  }
  JfrBytes& Fixed(uint64_t value, int bytes) {
    for (int shift = 8 * bytes - 8; shift >= 0; shift -= 8) Byte(static_cast<uint8_t>(value >> shift));
    return *this;
  }
  JfrBytes& Utf8(std::string_view text) {
    Byte(3).Int(static_cast<int32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  JfrBytes& Latin1(std::string_view text) {
    Byte(5).Int(static_cast<int32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  JfrBytes& Chars(std::u16string_view text) {
    Byte(4).Int(static_cast<int32_t>(text.size()));
    for (const char16_t unit : text) Short(static_cast<int16_t>(unit));
    return *this;
  }
  JfrBytes& Raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  JfrBytes& Varint(uint64_t value) {
    int count = 1;
    for (; value >= 0x80 && count < 9; value >>= 7, ++count) Byte(static_cast<uint8_t>(value | 0x80));
    return Byte(static_cast<uint8_t>(value));
  }
  const bool compressed_;
  std::string bytes_;
};

struct JfrField {
  std::string name;
  int type;
  bool pooled = false, array = false;
};
struct JfrType {
  int id;
  std::string name;
  std::vector<JfrField> fields{};
  bool event = false;
};

class JfrBuilder {
 public:
  JfrBuilder(std::vector<JfrType> types, bool compressed) : types_(std::move(types)), compressed_(compressed) {}

  JfrBytes Bytes() const { return JfrBytes(compressed_); }
  JfrBuilder& Event(int type, const JfrBytes& fields) {
    events_ += Sized(Bytes().Long(type).Raw(fields.bytes()));
    return *this;
  }
  // `constants`: of one pool: type, then count times key and fields.
  JfrBuilder& Constants(int type, int count, const JfrBytes& constants) {
    return Event(1, Bytes().Long(0).Long(0).Long(0).Byte(0).Int(1).Long(type).Int(count).Raw(constants.bytes()));
  }

  int64_t ticks_per_second = 1'000'000'000;
  int64_t start_ns = 1'700'000'000'000'000'000, start_ticks = 5000, duration_ns = 1'000'000'000;
  uint8_t state = 0;  // 0: finished

  std::string File() const {
    const std::string metadata = Metadata();
    const uint64_t size = 68 + events_.size() + metadata.size();
    JfrBytes header(/*compressed=*/false);
    header.Raw(std::string_view("FLR\0", 4)).Fixed(2, 2).Fixed(0, 2).Fixed(size, 8).Fixed(0, 8);
    header.Fixed(68 + events_.size(), 8).Long(start_ns).Long(duration_ns).Long(start_ticks).Long(ticks_per_second);
    header.Byte(state).Fixed(compressed_ ? 1 : 0, 3);
    return header.bytes() + events_ + metadata;
  }

 private:
  // A size of four bytes, whatever it is, as HotSpot writes it.
  std::string Sized(const JfrBytes& rest) const {
    const uint64_t size = rest.bytes().size() + 4;
    if (!compressed_) return JfrBytes(false).Fixed(size, 4).bytes() + rest.bytes();
    JfrBytes padded(true);
    for (int shift = 0; shift < 28; shift += 7)
      padded.Byte(static_cast<uint8_t>((size >> shift & 0x7f) | (shift < 21 ? 0x80 : 0)));
    return padded.bytes() + rest.bytes();
  }

  std::string Metadata() const {
    std::vector<std::string> texts;
    JfrBytes tree = Bytes();
    const auto text = [&](const std::string& of) {
      texts.push_back(of);
      tree.Int(static_cast<int32_t>(texts.size()) - 1);
    };
    const auto attributes = [&](const std::vector<std::pair<std::string, std::string>>& all) {
      tree.Int(static_cast<int32_t>(all.size()));
      for (const auto& [name, value] : all) text(name), text(value);
    };
    text("root"), attributes({}), tree.Int(1);
    text("metadata"), attributes({}), tree.Int(static_cast<int32_t>(types_.size()));
    for (const JfrType& type : types_) {
      text("class");
      attributes(
          {{"name", type.name}, {"id", std::to_string(type.id)}, {"superType", type.event ? "jdk.jfr.Event" : ""}});
      tree.Int(static_cast<int32_t>(type.fields.size()));
      for (const JfrField& field : type.fields) {
        text("field");
        std::vector<std::pair<std::string, std::string>> all{{"class", std::to_string(field.type)},
                                                             {"name", field.name}};
        if (field.pooled) all.emplace_back("constantPool", "true");
        if (field.array) all.emplace_back("dimension", "1");
        attributes(all);
        tree.Int(0);
      }
    }
    JfrBytes event = Bytes().Long(0).Long(0).Long(0).Long(7).Int(static_cast<int32_t>(texts.size()));
    for (const std::string& one : texts) event.Utf8(one);
    return Sized(event.Raw(tree.bytes()));
  }

  const std::vector<JfrType> types_;
  const bool compressed_;
  std::string events_;
};

}  // namespace heaprec::tools::testing
