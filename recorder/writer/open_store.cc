#include "recorder/writer/open_store.h"

#include <fmt/format.h>
#include <pthread.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::writer {
namespace {

// Shared by two threads; the last one deletes it.
struct Opening {
  explicit Opening(StoreConfig of) : config(std::move(of)) {}
  void Open();
  void Note(Result<Store> made);
  std::optional<Result<Store>> Wait(std::chrono::seconds patience);

  const StoreConfig config;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<Store>> opened;
  bool is_abandoned = false;
};

void Opening::Open() {
  try {
    Note(Store::Create(config));
  } catch (...) {
    Note(Error{"out of memory"});
  }
}

void Opening::Note(Result<Store> made) {
  const std::lock_guard lock(mutex);
  if (is_abandoned && made.ok()) return made->Remove();
  opened.emplace(std::move(made));
  changed.notify_all();
}

std::optional<Result<Store>> Opening::Wait(std::chrono::seconds patience) {
  std::unique_lock lock(mutex);
  is_abandoned = !changed.wait_for(lock, patience, [this] { return opened.has_value(); });
  return std::move(opened);
}

using Shared = std::shared_ptr<Opening>;

}  // namespace

Result<Store> OpenStore(StoreConfig config, std::chrono::seconds patience) {
  const auto opening = std::make_shared<Opening>(std::move(config));
  auto own = std::make_unique<Shared>(opening);
  const auto open = [](void* shared) {
    const std::unique_ptr<Shared> mine(static_cast<Shared*>(shared));
    (*mine)->Open();
  };
  const auto thread = StartSignalMaskedThread("heaprec-open", open, nullptr, own.get());
  if (!thread.ok()) return Store::Create(opening->config);
  (void)own.release();  // owned by the thread now
  auto opened = opening->Wait(patience);
  if (opened) {
    pthread_join(*thread, nullptr);
    return std::move(*opened);
  }
  pthread_detach(*thread);
  return Error{fmt::format("{}: could not be created within {} s; the file system does not respond",
                           opening->config.pattern, patience.count())};
}

}  // namespace heaprec::writer
