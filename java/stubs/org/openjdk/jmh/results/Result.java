package org.openjdk.jmh.results;

/** The type parameter has a bound in JMH. */
public abstract class Result<T> {
    private final String label, unit;
    private final double score;

    protected Result(String label, double score, String unit) {
        this.label = label;
        this.score = score;
        this.unit = unit;
    }

    public String getLabel() {
        return label;
    }

    public double getScore() {
        return score;
    }

    public String getScoreUnit() {
        return unit;
    }

    public String extendedInfo() {
        return "";
    }
}
