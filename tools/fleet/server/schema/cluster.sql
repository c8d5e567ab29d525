-- What reads and writes all shards of $cluster; run on every shard, after tables.sql.
CREATE TABLE IF NOT EXISTS $database.recordings_all AS $database.recordings
ENGINE = Distributed('$cluster', '$database', recordings, recording);
CREATE TABLE IF NOT EXISTS $database.names_all AS $database.names
ENGINE = Distributed('$cluster', '$database', names, id);
CREATE TABLE IF NOT EXISTS $database.stacks_all AS $database.stacks
ENGINE = Distributed('$cluster', '$database', stacks, stack);
CREATE TABLE IF NOT EXISTS $database.totals_all AS $database.totals
ENGINE = Distributed('$cluster', '$database', totals, recording);
CREATE TABLE IF NOT EXISTS $database.sums_all AS $database.sums
ENGINE = Distributed('$cluster', '$database', sums, recording);
CREATE TABLE IF NOT EXISTS $database.hours_all AS $database.hours
ENGINE = Distributed('$cluster', '$database', hours, recording);
CREATE TABLE IF NOT EXISTS $database.samples_all AS $database.samples
ENGINE = Distributed('$cluster', '$database', samples, recording);
CREATE TABLE IF NOT EXISTS $database.shipped_all AS $database.shipped
ENGINE = Distributed('$cluster', '$database', shipped, recording);
CREATE TABLE IF NOT EXISTS $database.live_all AS $database.live
ENGINE = Distributed('$cluster', '$database', live, recording);
CREATE TABLE IF NOT EXISTS $database.leases_all AS $database.leases
ENGINE = Distributed('$cluster', '$database', leases, recording);
