package org.openjdk.jmh.results;

public enum AggregationPolicy {
    AVG,
    SUM,
    MAX
}
