package org.openjdk.jmh.results;

public class TextResult extends Result<TextResult> {
    private final String output;

    public TextResult(String output, String label) {
        super(label, Double.NaN, "---");
        this.output = output;
    }

    @Override
    public String extendedInfo() {
        return output;
    }
}
