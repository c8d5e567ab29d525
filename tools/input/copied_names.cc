#include "tools/input/copied_names.h"

namespace heaprec::tools {

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
