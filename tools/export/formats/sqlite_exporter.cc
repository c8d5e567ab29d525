// A SQLite database: made in a temporary file under $TMPDIR, which has no name by the time it is written.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "tools/export/exporter.h"
#include "tools/export/formats/sqlite_store.h"
#include "tools/text/temporary_folder.h"

namespace heaprec::tools {
namespace {

// An empty file that SQLite can open by its name. -1: errno says why.
class TemporaryFile {
 public:
  TemporaryFile() {
    descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) error_ = name_ + ": " + std::strerror(errno);
  }
  ~TemporaryFile() {
    RemoveName();
    if (descriptor_ >= 0) close(descriptor_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& name() const { return name_; }
  int descriptor() const { return descriptor_; }
  const std::string& error() const { return error_; }
  // Whoever has it open goes on; nobody else finds it, and a kill leaves nothing behind.
  void RemoveName() {
    if (descriptor_ >= 0 && !name_.empty()) unlink(name_.c_str());
    name_.clear();
  }

 private:
  std::string name_ = TemporaryPattern(), error_;
  int descriptor_ = -1;
};

class SqliteExporter final : public Exporter {
 public:
  SqliteExporter(const ExportSettings& settings, Output* output) : output_(*output) {
    if (!file_.error().empty()) return;
    store_.emplace(file_.name(), true, settings.hides);
    file_.RemoveName();
  }

  void Begin(const Recording& recording) override {
    if (store_) store_->Begin(recording);
  }
  void Add(const FilteredBlock& block) override {
    if (store_) store_->Add(block);
  }
  void End(const Recording& recording, AskedRange asked) override {
    if (store_) store_->End(recording, asked);
  }
  std::optional<format::Error> Finish() override {
    if (!store_) return format::Error{file_.error()};
    if (auto error = store_->Finish()) return error;
    store_.reset();
    return Copy();
  }

 private:
  std::optional<format::Error> Copy() {
    std::array<char, 1 << 16> piece;
    off_t at = 0;
    while (!output_.failed()) {
      const ssize_t size = pread(file_.descriptor(), piece.data(), piece.size(), at);
      if (size < 0) return format::Error{std::string("the database: ") + std::strerror(errno)};
      if (size == 0) break;
      output_.Append({piece.data(), static_cast<size_t>(size)});
      output_.Tick();
      at += size;
    }
    return std::nullopt;
  }

  Output& output_;
  TemporaryFile file_;
  std::optional<SqliteStore> store_;
};

}  // namespace

std::unique_ptr<Exporter> MakeSqlite(const ExportSettings& settings, Output* output) {
  return std::make_unique<SqliteExporter>(settings, output);
}

}  // namespace heaprec::tools
