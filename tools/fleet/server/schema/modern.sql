-- For servers since 21.1 only: retention by the server, and codecs. $sample_days and $sum_days come from options.
ALTER TABLE $database.samples MODIFY TTL slice + INTERVAL $sample_days DAY;
ALTER TABLE $database.sums MODIFY TTL time + INTERVAL $sample_days DAY;
ALTER TABLE $database.hours MODIFY TTL time + INTERVAL $sum_days DAY;
ALTER TABLE $database.totals MODIFY TTL time + INTERVAL $sum_days DAY;
ALTER TABLE $database.live MODIFY TTL time + INTERVAL $sample_days DAY;
ALTER TABLE $database.leases MODIFY TTL until + INTERVAL 1 DAY;
ALTER TABLE $database.sums MODIFY COLUMN bytes Float64 CODEC(Gorilla, ZSTD(1));
ALTER TABLE $database.sums MODIFY COLUMN objects Float64 CODEC(Gorilla, ZSTD(1));
ALTER TABLE $database.sums MODIFY COLUMN fourth Float64 CODEC(ZSTD(1));
ALTER TABLE $database.sums MODIFY COLUMN fourth_objects Float64 CODEC(ZSTD(1));
ALTER TABLE $database.samples MODIFY COLUMN time_ns UInt64 CODEC(Delta, ZSTD(1));
