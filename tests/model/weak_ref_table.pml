/* The places in which sampled objects are followed (recorder/sources/live/weak_ref_table.h), in every interleaving.
 *
 * Threads that allocate take a place, make a weak reference, lead the place to followed and publish the sample
 * (recorder/sources/sample/sample_writer.cc, weak_ref_table.h); or give it up. Objects die. The watch looks at all places, tells deaths and alone
 * deletes references (recorder/sources/live/weak_ref_poller.cc). The drain takes samples and deaths in any order that two lanes
 * allow, keeps a sample or not, and drops what it does not keep or has no room for (recorder/writer/tracked_set.cc).
 *
 * Asserted: there are never more references than places; the watch asks only of references that are there, and each is
 * deleted once; none is left at the end. Who drops, meets its own sample. A sample that was dropped tells no death, and no
 * death is told twice; what the drain holds for followed at the end is followed, or its death is told. What is read of a
 * followed sample is that sample's, or is known not to be.
 *
 * Interleaving is sequentially consistent; what release and acquire are needed for is said in weak_ref_table.cc, and TSan runs
 * tests/sources:sources_test.
 */
#define THREADS 2
#ifndef SAMPLES
#define SAMPLES 2 /* of a thread */
#endif
#ifndef PLACES
#define PLACES 1
#endif
/* A mistake that the model must find, to show that it can. */
#ifndef MISTAKE
#define MISTAKE 0
#endif
#define DROP_WHATEVER_IS_THERE (MISTAKE == 1)
#define BURY_WITHOUT_ASKING (MISTAKE == 2)
#define FOLLOW_BEFORE_THE_REFERENCE (MISTAKE == 3)
#define FREE_BEFORE_DELETING (MISTAKE == 4)
#define TAKE_WITHOUT_ASKING (MISTAKE == 5)
#define DRAIN_FREES (MISTAKE == 6)
#define READ_WITHOUT_ASKING (MISTAKE == 7)
#define ALL (THREADS * SAMPLES)
#define NONE 255
#define BIT(n) (1 << (n))

mtype = { free, taken, followed, dropped, dead };
mtype state[PLACES] = free;
byte whose[PLACES] = NONE;        /* the sample in the place's word */
byte reference[PLACES] = NONE; /* the sample whose reference it is */
byte births[PLACES] = NONE;    /* the sample whose count of collections it is */
byte takers[PLACES];

byte references; /* that there are */
short there, gone; /* samples whose reference there is, or was deleted */
short died; /* objects */
short published, told; /* samples and deaths in the lanes */
byte place_of[ALL];
short was_dropped;
byte at_work = THREADS;
bit drain_ended;

inline any(s) { s = 0; do :: s < ALL - 1 -> s++ :: break od }

proctype Allocating(byte first) {
  byte n, i, mine;
  do
  :: n < SAMPLES ->
     i = 0;
     mine = NONE;
     do
     :: i < PLACES ->
        if
        :: TAKE_WITHOUT_ASKING ->
           if :: state[i] == free -> state[i] = taken; takers[i]++; mine = i; break :: else -> i++ fi
        :: else ->
           atomic { if :: state[i] == free -> state[i] = taken; takers[i]++; mine = i; break :: else -> i++ fi }
        fi
     :: else -> break
     od;
     if
     :: mine == NONE -> skip
     :: else ->
        assert(takers[mine] == 1);
        atomic { there = there | BIT(first + n); references++; assert(references <= PLACES) }
        if
        :: /* there is a sample */
           if :: FOLLOW_BEFORE_THE_REFERENCE -> atomic { takers[mine]--; whose[mine] = first + n; state[mine] = followed } :: else fi;
           reference[mine] = first + n;
           births[mine] = first + n;
           if :: !FOLLOW_BEFORE_THE_REFERENCE -> atomic { takers[mine]--; whose[mine] = first + n; state[mine] = followed } :: else fi
        :: /* there is none: it is given up */
           reference[mine] = first + n;
           atomic { takers[mine]--; whose[mine] = NONE; state[mine] = dropped };
           mine = NONE
        fi
     fi;
     atomic { place_of[first + n] = mine; published = published | BIT(first + n) };
     n++
  :: else -> break
  od;
  at_work--
}

/* An object may die as soon as its thread is done with it. */
proctype Collector() {
  byte s;
end:
  do
  :: atomic { (published & ~died) != 0 -> any(s); if :: published & BIT(s) -> died = died | BIT(s) :: else fi; s = 0 }
  od
}

