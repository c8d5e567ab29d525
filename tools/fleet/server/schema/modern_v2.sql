-- Version 2, for servers since 21.1 only.
ALTER TABLE $database.live MODIFY TTL time + INTERVAL $sample_days DAY;
ALTER TABLE $database.leases MODIFY TTL until + INTERVAL 1 DAY;
