#include "tools/export/formats/sqlite_store.h"

namespace heaprec::tools {

const char kSqliteTables[] = R"(
CREATE TABLE recordings (
  id INTEGER PRIMARY KEY,
  recording_id TEXT,          -- 32 hexadecimal digits, as in the file
  file TEXT,
  start_ns INTEGER,           -- time 0 of the recording, ns since 1970
  start_time TEXT,
  begin_ns INTEGER,           -- of the data in the file; like all other times since start_ns
  end_ns INTEGER,
  ended TEXT,                 -- reason of the end; 'still running', 'cut off'
  pid INTEGER,
  jvm_name TEXT, jvm_version TEXT, gc TEXT,
  agent_version TEXT, agent_options TEXT,
  source TEXT, source_reason TEXT,
  rate_per_second REAL, interval_ns INTEGER, interval_cap INTEGER,
  counted_bytes INTEGER,      -- allocated bytes: counted, not estimated
  calibration REAL,           -- counted bytes over estimated bytes of the heap, without the factors of a census
  exception_calibration REAL  -- the same for throws
);
CREATE TABLE classes (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE methods (id INTEGER PRIMARY KEY, class TEXT, name TEXT, descriptor TEXT);
CREATE TABLE frames (
  id INTEGER PRIMARY KEY,
  method INTEGER REFERENCES methods,  -- NULL: unknown, or frames that were not recorded (line -2), or not kept (-3)
  bci INTEGER, line INTEGER           -- NULL: unknown
);
CREATE TABLE stacks (                 -- a tree: a stack is its innermost frame
  id INTEGER PRIMARY KEY,
  parent INTEGER REFERENCES stacks,   -- the caller; NULL: the root
  frame INTEGER REFERENCES frames
);
CREATE TABLE threads (
  id INTEGER PRIMARY KEY, name TEXT, java_tid INTEGER, os_tid INTEGER, is_virtual INTEGER
);
CREATE TABLE labels (thread INTEGER REFERENCES threads, key TEXT, value TEXT);
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  recording INTEGER REFERENCES recordings,
  sample INTEGER,             -- its id in the recording
  time_ns INTEGER,
  kind TEXT,                  -- tlab, outside, exception, malloc, mmap
  thread INTEGER REFERENCES threads,
  class INTEGER REFERENCES classes,
  stack INTEGER REFERENCES stacks,
  size INTEGER,               -- of the object, bytes; exceptions: 0; NULL: unknown
  tlab_size INTEGER,
  window INTEGER,
  weight_bytes REAL,          -- bytes that the sample represents
  weight_objects REAL,        -- objects, or throws, that it represents; NULL: unknown, like the size
  probability REAL,           -- with which it was sampled
  calibrated_bytes REAL,      -- weight_bytes and weight_objects, calibrated to the counted bytes
  calibrated_objects REAL
);
CREATE TABLE rows (           -- sums over all points of the heap, kept as events or not, by class and path
  recording INTEGER REFERENCES recordings,
  begin_ns INTEGER, end_ns INTEGER,
  class INTEGER REFERENCES classes,
  stack INTEGER REFERENCES stacks,    -- the path: from the frame that allocated to the site; callers are not known
  site INTEGER REFERENCES frames,     -- the innermost frame that does not only allocate for its caller
  points INTEGER, seen_bytes INTEGER, -- of the objects at the points
  weight_bytes REAL, weight_objects REAL,
  bytes_variance REAL, objects_variance REAL, covariance REAL,  -- of the two weights; all sums add up
  calibrated_bytes REAL,              -- the weights, calibrated to the counted bytes: what top shows
  calibrated_objects REAL
);
CREATE TABLE windows (
  recording INTEGER REFERENCES recordings, stream TEXT, id INTEGER, start_ns INTEGER, lambda REAL,
  PRIMARY KEY (recording, stream, id)
) WITHOUT ROWID;
CREATE TABLE intervals (
  recording INTEGER REFERENCES recordings, stream TEXT, number INTEGER, start_ns INTEGER,
  candidates INTEGER, bytes INTEGER, buffered INTEGER, kept INTEGER, tau REAL
);
CREATE TABLE states (         -- of the heap and the process; 0: unknown
  recording INTEGER REFERENCES recordings, id INTEGER, time_ns INTEGER,
  kind TEXT,                  -- periodic, gc_begin, gc_end, gc_counted
  used INTEGER, committed INTEGER, pauses INTEGER, paused_ns INTEGER, threads INTEGER, rss INTEGER, cause TEXT
);
CREATE TABLE cpu_time (       -- of the process since its start, about once a second
  recording INTEGER, time_ns INTEGER, process_ns INTEGER,
  gc_ns INTEGER               -- of the collector's threads; 0: none was found
);
CREATE TABLE process_memory ( -- snapshots of the process (option nmt); NULL: unknown
  recording INTEGER REFERENCES recordings, time_ns INTEGER,
  rss INTEGER, pss INTEGER, private INTEGER  -- bytes
);
CREATE TABLE jvm_memory (     -- the JVM's NMT categories at these snapshots, if it has -XX:NativeMemoryTracking
  recording INTEGER REFERENCES recordings, time_ns INTEGER,
  category TEXT,              -- the JVM's name; Total: all together
  reserved INTEGER, committed INTEGER        -- bytes
);
CREATE TABLE lifetimes (      -- of the sampled objects that were tracked until they died (option live)
  recording INTEGER REFERENCES recordings,
  sample INTEGER,             -- its id in the recording
  thread INTEGER REFERENCES threads, class INTEGER REFERENCES classes, stack INTEGER REFERENCES stacks,
  size INTEGER,
  born_ns INTEGER,
  ended_ns INTEGER,           -- tracked until then; of live objects the end of the recording
  end TEXT,                   -- live; died; evicted: no longer tracked, others carry its weight; unknown
  survived INTEGER,           -- collections; NULL: unknown
  weight_bytes REAL,          -- bytes and objects that it represented by then; NULL: unknown
  weight_objects REAL,
  known INTEGER               -- 0: may be garbage (generational ZGC: no major collection since)
);
CREATE TABLE stream_counters (
  recording INTEGER REFERENCES recordings, stream TEXT,
  candidates INTEGER, candidate_bytes INTEGER, points INTEGER, thinned INTEGER, committed INTEGER, written INTEGER,
  second_stage INTEGER, stacks_walked INTEGER, stacks_from_jvmti INTEGER, stack_mismatches INTEGER
);
CREATE TABLE losses (         -- by reason; all reasons have a row
  recording INTEGER REFERENCES recordings, stream TEXT, reason TEXT, points INTEGER, weight REAL
);
CREATE TABLE skipped (        -- bytes of the file that could not be read, or were damaged and repaired
  recording INTEGER REFERENCES recordings, begin INTEGER, end INTEGER, why TEXT, at_end INTEGER, repaired INTEGER
);
)";

