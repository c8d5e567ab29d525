#include "tools/input/dictionary_names.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "format/model/names.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Generated suffixes without a group. A shorter number after a slash, or a word after two dollar signs, may be
// meaningful; older JVMs write the address of a lambda in decimal.
const re2::RE2& MadeUp() {
  static const auto* const made_up = new re2::RE2(
      R"((\$\$Lambda)(?:\$\d+)?(?:/0x[[:xdigit:]]{8,}|/[1-9]\d*)?)"
      R"(|/0x[[:xdigit:]]{8,})"
      R"(|(\$Proxy|jdk\.proxy|jdk\.MHProxy|Generated(?:Method|Constructor|SerializationConstructor)Accessor)\d+\b)"
      R"(|(CGLIB\$\$|ByGuice\$\$)[[:xdigit:]]+\b)"
      R"(|(\$HibernateProxy\$|\$MockitoMock\$|\$ByteBuddy\$|\$auxiliary\$)[[:alnum:]]+\b)"
      R"(|(_\$\$_jvst|_\$\$_javassist_)\w+)"
      R"(|(\$\$)[[:xdigit:]]{8}\b)",
      re2::RE2::Latin1);
  return *made_up;
}

// Returns "com.acme.Script#" for "com.acme.Script1111"; the name itself if it has no template.
std::string TemplateOf(const std::string& name) {
  for (const std::string_view of_jdk : {"java.", "javax.", "jdk.", "sun.", "["}) {
    if (name.starts_with(of_jdk)) return name;
  }
  if (name.find(".so") != std::string::npos) return name;  // a library with its version
  const size_t simple = name.rfind('.') + 1;
  std::string made = name.substr(simple);
  static const auto* const number = new re2::RE2("[0-9]+");
  re2::RE2::GlobalReplace(&made, *number, "#");
  return name.substr(0, simple) + made;
}

template <typename Entry>
const Entry* At(const std::vector<Entry>& entries, format::Index index) {
  return index < entries.size() ? &entries[index] : nullptr;
}

std::string OrUnknown(std::string name) { return name.empty() ? std::string(kUnknown) : name; }

// Returns the size of the type at the beginning of a descriptor; 0: none.
size_t TypeSize(std::string_view descriptor) {
  const size_t dimensions = std::min(descriptor.find_first_not_of('['), descriptor.size());
  if (dimensions == descriptor.size()) return 0;
  if (descriptor[dimensions] != 'L') return dimensions + 1;
  const size_t end = descriptor.find(';', dimensions);
  return end == std::string_view::npos ? 0 : end + 1;
}

// Removes the package, as `jfr print` does.
std::string SimpleName(std::string_view type) {
  std::string name = format::JavaClassName("[" + std::string(type));
  if (!name.ends_with("[]")) return std::string(kUnknown);
  name.resize(name.size() - 2);
  return name.erase(0, name.rfind('.') + 1);
}

bool IsLambda(std::string_view class_name) { return class_name.find(kLambda) != std::string_view::npos; }

// Returns "p/App" for "p/App$$Lambda$14+0x0000000800c03000".
std::string_view HostOf(std::string_view lambda) { return lambda.substr(0, lambda.find(kLambda)); }

// Methods between a lambda and the code that it calls: boxing of arguments and results, and the JVM's own.
bool Adapts(const format::Method& method) {
  const bool boxes =
      method.class_name.starts_with("java/lang/") && (method.name == "valueOf" || method.name.ends_with("Value"));
  return boxes || method.class_name.starts_with("java/lang/invoke/") || method.name == "<clinit>" ||
         method.class_name.empty() || method.class_name.find(".so") != std::string::npos;
}

// Returns "lambda$main$3", or "Foo::bar" for a reference to another class' method; empty: unknown.
std::string LabelOf(const format::Method& lambda, const format::Method& called) {
  if (lambda.name.starts_with('<') || Adapts(called)) return "";
  if (called.class_name == HostOf(lambda.class_name)) return ToUtf8(called.name);
  const std::string of_class = StripGeneratedSuffix(ToUtf8(format::JavaClassName(called.class_name)));
  const std::string_view simple = std::string_view(of_class).substr(of_class.rfind('.') + 1);
  return std::string(simple) + "::" + (called.name == "<init>" ? "new" : ToUtf8(called.name));
}

}  // namespace

