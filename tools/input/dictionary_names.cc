#include "tools/input/dictionary_names.h"

#include "format/model/java_names.h"
#include "format/model/thread_name.h"
#include "tools/text/text.h"

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

// Without its package, as `jfr print` has it.
std::string SimpleName(std::string_view type) {
  std::string name = format::JavaClassName("[" + std::string(type));
  if (!name.ends_with("[]")) return std::string(kUnknown);
  name.resize(name.size() - 2);
  return name.erase(0, name.rfind('.') + 1);
}

bool IsLambda(std::string_view class_name) { return class_name.find(kLambda) != std::string_view::npos; }

// "p/App" of "p/App$$Lambda$14+0x0000000800c03000".
std::string_view HostOf(std::string_view lambda) { return lambda.substr(0, lambda.find(kLambda)); }

// Between a lambda and what it stands for: boxes of arguments and results, and the JVM's own.
bool Adapts(const format::Method& method) {
  const bool boxes =
      method.class_name.starts_with("java/lang/") && (method.name == "valueOf" || method.name.ends_with("Value"));
  return boxes || method.class_name.starts_with("java/lang/invoke/") || method.name == "<clinit>" ||
         method.class_name.empty() || method.class_name.find(".so") != std::string::npos;
}

// "lambda$main$3", or "Foo::bar" of a reference to another class' method; empty: it is not known.
std::string LabelOf(const format::Method& lambda, const format::Method& called) {
  if (lambda.name.starts_with('<') || Adapts(called)) return "";
  if (called.class_name == HostOf(lambda.class_name)) return ToUtf8(called.name);
  const std::string of_class = StripGeneratedSuffix(ToUtf8(format::JavaClassName(called.class_name)));
  const std::string_view simple = std::string_view(of_class).substr(of_class.rfind('.') + 1);
  return std::string(simple) + "::" + (called.name == "<init>" ? "new" : ToUtf8(called.name));
}

}  // namespace

void Names::Enter(const format::Block& block) {
  if (dictionaries_ == nullptr || block.chunk != chunk_ || block.dictionaries->classes.size() < classes_.size()) {
    classes_.clear();
    threads_.clear();
    methods_.clear();
    class_labels_.clear();
    method_labels_.clear();
    stacks_ = 0;
  }
  chunk_ = block.chunk;
  dictionaries_ = block.dictionaries;
  const size_t known_classes = classes_.size(), known_methods = methods_.size();
  classes_.resize(dictionaries_->classes.size());
  threads_.resize(dictionaries_->threads.size());
  methods_.resize(dictionaries_->methods.size());
  if (merged_ == nullptr) return;
  for (size_t i = known_classes; i < classes_.size(); ++i) {
    if (IsLambda(dictionaries_->classes[i])) class_labels_[static_cast<format::Index>(i)];
  }
  for (size_t i = known_methods; i < methods_.size(); ++i) {
    if (IsLambda(dictionaries_->methods[i].class_name)) method_labels_[static_cast<format::Index>(i)];
  }
  LabelLambdas(block);
}

void Names::LabelLambdas(const format::Block& block) {
  const format::Dictionaries& now = *dictionaries_;
  for (; !method_labels_.empty() && stacks_ < now.stacks.size(); ++stacks_) {
    const format::StackNode& node = now.stacks[stacks_];
    if (node.parent >= stacks_) continue;  // kNone, or damaged
    const format::Frame *const frame = FrameOf(now.stacks[node.parent].frame), *const called = FrameOf(node.frame);
    if (frame == nullptr || called == nullptr || frame->IsGap() || called->IsGap()) continue;
    const auto label = method_labels_.find(frame->method);
    const format::Method* const callee = MethodOf(called->method);
    if (label == method_labels_.end() || !label->second.empty() || callee == nullptr) continue;
    label->second = LabelOf(*MethodOf(frame->method), *callee);
  }
  stacks_ = now.stacks.size();
  if (class_labels_.empty()) return;
  for (const format::Sample& sample : block.samples) LabelClass(sample.class_id, sample.stack);
  for (const format::CheckpointSample& one : block.live_checkpoint) LabelClass(one.sample.class_id, one.sample.stack);
  for (const format::Row& row : block.rows) LabelClass(row.class_id, row.stack);
}

// Objects of a lambda are allocated where it is linked, below a method of the class that has it.
void Names::LabelClass(format::Index class_id, format::Index stack) {
  const auto label = class_labels_.find(class_id);
  if (label == class_labels_.end() || !label->second.empty()) return;
  const std::string_view host = HostOf(dictionaries_->classes[class_id]);
  ForEachFrame(*this, stack, 0, [&](const format::Frame& frame) {
    const format::Method* const method = frame.IsGap() ? nullptr : MethodOf(frame.method);
    if (label->second.empty() && method != nullptr && method->class_name == host) label->second = ToUtf8(method->name);
  });
}

std::string Names::ShownClass(std::string_view internal, const Labels& labels, format::Index index) const {
  std::string name = ToUtf8(format::JavaClassName(internal));
  if (merged_ == nullptr) return name;
  const auto label = labels.find(index);
  return merged_->Of(name, label == labels.end() ? std::string_view() : std::string_view(label->second));
}

std::string_view Names::Class(format::Index index) {
  if (index >= classes_.size()) return kUnknown;
  std::string& name = classes_[index];
  if (name.empty()) name = OrUnknown(ShownClass(dictionaries_->classes[index], class_labels_, index));
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
    name = ShownClass(method.class_name, method_labels_, index);
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
