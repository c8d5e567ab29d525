#include "tools/import/jfr/metadata.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace heaprec::tools::jfr {
namespace {

// Far above the JDK's values (20,000 elements, 5 levels), and low enough to be fast.
constexpr size_t kMaxElements = 1 << 20;
constexpr int kMaxLevels = 16;
constexpr uint64_t kMaxParts = 10'000;

constexpr std::pair<std::string_view, Primitive> kPrimitives[] = {
    {"boolean", Primitive::kBoolean}, {"byte", Primitive::kByte},     {"short", Primitive::kShort},
    {"char", Primitive::kChar},       {"int", Primitive::kInt},       {"long", Primitive::kLong},
    {"float", Primitive::kFloat},     {"double", Primitive::kDouble}, {"java.lang.String", Primitive::kString}};

int64_t NumberIn(std::string_view text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

// Whether its values take no bytes, after fields without bytes have been removed.
bool IsEmpty(const Type& type) { return type.primitive == Primitive::kNone && type.fields.empty(); }

// Counts the parts of a value of the type. Removes fields that take no bytes, so that reading a value takes time only
// for bytes. Returns false if there are too many parts; a type that contains itself has no limit.
bool Complete(Type* type, int level) {
  if (type->parts > 0) return type->parts <= kMaxParts;
  type->parts = kMaxParts + 1;  // seen if it contains itself
  uint64_t parts = 1;
  if (level > kMaxLevels) return false;
  for (const Field& field : type->fields) {
    if (!field.pooled && !Complete(field.type, level + 1)) return false;
    parts += field.pooled ? 1 : field.type->parts;
  }
  type->parts = parts;
  std::erase_if(type->fields, [](const Field& field) { return !field.pooled && !field.array && IsEmpty(*field.type); });
  return parts <= kMaxParts;
}

enum class Encoding : uint8_t { kNull = 0, kEmpty = 1, kConstant = 2, kUtf8 = 3, kChars = 4, kLatin1 = 5 };

// Appends one UTF-16 unit as modified UTF-8: zero in two bytes, each half of a pair in three.
void AppendUnit(uint16_t unit, std::string* into) {
  if (unit != 0 && unit < 0x80) {
    into->push_back(static_cast<char>(unit));
  } else if (unit < 0x800) {
    into->push_back(static_cast<char>(0xc0 | unit >> 6));
    into->push_back(static_cast<char>(0x80 | (unit & 0x3f)));
  } else {
    into->push_back(static_cast<char>(0xe0 | unit >> 12));
    into->push_back(static_cast<char>(0x80 | (unit >> 6 & 0x3f)));
    into->push_back(static_cast<char>(0x80 | (unit & 0x3f)));
  }
}

size_t ReadSize(Cursor* at) {
  const int32_t size = at->Int();
  if (size >= 0 && static_cast<size_t>(size) <= at->left()) return static_cast<size_t>(size);
  at->Fail();
  return 0;
}

// A zero byte would end the name of a thread.
std::string WithoutZeros(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) byte == 0 ? AppendUnit(0, &text) : text.push_back(byte);
  return text;
}

}  // namespace

struct Metadata::Element {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> attributes{};
  std::vector<Element> children{};

  std::string_view Attribute(std::string_view of) const {
    const auto found = std::ranges::find(attributes, of, &std::pair<std::string_view, std::string_view>::first);
    return found == attributes.end() ? std::string_view() : found->second;
  }
};

Metadata::Element Metadata::ReadElement(int level, size_t* elements, Cursor* at) const {
  const auto text = [&]() -> std::string_view {
    const int32_t index = at->Int();
    if (index >= 0 && static_cast<size_t>(index) < texts_.size()) return texts_[static_cast<size_t>(index)];
    at->Fail();
    return {};
  };
  if (level > kMaxLevels || ++*elements > kMaxElements) at->Fail();
  Element element{text()};
  for (int32_t left = at->Int(); left > 0 && at->ok(); --left) {
    const std::string_view name = text();
    element.attributes.emplace_back(name, text());
  }
  for (int32_t left = at->Int(); left > 0 && at->ok(); --left) {
    element.children.push_back(ReadElement(level + 1, elements, at));
  }
  return element;
}

