package org.openjdk.jmh.results;

public class IterationResult {
    private final IterationResultMetaData metadata;

    public IterationResult(IterationResultMetaData metadata) {
        this.metadata = metadata;
    }

    public IterationResultMetaData getMetadata() {
        return metadata;
    }
}
