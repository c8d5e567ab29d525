#include "recorder/writer/census_pages.h"

#include <algorithm>
#include <cstring>

namespace heaprec::writer {

using format::RingCensusPage;
using format::RingCensusRow;

bool CensusPages::has_rows() const {
  return pages_ != nullptr &&
         std::ranges::any_of(pages_->pages, [](const RingCensusPage& page) { return page.rows_used.load() > 0; });
}

bool CensusPages::is_filling() const {
  if (pages_ == nullptr) return false;
  const RingCensusPage& page = pages_->Page(pages_->active.load(std::memory_order_relaxed));
  return page.rows_used.load() > format::kCensusRows / 2 || page.names_used.load() > format::kCensusNameBytes / 2;
}

std::vector<const RingCensusPage*> CensusPages::Take(bool is_last) {
  if (!has_rows()) return {};
  uint64_t active = pages_->active.load(std::memory_order_relaxed);
  if (active == written_ + 1) {
    pages_->Page(active + 1).number.store(active + 1);
    // The page was cleared before. Threads that count themselves as users of the other page from now on leave it again.
    pages_->active.store(++active);
  }
  std::vector<const RingCensusPage*> taken{&pages_->Page(active - 1)};
  if (is_last) taken.push_back(&pages_->Page(active));
  return taken;
}

void CensusPages::Written(uint64_t number) {
  for (; written_ < number; ++written_) {
    RingCensusPage& page = pages_->Page(written_ + 1);
    for (RingCensusRow& row : page.rows) {
      if (row.tag.load(std::memory_order_relaxed) != 0) std::memset(static_cast<void*>(&row), 0, sizeof(row));
    }
    std::memset(page.names.data(), 0, std::min<size_t>(page.names.size(), page.names_used.load()));
    page.rows_used.store(0, std::memory_order_relaxed);
    page.names_used.store(0, std::memory_order_relaxed);
  }
}

}  // namespace heaprec::writer
