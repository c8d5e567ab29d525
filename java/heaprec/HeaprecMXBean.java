package heaprec;

import java.io.IOException;
import java.util.List;

/**
 * The recorder as an MXBean, "heaprec:type=Recorder" ({@link Heaprec#registerMXBean}). Where heaprec does not run,
 * strings are null and lists are empty.
 */
public interface HeaprecMXBean {
    /** The name of the bean. */
    String NAME = "heaprec:type=Recorder";

    /** Returns "recording FILE", "waiting", "idle", or "not loaded": {@link #start} loads the agent. */
    String getStatus();

    /** As {@link Heaprec#start}. */
    String start(String options);

    /** As {@link Heaprec#stop}. */
    String stop();

    /** As {@link Heaprec#dump}. */
    String dump(String path);

    /**
     * As {@link Heaprec#top} of the running recording.
     *
     * @throws IOException if the heaprec command cannot be run
     * @throws IllegalStateException if no recording is running
     */
    List<TopRow> top(String by, int limit) throws IOException;
}
