/* The protocol of lanes, announcements and the drain, with the process killed in any state.
 *
 * Writers lease a lane, announce the definition that their sample uses unless they have seen it announced in this epoch,
 * and commit samples (recorder/sources/sample/sample_writer.cc, recorder/buffer/lane_lease.cc). The drain scans lanes, closes
 * intervals, writes blocks and gives room back (recorder/writer/drain.cc, lane_consumer.cc, chunk_interner.cc). A salvager takes
 * what is behind the positions of the last block (tools/input/salvage.cc). One slot of a lane is one record.
 *
 * With BROUGHT=1 the definition is that of a stack: a sample brings it along in its own lease until the drain, which puts
 * it into the chunk once a sample that is kept needs it, has announced it.
 *
 * Asserted: a sample whose commit has returned is in the file or in the ring, once and not twice, and its definition can be
 * read; or its block could not be written and it is counted. A lane has one writer at a time, nothing is overwritten that
 * the drain or a salvager needs, and a lane keeps the order of time.
 *
 * Interleaving is sequentially consistent: what a commit, a lease or a tail tells of is seen by whoever sees that, for they
 * are stored with release and read with acquire (docs/architecture.md#memory-ordering), and stores that have retired
 * when a process is killed reach the shared page. Any write may fail, as on a full disk.
 */
#define WRITERS 2
#ifndef RECORDS
#define RECORDS 2 /* samples of a writer; definitions come to that, one an epoch */
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
/* A mistake that the model must find, to show that it can. */
#ifndef MISTAKE
#define MISTAKE 0
#endif
#define RELEASE_BEFORE_WRITE (MISTAKE == 1)
#define IGNORE_POSITIONS (MISTAKE == 2)
#define RESOLVE_LATE (MISTAKE == 3)
#define PUBLISH_EARLY (MISTAKE == 4)
#define MARK_BEFORE_COMMIT (MISTAKE == 5)
#define PASS_WHAT_WAS_BROUGHT (MISTAKE == 6)
#define ANNOUNCE_WHAT_IS_NOT_KEPT (MISTAKE == 7)
#ifndef BROUGHT
#define BROUGHT 0
#endif
#define LANES 2
#define CAPACITY 4
#define DEFINITION 15 /* a record's value; samples are 0 .. WRITERS * RECORDS - 1 */
#define SLOT(l, p) slots[(l) * CAPACITY + (p) % CAPACITY]
#define BIT(n) (1 << (n))

/* The ring: survives a kill. */
byte slots[LANES * CAPACITY];
byte head[LANES], tail[LANES];
bit lease[LANES];
/* The file: survives a kill. */
short in_file;         /* samples of whole blocks */
byte defined_in_file;  /* bit c: chunk c has the definition */
byte positions[LANES]; /* of the last block */
/* The counters and the witness. */
short acknowledged, lost;
/* The process. */
byte epoch = 1, announced, interval, live_writers = WRITERS;
byte writers_in[LANES];
byte born[WRITERS * RECORDS]; /* interval in which a sample took its time */
byte under_way[WRITERS];      /* epoch that a writer has read for the sample at which it is; 0: none */
bit dropped; /* blocks, with the definitions in them */

/* Try-lock from the writer's own lane on; a lane without room is let go of again. */
inline take_lane(mine, room) {
  mine = LANES;
  i = 0;
  do
  :: i < LANES ->
     atomic {
       l = (_pid + i) % LANES;
       i++;
       if
       :: lease[l] -> skip
       :: else -> lease[l] = 1; writers_in[l]++; assert(writers_in[l] == 1); mine = l; break
       fi
     }
  :: else -> break
  od;
  atomic {
    if
    :: mine < LANES && head[mine] - tail[mine] + room > CAPACITY -> writers_in[mine]--; lease[mine] = 0; mine = LANES
    :: else -> skip
    fi;
    i = 0; l = 0
  }
}

inline let_go(mine) { atomic { writers_in[mine]--; lease[mine] = 0 } }