Result<Metadata> Metadata::Parse(Cursor at) {
  Metadata metadata;
  at.Long();  // start
  at.Long();  // duration
  metadata.id_ = at.Long();
  const int32_t texts = at.Int();
  if (texts < 0 || static_cast<size_t>(texts) > at.left()) at.Fail();
  for (int32_t left = texts; left > 0 && at.ok(); --left) metadata.texts_.push_back(ReadText(&at).text);
  size_t elements = 0;
  const Element root = metadata.ReadElement(0, &elements, &at);
  if (!at.ok()) return Error{"the metadata cannot be read"};
  for (const Element& part : root.children) {
    if (part.name != "metadata") continue;
    for (const Element& type : part.children) metadata.Declare(type);
    for (const Element& type : part.children) {
      if (!metadata.Define(type)) return Error{"the metadata uses types that it does not define"};
    }
  }
  for (auto& [id, type] : metadata.types_) {
    if (!Complete(&type, 0)) return Error{"the metadata has recursive types"};
  }
  return metadata;
}

void Metadata::Declare(const Element& element) {
  if (element.name != "class") return;
  Type type{.id = NumberIn(element.Attribute("id")), .name = element.Attribute("name")};
  const auto primitive = std::ranges::find(kPrimitives, type.name, &std::pair<std::string_view, Primitive>::first);
  if (primitive != std::end(kPrimitives)) type.primitive = primitive->second;
  types_.try_emplace(type.id, std::move(type));
}

bool Metadata::Define(const Element& element) {
  if (element.name != "class") return true;
  Type& type = types_.at(NumberIn(element.Attribute("id")));
  // A primitive has no parts. If a type occurs twice, the first one is used.
  if (type.primitive != Primitive::kNone || !type.fields.empty()) return true;
  for (const Element& child : element.children) {
    if (child.name != "field") continue;
    const auto of = types_.find(NumberIn(child.Attribute("class")));
    if (of == types_.end()) return false;
    const bool array = NumberIn(child.Attribute("dimension")) > 0;
    type.fields.push_back({child.Attribute("name"), &of->second, child.Attribute("constantPool") == "true", array});
  }
  return true;
}

const Type* Metadata::WithId(int64_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? nullptr : &found->second;
}

const Type* Metadata::Named(std::string_view name) const {
  const auto found = std::ranges::find_if(types_, [name](const auto& type) { return type.second.name == name; });
  return found == types_.end() ? nullptr : &found->second;
}

void Skip(const Type& type, Cursor* at) {
  switch (type.primitive) {
    case Primitive::kNone:
      for (size_t i = 0; i < type.fields.size() && at->ok(); ++i) Skip(type.fields[i], at);
      return;
    case Primitive::kString:
      ReadText(at);
      return;
    default:
      ReadNumber(type, at);
  }
}

void Skip(const Field& field, Cursor* at) {
  const auto skip_one = [&] {
    if (field.pooled) {
      at->Long();
    } else {
      Skip(*field.type, at);
    }
  };
  if (!field.array) return skip_one();
  const int32_t count = at->Int();
  // Each element has at least one byte; otherwise the number of elements would be unlimited.
  if (count < 0 || static_cast<size_t>(count) > at->left()) return at->Fail();
  if (count > 0 && !field.pooled && IsEmpty(*field.type)) return at->Fail();
  for (int32_t left = count; left > 0 && at->ok(); --left) skip_one();
}

double ReadNumber(const Type& type, Cursor* at) {
  switch (type.primitive) {
    case Primitive::kFloat:
      return at->Float();
    case Primitive::kDouble:
      return at->Double();
    default:
      return static_cast<double>(ReadInteger(type, at));
  }
}

int64_t ReadInteger(const Type& type, Cursor* at) {
  switch (type.primitive) {
    case Primitive::kBoolean:
      return at->Byte() != 0 ? 1 : 0;
    case Primitive::kByte:
      return static_cast<int8_t>(at->Byte());
    case Primitive::kShort:
      return at->Short();
    case Primitive::kChar:
      return at->Char();
    case Primitive::kInt:
      return at->Int();
    case Primitive::kLong:
      return at->Long();
    default:
      return 0;
  }
}

TextOrKey ReadText(Cursor* at) {
  TextOrKey read;
  switch (static_cast<Encoding>(at->Byte())) {
    case Encoding::kNull:
      read.is_null = true;
      break;
    case Encoding::kEmpty:
      break;
    case Encoding::kConstant:
      read.is_key = true;
      read.key = static_cast<uint64_t>(at->Long());
      break;
    case Encoding::kUtf8:
      read.text = WithoutZeros(at->Take(ReadSize(at)));
      break;
    case Encoding::kChars:
      for (size_t left = ReadSize(at); left > 0; --left) AppendUnit(at->Char(), &read.text);
      break;
    case Encoding::kLatin1:
      for (const char byte : at->Take(ReadSize(at))) AppendUnit(static_cast<uint8_t>(byte), &read.text);
      break;
    default:
      at->Fail();
  }
  return read;
}

}  // namespace heaprec::tools::jfr
