#include "tools/exporting.h"

#include <unistd.h>

#include <iterator>
#include <utility>

#include "tools/closing.h"
#include "tools/complain.h"
#include "tools/render/names.h"

namespace heaprec::tools {
namespace {

// `most`: events. Returns how many passed.
uint64_t PassOne(Recording& recording, Filter filter, uint64_t most, Exporter* exporter, Progress::Beside beside,
                 const std::function<bool()>& stop) {
  Progress progress(recording.source().name(), recording.source().size(), beside);
  uint64_t events = 0;
  Names names;
  std::vector<const format::Sample*> samples;
  std::vector<const format::Survivor*> survivors;
  filter.Start(recording.header());
  exporter->Begin(recording);
  while (events < most && !stop()) {
    const auto block = recording.Next();
    if (!block) break;
    names.Enter(*block);
    filter.Enter(*block, &names);
    samples.clear();
    for (const format::Sample& sample : block->samples) {
      if (events + samples.size() == most) break;
      if (filter.Keeps(sample)) samples.push_back(&sample);
    }
    survivors.clear();
    for (const format::Survivor& one : block->survivors) {
      if (filter.Keeps(one.sample)) survivors.push_back(&one);
    }
    exporter->Add({*block, samples, names, survivors});
    events += samples.size();
    progress.At(recording.bytes_read());
  }
  exporter->End(recording);
  return events;
}

}  // namespace

format::Result<Recordings> OpenRecordings(const std::vector<std::string>& paths) {
  Recordings all;
  for (const std::string& path : paths) {
    auto of_file = Recording::OpenAll(path);
    if (!of_file.ok()) return of_file.error();
    std::move(of_file->begin(), of_file->end(), std::back_inserter(all));
  }
  return all;
}

std::function<bool(std::string_view)> HiddenBy(const Filter& filter) {
  if (!filter.hide()) return {};
  return [hide = *filter.hide()](std::string_view method) { return hide.Matches(method); };
}

std::vector<uint64_t> Pass(const Recordings& recordings, const Filter& filter, Exporter* exporter,
                           Progress::Beside beside, const std::function<bool()>& stop) {
  std::vector<uint64_t> events;
  uint64_t most = filter.limit();
  for (const auto& recording : recordings) {
    events.push_back(PassOne(*recording, filter, most, exporter, beside, stop));
    most -= events.back();
  }
  return events;
}

ExitCode Close(const Recordings& recordings, const std::vector<uint64_t>& events) {
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < recordings.size(); ++i) {
    if (isatty(STDERR_FILENO) == 1) Complain(LossLine(*recordings[i], events[i]).substr(2));
    const ExitCode one = ReportDamage(*recordings[i]);
    if (one != ExitCode::kOk) read = one;
  }
  return read;
}

}  // namespace heaprec::tools
