package heaprec;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * Records this JVM, and labels the samples of its threads: to tell apart what one piece of code allocates for different
 * requests, users or tests. Or samples it without a recording, and gives the program what lives and what died.
 *
 * <p>Without the agent {@link #label} returns at once, and all else needs {@link #load} before it.
 */
public final class Heaprec {
    // Until a call finds no agent; the agent sets it again when it comes later. A race costs one more failing call.
    private static boolean linked = true;

    private static final int MOST_FOLLOWED = 65_536;

    private Heaprec() {}

    /**
     * Labels what the current thread allocates from now on.
     *
     * <p>A thread has room for 255 bytes of labels, "key=value" and one byte more for each; one that does not fit is not
     * set. Labels of virtual threads are ignored.
     *
     * @param key without '='; one label for each key
     * @param value null takes the label away
     */
    public static void label(String key, String value) {
        if (!linked || key == null) return;
        try {
            label0(key, value);
        } catch (UnsatisfiedLinkError e) {
            linked = false;
        }
    }

    /**
     * Loads libheaprec.so where the JVM was not started with it, and nobody attached it.
     *
     * @param library its absolute path
     * @throws UnsatisfiedLinkError if it is not there, or not for this machine
     */
    public static void load(String library) {
        System.load(library);
        linked = true;
    }

    /**
     * Starts a recording.
     *
     * @param options as the agent takes them: "file=rec.bin,rate=150"
     * @return the file
     * @throws IllegalStateException with what the agent says if it does not record: a recording is running, an option is
     *     not known, the file cannot be made, the agent is not there
     */
    public static String start(String options) {
        String answer = ask("start" + (options.isEmpty() ? "" : "," + options));
        return answer.startsWith("recording ") ? answer.substring("recording ".length()) : answer;
    }

    /**
     * Ends the recording; returns when all of it is in the file.
     *
     * @return the file
     * @throws IllegalStateException if nothing is being recorded
     */
    public static String stop() {
        return ask("stop");
    }

    /**
     * Copies the recording as it is now; it goes on. All that was allocated before the call is in the copy, which
     * therefore takes up to a second: until the throttle's interval is over. (Of longer intervals, at rates below 1/s,
     * the one that is open is left out.)
     *
     * @param path where to, as the option {@code file}: of an existing file "now.bin" the copy is "now-1.bin"
     * @return the file, which is a recording of its own
     * @throws IllegalStateException if nothing is being recorded, or the file cannot be written
     */
    public static String dump(String path) {
        Objects.requireNonNull(path, "path");
        try {
            return okay(dump0(path));
        } catch (UnsatisfiedLinkError e) {
            throw noAgent(e);
        }
    }

    /** "recording FILE", "waiting" (for its delay) or "idle". */
    public static String status() {
        return ask("status");
    }

    /** {@link #startSampling(long, int)}, and follows up to 4,096 objects. */
    public static void startSampling(long everyBytes) {
        startSampling(everyBytes, 4096);
    }

    /**
     * Samples what all threads allocate, writes nothing, and follows the sampled objects by weak references until they
     * die. Sample points are drawn at random, on average one in so many bytes of a thread: nothing keeps step with
     * them, and sums of {@link Trace#weight} estimate without bias what was allocated. Called again it changes the
     * distance alone.
     *
     * @param everyBytes 524,288 costs next to nothing
     * @param followed at most so many objects at a time, up to 65,536; where there is no place left a new one takes that
     *     of a random one, and sums of weights of what lives are then too small
     * @throws IllegalStateException if a recording is running (the JVM has one sampling mechanism), or this JVM cannot be
     *     sampled
     */
    public static void startSampling(long everyBytes, int followed) {
        if (everyBytes < 1) throw new IllegalArgumentException("everyBytes: " + everyBytes);
        if (followed < 1 || followed > MOST_FOLLOWED) throw new IllegalArgumentException("followed: " + followed);
        sample(everyBytes, followed);
    }

    /** Ends it, and forgets what lives; what is dead can still be asked for. If nothing is sampled nothing happens. */
    public static void stopSampling() {
        sample(0, 0);
    }

    /**
     * The sampled objects that are followed, and that no collection has found dead so far.
     *
     * @throws IllegalStateException if the agent is not loaded
     */
    public static List<Trace> liveTraces() {
        return traces(0);
    }

    /** Of the sampled objects those that were found dead last, at most 200, the last one first. */
    public static List<Trace> garbageTraces() {
        return traces(1);
    }

    /** Of all sampled objects that were found dead 200, drawn at random: each has the same chance. */
    public static List<Trace> sampledGarbageTraces() {
        return traces(2);
    }

    private static void sample(long everyBytes, int followed) {
        String why;
        try {
            why = sample0(everyBytes, followed);
        } catch (UnsatisfiedLinkError e) {
            throw noAgent(e);
        }
        if (why != null) throw new IllegalStateException("heaprec: " + why);
    }

    private static List<Trace> traces(int which) {
        Object[] found;
        try {
            found = traces0(which);
        } catch (UnsatisfiedLinkError e) {
            throw noAgent(e);
        }
        if (found == null) return Collections.emptyList();
        String[] classes = (String[]) found[0];
        long[] numbers = (long[]) found[1];
        double[] weights = (double[]) found[2];
        int[] depths = (int[]) found[3];
        int[] stacks = (int[]) found[4];
        StackTraceElement[] frames = frames((String[]) found[5], (int[]) found[6]);
        List<Trace> traces = new ArrayList<>(classes.length);
        for (int i = 0, next = 0; i < classes.length; ++i) {
            StackTraceElement[] stack = new StackTraceElement[depths[i]];
            for (int frame = 0; frame < stack.length; ++frame) stack[frame] = frames[stacks[next++]];
            int at = 4 * i;
            traces.add(new Trace(
                    numbers[at], classes[i], numbers[at + 1], weights[i], numbers[at + 2], numbers[at + 3], stack));
        }
        return Collections.unmodifiableList(traces);
    }

    private static StackTraceElement[] frames(String[] texts, int[] lines) {
        StackTraceElement[] frames = new StackTraceElement[lines.length];
        for (int i = 0; i < lines.length; ++i) {
            String file = texts[3 * i + 2];
            frames[i] = new StackTraceElement(texts[3 * i], texts[3 * i + 1], file.isEmpty() ? null : file, lines[i]);
        }
        return frames;
    }

    private static String ask(String command) {
        try {
            return okay(ask0(command));
        } catch (UnsatisfiedLinkError e) {
            throw noAgent(e);
        }
    }

    private static IllegalStateException noAgent(UnsatisfiedLinkError e) {
        return new IllegalStateException("heaprec: the agent is not loaded", e);
    }

    private static String okay(String answer) {
        if (!answer.startsWith("ok ")) throw new IllegalStateException("heaprec: " + answer.substring("error ".length()));
        return answer.substring("ok ".length());
    }

    /** "ok " or "error ", and what there is to say. */
    private static native String ask0(String command);

    /** "ok " and the file, or "error " and why. */
    private static native String dump0(String path);

    /** everyBytes 0: the end. Null, or why it is not so. */
    private static native String sample0(long everyBytes, int followed);

    /**
     * Null: there are none. Of each its class, its numbers (uid, bytes, thread id, age in ns), its weight, how many
     * frames it has; which they are, one trace after another; then the frames (class, method, file) and their lines.
     */
    private static native Object[] traces0(int which);

    private static native void label0(String key, String value);
}