const char kSqliteViews[] = R"(
-- The sum of a group is NULL if a part of it is unknown.
CREATE VIEW frame_names AS    -- of each frame; site: Class.method
SELECT f.id, CASE WHEN m.id IS NOT NULL THEN m.class || '.' || m.name
                  WHEN f.line = -2 THEN '[truncated]' WHEN f.line = -3 THEN '[callers not kept]' ELSE '[unknown]' END AS site,
       CASE WHEN f.line >= 0 THEN f.line END AS line
FROM frames f LEFT JOIN methods m ON m.id = f.method;

CREATE VIEW samples AS        -- samples with names
SELECT e.id, e.recording, r.start_ns + e.time_ns AS time_ns, e.time_ns / 1e9 AS seconds, e.kind,
       coalesce(t.name, '[unknown]') AS thread, coalesce(c.name, '[unknown]') AS class, e.size,
       e.weight_bytes, e.weight_objects, e.probability, e.calibrated_bytes, e.calibrated_objects,
       coalesce(f.site, '[unknown]') AS site, f.line,
       (WITH RECURSIVE up(next, text) AS (
          SELECT s0.parent, n.site || coalesce(':' || n.line, '')
          FROM stacks s0 JOIN frame_names n ON n.id = s0.frame WHERE s0.id = e.stack
          UNION ALL
          SELECT s1.parent, n.site || coalesce(':' || n.line, '') || ';' || up.text
          FROM up JOIN stacks s1 ON s1.id = up.next JOIN frame_names n ON n.id = s1.frame)
        SELECT text FROM up WHERE next IS NULL) AS stack,
       (SELECT group_concat(l.key || '=' || l.value, ';') FROM labels l WHERE l.thread = e.thread) AS labels
