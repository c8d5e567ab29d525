package heaprec;

/**
 * Records this JVM, and labels the samples of its threads: to tell apart what one piece of code allocates for different
 * requests, users or tests.
 *
 * <p>Without the agent {@link #label} returns at once, and {@link #start} needs {@link #load} before it.
 */
public final class Heaprec {
    // Until a call finds no agent; the agent sets it again when it comes later. A race costs one more failing call.
    private static boolean linked = true;

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

    /** "recording FILE", "waiting" (for its delay) or "idle". */
    public static String status() {
        return ask("status");
    }

    private static String ask(String command) {
        String answer;
        try {
            answer = ask0(command);
        } catch (UnsatisfiedLinkError e) {
            throw new IllegalStateException("heaprec: the agent is not loaded", e);
        }
        if (!answer.startsWith("ok ")) throw new IllegalStateException("heaprec: " + answer.substring("error ".length()));
        return answer.substring("ok ".length());
    }

    /** "ok " or "error ", and what there is to say. */
    private static native String ask0(String command);

    private static native void label0(String key, String value);
}
