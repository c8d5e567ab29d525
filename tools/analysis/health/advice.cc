#include <array>
#include <utility>

#include "tools/analysis/health/diagnosis.h"

namespace heaprec::tools {
namespace {

using Entry = std::pair<std::string_view, Advice>;

constexpr std::array kAdvice{
    Entry{"end",
          {"what was allocated after the last block that could be read is missing",
           "keep the shared ring (ring=auto), so that a kill loses nothing; heaprec recover makes a clean recording of "
           "the rest"}},
    Entry{"end_running",
          {"estimates cover the recording so far", "none; run the command again when the recording has ended"}},
    Entry{"end_salvaged",
          {"none: the ring had what the file lacks",
           "heaprec recover makes one file of both, before the machine is restarted"}},
    Entry{"damage",
          {"samples in those bytes are missing, and names defined there are [lost]",
           "copy the file again from its origin; heaprec recover counts what is lost; check the disk"}},
    Entry{"damage_repaired",
          {"none: the bytes were restored from parity records, and no sample or name is missing",
           "heaprec recover writes a clean copy; check the disk"}},
    Entry{
        "source",
        {"kinds are guessed, and without counted bytes the total is known from the samples only",
         "install the JVM's symbols (the debug package of its build), so that source=auto can use hooks; `source` has "
         "the reason"}},
    Entry{"source_imported",
          {"the weights come from the imported file and have its bias",
           "record with heaprec; use the import for a first impression only"}},
    Entry{"stacks",
          {"stacks after it come from GetStackTrace for a while: correct, but more expensive",
           "none for this recording; report the JDK's version, and set stacks=jvmti to skip the comparisons"}},
    Entry{"total",
          {"samples are missing or have wrong weights: estimates may be wrong by that difference",
           "heaprec verify shows the contradiction; record again, and report it if it persists"}},
    Entry{
        "total_inline",
        {"without TLABs the JVM's code allocates without calling the hooks: most objects were counted, but not sampled",
         "remove -XX:-UseTLAB, or start the JVM with the agent instead of attaching"}},
    Entry{"uncounted",
          {"the allocated bytes are estimated from the samples alone: estimates are not calibrated",
           "record with source=hooks where it is available"}},
    Entry{"maxsamples",
          {"sums are unbiased, but based on very few samples for most of the time",
           "raise maxsamples=N, or set duration=, so that all intervals get the same number"}},
    Entry{"losses", {"estimates for that time are too low by about that share", "see the loss of this name below"}},
    Entry{"losses_unknown",
          {"samples may be missing unnoticed", "none: check the recorder that wrote the file for lost events"}},
    Entry{"loss_missed",
          {"the JVM posted no events for these sample points; a few are usual while it starts",
           "none if there are few; otherwise record with source=hooks, and without another agent that samples "
           "allocations"}},
    Entry{"loss_ring_full",
          {"the agent's thread could not keep up: bursts are underestimated",
           "lower rate=, or give the JVM another CPU"}},
    Entry{"loss_lanes_busy",
          {"many threads sampled at once: bursts of many threads are underestimated", "lower rate="}},
    Entry{"loss_no_clock",
          {"the process had more threads than heaprec can track: their allocations are not counted at all",
           "record with fewer threads at a time"}},
    Entry{"loss_write_failed",
          {"the disk was full or failed for longer than the ring could hold samples: that time is underestimated",
           "free disk space, write elsewhere (file=), or limit the file (maxsize=)"}},
    Entry{"loss_oversized",
          {"some stacks are too large for the ring: the deepest sites are underestimated", "lower stackdepth="}},
    Entry{"loss_killed",
          {"the process was killed before these points reached the ring, or its ring is gone",
           "none for this recording, which has all earlier points; next time read the recording before its ring is "
           "deleted"}},
    Entry{"counters",
          {"the recorder's counters contradict each other: do not rely on the numbers",
           "heaprec verify says where; record again, and report it if it persists"}},
    Entry{"consistency",
          {"the recording contradicts itself: do not rely on the numbers",
           "heaprec verify lists all; copy the file again from its origin; report it if it persists"}},
    Entry{"no_samples",
          {"the total is exact; classes, sites and threads are unknown", "raise rate=, or record longer"}},
    Entry{"uncounted_threads",
          {"the totals lack the allocations of those threads",
           "record with fewer threads at a time; report it with the number of threads"}},
    Entry{"cap",
          {"the maximum number of samples was exceeded: the file was changed, or the agent has a defect", "report it"}},
    Entry{"ring",
          {"some samples that were not yet written when the process died are lost",
           "keep the ring's file, and read the recording before the machine is restarted"}},
    Entry{"no_ring",
          {"a kill -9 would have lost up to the last second", "record with ring=auto, or a path on a tmpfs"}},
    Entry{"names",
          {"samples count in totals, but as [lost] or [unknown]: their classes and sites are underestimated",
           "copy the file again from its origin; read it while its ring exists"}},
    Entry{
        "native",
        {"native memory of those libraries is not counted; all other numbers are correct",
         "use one recording of native memory at a time (HEAPREC_NATIVE_SAMPLED or native=on), and libraries whose GOT "
         "may be written to"}},
    Entry{"exceptions", {"thrown exceptions were not recorded", "start the JVM with exceptions=on"}},
    Entry{"truncated",
          {"allocating frames are correct; trees and cumulative numbers lack the missing callers",
           "raise stackdepth= (up to 1024)"}},
    Entry{"unknown_frames",
          {"trees and sites show [unknown] for these frames",
           "record with stacks=jvmti; report it with the JDK's version"}},
    Entry{"unknown_classes", {"tables by class show [unknown] for these samples", "report it with the JDK's version"}},
    Entry{"no_stack",
          {"sites are underestimated by that share; totals and classes are not",
           "none if native threads allocate through JNI without a Java method; else record with stacks=jvmti"}},
    Entry{"no_thread",
          {"tables by thread and by label show [unknown] for these samples", "report it with the JDK's version"}},
    Entry{"precision",
          {"small shares are uncertain: read the intervals, not the values", "record longer, or raise rate="}},
    Entry{"rate_limited",
          {"the rate limits the precision in these intervals; estimates stay unbiased",
           "raise rate= if the intervals are too wide"}},
    Entry{"rate_used",
          {"fewer samples than the rate allows: intervals are wider than they could be",
           "none if the program hardly allocates; else report it"}},
    Entry{"clock",
          {"times of day of later samples are off by that time; durations are correct",
           "use offsets (--from 10s) instead of times of day"}},
    Entry{"missing_start",
          {"estimates cover the time in this file, not the whole recording",
           "raise maxsize= or maxage=, or keep all parts (rotate=)"}},
};

}  // namespace

Advice AdviceFor(std::string_view id) {
  for (const auto& [of, advice] : kAdvice) {
    if (of == id) return advice;
  }
  return {};
}

}  // namespace heaprec::tools