proctype Writer(byte first) {
  byte l, i, seen, mine, n;
  bit brings;
  n = 0;
  do
  :: n < RECORDS ->
     atomic { seen = epoch; under_way[first / RECORDS] = seen };
     brings = BROUGHT && announced != seen;
     if
     :: announced == seen || BROUGHT -> skip
     :: else ->
        if :: MARK_BEFORE_COMMIT -> announced = seen :: else -> skip fi;
        take_lane(mine, 1);
        if
        :: mine == LANES -> n++; goto next /* lost and counted before it had a lane */
        :: else -> skip
        fi;
        SLOT(mine, head[mine]) = DEFINITION;
        head[mine]++;
        let_go(mine);
        announced = seen
     fi;
     take_lane(mine, 1 + brings);
     if
     :: mine < LANES ->
        if
        :: brings -> SLOT(mine, head[mine]) = DEFINITION; head[mine]++
        :: else -> skip
        fi;
        if
        :: !PUBLISH_EARLY ->
           atomic { born[first + n] = interval; SLOT(mine, head[mine]) = first + n };
           atomic { head[mine]++; acknowledged = acknowledged | BIT(first + n) }
        :: else ->
           atomic { head[mine]++; acknowledged = acknowledged | BIT(first + n) };
           atomic { born[first + n] = interval; SLOT(mine, head[mine] - 1) = first + n }
        fi;
        let_go(mine)
     :: else -> skip /* ring full: counted */
     fi;
     n++;
next:
     under_way[first / RECORDS] = 0
  :: else -> break
  od;
  live_writers--
}

/* What the drain has in memory. */
short held, pending; /* samples scanned; samples of closed intervals that no block has yet */
byte scanned[LANES], needed[LANES];
byte at[WRITERS * RECORDS], where[WRITERS * RECORDS];
byte chunk;
bit defined_now, defined_before, announced_in_block;
short brought;             /* samples scanned that brought their definition */
byte brought_at[LANES];    /* position + 1 of a definition whose sample has not been scanned; 0: none */

/* A sample that is held needs its definition in the chunk, from the one before if it is only there. */
inline resolve() {
  if
  :: !defined_now && defined_before -> defined_now = 1; announced_in_block = 1
  :: else -> skip
  fi
}

inline define() {
  if :: !defined_now -> defined_now = 1; announced_in_block = 1 :: else -> skip fi
}

/* Of a sample that brought its definition and is kept, or is the second one that brought it. */
inline need() { announced = epoch; define() }

inline scan() {
  d_lane = 0;
  do
  :: d_lane < LANES ->
     d_head = head[d_lane];
     atomic {
       do
       :: scanned[d_lane] < d_head ->
          r = SLOT(d_lane, scanned[d_lane]);
          if
          :: r == DEFINITION && !BROUGHT -> define()
          :: r == DEFINITION && BROUGHT -> brought_at[d_lane] = scanned[d_lane] + 1
          :: else ->
             /* Each lane is in order of time. */
             if :: last[d_lane] < 255 -> assert(born[last[d_lane]] <= born[r]) :: else fi;
             last[d_lane] = r;
             held = held | BIT(r); at[r] = scanned[d_lane]; where[r] = d_lane;
             if
             :: brought_at[d_lane] != 0 ->
                brought = brought | BIT(r);
                if :: !PASS_WHAT_WAS_BROUGHT -> at[r] = brought_at[d_lane] - 1 :: else -> skip fi;
                brought_at[d_lane] = 0;
                if :: need() :: skip fi
             :: else ->
                skip;
                if :: !RESOLVE_LATE -> resolve() :: else -> skip fi
             fi
          fi;
          scanned[d_lane]++
       :: else -> break
       od
     }
     d_lane++
  :: else -> break
  od
}

inline close_interval(everything) {
  atomic {
    r = 0;
    do
    :: r < WRITERS * RECORDS ->
       if
       :: (held & BIT(r)) && (everything || born[r] < interval) ->
          if
          :: brought & BIT(r) ->
             brought = brought & ~BIT(r);
             if
             :: need()
             :: skip; if :: ANNOUNCE_WHAT_IS_NOT_KEPT -> announced = epoch :: else -> skip fi
             fi
          :: else ->
             skip;
             if :: RESOLVE_LATE -> resolve() :: else -> skip fi;
             assert(defined_now)
          fi;
          held = held & ~BIT(r);
          pending = pending | BIT(r)
       :: else -> skip
       fi;
       r++
    :: else -> break
    od
  }
}