FROM events e JOIN recordings r ON r.id = e.recording
     LEFT JOIN threads t ON t.id = e.thread LEFT JOIN classes c ON c.id = e.class
     LEFT JOIN stacks s ON s.id = e.stack LEFT JOIN frame_names f ON f.id = s.frame;

CREATE VIEW points AS         -- rows with names; empty where there are none, or where a filter needs samples
SELECT w.recording, w.begin_ns / 1e9 AS begin, w.end_ns / 1e9 AS end, coalesce(c.name, '[unknown]') AS class,
       coalesce(f.site, '[unknown]') AS site, f.line, w.points, w.weight_bytes, w.weight_objects, w.calibrated_bytes,
       w.calibrated_objects
FROM rows w LEFT JOIN classes c ON c.id = w.class LEFT JOIN frame_names f ON f.id = w.site;

CREATE VIEW by_class AS       -- largest first
SELECT class, count(*) AS samples, sum(weight_bytes) AS weight_bytes,
       CASE WHEN count(weight_objects) = count(*) THEN sum(weight_objects) END AS weight_objects,
       sum(calibrated_bytes) AS calibrated_bytes,
       CASE WHEN count(calibrated_objects) = count(*) THEN sum(calibrated_objects) END AS calibrated_objects
FROM samples GROUP BY class ORDER BY weight_bytes DESC, weight_objects DESC;

CREATE VIEW by_site AS        -- site: the method that allocated; largest first
SELECT site, count(*) AS samples, sum(weight_bytes) AS weight_bytes,
       CASE WHEN count(weight_objects) = count(*) THEN sum(weight_objects) END AS weight_objects,
       sum(calibrated_bytes) AS calibrated_bytes,
       CASE WHEN count(calibrated_objects) = count(*) THEN sum(calibrated_objects) END AS calibrated_objects
FROM samples GROUP BY site ORDER BY weight_bytes DESC, weight_objects DESC;

CREATE VIEW by_thread AS      -- threads with the same name are one row; largest first
SELECT thread, count(*) AS samples, sum(weight_bytes) AS weight_bytes,
       CASE WHEN count(weight_objects) = count(*) THEN sum(weight_objects) END AS weight_objects,
       sum(calibrated_bytes) AS calibrated_bytes,
       CASE WHEN count(calibrated_objects) = count(*) THEN sum(calibrated_objects) END AS calibrated_objects
FROM samples GROUP BY thread ORDER BY weight_bytes DESC, weight_objects DESC;

CREATE VIEW live AS           -- objects that are live at the end, with names
SELECT l.recording, l.sample, coalesce(t.name, '[unknown]') AS thread, coalesce(c.name, '[unknown]') AS class, l.size,
       coalesce(f.site, '[unknown]') AS site, f.line, l.stack, l.born_ns / 1e9 AS born,
       (l.ended_ns - l.born_ns) / 1e9 AS age, l.survived, l.weight_bytes, l.weight_objects, l.known
FROM lifetimes l LEFT JOIN threads t ON t.id = l.thread LEFT JOIN classes c ON c.id = l.class
     LEFT JOIN stacks s ON s.id = l.stack LEFT JOIN frame_names f ON f.id = s.frame
WHERE l.end = 'live';

