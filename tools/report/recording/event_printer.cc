#include "tools/report/recording/event_printer.h"

#include <algorithm>
#include <utility>

#include "tools/input/loss_summary.h"
#include "tools/render/renderers.h"

namespace heaprec::tools {

EventPrinter::EventPrinter(const Recording& recording, const Filter& filter, uint64_t limit, const EventStyle& style,
                           std::function<bool()> goes_on)
    : recording_(recording),
      filter_(filter),
      limit_(limit),
      style_(style),
      goes_on_(std::move(goes_on)),
      events_(style, recording.header().start_epoch_ns),
      states_(style, recording.header().start_epoch_ns) {
  filter_.Start(recording);
}

void EventPrinter::Begin(size_t which, size_t count, Text& into) {
  is_last_of_several_ = count > 1 && which + 1 == count;
  if (count > 1 && !style_.json) {
    Append(into, "# recording " + WhichText(recording_.header(), which, count) + "\n\n");
  } else if (count > 1) {
    Append(into, which == 0 ? "{\"recordings\":[" : ",");
  }
  if (!style_.json) return;
  Append(into, "{\"recording\":" + render::JsonText(HeaderValue(recording_.header())) + ",\n\"events\":[");
}

void EventPrinter::Add(const format::Block& block, Text& into) {
  last_ns_ = std::max(last_ns_, block.end_ns);
  names_.Enter(block);
  filter_.Enter(block, &names_);
  events_.Enter(block, &names_);
  auto state = block.states.begin();
  auto lifecycle = block.lifecycle_events.begin();
  const auto add_until = [&](uint64_t until_ns) {
    for (; state != block.states.end() && state->time_ns <= until_ns && goes_on(); ++state) {
      Text event;
      if (filter_.Keeps(*state) && states_.Append(*state, event)) AddOther(event, into);
    }
    for (; lifecycle != block.lifecycle_events.end() && lifecycle->time_ns <= until_ns && goes_on(); ++lifecycle) {
      if (!filter_.Keeps(*lifecycle)) continue;
      Text event;
      states_.Append(*lifecycle, event);
      AddOther(event, into);
    }
  };
  for (const format::Sample& sample : block.samples) {
    add_until(sample.time_ns);
    if (!goes_on()) return;
    if (!filter_.Keeps(sample)) continue;
    Separate(into);
    events_.Append(sample, into);
    ++samples_;
  }
  add_until(UINT64_MAX);
  for (auto row = block.census.begin(); row != block.census.end() && goes_on(); ++row) {
    if (!filter_.Keeps(*row)) continue;
    Text event;
    states_.Append(*row, &names_, event);
    AddOther(event, into);
  }
  for (auto row = block.rows.begin(); row != block.rows.end() && goes_on(); ++row) {
    if (!filter_.Keeps(*row, block.end_ns)) continue;
    Text event;
    states_.Append(*row, block.end_ns, &names_, events_.Stack(row->stack), event);
    AddOther(event, into);
  }
}

void EventPrinter::End(Text& into, AskedTime* asked) {
  const bool complete = printed() < limit_;
  asked->Add(recording_, filter_, last_ns_);
  Text unfinished;
  if (complete && states_.AppendUnfinished(unfinished)) AddOther(unfinished, into);
  if (!style_.json) return Append(into, LossLine(recording_, samples_) + (complete ? "\n" : "; stopped at --limit\n"));
  render::Object losses = LossesValue(recording_);
  losses.push_back({"complete", complete});  // false: --limit ended the reading, and there may be more
  Append(into, "\n],\n\"losses\":" + render::JsonText(losses) + (is_last_of_several_ ? "}\n]}\n" : "}\n"));
}

void EventPrinter::Separate(Text& into) const {
  if (style_.json) Append(into, printed() == 0 ? "\n" : ",\n");
}

void EventPrinter::AddOther(const Text& event, Text& into) {
  Separate(into);
  Append(into, {event.data(), event.size()});
  ++others_;
}

}  // namespace heaprec::tools
