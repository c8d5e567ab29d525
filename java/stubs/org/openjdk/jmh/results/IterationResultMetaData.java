package org.openjdk.jmh.results;

public class IterationResultMetaData {
    private final long operations;

    public IterationResultMetaData(long operations) {
        this.operations = operations;
    }

    public long getAllOps() {
        return operations;
    }
}
