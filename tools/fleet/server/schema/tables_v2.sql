-- Version 2 adds what is live in a process at the end of each slice (or of the recording: `at`), and leases.
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
