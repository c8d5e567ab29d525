#include "tools/import/jfr/constants.h"

#include "tools/import/jfr/metadata.h"

namespace heaprec::tools::jfr {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;
constexpr int kMaxLevels = 4;  // a class' name is a constant of a symbol, which is a string

}  // namespace

std::optional<Error> Constants::Add(std::string_view event) {
  bytes_ += event.size();
  if (bytes_ > kMaxBytes) return Error{"more than 1 GiB of constants in a chunk"};
  Cursor at(events_.emplace_back(event), compressed_);
  at.Long();  // start
  at.Long();  // duration
  at.Long();  // where the one before is
  at.Byte();  // what kind of checkpoint it is
  for (int32_t left = at.Int(); left > 0 && at.ok(); --left) {
    if (!AddPool(&at)) break;
  }
  if (!at.ok()) return Error{"the constants cannot be read"};
  return std::nullopt;
}

bool Constants::AddPool(Cursor* at) {
  const Type* const type = metadata_.WithId(at->Long());
  const int32_t count = at->Int();
  if (type == nullptr || count < 0 || static_cast<size_t>(count) > at->left()) {
    at->Fail();
    return false;
  }
  auto& pool = pools_[type];
  for (int32_t left = count; left > 0 && at->ok(); --left) {
    const auto key = static_cast<uint64_t>(at->Long());
    const Cursor begin = *at;
    Skip(*type, at);
    if (at->ok()) pool.try_emplace(key, begin.Until(*at));
  }
  return at->ok();
}

std::optional<Cursor> Constants::Find(const Type& type, uint64_t key) const {
  const auto pool = pools_.find(&type);
  if (pool == pools_.end()) return std::nullopt;
  const auto constant = pool->second.find(key);
  if (constant == pool->second.end()) return std::nullopt;
  return Cursor(constant->second, compressed_);
}

std::string Constants::TextOf(const Type& type, uint64_t key) const {
  const std::optional<Cursor> constant = Find(type, key);
  return constant ? Text(type, /*pooled=*/false, *constant, 0) : std::string();
}

std::string Constants::TextOfPart(const Type& type, Cursor at, std::string_view name) const {
  std::string text;
  ForEachField(type, &at, [&](const Field& field, const Cursor& value) {
    if (field.name == name) text = TextOf(field, value);
  });
  return text;
}

std::string Constants::TextOfPart(const Field& field, Cursor at, std::string_view name) const {
  if (field.pooled) {
    const std::optional<Cursor> constant = Find(*field.type, static_cast<uint64_t>(at.Long()));
    if (!constant) return {};
    at = *constant;
  }
  return TextOfPart(*field.type, at, name);
}

std::string Constants::Text(const Type& type, bool pooled, Cursor at, int level) const {
  if (level > kMaxLevels) return {};
  if (pooled) {
    const std::optional<Cursor> constant = Find(type, static_cast<uint64_t>(at.Long()));
    return constant ? Text(type, /*pooled=*/false, *constant, level + 1) : std::string();
  }
  if (type.primitive == Primitive::kString) {
    TextOrKey text = ReadText(&at);
    if (!text.is_key) return std::move(text.text);
    const std::optional<Cursor> constant = Find(type, text.key);
    return constant ? Text(type, /*pooled=*/false, *constant, level + 1) : std::string();
  }
  if (type.fields.empty() || type.fields.front().array) return {};
  return Text(*type.fields.front().type, type.fields.front().pooled, at, level + 1);
}

}  // namespace heaprec::tools::jfr
