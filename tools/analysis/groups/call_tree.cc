#include "tools/analysis/groups/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "format/ring/content_keys.h"
namespace heaprec::tools {
namespace {

void AddTo(ByFrameType* sums, const ByFrameType& more, double factor) {
  for (size_t type = 0; type < more.size(); ++type) (*sums)[type] += factor * more[type];
}

}  // namespace

CallTree::CallTree(NamePool* names, Options options) : names_(*names), options_(std::move(options)) {
  nodes_.push_back({.parent = kRoot, .name = names_.Of(""), .depth = 0});
  children_.Add(kRoot, [this](NodeId id) { return HashOf(id); });
}

void CallTree::Start() { chunk_names_ = nullptr; }

void CallTree::Enter(const format::Block& block, Names* names) {
  const format::Dictionaries& dictionaries = *block.dictionaries;
  if (chunk_names_ == nullptr || block.chunk != chunk_ || dictionaries.stacks.size() < nodes_of_.size()) {
    nodes_of_.clear();
    names_of_.clear();
    names_of_methods_.clear();
    sites_.clear();
    roles_.clear();
  }
  chunk_ = block.chunk;
  chunk_names_ = names;
  nodes_of_.resize(dictionaries.stacks.size(), kNotLooked);
  names_of_.resize(dictionaries.frames.size(), kNotLooked);
  names_of_methods_.resize(dictionaries.methods.size(), kNotLooked);
  sites_.resize(dictionaries.stacks.size(), kNotLooked);
  roles_.resize(dictionaries.methods.size(), Role::kNotLooked);
}

CallTree::Role CallTree::RoleOf(format::Index frame) {
  const format::Frame* const entry = chunk_names_->FrameOf(frame);
  if (entry == nullptr || entry->IsGap() || entry->method >= roles_.size()) return Role::kOther;
  Role& role = roles_[entry->method];
  if (role == Role::kNotLooked) {
    uint32_t& known = known_roles_[KeyOfMethod(entry->method)];
    if (known == KeyTable::kNew) known = static_cast<uint32_t>(Judge(chunk_names_->Method({.method = entry->method})));
    role = static_cast<Role>(known);
  }
  return role;
}

CallTree::Role CallTree::Judge(std::string_view method) const {
  if (options_.marks_own && AllocatesForSampling(method)) return Role::kOwn;
  return options_.is_primitive && options_.is_primitive(method) ? Role::kPrimitive : Role::kOther;
}

// Returns the outermost native frame at the leaf that reports a sample to heaprec; kNone: there is none.
format::Index CallTree::OwnSiteOf(format::Index stack) {
  format::Index own = format::kNone;
  for (format::Index at = stack; options_.marks_own && at < sites_.size();) {
    const format::StackNode& entry = *chunk_names_->NodeOf(at);
    const format::Frame* const frame = chunk_names_->FrameOf(entry.frame);
    if (frame == nullptr || frame->type != format::FrameType::kNative) break;
    if (RoleOf(entry.frame) == Role::kOwn) own = at;
    if (entry.parent >= at) break;  // kNone, or damaged
    at = entry.parent;
  }
  return own;
}

// Goes towards the root, past primitives; a stack of primitives only stays unchanged.
format::Index CallTree::SiteOf(format::Index stack) {
  if (stack >= sites_.size()) return stack;
  if (sites_[stack] != kNotLooked) return sites_[stack];
  format::Index site = OwnSiteOf(stack);
  for (format::Index at = stack; site == format::kNone;) {
    const format::StackNode& entry = *chunk_names_->NodeOf(at);
    if (RoleOf(entry.frame) != Role::kPrimitive) {
      site = at;
    } else if (entry.parent == format::kNone || entry.parent >= at) {
      site = stack;
    }
    at = entry.parent;
  }
  return sites_[stack] = site;
}

// Walks up to a known node, then down again, without recursion: a stack may be thousands of frames deep.
CallTree::NodeId CallTree::Look(format::Index stack) {
  if (stack >= nodes_of_.size()) return ChildOf(kRoot, names_.Of(kUnknown));
  path_.clear();
  NodeId node = kRoot;
  for (format::Index at = stack;;) {
    if (nodes_of_[at] != kNotLooked) {
      node = nodes_of_[at];
      break;
    }
    path_.push_back(at);
    const format::StackNode& entry = *chunk_names_->NodeOf(at);
    // A parent always precedes its children; anything else is a damaged tree and ends the walk.
    if (entry.parent == format::kNone || entry.parent >= at) {
      if (entry.truncated) node = ChildOf(kRoot, names_.Of(kTruncated));
      break;
    }
    at = entry.parent;
  }
  for (; !path_.empty(); path_.pop_back()) {
    node = Below(node, chunk_names_->NodeOf(path_.back())->frame);
    nodes_of_[path_.back()] = node;
  }
  return node == kRoot ? nodes_of_[stack] = ChildOf(kRoot, names_.Of(kHidden)) : node;
}

// There are few rows, and their paths are short.
CallTree::NodeId CallTree::OfRow(format::Index path) {
  if (path >= nodes_of_.size()) return Look(path);
  path_.clear();
  for (format::Index at = SiteOf(path);;) {
    const format::StackNode& entry = *chunk_names_->NodeOf(at);
    path_.push_back(entry.frame);
    if (entry.parent == format::kNone || entry.parent >= at) break;
    at = entry.parent;
  }
  NodeId node = ChildOf(kRoot, names_.Of(kCallersNotKept));
  for (; !path_.empty(); path_.pop_back()) node = Below(node, path_.back());
  return node;
}

NamePool::Id CallTree::InnermostNameOf(format::Index stack) {
  const format::Index own = OwnSiteOf(stack);
  return NameAbove(own == format::kNone ? stack : own);
}

// Returns the name of the first frame that is not hidden.
NamePool::Id CallTree::NameAbove(format::Index stack) {
  if (stack >= nodes_of_.size()) return names_.Of(kUnknown);
  for (format::Index at = stack;;) {
    const format::StackNode& entry = *chunk_names_->NodeOf(at);
    const NamePool::Id name = NameOfFrame(entry.frame);
    if (name != kLeftOut) return name;
    if (entry.parent == format::kNone || entry.parent >= at) return names_.Of(entry.truncated ? kTruncated : kHidden);
    at = entry.parent;
  }
}

CallTree::NodeId CallTree::Below(NodeId parent, format::Index frame) {
  const NamePool::Id name = NameOfFrame(frame);
  if (name == kLeftOut || nodes_[parent].depth >= kMaxDepth) return parent;
  if (options_.fold) {
    // If there is such a child, no node above has its name.
    if (const NodeId known = FindChild(parent, name); known != format::kNone) return known;
    for (NodeId above = parent; above != kRoot; above = nodes_[above].parent) {
      if (nodes_[above].name == name) return above;
    }
  }
  return ChildOf(parent, name);
}

CallTree::NodeId CallTree::FindChild(NodeId parent, NamePool::Id name) const {
  // A new stack adds its frames one after the other, so the first child is the next node.
  const NodeId next = parent + 1;
  if (next < nodes_.size() && nodes_[next].parent == parent && nodes_[next].name == name) return next;
  const auto is_same = [&](NodeId id) { return id != kRoot && nodes_[id].parent == parent && nodes_[id].name == name; };
  return children_.Find(HashOf(parent, name), is_same);
}

CallTree::NodeId CallTree::ChildOf(NodeId parent, NamePool::Id name) {
  if (const NodeId known = FindChild(parent, name); known != format::kNone) return known;
  const auto added = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({parent, name, nodes_[parent].depth + 1});
  children_.Add(added, [this](NodeId id) { return HashOf(id); });
  return added;
}

NamePool::Id CallTree::NameOfFrame(format::Index frame) {
  if (frame >= names_of_.size()) return names_.Of(kUnknown);
  NamePool::Id& name = names_of_[frame];
  if (name != kNotLooked) return name;
  const format::Frame& entry = *chunk_names_->FrameOf(frame);
  return name = options_.lines && entry.line >= 0 ? Render(entry) : NameOfMethod(entry);
}

// Most methods of a chunk also occur in earlier chunks.
NamePool::Id CallTree::NameOfMethod(const format::Frame& frame) {
  if (frame.method >= names_of_methods_.size()) return Render(frame);
  NamePool::Id& name = names_of_methods_[frame.method];
  if (name != kNotLooked) return name;
  NamePool::Id& known = known_methods_[KeyOfMethod(frame.method)];
  if (known == KeyTable::kNew) known = Render({.method = frame.method});
  return name = known;
}

uint64_t CallTree::KeyOfMethod(format::Index index) const {
  const format::Method& method = *chunk_names_->MethodOf(index);
  return format::MethodKey(method.class_name, method.name, method.descriptor);
}

NamePool::Id CallTree::Render(const format::Frame& frame) {
  const std::string_view method = chunk_names_->Method(frame);
  if (options_.hides && !frame.IsGap() && options_.hides(method)) return kLeftOut;
  if (options_.marks_own && AllocatesForSampling(method)) return names_.Of(kOwnSite);
  if (!options_.lines || frame.line < 0) return names_.Of(method);
  return names_.Of(fmt::format("{}:{}", method, frame.line));
}

void FrameTypes::Add(const format::Block& block, CallTree& tree, format::Index stack, double weight) {
  const format::Dictionaries& names = *block.dictionaries;
  // A parent precedes its child; this also ends loops in damaged files.
  for (format::Index at = stack; at < names.stacks.size();) {
    const format::StackNode& entry = names.stacks[at];
    const bool has_parent = entry.parent < at;
    const CallTree::NodeId node = tree.Of(at);
    // A frame that is hidden or folded has no node of its own.
    const bool is_own = !has_parent || tree.At(node).depth > tree.At(tree.Of(entry.parent)).depth;
    if (is_own && entry.frame < names.frames.size()) {
      if (node >= now_.size()) now_.resize(std::max<size_t>(node + size_t{1}, now_.size() * 3 / 2));
      now_[node][static_cast<size_t>(names.frames[entry.frame].type)] += weight;
    }
    at = has_parent ? entry.parent : format::kNone;
  }
}

void FrameTypes::Close(double factor) {
  all_.resize(std::max(all_.size(), now_.size()));
  for (size_t node = 0; node < now_.size(); ++node) AddTo(&all_[node], now_[node], factor);
  now_.clear();
}

namespace {

// In JDK 11 to 27.
constexpr std::array<std::string_view, 5> kOwn{
    "libjvm.so.MemAllocator::Allocation::notify_allocation_jvmti_sampler",
    "libjvm.so.ThreadHeapSampler::",
    "libjvm.so.JvmtiSampledObjectAllocEventCollector::",
    "libjvm.so.JvmtiExport::record_sampled_internal_object_allocation",
    "libjvm.so.JvmtiExport::post_sampled_object_alloc",
};

std::string_view Trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

bool AllocatesForSampling(std::string_view method) {
  return std::ranges::any_of(kOwn, [method](std::string_view prefix) { return method.starts_with(prefix); });
}

Result<AllocationPrimitives> ReadPrimitives(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("--primitives {}: {}", path, std::strerror(errno))};
  AllocationPrimitives all;
  for (std::string line; std::getline(file, line);) {
    const std::string_view pattern = Trimmed(line);
    if (pattern.empty()) continue;
    if (pattern == "default") {
      for (const std::string_view one : AllocationPrimitives::DefaultPatterns()) all.Add(one);
    } else if (pattern == "*" || pattern.substr(0, pattern.size() - 1).find('*') != std::string_view::npos) {
      return Error{fmt::format(
          "--primitives {}: '{}': expected a method such as java.util.Arrays.copyOf, with '*' at its end only", path,
          pattern)};
    } else {
      all.Add(pattern);
    }
  }
  if (file.bad()) return Error{fmt::format("--primitives {}: cannot be read", path)};
  return all;
}

}  // namespace heaprec::tools
