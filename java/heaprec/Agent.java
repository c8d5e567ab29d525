package heaprec;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** The agent of this JVM: loads it for {@link Heaprec}, and is what -javaagent:heaprec.jar starts. */
public final class Agent {
    /** The library that some class loader's heaprec has loaded. */
    private static final String LOADED_PROPERTY = "heaprec.loaded";

    private Agent() {}

    /** For -javaagent:heaprec.jar=OPTIONS: starts a recording. The JVM continues in any case, except with `strict`. */
    public static void premain(String options) {
        try {
            Heaprec.start(options != null ? options : "");
            if (Boolean.getBoolean("heaprec.mxbean")) Heaprec.registerMXBean();
        } catch (IllegalStateException e) {
            System.err.println(e.getMessage().replaceFirst("^heaprec: ", "heaprec: not recording: "));
            if (("," + options + ",").matches("(?s).*,strict([=:](on|true))?,.*")) Runtime.getRuntime().halt(1);
        }
    }

    /** For a tool that loads heaprec.jar into a running JVM. */
    public static void agentmain(String options) {
        premain(options);
    }

    /**
     * Loads the agent unless it is there. Returns false, after saying so once, if heaprec does not run in this JVM.
     *
     * @throws IllegalStateException if it cannot be loaded
     */
    static boolean isReady() {
        if (Heaprec.isLinked()) return true;
        String objection = Platform.objection();
        if (objection != null) {
            Platform.say(objection);
            return false;
        }
        synchronized (LOADED_PROPERTY) { // a literal is the same object in all class loaders
            if (!Heaprec.isLinked()) load();
        }
        if (!Heaprec.isLinked()) throw new IllegalStateException("heaprec: the loaded library is not this heaprec's agent");
        return true;
    }

    /** Whether heaprec does not run in this JVM. */
    static boolean isAbsent() {
        return !Heaprec.isLinked() && Platform.objection() != null;
    }

    private static void load() {
        String shared = System.getProperty(LOADED_PROPERTY);
        try {
            if (shared != null) {
                share(shared);
            } else {
                NativeFiles.find(NativeFiles.AGENT, file -> {
                    try {
                        System.load(file.toString());
                    } catch (UnsatisfiedLinkError e) {
                        throw new IOException(e.getMessage(), e);
                    }
                    System.setProperty(LOADED_PROPERTY, file.toString());
                });
            }
        } catch (IOException e) {
            throw new IllegalStateException("heaprec: cannot load the agent: " + e.getMessage(), e);
        }
    }

    /**
     * A library belongs to one class loader, an agent to the JVM: loaded a second time, as an agent, the same library
     * serves the classes of all loaders.
     */
    private static void share(String library) throws IOException {
        try {
            System.load(library); // its loader may be gone
        } catch (UnsatisfiedLinkError unused) {
            try {
                ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "jvmtiAgentLoad", new Object[] {new String[] {library, "status"}}, new String[] {String[].class.getName()});
            } catch (JMException | LinkageError e) {
                throw new IOException(library + " is loaded for another class loader, and cannot be shared: " + e, e);
            }
        }
    }
}
