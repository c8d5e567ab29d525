-- The tables, in the subset of SQL that ClickHouse 18.16 and later servers share. Run on every shard.
-- $database is replaced by the name of the database. Statements end with a semicolon at the end of a line.
-- ReplacingMergeTree is the second net below the shipper's ledger: ORDER BY identifies a row.
-- Times are multiples of a slice, so that what is inserted at once lies in one partition, a day of UTC.

-- Which version of the tables there is, how long a slice is, and of which cluster this server is a shard.
CREATE TABLE IF NOT EXISTS $database.schema (
  version UInt32, slice_seconds UInt32, cluster String, at DateTime
) ENGINE = MergeTree PARTITION BY tuple() ORDER BY version;

CREATE TABLE IF NOT EXISTS $database.recordings (
  recording UInt64, started DateTime, seen DateTime, ended UInt8,
  service String, version String, environment String, host String, pod String,
  jdk String, gc String, file String, rate Float64, label_keys Array(String), label_values Array(String),
  trustworthy UInt8, why_not String,
  fills String, full_s Float64, full_low_s Float64, full_high_s Float64
) ENGINE = ReplacingMergeTree(seen) ORDER BY recording;

CREATE TABLE IF NOT EXISTS $database.names (
  id UInt64, kind UInt8, name String, seen DateTime
) ENGINE = ReplacingMergeTree(seen) ORDER BY (kind, id);

CREATE TABLE IF NOT EXISTS $database.stacks (
  stack UInt64, methods Array(UInt64), seen DateTime
) ENGINE = ReplacingMergeTree(seen) ORDER BY stack;

CREATE TABLE IF NOT EXISTS $database.totals (
  time DateTime, slice DateTime, recording UInt64, seconds Float64, counted Float64, weighed Float64, lost Float64,
  bytes Float64, objects Float64, seen Float64, samples Float32,
  variance Float32, variance_objects Float32, covariance Float32, fourth Float64, fourth_objects Float64
) ENGINE = ReplacingMergeTree PARTITION BY intDiv(toUInt32(time), 86400) ORDER BY (recording, time);

CREATE TABLE IF NOT EXISTS $database.sums (
  time DateTime, recording UInt64, grain UInt8, class UInt64, site UInt64,
  bytes Float64, objects Float64, seen Float64, samples Float32,
  variance Float32, variance_objects Float32, covariance Float32, fourth Float64, fourth_objects Float64
) ENGINE = ReplacingMergeTree PARTITION BY intDiv(toUInt32(time), 86400)
ORDER BY (grain, recording, time, class, site);

CREATE TABLE IF NOT EXISTS $database.hours (
  time DateTime, recording UInt64, grain UInt8, class UInt64, site UInt64,
  bytes Float64, objects Float64, seen Float64, samples Float32,
  variance Float32, variance_objects Float32, covariance Float32, fourth Float64, fourth_objects Float64
) ENGINE = ReplacingMergeTree PARTITION BY intDiv(toUInt32(time), 86400)
ORDER BY (grain, recording, time, class, site);

CREATE TABLE IF NOT EXISTS $database.samples (
  slice DateTime, recording UInt64, time_ns UInt64, id UInt64, class UInt64, site UInt64, stack UInt64,
  size UInt64, weight Float64
) ENGINE = ReplacingMergeTree PARTITION BY intDiv(toUInt32(slice), 86400) ORDER BY (recording, slice, stack, id);

CREATE TABLE IF NOT EXISTS $database.shipped (
  recording UInt64, time DateTime, kind UInt8, totals UInt32, sums UInt32, samples UInt32, at DateTime
) ENGINE = ReplacingMergeTree(at) PARTITION BY intDiv(toUInt32(time), 2592000) ORDER BY (recording, kind, time);

-- What is live in a process at the end of each slice (or of the recording: `at`).
-- Of a question all recordings are read at one time, or nearly so: hence the order.
CREATE TABLE IF NOT EXISTS $database.live (
  time DateTime, at DateTime, recording UInt64, process UInt64, grain UInt8, state UInt8, class UInt64, site UInt64,
  bytes Float64, objects Float64, seen Float64, samples Float32,
  variance Float32, variance_objects Float32, squares Float32,
  aged Float64, aged_once Float64, aged_twice Float64
) ENGINE = ReplacingMergeTree PARTITION BY intDiv(toUInt32(time), 86400)
ORDER BY (grain, time, recording, class, site, state);

-- Who may send a recording, and until when: shippers of copies of it keep out of each other's way.
CREATE TABLE IF NOT EXISTS $database.leases (
  recording UInt64, owner UInt64, until DateTime
) ENGINE = ReplacingMergeTree(until) ORDER BY (recording, owner);