inline begin_chunk() {
  atomic {
    chunk++;
    /* What chunks before the last one defined is forgotten after a minute: longer than a writer is under way, and seen. */
    if
    :: (under_way[0] == 0 || under_way[0] == epoch) && (under_way[1] == 0 || under_way[1] == epoch) &&
       scanned[0] == head[0] && scanned[1] == head[1] ->
       defined_before = defined_now
    :: else -> defined_before = defined_before || defined_now
    fi;
    defined_now = 0; announced_in_block = 0;
    if :: brought != 0 -> define() :: else -> skip fi;
    if :: held != 0 -> resolve() :: else -> skip fi
  };
  epoch++
}

inline give_back() {
  tail[0] = needed[0];
  tail[1] = needed[1]
}

inline flush(last_of_chunk) {
  atomic {
    d_lane = 0;
    do
    :: d_lane < LANES ->
       needed[d_lane] = (brought_at[d_lane] != 0 && !PASS_WHAT_WAS_BROUGHT -> brought_at[d_lane] - 1 : scanned[d_lane]);
       r = 0;
       do
       :: r < WRITERS * RECORDS ->
          if
          :: (held & BIT(r)) && where[r] == d_lane && at[r] < needed[d_lane] -> needed[d_lane] = at[r]
          :: else -> skip
          fi;
          r++
       :: else -> break
       od;
       d_lane++
    :: else -> break
    od
  };
  if :: RELEASE_BEFORE_WRITE -> give_back() :: else -> skip fi;
  /* A block is in the file or it is not: a torn one has no valid hash. */
  if
  :: atomic {
       in_file = in_file | pending;
       if :: announced_in_block -> defined_in_file = defined_in_file | BIT(chunk) :: else -> skip fi;
       announced_in_block = 0;
       pending = 0;
       positions[0] = needed[0]; positions[1] = needed[1]
     };
     if :: last_of_chunk -> begin_chunk() :: else -> skip fi;
     give_back()
  :: skip /* the write fails: the block waits, and so does what it stands for in the ring */
  :: /* and the ring has no room for that */
     atomic { lost = lost | pending; pending = 0; dropped = 1 };
     begin_chunk();
     give_back()
  fi
}

proctype Drain() {
  byte d_lane, d_head, r, block;
  byte last[LANES] = 255;
  block = 0;
  do
  :: block < BLOCKS ->
     interval++;
     scan(); /* of writers that are late the next interval takes the samples */
     close_interval(0);
     if :: flush(0) :: flush(1) fi;
     block++
  :: else -> break
  od;
  /* The recording ends when nobody is under way, so that the last interval has all. */
  live_writers == 0;
  scan();
  close_interval(1);
  flush(0)
}

/* What a reader finds, whenever it looks. */
inline salvage() {
  d_step {
    l = 0;
    found = in_file;
    definition = defined_in_file != 0;
    do
    :: l < LANES ->
       p = (IGNORE_POSITIONS -> 0 : positions[l]);
       if :: tail[l] > p -> p = tail[l] :: else -> skip fi;
       do
       :: p < head[l] ->
          s = SLOT(l, p);
          if
          :: s == DEFINITION -> definition = 1
          :: else ->
             assert(!(found & BIT(s))); /* twice */
             found = found | BIT(s);
             from_ring = from_ring | BIT(s)
          fi;
          p++
       :: else -> break
       od;
       l++
    :: else -> break
    od;
    /* None that was acknowledged is missing but those whose block could not be written. */
    assert((acknowledged & ~(found | lost)) == 0);
    assert(from_ring == 0 || definition || dropped);
    l = 0; p = 0; s = 0; found = 0; from_ring = 0; definition = 0
  }
}

/* Looks after every step at what a kill would leave now; leaves no trace of itself, so that it adds no states. */
proctype Salvager() {
  byte l, p, s;
  short found, from_ring;
  bit definition;
end:
  do
  :: salvage()
  od
}

init {
  atomic { run Writer(0); run Writer(RECORDS); run Drain(); run Salvager() }
}
