-- Version 2, after tables_v2.sql.
CREATE TABLE IF NOT EXISTS $database.live_all AS $database.live
ENGINE = Distributed('$cluster', '$database', live, recording);
CREATE TABLE IF NOT EXISTS $database.leases_all AS $database.leases
ENGINE = Distributed('$cluster', '$database', leases, recording);
