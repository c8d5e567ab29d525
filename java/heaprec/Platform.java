package heaprec;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Which platform this is, and whether the agent runs in this JVM. */
final class Platform {
    private static final String SAID_PROPERTY = "heaprec.unsupported";

    private Platform() {}

    /** "linux-x86_64" or "linux-aarch64"; null: heaprec is not built for it. */
    static String name() {
        if (!"Linux".equals(System.getProperty("os.name"))) return null;
        switch (System.getProperty("os.arch", "")) {
            case "amd64":
            case "x86_64":
                return "linux-x86_64";
            case "aarch64":
                return "linux-aarch64";
            default:
                return null;
        }
    }

    /** Returns the sentence that says why heaprec does nothing in this JVM; null if the agent can be loaded. */
    static String objection() {
        String vm = System.getProperty("java.vm.name", ""), version = System.getProperty("java.specification.version", "");
        if (name() == null) {
            return System.getProperty("os.name") + " on " + System.getProperty("os.arch") + ": heaprec runs on Linux, on x86-64 and aarch64";
        }
        if (version.startsWith("1.") || version.equals("9") || version.equals("10")) return "JDK " + version + ": heaprec needs JDK 11 or later";
        if (!vm.startsWith("OpenJDK") && !vm.contains("HotSpot")) return vm + ": heaprec needs HotSpot";
        if (isMusl()) return "this JVM uses musl: heaprec needs one that uses glibc";
        return null;
    }

    private static boolean isMusl() {
        try {
            for (String line : Files.readAllLines(Paths.get("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
                if (line.contains("/ld-musl-")) return true;
            }
        } catch (IOException e) {
            // no /proc: loading will tell
        }
        return false;
    }

    /** Prints the objection, once in the JVM. */
    static void say(String objection) {
        synchronized (SAID_PROPERTY) { // a literal is the same object in all class loaders
            if (System.getProperty(SAID_PROPERTY) != null) return;
            System.setProperty(SAID_PROPERTY, objection);
        }
        System.err.println("heaprec: not recording: " + objection);
    }
}
