package heaprec;

/**
 * Labels the samples of a thread, to tell apart what one piece of code allocates for different requests, users or tests.
 *
 * <p>Without the agent every call returns at once.
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

    private static native void label0(String key, String value);
}