inline delete(s) {
  atomic {
    assert(s != NONE && (there & BIT(s)) && !(gone & BIT(s)));
    gone = gone | BIT(s);
    references--
  }
}

inline release_place(p, s) {
  if :: FREE_BEFORE_DELETING -> atomic { whose[p] = NONE; state[p] = free } :: else fi;
  delete(s);
  if :: !FREE_BEFORE_DELETING -> reference[p] = NONE; atomic { whose[p] = NONE; state[p] = free } :: else fi
}

inline sweep() {
  w = 0;
  do
  :: w < PLACES ->
     atomic { seen = state[w]; sample = whose[w] }
     ref = reference[w];
     if
     :: seen == dropped -> release_place(w, ref)
     :: seen == followed ->
        assert(ref == sample && !(gone & BIT(ref)));
        if
        :: died & BIT(ref) ->
           if
           :: BURY_WITHOUT_ASKING -> atomic { state[w] = dead; buried = 1 }
           :: else ->
              atomic { buried = (state[w] == followed && whose[w] == sample); if :: buried -> state[w] = dead :: else fi }
           fi;
           if
           :: buried ->
              atomic { assert(!(told & BIT(sample)) && !(was_dropped & BIT(sample))); told = told | BIT(sample) }
              release_place(w, ref)
           :: else
           fi
        :: else
        fi
     :: else
     fi;
     atomic { w++; sample = 0; ref = 0; buried = 0; seen = 0 }
  :: else -> break
  od
}

proctype Watch() {
  byte w, sample, ref;
  mtype seen;
  bit buried;
  do
  :: !(at_work == 0 && drain_ended) -> sweep()
  :: at_work == 0 && drain_ended -> break
  od;
  /* A recording ends: a last look, then nothing is left (LiveThread::LeaveNothing). */
  sweep();
  w = 0;
  do
  :: w < PLACES ->
     atomic { seen = state[w]; ref = reference[w]; if :: seen == followed -> state[w] = dropped :: else fi }
     if :: seen == followed || seen == dropped -> release_place(w, ref) :: else fi;
     w++
  :: else -> break
  od;
  assert(references == 0)
}

inline drop(s) {
  if
  :: place_of[s] == NONE
  :: else ->
     atomic {
       if
       :: state[place_of[s]] == followed && (DROP_WHATEVER_IS_THERE || whose[place_of[s]] == s) ->
          assert(whose[place_of[s]] == s);
          was_dropped = was_dropped | BIT(s);
          state[place_of[s]] = dropped;
          if :: DRAIN_FREES -> whose[place_of[s]] = NONE; state[place_of[s]] = free :: else fi
       :: else
       fi
     }
  fi
}

proctype Drain() {
  short scanned, deaths, held;
  byte s, value;
again:
  do
  :: atomic { at_work == 0 && scanned == BIT(ALL) - 1 -> s = 0; break }
  :: atomic { deaths != told -> deaths = told; held = held & ~told }
  :: atomic { (published & ~scanned) != 0 -> any(s); if :: (published & BIT(s)) && !(scanned & BIT(s)) :: else -> s = 0; goto again fi; scanned = scanned | BIT(s) };
     if
     :: deaths & BIT(s) /* died before its interval was closed */
     :: !(deaths & BIT(s)) && place_of[s] != NONE ->
        /* kept: Places::CollectionsAtBirth */
        value = births[place_of[s]];
        if
        :: READ_WITHOUT_ASKING -> assert(value == s)
        :: else ->
           atomic { if :: state[place_of[s]] == followed && whose[place_of[s]] == s -> assert(value == s) :: else fi }
        fi;
        atomic { held = held | BIT(s); value = 0 }
     :: !(deaths & BIT(s)) -> drop(s) /* not kept */
     fi;
     s = 0
  :: atomic { held != 0 -> any(s); if :: held & BIT(s) :: else -> s = 0; goto again fi; held = held & ~BIT(s) };
     drop(s); /* released */
     s = 0
  od;
  do
  :: s < ALL ->
     atomic {
       if
       :: held & BIT(s) -> assert((told & BIT(s)) || (whose[place_of[s]] == s && (state[place_of[s]] == followed || state[place_of[s]] == dead)))
       :: else
       fi
     };
     s++
  :: else -> break
  od;
  drain_ended = 1
}

init {
  atomic { run Allocating(0); run Allocating(SAMPLES); run Collector(); run Watch(); run Drain() }
}
