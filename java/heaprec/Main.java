package heaprec;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * {@code java -jar heaprec.jar COMMAND ...}: runs the heaprec command with this process' input, output and signals, and
 * exits with its code. {@code java -jar heaprec.jar PID ...} is {@code heaprec attach PID ...}.
 */
public final class Main {
    private static final int CANNOT_RUN = 126; // as a shell says

    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        List<String> arguments = new ArrayList<>(Arrays.asList(args));
        if (args.length > 0 && isNumber(args[0])) arguments.add(0, "attach");
        try {
            Process process = Command.start(arguments, ProcessBuilder::inheritIO);
            handSignals(process);
            System.exit(process.waitFor());
        } catch (IOException e) {
            System.err.println("heaprec: cannot run the command: " + e.getMessage());
            System.exit(CANNOT_RUN);
        }
    }

    private static boolean isNumber(String text) {
        for (int i = 0; i < text.length(); ++i) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') return false;
        }
        return !text.isEmpty();
    }

    /**
     * The command, not this JVM, decides what a signal does. A terminal sends SIGINT to both; others only to this
     * process. Without sun.misc.Signal a signal ends the JVM, and the command continues.
     */
    private static void handSignals(Process process) {
        handle("INT", () -> {});
        handle("TERM", process::destroy);
        handle("HUP", process::destroy);
    }

    private static void handle(String name, Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal"), handler = Class.forName("sun.misc.SignalHandler");
            Object proxy = java.lang.reflect.Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {handler},
                    (self, method, given) -> {
                        if (method.getName().equals("handle")) action.run();
                        return null;
                    });
            signal.getMethod("handle", signal, handler).invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            // this JVM keeps the signal for itself
        }
    }
}
