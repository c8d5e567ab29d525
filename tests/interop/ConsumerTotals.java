import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * What jdk.jfr.consumer makes of jdk.ObjectAllocationSample in a file: one line of JSON.
 *
 * <p>Arguments: the file.
 */
public final class ConsumerTotals {
    public static void main(String[] args) throws Exception {
        long events = 0, bytes = 0, unresolved = 0;
        Set<String> classes = new TreeSet<>();
        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                if (!event.getEventType().getName().equals("jdk.ObjectAllocationSample")) continue;
                ++events;
                bytes += event.getLong("weight");
                if (event.getClass("objectClass") == null) ++unresolved;
                else classes.add(event.getClass("objectClass").getName());
                if (event.getStackTrace() == null) {
                    ++unresolved;
                    continue;
                }
                for (RecordedFrame frame : event.getStackTrace().getFrames()) if (frame.getMethod() == null || frame.getMethod().getName() == null) ++unresolved;
            }
        }
        System.out.printf("{\"events\": %d, \"bytes\": %d, \"unresolved\": %d, \"classes\": %d}%n", events, bytes, unresolved, classes.size());
    }
}
