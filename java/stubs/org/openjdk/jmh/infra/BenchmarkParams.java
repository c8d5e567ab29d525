package org.openjdk.jmh.infra;

public class BenchmarkParams {
    private final String benchmark;

    public BenchmarkParams(String benchmark) {
        this.benchmark = benchmark;
    }

    public String getBenchmark() {
        return benchmark;
    }
}
