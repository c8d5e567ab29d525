-- Which version of the tables there is, how long a slice is, and of which cluster this server is a shard.
CREATE TABLE IF NOT EXISTS $database.schema (
  version UInt32, slice_seconds UInt32, cluster String, at DateTime
) ENGINE = MergeTree PARTITION BY tuple() ORDER BY version;