CREATE VIEW live_by_class AS  -- age (seconds) and survived (collections): means weighted by bytes; largest first
SELECT class, count(*) AS samples,
       CASE WHEN count(weight_bytes) = count(*) THEN sum(weight_bytes) END AS bytes,
       CASE WHEN count(weight_objects) = count(*) THEN sum(weight_objects) END AS objects,
       CASE WHEN count(weight_bytes) = count(*) THEN sum(weight_bytes * age) / sum(weight_bytes) END AS age,
       CASE WHEN count(weight_bytes * survived) = count(*) THEN sum(weight_bytes * survived) / sum(weight_bytes) END
         AS survived,
       CASE WHEN count(weight_bytes * known) = count(*) THEN sum(weight_bytes * known) END AS known_bytes,
       CASE WHEN count(weight_objects * known) = count(*) THEN sum(weight_objects * known) END AS known_objects
FROM live GROUP BY class ORDER BY bytes DESC;

CREATE VIEW live_by_site AS  -- likewise; site: the method that allocated
SELECT site, count(*) AS samples,
       CASE WHEN count(weight_bytes) = count(*) THEN sum(weight_bytes) END AS bytes,
       CASE WHEN count(weight_objects) = count(*) THEN sum(weight_objects) END AS objects,
       CASE WHEN count(weight_bytes) = count(*) THEN sum(weight_bytes * age) / sum(weight_bytes) END AS age,
       CASE WHEN count(weight_bytes * survived) = count(*) THEN sum(weight_bytes * survived) / sum(weight_bytes) END
         AS survived,
       CASE WHEN count(weight_bytes * known) = count(*) THEN sum(weight_bytes * known) END AS known_bytes,
       CASE WHEN count(weight_objects * known) = count(*) THEN sum(weight_objects * known) END AS known_objects
FROM live GROUP BY site ORDER BY bytes DESC;

CREATE VIEW by_second AS      -- in order of time
SELECT recording, CAST(seconds AS INTEGER) AS second, count(*) AS samples, sum(weight_bytes) AS weight_bytes,
       CASE WHEN count(weight_objects) = count(*) THEN sum(weight_objects) END AS weight_objects,
       sum(calibrated_bytes) AS calibrated_bytes,
       CASE WHEN count(calibrated_objects) = count(*) THEN sum(calibrated_objects) END AS calibrated_objects
FROM samples GROUP BY recording, second ORDER BY recording, second;

CREATE VIEW stack_frames AS   -- all frames of the stacks of events; depth 0: the frame that allocated
WITH RECURSIVE up(stack, depth, frame, next) AS (
  SELECT s.id, 0, s.frame, s.parent FROM stacks s WHERE s.id IN (SELECT stack FROM events)
  UNION ALL
  SELECT up.stack, up.depth + 1, s.frame, s.parent FROM up JOIN stacks s ON s.id = up.next)
SELECT up.stack, up.depth, n.site, n.line FROM up JOIN frame_names n ON n.id = up.frame;

CREATE VIEW by_method AS      -- including callees; recursion counts once; largest first
SELECT m.site AS method, sum(e.samples) AS samples, sum(e.weight_bytes) AS weight_bytes,
       CASE WHEN count(e.weight_objects) = count(*) THEN sum(e.weight_objects) END AS weight_objects,
       sum(e.calibrated_bytes) AS calibrated_bytes,
       CASE WHEN count(e.calibrated_objects) = count(*) THEN sum(e.calibrated_objects) END AS calibrated_objects
FROM (SELECT DISTINCT stack, site FROM stack_frames) m
     JOIN (SELECT stack, count(*) AS samples, sum(weight_bytes) AS weight_bytes,
                  CASE WHEN count(weight_objects) = count(*) THEN sum(weight_objects) END AS weight_objects,
                  sum(calibrated_bytes) AS calibrated_bytes,
                  CASE WHEN count(calibrated_objects) = count(*) THEN sum(calibrated_objects) END AS calibrated_objects
           FROM events GROUP BY stack) e ON e.stack = m.stack
GROUP BY m.site ORDER BY weight_bytes DESC, weight_objects DESC;
)";

const char kSqliteIndices[] = R"(
CREATE INDEX events_by_time ON events (recording, time_ns);
CREATE INDEX events_by_class ON events (class);
CREATE INDEX events_by_stack ON events (stack);
CREATE INDEX events_by_thread ON events (thread);
CREATE INDEX labels_by_thread ON labels (thread);
)";

}  // namespace heaprec::tools
