#include "recorder/sources/part.h"

#include <algorithm>

namespace heaprec::sources {

void Parts::Connect(writer::DrainCallbacks* callbacks) {
  callbacks->on_new_chunk = [this] { NewEpoch(); };
  callbacks->on_stack = [this](const format::StackKey& key) { MarkStackEmitted(key); };
  for (const auto& part : parts_) part->Connect(callbacks);
}

void Parts::Describe(format::FileHeader* header) const {
  for (const auto& part : parts_) part->Describe(header);
}

Status Parts::Activate() {
  for (const auto& part : parts_) {
    auto active = part->Activate();
    if (!active.ok()) return active;
  }
  return {};
}

void Parts::OnTick(uint64_t now_ns) {
  for (const auto& part : parts_) part->OnTick(now_ns);
}

void Parts::NewEpoch() {
  for (const auto& part : parts_) part->NewEpoch();
}

void Parts::MarkStackEmitted(const format::StackKey& key) {
  for (const auto& part : parts_) part->MarkStackEmitted(key);
}

void Parts::Stop() {
  for (const auto& part : parts_) part->Stop();
}

bool Parts::TryJoin() {
  return std::ranges::all_of(parts_, [](const auto& part) { return part->TryJoin(); });
}

}  // namespace heaprec::sources
