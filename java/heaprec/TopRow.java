package heaprec;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** A site (or class, thread, ...) of a recording and what it has allocated: estimates with 95 % intervals. */
public final class TopRow {
    private final String name;
    private final double bytes, bytesLow, bytesHigh, objects, objectsLow, objectsHigh, share;

    private TopRow(List<String> header, List<String> row) {
        name = row.get(header.indexOf("name"));
        bytes = number(header, row, "bytes");
        bytesLow = number(header, row, "bytes_low");
        bytesHigh = number(header, row, "bytes_high");
        objects = number(header, row, "objects");
        objectsLow = number(header, row, "objects_low");
        objectsHigh = number(header, row, "objects_high");
        share = number(header, row, "share");
    }

    static List<TopRow> ofRecording(String recording, String by, int limit) throws IOException {
        if (limit < 0) throw new IllegalArgumentException("limit: " + limit);
        List<TopRow> rows = new ArrayList<>();
        List<String> header = null;
        for (String line : Command.run("top", "--by", by, "--format", "csv", "--limit", String.valueOf(limit), recording)) {
            List<String> fields = fields(line);
            if (header == null) {
                header = fields;
            } else {
                rows.add(new TopRow(header, fields));
            }
        }
        return Collections.unmodifiableList(rows);
    }

    private static double number(List<String> header, List<String> row, String column) {
        String text = row.get(header.indexOf(column));
        return text.isEmpty() ? Double.NaN : Double.parseDouble(text);
    }

    /** Fields of a line of CSV (RFC 4180) without line feeds. */
    private static List<String> fields(String line) {
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); ++i) {
            char c = line.charAt(i);
            if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                field.append(line.charAt(++i));
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                fields.add(field.toString());
                field.setLength(0);
            } else {
                field.append(c);
            }
        }
        fields.add(field.toString());
        return fields;
    }

    /** Returns the name, such as "com.x.Parser.next" of a site. */
    public String getName() {
        return name;
    }

    /** Returns the allocated bytes. */
    public double getBytes() {
        return bytes;
    }

    /** Returns the lower end of the interval of the bytes. */
    public double getBytesLow() {
        return bytesLow;
    }

    /** Returns the upper end of the interval of the bytes. */
    public double getBytesHigh() {
        return bytesHigh;
    }

    /** Returns the allocated objects. */
    public double getObjects() {
        return objects;
    }

    /** Returns the lower end of the interval of the objects. */
    public double getObjectsLow() {
        return objectsLow;
    }

    /** Returns the upper end of the interval of the objects. */
    public double getObjectsHigh() {
        return objectsHigh;
    }

    /** Returns the part of all bytes that it has allocated, from 0 to 1. */
    public double getShare() {
        return share;
    }

    /** "com.x.Parser.next: 24000 B (23000-25000)". */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s: %.0f B (%.0f-%.0f)", name, bytes, bytesLow, bytesHigh);
    }
}
