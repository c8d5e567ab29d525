package org.openjdk.jmh.runner;

public enum IterationType {
    WARMUP,
    MEASUREMENT
}
