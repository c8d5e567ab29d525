#include "tools/input/dictionary_names.h"

#include "format/model/java_names.h"
#include "format/model/thread_name.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

template <typename Entry>
const Entry* At(const std::vector<Entry>& entries, format::Index index) {
  return index < entries.size() ? &entries[index] : nullptr;
}

std::string OrUnknown(std::string name) { return name.empty() ? std::string(kUnknown) : name; }

// The type at the front of a descriptor; its size. 0: none.
size_t TypeSize(std::string_view descriptor) {
  const size_t dimensions = std::min(descriptor.find_first_not_of('['), descriptor.size());
  if (dimensions == descriptor.size()) return 0;
  if (descriptor[dimensions] != 'L') return dimensions + 1;
  const size_t end = descriptor.find(';', dimensions);
  return end == std::string_view::npos ? 0 : end + 1;
}

std::string_view PrimitiveName(char type) {
  switch (type) {
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'D':
      return "double";
    case 'F':
      return "float";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'S':
      return "short";
    case 'Z':
      return "boolean";
    default:
      return kUnknown;
  }
}

// Without its package, as `jfr print` has it.
std::string SimpleName(std::string_view type) {
  const size_t dimensions = type.find_first_not_of('[');
  std::string name;
  if (type[dimensions] == 'L') {
    name = format::JavaClassName(type.substr(dimensions + 1, type.size() - dimensions - 2));
    name.erase(0, name.rfind('.') + 1);
  } else {
    name = PrimitiveName(type[dimensions]);
  }
  for (size_t i = 0; i < dimensions; ++i) name += "[]";
  return name;
}

}  // namespace

void Names::Enter(const format::Block& block) {
  if (dictionaries_ == nullptr || block.chunk != chunk_ || block.dictionaries->classes.size() < classes_.size()) {
    classes_.clear();
    threads_.clear();
    methods_.clear();
  }
  chunk_ = block.chunk;
  dictionaries_ = block.dictionaries;
  classes_.resize(dictionaries_->classes.size());
  threads_.resize(dictionaries_->threads.size());
  methods_.resize(dictionaries_->methods.size());
}

std::string_view Names::Class(format::Index index) {
  if (index >= classes_.size()) return kUnknown;
  std::string& name = classes_[index];
  if (name.empty()) name = OrUnknown(ToUtf8(format::JavaClassName(dictionaries_->classes[index])));
  return name;
}

std::string_view Names::Thread(format::Index index) {
  if (index >= threads_.size()) return kUnknown;
  std::string& name = threads_[index];
  if (name.empty()) name = ToUtf8(format::NameOfThread(dictionaries_->threads[index].name));
  return name;
}

std::string_view Names::Method(format::Index index) {
  if (index >= methods_.size()) return kUnknown;
  std::string& name = methods_[index];
  if (name.empty()) {
    const format::Method& method = dictionaries_->methods[index];
    name = ToUtf8(format::JavaClassName(method.class_name));
    name += '.';
    name += ToUtf8(method.name);
  }
  return name;
}

const format::Thread* Names::ThreadOf(format::Index index) const { return At(dictionaries_->threads, index); }
const format::Method* Names::MethodOf(format::Index index) const { return At(dictionaries_->methods, index); }
const format::StackNode* Names::NodeOf(format::Index index) const { return At(dictionaries_->stacks, index); }
const format::Frame* Names::FrameOf(format::Index index) const { return At(dictionaries_->frames, index); }

std::string ParameterTypes(std::string_view descriptor) {
  std::string types;
  if (descriptor.empty() || descriptor.front() != '(') return types;
  descriptor.remove_prefix(1);
  while (!descriptor.empty() && descriptor.front() != ')') {
    const size_t size = TypeSize(descriptor);
    if (size == 0) break;
    if (!types.empty()) types += ", ";
    types += ToUtf8(SimpleName(descriptor.substr(0, size)));
    descriptor.remove_prefix(size);
  }
  return types;
}

}  // namespace heaprec::tools
