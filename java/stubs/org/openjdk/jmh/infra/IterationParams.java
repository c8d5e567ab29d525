package org.openjdk.jmh.infra;

import org.openjdk.jmh.runner.IterationType;

public class IterationParams {
    private final IterationType type;
    private final int count;

    public IterationParams(IterationType type, int count) {
        this.type = type;
        this.count = count;
    }

    public IterationType getType() {
        return type;
    }

    public int getCount() {
        return count;
    }
}
