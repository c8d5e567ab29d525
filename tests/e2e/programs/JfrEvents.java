package e2e;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.List;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * What the JDK reads in a JFR file: its allocations and exceptions as JSON lines, spelled as `heaprec export --format jsonl` spells them.
 *
 * <p>Arguments: the file.
 */
public final class JfrEvents {
    private static final String[] PRIMITIVES = {"Zboolean", "Bbyte", "Cchar", "Sshort", "Iint", "Jlong", "Ffloat", "Ddouble"};

    private static String elementName(String name) {
        if (name.length() == 1) {
            for (String primitive : PRIMITIVES) if (primitive.startsWith(name)) return primitive.substring(1);
        }
        if (name.startsWith("L") && name.endsWith(";")) return name.substring(1, name.length() - 1);
        return name;
    }

    private static String className(RecordedClass type) {
        if (type == null) return "[unknown]";
        String name = type.getString("name");
        // Of hidden classes: an address, behind it in some JDKs an identity hash.
        String address = "";
        int mark = Math.max(Math.max(name.indexOf("+0x"), name.indexOf("/0x")), name.indexOf(".0x"));
        if (mark >= 0) {
            String rest = name.substring(mark + 1);
            int hash = rest.indexOf('/');
            address = "/" + (hash >= 0 ? rest.substring(0, hash) : rest);
            name = name.substring(0, mark);
        }
        int dimensions = 0;
        while (dimensions < name.length() && name.charAt(dimensions) == '[') ++dimensions;
        if (dimensions > 0) name = elementName(name.substring(dimensions));
        return name.replace('/', '.') + address + "[]".repeat(dimensions);
    }

    private static String frame(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        if (method == null) return "[unknown]";
        String type = className(method.getType());
        String name = type.equals("heaprec") ? method.getName() : type + "." + method.getName();
        return name.replace(';', ',') + (frame.getLineNumber() >= 0 ? ":" + frame.getLineNumber() : "");
    }

    private static String stack(RecordedStackTrace trace) {
        if (trace == null) return "";
        List<RecordedFrame> frames = trace.getFrames();
        StringBuilder text = new StringBuilder();
        for (int i = frames.size() - 1; i >= 0; --i) text.append(text.length() > 0 ? ";" : "").append(frame(frames.get(i)));
        return text.toString();
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c >= ' ' && c < 127 && c != '"' && c != '\\') quoted.append(c);
            else quoted.append(String.format("\\u%04x", (int) c));
        }
        return quoted.append('"').toString();
    }

    private static long number(RecordedEvent event, String field) {
        return event.hasField(field) ? event.getLong(field) : 0;
    }

    private static String bytecodes(RecordedStackTrace trace) {
        StringBuilder text = new StringBuilder();
        if (trace != null) for (RecordedFrame frame : trace.getFrames()) text.append(frame.getBytecodeIndex()).append(' ');
        return text.toString();
    }

    // `own`: heaprec's own event of the same sample, which comes right before it; null: there is none.
    private static void print(RecordedEvent event, RecordedEvent own) {
        boolean thrown = event.hasField("thrownClass");
        RecordedThread thread = event.getValue("eventThread");
        RecordedStackTrace trace = event.getStackTrace();
        Instant time = event.getStartTime();
        if (own == null) own = event;
        String labels = own.hasField("labels") ? own.getString("labels") : null;
        StringBuilder line = new StringBuilder("{\"event\":").append(quoted(event.getEventType().getName()));
        line.append(",\"time_ns\":").append(time.getEpochSecond() * 1_000_000_000L + time.getNano());
        line.append(",\"class\":").append(quoted(className(event.getValue(thrown ? "thrownClass" : "objectClass"))));
        line.append(",\"weight\":").append(!event.hasField("weight") ? "0" : thrown ? "" + event.getDouble("weight") : "" + event.getLong("weight"));
        line.append(",\"size\":").append(number(own, "allocationSize"));
        line.append(",\"tlab_size\":").append(number(own, "tlabSize"));
        line.append(",\"thread\":").append(quoted(thread == null ? "[unknown]" : thread.getJavaName() != null ? thread.getJavaName() : thread.getOSName()));
        line.append(",\"java_tid\":").append(thread == null ? 0 : thread.getJavaThreadId());
        line.append(",\"os_tid\":").append(thread == null ? 0 : thread.getLong("osThreadId"));
        line.append(",\"labels\":").append(quoted(labels == null ? "" : labels));
        line.append(",\"stack\":").append(quoted(stack(trace)));
        line.append(",\"bytecodes\":").append(quoted(bytecodes(trace)));
        line.append(",\"truncated\":").append(trace != null && trace.isTruncated());
        System.out.println(line.append("}"));
    }

    public static void main(String[] args) throws Exception {
        Path path = Paths.get(args[0]);
        try (RecordingFile file = new RecordingFile(path)) {
            RecordedEvent own = null;
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                String name = event.getEventType().getName();
                if (name.startsWith("jdk.ObjectAllocation") || name.equals("jdk.JavaExceptionThrow")) print(event, own);
                own = name.equals("heaprec.AllocationSample") ? event : null;
            }
        }
    }
}
