#include "tools/analysis/health/advice.h"

#include <array>
#include <utility>

namespace heaprec::tools {
namespace {

using Entry = std::pair<std::string_view, Advice>;

constexpr std::array kAdvice{
    Entry{"end",
          {"what was allocated after the last block that could be read is missing",
           "keep the shared ring (ring=auto) so that a kill loses nothing; heaprec recover makes a clean recording of "
           "what there is"}},
    Entry{"end_running", {"they are of what was recorded so far", "nothing; ask again when it has ended"}},
    Entry{"end_salvaged",
          {"nothing: what the file does not have was in the ring",
           "heaprec recover makes one file of both, before the machine is restarted"}},
    Entry{"damage",
          {"samples that stood in those bytes are missing, and names that were defined there are [lost]",
           "copy the file again from where it was made; heaprec recover counts what is gone; look at the disk"}},
    Entry{"source",
          {"kinds are guessed, and without counted bytes the total is known from the samples only",
           "give the JVM's symbols (a debug package of its build) so that source=auto can take hooks; the reason is in "
           "`source`"}},
    Entry{"source_imported",
          {"weights are those of the file that was imported, and as biased as they are there",
           "record with heaprec; use what was imported for a first look only"}},
    Entry{"source_tlab",
          {"sites that allocate little just after others filled a TLAB are charged with all of it: shares are biased",
           "record with source=auto"}},
    Entry{"stacks",
          {"stacks are those of GetStackTrace from there on: right, but dearer",
           "nothing for this recording; report the JDK's version, and set stacks=jvmti to save the comparisons"}},
    Entry{"total",
          {"samples are missing or weigh wrong: estimates may be off by as much",
           "heaprec verify names what contradicts itself; record again, and report it if it stays"}},
    Entry{"uncounted",
          {"nothing outside of the samples says how much was allocated: estimates are not calibrated",
           "record with source=hooks where it can be had"}},
    Entry{"maxsamples",
          {"sums are without bias, but of so few samples for most of the time that they tell hardly anything",
           "raise maxsamples=N, or give duration= with it so that all of the time gets its share"}},
    Entry{"losses",
          {"estimates of what was allocated in those moments are too low by about that share",
           "see the loss by its name below"}},
    Entry{
        "loss_missed",
        {"the JVM dropped the events in which these points lay; classes it creates while it starts are the usual ones",
         "nothing if it is a handful; else record with source=hooks, and not while another agent holds the events"}},
    Entry{"loss_ring_full",
          {"the drain could not keep up: bursts are under-estimated", "lower rate=, or give the JVM a CPU more"}},
    Entry{"loss_lanes_busy", {"many threads hit at once: bursts of many threads are under-estimated", "lower rate="}},
    Entry{"loss_no_clock",
          {"these are allocations of threads beyond the number that is followed: they are not counted at all",
           "fewer threads at once in one recording"}},
    Entry{"loss_no_stack",
          {"the samples are there with class and weight, but without a site: sites are under-estimated by that share",
           "stacks=jvmti asks the JVM for each"}},
    Entry{"loss_write_failed",
          {"the disk was full or failed for longer than the ring could hold: that time is under-estimated",
           "free the disk, or write elsewhere (file=), or bound the file (maxsize=)"}},
    Entry{"loss_oversized",
          {"stacks too big for the ring: the deepest sites are under-estimated", "lower stackdepth="}},
    Entry{"loss_killed",
          {"the process was killed before these points of the last 0.1 s reached the ring",
           "nothing: the recording has all earlier points"}},
    Entry{"counters",
          {"the recorder counters contradict each other: do not rely on the numbers",
           "heaprec verify says where; record again, and report it if it stays"}},
    Entry{"consistency",
          {"the recording contradicts itself: do not rely on the numbers",
           "heaprec verify lists all; copy the file again from where it was made; report it if it stays"}},
    Entry{"uncounted_threads",
          {"those threads' allocations are in no total",
           "fewer threads at once in one recording; report it with the number of threads"}},
    Entry{"cap", {"the bound on samples was broken: the file was changed, or the agent is at fault", "report it"}},
    Entry{"ring",
          {"some samples that were not yet written when the process died are lost",
           "keep the ring's file as it was left, and read it before the machine is restarted"}},
    Entry{"no_ring",
          {"a kill -9 would have lost up to the last second", "record with ring=auto, or a path on a tmpfs"}},
    Entry{"names",
          {"samples count in totals, but under [lost] or [unknown]: their classes and sites are under-estimated",
           "copy the file again from where it was made; read it while its ring is still there"}},
    Entry{"native",
          {"what is not seen is in no number of native memory; what is, is right",
           "one recording of native memory at a time (HEAPREC_NATIVE_SAMPLED or native=on), and libraries whose tables "
           "of "
           "calls may be written to"}},
    Entry{"exceptions", {"there is nothing about thrown exceptions", "start the JVM with exceptions=on"}},
    Entry{"truncated",
          {"allocating frames are right; callers in the gap are missing from trees and cumulative numbers",
           "raise stackdepth= (up to 1024)"}},
    Entry{"unknown_frames",
          {"trees and sites have [unknown] there", "record with stacks=jvmti; report it with the JDK's version"}},
    Entry{"unknown_classes", {"tables by class have [unknown] there", "report it with the JDK's version"}},
    Entry{"no_stack",
          {"sites are under-estimated by that share; totals and classes are not", "record with stacks=jvmti"}},
    Entry{"no_thread", {"tables by thread and by label have [unknown] there", "report it with the JDK's version"}},
    Entry{"precision",
          {"small shares are uncertain: read the intervals, not the values", "record longer, or raise rate="}},
    Entry{"rate_limited",
          {"the rate limits precision there; estimates stay unbiased", "raise rate= if the intervals are too wide"}},
    Entry{"rate_used",
          {"fewer samples than the rate allows: intervals are wider than they could be",
           "nothing if the program hardly allocates; else report it"}},
    Entry{"clock",
          {"times of day of later events are off by that; spans within the recording are right",
           "use offsets (--from 10s) instead of times of day"}},
    Entry{"missing_start",
          {"estimates are of the time that the file covers, not of the whole recording",
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
