package readers;

import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

/**
 * Prints the allocation events of a JFR file: a line "start,NS", where the file tells when the recording began, then
 * time_ns,site,class,weight of each event. The site is the topmost frame whose method begins with the second argument, else empty.
 */
final class JfrSamples {
    private static final String[] PRIMITIVES = {"Bbyte", "Cchar", "Ddouble", "Ffloat", "Iint", "Jlong", "Sshort", "Zboolean"};

    public static void main(String[] args) throws Exception {
        try (RecordingFile file = new RecordingFile(Path.of(args[0]));
                PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16))) {
            while (file.hasMoreEvents()) print(file.readEvent(), args[1], out);
        }
    }

    private static void print(RecordedEvent event, String prefix, PrintStream out) {
        switch (event.getEventType().getName()) {
            case "jdk.ActiveRecording":
                out.println("start," + nanos(event.getInstant("recordingStart")));
                break;
            case "jdk.ObjectAllocationSample":
                sample(event, event.getLong("weight"), prefix, out);
                break;
            case "jdk.ObjectAllocationInNewTLAB":
                sample(event, event.getLong("tlabSize"), prefix, out);
                break;
            case "jdk.ObjectAllocationOutsideTLAB":
                sample(event, event.getLong("allocationSize"), prefix, out);
                break;
            default:
        }
    }

    private static void sample(RecordedEvent event, long weight, String prefix, PrintStream out) {
        RecordedClass type = event.getClass("objectClass");
        out.printf("%d,%s,%s,%d%n", nanos(event.getStartTime()), site(event.getStackTrace(), prefix),
                type == null ? "" : javaName(type.getName()), weight);
    }

    private static long nanos(Instant time) {
        return time.getEpochSecond() * 1_000_000_000L + time.getNano();
    }

    private static String site(RecordedStackTrace stack, String prefix) {
        if (stack == null) return "";
        for (RecordedFrame frame : stack.getFrames()) {
            if (frame.getMethod() == null || frame.getMethod().getType() == null) continue;
            String method = frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
            if (method.startsWith(prefix)) return method;
        }
        return "";
    }

    /** [[I and [Ljava.lang.String; as int[][] and java.lang.String[]. */
    private static String javaName(String name) {
        int dimensions = 0;
        while (name.startsWith("[", dimensions)) dimensions++;
        if (dimensions == 0) return name.replace('/', '.');
        String element = name.substring(dimensions);
        if (element.startsWith("L")) {
            element = element.substring(1, element.length() - 1).replace('/', '.');
        } else {
            for (String primitive : PRIMITIVES) {
                if (primitive.charAt(0) == element.charAt(0)) element = primitive.substring(1);
            }
        }
        return element + "[]".repeat(dimensions);
    }
}
