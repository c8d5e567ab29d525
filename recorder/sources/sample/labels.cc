#include "recorder/sources/sample/labels.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace heaprec::sources {
namespace {

struct Labels {
  size_t size = 0;
  char text[kMaxLabelBytes];
  std::string_view View() const { return {text, size}; }
};

// Initial-exec: the first touch may be inside an allocation, and must not be one.
__attribute__((tls_model("initial-exec"))) thread_local Labels* own = nullptr;

// The label of this key, its zero byte included; empty, at the end, if there is none.
std::string_view Find(std::string_view labels, std::string_view key) {
  for (size_t at = 0; at < labels.size();) {
    const size_t end = std::min(labels.find('\0', at + 1), labels.size());
    const std::string_view label = labels.substr(at, end - at);
    if (label.substr(1).starts_with(key) && label.substr(1 + key.size()).starts_with('=')) return label;
    at = end;
  }
  return labels.substr(labels.size());
}

void Remove(std::string_view label) {
  const auto at = static_cast<size_t>(label.data() - own->text);
  own->size -= label.size();
  std::memmove(own->text + at, own->text + at + label.size(), own->size - at);
}

void Append(char next) { own->text[own->size++] = next; }
void Append(std::string_view text) {
  std::memcpy(own->text + own->size, text.data(), text.size());
  own->size += text.size();
}

// Frees the labels of a thread that ends. Before the first recording the JVM does not report the end of threads.
const pthread_key_t* Key() {
  static pthread_key_t key;
  static const bool is_made = pthread_key_create(&key, [](void* labels) {
                                own = nullptr;
                                std::free(labels);
                              }) == 0;
  return is_made ? &key : nullptr;
}

bool Make() {
  if (own != nullptr) return true;
  const pthread_key_t* const key = Key();
  void* const room = key != nullptr ? std::malloc(sizeof(Labels)) : nullptr;
  if (room == nullptr) return false;
  if (pthread_setspecific(*key, room) != 0) {
    std::free(room);
    return false;
  }
  own = new (room) Labels;
  return true;
}

}  // namespace

bool SetLabel(std::string_view key, std::string_view value) {
  constexpr std::string_view kNotInKeys("=\0", 2);
  if (key.empty() || key.find_first_of(kNotInKeys) != std::string_view::npos || value.find('\0') != value.npos) {
    return false;
  }
  if (!Make()) return false;
  const std::string_view before = Find(own->View(), key);
  if (own->size - before.size() + key.size() + value.size() + 2 > kMaxLabelBytes) return false;
  Remove(before);
  Append('\0');
  Append(key);
  Append('=');
  Append(value);
  return true;
}

void ClearLabel(std::string_view key) {
  if (own != nullptr) Remove(Find(own->View(), key));
}

void ForgetLabels() {
  if (own == nullptr) return;
  pthread_setspecific(*Key(), nullptr);
  std::free(own);
  own = nullptr;
}

std::string_view CurrentLabels() { return own != nullptr ? own->View() : std::string_view(); }

}  // namespace heaprec::sources