std::string StripGeneratedSuffix(std::string_view name) {
  std::string kept(name);
  if (name.find_first_of("$/0123456789") != std::string_view::npos)
    re2::RE2::GlobalReplace(&kept, MadeUp(), R"(\1\2\3\4\5\6)");
  return kept;
}

std::string MergedNames::Of(std::string_view name, std::string_view label) {
  const auto [known, is_new] = known_.try_emplace(std::string(name).append(1, '\0').append(label));
  if (is_new) known->second = Find(name, label);
  return known->second;
}

std::string MergedNames::Find(std::string_view name, std::string_view label) {
  std::string shown = StripGeneratedSuffix(name);
  if (std::string made = TemplateOf(shown); made != shown) {
    if (one_name_.contains(made)) {
      shown = std::move(made);
    } else if (settles_) {
      families_[made][shown].insert(recording_);
    }
  }
  if (const size_t lambda = label.empty() ? std::string::npos : shown.find(kLambda); lambda != std::string::npos)
    shown.insert(lambda + kLambda.size(), fmt::format("[{}]", label));
  if (shown != name) Note(name, shown);
  return shown;
}

// Names that the JDK itself generates are not reported.
void MergedNames::Note(std::string_view name, const std::string& shown) {
  if (name.starts_with("java.") || name.starts_with("jdk.") || name.starts_with("com.sun.proxy.")) return;
  if (seen_.insert(std::string(name) + '\0' + shown).second) ++merged_into_[shown];
}

bool MergedNames::IsOneName(const Family& family) {
  struct Count {
    size_t own = 0, shared = 0;
  };
  std::unordered_map<uint32_t, Count> counts;
  for (const auto& [name, recordings] : family) {
    for (const uint32_t recording : recordings)
      ++(recordings.size() == 1 ? counts[recording].own : counts[recording].shared);
  }
  const auto is_large = [](const auto& of) { return of.second.own + of.second.shared > kMostOfTemplate; };
  const auto is_apart = [](const auto& of) { return of.second.own > of.second.shared; };
  return std::ranges::any_of(counts, is_large) || (counts.size() > 1 && std::ranges::all_of(counts, is_apart));
}

bool MergedNames::Settle() {
  bool is_more = false;
  for (const auto& [made, family] : families_) {
    if (IsOneName(family)) is_more = one_name_.insert(made).second || is_more;
  }
  if (!is_more) return false;
  known_.clear();
  families_.clear();
  seen_.clear();
  merged_into_.clear();
  return true;
}

std::string MergedNames::Text() const {
  uint64_t names = 0, shown = 0;
  for (const auto& [name, count] : merged_into_) {
    if (count > 1) names += count, ++shown;
  }
  if (names == 0) return "";
  return fmt::format("{} generated names of classes are shown as {}; --names exact keeps them apart", Grouped(names),
                     Grouped(shown));
}

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

// Objects of a lambda are allocated where it is linked, below a method of its class.
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

format::Dictionaries DictionariesOf(const format::ChunkNames& names) {
  using format::Index;
  using format::kNone;
  const auto text = [&](Index index) { return index == kNone ? std::string() : std::string(names.Text(index)); };
  format::Dictionaries dictionaries;
  for (const Index name : names.classes()) dictionaries.classes.push_back(text(name));
  for (const auto& method : names.methods()) {
    dictionaries.methods.push_back({text(method.class_name), text(method.name), text(method.descriptor)});
  }
  for (const format::StackFrame& frame : names.frames()) {
    dictionaries.frames.push_back({frame.method, frame.bci, frame.line, frame.type});
  }
  for (const auto& node : names.nodes()) {
    const bool cut = node.parent == format::ChunkNames::kCutRoot;
    dictionaries.stacks.push_back({cut ? kNone : node.parent, node.frame, cut});
  }
  for (Index thread = 0; thread < names.threads().size(); ++thread) {
    dictionaries.threads.push_back(names.ThreadOf(thread));
  }
  return dictionaries;
}

}  // namespace heaprec::tools
